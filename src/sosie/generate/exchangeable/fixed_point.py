"""Numbers on grids, so that sums and products of them are exact in any order.

Multiples of ``2^-a`` times multiples of ``2^-b`` are multiples of ``2^-(a+b)``; as long as
a sum stays below ``2^53`` of them, float64 holds it without rounding. Then no result depends
on how rows are ordered within a group, cut into blocks, or spread over threads and machines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats

__all__ = ["PROBABILITY", "SCORE", "SLOPE", "on_grid"]

SCORE = 2.0**12
"""Steps of a unit for scores, features and deviations: fine beside their spread of 1."""

SLOPE = 2.0**20
"""Steps of a unit for coefficients: with scores below 2^3 a product takes 2^-32 steps."""

PROBABILITY = 2.0**40
"""Steps of a unit for probabilities, which are summed over groups."""


def on_grid(values: NDArray[Any], steps: float) -> Floats:
    """The nearest multiples of ``1 / steps``, float64.

    >>> on_grid(np.array([0.26, -0.1]), 4).tolist()
    [0.25, -0.0]
    """
    return np.asarray(np.rint(np.asarray(values, dtype=np.float64) * steps) / steps)
