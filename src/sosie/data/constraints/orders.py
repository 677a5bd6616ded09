"""Orders: a date before another, a minimum under a maximum."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Mask
from sosie.data.constraints.columns import Columns, Name
from sosie.data.constraints.rule import FEWEST_BROKEN, Constraint, Derivation, Kind, known, said

__all__ = ["Order", "find_orders"]

LEAST_OVERLAP = 0.25
"""Of the shorter range, the part that lies in the other: numbers of one unit share a scale.
Weights in kilograms are under heights in centimetres in nearly all, and that means nothing."""


@dataclass(frozen=True)
class Order:
    """``low <= high`` in every row.

    Examples
    --------
    >>> Order("diastolic", "systolic").text
    'diastolic <= systolic'
    """

    low: Name
    high: Name
    kind: Kind = "order"

    @property
    def columns(self) -> tuple[Name, ...]:
        """The lower, the higher."""
        return (self.low, self.high)

    @property
    def text(self) -> str:
        """The order."""
        return f"{said(self.low)} <= {said(self.high)}"

    def broken(self, columns: Columns) -> Mask:
        """Where the lower is above the higher."""
        return np.asarray(columns.numbers(self.low) > columns.numbers(self.high))

    def derivations(self) -> Sequence[Derivation]:
        """None: an order leaves a choice."""
        return ()

    def computed(self, columns: Columns, output: Name, /) -> NDArray[Any]:
        """Nothing can be."""
        raise NotImplementedError(f"{self.text} gives no value of {output!r}")


def find_orders(
    columns: Columns, sample: Columns, implied: Collection[tuple[Name, Name]] = ()
) -> Iterator[Constraint]:
    """Orders between columns of one unit that shuffling would break in twenty rows.

    The expectation is exact: of the n rows in which both are present, ``sum_i #{j: low_i >
    high_j} / n``. A column of at most ten values is a category, and of equal columns one is a
    copy of the other: neither is ordered.

    Parameters
    ----------
    implied : pairs, lower and higher, of which more is known: a part and its total, or columns
        of a product, which are no more of one unit than a price and a number.
    """
    for unit in ("number", "moment"):
        names = [name for name in columns.named(unit) if columns.is_counted(name)]
        if len(names) < 2:
            continue
        values = np.array([sample.numbers(name) for name in names])
        ranges = [_range(columns.numbers(name)) for name in names]
        for i, low in enumerate(names):
            # Missing values contradict nothing: what compares with them is false.
            candidates = np.flatnonzero(~(values[i] > values).any(axis=1))
            for j in candidates:
                known_already = i == j or (low, names[j]) in implied
                if not known_already and _overlap(ranges[i], ranges[j]) >= (
                    LEAST_OVERLAP if unit == "number" else 0
                ):
                    yield from _order(columns, low, names[j])


def _range(values: Floats) -> tuple[float, float]:
    with np.errstate(all="ignore"):
        return float(np.fmin.reduce(values)), float(np.fmax.reduce(values))


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The part of the shorter range that lies in the other; under 0 where they are apart."""
    common = min(one[1], other[1]) - max(one[0], other[0])
    shorter = min(one[1] - one[0], other[1] - other[0])
    return common / shorter if shorter > 0 else -1.0


def _order(columns: Columns, low: Name, high: Name) -> Iterator[Constraint]:
    lower, higher = columns.numbers(low), columns.numbers(high)
    if (lower > higher).any():
        return
    both = known(lower, higher)
    lower, higher = lower[both], higher[both]
    if len(lower) < FEWEST_BROKEN or np.array_equal(lower, higher):
        return
    # In order, both: neighbours are then looked up in cache.
    below = np.searchsorted(np.sort(higher), np.sort(lower), side="left")
    expected = float(below.sum() / len(lower))
    if expected >= FEWEST_BROKEN:
        yield Constraint(Order(low, high), expected=expected)
