"""One-hot columns, and pairs of levels that never meet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Ints, Mask
from sosie.data.constraints.columns import Columns, Name
from sosie.data.constraints.rule import FEWEST_BROKEN, Constraint, Derivation, Kind, said
from sosie.data.table import Levels

__all__ = ["Exclusion", "OneHot", "find_exclusions", "find_one_hot"]

FEWEST_OF_ONE_HOT = 3
"""Columns of a group; of two, one is the label of the other."""

MOST_STEPS = 20_000
"""Of the search for groups: flags of a questionnaire could make very many."""

ROWS_AT_ONCE = 2**16

MOST_NAMED = 3
"""Pairs that a statement names."""


@dataclass(frozen=True)
class OneHot:
    """Exactly one of the columns is 1 in every row.

    Examples
    --------
    >>> OneHot(("ward_a", "ward_b", "ward_c")).text
    'one of ward_a, ward_b, ward_c'
    """

    columns: tuple[Name, ...]
    kind: Kind = "onehot"

    @property
    def text(self) -> str:
        """The statement."""
        return f"one of {', '.join(said(name) for name in self.columns)}"

    def broken(self, columns: Columns) -> Mask:
        """Where none is 1, or several are."""
        total = np.sum([columns.numbers(name) for name in self.columns], axis=0)
        return np.asarray((total != 1) & ~np.isnan(total))

    def derivations(self) -> Sequence[Derivation]:
        """Each column, when the others are known; the last ones first."""
        return [
            Derivation(output, tuple(name for name in self.columns if name != output))
            for output in reversed(self.columns)
        ]

    def computed(self, columns: Columns, output: Name, /) -> NDArray[Any]:
        """What the others leave."""
        others = [columns.numbers(name) for name in self.columns if name != output]
        return np.asarray(1 - np.sum(others, axis=0))


def find_one_hot(columns: Columns, sample: Columns) -> Iterator[Constraint]:
    """Groups of three columns or more of 0 and 1, one of which is 1 in each row.

    The group is found as an exact cover of the rows of the sample by columns that are never 1
    together, then looked at in all rows.
    """
    names = [name for name in columns.named("number") if _is_flag(columns, name)]
    if len(names) < FEWEST_OF_ONE_HOT:
        return
    flags = np.array([sample.numbers(name) for name in names])
    rows = ~np.isnan(flags).any(axis=0)
    if rows.sum() < FEWEST_BROKEN:
        return
    flags = flags[:, rows] == 1
    used: set[int] = set()
    for group in _covers(flags):
        rule = OneHot(tuple(names[place] for place in group))
        if used & {*group} or len(group) < FEWEST_OF_ONE_HOT or rule.broken(columns).any():
            continue
        size = len(columns)
        shares = [float(np.nanmean(columns.numbers(name))) for name in rule.columns]
        expected = min(2 * size * share * (1 - share) for share in shares)
        if (
            max(shares) < 1
            and expected > 0
            and sum(2 * size * share * (1 - share) for share in shares) >= FEWEST_BROKEN
        ):
            used |= {*group}
            yield Constraint(rule, expected=expected)


def _is_flag(columns: Columns, name: Name) -> bool:
    column = columns.encoded[name]
    return isinstance(column, Levels) and {*column.labels} - {None} in (
        {"0", "1"},
        {"True", "False"},
    )


def _covers(flags: NDArray[np.bool_]) -> Iterator[tuple[int, ...]]:
    """Sets of columns of which exactly one is true in each row, small sets of flags first."""
    together = flags.astype(np.float32) @ flags.T.astype(np.float32) > 0
    steps = 0

    def grow(group: tuple[int, ...], covered: NDArray[np.bool_]) -> Iterator[tuple[int, ...]]:
        nonlocal steps
        steps += 1
        if steps > MOST_STEPS:
            return
        if covered.all():
            yield tuple(sorted(group))
            return
        row = int(np.argmin(covered))
        for place in np.flatnonzero(flags[:, row]):
            if not together[place, list(group)].any():
                yield from grow((*group, int(place)), covered | flags[place])

    yield from grow((), np.zeros(flags.shape[1], dtype=bool))


@dataclass(frozen=True)
class Exclusion:
    """Levels of two columns that never meet.

    Attributes
    ----------
    one, other : columns.
    pairs : labels of the first and of the second that no row holds together.
    """

    one: Name
    other: Name
    pairs: tuple[tuple[str, str], ...] = field(repr=False)
    kind: Kind = "exclusion"

    @property
    def columns(self) -> tuple[Name, ...]:
        """Both columns."""
        return (self.one, self.other)

    @property
    def text(self) -> str:
        """The statement, with the first pairs."""
        shown = [
            f"{said(self.one)} = {a!r} never with {said(self.other)} = {b!r}"
            for a, b in self.pairs[:MOST_NAMED]
        ]
        more = len(self.pairs) - len(shown)
        return "; ".join(shown) + (f"; and {more:,} more pairs" if more > 0 else "")

    def broken(self, columns: Columns) -> Mask:
        """Where two such levels meet."""
        one, other = columns.encoded[self.one], columns.encoded[self.other]
        if not isinstance(one, Levels) or not isinstance(other, Levels):
            raise TypeError(f"{self.text}: both columns are categories")
        first = _numbered(pair[0] for pair in self.pairs)
        second = _numbered(pair[1] for pair in self.pairs)
        apart = np.zeros((len(first) + 1, len(second) + 1), dtype=bool)
        for a, b in self.pairs:
            apart[first[a], second[b]] = True
        # The last row and column, all false, stand for the other levels.
        at = np.array([first.get(str(label), len(first)) for label in one.labels])[one.codes]
        to = np.array([second.get(str(label), len(second)) for label in other.labels])[other.codes]
        return np.asarray(apart[at, to])

    def derivations(self) -> Sequence[Derivation]:
        """None: other levels are left to choose from."""
        return ()

    def computed(self, columns: Columns, output: Name, /) -> NDArray[Any]:
        """Nothing can be."""
        raise NotImplementedError(f"{self.text} gives no value of {output!r}")


def _numbered(labels: Iterator[str]) -> dict[str, int]:
    return {label: place for place, label in enumerate(dict.fromkeys(labels))}


def find_exclusions(
    columns: Columns,
    k: int,
    apart_from: Collection[frozenset[Name]],
    copies: Collection[Name] = (),
) -> Iterator[Constraint]:
    """Pairs of levels, each held by k rows, that never meet where chance would make twenty.

    Chance makes ``n_a n_b / n``; pairs that reach twenty are at most n / 20 for two columns, so
    that the tables counted stay linear in the rows.

    Parameters
    ----------
    apart_from : pairs of columns of which more is known (a code and its label).
    copies : columns that say another one again.
    """
    names = [
        name
        for name, column in columns.encoded.items()
        if isinstance(column, Levels) and name not in copies
    ]
    counts = {name: _present_counts(columns, name) for name in names}
    size = len(columns)
    for one, other in combinations(names, 2):
        if frozenset((one, other)) in apart_from or not size:
            continue
        first = _often(counts[one], counts[other], size, k)
        second = _often(counts[other], counts[one], size, k)
        if len(first) and len(second):
            yield from _exclusion(columns, one, other, (first, second), counts)


def _present_counts(columns: Columns, name: Name) -> Ints:
    column = columns.encoded[name]
    if not isinstance(column, Levels):
        raise TypeError(f"column {name!r} is no category")
    present = np.array([label is not None for label in column.labels])
    return np.where(present, column.counts(), 0)


def _often(own: Ints, others: Ints, size: int, k: int) -> Ints:
    """Levels that would meet the commonest of the others twenty times."""
    return np.flatnonzero((own >= k) & (own * int(others.max()) >= FEWEST_BROKEN * size))


def _exclusion(
    columns: Columns,
    one: Name,
    other: Name,
    often: tuple[Ints, Ints],
    counts: dict[Name, Ints],
) -> Iterator[Constraint]:
    first, second = often
    chance = np.outer(counts[one][first], counts[other][second]) / len(columns)
    open_pairs = chance >= FEWEST_BROKEN
    a, b = columns.encoded[one], columns.encoded[other]
    if not isinstance(a, Levels) or not isinstance(b, Levels):
        return
    at = np.full(len(a.labels), -1, dtype=np.int64)
    to = np.full(len(b.labels), -1, dtype=np.int64)
    at[first], to[second] = np.arange(len(first)), np.arange(len(second))
    for start in range(0, len(columns), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        left, right = at[a.codes[rows]], to[b.codes[rows]]
        both = (left >= 0) & (right >= 0)
        met = np.bincount(
            left[both] * len(second) + right[both], minlength=len(first) * len(second)
        )
        open_pairs &= met.reshape(len(first), len(second)) == 0
        if not open_pairs.any():
            return
    pairs = np.argwhere(open_pairs)
    pairs = pairs[np.argsort(-chance[open_pairs], kind="stable")]
    named = tuple((str(a.labels[first[i]]), str(b.labels[second[j]])) for i, j in pairs)
    expected = float(chance[open_pairs].sum())
    yield Constraint(Exclusion(one, other, named), expected=expected)
