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

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.errors import InputError, quoted
from sosie.exact import WholeSum
from sosie.frames import Floats, Ints, Mask
from sosie.neighbours import Neighbours
from sosie.normal_scores import NormalScores
from sosie.parallel import each_part, one_blas_thread
from sosie.randomness import BLOCK, Purpose, generator
from sosie.space import MEMORY, Space
from sosie.table import Levels, Numbers, Table

__all__ = [
    "Draws",
    "Mixture",
    "Scored",
    "Voted",
    "draw_weights",
    "mixture_of",
    "proximity",
]

Single = NDArray[np.float32]

FLOOR = 0.1
"""A distance counts as at least this share of the farthest: a twin can't take all the weight."""

LEAST_SPREAD = 0.25
"""Share of the local variance that noise always has: a lone neighbour's value is not copied."""

UNIT = 2.0**13
"""Deviations of normal scores, below 2^4, are summed in units of 1 / UNIT."""

FORGET = 1 << 20
"""Places after which memory that is also on disk is let go."""

MOST_TOGETHER = 1 << 22
"""Up to so many rows columns are scored side by side, above one after the other."""

_SCORED, _SPIKE, _MISSING = 0, 1, 2


def proximity(distances: NDArray[Any]) -> Floats:
    """``1 / distance`` to each neighbour, floored, scaled to at most 1: ``(n, k) float64``.

    Parameters
    ----------
    distances : (n, k) float, closest first.
    """
    distances = distances.astype(np.float64)
    floor = np.maximum(FLOOR * distances[:, -1:], np.finfo(np.float64).tiny)
    floored = np.maximum(distances, floor)
    return np.asarray(floored[:, :1] / floored)


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
class Voted:
    """Something that is voted on: a category, a group of linked ones, or a number's state.

    Attributes
    ----------
    names : columns it decides; one, or several where linked.
    codes : (n,) unsigned or int32, by place.
    allowed : (L,) bool, levels that enough people hold; the others are never drawn.
    commonest : the level where no neighbour has an allowed one.
    parts : for linked columns, ``(L, columns)``: the code of each column; else None.
    """

    names: tuple[Hashable, ...]
    codes: NDArray[Any]
    allowed: Mask
    commonest: int
    parts: Ints | None = None


@dataclass(frozen=True)
class Scored:
    """How one number is averaged and given back.

    Attributes
    ----------
    column : its place among the columns of `Mixture.values`.
    state : its place among `Mixture.voted`, or None where every row has a value to average.
    scores : the way back from normal scores, or None for the barycentre.
    low, high : range of the originals that enough people share, which rounding must not leave.
    """

    name: Hashable
    column: int
    state: int | None
    scores: NormalScores | None
    low: float
    high: float


@dataclass(frozen=True)
class Mixture:
    """Everything that a release is gathered from; computed once.

    Attributes
    ----------
    order : (n,) int64, the row at each place.
    rows : (k, n) int32, places of the neighbours.
    distances : (k, n) float32, closest first.
    values : (n, p) float64, or float32 normal scores; 0 where there is nothing to average.
    present : (n, p) bool, or None where all is present.
    fallback : (p,) float64, the mean where no neighbour has a value.
    root : (p, p) float32, the lower triangular root of the covariance of the noise, or None.
    first, total : the number of the first place, and of all places: not 0 and n where this is a
        part of the whole, whose neighbours then stand behind the n places of its own.
    """

    order: Ints
    rows: NDArray[np.int32]
    distances: Single
    voted: tuple[Voted, ...]
    numbers: tuple[Scored, ...]
    values: Floats
    present: Mask | None
    fallback: Floats
    root: Single | None
    first: int = 0
    total: int = 0

    @cached_property
    def near(self) -> Single:
        """(k, n) float32, see `proximity`."""
        return np.ascontiguousarray(proximity(self.distances.T).T, dtype=np.float32)


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


