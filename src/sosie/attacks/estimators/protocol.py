"""What an estimator is, and how it declares itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from sosie.attacks.estimators.scorers import Scorer
from sosie.attacks.moments import CELLS, Cloud
from sosie.compute.arrays import Floats, Ints

__all__ = ["Declaration", "Estimator", "Piecemeal"]


class Estimator(Protocol):
    """A model of each person's avatars, fitted on what the releases tell."""

    @property
    def name(self) -> str:
        """Its name in results."""

    @property
    def shrinkage(self) -> float | None:
        """How far own covariances are drawn to the pooled one, or None."""

    def fit(self, cloud: Cloud, points: Floats) -> Scorer:
        """Model each person; `points` are the targets' coordinates, ``(N, d)``."""


@dataclass(frozen=True)
class Declaration:
    """An estimator as it declares itself: a module of this package has one, named ``DECLARATION``.

    Attributes
    ----------
    key : its name in results and options; words about it are ``attack.estimators.<key>``.
    place : where it stands in lists, small first.
    variants : estimators to try, given the amounts of shrinkage that are.
    components : whether it is tried in ``all`` numbers of components, or only at their ``ends``.
    """

    key: str
    place: int
    variants: Callable[[Sequence[float]], Sequence[Estimator]]
    components: Literal["all", "ends"] = "all"


@dataclass(frozen=True)
class Piecemeal:
    """A scorer that models people when they are asked about, each once, some at a time.

    Of many people few are ever candidates, and a decomposed covariance takes much memory.

    Attributes
    ----------
    estimator, cloud, points : see `Estimator.fit`.
    """

    estimator: Estimator
    cloud: Cloud
    points: Floats

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Of pairs (see `Scorer.pairs`)."""
        targets, people = np.broadcast_arrays(targets, people)
        aims, whom = targets.ravel(), people.ravel()
        order, asked = np.argsort(whom, kind="stable"), np.unique(whom)
        step = max(CELLS // (8 * self.cloud.components**2), 1)
        ends = [*np.searchsorted(whom[order], asked[::step]), len(whom)]
        scores = np.empty(len(whom))
        for number, start in enumerate(range(0, len(asked), step)):
            some, part = asked[start : start + step], order[ends[number] : ends[number + 1]]
            scorer = self.estimator.fit(self.cloud.some(some), self.points)
            own = np.searchsorted(some, whom[part])
            scores[part] = scorer.pairs(aims[part, None], own[:, None])[:, 0]
        return scores.reshape(people.shape)

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Of each under each (see `Scorer.grid`): everyone is modelled."""
        return self._everyone.grid(targets, people)

    @cached_property
    def _everyone(self) -> Scorer:
        return self.estimator.fit(self.cloud, self.points)
