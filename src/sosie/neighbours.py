"""Exact nearest neighbours in the latent space.

A kd-tree is asked in its own order, so that one query finds in cache what the one
before it touched. Equal points are held once, with the rows that share them: a tree
can't split them, and 90 % of identical rows would make every search visit all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sosie.frames import Floats, Ints

if TYPE_CHECKING:
    from scipy.spatial import KDTree

__all__ = ["NeighbourIndex", "Neighbours"]

CHUNK = 1 << 16
"""Points asked at a time: bounds the memory of a search."""


@dataclass(frozen=True)
class Neighbours:
    """Nearest rows, closest first.

    Attributes
    ----------
    distances : (m, k) float64, in units of the latent space.
    rows : (m, k) int64.
    """

    distances: Floats
    rows: Ints


class NeighbourIndex:
    """Exact Euclidean search among the rows of ``(n, d)`` points.

    Examples
    --------
    >>> index = NeighbourIndex(np.array([[0.0], [1.0], [3.0]]))
    >>> index.others(1).rows.ravel().tolist()
    [1, 0, 1]
    """

    def __init__(self, points: Floats, threads: int = -1) -> None:
        from scipy.spatial import KDTree

        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.threads = threads
        self._first, self._group, self._size = _twins(self.points)
        self._members = np.argsort(self._group, kind="stable")
        self._starts = np.cumsum(self._size) - self._size
        self._position = np.empty(len(self.points), dtype=np.int64)
        self._position[self._members] = _counted(self._size)
        # Splitting at the middle of the range, not at the median, builds faster and asks as fast.
        self._tree = KDTree(self.points[self._first], leafsize=16, balanced_tree=False)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def groups(self) -> Ints:
        """(n,) int64: which distinct point each row is at, numbered by first row."""
        return self._group

    @property
    def order(self) -> Ints:
        """(n,) int64: rows so that neighbours in space are neighbours in memory."""
        groups = self._tree.indices
        if len(groups) == len(self.points):
            return np.asarray(self._first[groups])
        rank = np.empty(len(groups), dtype=np.int64)
        rank[groups] = np.arange(len(groups))
        return np.argsort(rank[self._group], kind="stable")

    def others(self, k: int) -> Neighbours:
        """The k nearest other rows of each row, ``(n, k)``; k is at most n - 1.

        Among equal points the next rows, in row order and around the end, come first;
        points at the same distance come in order of their first row.
        """
        distances = np.empty((len(self), k))
        rows = np.empty((len(self), k), dtype=np.int64)
        groups = np.asarray(self._tree.indices)
        for start in range(0, len(groups), CHUNK):
            own = groups[start : start + CHUNK]
            near = _self_first(self._near(self._tree.data[own], k + 1), own)
            if len(self._first) == len(self):
                distances[own], rows[own] = near.distances[:, 1:], near.rows[:, 1:]
                continue
            asking = np.repeat(np.arange(len(own)), self._size[own])
            askers = self._members[
                np.repeat(self._starts[own], self._size[own]) + _counted(self._size[own])
            ]
            for part in range(0, len(askers), CHUNK):
                some = slice(part, part + CHUNK)
                lists = Neighbours(near.distances[asking[some]], near.rows[asking[some]])
                found = self._spread(lists, self._position[askers[some]], k, asks=True)
                distances[askers[some]], rows[askers[some]] = found.distances, found.rows
        return Neighbours(distances, rows)

    def nearest(self, queries: Floats, k: int) -> Neighbours:
        """The k nearest rows of each query point, ``(m, k)``."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        near = self._near(queries, k)
        if len(self._first) == len(self.points):
            return Neighbours(near.distances, self._first[near.rows])
        return self._spread(near, np.zeros(len(queries), dtype=np.int64), k, asks=False)

    def count_within(self, queries: Floats, radius: Floats) -> Ints:
        """How many rows lie within a radius of each query, ``(m,) int64``."""
        first, group, _ = _twins(np.column_stack([queries, radius]))
        found = self._whole.query_ball_point(
            queries[first], radius[first], workers=self.threads, return_length=True
        )
        return np.asarray(found, dtype=np.int64)[group]

    @cached_property
    def _whole(self) -> KDTree:
        """A tree of all rows: counting takes a leaf of twins whole, a search would visit it."""
        from scipy.spatial import KDTree

        if len(self._first) == len(self.points):
            return self._tree
        return KDTree(self.points, leafsize=16, balanced_tree=False)

    def _near(self, queries: Floats, k: int) -> Neighbours:
        """Nearest distinct points (as groups), ties in order of the group's first row."""
        k = min(k, len(self._first))
        # One more than asked shows a tie across the boundary.
        ask = min(k + 1, len(self._first))
        found = self._tree.query(queries, k=ask, workers=self.threads)
        distances, groups = (np.asarray(part).reshape(len(queries), ask) for part in found)
        if ask > k:
            for i in np.flatnonzero(distances[:, k - 1] == distances[:, k]):
                reach = float(distances[i, k - 1]) or 1.0
                inside = self._tree.query_ball_point(queries[i], reach * (1 + 1e-12))
                away = np.sqrt(np.square(self._tree.data[inside] - queries[i]).sum(axis=1))
                away = (away / reach).round(12) * reach  # equal but for roundoff is equal
                best = np.lexsort([inside, away])[:k]
                groups[i, :k] = np.asarray(inside)[best]
                distances[i, :k] = away[best]
        distances, groups = distances[:, :k], groups[:, :k]
        ties = (np.diff(distances, axis=1) == 0).any(axis=1)
        if ties.any():
            best = np.lexsort([groups[ties], distances[ties]], axis=1)
            groups[ties] = np.take_along_axis(groups[ties], best, axis=1)
        return Neighbours(distances, groups)

    def _spread(self, lists: Neighbours, position: Ints, k: int, *, asks: bool) -> Neighbours:
        """From neighbouring points to neighbouring rows.

        Parameters
        ----------
        lists : points, closest first; where a row of the index asks, its own point first.
        position : (m,) int64, the place among its twins from which a list is read, so that
            twins do not all lean on the same few rows.
        asks : whether the list's first point is the asker's, who is left out.
        """
        sizes = self._size[lists.rows]
        sizes[:, 0] -= asks
        ends = np.cumsum(sizes, axis=1)
        slots = np.arange(k)
        which = np.zeros((len(sizes), k), dtype=np.int64)
        for i in range(sizes.shape[1] - 1):
            which += slots >= ends[:, i, None]
        offset = slots - np.take_along_axis(ends - sizes, which, axis=1) + position[:, None]
        if asks:
            offset += which == 0
        points = np.take_along_axis(lists.rows, which, axis=1)
        rows = self._members[self._starts[points] + offset % self._size[points]]
        return Neighbours(np.take_along_axis(lists.distances, which, axis=1), rows)


