"""From neighbours to avatars: weights, weighted means, votes.

FAMD is linear, so a weighted mean of all latent coordinates, mapped back, is the
weighted mean of the neighbours' numbers and the weighted vote of their categories.
Nothing is mapped back here: avatars are gathered from the neighbours' raw rows.

What the weights are, and all else that is a formula, stands in `sosie.generate.law`.

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
from sosie.compute.storage import FORGET, MEMORY, Storage
from sosie.compute.sums import added
from sosie.compute.threads import each_part
from sosie.data.missing import tagged
from sosie.data.table import Numbers
from sosie.generate import law
from sosie.generate.gathered import Gathered
from sosie.generate.mixture import MISSING, SPIKE, Mixture, Single, Voted

__all__ = ["Ballot", "Draws", "draws_of", "gather", "gathered_into"]

KINDS = tagged(np.maximum(np.arange(256) - MISSING, 0))
"""What is written for each state from `MISSING` on: the kinds of missing values."""


@dataclass(frozen=True)
class Draws:
    """What chance decides for some places of one release.

    Attributes
    ----------
    weights : (m, k) float32, ``R_j * C_j``.
    votes : (m, voted) float32, uniform.
    noise : (p, m) float32, see `sosie.generate.noise.Noise.drawn`.
    """

    weights: Single
    votes: Single
    noise: Single


def draws_of(mixture: Mixture, seed: int, release: int, part: slice) -> Draws:
    """Draw what some places need in one release; a place's draw depends on its number alone.

    Parameters
    ----------
    part : consecutive places, numbered among all of them.
    """
    k, size = len(mixture.rows), part.stop - part.start
    weights = np.empty((size, k), dtype=np.float32)
    votes = np.empty((size, len(mixture.voted)), dtype=np.float32)
    noise: list[Single] = []
    for block in range(part.start // BLOCK, -(-part.stop // BLOCK)):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, mixture.total)
        own = slice(max(part.start, start) - start, min(part.stop, stop) - start)
        into = slice(own.start + start - part.start, own.stop + start - part.start)
        count = stop - start
        rng = generator(seed, release, block, Purpose.WEIGHTS)
        weights[into] = law.chance((count, k), rng)[own]
        rng = generator(seed, release, block, Purpose.LEVELS)
        votes[into] = rng.random((count, votes.shape[1]), dtype=np.float32)[own]
        rng = generator(seed, release, block, Purpose.NOISE)
        noise.append(mixture.noise.drawn(rng, count, own))
    return Draws(weights, votes, np.concatenate(noise, axis=1))


def gathered_into(mixture: Mixture, parts: int, storage: Storage) -> Gathered:
    """Room for so many avatars of each place, one whole part after the other."""
    count = parts * mixture.rows.shape[1]
    return Gathered(
        [storage.empty(count, voted.codes.dtype) for voted in mixture.voted],
        [storage.empty(count, np.float64) for _ in mixture.numbers],
    )


def gather(
    mixture: Mixture,
    columns: Sequence[Numbers],
    seed: int,
    release: int,
    into: Gathered,
    part: int = 0,
    *,
    decode: str | None,
    chunk: int,
    threads: int,
    storage: Storage = MEMORY,
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
            mix(some, draws.weights[own], draws.votes[own], draws.noise[:, own])

    def mix(part: slice, chance: Single, votes: Single, noise: Single) -> None:
        rows = mixture.rows[:, part]
        near = law.proximity(mixture.distances[:, part].T).T
        weights = law.normalised(near * chance.T)
        ballot = Ballot(rows, weights)
        votes = np.ascontiguousarray(votes.T)
        for voted, drawn, vote in zip(mixture.voted, codes, votes, strict=True):
            drawn[part] = ballot.draw(voted, vote) if decode == "draw" else ballot.winner(voted)
        means, scales = _averages(mixture, rows, weights)
        for number, column, drawn in zip(mixture.numbers, columns, values, strict=True):
            made = number.scale.back(mixture.noise.added(means, scales, noise, number.column))
            made = np.clip(column.rounded(made), number.low, number.high)
            if number.state is not None:
                state = codes[number.state][part]
                if number.scale.spike is not None:
                    made = np.where(state == SPIKE, number.scale.spike, made)
                made = np.where(state >= MISSING, KINDS[state], made)
            drawn[part] = made

    each_part(
        work,
        ahead + count,
        BLOCK * max(chunk // BLOCK, 1),
        threads,
        every=FORGET,
        done=storage.forget,
    )


@np.errstate(over="ignore")  # weights sum to 1 but for roundoff; clipping brings back what it adds
def _averages(mixture: Mixture, rows: NDArray[np.int32], weights: Floats) -> tuple[Floats, Floats]:
    """Weighted means of the numbers, and the scales of their noise.

    Returns
    -------
    means : (m, p) float64.
    scales : (m, p) float64, or (m, 1) where every row has every value.
    """
    shape = (rows.shape[1], mixture.values.shape[1])
    means = np.zeros(shape)
    if mixture.present is None:
        for near, weight in zip(rows, weights, strict=True):
            means += weight[:, None] * mixture.values.take(near, axis=0)
        return means, law.noise_scales(added(np.square(weights))[:, None])
    squares, total = np.zeros(shape), np.zeros(shape)
    for near, weight in zip(rows, weights, strict=True):
        share = weight[:, None] * mixture.present.take(near, axis=0)
        total += share
        means += share * mixture.values.take(near, axis=0)
        squares += np.square(share)
    scales = law.noise_scales(law.concentrations(squares, total))
    return law.weighted_means(means, total, mixture.fallback), scales


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
        votes = law.eligible(self.weights, voted.allowed[voted.codes[self.rows]])
        running = np.cumsum(votes, axis=0)
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
        votes = law.eligible(self.weights, voted.allowed[codes])
        totals = np.stack([added(votes * (codes == mine)) for mine in codes])
        taken = np.take_along_axis(codes, law.winner(totals)[None], axis=0)[0]
        return np.where(totals.any(axis=0), taken, np.asarray(voted.commonest, codes.dtype))
