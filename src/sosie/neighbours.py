"""Exact nearest neighbours in the latent space.

A kd-tree is asked in its own order, so that one query finds in cache what the one
before it touched. Equal points are held once, with the rows that share them: a tree
can't split them, and 90 % of identical rows would make every search visit all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.frames import Floats, Ints

__all__ = ["Neighbours", "NeighbourIndex"]


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
        self._starts = np.concatenate([[0], np.cumsum(self._size)[:-1]])
        self._tree = KDTree(self.points[self._first], leafsize=16)

    def __len__(self) -> int:
        return len(self.points)

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
        """The k nearest other rows of each row, ``(n, k)``.

        Among equal points the next rows, in row order and around the end, come first;
        points at the same distance come in order of their first row.
        """
        order = np.asarray(self._tree.indices)
        near = self._near(self.points[self._first][order], k + 1)
        distances, groups = np.empty_like(near.distances), np.empty_like(near.rows)
        distances[order], groups[order] = near.distances, near.rows
        if len(self._first) == len(self.points):
            return _without_self(distances, self._first[groups], self._first)
        return self._expanded_others(distances, groups, k)

    def nearest(self, queries: Floats, k: int) -> Neighbours:
        """The k nearest rows of each query point, ``(m, k)``."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        near = self._near(queries, k)
        if len(self._first) == len(self.points):
            return Neighbours(near.distances, self._first[near.rows])
        sizes = self._size[near.rows]
        which, offset = _spread(sizes, np.zeros(len(queries), dtype=np.int64), k)
        groups = np.take_along_axis(near.rows, which, axis=1)
        rows = self._members[self._starts[groups] + offset]
        return Neighbours(np.take_along_axis(near.distances, which, axis=1), rows)

    def count_within(self, queries: Floats, radius: Floats) -> Ints:
        """How many rows lie within a radius of each query, ``(m,) int64``."""
        if len(self._first) == len(self.points):
            found = self._tree.query_ball_point(
                queries, radius, workers=self.threads, return_length=True
            )
            return np.asarray(found, dtype=np.int64)
        lists = self._tree.query_ball_point(queries, radius, workers=self.threads)
        return np.array([int(self._size[groups].sum()) for groups in lists], dtype=np.int64)

    def _near(self, queries: Floats, k: int) -> Neighbours:
        """Nearest distinct points (as groups), ties in order of the group's first row."""
        k = min(k, len(self._first))
        # One more than asked shows a tie across the boundary.
        ask = min(k + 1, len(self._first))
        distances, groups = self._tree.query(queries, k=ask, workers=self.threads)
        distances, groups = distances.reshape(len(queries), ask), groups.reshape(len(queries), ask)
        if ask > k:
            for i in np.flatnonzero(distances[:, k - 1] == distances[:, k]):
                inside = self._tree.query_ball_point(queries[i], distances[i, k - 1] * (1 + 1e-12))
                away = np.sqrt(np.square(self._tree.data[inside] - queries[i]).sum(axis=1)).round(
                    12
                )
                best = np.lexsort([inside, away])[:k]
                groups[i, :k] = np.asarray(inside)[best]
                distances[i, :k] = np.minimum(away[best], distances[i, k - 1])
        distances, groups = distances[:, :k], groups[:, :k]
        ties = (np.diff(distances, axis=1) == 0).any(axis=1)
        if ties.any():
            best = np.lexsort([groups[ties], distances[ties]], axis=1)
            groups[ties] = np.take_along_axis(groups[ties], best, axis=1)
        return Neighbours(distances, groups)

    def _expanded_others(self, distances: Floats, groups: NDArray[Any], k: int) -> Neighbours:
        """From neighbouring points to neighbouring rows, for every row."""
        own = np.arange(len(groups))[:, None]
        # The point itself comes first, with all its rows but the one that asks.
        best = np.argsort(groups != own, axis=1, kind="stable")
        distances, groups = (
            np.take_along_axis(distances, best, axis=1),
            np.take_along_axis(groups, best, axis=1),
        )
        position = np.empty(len(self.points), dtype=np.int64)
        position[self._members] = np.arange(len(self.points)) - np.repeat(self._starts, self._size)
        sizes = self._size[groups]
        sizes[:, 0] -= 1
        which, offset = _spread(sizes[self._group], position, k)
        chosen = np.take_along_axis(groups[self._group], which, axis=1)
        full = self._size[chosen]
        # Start after the row's own place, so that twins do not all lean on the same few rows.
        shift = np.where(which == 0, 1, 0) + position[:, None]
        rows = self._members[self._starts[chosen] + (offset + shift) % full]
        return Neighbours(np.take_along_axis(distances[self._group], which, axis=1), rows)


def _without_self(distances: Floats, rows: Ints, own: Ints) -> Neighbours:
    """Drop each point from its own list; what is left keeps its order."""
    result_d, result_r = np.empty_like(distances), np.empty_like(rows)
    result_d[own], result_r[own] = distances, rows
    keep = result_r != np.arange(len(result_r))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(result_r), result_r.shape[1] - 1)
    return Neighbours(result_d[keep].reshape(shape), result_r[keep].reshape(shape))


def _spread(sizes: NDArray[Any], position: Ints, k: int) -> tuple[Ints, Ints]:
    """For each of k slots: which point of the list serves it, and the how-many-th row of it."""
    ends = np.cumsum(sizes, axis=1)
    slots = np.arange(k)
    which = (slots[None, :, None] >= ends[:, None, :]).sum(axis=2)
    before = np.take_along_axis(ends - sizes, which, axis=1)
    return which, slots[None, :] - before


def _twins(points: Floats) -> tuple[Ints, Ints, Ints]:
    """Distinct points in order of first row: their first row, each row's group, group sizes."""
    order = np.lexsort(points.T[::-1]) if _has_equal(points) else None
    if order is None:
        rows = np.arange(len(points))
        return rows, rows, np.ones(len(points), dtype=np.int64)
    new = np.concatenate([[True], (np.diff(points[order], axis=0) != 0).any(axis=1)])
    label = np.cumsum(new) - 1
    first = np.minimum.reduceat(order, np.flatnonzero(new))
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = np.empty(len(points), dtype=np.int64)
    group[order] = rank[label]
    return np.sort(first), group, np.bincount(group)


def _has_equal(points: Floats) -> bool:
    """Whether two rows may be equal: a linear form of equal rows is equal."""
    form = np.zeros(len(points))
    for i, factor in enumerate(np.linspace(1, 2, points.shape[1])):
        form += points[:, i] * factor  # row by row: a matrix product rounds by position
    return len(np.unique(form)) < len(form)
