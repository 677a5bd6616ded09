"""Covariances drawn towards the mean one: few releases say little about each person's own.

The attacker borrows from everyone what one person's avatars are too few to tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.attacks.estimators.protocol import Declaration
from sosie.attacks.estimators.scorers import Gaussians, Scorer, SharedCovariance
from sosie.attacks.moments import Cloud
from sosie.compute.arrays import Floats

__all__ = ["DECLARATION", "Pooled"]


@dataclass(frozen=True)
class Pooled:
    """Own covariances drawn towards the mean within-person covariance.

    ``C_i = (1 - a) S_i + a mean(S)``.

    Attributes
    ----------
    shrinkage : a, in 0..1; 1 gives everyone the same covariance.
    """

    shrinkage: float
    name: str = "pooled"

    def fit(self, cloud: Cloud, points: Floats) -> Scorer:
        """Model each person by a shrunk covariance."""
        means, turned = cloud.means @ cloud.root, points @ cloud.root
        if self.shrinkage >= 1:
            return SharedCovariance(turned, means)
        white = cloud.whitened
        values = np.maximum(white.values, 0) * (1 - self.shrinkage) + self.shrinkage
        roots = white.vectors / np.sqrt(values)[:, None, :]
        return Gaussians(turned, means, roots, -0.5 * np.log(2 * np.pi * values).sum(axis=1))


DECLARATION = Declaration(
    "pooled",
    1,
    lambda amounts: tuple(Pooled(amount) for amount in amounts),
    components="ends",  # most components tell people apart, few tell rows; never in between
)