def mixture_of(
    table: Table,
    near: Neighbours,
    order: Ints,
    *,
    smoothed: bool,
    min_level_count: int,
    threads: int,
) -> Mixture:
    """Prepare the gathering.

    Parameters
    ----------
    near : neighbours of the row at each place, as places.
    order : (n,) int64, the row at each place.

    Raises
    ------
    InputError
        A category none of whose levels is held by `min_level_count` people.
    """
    space = table.space
    rows = np.ascontiguousarray(near.rows.T, dtype=np.int32)
    voted = _voted_levels(table, order, min_level_count)
    scored = table.numbers
    values = space.empty((len(order), len(scored)), np.float32 if smoothed else np.float64)
    states: list[NDArray[np.uint8] | None] = [None] * len(scored)
    back: list[NormalScores | None] = [None] * len(scored)
    fallback = np.zeros(len(scored))

    def score(part: slice) -> None:
        for i in range(part.start, part.stop):
            # An extreme is no one's own where k share it, whatever levels may be drawn.
            scores, state = _state(scored[i], smoothed, max(min_level_count, len(rows)))
            plain = np.nan_to_num(scored[i].values, nan=0.0) if scores is None else scores.scores
            values[:, i], back[i] = plain[order], scores and scores.slim()
            if state is not None:
                fallback[i] = _mean(plain[state == _SCORED])
                states[i] = space.keep(state[order])
            space.forget()

    each_part(score, len(scored), 1, threads if BLOCK < len(order) < MOST_TOGETHER else 1)
    numbers: list[Scored] = []
    for i, (column, state) in enumerate(zip(scored, states, strict=True)):
        if state is not None:
            voted.append(_vote((column.name,), state, min_level_count))
        scores = back[i]
        shared = column.values if scores is None or not len(scores.ordered) else scores.ordered
        low, high = float(np.nanmin(shared)), float(np.nanmax(shared))
        numbers.append(
            Scored(column.name, i, None if state is None else len(voted) - 1, scores, low, high)
        )
    present = None
    if any(state is not None for state in states):
        present = space.empty(values.shape, np.bool_)
        for i, state in enumerate(states):
            present[:, i] = True if state is None else state == _SCORED
        space.forget()
    return Mixture(
        order=order,
        rows=rows,
        distances=np.ascontiguousarray(near.distances.T, dtype=np.float32),
        voted=tuple(voted),
        numbers=tuple(numbers),
        values=values,
        present=present,
        fallback=fallback,
        root=_noise_root(values, present, rows, threads) if smoothed and numbers else None,
        total=len(order),
    )


def _mean(values: Floats) -> float:
    """Divided first, since sums overflow; 0 of nothing."""
    return float((values / max(len(values), 1)).sum())


def _voted_levels(table: Table, order: Ints, least: int) -> list[Voted]:
    """Categories, with linked ones as one vote on their joint levels."""
    groups = {name: group for group in table.roles.linked for name in group}
    voted, done = [], set()
    for column in table.levels:
        names = groups.get(column.name, (column.name,))
        if names in done:
            continue
        done.add(names)
        if len(names) == 1:
            _check_levels(column, least)
            voted.append(
                _vote(
                    names,
                    table.space.keep(column.codes[order]),
                    least,
                    np.array([lb is None for lb in column.labels]),
                )
            )
            continue
        stacked = np.column_stack([table.level(name).codes for name in names]).astype(np.int64)
        parts, codes = np.unique(stacked, axis=0, return_inverse=True)
        codes = codes.ravel()  # NumPy 2.0 keeps the axis
        if np.bincount(codes).max() < least:
            raise InputError(
                f"no combination of the linked columns {quoted(names)} is held by at least {least}"
                " people; coarsen them, or link fewer"
            )
        # Joint levels are numbered by first appearance: names of levels must not matter.
        _, first = np.unique(codes, return_index=True)
        rank = np.argsort(np.argsort(first))
        joint = table.space.keep(rank[codes][order].astype(np.int32))
        voted.append(_vote(names, joint, least, parts=parts[np.argsort(first)]))
    return voted


