"""Groups of people who are near each other, by halving.

The rows are put in an order of their own (a keyed hash of what they hold), their places in the
latent space are turned by a secret rotation and written as whole numbers, and the table is
halved: each node at its median, along the axis on which it varies most, for as long as both
halves hold k rows. The tree does not depend on k, so the groups of a larger k are unions of
those of a smaller one; whole numbers can be added in any order, so that it depends neither on
the order of the rows nor on how they are cut into parts.

A table of more than `LARGE` rows is first cut along thresholds taken from a sample of it
(`Sample`, `top_cuts`, `Cuts`), and each part is then halved by itself: so one process, one
with its rows on disk and many machines come to the same groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import fsum, sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints
from sosie.compute.storage import FORGET, MEMORY, Storage
from sosie.errors import InputError, Reason
from sosie.latent.content import mixed

__all__ = [
    "LARGE",
    "REACH",
    "Axes",
    "Cuts",
    "Groups",
    "Parts",
    "Sample",
    "cut",
    "groups",
    "sample_size",
    "tags",
    "top_cuts",
    "tree_order",
]

Shorts = NDArray[np.int16]
Tags = NDArray[np.uint64]

REACH = 16.0
"""Half-width of the box of all points, in standard deviations of the first axis: 2,048 steps each.

Points beyond it are put on its border, where the order of rows decides between them.
"""

LARGE = 1 << 21
"""Rows (of a stratum) above which the top cuts come from a sample: below, its 28 bytes a row fit
one worker, and the exact tree takes it some 4 s."""

PART = 1 << 18
"""Rows that a part has at least, as the sample foresees it: it is halved within a second."""

PER_PART = 2048
"""Different rows sampled for each part: its size comes within a few percent of what is foreseen."""

FEWEST = 512
"""Different rows sampled on either side of a cut, at least. They are rows of the part, so no part
holds fewer, whatever the table; no k is looked at, so cuts are the same for all."""

SMALLEST_K = 2
"""A group of one person would be that person."""

CACHED = 1 << 15
"""Rows that are halved together, level by level, in the processor's cache."""

SUMMED = 1 << 16
"""Rows whose squares are added at once: below 2^46, exact in float64."""

CHUNK = 1 << 16
"""Rows that are rotated or cut at a time: bounds the memory."""

POSITION_BITS = 16
"""Of a key of 32 bits: the coordinate takes the others. Larger nodes have keys of 64 bits."""

FINE = 1 << 22
"""Steps of a coordinate, and of an entry of the rotation, before they are multiplied: sums of
products stay below 2^53 up to 2^18 axes, so that they are exact in any order."""

COARSE = 1 << 15
"""Steps of a rotated coordinate to either side: 16 bits."""

ROTATION, TAGGING = 0, 1
"""Streams of the key."""


@dataclass(frozen=True)
class Groups:
    """Rows in tree order, cut into groups; every node of the tree is a range of places.

    Attributes
    ----------
    order : (n,) int64, the row at each place.
    bounds : (G + 1,) int64, the first place of each group, then n.
    inner : (I, 2) int64, first and past-last place of each node above the groups; the first is
        the whole table.
    parents : (G + I,) int64, for each group, then for each inner node, the number of the inner
        node above it; the whole table is above itself.
    """

    order: Ints
    bounds: Ints
    inner: Ints = field(repr=False)
    parents: Ints = field(repr=False)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Ints:
        """(G,) int64, the rows of each group."""
        return np.diff(self.bounds)

    def above(self, size: int) -> Ints:
        """The smallest node with at least so many rows above each group, or the group itself.

        Returns
        -------
        (G, 2) int64
            First and past-last place; of the whole table where that has fewer rows.

        Examples
        --------
        >>> line = np.arange(16.0)[:, None]
        >>> made = groups(line, np.arange(16, dtype=np.uint64), key=1, k=4, reach=16)
        >>> made.above(8).tolist()
        [[0, 8], [0, 8], [8, 16], [8, 16]]
        """
        nodes = np.stack([self.bounds[:-1], self.bounds[1:]], axis=1)
        above, least = self.parents[: len(self)].copy(), min(size, int(self.bounds[-1]))
        while len(small := np.flatnonzero(nodes[:, 1] - nodes[:, 0] < least)):
            nodes[small] = self.inner[above[small]]
            above[small] = self.parents[len(self) + above[small]]
        return nodes


