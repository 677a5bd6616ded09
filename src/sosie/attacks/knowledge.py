"""Attacks that need no release: what the generator's law says of each person's avatar.

Whoever holds the originals, and knows k, components and the public law of the weights,
can compute for each person what their avatar may look like, by the formulas of the generator
(`sosie.generate.law`). `Law` draws weights a few hundred times for each person; `Analytic`
turns that into a Gaussian for the numbers (with the smoothing noise, where there is any, and
rounding) and the expected vote for each category, and adds up the log-likelihoods.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sosie.attacks.estimators.scorers import Gaussians
from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.randomness import blocks
from sosie.data.missing import tags
from sosie.data.table import Levels, Numbers, Table
from sosie.errors import InputError, Reason
from sosie.generate import law as formulas
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.mixture import MISSING, SCORED, SPIKE, Mixture, Voted

__all__ = ["Analytic", "Law", "Sighting"]

DRAWS = 300
"""Weights drawn for each person."""

FLOOR = 1e-4
"""Least probability of a level: his neighbours may differ a little from the generator's."""

_UNKNOWN = -1


@dataclass(frozen=True)
class Sighting:
    """Targets as the law sees them.

    Attributes
    ----------
    values : (N, p) float64, numbers on the scale on which they are averaged; NaN where a
        number is missing or on a spike.
    blur : (p,) float64, variance that rounding adds, on the same scale.
    codes : for each vote, (N,) int64; -1 where the level is unknown to the law.
    """

    values: Floats
    blur: Floats
    codes: tuple[Ints, ...]


@dataclass(frozen=True)
class Votes:
    """What people's neighbours say on one vote.

    Attributes
    ----------
    codes : (n, k) int64, the level that each neighbour holds.
    shares : (n, k) float64, the probability that the level is taken from that neighbour.
    """

    codes: Ints
    shares: Floats


