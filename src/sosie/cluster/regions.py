"""What is done to one part of a table, wherever it runs: pure functions for an engine to call.

Columns are encoded whole, since what a column is (its levels, decimals, ranks) is a fact
about all of it. Rows then move into regions: stretches of the curve through the latent
space. Each region searches itself, and its points whose k-th neighbour may be beyond its
walls ask the regions within reach; so nobody's avatar depends on where the walls are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.cluster.sizes import sized
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.rows import values_of
from sosie.data.table import Column, Numbers, Roles, Table
from sosie.generate.mixture import Mixture, Prepared, Single, Voted, mixed
from sosie.latent.famd import CrossProduct, Layout, Outline
from sosie.latent.neighbours import (
    NeighbourIndex,
    Neighbours,
    Points,
    along_curve,
    others_at,
    own_first,
)

__all__ = [
    "Answer",
    "Asked",
    "Group",
    "Halo",
    "Region",
    "answers",
    "asks",
    "cross_product",
    "halo",
    "index_of",
    "mixture_of_region",
    "no_rows",
    "outline_of",
    "reaching",
    "region_of",
    "search",
    "settled",
    "table_of",
    "wanted",
]

BOXES = 256
"""Boxes around the points of a region, by which others tell whether they are within reach."""

GROUP = 256
"""Points that look together for boxes within reach."""

TIE = 1 + 1e-9
"""A little more than the distance: what is equally near must be seen too."""


@dataclass(frozen=True)
class Group:
    """What is known of a column, or of a group of linked ones, without its rows.

    Attributes
    ----------
    columns : encoded, without rows.
    outlines : for the layout of the FAMD.
    prepared : without rows.
    """

    columns: tuple[Column, ...]
    outlines: tuple[Outline, ...]
    prepared: Prepared

    def drawable(self, name: Hashable) -> Ints | None:
        """Levels of a category that may be drawn; None where all may."""
        voted = self.prepared.voted
        if voted is None:
            return None
        levels = np.flatnonzero(voted.allowed | (np.arange(len(voted.allowed)) == voted.commonest))
        return levels if voted.parts is None else voted.parts[levels, voted.names.index(name)]


@sized
@dataclass(frozen=True)
class Region:
    """The rows of one stretch of the curve, in its order.

    Attributes
    ----------
    points : (m, d) float64; let go when the region has been searched.
    order : (m,) int64, numbers of the rows in the whole table.
    codes : what is voted on, one (m,) array a group that has any.
    values : what is averaged, one (m,) array a number.
    kept : (m,) arrays of columns that stay as they are.
    """

    points: Floats
    order: Ints
    codes: tuple[NDArray[Any], ...]
    values: tuple[NDArray[Any], ...]
    kept: Mapping[Hashable, Any]

    def __len__(self) -> int:
        return len(self.order)


@sized
@dataclass(frozen=True)
class Asked:
    """Points of one region that may have a nearer neighbour in another.

    Attributes
    ----------
    rows : (m,) int64, among the distinct points of their region.
    points : (m, d) float64.
    within : (m,) float64, the distance of the k-th nearest found so far.
    """

    rows: Ints
    points: Floats
    within: Floats


@sized
@dataclass(frozen=True)
class Answer:
    """What a region found nearer than the asker had.

    Attributes
    ----------
    which : (m,) int64, questions that have an answer.
    points : (m, k) nearest points, see `Points`.
    """

    which: Ints
    points: Points


@sized
@dataclass(frozen=True)
class Halo:
    """Rows of another region that are neighbours of rows here.

    Attributes
    ----------
    places : (h,) int64, in the whole table, rising.
    codes, values : as in `Region`.
    """

    places: Ints
    codes: tuple[NDArray[Any], ...]
    values: tuple[NDArray[Any], ...]


def table_of(columns: Sequence[Column], roles: Roles) -> Table:
    """A table of encoded columns that came from no dataframe."""
    no_frame: Any = None
    return Table(no_frame, tuple(columns), roles)


def cross_product(layout: Layout, table: Table) -> CrossProduct:
    """The sums of one part of a table."""
    return CrossProduct(layout).add(table)


def region_of(
    place: NDArray[np.uint64],
    points: Floats,
    order: Ints,
    codes: Sequence[NDArray[Any]],
    values: Sequence[NDArray[Any]],
    kept: Mapping[Hashable, Any],
) -> Region:
    """Rows that came in any order, put along the curve."""
    rank = np.argsort(order)  # ties on the curve are in order of the row's number
    rank = rank[along_curve(points[rank], place[rank])]
    return Region(
        points[rank],
        order[rank],
        tuple(part[rank] for part in codes),
        tuple(part[rank] for part in values),
        {name: part.iloc[rank] for name, part in kept.items()},
    )


def outline_of(region: Region) -> Floats:
    """Boxes that hold the region's points, ``(boxes, 2, d) float64``: lower and upper corners."""
    parts = [region.points[rows] for rows in leaves(region.points, -(-len(region) // BOXES))]
    corners = [(part.min(axis=0), part.max(axis=0)) for part in parts]
    return np.array(corners).reshape(len(corners), 2, region.points.shape[1])


def leaves(points: Floats, most: int) -> list[Ints]:
    """Rows in groups that stand together: halved along the widest axis until none has more.

    A stretch of the curve would do but where it jumps: its box is then as large as the jump.

    >>> [group.tolist() for group in leaves(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)]
    [[0, 2], [3, 1]]
    """
    groups, halving = [], [np.arange(len(points))] if len(points) else []
    while halving:
        rows = halving.pop()
        if len(rows) <= most:
            groups.append(rows)
            continue
        halving += [rows[half] for half in _halves(points[rows])]
    return groups


def _halves(points: Floats) -> tuple[Ints, Ints]:
    """The upper and the lower half along the widest axis."""
    middle = len(points) // 2
    widest = (
        points[:, np.argmax(np.ptp(points, axis=0))] if points.shape[1] else np.zeros(len(points))
    )
    order = np.argpartition(widest, middle)
    return order[middle:], order[:middle]


def index_of(region: Region) -> NeighbourIndex:
    """The index of a region's rows, numbered as in the whole table; cheap until it is asked."""
    return NeighbourIndex.placed_along(region.points, region.order, threads=1)


def search(region: Region, k: int) -> Neighbours:
    """Of each distinct point of a region, itself and its k nearest others there.

    Returns
    -------
    Neighbours, of float64 and int32: numbers of distinct points.
    """
    own = index_of(region).own_points(k)
    return Neighbours(own.distances, own.rows.astype(np.int32))


def asks(
    region: Region, own: Neighbours, outlines: Sequence[Floats], me: int, k: int
) -> dict[int, Asked]:
    """Which distinct points may have a nearer neighbour in which other region, and where."""
    points, distances = index_of(region).distinct, own.distances
    farthest = distances[:, -1] if distances.shape[1] > k else np.full(len(points), np.inf)
    return reaching(points, farthest, outlines, me)


def reaching(
    points: Floats, farthest: Floats, outlines: Sequence[Floats], me: int, rows: int = 0
) -> dict[int, Asked]:
    """Which points have boxes of which region within reach.

    Parameters
    ----------
    points : (m, d) float64.
    farthest : (m,) float64, how far each looks.
    outlines : the boxes of each region.
    me : the region that need not be asked, -1 for none.
    rows : how many rows are looked for, where a point may look infinitely far: a box holds at
        least one, and as many boxes are near enough for all.
    """
    farthest = farthest.copy()
    others = [(i, part) for i, part in enumerate(outlines) if i != me and len(part)]
    if not others or not len(points):
        return {}
    boxes = np.concatenate([part for _, part in others])
    owner = np.repeat([i for i, _ in others], [len(part) for _, part in others])
    within: dict[int, list[Ints]] = {}
    # Points are halved until few stand together; each half looks at what the whole had near it.
    halving = [(np.arange(len(points)), np.arange(len(boxes)), np.inf)]
    while halving:
        group, near, limit = halving.pop()
        some = points[group]
        low, high = some.min(axis=0), some.max(axis=0)
        if len(near) >= rows > 0 and np.isinf(farthest[group]).any():
            limit = min(limit, np.sort(_span(low, high, boxes[near]))[rows - 1])
        reach = np.minimum(farthest[group], limit)
        near = near[_gap(low, high, boxes[near]) <= reach.max() * TIE]
        if len(group) > GROUP and len(near):
            halving += [(group[half], near, limit) for half in _halves(some)]
            continue
        farthest[group] = reach
        inside = _meet(some, reach * TIE, boxes[near])
        whose = owner[near]
        for other in np.unique(whose):
            asking = inside[whose == other].any(axis=0)
            within.setdefault(int(other), []).append(group[asking])
    asked = {other: np.concatenate(parts) for other, parts in within.items()}
    return {
        other: Asked(asking, points[asking], farthest[asking])
        for other, asking in asked.items()
        if len(asking)
    }


def _gap(low: Floats, high: Floats, boxes: Floats) -> Floats:
    """Distance from a box to each of some boxes, ``(b,)``."""
    away = np.maximum(boxes[:, 0] - high, low - boxes[:, 1])
    return np.asarray(np.sqrt(np.square(np.maximum(away, 0.0)).sum(axis=1)))


def _meet(points: Floats, reach: Floats, boxes: Floats) -> Mask:
    """Which boxes are within reach of which points, ``(boxes, points) bool``."""
    away = np.zeros((len(boxes), len(points)))
    for axis, values in enumerate(points.T):
        low, high = boxes[:, 0, axis, None], boxes[:, 1, axis, None]
        gap = np.maximum(low - values, values - high)
        away += np.square(np.maximum(gap, 0.0, out=gap), out=gap)
    return np.asarray(away <= np.square(reach))


def _span(low: Floats, high: Floats, boxes: Floats) -> Floats:
    """The greatest distance between points of a box and of each of some boxes."""
    away = np.maximum(boxes[..., 1, :] - low, high - boxes[..., 0, :])
    return np.asarray(np.sqrt(np.square(away).sum(axis=-1)))


def answers(
    region: Region, first: int, questions: Mapping[int, Asked], k: int
) -> dict[int, Answer]:
    """What a region answers to others: its nearest points, within what they have found already.

    Parameters
    ----------
    first : the number of the region's first place.
    """
    index, found = index_of(region), {}
    for who, asked in questions.items():
        near = index.nearest_points(asked.points, k + 1, asked.within)
        nearer = np.flatnonzero(near.distances[:, 0] <= asked.within)
        near = near.take(nearer)
        found[who] = Answer(nearer, replace(near, start=near.start + first))
    return found


def settled(
    region: Region,
    own: Neighbours,
    first: int,
    asked: Mapping[int, Asked],
    answered: Mapping[int, Answer],
    k: int,
) -> tuple[Single, Ints]:
    """Each row's k nearest others in the whole table: distances and places, ``(m, k)``."""
    index = index_of(region)
    points = index.as_points(own, k + 1)
    points = replace(points, start=points.start + first)
    for other, question in asked.items():
        answer = answered[other]
        rows = question.rows[answer.which]
        best = points.take(rows).merge(answer.points)
        for part, better in (
            (points.distances, best.distances),
            (points.first, best.first),
            (points.start, best.start),
            (points.size, best.size),
        ):
            part[rows] = better
    own_point = points.start == (index.starts + first)[:, None]
    parts: tuple[Any, ...] = (points.distances, points.first, points.start, points.size)
    distances, places = others_at(Points(*own_first(own_point, *parts)), k)
    return distances.astype(np.float32), places


def wanted(places: Ints, walls: Ints, me: int) -> dict[int, Ints]:
    """Places of neighbours in other regions, by region; `walls` are the regions' first places."""
    need = np.unique(places)
    region = np.searchsorted(walls, need, side="right") - 1
    return {int(other): need[region == other] for other in np.unique(region) if other != me}


def halo(region: Region, places: Ints, first: int) -> Halo:
    """Rows of a region that another one needs."""
    rows = places - first
    return Halo(
        places,
        tuple(part[rows] for part in region.codes),
        tuple(part[rows] for part in region.values),
    )


def mixture_of_region(
    region: Region,
    distances: Single,
    places: Ints,
    halos: Sequence[Halo],
    groups: Sequence[Group],
    *,
    first: int,
    total: int,
) -> Mixture:
    """The mixture of one region, its neighbours from other regions behind its own rows."""
    beyond = np.concatenate([np.empty(0, np.int64), *(part.places for part in halos)])
    order = np.argsort(beyond)
    rows = places - first
    outside = (places < first) | (places >= first + len(region))
    rows[outside] = len(region) + order[np.searchsorted(beyond[order], places[outside])]
    codes, values = iter(range(len(region.codes))), iter(range(len(region.values)))
    parts = []
    for group in groups:
        prepared = group.prepared
        if prepared.voted is not None:
            i = next(codes)
            held = np.concatenate([region.codes[i], *(part.codes[i] for part in halos)])
            prepared = replace(prepared, voted=replace(prepared.voted, codes=held))
        if prepared.scored is not None:
            i = next(values)
            held = np.concatenate([region.values[i], *(part.values[i] for part in halos)])
            prepared = replace(prepared, values=held)
        parts.append(prepared)
    return mixed(
        parts,
        region.order,
        np.ascontiguousarray(rows.T, dtype=np.int32),
        np.ascontiguousarray(distances.T),
        first=first,
        total=total,
    )


def without_rows(group: Sequence[Column], made: Prepared) -> Group:
    """What stays of a group when its rows have gone to their parts."""
    voted: Voted | None = made.voted and replace(made.voted, codes=no_rows(made.voted.codes))
    return Group(
        tuple(with_rows(column, no_rows(values_of(column))) for column in group),
        tuple(Outline.of(column) for column in group),
        replace(made, voted=voted, values=None if made.values is None else no_rows(made.values)),
    )


def no_rows(array: NDArray[Any]) -> NDArray[Any]:
    """An array like another one, without rows: a slice of it would hold on to its memory.

    >>> no_rows(np.zeros((2, 3))).base is None
    True
    """
    return np.empty((0, *array.shape[1:]), dtype=array.dtype)


def with_rows(column: Column, rows: NDArray[Any]) -> Column:
    """A column that has some rows again."""
    if isinstance(column, Numbers):
        return replace(column, values=rows)
    return replace(column, codes=rows)