@dataclass(frozen=True)
class Axes:
    """Secret axes, and the whole numbers that are the coordinates along them.

    Attributes
    ----------
    rotation : (d, d) float64, whole numbers: an orthogonal matrix times 2^22.
    reach : half-width of the box of all points, in units of the latent space.
    """

    rotation: Floats = field(repr=False)
    reach: float

    @classmethod
    def drawn(cls, key: int, dimensions: int, reach: float) -> Self:
        """Axes drawn from the key: every orthogonal matrix is as likely (Haar measure).

        Gram-Schmidt on Gaussian columns (Mezzadri, Notices of the AMS 54(5), 2007), with sums
        that are correctly rounded: the same bits on every machine.

        Parameters
        ----------
        key : the secret of the table.
        dimensions : d, at least 1.
        reach : the same for all parts of a table: `REACH` times the standard deviation of the
            first axis of the latent space, say.
        """
        drawn = _generator(key, ROTATION).standard_normal((dimensions, dimensions))
        axes: list[Floats] = []
        for column in drawn:
            for axis in axes:
                column = column - fsum(column * axis) * axis  # noqa: PLW2901 (Gram-Schmidt's own)
            axes.append(column / sqrt(fsum(column * column)))
        return cls(np.rint(np.stack(axes, axis=1) * FINE), reach)

    def whole(self, points: Floats) -> Shorts:
        """Coordinates along these axes, ``(m, d) int16``; depends on each point alone.

        Parameters
        ----------
        points : (m, d) float64, in the latent space, not rescaled.
        """
        scale = FINE / self.reach if self.reach > 0 else 0.0
        found = np.empty(points.shape, dtype=np.int16)
        for rows in _chunks(len(points)):
            fine = np.rint(np.clip(np.asarray(points[rows]) * scale, -FINE, FINE))
            turned = np.rint((fine @ self.rotation) * (COARSE / FINE**2))
            found[rows] = np.clip(turned, -COARSE, COARSE - 1)
        return found


def tags(hashes: Tags, key: int) -> Tags:
    """A keyed hash of each row, ``(n,) uint64``, from one of its content that anyone can compute.

    A keyed permutation of the 64-bit numbers: it adds no collision. Two different rows of
    10,000,000 share a hash in 3 of a million such tables.

    >>> one, other = (tags(np.arange(3, dtype=np.uint64), key) for key in (1, 2))
    >>> bool((one == other).any())
    False
    """
    words = _generator(key, TAGGING).integers(2**64, size=2, dtype=np.uint64)
    return mixed(mixed(hashes ^ words[0]) ^ words[1])


def groups(
    points: Floats,
    hashes: Tags,
    key: int,
    k: int,
    *,
    reach: float,
    strata: Ints | None = None,
    name: Callable[[int], str] = str,
    storage: Storage = MEMORY,
) -> Groups:
    """The groups of a table, k to 2k - 1 rows each.

    Parameters
    ----------
    points : (n, d) float64, coordinates in the latent space, not rescaled.
    hashes : (n,) uint64, of what each row holds: equal for equal rows (see `content_hashes`).
    key : the secret of the table.
    k : at least 2.
    reach : see `Axes.drawn`.
    strata, name, storage : see `cut`.

    Raises
    ------
    InputError
        k is under 2, or the table or a stratum has fewer than k rows.

    Examples
    --------
    Two pairs of neighbours on a line:

    >>> points = np.array([[0.0], [9.0], [1.0], [8.0]])
    >>> made = groups(points, np.arange(4, dtype=np.uint64), key=1, k=2, reach=10)
    >>> sorted(sorted(made.order[place : place + 2].tolist()) for place in made.bounds[:-1])
    [[0, 2], [1, 3]]
    """
    axes = Axes.drawn(key, points.shape[1], reach)
    whole = storage.empty(points.shape, np.int16)
    for large in _chunks(len(points), FORGET):
        for rows in _chunks(large.stop - large.start):
            here = slice(large.start + rows.start, large.start + rows.stop)
            whole[here] = axes.whole(points[here])
        storage.forget()
    return cut(whole, tags(hashes, key), k, strata=strata, name=name, storage=storage)


