"""Two halves of the columns, and the avatars that an attacker finds nearest in each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.audits.comparison import Comparison
from sosie.audits.results import json_name
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Table
from sosie.errors import InputError, Reason
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["Links", "count_pairs", "named", "nearest_group", "split"]

Names = tuple[Hashable, ...]


@dataclass(frozen=True)
class Links:
    """Avatars seen in two groups of columns.

    Avatars come in an order of their own: which of two at the same distance counts as the
    nearest must not depend on the row they share with an original.
    """

    spaces: tuple[FAMD, ...]
    index: tuple[NeighbourIndex, ...]

    @classmethod
    def of(cls, comparison: Comparison, parts: tuple[Names, Names]) -> Links:
        """Of a comparison, which keeps them: two metrics ask for the same."""
        shared = comparison.shared.get(parts)
        if isinstance(shared, Links):
            return shared
        spaces = tuple(comparison.known_spaces.of(part) for part in parts)
        order = np.random.default_rng(0).permutation(len(comparison.avatars))
        points = (space.transform(comparison.avatars)[order] for space in spaces)
        index = tuple(NeighbourIndex(side, comparison.threads) for side in points)
        links = comparison.shared[parts] = cls(spaces, index)
        return links

    def nearest(self, people: Table, side: int) -> Ints:
        """The group of equal avatars nearest to each person on one side, ``(n,)``."""
        index = self.index[side]
        return nearest_group(index, self.spaces[side].transform(people))

    def reunited(self, people: Table) -> Floats:
        """Chance that the same avatar is drawn on both sides, ``(n,)`` in 0..1."""
        one, rest = self.nearest(people, 0), self.nearest(people, 1)
        left, right = self.index[0].groups, self.index[1].groups
        both = count_pairs(left, right, one, rest)
        return np.asarray(both / (np.bincount(left)[one] * np.bincount(right)[rest]))

    def followed(self, people: Table, pool: Floats) -> Floats:
        """Chance that each person leads to their own row, ``(n,)``.

        Parameters
        ----------
        pool : (m, d) float64, second halves to choose from, first those of `people`.
        """
        one, groups = self.nearest(people, 0), self.index[0].groups
        rows = NeighbourIndex(pool, self.index[0].threads)
        reached, own = nearest_group(rows, self.index[1].points), rows.groups[: len(people)]
        right = count_pairs(groups, reached, one, own)
        return np.asarray(right / (np.bincount(groups)[one] * np.bincount(rows.groups)[own]))


def split(table: Table, known: Sequence[Hashable] | None) -> tuple[Names, Names]:
    """Columns that an attacker knows, and the others.

    Raises
    ------
    InputError
        A column is absent, or one side is empty.
    """
    names = table.names
    if known is None:
        return names[::2], names[1::2]  # columns of one kind often stand together
    for name in known:
        if name not in names:
            raise InputError(f"there is no column {name!r} to compare")
    one = tuple(name for name in names if name in known)
    rest = tuple(name for name in names if name not in known)
    if not one or not rest:
        raise InputError(
            "the known columns must be some of the columns, not none and not all",
            reason=Reason("known_all_or_none"),
        )
    return one, rest


def nearest_group(index: NeighbourIndex, queries: Floats) -> Ints:
    """Which group of equal points is nearest to each query, ``(m,) int64``."""
    return np.asarray(index.groups[index.nearest(queries, 1).rows[:, 0]])


def count_pairs(left: Ints, right: Ints, one: Ints, other: Ints) -> Ints:
    """How many j have ``left[j] = one[i]`` and ``right[j] = other[i]``, for each i.

    >>> count_pairs(*(np.array(v) for v in ([0, 0, 1], [2, 2, 3], [0, 1, 0], [2, 3, 3]))).tolist()
    [2, 1, 0]
    """
    width = int(max(right.max(), other.max())) + 1
    pairs, counts = np.unique(left * width + right, return_counts=True)
    wanted = one * width + other
    place = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    return np.where(pairs[place] == wanted, counts[place], 0)


def named(parts: tuple[Names, Names]) -> dict[str, Any]:
    """The two groups of columns, as JSON holds them."""
    return {"groups": [[json_name(name) for name in part] for part in parts]}
