"""The tilt: how the odds of a level depend on what was drawn before it.

``P(level l) ~ exp(a_gl + b_l . u)``, a_gl fixed by the group's shares (see `intercepts`), b
pooled: the solution of ``U'(D - fitted) = 3 b``, U the features centred in the group and
divided by twice their standard deviation (Gelman, Statistics in Medicine 27, 2008), D the
indicators of the levels. Of many levels, ``b_l = B c_l``, c_l the mean place of the level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.ancestry import by_group
from sosie.generate.exchangeable.choices import Choice
from sosie.generate.exchangeable.fixed_point import SLOPE, on_grid
from sosie.generate.exchangeable.intercepts import two_levels, weights_of
from sosie.generate.exchangeable.slots import padded_logits, places_of

__all__ = ["Centred", "tilt_of"]

PENALTY = 3.0

STEPS = 8
"""Newton steps, the curvature that of the start: later ones move coefficients by thousandths."""

WIDE = 300
"""Of more features one curvature serves all choices: each its own would take a cube of them."""

SCREENED = 1_200
"""Of more features still, some 130 numbers, each choice takes those that say most of it."""

KEPT = 256
"""Features that a choice takes of so many: a table so wide has hardly more people than these."""

CURVATURE = 0.25
"""The most that ``p (1 - p)`` can be: steps by it are short, never too long."""

MEMORY = 5
"""Steps that acceleration looks back on."""

INNER = 4
"""Passes of the intercepts at each step."""

MOST = 2.0**8
"""Of a coefficient: sums of products stay exact, and more would decide all anyway."""


@dataclass(frozen=True)
class Centred:
    """Features of the people of some groups, centred in each and on one scale.

    Attributes
    ----------
    features : (width, m) float64.
    scale : (width,) float64, twice the standard deviation; 0 where a feature does not vary.
    ends : (groups + 1,) int64, where the members of each group begin.
    root : (width, width) float64, of a curvature that serves all choices (its first rows and
        columns are those of fewer features), or None where each has its own: where there are
        few features, or so many that each choice takes some.
    """

    features: Floats
    scale: Floats
    ends: Ints
    root: Floats | None

    @classmethod
    def of(cls, features: Floats, ends: Ints) -> Centred:
        """Centre features, on a grid; they are overwritten."""
        sizes = np.diff(ends)
        features -= np.repeat(by_group(features, ends) / sizes, sizes, axis=1)
        scale = 2 * np.sqrt(np.einsum("ij,ij->i", features, features) / features.shape[1])
        features /= np.where(scale > 0, scale, 1.0)[:, None]
        root = None
        if WIDE < len(features) <= SCREENED:
            inner = CURVATURE * (features @ features.T)
            ridge = PENALTY * np.eye(len(inner))
            root = np.asarray(np.linalg.cholesky(inner + ridge), dtype=np.float64)
        return cls(features, scale, ends, root)


def tilt_of(
    choice: Choice, seen: int, centred: Centred, codes: Ints, target: Floats, levels: Ints | None
) -> Floats:
    """Coefficients of a choice on raw features, ``(width of the choice, seen)``, on a grid.

    Parameters
    ----------
    seen : how many features come before the choice.
    codes : (m,) the level of each person.
    target : (levels, groups) float64, shares in each group.
    levels : (levels, groups) int64, which level each of them is, where there are many.
    """
    if choice.width == 0 or not seen:
        return np.zeros((choice.width, seen))
    mixed = (target > 0).sum(axis=0) > 1
    sizes = np.diff(centred.ends)
    people = np.repeat(mixed, sizes)
    ends = np.concatenate([[0], np.cumsum(sizes[mixed])])
    levels = None if levels is None else levels[:, mixed]
    root = None if centred.root is None else centred.root[:seen, :seen]
    features = centred.features[:seen, people]
    problem = _Problem(choice, features, ends, codes[people], target[:, mixed], levels, root)
    slopes = np.zeros((choice.width, seen))
    if mixed.any():
        some = problem.telling(KEPT) if root is None and seen > WIDE else slice(None)
        slopes[:, some] = replace(problem, features=features[some]).solve()
    scale = centred.scale[:seen]
    slopes = np.divide(slopes, scale, out=np.zeros_like(slopes), where=scale > 0)
    return on_grid(np.clip(slopes, -MOST, MOST), SLOPE)


@dataclass(frozen=True)
class _Problem:
    """The equations of one choice, over mixed groups.

    Attributes
    ----------
    features : (f, m) float64, centred.
    """

    choice: Choice
    features: Floats
    ends: Ints
    codes: Ints
    target: Floats
    levels: Ints | None
    root: Floats | None

    def telling(self, count: int) -> Ints:
        """The features that say most of the choice by themselves, in their order, ``(count,)``.

        By the slope of the likelihood where no feature counts: sure independence screening (Fan
        and Lv, JRSS B 70, 2008). All features are on one scale.
        """
        shape = (self.choice.width, self.features.shape[1])
        slopes = self._residuals(np.zeros(shape)) @ self.features.T
        told = np.square(on_grid(slopes, SLOPE)).sum(axis=0)
        return np.sort(np.argsort(-told, kind="stable")[:count])

    def solve(self) -> Floats:
        """Coefficients on the centred features, ``(width, f) float64``."""
        penalty = PENALTY / 2 if self.choice.width == 1 else PENALTY
        shape = (self.choice.width, len(self.features))
        solved = self._solver(penalty)

        def newton(slopes: Floats) -> Floats:
            slopes = slopes.reshape(shape)
            gradient = self._residuals(slopes @ self.features) @ self.features.T
            return solved(gradient - penalty * slopes).ravel()

        return _fixed_point(newton, shape[0] * shape[1]).reshape(shape)

    def _solver(self, penalty: float) -> Callable[[Floats], Floats]:
        """From a gradient, ``(width, f)``, to a step."""
        if self.root is not None:
            from scipy.linalg import cho_solve

            root = self.root
            return lambda gradient: np.asarray(cho_solve((root, True), gradient.T).T)
        weight, spread = self._curvature()
        weighted = self.features * np.repeat(weight, np.diff(self.ends))
        inner = weighted @ self.features.T
        values, axes = np.linalg.eigh(spread)
        ridge = penalty * np.eye(len(inner))
        inverse = np.linalg.inv(np.maximum(values, 0)[:, None, None] * inner + ridge)
        return lambda gradient: np.asarray(axes @ ((axes.T @ gradient)[:, None] @ inverse)[:, 0])

    def _curvature(self) -> tuple[Floats, Floats]:
        """At the start, where all members of a group have its shares.

        Returns
        -------
        weight : (groups,) float64, how mixed each is.
        spread : (width, width) float64, the mean over people of the covariance of levels.
        """
        if self.choice.width == 1:
            share = self.target[1]
            return share * (1 - share), np.ones((1, 1))
        sizes = np.diff(self.ends)
        weight = 1 - np.square(self.target).sum(axis=0)
        places = places_of(self.choice, self.levels, len(sizes))
        means = np.einsum("dlg,lg->dg", places, self.target)
        away = places - means[:, None]
        spread = np.einsum("dlg,elg,lg->de", away, away, self.target * sizes, optimize=True)
        return weight, spread / (weight * sizes).sum()

    def _residuals(self, logits: Floats) -> Floats:
        """Indicators less what is fitted, ``(width, m)``; 0 for a level that may not be drawn."""
        sizes, drawn = np.diff(self.ends), self.codes < self.choice.size
        logits = on_grid(logits, SLOPE)
        if self.choice.width == 1:
            share = self.target[1]
            a = two_levels(logits[0], share, self.ends, INNER)
            fitted = 1 / (1 + np.exp(-np.clip(logits[0] + np.repeat(a, sizes), -60, 60)))
            return np.asarray(((self.codes == 1) - fitted) * drawn)[None]
        if self.levels is None:
            _, fitted = weights_of(logits, self.target, self.ends, INNER)
            own = self.codes == np.arange(self.choice.size)[:, None]
            return np.asarray((own - fitted) * drawn)
        padded = padded_logits(logits, self.choice, self.levels, self.ends)
        _, fitted = weights_of(padded, self.target, self.ends, INNER)
        features = self.choice.features
        own = features[:, self.codes]
        for level, share in zip(self.levels, fitted, strict=True):
            own -= features[:, np.repeat(level, sizes)] * share
        return np.asarray(own * drawn)


def _fixed_point(step: Callable[[Floats], Floats], size: int) -> Floats:
    """Where a step is 0, from 0 on, by Anderson's acceleration.

    Source: Anderson, Journal of the ACM 12 (1965): the next point mixes the last ones so that
    their steps, mixed alike, would be shortest.
    """
    points, steps = [np.zeros(size)], [step(np.zeros(size))]
    for _ in range(STEPS):
        point = points[-1] + steps[-1]
        if len(points) > 1:
            across, along = np.diff(points, axis=0).T, np.diff(steps, axis=0).T
            share = np.linalg.lstsq(along, steps[-1], rcond=1e-10)[0]
            point -= (across + along) @ share
        points, steps = [*points[-MEMORY:], point], [*steps[-MEMORY:], step(point)]
    return points[-1]
