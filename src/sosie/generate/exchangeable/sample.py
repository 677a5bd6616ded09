"""Some twenty thousand people, in whole groups: what is pooled is fitted to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sosie.compute.arrays import Ints

__all__ = ["PEOPLE", "Sample", "sample_of"]

PEOPLE = 20_000
"""Enough that coefficients of some hundred features are known to a few hundredths."""


@dataclass(frozen=True)
class Sample:
    """Some whole groups.

    Attributes
    ----------
    groups : (g,) int64, rising.
    places : (m,) int64, of their members.
    ends : (g + 1,) int64, where the members of each group begin among them.
    """

    groups: Ints
    places: Ints
    ends: Ints


def sample_of(bounds: Ints, people: int = PEOPLE) -> Sample:
    """Groups evenly spaced along the tree: of the whole table, whatever order its rows had.

    >>> sample_of(np.array([0, 2, 4, 6, 8]), people=4).places.tolist()
    [0, 1, 4, 5]
    """
    total, count = int(bounds[-1] - bounds[0]), len(bounds) - 1
    some = max(min(count, -(-count * people // total)), 1)
    groups = np.arange(some) * count // some
    sizes = np.diff(bounds)[groups]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    inside = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    return Sample(groups, np.repeat(bounds[groups], sizes) + inside, ends)
