"""Exact nearest neighbours in the latent space.

Rows are put along a space-filling curve, so that neighbours in space are neighbours in
memory: a kd-tree built and asked in that order finds in cache what the query before
touched. Equal points are held once, with the rows that share them: a tree can't split
them, and 90 % of identical rows would make every search visit all of them. Where a tree
would read most points all the same, in many components, blocks of them are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.threads import each_part, one_blas_thread
from sosie.latent import brute_force as blocks

if TYPE_CHECKING:
    from scipy.spatial import KDTree

__all__ = [
    "NeighbourIndex",
    "Neighbours",
    "Points",
    "along_curve",
    "curve",
    "others_at",
    "own_first",
    "reach_of",
    "spread",
]

REACH = 8.0
"""Standard deviations of the first component that the curve through space covers: all but a few
points, which are put at its ends."""

CHUNK = 1 << 16
"""Points asked at a time: bounds the memory of a search."""

MOST_AXES = 7
"""Axes that the curve looks at: 63 bits are shared between them."""

LEAF = 24

BOUNDED = 512
"""Queries that are asked within one distance, the greatest of theirs."""

LEAST = 1e-150

MOST_TIED = 1 << 22
"""Distances looked at together where many points are equally near."""


@dataclass(frozen=True)
class Neighbours:
    """Nearest rows, closest first.

    Attributes
    ----------
    distances : (m, k) float64 (float32 from `around`), in units of the latent space.
    rows : (m, k) int64 (int32).
    """

    distances: NDArray[Any]
    rows: NDArray[Any]


def reach_of(eigenvalues: Floats) -> float:
    """Half-width of the box of the curve through a latent space, from its eigenvalues.

    >>> reach_of(np.array([4.0, 1.0]))
    16.0
    """
    return REACH * float(np.sqrt(eigenvalues[0]))


def curve(points: Floats, reach: float) -> NDArray[np.uint64]:
    """The place of each point along a Morton curve, ``(n,) uint64``.

    The bits of its coordinates, in a box of half-width `reach`, are interleaved
    (Morton, A computer oriented geodetic data base, IBM, 1966).

    Examples
    --------
    >>> curve(np.array([[-1.0, -1.0], [-1.0, 0.9], [0.9, -1.0]]), reach=1.0).argsort().tolist()
    [0, 1, 2]
    """
    axes = min(points.shape[1], MOST_AXES)
    bits = min(63 // axes, 16)
    cells = np.arange(1 << bits, dtype=np.uint64)
    spread = np.zeros(len(cells), dtype=np.uint64)
    for bit in range(bits):
        spread |= (cells >> np.uint64(bit) & np.uint64(1)) << np.uint64(bit * axes)
    place = np.zeros(len(points), dtype=np.uint64)
    for axis in range(axes):
        cell = (points[:, axis] * (len(cells) / 2 / reach) + len(cells) / 2).clip(0, len(cells) - 1)
        place |= spread.take(cell.astype(np.intp)) << np.uint64(axes - 1 - axis)
    return place


def along_curve(points: Floats, place: NDArray[np.uint64]) -> Ints:
    """Rows in order of their place on the curve, then of their coordinates, then of their number.

    Equal points stand together, and the order is that of the points alone: however they
    are cut into parts, sorting each part of the curve gives the same.

    Parameters
    ----------
    points : (n, d) float64.
    place : (n,) uint64, see `curve`.

    Returns
    -------
    (n,) int64.
    """
    order = np.argsort(place)
    sorted_place = place[order]
    same = np.zeros(len(order) + 1, dtype=bool)
    np.equal(sorted_place[1:], sorted_place[:-1], out=same[1:-1])
    tied = np.flatnonzero(same[1:] | same[:-1])
    if len(tied):
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, *points[rows].T[::-1], sorted_place[tied]))]
    return order


class NeighbourIndex:
    """Exact Euclidean search among the rows of ``(n, d)`` points.

    Parameters
    ----------
    points : (n, d) float64.
    threads : -1 for all.
    reach : half-width of the box of the curve; by default what holds all points.

    Attributes
    ----------
    order : (n,) int64, rows so that neighbours in space are neighbours in memory, equal points
        together in row order.
    placed : (n, d) float64, the points in that order.
    point : (n,) int64, which distinct point is at each place.

    Examples
    --------
    >>> index = NeighbourIndex(np.array([[0.0], [1.0], [3.0]]))
    >>> index.others(1).rows.ravel().tolist()
    [1, 0, 1]
    """

    def __init__(self, points: Floats, threads: int = -1, reach: float | None = None) -> None:
        points = np.asarray(points, dtype=np.float64)
        if reach is None:
            reach = float(np.abs(points).max(initial=0.0))
        order = along_curve(points, curve(points, reach or 1.0))
        self._build(points.take(order, axis=0), order, threads)

    @classmethod
    def placed_along(cls, placed: Floats, order: Ints, threads: int = -1) -> Self:
        """The index of points that are in its order already.

        Parameters
        ----------
        placed : (n, d) float64, the points in the order of the index.
        order : (n,) int64, the row of each, see `along_curve`.
        """
        made = cls.__new__(cls)
        made._build(placed, order, threads)
        return made

    def _build(self, placed: Floats, order: Ints, threads: int) -> None:
        self.placed, self.order, self.threads = placed, order, threads
        new = np.ones(len(placed), dtype=bool)
        if len(placed) > 1:
            new[1:] = (self.placed[1:] != self.placed[:-1]).any(axis=1)
        self._plain = bool(new.all())
        self._starts = np.flatnonzero(new)
        self._size = np.diff(self._starts, append=len(placed))
        self._first = self.order[self._starts]
        self.point = np.cumsum(new) - 1  # of each place
        self._distinct = self.placed if self._plain else self.placed[new]

    @cached_property
    def _tree(self) -> KDTree:
        from scipy.spatial import KDTree

        # Splitting at the middle of the range, not at the median, builds faster and asks as fast.
        return KDTree(self._distinct, leafsize=LEAF, balanced_tree=False)

    @cached_property
    def _in_blocks(self) -> bool:
        return blocks.pay(self._distinct)

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def points(self) -> Floats:
        """(n, d) float64, in row order."""
        points = np.empty_like(self.placed)
        points[self.order] = self.placed
        return points

    @cached_property
    def groups(self) -> Ints:
        """(n,) int64: which distinct point each row is at."""
        groups = np.empty(len(self), dtype=np.int64)
        groups[self.order] = self.point
        return groups

    def others(self, k: int) -> Neighbours:
        """The k nearest other rows of each row, ``(n, k)``; k is at most n - 1.

        Among equal points the next rows, in row order and around the end, come first;
        points at the same distance come in order of their first row (by place, all would
        lean to the same side).
        """
        near, rows = np.empty((len(self), k)), np.empty((len(self), k), dtype=np.int64)
        self._ask_others(near, rows)
        distances, others = np.empty_like(near), np.empty_like(rows)
        distances[self.order], others[self.order] = near, self.order[rows]
        return Neighbours(distances, others)

    def around(self, k: int) -> Neighbours:
        """`others` in the order of the index: line p is row ``order[p]``, rows are places too.

        Returns
        -------
        Neighbours, of float32 and int32, half the memory.
        """
        # One line a neighbour, as they are used.
        distances = np.empty((k, len(self)), dtype=np.float32).T
        rows = np.empty((k, len(self)), dtype=np.int32).T
        self._ask_others(distances, rows)
        return Neighbours(distances, rows)

    def _ask_others(self, distances: NDArray[Any], rows: NDArray[Any]) -> None:
        k = distances.shape[1]

        def ask(part: slice) -> None:
            own = np.arange(part.start, part.stop)
            near = _self_first(self._near(self._distinct[part], k + 1, threads=1), own)
            if self._plain:
                distances[part], rows[part] = near.distances[:, 1:], near.rows[:, 1:]
                return
            sizes, first = self._size[part], self._starts[part.start]
            points = self.as_points(near)
            asking, position = np.repeat(np.arange(len(own)), sizes), _counted(sizes)
            for start in range(0, len(asking), CHUNK):
                some = slice(start, start + CHUNK)
                found = spread(points.take(asking[some]), position[some], k, asks=True)
                into = slice(first + start, first + start + len(asking[some]))
                distances[into], rows[into] = found

        if not self._in_blocks:
            self._tree  # noqa: B018 (built once, before threads ask it)
        with one_blas_thread() if self._in_blocks else nullcontext():
            each_part(ask, len(self._distinct), CHUNK, self.threads)

    def nearest(self, queries: Floats, k: int) -> Neighbours:
        """The k nearest rows of each query point, ``(m, k)``."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        near = self._near(queries, k, self.threads)
        if self._plain:
            return Neighbours(near.distances, self.order[near.rows])
        none = np.zeros(len(queries), dtype=np.int64)
        distances, places = spread(self.as_points(near), none, k, asks=False)
        return Neighbours(distances, self.order[places])

    def own_points(self, k: int) -> Neighbours:
        """Each distinct point with itself first and its k nearest others, ``(g, k + 1)``.

        Rows are distinct points here; there are fewer where the index has fewer.
        """
        own = np.arange(len(self._distinct))
        return _self_first(self._near(self._distinct, k + 1, self.threads), own)

    def nearest_points(self, queries: Floats, k: int, within: Floats) -> Points:
        """The k nearest distinct points of each query, ``(m, k)``, of those within a distance.

        Parameters
        ----------
        queries : (m, d) float64; best in an order in which the next one is near.
        within : (m,) float64.
        """
        return Points.concatenated([*self._within(queries, k, within)])

    def distances_within(self, queries: Floats, k: int, within: Floats) -> Floats:
        """Distances to the k nearest rows of each query, of those within a distance, ``(m, k)``.

        Closest first; infinite where there are no more. Parameters as of `nearest_points`.

        >>> index = NeighbourIndex(np.array([[0.0], [0.0], [3.0]]))
        >>> index.distances_within(np.array([[1.0]]), 3, np.array([1.5])).tolist()
        [[1.0, 1.0, inf]]
        """
        found, start = np.full((len(queries), k), np.inf), 0
        if not len(self):
            return found
        for points in self._within(queries, k, within):
            part = slice(start, start + len(points))
            none = np.zeros(len(points), dtype=np.int64)
            found[part], _ = spread(points, none, k, asks=False)
            start = part.stop
        return found

    def _within(self, queries: Floats, k: int, within: Floats) -> Iterator[Points]:
        for start in range(0, max(len(queries), 1), BOUNDED):
            some = slice(start, start + BOUNDED)
            # What is at the very distance is within it; the square of a bound must not vanish.
            bound = np.nextafter(within[some].max(initial=LEAST), np.inf)
            yield self.as_points(self._near(queries[some], k, self.threads, bound), k)

    @property
    def distinct(self) -> Floats:
        """(g, d) float64, the distinct points in the order of the index."""
        return self._distinct

    @property
    def starts(self) -> Ints:
        """(g,) int64, the place of the first row at each distinct point."""
        return self._starts

    def as_points(self, near: Neighbours, k: int | None = None) -> Points:
        """Points of this index by their rows; with k, as many, the rest infinitely far."""
        lacking = ((0, 0), (0, 0 if k is None else k - near.rows.shape[1]))
        return Points(
            np.pad(near.distances, lacking, constant_values=np.inf),
            np.pad(self._first[near.rows], lacking, constant_values=np.iinfo(np.int64).max),
            np.pad(self._starts[near.rows], lacking),
            np.pad(self._size[near.rows], lacking, constant_values=1),
        )

    def count_within(self, queries: Floats, radius: Floats) -> Ints:
        """How many rows lie within a radius of each query, ``(m,) int64``."""
        asked, back = np.unique(np.column_stack([queries, radius]), axis=0, return_inverse=True)
        found = self._whole.query_ball_point(
            asked[:, :-1], asked[:, -1], workers=self.threads, return_length=True
        )
        return np.asarray(found, dtype=np.int64)[back.ravel()]

    @cached_property
    def _whole(self) -> KDTree:
        """A tree of all rows: counting takes a leaf of twins whole, a search would visit it."""
        from scipy.spatial import KDTree

        if self._plain:
            return self._tree
        return KDTree(self.placed, leafsize=LEAF, balanced_tree=False)

    def _near(self, queries: Floats, k: int, threads: int, bound: float = np.inf) -> Neighbours:
        """Nearest distinct points, ties in order of their first row.

        Nothing at or beyond `bound` is found: it is then infinitely far.
        """
        k = min(k, len(self._distinct))
        if self._in_blocks:
            distances, groups = blocks.nearest(self._distinct, queries, k, self._first, threads)
            far = distances >= bound
            distances[far], groups[far] = np.inf, 0
            return Neighbours(distances, groups)
        # One more than asked shows a tie across the boundary.
        ask = min(k + 1, len(self._distinct))
        found = self._tree.query(queries, k=ask, workers=threads, distance_upper_bound=bound)
        distances, groups = (np.asarray(part).reshape(len(queries), ask) for part in found)
        if bound < np.inf:
            groups[groups == len(self._distinct)] = 0  # what is not there is told by its distance
        if ask > k:
            self._settle(queries, distances, groups, k, threads)
        distances, groups = distances[:, :k], groups[:, :k]
        same = (distances[:, 1:] == distances[:, :-1]) & (distances[:, 1:] < np.inf)
        ties = same.any(axis=1)
        if ties.any():
            best = np.lexsort([self._first[groups[ties]], distances[ties]], axis=1)
            groups[ties] = np.take_along_axis(groups[ties], best, axis=1)
        return Neighbours(distances, groups)

    def _settle(
        self, queries: Floats, distances: Floats, groups: Ints, k: int, threads: int
    ) -> None:
        """Where the k-th is as near as the next, take all that are, and the first of them."""
        last = distances[:, k - 1]
        tied = np.flatnonzero((last == distances[:, k]) & (last < np.inf))
        ask = min(4 * (k + 1), len(self._distinct))
        while len(tied):
            open_: list[Ints] = []
            for start in range(0, len(tied), max(MOST_TIED // ask, 1)):
                rows = tied[start : start + max(MOST_TIED // ask, 1)]
                found = self._tree.query(queries[rows], k=ask, workers=threads)
                away, held = (np.asarray(part).reshape(len(rows), ask) for part in found)
                done = (away[:, -1] > away[:, k - 1]) | (ask == len(self._distinct))
                best = np.lexsort([self._first[held], away], axis=1)[:, :k]
                at = rows[done]
                distances[at, :k] = np.take_along_axis(away, best, axis=1)[done]
                groups[at, :k] = np.take_along_axis(held, best, axis=1)[done]
                open_.append(rows[~done])
            tied, ask = np.concatenate(open_), min(4 * ask, len(self._distinct))


@dataclass(frozen=True)
class Points:
    """Nearest distinct points of some queries, closest first, then in order of first row.

    Attributes
    ----------
    distances : (m, q) float64; infinite where there are no more points.
    first : (m, q) int64, the first row at each point.
    start, size : (m, q) int64, the places of the rows at each point.
    """

    distances: Floats
    first: Ints
    start: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.distances)

    @classmethod
    def concatenated(cls, parts: Sequence[Points]) -> Points:
        """One list of queries of several."""
        names = ("distances", "first", "start", "size")
        joined: list[Any] = [np.concatenate([getattr(p, name) for p in parts]) for name in names]
        return cls(*joined)

    def take(self, rows: Ints) -> Points:
        """Some of the queries."""
        parts: tuple[Any, ...] = (self.distances, self.first, self.start, self.size)
        return Points(*(part[rows] for part in parts))

    def merge(self, other: Points) -> Points:
        """The nearest of both, as many as there are here."""
        distances = np.hstack([self.distances, other.distances])
        first = np.hstack([self.first, other.first])
        best = np.lexsort([first, distances], axis=1)[:, : self.distances.shape[1]]
        start, size = np.hstack([self.start, other.start]), np.hstack([self.size, other.size])
        parts: tuple[Any, ...] = (distances, first, start, size)
        return Points(*(np.take_along_axis(part, best, axis=1) for part in parts))


def others_at(points: Points, k: int) -> tuple[Floats, Ints]:
    """The k nearest other rows of every row at some points.

    Parameters
    ----------
    points : of m points, each with itself first.

    Returns
    -------
    distances : (rows, k) float64; the rows at a point follow each other.
    places : (rows, k) int64.
    """
    sizes = points.size[:, 0]
    asking = np.repeat(np.arange(len(points)), sizes)
    found = points.take(asking)
    return spread(found, _counted(sizes), k, asks=True)


def spread(points: Points, position: Ints, k: int, *, asks: bool) -> tuple[Floats, Ints]:
    """From neighbouring points to the places of neighbouring rows.

    Parameters
    ----------
    points : closest first; where a row asks, its own point first.
    position : (m,) int64, the place among its twins from which a list is read, so that
        twins do not all lean on the same few rows.
    asks : whether the list's first point is the asker's, who is left out.
    """
    sizes = points.size.copy()
    sizes[:, 0] -= asks
    ends = np.cumsum(sizes, axis=1)
    slots = np.arange(k)
    which = np.zeros((len(sizes), k), dtype=np.int64)
    for i in range(sizes.shape[1] - 1):
        which += slots >= ends[:, i, None]
    offset = slots - np.take_along_axis(ends - sizes, which, axis=1) + position[:, None]
    if asks:
        offset += which == 0
    start, size = (np.take_along_axis(part, which, axis=1) for part in (points.start, points.size))
    return np.take_along_axis(points.distances, which, axis=1), start + offset % size


def own_first(own: Mask, *parts: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Lists with what is one's own at the front; the order of the others stays.

    Parameters
    ----------
    own : (m, q) bool, one of each line.
    parts : (m, q) arrays.

    >>> own_first(np.array([[False, True, False]]), np.array([[4, 5, 6]]))[0].tolist()
    [[5, 4, 6]]
    """
    if own[:, 0].all():
        return parts
    best = np.argsort(~own, axis=1, kind="stable")
    return tuple(np.take_along_axis(part, best, axis=1) for part in parts)


def _self_first(near: Neighbours, own: Ints) -> Neighbours:
    return Neighbours(*own_first(near.rows == own[:, None], near.distances, near.rows))


def _counted(sizes: Ints) -> Ints:
    """0, 1, … within each group.

    >>> _counted(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
