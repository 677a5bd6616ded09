"""One monotone map a number, from what its law draws to normal scores.

Sums of a group's mean and pooled noise are not quite Gaussian over the table. The quantiles of
a pilot go to those of the normal, which gives long tails back their spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats

__all__ = ["Marginal"]

QUANTILES = 127

FEWEST = 20
"""Pilot draws a quantile at least: fewer quantiles otherwise."""

REACH, STEPS = 6.0, 128
"""The map is tabulated from -REACH to REACH, in so many steps a unit."""

END = 8
"""Quantiles at either end that give the slope beyond the last."""

STEEPEST = 4.0
"""Slope beyond the last quantile, at most, and at least its inverse."""


@dataclass(frozen=True)
class Marginal:
    """A map, tabulated.

    Attributes
    ----------
    scores, shares : (2, cells) float64, value at the start of each cell and slope: of the
        normal score, and of its normal distribution function.
    """

    scores: Floats
    shares: Floats

    @classmethod
    def of(cls, pilot: Floats) -> Self:
        """The map that makes a pilot Gaussian.

        Parameters
        ----------
        pilot : (m,) float64, draws before the map; with fewer than 60, nothing is changed.
        """
        from scipy.special import ndtr, ndtri

        at = np.arange(-REACH * STEPS, REACH * STEPS + 1) / STEPS
        scores, count = at, min(QUANTILES, len(pilot) // FEWEST)
        if count >= 3:
            levels = np.arange(1, count + 1) / (count + 1)
            x, y = np.quantile(pilot, levels), ndtri(levels)
            end = min(END, count - 1)
            low = _slope(x[end] - x[0], y[end] - y[0])
            high = _slope(x[-1] - x[-1 - end], y[-1] - y[-1 - end])
            far = 2 * REACH
            x = np.concatenate([[x[0] - far], x, [x[-1] + far]])
            y = np.concatenate([[y[0] - far * low], y, [y[-1] + far * high]])
            scores = np.interp(at, x, y)
        return cls(_cells(scores), _cells(ndtr(scores)))

    def __call__(self, raw: Floats) -> tuple[Floats, Floats]:
        """Normal scores of some draws, and their places in the distribution, in 0..1.

        Examples
        --------
        >>> score, share = Marginal.of(np.empty(0))(np.array([0.0, 9.0]))
        >>> score.tolist(), share.round(6).tolist()
        ([0.0, 6.0], [0.5, 1.0])
        """
        position = (raw + REACH) * STEPS
        np.clip(position, 0, self.scores.shape[1], out=position)
        cell = np.minimum(position, self.scores.shape[1] - 1).astype(np.int32)
        position -= cell
        return _read(self.scores, cell, position), _read(self.shares, cell, position)


def _slope(across: Any, up: Any) -> float:
    return float(np.clip(up / max(across, np.finfo(np.float32).tiny), 1 / STEEPEST, STEEPEST))


def _cells(values: Floats) -> Floats:
    return np.asarray(np.vstack([values[:-1], np.diff(values)]))


def _read(table: Floats, cell: NDArray[np.int32], at: Floats) -> Floats:
    rise: Floats = table[1].take(cell)
    rise *= at
    rise += table[0].take(cell)
    return rise
