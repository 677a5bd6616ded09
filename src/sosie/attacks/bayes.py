"""The likelihood itself, by Monte Carlo over the weights.

Given the weights, a smoothed avatar is Gaussian around the weighted mean with a spread
that depends on the weights, and its categories are drawn by the same weights. Averaging
that over drawn weights gives the likelihood of the whole row, without the analytic
attack's two simplifications (one Gaussian; numbers and categories independent). With no
noise the average would be over needles, so this is for smoothed avatars.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.attacks.knowledge import Analytic
from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.errors import InputError

__all__ = ["Bayes"]

Single = NDArray[np.float32]

DRAWS = 150
"""Weights over which a likelihood is averaged."""

SHORTLIST = 20
"""People whose likelihood is averaged for each target: the analytic attack's best."""

BELOW = 1e4
"""How far below the averaged ones the scores of everyone else are put."""

LEAST_SPREAD = 0.03
"""Floor of the noise's share: a weight near 1 leaves almost no noise."""


class Bayes:
    """Log-likelihoods of targets, averaged over drawn weights, for the analytic attack's best.

    Everyone else keeps an analytic score, below those.
    """

    def __init__(self, analytic: Analytic) -> None:
        law = analytic.law
        if law.mixture.root is None:
            raise InputError("the likelihood can only be averaged where there is noise (smoothed)")
        self.analytic = analytic
        self._noise = law.mixture.root @ law.mixture.root.T
        self._voted = law.mixture.voted
        self._commonest = np.array([voted.commonest for voted in law.mixture.voted], np.int64)
        sighted = analytic.sighting.codes
        self._seen = (
            np.stack(sighted, axis=1) if sighted else np.empty((len(analytic.sighting.values), 0))
        )

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Scores of each under each (see `Scorer.grid`)."""
        scores = self.analytic.grid(targets, people)
        who = np.arange(scores.shape[1]) if people is None else people
        count = min(SHORTLIST, len(who))
        best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
        scores -= BELOW
        np.put_along_axis(scores, best, self.pairs(targets[:, None], who[best]), axis=1)
        return scores

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Scores of pairs (see `Scorer.pairs`)."""
        targets, people = np.broadcast_arrays(targets, people)
        aims, whom = targets.ravel(), people.ravel()
        scores = np.empty(len(aims))
        present = ~np.isnan(self.analytic.sighting.values[aims])
        masks, group = np.unique(present, axis=0, return_inverse=True)
        group = group.ravel()  # NumPy 2.0 gives it two dimensions
        law = self.analytic.law
        step = max(CELLS // (len(law.chance) * (len(self._voted) + 4 * law.k)), 1)
        for i, mask in enumerate(masks):
            which = np.flatnonzero(group == i)
            for start in range(0, len(which), step):
                part = which[start : start + step]
                scores[part] = self._averaged(aims[part], whom[part], mask)
        return scores.reshape(people.shape)

    def _averaged(self, aims: Ints, whom: Ints, mask: Mask) -> Floats:
        """Log of the mean likelihood over the drawn weights, ``(b,)``.

        The random part of the weights is the same for everyone, so a weighted sum for all
        pairs is one matrix product; weights are normalised afterwards.
        """
        law = self.analytic.law
        blend = _Blend(law.chance[:DRAWS], law.near[whom])
        likelihood = self._levels(aims, law.rows[whom], blend)
        if mask.any():
            likelihood += self._numbers(aims, law.rows[whom], blend, mask)
        top = likelihood.max(axis=0)
        return np.asarray(top + np.log(np.exp(likelihood - top).mean(axis=0)))

    def _levels(self, aims: Ints, near: Ints, blend: _Blend) -> Floats:
        """Log-likelihood of the categories for each draw, ``(draws, b)``."""
        seen = self._seen[aims]
        codes = np.empty((*near.shape, len(self._voted)), dtype=np.int64)
        allowed = np.empty(codes.shape, dtype=bool)
        for i, voted in enumerate(self._voted):
            codes[..., i] = voted.codes[near]
            allowed[..., i] = voted.allowed[codes[..., i]]
        share = blend.sum((codes == seen[:, None, :]) & allowed)
        for column in np.flatnonzero(~allowed.all(axis=(0, 1))):
            total = blend.sum(allowed[:, :, [column]])[:, :, 0]
            some = total > 0
            default = seen[:, column] == self._commonest[column]
            ratio = share[:, :, column] / np.where(some, total, 1.0)
            share[:, :, column] = np.where(some, ratio, default)
        np.maximum(share, self.analytic.floor, out=share)
        return np.asarray(np.log(np.multiply.reduce(share, axis=2)))

    def _numbers(self, aims: Ints, near: Ints, blend: _Blend, mask: Mask) -> Floats:
        """Log-likelihood of the numbers for each draw, ``(draws, b)``."""
        mixture = self.analytic.law.mixture
        covariance = self._noise[np.ix_(mask, mask)] + np.diag(self.analytic.sighting.blur[mask])
        values, vectors = np.linalg.eigh(covariance)
        white = vectors / np.sqrt(np.maximum(values, 1e-12))
        away = mixture.values[near][:, :, mask] - self.analytic.sighting.values[aims][:, None, mask]
        present = None if mixture.present is None else mixture.present[near][:, :, mask]
        if present is None or present.all():
            spread = np.sqrt(np.maximum(1 - blend.squares(), LEAST_SPREAD**2))
            squares = np.square(blend.sum(away @ white)).sum(axis=2)
            return np.asarray(-0.5 * squares / np.square(spread) - mask.sum() * np.log(spread))
        holed = np.flatnonzero(~present.all(axis=(0, 1)))
        has = present[:, :, holed]
        away[:, :, holed] *= has
        mean = blend.sum(away)
        left = np.repeat((1 - blend.squares())[:, :, None], int(mask.sum()), axis=2)
        total, squares = blend.sum(has), blend.squares(has)
        some = total > 0
        safe = np.where(some, total, 1.0)
        default = mixture.fallback[mask] - self.analytic.sighting.values[aims][:, mask]
        mean[:, :, holed] = np.where(some, mean[:, :, holed] / safe, default[:, holed])
        left[:, :, holed] = 1 - np.where(some, squares / np.square(safe), 0.0)
        spread = np.sqrt(np.maximum(left, LEAST_SPREAD**2))
        away_squared = np.square((mean / spread) @ white).sum(axis=2)
        return np.asarray(-0.5 * away_squared - np.log(np.multiply.reduce(spread, axis=2)))


class _Blend:
    """Weighted sums over the neighbours of some pairs, for every draw of the weights.

    Parameters
    ----------
    chance : (draws, k) float64, common to all.
    near : (b, k) float64.
    """

    def __init__(self, chance: Floats, near: Floats) -> None:
        # Single precision: log-likelihoods are needed to a hundredth.
        self._chance, self._near = chance.astype(np.float32), near.astype(np.float32)
        self._total = self._chance @ self._near.T

    def sum(self, cells: Floats | Mask) -> Single:
        """``(draws, b, q)`` weighted sums of ``(b, k, q)`` cells."""
        summed: Single = self._summed(self._chance, self._near, cells) / self._total[:, :, None]
        return summed

    def squares(self, has: Mask | None = None) -> Single:
        """Sums of the squared weights ``(draws, b)``, or of those that `has`, ``(draws, b, q)``."""
        chance, near = np.square(self._chance), np.square(self._near)
        if has is None:
            whole: Single = chance @ near.T / np.square(self._total)
            return whole
        parts: Single = self._summed(chance, near, has) / np.square(self._total)[:, :, None]
        return parts

    @staticmethod
    def _summed(chance: Single, near: Single, cells: Floats | Mask) -> Single:
        count, k, width = cells.shape
        flat = (near[:, :, None] * cells.astype(np.float32)).transpose(1, 0, 2)
        flat = flat.reshape(k, count * width)
        summed: Single = (chance @ flat).reshape(len(chance), count, width)
        return summed
