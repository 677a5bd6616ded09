"""The published estimator: each person has a Gaussian of their own.

The attacker makes t releases himself, and takes the mean and the unbiased covariance of each
person's t avatars as all there is to know of that person.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.attacks.estimators.protocol import Declaration
from sosie.attacks.estimators.scorers import Gaussians, Scorer
from sosie.attacks.moments import Cloud
from sosie.compute.arrays import Floats

__all__ = ["DECLARATION", "Published"]

DROPPED = 1e-10
"""Eigenvalues under this share of the largest are dropped (the published protocol)."""


@dataclass(frozen=True)
class Published:
    """The person's own Gaussian: pseudo-inverse, pseudo-determinant (as published)."""

    name: str = "published"
    shrinkage: None = None

    def fit(self, cloud: Cloud, points: Floats) -> Scorer:
        """Model each person by their own mean and covariance."""
        values, vectors = cloud.spectrum
        largest, atoms = values[:, -1], cloud.equal
        kept = (values > DROPPED * largest[:, None]) & ~atoms[:, None]
        safe = np.where(kept, values, 1.0)
        roots = vectors * np.where(kept, 1 / np.sqrt(safe), 0.0)[:, None, :]
        constants = -0.5 * (np.log(safe).sum(axis=1) + kept.sum(axis=1) * np.log(2 * np.pi))
        return Gaussians(points, cloud.means, roots, constants, atoms if atoms.any() else None)


DECLARATION = Declaration("published", 0, lambda _: (Published(),))
