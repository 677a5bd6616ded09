"""Exact nearest neighbours by looking at all points, a block of them at a time.

In many components the ball around a query meets most boxes of a kd-tree, which then reads
nearly all points, one by one, where a matrix product reads them together. `share_read`
says how far that goes for some points; it depends on nothing but these.
"""

from __future__ import annotations

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.compute.threads import each_part, one_blas_thread

__all__ = ["nearest", "pay", "share_read"]

FEWEST_AXES = 8
"""In fewer components a tree always reads little."""

FEWEST_POINTS = 20_000

PAYS = 0.15
"""Share of the points from which blocks cost less than a tree, see docs/performance.md."""

NEAREST = 32
"""How many neighbours the estimate takes for granted."""

LEAF = 24
SAMPLED = 16
"""Points whose surroundings are looked at to foresee what a tree would read."""

AMONG = 1 << 16
"""Points, at least, among which their neighbours are looked for."""

QUERIES, POINTS = 128, 1 << 14

SLACK = 1e-12
"""Rounding error of a squared distance by products, as a share of the squared lengths."""


def pay(placed: Floats) -> bool:
    """Whether blocks cost less than a kd-tree: a fact about the points, not about the machine.

    Parameters
    ----------
    placed : (n, d) float64, along a curve through space.
    """
    if placed.shape[1] < FEWEST_AXES or len(placed) < FEWEST_POINTS:
        return False
    return share_read(placed) > PAYS


def share_read(placed: Floats) -> float:
    """The share of the points that a tree would read for a query, estimated from some of them.

    Points that follow each other make a leaf; a leaf is read where its box meets the ball
    that holds the nearest.

    Parameters
    ----------
    placed : see `pay`.

    Examples
    --------
    >>> line = np.linspace(0, 1, 24_000)[:, None]
    >>> round(share_read(line), 4)
    0.0023
    """
    starts = np.arange(0, len(placed), LEAF)
    low, high = np.minimum.reduceat(placed, starts), np.maximum.reduceat(placed, starts)
    step = max(len(placed) // AMONG, 1)
    some, rank = placed[::step], min(max(NEAREST // step, 1), len(placed) - 1)
    shares = []
    for row in np.linspace(0, len(placed) - 1, SAMPLED).astype(np.int64):
        query = placed[row]
        reach = np.partition(np.square(some - query).sum(axis=1), rank)[rank]
        gap = np.maximum(np.maximum(low - query, query - high), 0.0)
        shares.append((np.square(gap).sum(axis=1) <= reach).mean())
    return float(np.mean(shares))


def nearest(
    points: Floats, queries: Floats, k: int, ties: Ints, threads: int
) -> tuple[Floats, Ints]:
    """The k nearest points of each query.

    Parameters
    ----------
    points : (n, d) float64; any order, no point twice.
    queries : (m, d) float64.
    k : at most n.
    ties : (n,) int64, what decides between points at the same distance: the lower comes first.
    threads : -1 for all. No result depends on it.

    Returns
    -------
    distances : (m, k) float64, closest first, to the last bit those of SciPy's kd-tree.
    rows : (m, k) int64.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> nearest(points, np.array([[2.0]]), 2, np.array([1, 0, 2]), 1)[1].tolist()
    [[1, 2]]
    """
    squares = np.square(points).sum(axis=1)
    found = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.int64)

    def ask(part: slice) -> None:
        some = queries[part]
        rows, who = _close(points, squares, some, k)
        away = _distances(points, rows, some, who)
        order = np.lexsort((ties[rows], away, who))
        first = np.searchsorted(who[order], np.arange(len(some)))
        best = order[first[:, None] + np.arange(k)]
        found[0][part], found[1][part] = away[best], rows[best]

    with one_blas_thread():
        each_part(ask, len(queries), QUERIES, threads)
    return found


def _close(points: Floats, squares: Floats, queries: Floats, k: int) -> tuple[Ints, Ints]:
    """Pairs of a point and a query, among them the k nearest of each and all ties with them.

    Squared distances by products are off by rounding, hence the slack. Some of the points,
    looked at first, bound how far the k-th nearest is.
    """
    slack = SLACK * (np.square(queries).sum(axis=1) + squares.max(initial=0.0))
    step = max(len(points) // max(4 * int(np.sqrt(k * len(points))), 2 * k), 1)
    away = squares[::step] - 2 * (queries @ points[::step].T)
    reach = np.partition(away, k - 1, axis=1)[:, k - 1] + slack
    parts = []
    for start in range(0, len(points), POINTS):
        part = slice(start, start + POINTS)
        away = queries @ points[part].T
        away *= -2
        away += squares[part]
        who, row = np.nonzero(away <= reach[:, None])
        parts.append((row + start, who, away[who, row]))
    rows, who, away = (np.concatenate(some) for some in zip(*parts, strict=True))
    order = np.lexsort((away, who))
    first = np.searchsorted(who[order], np.arange(len(queries)))
    close = away <= (away[order[first + k - 1]] + slack)[who]
    return rows[close], who[close]


def _distances(points: Floats, rows: Ints, queries: Floats, who: Ints) -> Floats:
    """Euclidean distances of pairs, added in the order of SciPy: four sums, then the rest."""
    sums = [np.zeros(len(rows)) for _ in range(4)]
    whole = points.shape[1] // 4 * 4
    for axis in range(whole):
        sums[axis % 4] += np.square(points[rows, axis] - queries[who, axis])
    total = sums[0] + sums[1] + sums[2] + sums[3]
    for axis in range(whole, points.shape[1]):
        total += np.square(points[rows, axis] - queries[who, axis])
    return np.sqrt(total)
