"""Linkability: whether two records about the same person can be tied together.

Each metric takes originals and avatars (dataframes of any kind, which need not be
aligned), or one `Comparison`. Criterion: WP29 opinion 05/2014.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.audits.comparison import Comparison, compared
from sosie.audits.intervals import above_control, wilson
from sosie.audits.results import NO_HOLDOUT, TOO_FEW_COLUMNS, Definition, Metric, json_name
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Table
from sosie.errors import InputError
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["DEFINITIONS", "correlation_protection_rate", "linkability"]

CORRELATION = Definition("correlation_protection_rate", "%", "higher", "linkability")
LINKABILITY = Definition("linkability", "%", "lower", "linkability")

DEFINITIONS = (CORRELATION, LINKABILITY)

Names = tuple[Hashable, ...]


def correlation_protection_rate(
    originals: object,
    avatars: object | None = None,
    *,
    known: Sequence[Hashable] | None = None,
    components: int = 5,
    target: float | None = None,
) -> Metric:
    """Share of people who can't be followed from one table to another through the avatars.

    An attacker knows columns A of a person and holds another table with the remaining
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
    if len(comparison.originals.columns) < 2:
        return CORRELATION.unavailable(TOO_FEW_COLUMNS, target=target)
    parts = split(comparison.originals, known)
    links = _Links.of(comparison, parts)
    people, pool = comparison.originals, links.spaces[1].transform(comparison.originals)
    linked, control = links.followed(people, pool), None
    if comparison.holdout is not None:
        some = comparison.holdout.take(np.arange(min(len(pool), len(comparison.holdout))))
        pool[: len(some)] = links.spaces[1].transform(some)  # as many to choose from
        control = 100 * (1 - float(links.followed(some, pool).mean()))
    low, high = wilson(float(linked.sum()), len(linked))
    return CORRELATION.found(
        100 * (1 - float(linked.mean())),
        target=target,
        ci=(100 * (1 - high), 100 * (1 - low)),
        control=control,
        detail=_named(parts),
        by_person={"linked": linked},
    )


