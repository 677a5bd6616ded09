"""Columns and whole rows compared by value: a missing value is a value like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Ints, Mask
from sosie.data.table import Column, Numbers, Table

__all__ = ["distinct", "equal", "hashes", "looked_up", "rows_found", "values_of"]

FIRST, SECOND = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
"""Where a hash starts. Every bit of a value changes half of the bits, which ones depends on it."""

MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Shifts and factors of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""


def values_of(column: Column) -> NDArray[Any]:
    """(n,) codes or float64."""
    return column.values if isinstance(column, Numbers) else column.codes


def distinct(values: NDArray[Any]) -> int:
    """Number of distinct values, a missing one included."""
    if values.dtype.kind == "f":
        return len(np.unique(values))  # NaN is one value
    return int(np.count_nonzero(np.bincount(values)))


def equal(one: NDArray[Any], other: NDArray[Any]) -> Mask:
    """Where two columns hold the same value, missing values included."""
    same = one == other
    if one.dtype.kind == "f":
        same |= np.isnan(one) & np.isnan(other)
    return np.asarray(same, dtype=bool)


def rows_found(people: Table, avatars: Table) -> Mask:
    """Whether each whole row of `people` is a row of `avatars`, ``(n,) bool``.

    Rows are looked up by hash, and what the hash finds is compared value by value.
    """

    def same(one: Ints, other: Ints) -> Mask:
        alike = np.ones(len(one), dtype=bool)
        for before, after in zip(people.columns, avatars.columns, strict=True):
            alike &= equal(values_of(before)[one], values_of(after)[other])
        return alike

    return looked_up(hashes(people), hashes(avatars), same)


def looked_up(
    wanted: NDArray[np.uint64], held: NDArray[np.uint64], same: Callable[[Ints, Ints], Mask]
) -> Mask:
    """Which of some rows are among others, ``(n,) bool``.

    Parameters
    ----------
    wanted, held : (n,) and (m,) uint64, their hashes.
    same : whether rows of the ones (by number) are equal to rows of the others.

    Examples
    --------
    >>> one, other = np.array([3, 5], np.uint64), np.array([5, 8], np.uint64)
    >>> looked_up(one, other, lambda rows, others: one[rows] == other[others]).tolist()
    [False, True]
    """
    place, found = np.empty(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    if not len(held):
        return found
    order = np.argsort(held)
    held = held[order]
    rising = np.argsort(wanted)  # asked in this order, the search stays in cache
    place[rising] = np.searchsorted(held, wanted[rising])
    open_ = np.flatnonzero(held[np.minimum(place, len(held) - 1)] == wanted)
    while len(open_):
        alike = same(open_, order[place[open_]])
        found[open_[alike]] = True
        # Another row may share the hash: try the next one.
        open_ = open_[~alike]
        place[open_] += 1
        open_ = open_[place[open_] < len(held)]
        open_ = open_[held[place[open_]] == wanted[open_]]
    return found


def hashes(table: Table, start: int = FIRST) -> NDArray[np.uint64]:
    """64 bits for each row, equal for equal rows."""
    mixed = np.full(len(table), start, dtype=np.uint64)
    for column in table.columns:
        values = values_of(column)
        if values.dtype.kind == "f":
            plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, one zero
            bits = plain.view(np.uint64)
        else:
            bits = values.astype(np.uint64)
        mixed ^= bits
        for shift, factor in MIXING:
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return mixed
