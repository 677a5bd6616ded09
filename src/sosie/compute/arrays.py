"""The arrays that everything passes: one type for each kind of content."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Floats", "Ints", "Mask"]

Floats = NDArray[np.float64]
"""Numbers."""

Ints = NDArray[np.int64]
"""Rows, places and counts."""

Codes = NDArray[np.int32]
"""Levels, as numbers."""

Mask = NDArray[np.bool_]
"""Which ones."""
