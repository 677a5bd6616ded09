"""Membership: whether it can be told that somebody was in the original table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.intervals import area_interval, wilson
from sosie.audits.ranking import area_under_curve
from sosie.audits.reasons import TOO_FEW_PEOPLE
from sosie.audits.results import Metric
from sosie.audits.twins import Fold
from sosie.compute.arrays import Floats
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["DEFINITION", "membership", "on_twins"]

DEFINITION = Definition(
    "membership",
    "area",
    "lower",
    "membership",
    needs=("holdout",),
    advice=("smoothed", "raise_k", "rare_profiles", "fewer_releases"),
)

FEWEST = 20
"""Fewer people set aside can't be both a reference and strangers."""

FALSE_POSITIVES = 0.01
"""An attacker who accuses one stranger in a hundred: few enough to be believed."""


def membership(
    originals: object,
    avatars: object | None = None,
    *,
    holdout: object | None = None,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """How well an attacker tells members from strangers by how close the avatars are.

    The attacker does not want a row, only to know whether somebody was in the table (of people
    with a disease, say). He holds whole rows of candidates and a sample of the population, and
    names those around whom avatars crowd more than people do.

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
    if (reason := comparison.lacks(*DEFINITION.needs)) is not None:
        return DEFINITION.unavailable(reason, target=target)
    aside = comparison.holdout_points
    if len(aside) < FEWEST:
        return DEFINITION.unavailable(TOO_FEW_PEOPLE, target=target)
    order = np.random.default_rng(0).permutation(len(aside))
    reference = NeighbourIndex(aside[order[::2]], comparison.threads)
    strangers = aside[order[1::2]]
    near, far = comparison.avatar_index, reference
    members = _scores(comparison.original_points, near, far)
    others = _scores(strangers, near, far)
    area = area_under_curve(members, others)
    detail: dict[str, Any] = {"chance": 0.5, "strangers": len(others), "reference": len(reference)}
    detail |= _at_few_false_positives(members, others)
    return DEFINITION.result(
        area,
        target=target,
        ci=area_interval(area, len(members), len(others)),
        detail=detail,
        by_person={"score": members},
    )


def on_twins(folds: Sequence[Fold], *, target: float | None = DEFINITION.target) -> Metric:
    """The same where everyone's avatars are published: see `sosie.audits.twins`.

    In each fold one half of the strangers is the reference of the other, and then the other way
    round, so that everyone is a stranger once and a member once. The area and the rate are
    means over these ten rankings; their intervals take each person once on each side.
    """
    areas, rates = [], []
    strangers = 0
    for fold in folds:
        comparison = fold.comparison
        aside, near = comparison.holdout_points, comparison.avatar_index
        members = comparison.original_points[fold.tested]
        halves = np.arange(len(aside)) % 2
        for half in (0, 1):
            far = NeighbourIndex(aside[halves == half], comparison.threads)
            scores = _scores(members, near, far)
            others = _scores(aside[halves != half], near, far)
            areas.append(area_under_curve(scores, others))
            rates.append(_at_few_false_positives(scores, others)["true_positive_rate"])
        strangers += len(aside)
    area, people = float(np.mean(areas)), folds[0].people
    detail: dict[str, Any] = {"chance": 0.5, "strangers": strangers, "reference": strangers}
    detail |= {"true_positive_rate": None, "true_positive_rate_ci": None}
    if None not in rates:
        rate = float(np.mean(rates))
        low, high = wilson(rate / 100 * people, people)
        detail |= {"true_positive_rate": rate, "true_positive_rate_ci": (100 * low, 100 * high)}
    ci = area_interval(area, people, strangers)
    return DEFINITION.result(area, target=target, ci=ci, detail=detail)


def _scores(points: Floats, near: NeighbourIndex, far: NeighbourIndex) -> Floats:
    """Log ratio of distances; 0 where both are 0."""
    away, close = far.nearest(points, 1).distances[:, 0], near.nearest(points, 1).distances[:, 0]
    tiny = np.finfo(np.float64).tiny
    return np.asarray(np.log(np.maximum(away, tiny)) - np.log(np.maximum(close, tiny)))


def _at_few_false_positives(members: Floats, others: Floats) -> dict[str, Any]:
    """Share of members above all but the 1 % highest of the others."""
    allowed = int(FALSE_POSITIVES * len(others))
    if allowed < 1:
        return {"true_positive_rate": None, "true_positive_rate_ci": None}
    threshold = np.sort(others)[len(others) - allowed - 1]
    above = int((members > threshold).sum())
    low, high = wilson(above, len(members))
    return {
        "true_positive_rate": 100 * above / len(members),
        "true_positive_rate_ci": (100 * low, 100 * high),
    }