def _self_first(near: Neighbours, own: Ints) -> Neighbours:
    """Move each point to the front of its own list; the order of the others stays."""
    best = np.argsort(near.rows != own[:, None], axis=1, kind="stable")
    return Neighbours(
        np.take_along_axis(near.distances, best, axis=1),
        np.take_along_axis(near.rows, best, axis=1),
    )


def _counted(sizes: Ints) -> Ints:
    """0, 1, … within each group.

    >>> _counted(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _twins(points: Floats) -> tuple[Ints, Ints, Ints]:
    """Distinct points in order of first row: their first row, each row's group, group sizes."""
    form = np.zeros(
        len(points)
    )  # equal for equal points: summed row by row, unlike a matrix product
    for i, factor in enumerate(np.linspace(1, 2, points.shape[1])):
        form += points[:, i] * factor
    ordered = np.sort(form)
    if not (ordered[1:] == ordered[:-1]).any():
        rows = np.arange(len(points))
        return rows, rows, np.ones(len(points), dtype=np.int64)
    order = np.lexsort((*points.T[::-1], form))
    new = np.concatenate([[True], (np.diff(points[order], axis=0) != 0).any(axis=1)])
    label = np.cumsum(new) - 1
    first = np.minimum.reduceat(order, np.flatnonzero(new))
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = np.empty(len(points), dtype=np.int64)
    group[order] = rank[label]
    return np.sort(first), group, np.bincount(group)
