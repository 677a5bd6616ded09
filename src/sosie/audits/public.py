"""The metrics by name, for type checkers; written by ``scripts/metrics_page.py``."""

from sosie.audits.privacy.categorical_hidden_rate import categorical_hidden_rate
from sosie.audits.privacy.closest_distances_ratio import closest_distances_ratio
from sosie.audits.privacy.closest_rate import closest_rate
from sosie.audits.privacy.column_direct_match_protection import column_direct_match_protection
from sosie.audits.privacy.correlation_protection_rate import correlation_protection_rate
from sosie.audits.privacy.distance_to_closest import distance_to_closest
from sosie.audits.privacy.hidden_rate import hidden_rate
from sosie.audits.privacy.inference import inference
from sosie.audits.privacy.linkability import linkability
from sosie.audits.privacy.local_cloaking import local_cloaking
from sosie.audits.privacy.membership import membership
from sosie.audits.privacy.rare_values import rare_values
from sosie.audits.privacy.row_direct_match_protection import row_direct_match_protection
from sosie.audits.utility.association_difference import association_difference
from sosie.audits.utility.contradictions import contradictions
from sosie.audits.utility.hellinger_mean import hellinger_mean
from sosie.audits.utility.hellinger_projection import hellinger_projection
from sosie.audits.utility.predictive_ratio import predictive_ratio
from sosie.audits.utility.propensity import propensity

__all__ = [
    "association_difference",
    "categorical_hidden_rate",
    "closest_distances_ratio",
    "closest_rate",
    "column_direct_match_protection",
    "contradictions",
    "correlation_protection_rate",
    "distance_to_closest",
    "hellinger_mean",
    "hellinger_projection",
    "hidden_rate",
    "inference",
    "linkability",
    "local_cloaking",
    "membership",
    "predictive_ratio",
    "propensity",
    "rare_values",
    "row_direct_match_protection",
]
