"""Sums over groups, and over the nodes of the tree above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints
from sosie.compute.storage import FORGET

__all__ = ["Ancestors", "Groups", "blocks_of", "by_group", "every_so_many"]


class Groups(Protocol):
    """Groups of near people, and the tree above them.

    Attributes
    ----------
    order : (n,) int64, the row at each place; the members of a node stand together.
    bounds : (G + 1,) int64, the place where each group begins, and the end.
    """

    @property
    def order(self) -> Ints:
        """The row at each place."""
        ...

    @property
    def bounds(self) -> Ints:
        """The place where each group begins, and the end."""
        ...

    def above(self, size: int) -> Ints:
        """(G, 2) int64: places of the smallest node above each group with so many rows."""
        ...


def by_group(values: NDArray[Any], bounds: Ints) -> Floats:
    """Sums over the members of each group, ``(..., G) float64``.

    Parameters
    ----------
    values : (..., n), on a grid where the sum must not depend on the order.

    Examples
    --------
    >>> by_group(np.arange(5.0), np.array([0, 2, 5])).tolist()
    [1.0, 9.0]
    """
    starts = bounds[:-1] - bounds[0]
    return np.asarray(np.add.reduceat(values, starts, axis=-1, dtype=np.float64))


def blocks_of(bounds: Ints, rows: int) -> list[slice]:
    """Consecutive groups with about so many members together.

    >>> blocks_of(np.array([0, 3, 6, 9]), 5)
    [slice(0, 2, None), slice(2, 3, None)]
    """
    cuts = [0]
    while cuts[-1] < len(bounds) - 1:
        ahead = int(np.searchsorted(bounds, bounds[cuts[-1]] + rows))
        cuts.append(min(max(ahead, cuts[-1] + 1), len(bounds) - 1))
    return [slice(start, stop) for start, stop in pairwise(cuts)]


def every_so_many(blocks: Sequence[slice], bounds: Ints) -> int:
    """After how many blocks memory that is also on disk is let go."""
    return max(FORGET * len(blocks) // max(int(bounds[-1] - bounds[0]), 1), 1)


@dataclass(frozen=True)
class Ancestors:
    """The smallest nodes above groups that have enough people.

    Attributes
    ----------
    first, last : (A,) int64, groups of each node, from the first to before the last.
    of_group : (G,) int64, the node of each group.
    """

    first: Ints
    last: Ints
    of_group: Ints

    @classmethod
    def of(cls, groups: Groups, size: int) -> Self:
        """The nodes that have at least `size` people, the whole table where it is smaller."""
        bounds, ranges = groups.bounds, groups.above(size)
        keys = ranges[:, 0] * (bounds[-1] + 1) + ranges[:, 1]
        _, heads, of_group = np.unique(keys, return_index=True, return_inverse=True)
        first = np.searchsorted(bounds, ranges[heads, 0])
        last = np.searchsorted(bounds, ranges[heads, 1])
        return cls(first, last, of_group)

    def __len__(self) -> int:
        return len(self.first)

    def some(self, groups: slice) -> Self:
        """The nodes above consecutive groups, none of which reaches beyond them; numbered anew.

        >>> both = Ancestors(np.array([0, 2]), np.array([2, 4]), np.array([0, 0, 1, 1]))
        >>> both.some(slice(2, 4))
        Ancestors(first=array([0]), last=array([2]), of_group=array([0, 0]))
        """
        own = self.of_group[groups]
        nodes = slice(int(own.min()), int(own.max()) + 1)
        first, last = self.first[nodes] - groups.start, self.last[nodes] - groups.start
        return type(self)(first, last, own - nodes.start)

    def sums(self, of_groups: NDArray[Any]) -> Floats:
        """Sums over the groups of each node, ``(A, ...) float64``; exact on a grid.

        Parameters
        ----------
        of_groups : (G, ...).
        """
        running = np.zeros((len(of_groups) + 1, *of_groups.shape[1:]))
        np.cumsum(of_groups, axis=0, out=running[1:])
        return np.asarray(running[self.last] - running[self.first])
