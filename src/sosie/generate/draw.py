"""From neighbours to avatars: weights, weighted means, votes.

FAMD is linear, so a weighted mean of all latent coordinates, mapped back, is the
weighted mean of the neighbours' numbers and the weighted vote of their categories.
Nothing is mapped back here: avatars are gathered from the neighbours' raw rows.

Source of the weights: Guillaudeux et al., npj Digital Medicine 6:37 (2023). Source of
the smoothing: Silverman and Young, Biometrika 74 (1987), made local and put on normal
scores.

Arrays are in the order of a curve through space (neighbours in space are neighbours in
memory) and have one row for each neighbour, ``(k, n)``, so that every operation runs
along memory. A place is a position in that order; draws are keyed by it, so a place gets
the same draw whatever the chunks, threads or machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats
from sosie.compute.randomness import BLOCK, Purpose, generator
from sosie.compute.storage import MEMORY, Space
from sosie.compute.sums import added
from sosie.compute.threads import each_part
from sosie.data.missing import tagged
from sosie.data.table import Numbers
from sosie.generate.mixture import MISSING, SPIKE, Mixture, Single, Voted, proximity

__all__ = ["Ballot", "Draws", "Gathered", "draw_weights", "draws_of", "gather", "gathered_into"]

LEAST_SPREAD = 0.25
"""Share of the local variance that noise always has: a lone neighbour's value is not copied."""

KINDS = tagged(np.maximum(np.arange(256) - MISSING, 0))
"""What is written for each state from `MISSING` on: the kinds of missing values."""

FORGET = 1 << 20
"""Places after which memory that is also on disk is let go."""


