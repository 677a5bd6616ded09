"""The strongest of the quick attackers, for each setting of a sweep."""

from __future__ import annotations

from sosie.attacks import attack
from sosie.attacks.routine import from_law
from sosie.audits.results import Metric
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.tuning.results import STRONGEST

__all__ = ["strongest"]

SEED = 0
"""Of the attacker's own coin tosses: the same people are attacked in every setting."""

CANDIDATES = 50

LEARNT = 5
"""Releases from which groups are learnt, where no law is known."""


def strongest(avatarizer: Avatarizer, releases: int, targets: int) -> Metric:
    """The highest rate among quick attackers who hold the originals and the generator.

    Those of `run` (`sosie.attacks.routine`): from the law, which needs no release, the analytic
    attacker, and `geometry` against barycentres or `bayes` against smoothed avatars. Avatars of
    groups have no law for each person: there the attacker is given the worst case, further
    releases under the same key. Where several are planned, an attacker who learns from as many
    is tried too (pooled covariances). The one who does best on half of the targets is reported
    on the other half.

    Parameters
    ----------
    avatarizer : fitted.
    releases : how many are planned.
    targets : people attacked.
    """
    people, guarantee = len(avatarizer.table), avatarizer.guarantee
    unaided = from_law(avatarizer)
    estimators = (*unaided, *(("pooled",) if releases > 1 or not unaided else ()))
    try:
        report = attack(
            avatarizer.table,
            avatarizer,
            scenario="v1",
            estimator=estimators,
            releases=max(releases, 2 if unaided else LEARNT),
            targets=min(targets, people),
            candidates=min(CANDIDATES, people),
            seed=SEED,
        )
    except InputError as error:
        reason = error.reason or Reason("as_written", {"text": str(error)})
        return STRONGEST.unavailable(reason)
    best = report.strongest.get("v1")
    if best is None or best.rate is None:
        return STRONGEST.unavailable(Reason("no_attacker"))
    return STRONGEST.result(
        best.rate,
        ci=best.ci,
        control=best.chance,
        detail={
            "estimator": best.estimator,
            "decision": best.decision,
            "releases": best.releases,
            "targets": best.targets,
        }
        | ({} if guarantee.bound is None else {"bound": 100 * guarantee.bound}),
    )