def cut(
    whole: Shorts,
    tags: Tags,
    k: int,
    *,
    strata: Ints | None = None,
    name: Callable[[int], str] = str,
    storage: Storage = MEMORY,
) -> Groups:
    """The groups of rows whose coordinates are whole numbers along secret axes.

    Parameters
    ----------
    whole : (n, d) int16, see `Axes.whole`.
    tags : (n,) uint64, see `tags`.
    k : at least 2.
    strata : (n,) integers from 0, the joint level of the columns that are kept. No group holds
        rows of two; groups follow each other in the order of these numbers, which must be the
        same whatever the order of the rows.
    name : what to call a stratum in a message, by its number.
    storage : where arrays as long as the table live.

    Raises
    ------
    InputError
        See `groups`.
    """
    _check(len(whole), k, strata, name)
    part, parts = _parted(whole, tags, strata)
    order = storage.keep(_canonical(tags, part))
    sizes = np.bincount(part, minlength=len(parts))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    for some in _windows(starts[:-1]):
        rows = order[starts[some.start] : starts[some.stop]]
        rows[...] = rows[
            _halved(whole.take(rows, axis=0), starts[some] - starts[some.start], sizes[some], k)
        ]
    return parts.groups(order, sizes, k)


def tree_order(whole: Shorts, tags: Tags, k: int) -> Ints:
    """Rows of one part of a table in tree order, ``(m,) int64``; parameters as of `cut`.

    That of `cut` where rows of the part come as they stand in the table.
    """
    order = np.argsort(tags, kind="stable")
    start = np.zeros(1, dtype=np.int64)
    return np.asarray(order[_halved(whole.take(order, axis=0), start, start + len(order), k)])


def _check(rows: int, k: int, strata: Ints | None, name: Callable[[int], str]) -> None:
    """Raise InputError where no groups of k can be made."""
    if k < SMALLEST_K:
        raise InputError(f"k must be at least {SMALLEST_K}: a group of one is a person; got {k}")
    if rows < k:
        raise InputError(
            f"k is {k}, and in a table of {rows} rows the largest k is {rows}",
            reason=Reason("k_too_large", {"k": k, "people": rows, "most": rows}),
        )
    if strata is None:
        return
    sizes = np.bincount(strata)
    small = np.flatnonzero((sizes > 0) & (sizes < k))
    if len(small):
        number = int(small[np.argmin(sizes[small])])
        people = "1 person has" if sizes[number] == 1 else f"{sizes[number]} people have"
        more = f" (and {len(small) - 1:,} more such strata)" if len(small) > 1 else ""
        raise InputError(
            f"groups are cut inside the kept columns' levels, and only {people}"
            f" {name(number)}{more}, fewer than k = {k}: merge rare levels (--coarsen, --rare-as),"
            " keep fewer columns, take a smaller k, or keep the column outside the groups"
            " (--keep-anyway), where nothing is guaranteed"
        )


