"""Linkability: whether avatars put the two halves of a person back together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.controls import above_controls, on_the_same
from sosie.audits.definition import Definition
from sosie.audits.links import Links, named, split
from sosie.audits.results import Metric
from sosie.audits.twins import Fold, by_person
from sosie.compute.arrays import Floats

__all__ = ["DEFINITION", "linkability", "on_twins"]

DEFINITION = Definition(
    "linkability",
    "%",
    "lower",
    "linkability",
    place=20,
    needs=("two_columns", "holdout"),
    options=("known",),
    advice=("smoothed", "raise_k", "fewer_columns"),
)


def linkability(
    originals: object,
    avatars: object | None = None,
    *,
    holdout: object | None = None,
    known: Sequence[Hashable] | None = None,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """How often avatars reunite the two halves of a person, above a control.

    The attacker holds some columns of a person in one table, the others in another, and
    says that two records belong together if the same avatar is nearest to both. With
    `a` the share of originals for whom that is so and `c` that of people set aside before
    the avatars were made, the metric is ``100 (a - c) / (1 - c)``. Where several avatars
    are equally near, one is drawn on each side.

    In percent, at most 100; lower protects better; 0 or below means that avatars tell no
    more about their people than about strangers; no published target. ``attack`` and
    `control` are a and c in percent. The interval comes from their two Wilson intervals.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars, holdout : the same columns. Without a holdout there is no value.
    known : columns of the first table; by default every other column, from the first.
    components : dimensions of each latent space.
    target : None for no target.

    Raises
    ------
    InputError
        A column of `known` is absent, nothing is left, or no column of one part varies.

    Notes
    -----
    Source: Giomi et al., PETS 2023.

    Examples
    --------
    Copies reunite everyone; of three strangers they reunite one:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]}).with_columns(y=-pl.col("x"))
    >>> strangers = pl.DataFrame({"x": [1.1, 5.2, 8.3], "y": [-1.2, -9.8, -0.7]})
    >>> metric = linkability(people, people, holdout=strangers, known=["x"])
    >>> metric.value, metric.detail["attack"], round(metric.control, 1)
    (100.0, 100.0, 33.3)
    """
    comparison = compared(originals, avatars, aligned=False, holdout=holdout, components=components)
    if (reason := comparison.lacks("two_columns")) is not None:
        return DEFINITION.unavailable(reason, target=target)
    parts = split(comparison.originals, known)
    links = Links.of(comparison, parts)
    return above_controls(
        DEFINITION,
        links.reunited(comparison.originals),
        None if comparison.holdout is None else links.reunited(comparison.holdout),
        target=target,
        detail=named(parts),
    )


def on_twins(
    folds: Sequence[Fold],
    *,
    known: Sequence[Hashable] | None = None,
    target: float | None = DEFINITION.target,
) -> Metric:
    """The same where everyone's avatars are published: see `sosie.audits.twins`."""
    if (reason := folds[0].comparison.lacks("two_columns")) is not None:
        return DEFINITION.unavailable(reason, target=target)
    parts = split(folds[0].comparison.originals, known)
    outcomes = [_reunited(fold, parts) for fold in folds]
    return on_the_same(DEFINITION, *by_person(folds, outcomes), target=target, detail=named(parts))


def _reunited(
    fold: Fold, parts: tuple[tuple[Hashable, ...], tuple[Hashable, ...]]
) -> tuple[Floats, Floats]:
    """Chances about members and strangers of a fold, averaged over releases."""
    links = [Links.of(fold.comparison.with_avatars(one), parts) for one in fold.releases]
    one, other = (
        np.mean([link.reunited(people) for link in links], axis=0) for people in fold.attacked
    )
    return one, other
