"""What the avatars of a table are gathered from: made once, for all releases.

Arrays are in the order of a curve through space (neighbours in space are neighbours in
memory) and have one row for each neighbour, ``(k, n)``, so that every operation runs
along memory. A place is a position in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import MEMORY, Storage
from sosie.compute.sums import tally
from sosie.compute.threads import each_part
from sosie.data.missing import tags
from sosie.data.table import Column, Levels, Numbers, Table
from sosie.errors import InputError, quoted
from sosie.generate.noise import Noise, NoNoise
from sosie.generate.scales import Scale, Scaled
from sosie.latent.neighbours import Neighbours

__all__ = [
    "MISSING",
    "SCORED",
    "SPIKE",
    "Mixture",
    "Prepared",
    "Scored",
    "Single",
    "Voted",
    "groups_of",
    "mixed",
    "mixture_of",
    "prepared",
]

Single = NDArray[np.float32]

Scaling = Callable[[Floats, int], Scaled]
"""Values, and how many people must share an extreme, to values on a scale."""

MOST_TOGETHER = 1 << 22
"""Up to so many rows columns are prepared side by side, above one after the other."""

SCORED, SPIKE, MISSING = 0, 1, 2


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
    scale : on which it is averaged, and the way back.
    low, high : range of the originals that enough people share, which rounding must not leave.
    """

    name: Hashable
    column: int
    state: int | None
    scale: Scale
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
    noise : what is added to the weighted means.
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
    noise: Noise
    first: int = 0
    total: int = 0


@dataclass(frozen=True)
class Prepared:
    """What one column, or a group of linked ones, brings to the mixture.

    Attributes
    ----------
    voted : what is voted on, or None.
    scored : what is averaged, or None; its places in a mixture are given later.
    values : (n,) numbers (float64) or normal scores (float32); 0 where there is nothing to average.
    fallback : the mean of what is there to average.
    """

    voted: Voted | None
    scored: Scored | None = None
    values: NDArray[Any] | None = None
    fallback: float = 0.0

    def __len__(self) -> int:
        if self.values is not None:
            return len(self.values)
        return 0 if self.voted is None else len(self.voted.codes)


def groups_of(table: Table) -> Iterator[tuple[Column, ...]]:
    """Columns that are prepared together: categories, linked ones as one group, then numbers."""
    groups = {name: group for group in table.roles.linked for name in group}
    done: set[tuple[Hashable, ...]] = set()
    for column in table.levels:
        names = groups.get(column.name, (column.name,))
        if names not in done:
            done.add(names)
            yield tuple(table.level(name) for name in names)
    for number in table.numbers:
        yield (number,)


def prepared(
    columns: Sequence[Column], scaled: Scaling, *, k: int, min_level_count: int
) -> Prepared:
    """Prepare one column or one linked group, whole, in any order of its rows.

    Parameters
    ----------
    scaled : puts the values of a number on the scale on which they are averaged.

    Raises
    ------
    InputError
        No level, or combination of levels, is held by `min_level_count` people.
    """
    (column, *others) = columns
    if isinstance(column, Numbers):
        return _prepared_number(column, scaled, k, min_level_count)
    if others:
        return Prepared(_joint([c for c in columns if isinstance(c, Levels)], min_level_count))
    _check_levels(column, min_level_count)
    absent = np.array([label is None for label in column.labels])
    return Prepared(_vote((column.name,), column.codes, min_level_count, absent))


def _prepared_number(column: Numbers, scaled: Scaling, k: int, least: int) -> Prepared:
    # An extreme is no one's own where k share it, whatever levels may be drawn.
    made, missing = scaled(column.values, max(least, k)), column.missing
    state = np.where(missing, np.uint8(MISSING), np.uint8(SCORED))
    if column.states is not None:
        state += tags(column.values)
    state[~made.scored & ~missing] = SPIKE
    scored = Scored(column.name, 0, None, made.scale, made.low, made.high)
    if not state.any():
        return Prepared(None, scored, made.values)
    held = made.values[state == SCORED].astype(np.float64)
    # Divided first, since sums overflow.
    fallback = float((held / max(len(held), 1)).sum())
    return Prepared(_vote((column.name,), state, least), scored, made.values, fallback)


