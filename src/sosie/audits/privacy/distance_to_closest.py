"""Distance to closest: how far avatars are from the people around them."""

from __future__ import annotations

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.intervals import median_interval
from sosie.audits.results import Metric

__all__ = ["DEFINITION", "distance_to_closest"]

DEFINITION = Definition(
    "distance_to_closest",
    "distance",
    "higher",
    "singling_out",
    target=0.2,
    place=40,
    advice=("smoothed", "raise_k", "rare_profiles"),
    gathered="closest",
)


def distance_to_closest(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Median distance from an avatar to its nearest original.

    The attacker takes an avatar for a person: the closer it lies to one, the more of it is true
    of them. Distances are no attack by themselves. They are the first thing to look at, and tell
    little where strangers are as close.

    Euclidean between FAMD coordinates fitted on the originals, 0 or more; higher protects
    better, up to the point where avatars resemble nobody; target at least 0.2. The tables
    need not be aligned. ``percentile_5`` is the fifth percentile. With people set aside,
    `control` and ``control_percentile_5`` say how far strangers are from their nearest
    original: avatars should not be closer. The interval is that of the order statistics.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    components : dimensions of the latent space.
    target : None for no target.

    Notes
    -----
    Distances alone do not show safety: 'The DCR delusion', arXiv 2505.01524.

    Examples
    --------
    Each avatar is half a step from its original; a step is 1 / sd:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]})
    >>> avatars = people.select(pl.col("x") + 0.5)
    >>> round(distance_to_closest(people, avatars).value, 4)
    0.1448
    """
    comparison = compared(originals, avatars, aligned=False, components=components)
    away = comparison.closest_originals[:, 0]
    detail, control = {"percentile_5": float(np.percentile(away, 5))}, None
    if comparison.holdout is not None:
        strangers = comparison.closest_originals_of_holdout[:, 0]
        control = float(np.median(strangers))
        detail["control_percentile_5"] = float(np.percentile(strangers, 5))
    return DEFINITION.result(
        float(np.median(away)),
        target=target,
        ci=median_interval(away),
        control=control,
        detail=detail,
        by_person={"distance": away},
    )