@dataclass(frozen=True)
class Sample:
    """The different rows with the lowest tags, and how many rows hold what each holds.

    Samples of the parts of a table are merged into that of the table, whatever the parts.

    Attributes
    ----------
    points : (m, d) int16.
    tags : (m,) uint64, rising.
    counts : (m,) int64.
    """

    points: Shorts = field(repr=False)
    tags: Tags = field(repr=False)
    counts: Ints = field(repr=False)

    @classmethod
    def of(cls, whole: Shorts, tags: Tags, size: int) -> Self:
        """The sample of some rows; see `cut` for the arguments.

        Parameters
        ----------
        size : different rows at most, see `sample_size`.

        Examples
        --------
        >>> made = Sample.of(np.array([[3], [4], [3]]), np.array([9, 5, 9], np.uint64), 2)
        >>> made.tags.tolist(), made.counts.tolist()
        ([5, 9], [1, 2])
        """
        different, first, counts = np.unique(tags, return_index=True, return_counts=True)
        return cls(whole[first[:size]], different[:size], counts[:size])

    @classmethod
    def merged(cls, samples: Iterable[Self], size: int) -> Self:
        """The sample of all rows from those of parts, each of at most `size`.

        What is among the lowest of the table is among the lowest of each part that holds it:
        no count is lost.
        """
        points, found, counts = (
            np.concatenate(every)
            for every in zip(*((one.points, one.tags, one.counts) for one in samples), strict=True)
        )
        different, first, same = np.unique(found, return_index=True, return_inverse=True)
        total = np.zeros(len(different), dtype=np.int64)
        np.add.at(total, same, counts)
        return cls(points[first[:size]], different[:size], total[:size])


