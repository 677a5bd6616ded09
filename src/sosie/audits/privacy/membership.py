"""Membership: whether it can be told that someone was in the original table.

Takes originals and avatars (dataframes of any kind, which need not be aligned), or one
`Comparison`; people set aside before the avatars were made are needed.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.intervals import wilson
from sosie.audits.results import NO_HOLDOUT, TOO_FEW_PEOPLE, Definition, Metric
from sosie.compute.arrays import Floats
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["DEFINITIONS", "membership"]

MEMBERSHIP = Definition("membership", "area", "lower", "membership")

DEFINITIONS = (MEMBERSHIP,)

FEWEST = 20
"""Fewer people set aside can't be both a reference and strangers."""

FALSE_POSITIVES = 0.01


def membership(
    originals: object,
    avatars: object | None = None,
    *,
    holdout: object | None = None,
    components: int = 5,
    target: float | None = None,
) -> Metric:
    """How well an attacker tells members from strangers by how close the avatars are.

    Half of the people set aside serve as a reference sample, the others as strangers. A
    person's score is ``log(distance to the nearest of the reference / distance to the
    nearest avatar)``: high where avatars are denser than the population. Distances are
    Euclidean between FAMD coordinates fitted on the originals. The metric is the area
    under the curve of members (the originals) against strangers: the probability that a
    member scores above a stranger, ties counting one half.

    From 0 to 1; lower protects better; chance gives one half; no published target.
    ``true_positive_rate`` is the share of members, in percent, above the score that 1 % of
    strangers exceed; None under 100 strangers. The interval is that of Hanley and McNeil,
    for the rate that of Wilson.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars, holdout : the same columns. Without a holdout of 20 there is no value.
    components : dimensions of the latent space.
    target : None for no target.

    Notes
    -----
    Sources: van Breugel et al., AISTATS 2023, for scores relative to a reference; Hanley
    and McNeil, Radiology 143 (1982), for the interval.

    Examples
    --------
    Copies of the members give them away:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(60)]})
    >>> strangers = people.select(pl.col("x") + 0.5)
    >>> membership(people, people, holdout=strangers).value
    1.0
    """
    comparison = compared(originals, avatars, aligned=False, holdout=holdout, components=components)
    if comparison.holdout is None:
        return MEMBERSHIP.unavailable(NO_HOLDOUT, target=target)
    held = comparison.holdout_points
    if len(held) < FEWEST:
        return MEMBERSHIP.unavailable(TOO_FEW_PEOPLE, target=target)
    order = np.random.default_rng(0).permutation(len(held))
    reference = NeighbourIndex(held[order[::2]], comparison.threads)
    strangers = held[order[1::2]]
    near, far = comparison.avatar_index, reference
    members = _scores(comparison.original_points, near, far)
    others = _scores(strangers, near, far)
    area = area_under_curve(members, others)
    detail: dict[str, Any] = {"chance": 0.5, "strangers": len(others), "reference": len(reference)}
    detail |= _at_few_false_positives(members, others)
    return MEMBERSHIP.found(
        area,
        target=target,
        ci=_hanley_mcneil(area, len(members), len(others)),
        detail=detail,
        by_person={"score": members},
    )


def _scores(points: Floats, near: NeighbourIndex, far: NeighbourIndex) -> Floats:
    """Log ratio of distances; 0 where both are 0."""
    away, close = far.nearest(points, 1).distances[:, 0], near.nearest(points, 1).distances[:, 0]
    tiny = np.finfo(np.float64).tiny
    return np.asarray(np.log(np.maximum(away, tiny)) - np.log(np.maximum(close, tiny)))


def area_under_curve(positives: Floats, negatives: Floats) -> float:
    """Probability that a positive scores above a negative, ties counting one half.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ranked = np.sort(negatives)
    below = np.searchsorted(ranked, positives, side="left")
    upto = np.searchsorted(ranked, positives, side="right")
    return float((below + upto).sum() / (2 * len(positives) * len(negatives)))


def _at_few_false_positives(members: Floats, others: Floats) -> dict[str, Any]:
    """Share of members above all but the 1 % highest of the others."""
    allowed = int(FALSE_POSITIVES * len(others))
    if allowed < 1:
        return {"true_positive_rate": None, "true_positive_rate_ci": None}
    threshold = np.sort(others)[len(others) - allowed - 1]
    found = int((members > threshold).sum())
    low, high = wilson(found, len(members))
    return {
        "true_positive_rate": 100 * found / len(members),
        "true_positive_rate_ci": (100 * low, 100 * high),
    }


def _hanley_mcneil(area: float, positives: int, negatives: int) -> tuple[float, float]:
    """95 % interval of an area under the curve, within 0..1."""
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (
        area * (1 - area) + (positives - 1) * (one - area**2) + (negatives - 1) * (two - area**2)
    ) / (positives * negatives)
    half = 1.96 * sqrt(max(0.0, variance))
    return max(0.0, area - half), min(1.0, area + half)