def draw_weights(near: Floats, rng: np.random.Generator) -> Floats:
    """Random weights of the neighbours, ``(m, k) float64``, each row summing to 1.

    ``w_j`` is proportional to ``near_j * R_j * C_j`` with ``R_j ~ Exp(1)`` and
    ``C_j = 2^-rank``, ranks 1..k permuted at random (Guillaudeux et al. 2023).

    Parameters
    ----------
    near : (m, k) float64, see `proximity`.
    """
    weights = near * _chance(near.shape, rng)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _chance(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """``R_j * C_j`` of the weights."""
    count, k = shape
    ranks = np.tile(np.exp2(-np.arange(1.0, k + 1)), (count, 1))
    return np.asarray(rng.standard_exponential((count, k)) * rng.permuted(ranks, axis=1, out=ranks))


@dataclass(frozen=True)
class Draws:
    """What chance decides for some places of one release.

    Attributes
    ----------
    weights : (m, k) float32, ``R_j * C_j``.
    votes : (m, voted) float32, uniform.
    noise : (p, m) float32, Gaussian with the covariance of the mixture's noise, or None.
    """

    weights: Single
    votes: Single
    noise: Single | None


def draws_of(mixture: Mixture, seed: int, release: int, part: slice) -> Draws:
    """Draw what some places need in one release; a place's draw depends on its number alone.

    Parameters
    ----------
    part : consecutive places, numbered among all of them.
    """
    k, width = len(mixture.rows), len(mixture.numbers)
    size = part.stop - part.start
    weights = np.empty((size, k), dtype=np.float32)
    votes = np.empty((size, len(mixture.voted)), dtype=np.float32)
    noise = None if mixture.root is None else np.empty((width, size), dtype=np.float32)
    for block in range(part.start // BLOCK, -(-part.stop // BLOCK)):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, mixture.total)
        own = slice(max(part.start, start) - start, min(part.stop, stop) - start)
        into = slice(own.start + start - part.start, own.stop + start - part.start)
        weights[into] = _chance(
            (stop - start, k), generator(seed, release, block, Purpose.WEIGHTS)
        )[own]
        rng = generator(seed, release, block, Purpose.LEVELS)
        votes[into] = rng.random((stop - start, votes.shape[1]), dtype=np.float32)[own]
        if noise is not None and mixture.root is not None:
            rng = generator(seed, release, block, Purpose.NOISE)
            free = rng.standard_normal((width, stop - start), dtype=np.float32)[:, own]
            for i, mix in enumerate(mixture.root):
                total = free[0] * mix[0]
                for one, factor in zip(free[1 : i + 1], mix[1:], strict=False):
                    total += one * factor  # one by one: a matrix product rounds by position
                noise[i, into] = total
    return Draws(weights, votes, noise)


@dataclass(frozen=True)
class Gathered:
    """One release, place by place: codes of what was voted on, values of the numbers."""

    codes: list[NDArray[Any]]
    values: list[Floats]


def gathered_into(mixture: Mixture, parts: int, space: Space) -> Gathered:
    """Room for so many avatars of each place, one whole part after the other."""
    count = parts * mixture.rows.shape[1]
    return Gathered(
        [space.empty(count, voted.codes.dtype) for voted in mixture.voted],
        [space.empty(count, np.float64) for _ in mixture.numbers],
    )


def gather(
    mixture: Mixture,
    columns: Sequence[Numbers],
    seed: int,
    release: int,
    into: Gathered,
    part: int = 0,
    *,
    decode: str,
    chunk: int,
    threads: int,
    space: Space = MEMORY,
) -> None:
    """Make one avatar of each place.

    Parameters
    ----------
    columns : the numeric columns, for their grids.
    into, part : where the avatars go, see `gathered_into`.
    decode : ``draw`` or ``vote``.
    chunk : places worked on at a time, beside the 16,384 that are drawn together.
    """
    count = mixture.rows.shape[1]
    codes = [column[part * count : (part + 1) * count] for column in into.codes]
    values = [column[part * count : (part + 1) * count] for column in into.values]
    # Places are numbered from the start of a block of draws, which is then drawn once.
    ahead = mixture.first % BLOCK

    def work(shifted: slice) -> None:
        block = slice(max(shifted.start - ahead, 0), shifted.stop - ahead)
        draws = draws_of(
            mixture, seed, release, slice(block.start + mixture.first, block.stop + mixture.first)
        )
        for start in range(block.start, block.stop, chunk):
            some = slice(start, min(start + chunk, block.stop))
            own = slice(some.start - block.start, some.stop - block.start)
            mix(some, draws.weights[own], draws.votes[own], draws.noise, own)

    def mix(part: slice, chance: Single, votes: Single, noise: Single | None, own: slice) -> None:
        rows = mixture.rows[:, part]
        weights: Floats = proximity(mixture.distances[:, part].T).T * chance.T
        weights /= added(weights)
        ballot = Ballot(rows, weights)
        votes = np.ascontiguousarray(votes.T)
        for voted, drawn, vote in zip(mixture.voted, codes, votes, strict=True):
            drawn[part] = ballot.draw(voted, vote) if decode == "draw" else ballot.winner(voted)
        means, spreads = _averages(mixture, rows, weights)
        for number, column, drawn in zip(mixture.numbers, columns, values, strict=True):
            made = means[:, number.column]
            if noise is not None:
                spread = spreads[:, number.column if spreads.shape[1] > 1 else 0]
                made = made + spread * noise[number.column, own]
            if number.scores is not None:
                made = number.scores.back(made)
            made = np.clip(column.rounded(made), number.low, number.high)
            if number.state is not None:
                state = codes[number.state][part]
                if number.scores is not None and number.scores.spike is not None:
                    made = np.where(state == SPIKE, number.scores.spike, made)
                made = np.where(state >= MISSING, KINDS[state], made)
            drawn[part] = made

    each_part(
        work,
        ahead + count,
        BLOCK * max(chunk // BLOCK, 1),
        threads,
        every=FORGET,
        done=space.forget,
    )


@np.errstate(over="ignore")  # weights sum to 1 but for roundoff; clipping brings back what it adds
def _averages(mixture: Mixture, rows: NDArray[np.int32], weights: Floats) -> tuple[Floats, Floats]:
    """Weighted means over the neighbours that have a value, and how much spread they took away.

    Returns
    -------
    means : (m, p) float64.
    spreads : (m, p) float64, or (m, 1) where every row has every value.
    """
    shape = (rows.shape[1], mixture.values.shape[1])
    means = np.zeros(shape)
    if mixture.present is None:
        for near, weight in zip(rows, weights, strict=True):
            means += weight[:, None] * mixture.values.take(near, axis=0)
        squares = added(np.square(weights))[:, None]
        return means, np.sqrt(np.maximum(1 - squares, LEAST_SPREAD))
    squares, total = np.zeros(shape), np.zeros(shape)
    for near, weight in zip(rows, weights, strict=True):
        share = weight[:, None] * mixture.present.take(near, axis=0)
        total += share
        means += share * mixture.values.take(near, axis=0)
        squares += np.square(share)
    has = total > 0
    means = np.where(has, np.divide(means, total, out=means, where=has), mixture.fallback)
    squares = np.divide(squares, np.square(total), out=squares, where=has)
    return means, np.sqrt(np.maximum(1 - squares, LEAST_SPREAD))


class Ballot:
    """The neighbours' votes for some people.

    Parameters
    ----------
    rows : (k, m) int32, places of the neighbours.
    weights : (k, m) float64, summing to 1 over the neighbours.
    """

    def __init__(self, rows: NDArray[np.int32], weights: Floats) -> None:
        self.rows, self.weights = rows, weights
        self.running = np.cumsum(weights, axis=0)
        self.people = np.arange(rows.shape[1])

    def draw(self, voted: Voted, chance: Single) -> NDArray[Any]:
        """The level of one neighbour, drawn by weight among those with an allowed level."""
        if voted.allowed.all():
            return voted.codes.take(self._pick(self.running, chance))
        allowed = voted.allowed[voted.codes[self.rows]]
        running = np.cumsum(self.weights * allowed, axis=0)
        drawn = voted.codes.take(self._pick(running, chance))
        return np.where(running[-1] > 0, drawn, np.asarray(voted.commonest, drawn.dtype))

    def _pick(self, running: Floats, chance: Single) -> NDArray[np.int32]:
        aim = chance * running[-1]
        which = np.zeros(len(aim), dtype=np.intp)
        for end in running[:-1]:
            which += aim >= end
        which *= self.rows.shape[1]
        which += self.people
        return self.rows.take(which)

    def winner(self, voted: Voted) -> NDArray[Any]:
        """The allowed level with the greatest weight; ties go to the nearer neighbour."""
        codes = voted.codes[self.rows]
        weights = self.weights * voted.allowed[codes]
        best, most = codes[0].copy(), np.zeros(codes.shape[1])
        for mine, own in zip(codes, weights, strict=True):
            share = added(weights * (codes == mine))
            better = (share > most) & (own > 0)
            best[better], most[better] = mine[better], share[better]
        return np.where(most > 0, best, np.asarray(voted.commonest, best.dtype))
