"""Correlation protection rate: whether avatars lead from one table about a person to another."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.intervals import hidden_interval
from sosie.audits.links import Links, named, split
from sosie.audits.results import Metric

__all__ = ["DEFINITION", "correlation_protection_rate"]

DEFINITION = Definition(
    "correlation_protection_rate",
    "%",
    "higher",
    "linkability",
    place=10,
    needs=("two_columns",),
    options=("known",),
    advice=("smoothed", "raise_k", "fewer_columns"),
)


def correlation_protection_rate(
    originals: object,
    avatars: object | None = None,
    *,
    known: Sequence[Hashable] | None = None,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Share of people who can't be followed from one table to another through the avatars.

    The attacker knows columns A of a person and holds another table with the remaining
    columns of everyone. The avatar nearest to the person in A is looked up, then the
    original nearest to that avatar in the rest; the link is right if it is the same
    person. Where several are equal, the hit is shared among them. The metric is
    ``100 (1 - share of right links)``.

    In percent, 0 to 100; higher protects better; no published target. Distances are
    Euclidean between FAMD coordinates of A and of the rest. The interval is Wilson's. With
    people set aside, `control` is the same for them, in a table of as many people.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    known : the columns A; by default every other column, from the first.
    components : dimensions of each latent space.
    target : None for no target.

    Raises
    ------
    InputError
        A column of `known` is absent, nothing is left, or no column of one part varies.

    Notes
    -----
    Source: the correlation protection rate of avatar evaluation.

    Examples
    --------
    Avatars that are copies lead everyone to their own row:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]}).with_columns(y=-pl.col("x"))
    >>> correlation_protection_rate(people, people, known=["x"]).value
    0.0
    """
    comparison = compared(originals, avatars, aligned=False, components=components)
    if (reason := comparison.lacks(*DEFINITION.needs)) is not None:
        return DEFINITION.unavailable(reason, target=target)
    parts = split(comparison.originals, known)
    links = Links.of(comparison, parts)
    people, pool = comparison.originals, links.spaces[1].transform(comparison.originals)
    linked, control = links.followed(people, pool), None
    if comparison.holdout is not None:
        strangers = comparison.holdout.take(np.arange(min(len(pool), len(comparison.holdout))))
        pool[: len(strangers)] = links.spaces[1].transform(strangers)  # as many to choose from
        control = 100 * (1 - float(links.followed(strangers, pool).mean()))
    return DEFINITION.result(
        100 * (1 - float(linked.mean())),
        target=target,
        ci=hidden_interval(float(linked.sum()), len(linked)),
        control=control,
        detail=named(parts),
        by_person={"linked": linked},
    )
