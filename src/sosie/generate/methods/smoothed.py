"""Smoothed avatars: the spread that averaging takes away is given back, on normal scores.

Each number becomes its normal score ``z``, and ``z = sum_j w_j z_j + scale e``, ``e ~ N(0, S)``,
``S`` the mean over people of the covariance of their neighbours' scores (`sosie.generate.law`
has the scale). Levels that fewer than k people hold are never drawn.

Source: the smoothed bootstrap of Silverman and Young, Biometrika 74 (1987), made local.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.compute.arrays import Floats
from sosie.generate.local import LocalMethod
from sosie.generate.mixture import Mixture
from sosie.generate.noise import NoiseSums, NoSums, Sums
from sosie.generate.normal_scores import NormalScores
from sosie.generate.scales import Scaled

__all__ = ["METHOD", "Smoothed"]


@dataclass(frozen=True)
class Smoothed(LocalMethod):
    """Mixtures of neighbours, with noise on normal scores."""

    key: str = "smoothed"
    place: int = 1

    def min_level_count(self, k: int) -> int:
        """K people share what may be drawn."""
        return k

    def scaled(self, values: Floats, least: int) -> Scaled:
        """Normal scores."""
        made = NormalScores.of(values, least)
        shared = made.ordered if len(made.ordered) else values
        low, high = float(np.nanmin(shared)), float(np.nanmax(shared))
        return Scaled(made.scores, made.scored, made.slim(), low, high)

    def noise_sums(self, mixture: Mixture, threads: int) -> Sums:
        """Those of the covariance of the neighbours' scores; none where there are no numbers."""
        if not mixture.numbers:
            return NoSums()
        return NoiseSums.of(mixture.rows, mixture.values, mixture.present, threads)


METHOD = Smoothed()
