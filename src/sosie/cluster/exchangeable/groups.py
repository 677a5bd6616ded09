"""Coordinates along the secret axes, and the groups that are cut from them.

A table of at most `sosie.latent.tree.LARGE` rows is cut by one worker, from 28 bytes a row; a
larger one by thresholds from a keyed sample, and each part by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.cluster.exchangeable.columns import Known, table_of_part
from sosie.cluster.sizes import sized
from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.choices import MANY, Choice
from sosie.latent import tree
from sosie.latent.content import content_hashes
from sosie.latent.famd import FAMD

__all__ = [
    "ArraySums",
    "Coordinates",
    "SecretAxes",
    "coordinates_of",
    "grouping_of",
    "groups_of",
    "merged_samples",
    "part_of",
    "places_between",
    "sample_of_part",
    "sums_of",
]


@dataclass(frozen=True)
class SecretAxes:
    """The secret axes, and the key that tags rows."""

    axes: tree.Axes = field(repr=False)
    key: int = field(repr=False)


@sized
@dataclass(frozen=True)
class Coordinates:
    """The rows of one part along the secret axes.

    Attributes
    ----------
    whole, tags : see `sosie.latent.tree.cut`.
    sums : of each choice of many levels, see `Choice.sums`.
    """

    whole: NDArray[np.int16]
    tags: NDArray[np.uint64]
    sums: tuple[Floats, ...]


def coordinates_of(
    famd: FAMD,
    axes: SecretAxes,
    known: Sequence[Known],
    rows: Sequence[Any],
    names: Sequence[Hashable],
) -> Coordinates:
    """The rows of one part along the secret axes."""
    points = famd.transform(table_of_part(known, rows, names, placed=True))
    hashes = content_hashes(table_of_part(known, rows, names, placed=False))
    sums = [
        replace(group.law, codes=codes).sums(points)
        for group, (*_, codes) in zip(known, rows, strict=True)
        if isinstance(group.law, Choice) and group.law.size > MANY
    ]
    return Coordinates(axes.axes.whole(points), tree.tags(hashes, axes.key), tuple(sums))


def sums_of(turned: Coordinates) -> ArraySums:
    """Those of one part, to be added."""
    return ArraySums(turned.sums)


@dataclass
class ArraySums:
    """Arrays that are added, one by one: exact, since all are on a grid (see `merged`)."""

    arrays: tuple[Floats, ...]

    def merge(self, other: Self) -> None:
        """Add those of another part."""
        self.arrays = tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True))


@sized
@dataclass(frozen=True)
class _Grouped:
    """The groups of a table, and the place of each of its rows, ``(n,) int64``."""

    groups: tree.Groups
    place: Ints


def grouping_of(turned: Sequence[Coordinates], k: int) -> _Grouped:
    """Cut a table into groups, from all of its coordinates."""
    whole = np.concatenate([one.whole for one in turned])
    made = tree.cut(whole, np.concatenate([one.tags for one in turned]), k)
    place = np.empty(len(whole), dtype=np.int64)
    place[made.order] = np.arange(len(whole))
    return _Grouped(replace(made, order=made.order[:0].copy()), place)


def groups_of(grouped: _Grouped) -> tree.Groups:
    """The groups without their rows."""
    return grouped.groups


def places_between(grouped: _Grouped, start: int, stop: int) -> Ints:
    """Places of the rows of one part."""
    return grouped.place[start:stop].copy()


def sample_of_part(turned: Coordinates, size: int) -> tree.Sample:
    """The keyed sample of one part."""
    return tree.Sample.of(turned.whole, turned.tags, size)


def merged_samples(samples: Sequence[tree.Sample], size: int) -> tree.Sample:
    """The keyed sample of some parts."""
    return tree.Sample.merged(samples, size)


def part_of(cuts: tree.Cuts, turned: Coordinates) -> Ints:
    """To which part of the top cuts each row belongs."""
    return cuts.part_of(turned.whole, turned.tags)