def _check_levels(column: Levels, least: int) -> None:
    counts = column.counts()[[label is not None for label in column.labels]]
    if len(counts) and counts.max() < least:
        raise InputError(
            f"column {column.name!r}: no value is held by at least {least} people, so none may be"
            " drawn; drop it (--drop), replace it by a surrogate (--id), coarsen it, or declare it"
            " --numeric or --date if it is one"
        )


def _vote(
    names: tuple[Hashable, ...],
    codes: NDArray[Any],
    least: int,
    absent: Mask | None = None,
    parts: Ints | None = None,
) -> Voted:
    counts = np.bincount(codes)
    named = counts if absent is None or absent.all() else np.where(absent[: len(counts)], 0, counts)
    return Voted(
        names,
        codes,
        counts >= least,
        int(np.argmax(named if named.max() >= least else counts)),
        parts,
    )


def _state(
    column: Numbers, smoothed: bool, least: int
) -> tuple[NormalScores | None, NDArray[np.uint8] | None]:
    """Normal scores (smoothed only), and each row's state where there is more than one."""
    state = np.where(column.missing, _MISSING, _SCORED).astype(np.uint8)
    scores = NormalScores.of(column.values, least) if smoothed else None
    if scores is not None:
        state[~scores.scored & ~column.missing] = _SPIKE
    return scores, state if state.any() else None


def _noise_root(
    values: Single, present: Mask | None, rows: NDArray[np.int32], threads: int
) -> Single:
    """Lower triangular root of the mean over people of the covariance of their neighbours' scores.

    Each person's covariance is unbiased; where a neighbour has no score, pairs count
    over those that have both. Deviations are rounded to 2^-13, so that the sum is exact.
    """
    k, count = rows.shape
    width = values.shape[1]
    sums, pairs = WholeSum((width, width)), WholeSum((width, width))
    if k == 1:
        return np.zeros((width, width), dtype=np.float32)

    def add(part: slice) -> None:
        near = rows[:, part]
        cells = values.take(near, axis=0).astype(np.float64)
        if present is None:
            cells -= cells.mean(axis=0)
        else:
            has = present.take(near, axis=0)
            cells = (cells - cells.sum(axis=0) / np.maximum(has.sum(axis=0), 1)) * has
            joint = np.array([(has & has[:, :, i, None]).sum(axis=0) for i in range(width)])
            pairs.add(np.maximum(joint - 1, 0).sum(axis=1).astype(np.float64))
        flat = np.rint(cells.reshape(-1, width) * UNIT)
        sums.add(flat.T @ flat)

    with one_blas_thread():
        each_part(add, count, max(BLOCK // k, 1), threads)
    held = np.maximum(pairs.total, 1) if present is not None else float((k - 1) * count)
    covariance = sums.total / UNIT**2 / held
    eigenvalues, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    return np.ascontiguousarray(np.asarray(np.linalg.qr(root.T, mode="r")).T, dtype=np.float32)


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

    codes: tuple[NDArray[Any], ...]
    values: tuple[Floats, ...]


def gathered_into(mixture: Mixture, parts: int, space: Space) -> Gathered:
    """Room for so many avatars of each place, one whole part after the other."""
    count = parts * mixture.rows.shape[1]
    return Gathered(
        tuple(space.empty(count, voted.codes.dtype) for voted in mixture.voted),
        tuple(space.empty(count, np.float64) for _ in mixture.numbers),
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
        weights /= weights.sum(axis=0)
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
                    made = np.where(state == _SPIKE, number.scores.spike, made)
                made = np.where(state == _MISSING, np.nan, made)
            drawn[part] = made

    each_part(
        work,
        ahead + count,
        BLOCK * max(chunk // BLOCK, 1),
        threads,
        every=FORGET,
        done=space.forget,
    )


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
        squares = np.square(weights).sum(axis=0)[:, None]
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
            share = (weights * (codes == mine)).sum(axis=0)
            better = (share > most) & (own > 0)
            best[better], most[better] = mine[better], share[better]
        return np.where(most > 0, best, np.asarray(voted.commonest, best.dtype))
