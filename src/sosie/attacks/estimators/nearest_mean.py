"""The person whose avatars lie nearest on average: for an attacker with few releases."""

from __future__ import annotations

from dataclasses import dataclass

from sosie.attacks.estimators.protocol import Declaration
from sosie.attacks.estimators.scorers import Scorer, SharedCovariance
from sosie.attacks.moments import Cloud
from sosie.compute.arrays import Floats

__all__ = ["DECLARATION", "NearestMean"]


@dataclass(frozen=True)
class NearestMean:
    """The person whose mean is nearest."""

    name: str = "nearest-mean"
    shrinkage: None = None

    def fit(self, cloud: Cloud, points: Floats) -> Scorer:
        """Keep the means only."""
        return SharedCovariance(points, cloud.means)


DECLARATION = Declaration("nearest-mean", 2, lambda _: (NearestMean(),))
