"""Draws from the law of the groups: numbers, states, numbers that have states, categories.

Draws are keyed by seed, release, part, block of places, purpose and column, and a group
belongs to the block in which it begins: it gets the same draws whatever the chunks, threads or
machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import FORGET, MEMORY, Storage
from sosie.compute.threads import each_part, one_blas_thread
from sosie.generate.exchangeable.ancestry import blocks_of
from sosie.generate.exchangeable.draft import Draft
from sosie.generate.exchangeable.fixed_point import SCORE, on_grid
from sosie.generate.exchangeable.law import ExchangeableLaw
from sosie.generate.exchangeable.streams import HALF, Stream, stream
from sosie.generate.gathered import Gathered

__all__ = ["draw", "pairing"]

CHUNK = 4096


def draw(
    law: ExchangeableLaw,
    seed: int,
    release: int,
    part: int = 0,
    *,
    into: Gathered | None = None,
    threads: int = 1,
    storage: Storage = MEMORY,
    chunk: int = CHUNK,
) -> Gathered:
    """One avatar for each member of each group, in the order of the groups.

    Parameters
    ----------
    seed : a secret.
    release, part : which release, and which of its equal parts.
    into : where the avatars go; made where it is not given.
    threads, chunk : no result depends on them.

    Returns
    -------
    codes : of `law.voted`, numbered as in the table (where linked, as in its `parts`).
    values : of `law.names`, float64.
    """
    count = int(law.bounds[-1] - law.bounds[0])
    if into is None:
        types = [np.min_scalar_type(int(choice.original.max())) for choice in law.voted]
        into = Gathered(
            [storage.empty(count, dtype) for dtype in types],
            [storage.empty(count, np.float64) for _ in law.names],
        )
    starts = law.bounds[:-1]
    numbers, heads = np.unique(starts // BLOCK, return_index=True)
    ends = np.append(heads[1:], len(starts))

    def work(some: slice) -> None:
        for i in range(some.start, some.stop):
            groups = slice(int(heads[i]), int(ends[i]))
            source = _Source(seed, release, part, int(numbers[i]), law, groups)
            _draw_block(law, groups, source, into, chunk)

    with one_blas_thread():
        each_part(work, len(heads), 1, threads, max(FORGET // BLOCK, 1), storage.forget)
    return into


@dataclass(frozen=True)
class _Source:
    """The draws of the groups of one block, column by column."""

    seed: int
    release: int
    part: int
    block: int
    law: ExchangeableLaw
    groups: slice

    @property
    def ahead(self) -> int:
        """Places of the block before its first group."""
        return int(self.law.bounds[self.groups.start]) - self.block * BLOCK

    @property
    def count(self) -> int:
        bounds = self.law.bounds
        return int(bounds[self.groups.stop] - bounds[self.groups.start])

    def _stream(self, purpose: Stream, column: int) -> np.random.Generator:
        return stream(self.seed, self.release, self.part, self.block, purpose, column)

    def noise(self, column: int) -> Floats:
        rng = self._stream(Stream.NOISE, column)
        drawn = rng.standard_normal(self.ahead + self.count, dtype=np.float32)
        return on_grid(drawn[self.ahead :], SCORE)

    def levels(self, column: int) -> Floats:
        drawn = self._stream(Stream.LEVELS, column).random(
            self.ahead + self.count, dtype=np.float32
        )
        return np.asarray(drawn[self.ahead :] + HALF, dtype=np.float64)


def _draw_block(
    law: ExchangeableLaw, groups: slice, source: _Source, into: Gathered, chunk: int
) -> None:
    """Draw the groups of a block, so many places at a time."""
    noise = np.empty((len(law.layout.numbers), source.count))
    for i in range(len(noise)):
        noise[i] = source.noise(i)
    chances = {i: source.levels(i) for i, one in enumerate(law.layout.choices) if one.width}
    bounds = law.bounds[groups.start : groups.stop + 1]
    for some in blocks_of(bounds, chunk):
        own = slice(int(bounds[some.start] - bounds[0]), int(bounds[some.stop] - bounds[0]))
        start = int(bounds[some.start] - law.bounds[0])
        draft = Draft(law, np.arange(some.start, some.stop) + groups.start, noise[:, own])

        def chance(i: int, own: slice = own) -> Floats:
            return chances[i][own]

        draft.plain(law.pooled.marginals)
        draft.states(chance)
        draft.spiky(law.pooled.marginals)
        draft.categories(chance)
        _write(draft, into, slice(start, start + own.stop - own.start))


def _write(draft: Draft, into: Gathered, part: slice) -> None:
    """Values and codes as the table has them."""
    law, layout = draft.law, draft.layout
    for choice, codes, column in zip(
        law.voted, draft.codes[layout.states :], into.codes, strict=True
    ):
        column[part] = choice.original.take(codes)
    for i, number in enumerate(layout.numbers):
        values = into.values[law.names.index(number.name)]
        if number.back is not None:
            made = number.column.rounded(number.back(draft.shares[i]))
        else:
            made = np.full(part.stop - part.start, np.nan)
        has = draft.has_score(i)
        if has is not None:
            made = np.where(has, made, number.values[draft.codes[i - layout.plain]])
        values[part] = made


def pairing(order: Ints, bounds: Ints, seed: int, release: int, part: int = 0) -> Ints:
    """A nominal person for each avatar, ``(n,) int64``: anyone of its group, each once.

    Drawn after the fact, from a stream of its own: nothing that is published depends on it.

    Parameters
    ----------
    order : (n,) int64, the row at each place.
    bounds : (G + 1,) int64, counting places of the whole table.
    """
    first, count = int(bounds[0]), len(order)
    start = first // BLOCK
    parts = []
    for block in range(start, -(-(first + count) // BLOCK)):
        ahead = max(first - block * BLOCK, 0)
        size = min(first + count - block * BLOCK, BLOCK)
        rng = stream(seed, release, part, block, Stream.PAIRING)
        parts.append(rng.integers(2**63, size=size)[ahead:])
    group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return np.asarray(order[np.lexsort((np.concatenate(parts), group))])
