"""The share of each level in each group: what the mean fitted probability must equal.

The share of levels that may not be drawn goes to the allowed ones of the smallest node above
the group that has enough people, in their proportions; where that has none, of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.ancestry import Ancestors
from sosie.generate.exchangeable.choices import Choice

__all__ = ["Slots", "shares"]


def shares(
    choice: Choice, bounds: Ints, ancestors: Ancestors, totals: Ints | None = None
) -> Floats:
    """Shares of the levels of a choice that has few, ``(size, G) float64``.

    Parameters
    ----------
    totals : (size,) int64, how many people of the table hold each level, where the groups are
        not all of it.
    """
    counts = _counts(choice, bounds)
    own, rare = counts[:, :-1], counts[:, -1]
    target: Floats = own / np.diff(bounds)[:, None]
    if rare.any():
        above = ancestors.sums(own)
        above[~above.any(axis=1)] = own.sum(axis=0) if totals is None else totals
        above /= above.sum(axis=1)[:, None]
        target += (rare / np.diff(bounds))[:, None] * above[ancestors.of_group]
    return np.ascontiguousarray(target.T)


def _counts(choice: Choice, bounds: Ints) -> Floats:
    size, groups = choice.size + 1, len(bounds) - 1
    keys = np.repeat(np.arange(groups) * size, np.diff(bounds)) + choice.codes
    return np.bincount(keys, minlength=groups * size).reshape(groups, size).astype(np.float64)


@dataclass(frozen=True)
class Slots:
    """The levels that can come in each group, of a choice that has many.

    Attributes
    ----------
    starts : (G + 1,) int64, where the levels of each group begin.
    levels : (m,) int64, rising within a group.
    target : (m,) float64, their shares.
    """

    starts: Ints
    levels: Ints
    target: Floats

    @classmethod
    def of(
        cls, choice: Choice, bounds: Ints, ancestors: Ancestors, totals: Ints | None = None
    ) -> Self:
        """The levels that somebody holds, and those that stand in for rare ones (see `shares`)."""
        sizes, size = np.diff(bounds), choice.size + 1
        group = np.repeat(np.arange(len(sizes)), sizes)
        keys, counts = np.unique(group * size + choice.codes, return_counts=True)
        held, weight = keys % size < choice.size, counts / sizes[keys // size]
        rare_groups, rare = keys[~held] // size, weight[~held]
        keys, weight = keys[held], weight[held]
        if len(rare_groups):
            if totals is None:
                totals = np.bincount(keys % size, counts[held], minlength=size)[:-1]
            more, extra = _stand_ins(keys, counts[held], totals, rare_groups, rare, ancestors)
            both = np.concatenate([keys, more])
            keys, back = np.unique(both, return_inverse=True)
            weight = np.bincount(back, np.concatenate([weight, extra]))
        starts = np.searchsorted(keys, np.arange(len(sizes) + 1) * size)
        return cls(starts, keys % size, weight)

    def some(self, groups: slice) -> Self:
        """The levels of consecutive groups."""
        starts = self.starts[groups.start : groups.stop + 1]
        own = slice(int(starts[0]), int(starts[-1]))
        return replace(
            self, starts=starts - starts[0], levels=self.levels[own], target=self.target[own]
        )

    def taken(self, groups: Ints) -> Self:
        """The levels of any groups.

        >>> both = Slots(np.array([0, 2, 3]), np.array([4, 7, 5]), np.array([0.5, 0.5, 1.0]))
        >>> both.taken(np.array([1])).levels.tolist()
        [5]
        """
        counts = np.diff(self.starts)[groups]
        starts = np.concatenate([[0], np.cumsum(counts)])
        at = np.repeat(self.starts[groups] - starts[:-1], counts) + np.arange(starts[-1])
        return replace(self, starts=starts, levels=self.levels[at], target=self.target[at])

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """The levels of groups that follow each other."""
        counts = np.concatenate([np.diff(one.starts) for one in several])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([one.levels for one in several]),
            np.concatenate([one.target for one in several]),
        )

    def padded(self, groups: slice | Ints, values: Floats, lacking: float) -> tuple[Ints, Floats]:
        """The levels of some groups and a value of each, ``(slots, groups)``.

        Parameters
        ----------
        values : (m,) float64, one for each level of each group.
        lacking : what stands in slots that a group lacks.
        """
        starts, stops = self.starts[:-1][groups], self.starts[1:][groups]
        at = starts + np.arange(int((stops - starts).max()))[:, None]
        lacks = at >= stops
        at = np.where(lacks, starts, at)
        return self.levels[at], np.where(lacks, lacking, values[at])


def _stand_ins(
    keys: Ints, counts: Ints, totals: Ints, groups: Ints, rare: Floats, ancestors: Ancestors
) -> tuple[Ints, Floats]:
    """Levels that take the share of rare ones: keys of group and level, and how much of it."""
    size = len(totals) + 1
    of_node: dict[int, tuple[Ints, Floats]] = {}
    more, extra = [], []
    for group, share in zip(groups.tolist(), rare.tolist(), strict=True):
        node = int(ancestors.of_group[group])
        if node not in of_node:
            low, high = np.searchsorted(
                keys, [ancestors.first[node] * size, ancestors.last[node] * size]
            )
            levels, back = np.unique(keys[low:high] % size, return_inverse=True)
            held = np.bincount(back, counts[low:high], minlength=len(levels))
            if not len(levels):
                levels = np.flatnonzero(totals)
                held = totals[levels]
            of_node[node] = levels, held / held.sum()
        levels, proportions = of_node[node]
        more.append(group * size + levels)
        extra.append(share * proportions)
    return np.concatenate(more), np.concatenate(extra)
