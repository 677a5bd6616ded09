"""How a person's avatars are modelled from releases.

An estimator is fitted on a `Cloud` and the targets' points and gives a `Scorer`: the
log-likelihood of any target under any person. Each estimator is one small class; adding
one touches nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from sosie.attacks.moments import CELLS, Cloud
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.threads import each_part

__all__ = [
    "Diagonal",
    "Estimator",
    "Gaussians",
    "NearestMean",
    "Piecemeal",
    "Pooled",
    "Published",
    "Scorer",
]

DROPPED = 1e-10
"""Eigenvalues under this share of the largest are dropped (the published estimator)."""


class Scorer(Protocol):
    """Log-likelihoods; greater is likelier."""

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Of target ``targets[a]`` under person ``people[a, b]``; ``(m, c) float64``.

        Parameters
        ----------
        targets, people : broadcast against each other, 2-dimensional.
        """

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Of each target under each of some people, or everyone, ``(m, n) float64``."""


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


@dataclass(frozen=True)
class Gaussians:
    """A Gaussian for each person.

    ``-1/2 (|W_i' (y - m_i)|^2 + log det C_i + rank_i log 2 pi)`` with ``W_i W_i'`` the
    inverse, or pseudo-inverse, of the covariance ``C_i``.

    Attributes
    ----------
    points : (N, d) float64, the targets.
    means : (n, d) float64.
    roots : (n, d, d) float64, ``W_i``.
    constants : (n,) float64, ``-1/2 (log det C_i + rank_i log 2 pi)``.
    atoms : (n,) bool, people whose avatars are all equal: the target is that point, or not.
    """

    points: Floats
    means: Floats
    roots: Floats
    constants: Floats
    atoms: Mask | None = None

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Log-likelihood of pairs (see `Scorer.pairs`)."""
        targets, people = np.broadcast_arrays(targets, people)
        scores = np.empty(people.shape)
        width = self.means.shape[1]

        def work(part: slice) -> None:
            who = people[part]
            away = self.points[targets[part]] - self.means[who]
            white = np.matmul(away[:, :, None, :], self.roots[who])[:, :, 0, :]
            scores[part] = self._score(np.square(white).sum(axis=2), away, who)

        # Gathered roots should stay in the cache.
        step = max(CELLS // (10 * people.shape[1] * width * width), 1)
        each_part(work, len(people), step, 0)
        return scores

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Log-likelihood of each under each (see `Scorer.grid`).

        The quadratic form is a product of one matrix by another: ``y' P y - 2 y' P m + m' P m``
        is linear in ``y y'``, ``y`` and 1. Slightly less exact than `pairs`, and much faster.
        """
        points = self.points[targets]
        upper = np.triu_indices(self.means.shape[1])
        squares = points[:, upper[0]] * points[:, upper[1]]
        features = np.hstack([squares, points, np.ones((len(points), 1))])
        who = np.arange(len(self.means)) if people is None else people
        forms = self._forms if people is None else self._forms[people]
        scores = features @ forms.T
        scores *= -0.5
        scores += self.constants[who]
        if self.atoms is not None:
            at = np.flatnonzero(self.atoms[who])
            scores[:, at] = self.pairs(targets[:, None], who[None, at])
        return np.asarray(scores)

    @cached_property
    def _forms(self) -> Floats:
        """Coefficients of each person's quadratic form, ``(n, d (d + 1) / 2 + d + 1)``."""
        precision = self.roots @ self.roots.transpose(0, 2, 1)
        linear = np.matmul(precision, self.means[:, :, None])[:, :, 0]
        constant = (self.means * linear).sum(axis=1)
        upper = np.triu_indices(self.means.shape[1])
        twice = np.where(upper[0] == upper[1], 1.0, 2.0)
        return np.hstack([precision[:, upper[0], upper[1]] * twice, -2 * linear, constant[:, None]])

    def _score(self, squares: Floats, away: Floats, who: Ints) -> Floats:
        scores = self.constants[who] - squares / 2
        if self.atoms is None:
            return np.asarray(scores)
        there = np.abs(away).max(axis=-1) <= 1e-9 * (1 + np.abs(self.means[who]).max(axis=-1))
        return np.where(self.atoms[who], np.where(there, np.inf, -np.inf), scores)


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
        white = cloud.whitened
        means, turned = cloud.means @ white.root, points @ white.root
        if self.shrinkage >= 1:
            return SharedCovariance(turned, means)
        values = np.maximum(white.values, 0) * (1 - self.shrinkage) + self.shrinkage
        roots = white.vectors / np.sqrt(values)[:, None, :]
        return Gaussians(turned, means, roots, -0.5 * np.log(2 * np.pi * values).sum(axis=1))


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


@dataclass(frozen=True)
class NearestMean:
    """The person whose mean is nearest."""

    name: str = "nearest-mean"
    shrinkage: None = None

    def fit(self, cloud: Cloud, points: Floats) -> Scorer:
        """Keep the means only."""
        return SharedCovariance(points, cloud.means)


@dataclass(frozen=True)
class SharedCovariance:
    """Everyone has the same covariance: minus half the squared distance, whitened beforehand.

    Attributes
    ----------
    points : (N, d) float64, the targets.
    means : (n, d) float64.
    """

    points: Floats
    means: Floats

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Minus half the squared distance (see `Scorer.pairs`)."""
        targets, people = np.broadcast_arrays(targets, people)
        scores = np.empty(people.shape)
        step = max(CELLS // (people.shape[1] * self.means.shape[1]), 1)
        for start in range(0, len(people), step):
            part = slice(start, start + step)
            away = self.points[targets[part]] - self.means[people[part]]
            scores[part] = -0.5 * np.square(away).sum(axis=2)
        return scores

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Minus half the squared distance (see `Scorer.grid`)."""
        from scipy.spatial.distance import cdist

        means = self.means if people is None else self.means[people]
        return np.asarray(-0.5 * cdist(self.points[targets], means, "sqeuclidean"))


@dataclass(frozen=True)
class DiagonalGaussians:
    """A Gaussian without covariances for each person.

    Attributes
    ----------
    points : (N, d) float64, the targets.
    means, variances : (n, d) float64.
    """

    points: Floats
    means: Floats
    variances: Floats

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Log-likelihood of pairs (see `Scorer.pairs`)."""
        targets, people = np.broadcast_arrays(targets, people)
        constants = -0.5 * np.log(2 * np.pi * self.variances).sum(axis=1)
        scores = np.empty(people.shape)
        step = max(CELLS // (people.shape[1] * self.means.shape[1]), 1)
        for start in range(0, len(people), step):
            part = slice(start, start + step)
            who = people[part]
            away = np.square(self.points[targets[part]] - self.means[who])
            scores[part] = constants[who] - 0.5 * (away / self.variances[who]).sum(axis=2)
        return scores

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Log-likelihood of each under each (see `Scorer.grid`)."""
        who = slice(None) if people is None else people
        points, means, precision = self.points[targets], self.means[who], 1 / self.variances[who]
        constants = 0.5 * np.log(precision / (2 * np.pi)).sum(axis=1)
        constants -= 0.5 * (np.square(means) * precision).sum(axis=1)
        squares = np.square(points) @ precision.T - 2 * points @ (means * precision).T
        return np.asarray(constants - 0.5 * squares)