def sample_size(rows: int) -> int:
    """Different rows that the top cuts of so many rows are taken from.

    >>> sample_size(10_000_000)
    79872
    """
    return PER_PART * -(-rows // PART)


@dataclass(frozen=True)
class Cuts:
    """The top of a tree: thresholds that send each row, by what it holds, to one of the parts.

    Attributes
    ----------
    axis, value, tie : (C,) int64, int16, uint64: a row goes to the low side of a cut where its
        coordinate is below the value, or equal to it and the hash of its tag lower. (The tag
        itself would not do: the rows sampled are those whose tags are lowest.)
    low, high : (C,) int64, where either side leads: to another cut, or, as ``-1 - part``, to a
        part. The first cut is the whole table.
    spans : (C, 2) int64, first and past-last part under each cut.
    """

    axis: Ints
    value: Shorts
    tie: Tags
    low: Ints
    high: Ints
    spans: Ints

    def __len__(self) -> int:
        return len(self.axis)

    @property
    def parts(self) -> int:
        """How many there are, one more than cuts."""
        return len(self) + 1

    def part_of(self, whole: Shorts, tags: Tags) -> Ints:
        """The part of each row, ``(m,) int64``; depends on each row alone.

        Parameters
        ----------
        whole : (m, d) int16.
        tags : (m,) uint64.
        """
        node = np.full(len(whole), 0 if len(self) else -1)
        while len(under := np.flatnonzero(node >= 0)):
            at = node[under]
            coordinate, value = whole[under, self.axis[at]], self.value[at]
            below = coordinate < value
            equal = np.flatnonzero(coordinate == value)
            below[equal] = mixed(tags[under[equal]]) < self.tie[at[equal]]
            node[under] = np.where(below, self.low[at], self.high[at])
        return -1 - node


def top_cuts(sample: Sample, rows: int) -> Cuts:
    """Cuts at medians of a sample, for as long as both sides are foreseen to hold `PART` rows.

    Parameters
    ----------
    sample : of all rows, see `Sample` and `sample_size`.
    rows : of the table, or of the stratum.

    Examples
    --------
    >>> line = np.arange(4096, dtype=np.int16)[:, None]
    >>> sample = Sample.of(line, np.arange(4096, dtype=np.uint64), 4096)
    >>> part = top_cuts(sample, rows=600_000).part_of(line, sample.tags)
    >>> part[2047:2049].tolist()
    [0, 1]
    """
    found: list[list[int]] = []
    ties = mixed(sample.tags)
    parts, share = 0, rows / max(int(sample.counts.sum()), 1)

    def under(some: Ints) -> int:
        nonlocal parts
        split = _median(sample, ties, some)
        if split is None or share * int(sample.counts[some].sum()) < 2 * PART:
            parts += 1
            return -parts
        axis, some, place = split
        high = some[place]
        made = [axis, int(sample.points[high, axis]), int(ties[high]), 0, 0, parts, 0]
        number = len(found)
        found.append(made)
        made[3], made[4] = under(some[:place]), under(some[place:])
        made[6] = parts
        return number

    under(np.arange(len(sample.tags)))
    columns = list(zip(*found, strict=True)) or [()] * 7
    axis, low, high, first, last = (np.array(columns[i], dtype=np.int64) for i in (0, 3, 4, 5, 6))
    value, tie = np.array(columns[1], dtype=np.int16), np.array(columns[2], dtype=np.uint64)
    return Cuts(axis, value, tie, low, high, np.stack([first, last], axis=1))


def _median(sample: Sample, ties: Tags, some: Ints) -> tuple[int, Ints, int] | None:
    """Axis of greatest variance, rows along it, and where the upper half begins."""
    if len(some) < 2 * FEWEST:
        return None
    points, counts = sample.points[some].astype(np.int64), sample.counts[some]
    weighted = points * counts[:, None]
    axis = int(_widest(weighted.sum(axis=0), (weighted * points).sum(axis=0), counts.sum()))
    along = np.lexsort((ties[some], points[:, axis]))
    total = np.cumsum(counts[along])
    place = int(np.searchsorted(total, total[-1] / 2, side="right"))
    return axis, some[along], min(max(place, FEWEST), len(some) - FEWEST)


_NONE = np.zeros(0, dtype=np.int64)

NO_CUTS = Cuts(
    _NONE, _NONE.astype(np.int16), _NONE.astype(np.uint64), _NONE, _NONE, _NONE.reshape(0, 2)
)
"""Of a stratum, or a table, that is one part."""


@dataclass(frozen=True)
class Parts:
    """The nodes above the exact trees: the whole table, its strata, and the cuts in them.

    Attributes
    ----------
    spans : (T, 2) int64, first and past-last part under each node; the first is the whole table.
    parents : (T,) int64, the node above each; the whole table is above itself.
    above : (P,) int64, the node above each part.
    """

    spans: Ints
    parents: Ints
    above: Ints

    @classmethod
    def of(cls, cuts: Iterable[Cuts]) -> Self:
        """From the cuts in each stratum, in order; of a table without strata, in the table."""
        spans, parents, above = [np.zeros((1, 2), dtype=np.int64)], [np.zeros(1, np.int64)], []
        nodes, parts = 1, 0
        for one in cuts:
            up, own = np.zeros(len(one), dtype=np.int64), np.zeros(one.parts, dtype=np.int64)
            for side in (one.low, one.high):
                up[side[side >= 0]] = nodes + np.flatnonzero(side >= 0)
                own[-1 - side[side < 0]] = nodes + np.flatnonzero(side < 0)
            spans.append(one.spans + parts)
            parents.append(up)
            above.append(own)
            nodes, parts = nodes + len(one), parts + one.parts
        spans[0][0, 1] = parts
        return cls(np.concatenate(spans), np.concatenate(parents), np.concatenate(above))

    def __len__(self) -> int:
        return len(self.above)

    def groups(self, order: Ints, sizes: Ints, k: int) -> Groups:
        """The groups of rows that stand in tree order, from how many each part has.

        A cut with fewer than k rows on one side is not made for this k (of any k up to `FEWEST`
        all are): the rows under it are one group. Groups still hold k, and those of a larger k
        are still unions of those of a smaller one.

        Parameters
        ----------
        order : (n,) int64, the row at each place, part after part, each as of `tree_order`.
        sizes : (P,) int64.
        """
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        nodes, split = starts[self.spans], self._split(sizes, _sizes(starts[self.spans]), k)
        number = np.cumsum(split) - 1  # of those that are split, among themselves
        unsplit = np.flatnonzero(~split & split[self.parents])
        halved = split[self.above]
        inner, up = [nodes[split]], [number[self.parents[split]]]
        leaves, over = [nodes[unsplit]], [number[self.parents[unsplit]]]
        level = np.stack([starts[:-1], starts[1:]], axis=1)[halved]
        parents, count = number[self.above[halved]], int(split.sum())
        while len(level):
            large = _sizes(level) >= 2 * k
            leaves.append(level[~large])
            over.append(parents[~large])
            inner.append(level[large])
            up.append(parents[large])
            level = _halves(level[large])
            parents = np.repeat(np.arange(count, count + len(level) // 2), 2)
            count += len(level) // 2
        ranges, overs = np.concatenate(leaves), np.concatenate(over)
        along = np.argsort(ranges[:, 0])
        bounds = np.append(ranges[along, 0], starts[-1])
        return Groups(order, bounds, np.concatenate(inner), np.concatenate([overs[along], *up]))

    def _split(self, sizes: Ints, above: Ints, k: int) -> NDArray[np.bool_]:
        """Which nodes have k rows under each of their children, and so have all above them."""
        least = np.full(len(self.spans), np.iinfo(np.int64).max)
        np.minimum.at(least, self.above, sizes)
        np.minimum.at(least, self.parents[1:], above[1:])
        split = least >= k
        for node in range(1, len(split)):  # a node comes after the one above it
            split[node] &= split[self.parents[node]]
        return split


def _sizes(nodes: Ints) -> Ints:
    """Rows of ranges of places, ``(m,) int64``."""
    return np.asarray(nodes[:, 1] - nodes[:, 0])


def _halves(nodes: Ints) -> Ints:
    """Both halves of each range of places, ``(2m, 2)``; the larger one first."""
    first, last = nodes[:, 0], nodes[:, 1]
    middle = last - (last - first) // 2
    return np.stack([first, middle, middle, last], axis=1).reshape(-1, 2)


def _parted(whole: Shorts, tags: Tags, strata: Ints | None) -> tuple[Ints, Parts]:
    """The part of each row, in its stratum and by cuts in that, and the nodes above the parts."""
    if strata is None and len(whole) <= LARGE:
        return np.zeros(len(whole), dtype=np.int64), Parts.of([NO_CUTS])
    levels, stratum = (
        np.unique(strata, return_inverse=True)
        if strata is not None
        else (np.zeros(1, np.int64), np.zeros(len(whole), np.int64))
    )
    cuts = [NO_CUTS] * len(levels)
    within = np.zeros(len(whole), dtype=np.int64)
    for number in np.flatnonzero(np.bincount(stratum) > LARGE):
        rows = np.flatnonzero(stratum == number)
        size = sample_size(len(rows))
        sample = Sample.of(whole[:0], tags[:0], size)
        for some in _chunks(len(rows), size):
            part = rows[some]
            sample = Sample.merged([sample, Sample.of(whole[part], tags[part], size)], size)
        cuts[number] = top_cuts(sample, len(rows))
        for some in _chunks(len(rows)):
            part = rows[some]
            within[part] = cuts[number].part_of(whole[part], tags[part])
    first = np.cumsum([0, *(one.parts for one in cuts)])
    return first[stratum] + within, Parts.of(cuts)


def _canonical(tags: Tags, part: Ints) -> Ints:
    """Rows by part, then by tag: no trace of the order in which they came, ``(n,) int64``.

    Equal rows have equal tags and may stand either way, one could be the other; they stand as
    they came, so that columns that are kept beside them are the same however rows are cut.
    """
    order = np.argsort(tags, kind="stable")
    if part.any():
        order = order[np.argsort(part[order], kind="stable")]
    return np.asarray(order)


def _windows(starts: Ints) -> Iterator[slice]:
    """Small parts that follow each other together, large ones alone."""
    breaks = np.flatnonzero(np.diff(starts // CACHED)) + 1
    for first, last in pairwise([0, *breaks.tolist(), len(starts)]):
        yield slice(first, last)


def _halved(points: Shorts, starts: Ints, sizes: Ints, k: int) -> Ints:
    """Rows in tree order, ``(m,) int64``: large nodes first, then what fits the cache at a time.

    Parameters
    ----------
    points : (m, d) int16 in canonical order; moved along with the rows.
    starts, sizes : of nodes that follow each other and are halved apart.
    """
    order = np.arange(len(points))
    nodes = np.stack([starts, starts + sizes], axis=1)
    nodes = _descend(points, order, nodes, max(2 * k, CACHED + 1))
    for some in _windows(nodes[:, 0]):
        rows = slice(nodes[some.start, 0], nodes[some.stop - 1, 1])
        _descend(points[rows], order[rows], nodes[some] - rows.start, 2 * k)
    return order


def _descend(points: Shorts, order: Ints, nodes: Ints, least: int) -> Ints:
    """Halve in place every node of at least so many rows; the nodes that remain, by place."""
    done = []
    while len(nodes):
        sizes = _sizes(nodes)
        done.append(nodes[sizes < least])
        nodes, sizes = nodes[sizes >= least], sizes[sizes >= least]
        moved = np.arange(len(points))
        for size in np.unique(sizes):
            _halve(points, moved, nodes[sizes == size, 0], int(size))
        if len(nodes):
            points[...], order[...] = points.take(moved, axis=0), order.take(moved)
        nodes = _halves(nodes)
    remaining = np.concatenate(done)
    return np.asarray(remaining[np.argsort(remaining[:, 0])])


def _halve(points: Shorts, moved: Ints, starts: Ints, size: int) -> None:
    """Where the rows of some nodes of one size go: the lower half first, each in its order.

    A key is a coordinate and the place in the node: rows come in canonical order, which so
    decides between equal coordinates, and exactly half of the keys are below the median.
    """
    places = (starts[:, None] + np.arange(size)).ravel()
    taken = points.take(places, axis=0).reshape(len(starts), size, -1)
    axis = _widest(*_moments(taken), size)
    along = np.take_along_axis(taken, axis[:, None, None], axis=2)[:, :, 0]
    keys = _keys(along.astype(np.int32) + COARSE)
    half = size - size // 2
    low = keys < np.partition(keys, half, axis=1)[:, half, None]
    new = np.empty((len(starts), size), dtype=np.int64)
    new[:, :half] = places[np.flatnonzero(low)].reshape(-1, half)
    new[:, half:] = places[np.flatnonzero(~low)].reshape(-1, size - half)
    moved[places] = new.ravel()


def _keys(along: NDArray[np.int32]) -> NDArray[np.unsignedinteger]:
    """A coordinate, from 0, and the place in the node behind it, ``(m, s)``: no two are equal."""
    size = along.shape[1]
    if size <= 1 << POSITION_BITS:
        return along.astype(np.uint32) << np.uint32(16) | np.arange(size, dtype=np.uint32)
    return along.astype(np.uint64) << np.uint64(32) | np.arange(size, dtype=np.uint64)


def _moments(taken: Shorts) -> tuple[Ints, Ints]:
    """Sums of coordinates and of their squares in each node, ``(m, d) int64``, exact.

    Parameters
    ----------
    taken : (m, s, d) int16.
    """
    sums = np.zeros((len(taken), taken.shape[2]), dtype=np.int64)
    squares = np.zeros_like(sums)
    for some in _chunks(taken.shape[1], max(SUMMED // len(taken), 1)):
        plain = taken[:, some].astype(np.float64)
        sums += np.einsum("nsd->nd", plain).astype(np.int64)
        squares += np.einsum("nsd,nsd->nd", plain, plain).astype(np.int64)
    return sums, squares


def _widest(sums: Ints, squares: Ints, count: int | np.int64) -> Ints:
    """The axis of greatest variance, the first of equal ones: the same sums, the same axis."""
    plain = sums.astype(np.float64)
    return np.asarray((squares - plain * plain / count).argmax(axis=-1))


def _chunks(rows: int, chunk: int = CHUNK) -> Iterator[slice]:
    for start in range(0, rows, chunk):
        yield slice(start, min(start + chunk, rows))


def _generator(key: int, stream: int) -> np.random.Generator:
    """Of the table, not of a release: its streams are apart from those of any seed."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key, spawn_key=(stream,))))
