"""Whose avatar is near whom: what stands between each original and their own avatar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.latent.neighbours import NeighbourIndex

__all__ = [
    "CHUNK",
    "NEAREST",
    "TIE",
    "Crowd",
    "beside",
    "closer_within",
    "crowd",
    "own_distances",
    "tied_within",
    "ties",
]


TIE = 1e-9
"""Distances that differ by less than this share of themselves are tied."""

NEAREST = 32
"""Avatars looked at around each original; farther ones are counted where a metric needs it."""

CHUNK = 65_536
"""Rows looked up at a time: what is found of them takes some tens of megabytes."""


@dataclass(frozen=True)
class Crowd:
    """What stands around each original, between it and its own avatar.

    Attributes
    ----------
    own : (n,) float64, distance to the nearest avatar of its own.
    nearest : (n,) float64, distance to the nearest avatar.
    hit : (n,) float64, chance that one of the nearest avatars, drawn evenly among those
        tied, is its own; in 0..1.
    closer : (n,) int64, avatars strictly closer than its own, counted up to `limit`.
    limit : a count that reaches it stands for "at least".
    """

    own: Floats
    nearest: Floats
    hit: Floats
    closer: Ints
    limit: int


def crowd(originals: NeighbourIndex, avatars: NeighbourIndex) -> Crowd:
    """Look for each original's own avatar among those nearest to it.

    Parameters
    ----------
    originals : of n points.
    avatars : of N n points, aligned, one whole table after the other.
    """
    queries, count = originals.points, len(originals)
    own = np.array(
        [
            own_distances(queries, avatars.points[start : start + count])
            for start in range(0, len(avatars), count)
        ]
    )
    limit = min(NEAREST, len(avatars))
    nearest, hit = np.empty(count), np.empty(count)
    closer = np.empty(count, dtype=np.int64)
    order = originals.order
    for start in range(0, count, CHUNK):
        rows = order[start : start + CHUNK]
        # Equal originals stand together in this order: each distinct one is looked up once.
        first = np.diff(originals.groups[rows], prepend=-1) != 0
        which = np.cumsum(first) - 1
        points = queries[rows[first]]
        distances = avatars.nearest(points, limit).distances
        tied, full = ties(distances, len(avatars))
        if len(full):
            counted = avatars.count_within(points[full], tied_within(distances[full]))
            tied[full] = np.maximum(counted, limit)
        around = beside(own[:, rows], distances[which], tied[which])
        nearest[rows], hit[rows], closer[rows] = around.nearest, around.hit, around.closer
    return Crowd(own.min(axis=0), nearest, hit, closer, limit)


def tied_within(distances: Floats) -> Floats:
    """How far an avatar is tied with the nearest, ``(m,) float64``."""
    return np.asarray(distances[:, 0] * (1 + TIE))


def ties(distances: Floats, avatars: int) -> tuple[Ints, Ints]:
    """How many avatars are tied with the nearest, and where there may be more than were looked at.

    Parameters
    ----------
    distances : (m, limit) float64, closest first.
    avatars : how many there are.
    """
    tied = (distances <= tied_within(distances)[:, None]).sum(axis=1)
    limit = distances.shape[1]
    return tied, np.flatnonzero((tied == limit) & (limit < avatars))


def beside(own: Floats, distances: Floats, tied: Ints) -> Crowd:
    """What stands around some originals.

    Parameters
    ----------
    own : (parts, m) float64, distances to the avatars of their own.
    distances : (m, limit) float64, to the nearest avatars, closest first; infinite where none is
        as near as their own.
    tied : (m,) int64, avatars that are tied with the nearest.
    """
    hit = (own <= tied_within(distances)).sum(axis=0) / tied
    closest = own.min(axis=0)
    closer = (distances < closer_within(closest)[:, None]).sum(axis=1)
    return Crowd(closest, distances[:, 0], np.minimum(hit, 1.0), closer, distances.shape[1])


def closer_within(own: Floats) -> Floats:
    """Within what distance an avatar is strictly closer than their own."""
    return own * (1 - TIE)


def own_distances(originals: Floats, avatars: Floats) -> Floats:
    """From row i to row i, ``(n,) float64``."""
    return np.asarray(np.sqrt(np.square(avatars - originals).sum(axis=1)))
