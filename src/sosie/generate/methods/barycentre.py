"""Barycentres, as published: numbers are the weighted mean of the neighbours.

Source: Guillaudeux et al., npj Digital Medicine 6:37 (2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.compute.arrays import Floats
from sosie.generate.local import LocalMethod
from sosie.generate.mixture import Mixture
from sosie.generate.noise import NoSums, Sums
from sosie.generate.scales import OwnScale, Scaled

__all__ = ["METHOD", "Barycentre"]


@dataclass(frozen=True)
class Barycentre(LocalMethod):
    """The published method: every level may be drawn, and nothing is added to the mean."""

    key: str = "barycentre"
    place: int = 2

    def min_level_count(self, k: int) -> int:
        """Every level, as published."""
        del k
        return 1

    def scaled(self, values: Floats, least: int) -> Scaled:
        """The values themselves."""
        del least
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        return Scaled(np.nan_to_num(values, nan=0.0), ~np.isnan(values), OwnScale(), low, high)

    def noise_sums(self, mixture: Mixture, threads: int) -> Sums:
        """None."""
        del mixture, threads
        return NoSums()


METHOD = Barycentre()
