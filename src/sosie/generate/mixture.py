"""What the avatars of a table are gathered from: made once, for all releases.

Source of the smoothing: Silverman and Young, Biometrika 74 (1987), made local and put on
normal scores.

Arrays are in the order of a curve through space (neighbours in space are neighbours in
memory) and have one row for each neighbour, ``(k, n)``, so that every operation runs
along memory. A place is a position in that order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import MEMORY, Space, Weighed
from sosie.compute.sums import WholeSum, added, tally
from sosie.compute.threads import each_part, one_blas_thread
from sosie.data.missing import tags
from sosie.data.table import Column, Levels, Numbers, Table
from sosie.errors import InputError, quoted
from sosie.generate.normal_scores import NormalScores
from sosie.latent.neighbours import Neighbours

__all__ = [
    "MISSING",
    "SCORED",
    "SPIKE",
    "Mixture",
    "NoiseSums",
    "Prepared",
    "Scored",
    "Single",
    "Voted",
    "groups_of",
    "mixed",
    "mixture_of",
    "noise_root",
    "prepared",
    "proximity",
]

Single = NDArray[np.float32]

FLOOR = 0.1
"""A distance counts as at least this share of the farthest: a twin can't take all the weight."""

UNIT = 2.0**13
"""Deviations of normal scores, below 2^4, are summed in units of 1 / UNIT."""

MOST_TOGETHER = 1 << 22
"""Up to so many rows columns are prepared side by side, above one after the other."""

SCORED, SPIKE, MISSING = 0, 1, 2


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


@dataclass(frozen=True)
class Voted(Weighed):
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
class Scored(Weighed):
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
class Mixture(Weighed):
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
class Prepared(Weighed):
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
    columns: Sequence[Column], *, smoothed: bool, k: int, min_level_count: int
) -> Prepared:
    """Prepare one column or one linked group, whole, in any order of its rows.

    Raises
    ------
    InputError
        No level, or combination of levels, is held by `min_level_count` people.
    """
    (column, *others) = columns
    if isinstance(column, Numbers):
        return _prepared_number(column, smoothed, k, min_level_count)
    if others:
        return Prepared(_joint([c for c in columns if isinstance(c, Levels)], min_level_count))
    _check_levels(column, min_level_count)
    absent = np.array([label is None for label in column.labels])
    return Prepared(_vote((column.name,), column.codes, min_level_count, absent))


def _prepared_number(column: Numbers, smoothed: bool, k: int, least: int) -> Prepared:
    missing = column.missing
    state = np.where(missing, np.uint8(MISSING), np.uint8(SCORED))
    if column.states is not None:
        state += tags(column.values)
    # An extreme is no one's own where k share it, whatever levels may be drawn.
    scores = NormalScores.of(column.values, max(least, k)) if smoothed else None
    values: NDArray[Any]
    if scores is None:
        values, shared = np.nan_to_num(column.values, nan=0.0), column.values
    else:
        state[~scores.scored & ~missing] = SPIKE
        values = scores.scores
        shared = scores.ordered if len(scores.ordered) else column.values
    low, high = float(np.nanmin(shared)), float(np.nanmax(shared))
    scored = Scored(column.name, 0, None, scores and scores.slim(), low, high)
    if not state.any():
        return Prepared(None, scored, values)
    held = values[state == SCORED].astype(np.float64)
    # Divided first, since sums overflow.
    fallback = float((held / max(len(held), 1)).sum())
    return Prepared(_vote((column.name,), state, least), scored, values, fallback)


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
    *,
    smoothed: bool,
    min_level_count: int,
    threads: int,
) -> Mixture:
    """The mixture of a table.

    Parameters
    ----------
    near : neighbours of the row at each place, as places.
    order : (n,) int64, the row at each place.

    Raises
    ------
    InputError
        A category none of whose levels is held by `min_level_count` people.
    """
    space, groups = table.space, list(groups_of(table))
    k = near.rows.shape[1]
    parts: list[Any] = [None] * len(groups)

    def prepare(some: slice) -> None:
        for i in range(some.start, some.stop):
            made = prepared(groups[i], smoothed=smoothed, k=k, min_level_count=min_level_count)
            voted, values = made.voted, made.values
            parts[i] = replace(
                made,
                voted=voted and replace(voted, codes=space.keep(voted.codes[order])),
                values=None if values is None else space.keep(values[order]),
            )
            space.forget()

    each_part(prepare, len(groups), 1, threads if BLOCK < len(order) < MOST_TOGETHER else 1)
    rows = np.ascontiguousarray(near.rows.T, dtype=np.int32)
    distances = np.ascontiguousarray(near.distances.T, dtype=np.float32)
    made = mixed(parts, order, rows, distances, smoothed=smoothed, space=space)
    if not smoothed or not made.numbers:
        return made
    sums = NoiseSums.of(made, threads)
    return replace(made, root=noise_root(sums))