def _joint(columns: Sequence[Levels], least: int) -> Voted:
    """Linked columns as one vote on their joint levels."""
    names = tuple(column.name for column in columns)
    stacked = np.column_stack([column.codes for column in columns]).astype(np.int64)
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
    return _vote(names, rank[codes].astype(np.int32), least, parts=parts[np.argsort(first)])


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
    counts = tally(codes, int(codes.max()) + 1)
    named = counts if absent is None or absent.all() else np.where(absent[: len(counts)], 0, counts)
    return Voted(
        names,
        codes,
        counts >= least,
        int(np.argmax(named if named.max() >= least else counts)),
        parts,
    )


def mixture_of(
    table: Table,
    near: Neighbours,
    order: Ints,
    scaled: Scaling,
    *,
    min_level_count: int,
    threads: int,
) -> Mixture:
    """The mixture of a table, without noise.

    Parameters
    ----------
    near : neighbours of the row at each place, as places.
    order : (n,) int64, the row at each place.
    scaled : see `prepared`.

    Raises
    ------
    InputError
        A category none of whose levels is held by `min_level_count` people.
    """
    storage, groups = table.storage, list(groups_of(table))
    k = near.rows.shape[1]
    parts: list[Any] = [None] * len(groups)

    def prepare(some: slice) -> None:
        for i in range(some.start, some.stop):
            made = prepared(groups[i], scaled, k=k, min_level_count=min_level_count)
            voted, values = made.voted, made.values
            parts[i] = replace(
                made,
                voted=voted and replace(voted, codes=storage.keep(voted.codes[order])),
                values=None if values is None else storage.keep(values[order]),
            )
            storage.forget()

    each_part(prepare, len(groups), 1, threads if BLOCK < len(order) < MOST_TOGETHER else 1)
    rows = np.ascontiguousarray(near.rows.T, dtype=np.int32)
    distances = np.ascontiguousarray(near.distances.T, dtype=np.float32)
    return mixed(parts, order, rows, distances, storage=storage)


def mixed(
    parts: Sequence[Prepared],
    order: Ints,
    rows: NDArray[np.int32],
    distances: Single,
    *,
    storage: Storage = MEMORY,
    first: int = 0,
    total: int | None = None,
) -> Mixture:
    """Put prepared columns together, without noise.

    Parameters
    ----------
    parts : in the order of `groups_of`, their arrays by place.
    order, rows, distances, first, total : see `Mixture`.
    """
    voted = [part.voted for part in parts if part.scored is None and part.voted is not None]
    scored = [part for part in parts if part.scored is not None]
    dtype = scored[0].values.dtype if scored and scored[0].values is not None else np.float64
    values = storage.empty((len(parts[0]), len(scored)), dtype)
    present = None
    if any(part.voted is not None for part in scored):
        present = storage.empty(values.shape, np.bool_)
    numbers = []
    for i, part in enumerate(scored):
        values[:, i] = part.values
        if present is not None:
            present[:, i] = True if part.voted is None else part.voted.codes == SCORED
        if part.voted is not None:
            voted.append(part.voted)
        state = None if part.voted is None else len(voted) - 1
        if part.scored is not None:
            numbers.append(replace(part.scored, column=i, state=state))
        storage.forget()
    return Mixture(
        order=order,
        rows=rows,
        distances=distances,
        voted=tuple(voted),
        numbers=tuple(numbers),
        values=values,
        present=present,
        fallback=np.array([part.fallback for part in scored]),
        noise=NoNoise(),
        first=first,
        total=rows.shape[1] if total is None else total,
    )