class Law:
    """The law of each person's avatar under an `Avatarizer`, its seed not used.

    Parameters
    ----------
    avatarizer : fitted on the people.
    people : (n,) rows of the people, in the order in which they are asked for.
    rng : for the weights, which are the attacker's own.
    draws : weights drawn for each person.

    Raises
    ------
    InputError
        The method has no law of weights.
    """

    def __init__(
        self,
        avatarizer: Avatarizer,
        people: Ints,
        rng: np.random.Generator,
        draws: int = DRAWS,
    ) -> None:
        fitted = avatarizer.fitted
        if isinstance(fitted.law, Reason):
            raise InputError(
                f"method {avatarizer.settings.method} has no law of weights for each person:"
                " ask for estimators from releases"
            )
        self.table = avatarizer.table
        self.decode = avatarizer.settings.decode
        self.mixture: Mixture = fitted.law
        self.places = np.argsort(fitted.order)[people]
        # The random part of the weights is the same for everyone: drawn once, it also makes
        # people comparable.
        self.chance = formulas.draw_weights(np.ones((draws, self.k)), rng)

    def __len__(self) -> int:
        return len(self.places)

    def some(self, people: Ints) -> Law:
        """The same law of some of these people only."""
        few = copy.copy(self)
        few.__dict__.pop("rows", None)
        few.__dict__.pop("near", None)
        few.__dict__.update(scale=self.scale, noise=self.noise, noise_share=self.noise_share)
        few.places = self.places[people]
        return few

    @property
    def k(self) -> int:
        """Neighbours of each person."""
        return len(self.mixture.rows)

    @cached_property
    def rows(self) -> Ints:
        """(n, k) int64, places of each person's neighbours."""
        return np.ascontiguousarray(self.mixture.rows[:, self.places].T.astype(np.int64))

    @cached_property
    def near(self) -> Floats:
        """(n, k) float64, see `sosie.generate.law.proximity`."""
        return formulas.proximity(self.mixture.distances[:, self.places].T)

    @property
    def exact(self) -> bool:
        """Whether the numbers of an avatar are weighted means themselves, but for rounding."""
        return self.mixture.noise.exact

    @cached_property
    def noise(self) -> Floats:
        """(p, p) float64, covariance of the noise."""
        return self.mixture.noise.covariance(len(self.mixture.numbers))

    @cached_property
    def scale(self) -> Floats:
        """(p,) float64, standard deviation of the averaged numbers, 1 for a constant one."""
        values, count = self.mixture.values, len(self.mixture.values)
        mean = sum(values[rows].sum(axis=0, dtype=np.float64) for _, rows in blocks(count)) / count
        squares = sum(np.square(values[rows] - mean).sum(axis=0) for _, rows in blocks(count))
        self.table.storage.forget()
        deviation = np.sqrt(squares / count)
        return np.where(deviation > 0, deviation, 1.0)

    @cached_property
    def noise_share(self) -> float:
        """Mean over people and draws of the variance of the noise, of the first thousand."""
        squares = np.square(self.weights_of(slice(None, 1000))).sum(axis=2)
        return float(np.square(formulas.noise_scales(squares)).mean())

    def weights(self) -> Iterator[tuple[slice, Floats]]:
        """Weights of some people at a time, ``(m, draws, k)``."""
        width = self.k + len(self.mixture.numbers)
        step = max(CELLS // (4 * len(self.chance) * width), 1)
        for start in range(0, len(self), step):
            part = slice(start, min(start + step, len(self)))
            yield part, self.weights_of(part)

    def weights_of(self, people: slice | Ints) -> Floats:
        """Weights of some people, ``(m, draws, k)`` or ``(..., draws, k)``."""
        return formulas.normalised(self.near[people][..., None, :] * self.chance, axis=-1)

    def sight(self, target: Table, rows: Ints) -> Sighting:
        """Encode targets as the law sees them.

        Raises
        ------
        InputError
            The target lacks a column that the law knows.
        """
        mixture = self.mixture
        values = np.full((len(rows), len(mixture.numbers)), np.nan)
        blur = np.zeros(len(mixture.numbers))
        states: dict[int, Ints] = {}
        for number, column in zip(mixture.numbers, self.table.numbers, strict=True):
            seen = _numbers(target, column).values[rows]
            missing = np.isnan(seen)
            state = np.where(missing, MISSING + tags(seen).astype(np.int64), SCORED)
            half = _half_step(column)
            if number.scale.spike is not None:
                state = np.where(seen == number.scale.spike, SPIKE, state)
            score, variance = number.scale.located(seen, half)
            averaged = state == SCORED
            values[:, number.column] = np.where(averaged, score, np.nan)
            blur[number.column] = float(np.where(averaged, variance, 0.0).mean())
            if number.state is not None:
                states[number.state] = state
        codes = []
        for i, voted in enumerate(mixture.voted):
            codes.append(states[i] if i in states else _codes(voted, target, self.table, rows))
        return Sighting(values, blur, tuple(codes))


def _numbers(target: Table, column: Numbers) -> Numbers:
    seen = target.column(column.name)
    if not isinstance(seen, Numbers):
        raise InputError(
            f"column {column.name!r} is a number in the originals and a category in the release"
        )
    return seen


def _half_step(column: Numbers) -> float:
    """Half of what rounding may have moved a value by."""
    if column.grid.step:
        return 0.5
    return 0.0 if column.grid.decimals is None else 0.5 * 10.0**-column.grid.decimals


def _codes(voted: Voted, target: Table, originals: Table, rows: Ints) -> Ints:
    """The level of each target on a vote, as the law numbers them."""
    columns = [target.column(name) for name in voted.names]
    known = [originals.column(name) for name in voted.names]
    if not all(isinstance(c, Levels) for c in (*columns, *known)):
        raise InputError(
            f"column {voted.names[0]!r} is a category in the originals and a number in the release"
        )
    seen = [c.codes[rows].astype(np.int64) for c in columns if isinstance(c, Levels)]
    if voted.parts is None:
        return np.where(seen[0] < len(voted.allowed), seen[0], _UNKNOWN)
    table = {tuple(part): code for code, part in enumerate(voted.parts.tolist())}
    return np.array([table.get(part, _UNKNOWN) for part in zip(*seen, strict=True)], dtype=np.int64)


class Analytic:
    """Log-likelihood of targets under each person's law.

    Numbers: a Gaussian with the mean and covariance of the weighted means, plus noise and
    rounding. Categories: the log of the expected vote. Everything is added up.
    """

    def __init__(
        self, law: Law, sighting: Sighting, floor: float = FLOOR, *, lasting: bool = True
    ) -> None:
        self.law, self.sighting, self.floor, self.lasting = law, sighting, floor, lasting
        self.means, self.covariances, self.votes = _moments(law)
        self._patterns: dict[bytes, Gaussians] = {}

    def pairs(self, targets: Ints, people: Ints) -> Floats:
        """Log-likelihood of pairs (see `Scorer.pairs`)."""
        targets, people = np.broadcast_arrays(targets, people)
        scores = np.zeros(people.shape)
        for codes, vote in zip(self.sighting.codes, self.votes, strict=True):
            same = vote.codes[people] == codes[targets][..., None]
            share = np.where(same, vote.shares[people], 0.0).sum(axis=-1)
            scores += np.log(np.maximum(share, self.floor))
        for mask, which in self._groups(targets):
            at = which.reshape(targets.shape)
            flat = self._gaussians(mask).pairs(targets[at][:, None], people[at][:, None])
            scores[at] += flat[:, 0]
        return scores

    def grid(self, targets: Ints, people: Ints | None = None) -> Floats:
        """Log-likelihood of each under each (see `Scorer.grid`)."""
        who = np.arange(len(self.law)) if people is None else people
        scores = np.zeros((len(targets), len(who)))
        for codes, vote in zip(self.sighting.codes, self.votes, strict=True):
            scores += self._log_votes(codes[targets], vote, who)
        for mask, which in self._groups(targets):
            if mask.any():
                scores[which] += self._gaussians(mask).grid(targets[which], people)
        return scores

    def _log_votes(self, codes: Ints, vote: Votes, who: Ints) -> Floats:
        levels, place = np.unique(codes, return_inverse=True)
        lookup = np.full(max(int(vote.codes.max()), int(levels.max())) + 2, -1)
        lookup[levels] = np.arange(len(levels))  # an unknown level, -1, takes the last place
        lookup[-1] = -1 if levels[0] >= 0 else 0
        slot = lookup[vote.codes[who]]
        cell = slot * len(who) + np.arange(len(who))[:, None]
        known = slot >= 0
        total = np.bincount(cell[known], vote.shares[who][known], len(levels) * len(who))
        return np.log(np.maximum(total, self.floor)).reshape(len(levels), len(who))[place]

    def _groups(self, targets: Ints) -> Iterator[tuple[Mask, Ints]]:
        """Targets with the same numbers present."""
        present = ~np.isnan(self.sighting.values[targets.ravel()])
        masks, group = np.unique(present, axis=0, return_inverse=True)
        group = group.ravel()  # NumPy 2.0 gives it two dimensions
        for i, mask in enumerate(masks):
            yield mask, group == i if targets.ndim > 1 else np.flatnonzero(group == i)

    def _gaussians(self, mask: Mask) -> Gaussians:
        key = mask.tobytes()
        made = self._patterns.get(key)
        if made is None:
            scale = self.law.scale[mask]
            blur = self.sighting.blur[mask] / scale**2
            covariances = self.covariances[:, mask][:, :, mask] / np.outer(scale, scale)
            covariances[:, np.arange(len(scale)), np.arange(len(scale))] += np.maximum(blur, 1e-10)
            values, vectors = np.linalg.eigh(covariances)
            values = np.maximum(values, 1e-12)
            made = Gaussians(
                self.sighting.values[:, mask] / scale,
                self.means[:, mask] / scale,
                vectors / np.sqrt(values)[:, None, :],
                -0.5 * np.log(2 * np.pi * values).sum(axis=1),
            )
            if self.lasting:
                self._patterns[key] = made
        return made


def _moments(law: Law) -> tuple[Floats, Floats, tuple[Votes, ...]]:
    """Mean and covariance of each person's numbers, and their expected votes."""
    mixture, width = law.mixture, len(law.mixture.numbers)
    means = np.empty((len(law), width))
    covariances = np.empty((len(law), width, width))
    shares = [np.empty((len(law), law.k)) for _ in mixture.voted]
    for part, weights in law.weights():
        near = law.rows[part]
        averages, scales = _averages(mixture, near, weights)
        means[part], covariances[part] = formulas.moments(averages, scales, law.noise)
        for voted, into in zip(mixture.voted, shares, strict=True):
            into[part] = _shares(voted, near, weights, law.decode)
    votes = []
    for voted, share in zip(mixture.voted, shares, strict=True):
        codes = voted.codes[law.rows].astype(np.int64)
        none = share.sum(axis=1) == 0  # no neighbour has an allowed level
        codes[none, 0], share[none, 0] = voted.commonest, 1.0
        votes.append(Votes(codes, share))
    return means, covariances, tuple(votes)


def _averages(mixture: Mixture, near: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted means ``(m, draws, p)``, and the scales of their noise, or ``(m, draws, 1)``."""
    cells = mixture.values[near]
    if mixture.present is None:
        squares = np.square(weights).sum(axis=2, keepdims=True)
        return weights @ cells, formulas.noise_scales(squares)
    has = mixture.present[near].astype(np.float64)
    totals = weights @ has
    averages = formulas.weighted_means(weights @ (cells * has), totals, mixture.fallback)
    concentrations = formulas.concentrations(np.square(weights) @ has, totals)
    return averages, formulas.noise_scales(concentrations)


def _shares(voted: Voted, near: Ints, weights: Floats, decode: str | None) -> Floats:
    """Probability that each neighbour's level is taken, ``(m, k)``; 0 where none may vote."""
    codes = voted.codes[near]
    allowed = voted.allowed[codes]
    if decode == "draw":
        shares = weights.mean(axis=1)
        some = np.flatnonzero(~allowed.all(axis=1))
        if len(some):
            votes = formulas.eligible(weights[some], allowed[some][:, None, :])
            total = votes.sum(axis=2, keepdims=True)
            shares[some] = formulas.level_shares(votes, total, 0.0).mean(axis=1)
        return np.asarray(shares)
    votes = formulas.eligible(weights, allowed[:, None, :])
    same = (codes[:, :, None] == codes[:, None, :]).astype(np.float64)
    taken = formulas.winner(votes @ same, axis=2)
    return np.asarray((taken[:, :, None] == np.arange(near.shape[1])).mean(axis=1) * allowed)