def mixed(
    parts: Sequence[Prepared],
    order: Ints,
    rows: NDArray[np.int32],
    distances: Single,
    *,
    smoothed: bool,
    space: Space = MEMORY,
    first: int = 0,
    total: int | None = None,
) -> Mixture:
    """Put prepared columns together, without the root of the noise.

    Parameters
    ----------
    parts : in the order of `groups_of`, their arrays by place.
    order, rows, distances, first, total : see `Mixture`.
    """
    voted = [part.voted for part in parts if part.scored is None and part.voted is not None]
    scored = [part for part in parts if part.scored is not None]
    values = space.empty((len(parts[0]), len(scored)), np.float32 if smoothed else np.float64)
    present = None
    if any(part.voted is not None for part in scored):
        present = space.empty(values.shape, np.bool_)
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
        space.forget()
    return Mixture(
        order=order,
        rows=rows,
        distances=distances,
        voted=tuple(voted),
        numbers=tuple(numbers),
        values=values,
        present=present,
        fallback=np.array([part.fallback for part in scored]),
        root=None,
        first=first,
        total=rows.shape[1] if total is None else total,
    )


@dataclass(frozen=True)
class NoiseSums:
    """Sums over people of the products of their neighbours' deviations, exact in any order.

    Attributes
    ----------
    products : of (p, p) whole numbers, in units of 2^-26.
    pairs : of (p, p), degrees of freedom.
    """

    products: WholeSum
    pairs: WholeSum

    @classmethod
    def of(cls, mixture: Mixture, threads: int = 1) -> NoiseSums:
        """The sums over the people of a mixture.

        Each person's covariance is unbiased; where a neighbour has no score, pairs count
        over those that have both.
        """
        rows, values, present = mixture.rows, mixture.values, mixture.present
        (k, count), width = rows.shape, values.shape[1]
        products, pairs = WholeSum((width, width)), WholeSum((width, width))

        def add(part: slice) -> None:
            near = rows[:, part]
            cells = values.take(near, axis=0).astype(np.float64)
            if present is None:
                cells -= added(cells) / k
                pairs.add(np.full((width, width), (k - 1.0) * near.shape[1]))
            else:
                has = present.take(near, axis=0)
                cells = (cells - added(cells) / np.maximum(has.sum(axis=0), 1)) * has
                joint = np.array([(has & has[:, :, i, None]).sum(axis=0) for i in range(width)])
                pairs.add(np.maximum(joint - 1, 0).sum(axis=1).astype(np.float64))
            flat = np.rint(cells.reshape(-1, width) * UNIT)
            products.add(flat.T @ flat)

        with one_blas_thread():
            each_part(add, count, max(BLOCK // k, 1), threads)
        return cls(products, pairs)

    def merge(self, other: NoiseSums) -> NoiseSums:
        """The sums over both."""
        self.products.merge(other.products)
        self.pairs.merge(other.pairs)
        return self


def noise_root(sums: NoiseSums) -> Single:
    """Lower triangular root of the mean over people of the covariance of their neighbours' scores.

    Returns
    -------
    (p, p) float32.
    """
    covariance = sums.products.total / UNIT**2 / np.maximum(sums.pairs.total, 1)
    eigenvalues, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    return np.ascontiguousarray(np.asarray(np.linalg.qr(root.T, mode="r")).T, dtype=np.float32)
