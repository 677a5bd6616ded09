"""Ranking: how well a score puts some before others."""

from __future__ import annotations

import numpy as np

from sosie.compute.arrays import Floats

__all__ = ["area_under_curve"]


def area_under_curve(positives: Floats, negatives: Floats) -> float:
    """Probability that a positive scores above a negative, ties counting one half.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ranked = np.sort(negatives)
    below = np.searchsorted(ranked, positives, side="left")
    upto = np.searchsorted(ranked, positives, side="right")
    return float((below + upto).sum() / (2 * len(positives) * len(negatives)))
