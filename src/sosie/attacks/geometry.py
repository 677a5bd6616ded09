"""The geometric attack: an avatar must be a mixture of its person's neighbours.

A barycentre lies in the hull of the k neighbours: there are weights, at least 0 and
summing to 1, that give every number up to rounding, and each category is held by a
neighbour. Few people pass, and the right one always does. No release is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sosie.attacks.knowledge import Analytic, Law, Sighting
from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints, Mask

__all__ = ["Geometry", "combined", "hull_distance"]

DIRECTIONS = 64
"""Directions in which a target must lie between a person's neighbours, before a hull is solved."""

SHORTLIST = 50
"""With noise nobody is left out: only so many of the analytic attack's best are looked at."""

EXCLUDED = -1e6
"""Score of a person who can't have made the target."""

RESIDUAL_WEIGHT = 15.0
"""What a squared residual, in rounding half-steps, costs beside the analytic log-likelihood."""


class HullFit(NamedTuple):
    """Nearest points of hulls.

    Attributes
    ----------
    distance : (b,) float64, from the origin to the hull; a lower bound where it is known
        to be above the limit.
    weights : (b, k) float64, of the nearest point.
    """

    distance: Floats
    weights: Floats


def hull_distance(corners: Floats, limit: float = np.inf, rounds: int = 200) -> HullFit:
    """Distance from the origin to the hull of some points, for many hulls at once.

    Least squares with weights at least 0 that sum to 1, by Wolfe's algorithm (Finding the
    nearest point in a polytope, Math. Programming 11, 1976): an active set of corners
    grows towards the origin and drops corners whose weight would be negative.

    Parameters
    ----------
    corners : (b, k, p) float64.
    limit : hulls farther than this are given up as soon as that is certain.
    rounds : at most so many changes of the active set.

    Examples
    --------
    >>> square = np.array([[[1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]])
    >>> fit = hull_distance(square)
    >>> float(fit.distance[0]), fit.weights[0].round(6).tolist()
    (1.0, [0.5, 0.5, 0.0])
    """
    count, k, _ = corners.shape
    weights = np.zeros((count, k))
    gram = corners @ corners.transpose(0, 2, 1)
    squares = np.diagonal(gram, axis1=1, axis2=2)
    nearest = squares.argmin(axis=1)
    weights[np.arange(count), nearest] = 1.0
    distance = np.sqrt(squares[np.arange(count), nearest])
    tiny = 1e-12 * squares.max(axis=1).clip(min=np.finfo(float).tiny)
    going = np.arange(count)
    grow = np.ones(count, dtype=bool)
    for _ in range(rounds):
        if not len(going):
            break
        # Where the last step is settled: stop, give up, or let the best corner in.
        inner = np.einsum("bij,bj->bi", gram[going], weights[going])
        length = np.maximum(np.einsum("bi,bi->b", inner, weights[going]), 0.0)
        best = inner.argmin(axis=1)
        gain = length - inner[np.arange(len(going)), best]
        root = np.sqrt(length)
        distance[going] = root
        bound = np.divide(length - gain, root, out=np.zeros(len(going)), where=root > 0)
        settled = grow[going]
        stop = settled & ((gain <= tiny[going] + 1e-10 * length) | (bound > limit))
        distance[going] = np.where(stop & (bound > limit), bound, root)
        entering = settled & ~stop
        active = weights[going] > 0
        active[entering, best[entering]] = True
        going, active = going[~stop], active[~stop]
        if not len(going):
            break
        wanted = _affine(gram[going], active, tiny[going])
        present = weights[going]
        falling = active & (wanted <= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(falling, present / (present - wanted), np.inf)
        step = np.minimum(np.nanmin(ratio, axis=1), 1.0)[:, None]
        moved = np.where(active, present + step * (wanted - present), 0.0)
        blocked = step[:, 0] < 1
        moved[falling & (ratio <= step * (1 + 1e-12))] = 0.0
        moved = np.maximum(moved, 0.0)
        total = moved.sum(axis=1, keepdims=True)
        weights[going] = moved / total
        grow[going] = ~blocked
    return HullFit(distance, weights)


def _affine(gram: Floats, active: Mask, tiny: Floats) -> Floats:
    """Weights summing to 1 of the point nearest to the origin in the span of the active corners."""
    both = active[:, :, None] & active[:, None, :]
    k = gram.shape[1]
    system = np.where(both, gram, 0.0)
    # sum w = 1 as a penalty keeps the system regular; the rest is made the identity.
    scale = np.trace(system, axis1=1, axis2=2)[:, None, None] + tiny[:, None, None]
    system = system + scale * both + np.eye(k) * np.where(active, tiny[:, None], 1.0)[:, :, None]
    solved = np.linalg.solve(system, active[:, :, None].astype(np.float64))[:, :, 0]
    return np.asarray(solved / np.where(active, solved, 0.0).sum(axis=1, keepdims=True)) * active


class Geometry:
    """Minus the distance of each target from the hull of each person's neighbours.

    Distances are in half rounding steps: the right person's is at most the root of the
    number of columns. With smoothing noise there is no such limit, and distances are in
    units of the noise.

    Parameters
    ----------
    law : of the people.
    sighting : the targets.
    analytic : for the shortlist where there is noise.
    """

    def __init__(self, law: Law, sighting: Sighting, analytic: Analytic) -> None:
        mixture = law.mixture
        self.law, self.sighting, self.analytic = law, sighting, analytic
        self.noisy = mixture.root is not None
        if mixture.root is None:
            half = np.sqrt(3 * sighting.blur)
            self._units = np.diag(1 / np.maximum(half, 1e-4 * law.scale))
        else:
            covariance = mixture.root @ mixture.root.T * np.float64(1 - law.concentration)
            covariance = covariance + np.diag(sighting.blur)
            values, vectors = np.linalg.eigh(covariance)
            self._units = vectors / np.sqrt(np.maximum(values, 1e-12)) @ vectors.T
        self._held = tuple(np.where(v.shares > 0, v.codes, -2) for v in analytic.votes)

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Scores of pairs (see `Scorer.pairs`)."""
        targets, people = np.broadcast_arrays(targets, people)
        passes = np.ones(people.shape, dtype=bool)
        for codes, held in zip(self.sighting.codes, self._held, strict=True):
            passes &= (held[people] == codes[targets][..., None]).any(axis=-1)
        return self._scores(passes, targets, people)

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Scores of each under each (see `Scorer.grid`)."""
        who = np.arange(len(self.law)) if people is None else people
        passes = np.ones((len(targets), len(who)), dtype=bool)
        for codes, held in zip(self.sighting.codes, self._held, strict=True):
            passes &= _holds(held[who], codes[targets])
        if self.noisy:
            count = min(SHORTLIST, len(who))
            likely = self.analytic.grid(targets, people)
            best = np.argpartition(-likely, count - 1, axis=1)[:, :count]
            short = np.zeros(passes.shape, dtype=bool)
            np.put_along_axis(short, best, values=True, axis=1)
            passes &= short
        else:
            self._within_bounds(passes, targets, who)
        return self._scores(passes, targets[:, None], who[None, :])

    def _within_bounds(self, passes: Mask, targets: Ints, who: Ints) -> None:
        """Take out people whose neighbours all lie on one side of the target, in some direction.

        Directions are the columns and some random ones; rounding gives each its slack.
        """
        mixture, width = self.law.mixture, len(self._units)
        deviation = self.law.scale @ self._units
        random = np.random.default_rng(0).standard_normal((width, DIRECTIONS))
        steps = np.hstack([np.eye(width), random / np.maximum(deviation, 1e-300)[:, None]])
        slack = np.abs(steps).sum(axis=0) * (1 + 1e-9)
        rows, seen = self.law.rows[who], self.sighting.values[targets]
        cells = mixture.values[rows]
        present = None if mixture.present is None else mixture.present[rows]
        for way, much in zip((self._units @ steps).T, slack, strict=True):
            used = np.flatnonzero(way)
            near = cells[:, :, used] @ way[used]
            low, high = near.min(axis=1), near.max(axis=1)
            if present is not None:
                has = np.asarray(np.all(present[:, :, used], axis=2))
                # With holes, only the neighbours that have a value bound a single column.
                open_ended = ~(has.any(axis=1) if len(used) == 1 else has.all(axis=1))
                low = np.where(open_ended, -np.inf, np.where(has, near, np.inf).min(axis=1))
                high = np.where(open_ended, np.inf, np.where(has, near, -np.inf).max(axis=1))
            aim = (seen[:, used] @ way[used])[:, None]
            passes &= ((aim >= low - much) & (aim <= high + much)) | np.isnan(aim)

    def _scores(self, passes: Mask, targets: Ints, people: Ints) -> Floats:
        scores = np.full(passes.shape, EXCLUDED)
        rows, columns = np.nonzero(passes)
        aims = np.broadcast_to(targets, passes.shape)[rows, columns]
        whom = np.broadcast_to(people, passes.shape)[rows, columns]
        mixture, limit = self.law.mixture, self.limit
        step = max(CELLS // (10 * self.law.k**2), 1)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            near = self.law.rows[whom[part]]
            away = mixture.values[near] - self.sighting.values[aims[part]][:, None, :]
            known = ~np.isnan(away)
            if mixture.present is not None:
                known &= mixture.present[near]
            corners = np.where(known, away, 0.0) @ self._units
            distance = hull_distance(corners, limit).distance
            scores[rows[part], columns[part]] = np.where(distance <= limit, -distance, EXCLUDED)
        return scores

    @property
    def limit(self) -> float:
        """Distance beyond which a person can't have made the target."""
        return float("inf") if self.noisy else float(np.sqrt(len(self._units))) * (1 + 1e-6)


def _holds(held: Ints, codes: Ints) -> Mask:
    """Whether each person holds each target's level, ``(m, n) bool``."""
    levels, place = np.unique(codes, return_inverse=True)
    holds = np.stack([(held == level).any(axis=1) for level in levels])
    return np.asarray(holds[place])


def combined(likely: Floats, minus_distance: Floats, *, noisy: bool) -> Floats:
    """The analytic likelihood among the people who pass the geometry, with its residual.

    Parameters
    ----------
    likely : scores of `Analytic`.
    minus_distance : scores of `Geometry` for the same pairs.
    noisy : whether distances are in units of the smoothing noise.
    """
    joined = likely - (0.5 if noisy else RESIDUAL_WEIGHT) * np.square(minus_distance)
    # Where nobody passes, the likeliest of all is still the best guess.
    return np.where(minus_distance > EXCLUDED, joined, EXCLUDED + likely)
