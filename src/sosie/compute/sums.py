"""Sums and counts that do not depend on the order of adding.

Floating-point sums change with the order, so with the number of threads and the parts
that a table is cut into. Whole numbers do not: what is to be added is first rounded to
whole numbers of a fixed unit.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints

__all__ = ["WholeSum", "added", "mean_of", "tally"]

WORD = 2.0**32

PART = 1 << 16

FINE, COARSE = 2.0**50, 2.0**26
"""Steps of a unit, and of these one that a sum of the larger halves counts in: of 100,000,000
values both halves stay below 2^53."""


def added(rows: NDArray[Any]) -> NDArray[Any]:
    """Sum over the first axis, one row after the other: NumPy's own depends on the shape.

    >>> added(np.array([[1.0], [2.0]])).tolist()
    [3.0]
    """
    total: NDArray[Any] = rows[0].copy()
    for row in rows[1:]:
        total += row
    return total


def mean_of(values: Floats) -> float:
    """The mean of values between -4 and 4, in any order the same: each rounded to 2^-50.

    >>> values = np.array([0.1, 0.2, 0.3])
    >>> mean_of(values) == mean_of(values[::-1]), bool(values.sum() == values[::-1].sum())
    (True, False)
    >>> round(mean_of(values), 15)
    0.2
    """
    coarse = fine = 0.0
    for start in range(0, len(values), PART):
        whole = np.rint(values[start : start + PART] * FINE)
        large = np.rint(whole / COARSE)
        coarse += float(large.sum())
        fine += float((whole - large * COARSE).sum())
    return (coarse * COARSE + fine) / FINE / len(values)


def tally(numbers: NDArray[Any], size: int) -> Ints:
    """How often each whole number from 0 to ``size - 1`` occurs, ``(size,) int64``.

    `numpy.bincount` widens all numbers to int64 first, eight times the memory of a byte: here,
    so many at a time.

    >>> tally(np.array([0, 2, 2], dtype=np.uint8), 4).tolist()
    [1, 0, 2, 0]
    """
    counts = np.zeros(size, dtype=np.int64)
    step = max(PART, size)
    for start in range(0, len(numbers), step):
        counts += np.bincount(numbers[start : start + step], minlength=size)
    return counts


class WholeSum:
    """Sum of arrays of whole numbers below 2^53, in two words, exact up to 2^84.

    Larger numbers are added with the precision of float64.

    Examples
    --------
    >>> large, small = np.array(2.0**53), np.array(1.0)
    >>> float(WholeSum(()).add(large).add(small).add(small).total - large)
    2.0
    >>> float(large + small + small - large)
    0.0
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._high, self._low = np.zeros(shape), np.zeros(shape)
        self._adding = Lock()

    def add(self, part: Floats) -> Self:
        """Add whole numbers; threads may do so together."""
        high = np.rint(part / WORD) * WORD
        with self._adding:
            self._high += high
            self._low += part - high
        return self

    def merge(self, other: WholeSum) -> Self:
        """Add what another sum of the same shape holds."""
        self._high += other._high
        self._low += other._low
        return self

    @property
    def total(self) -> Floats:
        """The sum, float64."""
        carried = np.rint(self._low / WORD) * WORD  # one way to write each sum in two words
        return np.asarray((self._high + carried) + (self._low - carried))

    def __getstate__(self) -> dict[str, Any]:
        return {"_high": self._high, "_low": self._low}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _adding=Lock())
