"""Sums: a total of two to five parts, and copies of one column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Mask
from sosie.data.constraints.columns import Columns, Name
from sosie.data.constraints.rule import (
    FEWEST_BROKEN,
    Constraint,
    Derivation,
    Kind,
    expected_distinct,
    known,
    off_grid,
    said,
)

__all__ = ["Sum", "find_sums", "whole_rows"]

MOST_PARTS = 5
MOST_COLUMNS_OF_MOST_PARTS = 60
"""Among more columns, sums of at most three parts are looked for: the others are too many."""

FEWEST_WHOLE_ROWS = 20
"""Rows without a missing value that a search needs; columns that miss most are left out of it."""

MODULUS = 2**31 - 1
"""Sums are looked up modulo a prime: one in two thousand million is taken for another, and all
rows are looked at afterwards."""


@dataclass(frozen=True)
class Sum:
    """``total = part + part + …``.

    Examples
    --------
    >>> Sum("total", ("drugs", "tests")).text
    'total = drugs + tests'
    """

    total: Name
    parts: tuple[Name, ...]
    kind: Kind = "sum"

    @property
    def columns(self) -> tuple[Name, ...]:
        """The total, then its parts."""
        return (self.total, *self.parts)

    @property
    def text(self) -> str:
        """The sum."""
        return f"{said(self.total)} = {' + '.join(said(part) for part in self.parts)}"

    def broken(self, columns: Columns) -> Mask:
        """Where the total is not what its parts make."""
        total = columns.numbers(self.total)
        return off_grid(total, self.computed(columns, self.total), columns.grain(self.total))

    def derivations(self) -> Sequence[Derivation]:
        """The total of its parts; else a part of the total and the others."""
        every = (self.total, *self.parts)
        return [
            Derivation(output, tuple(name for name in every if name != output)) for output in every
        ]

    def computed(self, columns: Columns, output: Name, /) -> NDArray[Any]:
        """The total, or what the total leaves for a part."""
        if output == self.total:
            parts = [columns.numbers(part) for part in self.parts]
            return np.asarray(np.sum(parts, axis=0))
        others = [columns.numbers(part) for part in self.parts if part != output]
        return np.asarray(columns.numbers(self.total) - np.sum(others, axis=0))


def find_sums(columns: Columns, sample: Columns) -> Iterator[Constraint]:
    """Totals of other columns.

    Each column is counted in the finest unit of all and hashed by one random weight a row, so
    that the hash of a sum is the sum of the hashes; sums of two to five columns are then looked
    up as pairs and triples. What is found is looked at in all rows.
    """
    names, values = whole_rows(sample)
    if len(names) < 2:
        return
    hashes = _hashes(values)
    most = MOST_PARTS if len(names) <= MOST_COLUMNS_OF_MOST_PARTS else 3
    seen: set[frozenset[Name]] = set()
    for total, parts in sorted(_lookups(hashes, most), key=lambda found: len(found[1])):
        rule = Sum(names[total], tuple(names[part] for part in parts))
        found = _sum(columns, rule) if frozenset(rule.columns) not in seen else None
        if found is not None:
            seen.add(frozenset(rule.columns))
            yield found


def whole_rows(sample: Columns) -> tuple[list[Name], Floats]:
    """Number columns that vary and their rows without a missing value."""
    names, values = [], []
    for name in sample.named("number"):
        column = sample.numbers(name)
        if np.fmin.reduce(column) < np.fmax.reduce(column):
            names.append(name)
            values.append(column)
    order = sorted(range(len(names)), key=lambda i: int(np.isnan(values[i]).sum()))
    while order and known(*(values[i] for i in order)).sum() < FEWEST_WHOLE_ROWS:
        order.pop()
    kept = sorted(order)
    if not kept:
        return [], np.empty((0, 0))
    rows = known(*(values[i] for i in kept))
    return [names[i] for i in kept], np.array([values[i][rows] for i in kept])


@np.errstate(over="ignore", invalid="ignore")  # too large to be a sum of parts
def _hashes(values: Floats) -> NDArray[np.int64]:
    """A number for each column, additive over columns."""
    scale = next(
        (10.0**d for d in range(7) if np.allclose(np.rint(values * 10**d), values * 10**d)), 1e6
    )
    counted = np.rint(values * scale)
    counted = np.mod(counted, MODULUS).astype(np.int64)
    weights = np.random.default_rng(0).integers(1, MODULUS, counted.shape[1])
    return np.asarray((counted * weights % MODULUS).sum(axis=1) % MODULUS)


def _lookups(hashes: NDArray[np.int64], most: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Columns whose hash is the sum of others' hashes."""
    size = len(hashes)
    for first, second in combinations(range(size), 2):
        if hashes[first] == hashes[second]:
            yield second, (first,)
    subsets = {
        count: np.array(list(combinations(range(size), count)), dtype=np.int64).reshape(-1, count)
        for count in range(1, min(most, 4))
    }
    sums = {count: hashes[rows].sum(axis=1) % MODULUS for count, rows in subsets.items()}
    # The smaller subset is looked up among pairs, or single columns, that make up the rest.
    for count, (left, right) in {2: (1, 1), 3: (2, 1), 4: (2, 2), 5: (3, 2)}.items():
        if count > most:
            break
        order = np.argsort(sums[right], kind="stable")
        ordered = sums[right][order]
        for total in range(size):
            rest = (hashes[total] - sums[left]) % MODULUS
            first = np.searchsorted(ordered, rest, side="left")
            last = np.searchsorted(ordered, rest, side="right")
            for at in np.flatnonzero(last > first):
                for place in order[first[at] : last[at]]:
                    parts = tuple(sorted({*subsets[left][at], *subsets[right][place]}))
                    if len(parts) == count and total not in parts:
                        yield total, tuple(int(part) for part in parts)


def _sum(columns: Columns, rule: Sum) -> Constraint | None:
    """The sum if it holds in all rows, and each of its columns matters."""
    if rule.broken(columns).any():
        return None
    values = [columns.numbers(name) for name in rule.columns]
    rows = known(*values)
    expected = min(expected_distinct(column[rows]) for column in values)
    return Constraint(rule, expected=expected) if expected >= FEWEST_BROKEN else None