def linkability(
    originals: object,
    avatars: object | None = None,
    *,
    holdout: object | None = None,
    known: Sequence[Hashable] | None = None,
    components: int = 5,
    target: float | None = None,
) -> Metric:
    """How often avatars reunite the two halves of a person, above a control.

    An attacker holds some columns of a person in one table, the others in another, and
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
    if len(comparison.originals.columns) < 2:
        return LINKABILITY.unavailable(TOO_FEW_COLUMNS, target=target)
    parts = split(comparison.originals, known)
    links = _Links.of(comparison, parts)
    return above(
        LINKABILITY,
        links.reunited(comparison.originals),
        None if comparison.holdout is None else links.reunited(comparison.holdout),
        target=target,
        detail=_named(parts),
    )


def above(
    definition: Definition,
    attack: Floats,
    control: Floats | None,
    *,
    target: float | None,
    detail: dict[str, Any],
    columns: tuple[dict[str, Any], ...] = (),
) -> Metric:
    """A risk above its control as a metric, from the chance of success of each target."""
    found = detail | {
        "attack": 100 * float(attack.mean()),
        "attack_ci": _percent(wilson(float(attack.sum()), len(attack))),
    }
    if control is None:
        return definition.unavailable(
            NO_HOLDOUT, target=target, detail=found, columns=columns, by_person={"hit": attack}
        )
    found["control_ci"] = _percent(wilson(float(control.sum()), len(control)))
    score = 100 * float(control.mean())
    if score == 100:
        reason = "the control is always right, so that nothing can be above it."
        return definition.unavailable(
            reason, target=target, detail=found, columns=columns, control=score
        )
    risk, interval = above_control(
        float(attack.sum()), len(attack), float(control.sum()), len(control)
    )
    return definition.found(
        100 * risk,
        target=target,
        ci=_percent(interval),
        control=score,
        detail=found,
        columns=columns,
        by_person={"hit": attack},
    )


def split(table: Table, known: Sequence[Hashable] | None) -> tuple[Names, Names]:
    """Columns that an attacker knows, and the others.

    Raises
    ------
    InputError
        A column is absent, or one side is empty.
    """
    names = table.names
    if known is None:
        return names[::2], names[1::2]  # columns of one kind often stand together
    for name in known:
        if name not in names:
            raise InputError(f"there is no column {name!r} to compare")
    one = tuple(name for name in names if name in known)
    rest = tuple(name for name in names if name not in known)
    if not one or not rest:
        raise InputError("the known columns must be some of the columns, not none and not all")
    return one, rest


@dataclass(frozen=True)
class _Links:
    """Avatars seen in two groups of columns.

    Avatars come in an order of their own: which of two at the same distance counts as the
    nearest must not depend on the row they share with an original.
    """

    spaces: tuple[FAMD, ...]
    index: tuple[NeighbourIndex, ...]

    @classmethod
    def of(cls, comparison: Comparison, parts: tuple[Names, Names]) -> _Links:
        held = comparison.shared.get(parts)
        if isinstance(held, _Links):
            return held
        spaces = tuple(comparison.space(part) for part in parts)
        order = np.random.default_rng(0).permutation(len(comparison.avatars))
        points = (space.transform(comparison.avatars)[order] for space in spaces)
        made = cls(spaces, tuple(NeighbourIndex(some, comparison.threads) for some in points))
        comparison.shared[parts] = made
        return made

    def nearest(self, people: Table, side: int) -> Ints:
        """The group of equal avatars nearest to each person on one side, ``(n,)``."""
        index = self.index[side]
        return nearest_group(index, self.spaces[side].transform(people))

    def reunited(self, people: Table) -> Floats:
        """Chance that the same avatar is drawn on both sides, ``(n,)`` in 0..1."""
        one, rest = self.nearest(people, 0), self.nearest(people, 1)
        left, right = self.index[0].groups, self.index[1].groups
        both = count_pairs(left, right, one, rest)
        return np.asarray(both / (np.bincount(left)[one] * np.bincount(right)[rest]))

    def followed(self, people: Table, pool: Floats) -> Floats:
        """Chance that each person leads to their own row, ``(n,)``.

        Parameters
        ----------
        pool : (m, d) float64, second halves to choose from, first those of `people`.
        """
        one, groups = self.nearest(people, 0), self.index[0].groups
        rows = NeighbourIndex(pool, self.index[0].threads)
        reached, own = nearest_group(rows, self.index[1].points), rows.groups[: len(people)]
        right = count_pairs(groups, reached, one, own)
        return np.asarray(right / (np.bincount(groups)[one] * np.bincount(rows.groups)[own]))


def nearest_group(index: NeighbourIndex, queries: Floats) -> Ints:
    """Which group of equal points is nearest to each query, ``(m,) int64``."""
    return np.asarray(index.groups[index.nearest(queries, 1).rows[:, 0]])


def count_pairs(left: Ints, right: Ints, one: Ints, other: Ints) -> Ints:
    """How many j have ``left[j] = one[i]`` and ``right[j] = other[i]``, for each i.

    >>> count_pairs(*(np.array(v) for v in ([0, 0, 1], [2, 2, 3], [0, 1, 0], [2, 3, 3]))).tolist()
    [2, 1, 0]
    """
    width = int(max(right.max(), other.max())) + 1
    pairs, counts = np.unique(left * width + right, return_counts=True)
    wanted = one * width + other
    place = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    return np.where(pairs[place] == wanted, counts[place], 0)


def _named(parts: tuple[Names, Names]) -> dict[str, Any]:
    return {"groups": [[json_name(name) for name in part] for part in parts]}


def _percent(interval: tuple[float, float]) -> tuple[float, float]:
    return 100 * interval[0], 100 * interval[1]
