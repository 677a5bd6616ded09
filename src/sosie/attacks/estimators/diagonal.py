"""Own variances, no covariances: between the published estimator and the nearest mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.attacks.estimators.protocol import Declaration
from sosie.attacks.estimators.scorers import DiagonalGaussians, Scorer
from sosie.attacks.moments import Cloud
from sosie.compute.arrays import Floats

__all__ = ["DECLARATION", "Diagonal"]


@dataclass(frozen=True)
class Diagonal:
    """Own variances without covariances, shrunk a little towards the mean variances."""

    name: str = "diagonal"
    shrinkage: float = 0.1

    def fit(self, cloud: Cloud, points: Floats) -> Scorer:
        """Model each person by their own mean and variances."""
        own = np.diagonal(cloud.covariances, axis1=1, axis2=2)
        shared = np.diagonal(cloud.pooled)
        shared = np.where(shared > 0, shared, 1.0)
        variances = (1 - self.shrinkage) * own + self.shrinkage * shared
        return DiagonalGaussians(points, cloud.means, variances)


DECLARATION = Declaration("diagonal", 3, lambda _: (Diagonal(),))
