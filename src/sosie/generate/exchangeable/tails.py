"""The way back from scores to values, through order statistics whose ends belong to nobody.

The k smallest and the k largest values are each replaced by their mean: the k-th would be
somebody's own. With fewer than 2k values, one mean stands for all. A mean that would be written
as the extreme itself, which fewer than k people share, is moved a step of the column inside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from sosie.compute.arrays import Floats
from sosie.generate.normal_scores import MOST_KNOTS, NormalScores

__all__ = ["Back"]


@dataclass(frozen=True)
class Back:
    """From a share of the people to the value below which it lies.

    Attributes
    ----------
    ordered : (knots,) float64, order statistics, both ends replaced by means; of more than
        65,536 values, evenly spaced ones.
    count : how many values they are the order statistics of.
    """

    ordered: Floats
    count: int

    @classmethod
    def of(cls, values: Floats, scores: NormalScores, k: int, spacing: float = 0.0) -> Self:
        """The way back of a column.

        Parameters
        ----------
        values : (m,) float64, those that have a score, at least k; any order.
        scores : made with k or more as the fewest, so that only its ends are clipped.
        k : how many values an end is the mean of.
        spacing : of the values as they are written; 0 where any number may be.
        """
        count = len(values)
        parted = np.partition(values, [k - 1, count - k])
        low, high = float(values.min()), float(values.max())
        low += spacing * (parted[k - 1] > low)
        high -= spacing * (parted[count - k] < high)
        if count < 2 * k:
            mean = _mean(values)
            return cls(np.array([mean if low > high else min(max(mean, low), high)]), count)
        ordered = scores.ordered.copy()
        ranks = np.linspace(0, count - 1, min(count, MOST_KNOTS)).round().astype(np.int64)
        ordered[ranks < k] = max(_mean(parted[:k]), low)
        ordered[ranks >= count - k] = min(_mean(parted[count - k :]), high)
        return cls(ordered, count)

    def __call__(self, shares: Floats) -> Floats:
        """Values of some shares in 0..1, ``(m,) float64``.

        Examples
        --------
        >>> Back(np.array([1.0, 3.0]), 2)(np.array([0.25, 0.5, 0.75])).tolist()
        [1.0, 2.0, 3.0]
        """
        last = len(self.ordered) - 1
        position = (shares * self.count - 0.5) * (last / max(self.count - 1, 1))
        np.clip(position, 0, last, out=position)
        low = position.astype(np.int32)
        share = position - low
        below = self.ordered.take(low)
        low += 1
        np.minimum(low, last, out=low)
        above = self.ordered.take(low)
        # Not the difference: that of two values of 1e308 overflows.
        above *= share
        below *= np.subtract(1, share, out=share)
        below += above
        return below


def _mean(values: Floats) -> float:
    """The mean, exact and so independent of the order; divided first, since sums overflow."""
    return math.fsum(value / len(values) for value in values.tolist())
