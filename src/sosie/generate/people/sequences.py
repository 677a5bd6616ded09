"""Rows of people in an order of their own: those of a person together, by time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.tails import Back
from sosie.generate.normal_scores import MOST_KNOTS
from sosie.latent.content import mixed

__all__ = ["Sequences", "autoregression", "closed", "people_hashes"]


@dataclass(frozen=True)
class Sequences:
    """Places of rows, person by person; people without rows are left out.

    Attributes
    ----------
    bounds : (m + 1,) int64, the place where each person's rows begin, and the end.
    people : (m,) int64, which person each is.
    """

    bounds: Ints
    people: Ints

    @classmethod
    def of_counts(cls, counts: Ints) -> Self:
        """Of people with so many rows each.

        >>> Sequences.of_counts(np.array([2, 0, 1])).owner.tolist()
        [0, 0, 1]
        """
        people = np.flatnonzero(counts)
        return cls(np.concatenate([[0], np.cumsum(counts[people])]), people)

    def __len__(self) -> int:
        return len(self.people)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.bounds[-1])

    @cached_property
    def counts(self) -> Ints:
        """(m,) int64, rows of each."""
        return np.diff(self.bounds)

    @cached_property
    def owner(self) -> Ints:
        """(N,) int64, whose each row is."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def position(self) -> Ints:
        """(N,) int64, how many rows of the person come before."""
        return np.arange(self.rows) - np.repeat(self.bounds[:-1], self.counts)

    @cached_property
    def follows(self) -> Ints:
        """Places of the rows that follow another one of the same person."""
        return np.flatnonzero(self.position)

    def sums(self, values: NDArray[Any]) -> Floats:
        """Sums over the rows of each person, ``(m,) float64``.

        >>> Sequences.of_counts(np.array([2, 1])).sums(np.array([1.0, 2.0, 4.0])).tolist()
        [3.0, 4.0]
        """
        return np.asarray(np.bincount(self.owner, values, minlength=len(self)), dtype=np.float64)

    def spread(self, of_people: NDArray[Any]) -> NDArray[Any]:
        """What each person has, at each of their rows."""
        return np.repeat(of_people, self.counts, axis=-1)

    def some(self, rows: int) -> tuple[Sequences, Ints]:
        """The first people who have so many rows together, at least one, and their places."""
        last = min(max(int(np.searchsorted(self.bounds, rows, "right")) - 1, 1), len(self))
        part = type(self)(self.bounds[: last + 1], self.people[:last])
        return part, np.arange(part.rows)

    def ranks(self, values: Floats) -> Ints:
        """The rank of each row's value among those of its person, from 0.

        >>> Sequences.of_counts(np.array([3, 1])).ranks(np.array([2.0, 9.0, 1.0, 5.0])).tolist()
        [1, 2, 0, 0]
        """
        order = np.lexsort((values, self.owner))
        ranks = np.empty(self.rows, dtype=np.int64)
        ranks[order] = self.position
        return ranks

    def sorted(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values of each person in rising order; missing ones stay where they are."""
        made, present = values.copy(), np.flatnonzero(values == values)  # noqa: PLR0124 (NaN)
        order = np.lexsort((values[present], self.owner[present]))
        made[present] = values[present[order]]
        return made


def people_hashes(
    own: NDArray[np.uint64], rows: list[tuple[NDArray[np.uint64], Ints]]
) -> NDArray[np.uint64]:
    """64 bits a person of what they and their rows hold, in any order of either.

    Parameters
    ----------
    own : (n,) of the people's own columns.
    rows : of each table, the hashes of its rows and the number of each row's person.
    """
    total = own.copy()
    for hashes, owner in rows:
        sums = np.zeros(len(own), dtype=np.uint64)
        np.add.at(sums, owner, mixed(hashes))  # whole numbers that wrap around: in any order
        total = mixed(total ^ mixed(sums))
    return total


def autoregression(noise: Floats, coefficients: Floats, sequences: Sequences) -> Floats:
    """``x_t = rho x_{t-1} + sqrt(1 - rho^2) e_t`` along each person, of variance 1.

    Parameters
    ----------
    noise : (q, N) float64, standard normal.
    coefficients : (q,) float64, between -1 and 1.

    Examples
    --------
    >>> made = autoregression(np.ones((1, 3)), np.array([0.6]), Sequences.of_counts(np.array([3])))
    >>> made.round(3).tolist()
    [[1.0, 1.4, 1.64]]
    """
    made = noise.copy()
    longest = np.argsort(-sequences.counts, kind="stable")
    starts, counts = sequences.bounds[:-1][longest], -sequences.counts[longest]
    rho = coefficients[:, None]
    fresh = np.sqrt(1 - np.square(rho))
    for step in range(1, int(-counts[0]) if len(counts) else 0):
        at = starts[: np.searchsorted(counts, -step)] + step
        made[:, at] = rho * made[:, at - 1] + fresh * noise[:, at]
    return made


def closed(values: Floats, owner: Ints, k: int, spacing: float = 0.0) -> Back | None:
    """The way back of values that belong to people, several to each.

    As `sosie.generate.exchangeable.tails` has it, but that an end reaches as far as k people have
    values in it, and is the mean over them of their mean there: k rows could be one person's.

    Parameters
    ----------
    values, owner : (m,) float64 and int64.
    spacing : of the values as they are written.

    Returns
    -------
    Back or None
        None where fewer than k people have a value.

    Examples
    --------
    >>> made = closed(np.array([0.0, 1.0, 2.0, 5.0, 8.0, 9.0]), np.array([0, 0, 1, 2, 3, 3]), 2)
    >>> made.ordered.tolist()
    [1.25, 1.25, 1.25, 6.75, 6.75, 6.75]
    """
    order = np.argsort(values, kind="stable")
    ordered, owners = values[order].copy(), owner[order]
    people = len(np.unique(owners))
    if people < k:
        return None
    low, first = _end(ordered, owners, k)
    high, last = _end(-ordered[::-1], owners[::-1], k)
    high = -high
    # What would be written as the extreme itself, which fewer than k share, goes a step inside.
    low = max(low, ordered[0] + spacing * bool(ordered[first - 1] > ordered[0]))
    high = min(high, ordered[-1] - spacing * bool(ordered[-last] < ordered[-1]))
    if first + last > len(ordered) or low > high:
        return Back(np.array([fsum(ordered / len(ordered))]), len(ordered))
    ordered[:first], ordered[len(ordered) - last :] = low, high
    count = len(ordered)
    ranks = np.linspace(0, count - 1, min(count, MOST_KNOTS)).round().astype(np.int64)
    return Back(ordered[ranks], count)


def _end(ordered: Floats, owners: Ints, k: int) -> tuple[float, int]:
    """The mean over k people of their least values, and how many values lie in that end.

    The mean of their very least would pull the whole end outwards.
    """
    _, heads = np.unique(owners, return_index=True)
    size = int(np.sort(heads)[k - 1]) + 1
    _, people, counts = np.unique(owners[:size], return_inverse=True, return_counts=True)
    return fsum(ordered[:size] / (k * counts[people])), size
