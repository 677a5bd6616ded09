"""Normal scores: a number on the scale where its distribution is Gaussian, and back.

``z = Phi^-1((rank - 1/2) / m)`` with mean ranks on ties, among the m values that are
present and off the spike. Back by interpolation between the order statistics, of which
the ``least - 1`` smallest and largest are replaced by the ``least``-th.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.frames import Floats, Mask

__all__ = ["SPIKE_SHARE", "NormalScores", "find_spike"]

SPIKE_SHARE = 0.1
"""A value held by at least this share of the rows is a spike and is voted on, not averaged."""


def find_spike(values: Floats, least: int) -> float | None:
    """The commonest value, where at least a tenth of the rows and `least` rows hold it.

    >>> find_spike(np.array([0.0, 0.0, 1.0, 2.0]), least=2)
    0.0
    """
    present = values[~np.isnan(values)]
    ordered = np.sort(present)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(ordered) != 0]))
    runs = np.diff(np.concatenate([starts, [len(ordered)]]))
    if not len(runs):
        return None
    longest = int(np.argmax(runs))
    enough = runs[longest] >= max(SPIKE_SHARE * len(values), least, 2)
    return float(ordered[starts[longest]]) if enough else None


@dataclass(frozen=True)
class NormalScores:
    """The scores of one column.

    Attributes
    ----------
    scores : (n,) float64, 0 where the row has none (missing, or on the spike).
    scored : (n,) bool, rows that have a score.
    spike : the spike's value, or None.
    ordered : (m,) float64, order statistics, the extremes of the fewest replaced.
    """

    scores: Floats
    scored: Mask
    spike: float | None
    ordered: Floats

    @classmethod
    def of(cls, values: Floats, least: int) -> NormalScores:
        """Score a column; `least` is how many people must share an extreme.

        Parameters
        ----------
        values : (n,) float64, NaN where missing.
        """
        from scipy.special import ndtri

        spike = find_spike(values, least)
        scored = ~np.isnan(values)
        if spike is not None:
            scored &= values != spike
        present = values[scored]
        order = np.argsort(present, kind="stable")
        ordered = present[order]
        scores = np.zeros(len(values))
        if len(ordered):
            inner = np.empty(len(ordered))
            inner[order] = ndtri(_mean_position(ordered) / len(ordered))
            scores[scored] = inner
            # In a column of fewer than 2 least values all order statistics are the middle one.
            cut = min(least, (len(ordered) + 1) // 2) - 1
            ordered = np.clip(ordered, ordered[cut], ordered[len(ordered) - 1 - cut])
        return cls(scores, scored, spike, ordered)

    def back(self, scores: Floats) -> Floats:
        """Values of some scores, ``(m,) float64``, within the clipped order statistics."""
        from scipy.special import ndtr

        if not len(self.ordered):
            return np.full(len(scores), np.nan if self.spike is None else self.spike)
        position = np.clip(ndtr(scores) * len(self.ordered) - 0.5, 0, len(self.ordered) - 1)
        low = position.astype(np.int64)
        high = np.minimum(low + 1, len(self.ordered) - 1)
        share = position - low
        return self.ordered[low] * (1 - share) + self.ordered[high] * share


def _mean_position(ordered: Floats) -> Floats:
    """Mean rank minus one half of each value of a sorted array."""
    starts = np.flatnonzero(np.concatenate([[True], np.diff(ordered) != 0]))
    runs = np.diff(np.concatenate([starts, [len(ordered)]]))
    return np.repeat(starts + runs / 2, runs)
