"""sosie turns a table of people into avatars and measures how well they protect them.

>>> import polars as pl
>>> import sosie
>>> people = pl.DataFrame({"age": list(range(20, 60)) * 2, "sex": ["F", "M"] * 40})
>>> avatars = sosie.Avatarizer(k=5, seed=1).fit(people).release()

Names are loaded when they are first used, so that ``import sosie`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sosie._version import __version__
from sosie.errors import InputError, SosieError, SosieWarning

if TYPE_CHECKING:
    from sosie.attacks.laboratory import attack
    from sosie.attacks.reproduce import reproduce
    from sosie.audits.comparison import Comparison
    from sosie.audits.context import Context
    from sosie.audits.privacy.inference import inference
    from sosie.audits.privacy.linkability import correlation_protection_rate, linkability
    from sosie.audits.privacy.membership import membership
    from sosie.audits.privacy.singling_out import (
        categorical_hidden_rate,
        closest_distances_ratio,
        closest_rate,
        column_direct_match_protection,
        distance_to_closest,
        hidden_rate,
        local_cloaking,
        rare_values,
        row_direct_match_protection,
    )
    from sosie.audits.registry import audit
    from sosie.audits.results import Audit, Metric
    from sosie.audits.utility.associations import association_difference
    from sosie.audits.utility.distributions import hellinger_mean
    from sosie.audits.utility.prediction import predictive_ratio
    from sosie.audits.utility.projection import hellinger_projection
    from sosie.audits.what_if_kept import what_if_kept
    from sosie.data.table import Roles, Table
    from sosie.generate.avatarizer import Avatarizer
    from sosie.latent.famd import FAMD
    from sosie.tuning import tune

_NAMES = {
    "attacks.laboratory": ("attack",),
    "attacks.reproduce": ("reproduce",),
    "generate.avatarizer": ("Avatarizer",),
    "audits.comparison": ("Comparison",),
    "audits.context": ("Context",),
    "latent.famd": ("FAMD",),
    "audits.what_if_kept": ("what_if_kept",),
    "audits.registry": ("audit",),
    "audits.privacy.inference": ("inference",),
    "audits.privacy.linkability": ("correlation_protection_rate", "linkability"),
    "audits.privacy.membership": ("membership",),
    "audits.privacy.singling_out": (
        "categorical_hidden_rate",
        "closest_distances_ratio",
        "closest_rate",
        "column_direct_match_protection",
        "distance_to_closest",
        "hidden_rate",
        "local_cloaking",
        "rare_values",
        "row_direct_match_protection",
    ),
    "audits.results": ("Audit", "Metric"),
    "data.table": ("Roles", "Table"),
    "tuning": ("tune",),
    "audits.utility.associations": ("association_difference",),
    "audits.utility.distributions": ("hellinger_mean",),
    "audits.utility.prediction": ("predictive_ratio",),
    "audits.utility.projection": ("hellinger_projection",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "FAMD",
    "Audit",
    "Avatarizer",
    "Comparison",
    "Context",
    "InputError",
    "Metric",
    "Roles",
    "SosieError",
    "SosieWarning",
    "Table",
    "__version__",
    "association_difference",
    "attack",
    "audit",
    "categorical_hidden_rate",
    "closest_distances_ratio",
    "closest_rate",
    "column_direct_match_protection",
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
    "rare_values",
    "reproduce",
    "row_direct_match_protection",
    "tune",
    "what_if_kept",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"sosie.{_HOME[name]}"), name)
    raise AttributeError(f"module 'sosie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
