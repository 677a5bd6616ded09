"""What originals ask avatars, and avatars originals, where both are in the same regions.

Pure functions for an engine to call. Each region looks among its own first; points that may
have nearer ones beyond its walls ask the regions within reach. So no answer depends on where
the walls are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sosie.audits.distances import Crowd, beside, closer_within, tied_within, ties
from sosie.cluster.regions import Asked, Region, index_of, reaching
from sosie.cluster.sizes import sized
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.rows import looked_up

__all__ = [
    "Asking",
    "answers",
    "asks",
    "asks_closer",
    "asks_ties",
    "closest",
    "counts",
    "crowd_of",
    "near",
    "nearest",
    "repeated",
    "summed",
]

EQUAL = 1 + 1e-8
"""A little more than the distance to their own: what is tied with it must be seen too."""

TOGETHER = 1 << 13
"""Neighbouring points that are asked in order of how far they look."""


@sized
@dataclass(frozen=True)
class Asking:
    """What one region asks others.

    Attributes
    ----------
    rows : (m,) int64, what the questions are about: distinct points of the region, or rows.
    asked : region -> the questions to it; their `rows` are places in `rows`.
    """

    rows: Ints
    asked: Mapping[int, Asked]


def near(asking: Region, held: Region, k: int) -> Floats:
    """Distances from a region's distinct points to the k nearest of its own, ``(g, k)``.

    Closest first; infinite where there are no more that matter.
    """
    return index_of(held).distances_within(index_of(asking).distinct, k, _matters(asking))


def _matters(asking: Region) -> Floats:
    """(g,): how far to look. Nobody beyond a person's own avatar is closer than it."""
    starts = index_of(asking).starts
    if not asking.values or not len(starts):
        return np.full(len(starts), np.inf)
    return np.maximum.reduceat(_own(asking), starts) * EQUAL


def _own(asking: Region) -> Floats:
    """(rows,): each person's distance to the nearest avatar of their own."""
    return np.asarray(np.min(asking.values, axis=0))


def asks(asking: Region, found: Floats, outlines: Sequence[Floats], me: int) -> Asking:
    """Which points may have nearer ones in which other region."""
    points, k = index_of(asking).distinct, found.shape[1]
    farthest = np.minimum(found[:, -1], _matters(asking))
    return Asking(np.arange(len(points)), reaching(points, farthest, outlines, me, k))


def answers(held: Region, questions: Mapping[int, Asked], k: int) -> dict[int, Floats]:
    """What a region answers: distances to its nearest rows, ``(m, k)`` for each asker."""
    index, found = index_of(held), {}
    for who, asked in questions.items():
        # The search has one bound for all that it is asked together: those who look equally far.
        order = np.lexsort([asked.within, np.arange(len(asked.rows)) // TOGETHER])
        found[who] = np.empty((len(order), k))
        found[who][order] = index.distances_within(asked.points[order], k, asked.within[order])
    return found


def nearest(found: Floats, asking: Asking, answered: Mapping[int, Floats]) -> Floats:
    """Distances to the k nearest in the whole table, ``(g, k)``."""
    found = found.copy()
    for other, more in answered.items():
        rows = asking.asked[other].rows
        both = np.hstack([found[rows], more])
        both.sort(axis=1)
        found[rows] = both[:, : found.shape[1]]
    return found


def counts(held: Region, questions: Mapping[int, Asked]) -> dict[int, Ints]:
    """How many rows of a region lie within each asker's distances."""
    index = index_of(held)
    return {who: index.count_within(asked.points, asked.within) for who, asked in questions.items()}


def summed(asking: Asking, counted: Mapping[int, Ints]) -> Ints:
    """How many rows of all regions do, ``(m,) int64``."""
    total = np.zeros(len(asking.rows), dtype=np.int64)
    for other, some in counted.items():
        total[asking.asked[other].rows] += some
    return total


def asks_ties(asking: Region, found: Floats, outlines: Sequence[Floats], avatars: int) -> Asking:
    """Points around which more avatars may be tied than were looked at."""
    _, full = ties(found, avatars)
    points = index_of(asking).distinct[full]
    return Asking(full, reaching(points, tied_within(found[full]), outlines, -1))


def crowd_of(asking: Region, found: Floats, avatars: int, full: Asking, tied: Ints) -> Crowd:
    """What stands around each original of a region, in the order of the region.

    Parameters
    ----------
    found : (g, limit) float64, see `nearest`.
    avatars : how many there are.
    full, tied : see `asks_ties` and `summed`.
    """
    index = index_of(asking)
    many, _ = ties(found, avatars)
    many[full.rows] = np.maximum(tied, found.shape[1])
    return beside(np.array(asking.values), found[index.point], many[index.point])


def asks_closer(asking: Region, around: Crowd, rows: Ints, outlines: Sequence[Floats]) -> Asking:
    """Those of some people of whom it is not yet known how many avatars are closer than their own.

    Parameters
    ----------
    rows : numbers of people in the whole table. Those of `Asking` are such numbers too.
    """
    mine = np.flatnonzero(np.isin(asking.order, rows) & (around.closer >= around.limit))
    within = closer_within(_own(asking)[mine]) if len(mine) else np.empty(0)
    return Asking(asking.order[mine], reaching(asking.points[mine], within, outlines, -1))


def closest(asking: Region, found: Floats) -> Floats:
    """Distances from each avatar of a region to its two nearest originals, ``(m, 2)``."""
    both = np.full((len(asking), 2), np.inf)  # a single original has no second
    both[:, : found.shape[1]] = found[index_of(asking).point]
    return both


def repeated(people: Region, avatars: Region) -> Mask:
    """Whether each person's whole row is a row of the avatars, ``(rows,) bool``.

    Equal rows are in the same region. They are told by two hashes, 128 bits.
    """
    (wanted, check), (held, other) = people.codes, avatars.codes
    return looked_up(wanted, held, lambda one, two: check[one] == other[two])
