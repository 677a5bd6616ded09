"""Log-likelihoods of targets under people: Gaussians of several kinds.

A scorer gives the log-likelihood of any target under any person; greater is likelier.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.threads import each_part

__all__ = ["DiagonalGaussians", "Gaussians", "Scorer", "SharedCovariance"]


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
