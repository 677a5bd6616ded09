"""The scale on which a number is averaged, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Mask

__all__ = ["OwnScale", "Scale", "Scaled"]


class Scale(Protocol):
    """A scale on which a number is averaged."""

    @property
    def spike(self) -> float | None:
        """The value that is voted on instead, or None."""

    def back(self, averages: Floats) -> Floats:
        """Values of what was averaged, ``(m,) float64``."""

    def located(self, seen: Floats, half: float) -> tuple[Floats, Floats]:
        """Mean and variance, on the scale, of values that rounding may have moved.

        Parameters
        ----------
        seen : (m,) float64, NaN where missing.
        half : how far rounding may have moved them.
        """


class Scaled(NamedTuple):
    """A column on its scale.

    Attributes
    ----------
    values : (n,) what is averaged; 0 where there is nothing to average.
    scored : (n,) bool, where there is something to average: neither missing nor on a spike.
    scale : the way back.
    low, high : range of the originals that rounding must not leave.
    """

    values: NDArray[Any]
    scored: Mask
    scale: Scale
    low: float
    high: float


@dataclass(frozen=True)
class OwnScale:
    """A number is averaged as it is."""

    spike = None

    def back(self, averages: Floats) -> Floats:
        """The averages as they are."""
        return averages

    def located(self, seen: Floats, half: float) -> tuple[Floats, Floats]:
        """The values, and the variance of a uniform error of at most `half`."""
        return seen, np.full(len(seen), half**2 / 3)
