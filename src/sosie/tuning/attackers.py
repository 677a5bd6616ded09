"""The strongest of the quick attackers, for each setting of a sweep."""

from __future__ import annotations

from sosie.attack.laboratory import attack
from sosie.avatars import Avatarizer
from sosie.results import Metric
from sosie.tuning.results import STRONGEST

__all__ = ["strongest"]

QUICK = ("pooled",)
"""Estimators that take seconds; the laboratory has stronger and slower ones."""

SEED = 0
"""Of the attacker's own coin tosses: the same people are attacked in every setting."""


def strongest(avatarizer: Avatarizer, releases: int, targets: int) -> Metric:
    """The highest rate among quick attackers who hold the originals and the generator.

    Parameters
    ----------
    avatarizer : fitted.
    releases : how many are planned; an attacker who needs releases has so many, two at least.
    targets : people attacked.
    """
    found = [
        result
        for estimator in QUICK
        for result in attack(
            avatarizer.table,
            avatarizer,
            scenario="v1",
            estimator=estimator,  # type: ignore[arg-type]
            releases=max(releases, 2),
            targets=min(targets, len(avatarizer.table)),
            candidates=min(50, len(avatarizer.table)),
            seed=SEED,
        ).results
        if result.rate is not None
    ]
    if not found:
        return STRONGEST.unavailable("no attacker could be tried.")
    best = max(found, key=lambda result: result.rate or 0.0)
    return STRONGEST.found(
        best.rate or 0.0,
        ci=best.ci,
        control=best.chance,
        detail={
            "estimator": best.estimator,
            "decision": best.decision,
            "releases": best.releases,
            "targets": best.targets,
        },
    )
