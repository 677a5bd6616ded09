"""Attacks that need no release: what the generator's law says of each person's avatar.

Whoever holds the originals, and knows k, components and the public law of the weights,
can compute for each person what their avatar may look like. `Law` draws weights a few
hundred times for each person; `Analytic` turns that into a Gaussian for the numbers
(with the smoothing noise, where there is any, and rounding) and the expected vote for
each category, and adds up the log-likelihoods.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sosie.attacks.estimators import Gaussians
from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.randomness import blocks
from sosie.data.table import Levels, Numbers, Table
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.draw import draw_weights
from sosie.generate.mixture import Mixture, Voted, proximity

__all__ = ["Analytic", "Law", "Sighting"]

DRAWS = 300
"""Weights drawn for each person."""

FLOOR = 1e-4
"""Least probability of a level: his neighbours may differ a little from the generator's."""

_SCORED, _SPIKE, _MISSING = 0, 1, 2  # as in sosie.generate.draw
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
    """

    def __init__(self, avatarizer: Avatarizer, people: Ints, rng: np.random.Generator) -> None:
        self.table = avatarizer.table
        self.decode = avatarizer.settings.decode
        self.mixture: Mixture = avatarizer.fitted.mixture
        self.places = avatarizer.fitted.place[people]
        # The random part of the weights is the same for everyone: drawn once, it also makes
        # people comparable.
        self.chance = draw_weights(np.ones((DRAWS, self.k)), rng)

    def __len__(self) -> int:
        return len(self.places)

    def some(self, people: Ints) -> Law:
        """The same law of some of these people only."""
        few = copy.copy(self)
        few.__dict__.pop("rows", None)
        few.__dict__.pop("near", None)
        few.__dict__.update(scale=self.scale, concentration=self.concentration)
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
        """(n, k) float64, see `sosie.generate.mixture.proximity`."""
        near = proximity(self.mixture.distances[:, self.places].T).astype(np.float32)
        return np.ascontiguousarray(near, dtype=np.float64)

    @cached_property
    def scale(self) -> Floats:
        """(p,) float64, standard deviation of the averaged numbers, 1 for a constant one."""
        values, count = self.mixture.values, len(self.mixture.values)
        mean = sum(values[rows].sum(axis=0, dtype=np.float64) for _, rows in blocks(count)) / count
        squares = sum(np.square(values[rows] - mean).sum(axis=0) for _, rows in blocks(count))
        self.table.space.forget()
        deviation = np.sqrt(squares / count)
        return np.where(deviation > 0, deviation, 1.0)

    @cached_property
    def concentration(self) -> float:
        """Mean over people and draws of the sum of the squared weights, of the first thousand."""
        weights = self.weights_of(slice(None, 1000))
        return float(np.square(weights).sum(axis=2).mean())

    def weights(self) -> Iterator[tuple[slice, Floats]]:
        """Weights of some people at a time, ``(m, DRAWS, k)``."""
        width = self.k + len(self.mixture.numbers)
        step = max(CELLS // (4 * DRAWS * width), 1)
        for start in range(0, len(self), step):
            part = slice(start, min(start + step, len(self)))
            yield part, self.weights_of(part)

    def weights_of(self, people: slice | Ints) -> Floats:
        """Weights of some people, ``(m, DRAWS, k)`` or ``(..., DRAWS, k)``."""
        drawn = self.near[people][..., None, :] * self.chance
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))

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
            state = np.where(missing, _MISSING, _SCORED)
            half = _half_step(column)
            if number.scores is None:
                values[:, number.column] = seen
                blur[number.column] = half**2 / 3
            else:
                if number.scores.spike is not None:
                    state = np.where(seen == number.scores.spike, _SPIKE, state)
                score, variance = _scores(number.scores.ordered, seen, half)
                values[:, number.column] = np.where(state == _SCORED, score, np.nan)
                blur[number.column] = float(np.nanmean(np.where(state == _SCORED, variance, 0)))
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


def _scores(ordered: Floats, seen: Floats, half: float) -> tuple[Floats, Floats]:
    """Mean and variance of the normal score of a rounded value.

    A value says that the score lay in an interval: of the values that round to it, or, at
    the ends, of all that were clipped to it. Over that interval the score is a truncated
    standard Gaussian.
    """
    from scipy.special import ndtr, ndtri

    size = len(ordered)
    known = np.nan_to_num(seen, nan=float(ordered[0]))
    low = _position(ordered, known - half, "left")
    high = _position(ordered, known + half, "right")
    above = np.where(low <= 0, -np.inf, ndtri((low + 0.5) / size))
    below = np.where(high >= size - 1, np.inf, ndtri((high + 0.5) / size))
    mass = ndtr(below) - ndtr(above)
    narrow = mass < 1e-3
    safe = np.where(narrow, 1.0, mass)
    edges = [np.exp(-0.5 * np.square(end)) / np.sqrt(2 * np.pi) for end in (above, below)]
    finite = np.nan_to_num(above, neginf=0.0), np.nan_to_num(below, posinf=0.0)
    mean = (edges[0] - edges[1]) / safe
    variance = 1 + (finite[0] * edges[0] - finite[1] * edges[1]) / safe - np.square(mean)
    middle = ndtri((np.clip((low + high) / 2, 0, size - 1) + 0.5) / size)
    width = np.where(narrow & np.isfinite(below - above), below - above, 0.0)
    return np.where(narrow, middle, mean), np.where(narrow, width**2 / 12, variance)


def _position(ordered: Floats, values: Floats, side: str) -> Floats:
    """Where values stand among order statistics: the first or last place of equal ones."""
    last = len(ordered) - 1
    if side == "left":
        after = np.searchsorted(ordered, values, "left").clip(0, last)
        before = np.maximum(after - 1, 0)
    else:
        before = (np.searchsorted(ordered, values, "right") - 1).clip(0, last)
        after = np.minimum(before + 1, last)
    gap = ordered[after] - ordered[before]
    share = np.divide(values - ordered[before], gap, out=np.zeros(len(values)), where=gap > 0)
    exact = after if side == "left" else before
    inside = (share > 0) & (share < 1) & (gap > 0)
    return np.where(inside, before + share, exact)


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
    noise = None if mixture.root is None else mixture.root @ mixture.root.T
    shares = [np.empty((len(law), law.k)) for _ in mixture.voted]
    for part, weights in law.weights():
        near = law.rows[part]
        average, spread = _averages(mixture, near, weights)
        mean = weights.mean(axis=1)
        means[part] = average.mean(axis=1)
        away = average - means[part][:, None, :]
        covariances[part] = away.transpose(0, 2, 1) @ away / (DRAWS - 1)
        if noise is not None:
            covariances[part] += noise * (spread.transpose(0, 2, 1) @ spread / DRAWS)
        for voted, into in zip(mixture.voted, shares, strict=True):
            into[part] = _shares(voted, near, weights, mean, law.decode)
    votes = []
    for voted, share in zip(mixture.voted, shares, strict=True):
        codes = voted.codes[law.rows].astype(np.int64)
        none = share.sum(axis=1) == 0  # no neighbour has an allowed level
        codes[none, 0], share[none, 0] = voted.commonest, 1.0
        votes.append(Votes(codes, share))
    return means, covariances, tuple(votes)


def _averages(mixture: Mixture, near: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted means ``(m, draws, p)``, and what averaging took away of the spread."""
    cells = mixture.values[near]
    if mixture.present is None:
        spread = np.sqrt(np.maximum(1 - np.square(weights).sum(axis=2), 0.0))
        return weights @ cells, np.repeat(spread[:, :, None], cells.shape[2], axis=2)
    has = mixture.present[near].astype(np.float64)
    total = weights @ has
    some = total > 0
    average = np.divide(weights @ (cells * has), total, out=np.zeros(total.shape), where=some)
    squares = np.divide(
        np.square(weights) @ has, np.square(total), out=np.zeros(total.shape), where=some
    )
    return np.where(some, average, mixture.fallback), np.sqrt(np.maximum(1 - squares, 0.0))


def _shares(voted: Voted, near: Ints, weights: Floats, mean: Floats, decode: str) -> Floats:
    """Probability that each neighbour's level is taken, ``(m, k)``.

    Parameters
    ----------
    mean : (m, k) of the weights over the draws: the answer where every level is allowed.
    """
    codes = voted.codes[near]
    allowed = voted.allowed[codes]
    if decode == "draw":
        some = np.flatnonzero(~allowed.all(axis=1))
        share = mean.copy()
        if len(some):
            left = weights[some] * allowed[some][:, None, :]
            total = left.sum(axis=2, keepdims=True)
            share[some] = np.divide(left, total, out=left, where=total > 0).mean(axis=1)
        return share
    weights = weights * allowed[:, None, :]
    same = (codes[:, :, None] == codes[:, None, :]).astype(np.float64)
    winner = np.argmax(weights @ same, axis=2)  # the first neighbour of the winning level
    taken = (winner[:, :, None] == np.arange(near.shape[1])).mean(axis=1)
    return np.asarray(taken * allowed)
