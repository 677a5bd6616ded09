"""The likelihood of a release for who knows, or guesses, in which groups a table was cut.

A record is drawn from one of the groups, in proportion to their sizes. In a group, numbers, as
normal scores, are Gaussian around the group's mean with a covariance that all groups share;
categories, and whether a number is missing, come with the shares that they have in the group, each
by itself. That is less than the law of the method (`sosie.generate.exchangeable`), and enough to
tell one cut from another: what nobody in a group holds does not come from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtri

from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Table

__all__ = ["GroupLaw", "Rows"]

LEAST = 1e-3
"""Share of a level that nobody in a group holds: levels may be merged before they come."""

FLAT = 1e-6
"""Of the greatest variance: directions of less are those of columns that others give."""


@dataclass(frozen=True)
class Rows:
    """Rows of a table as this attacker sees them.

    Attributes
    ----------
    numbers : (n, p) float64, normal scores by rank among the originals; 0 where missing.
    codes : for each category, and for each number whether it is missing, (n,) int64.
    """

    numbers: Floats
    codes: tuple[Ints, ...]

    @classmethod
    def of(cls, table: Table, originals: Table) -> Rows:
        """Those of a table with the columns and level codes of the originals."""
        numbers = [
            _scores(column.values, known.values)
            for column, known in zip(table.numbers, originals.numbers, strict=True)
        ]
        codes = [column.codes.astype(np.int64) for column in table.levels]
        codes += [np.isnan(column.values).astype(np.int64) for column in table.numbers]
        return cls(np.column_stack([np.empty((len(table), 0)), *numbers]), tuple(codes))

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Ints | slice) -> Rows:
        """Some rows."""
        return Rows(self.numbers[rows], tuple(codes[rows] for codes in self.codes))


def _scores(values: Floats, known: Floats) -> Floats:
    """Normal scores of the middle rank among known values."""
    ladder = np.sort(known[~np.isnan(known)])
    last = len(ladder) + 1
    ranks = np.searchsorted(ladder, values, "left") + np.searchsorted(ladder, values, "right") + 1
    shares = np.clip(ranks / 2 / last, 0.5 / last, 1 - 0.5 / last)
    return np.where(np.isnan(values), 0.0, ndtri(shares))


@dataclass(frozen=True)
class GroupLaw:
    """The law of a release, given who is in which group.

    Attributes
    ----------
    log_sizes : (G,) float64, log share of the people in each group.
    means : (G, d) float64, of the numbers, in directions in which their covariance is 1.
    directions : (p, d) float64, from numbers to these.
    log_scale : float, what these directions add to each density.
    log_shares : (L, G) float64, of all levels of all codes, one code after the other.
    firsts : where the levels of each code begin among these, then L.
    """

    log_sizes: Floats
    means: Floats
    directions: Floats
    log_scale: float
    log_shares: Floats
    firsts: Ints

    @classmethod
    def of(cls, people: Rows, groups: Ints) -> GroupLaw:
        """The law of people in some groups.

        Parameters
        ----------
        groups : (n,) int64, the group of each, 0 to G - 1, none empty.
        """
        sizes = np.bincount(groups)
        means = np.zeros((len(sizes), people.numbers.shape[1]))
        np.add.at(means, groups, people.numbers)
        means /= sizes[:, None]
        within = people.numbers - means[groups]
        values, vectors = np.linalg.eigh(within.T @ within / max(len(within) - len(sizes), 1))
        kept = values > FLAT * max(values.max(initial=0.0), FLAT)
        firsts = np.cumsum([0, *(int(codes.max()) + 2 for codes in people.codes)])
        counts = np.zeros((int(firsts[-1]), len(sizes)))
        for first, codes in zip(firsts, people.codes, strict=False):
            np.add.at(counts, (first + codes, groups), 1.0)
        shares = np.log(np.maximum(counts / sizes, LEAST))
        directions = vectors[:, kept] / np.sqrt(values[kept])
        scale = -0.5 * float(np.log(2 * np.pi * values[kept]).sum())
        log_sizes = np.log(sizes / len(people))
        return cls(log_sizes, means @ directions, directions, scale, shares, firsts)

    def log_likelihood(self, records: Rows) -> float:
        """Of a release, its records taken one by one."""
        step, total = max(CELLS // (len(self.means) + len(self.log_shares)), 1), 0.0
        for start in range(0, len(records), step):
            some = records.take(slice(start, start + step))
            points = some.numbers @ self.directions
            away = (
                np.square(points).sum(axis=1)[:, None]
                - 2 * points @ self.means.T
                + np.square(self.means).sum(axis=1)
            )
            scores = self.log_sizes + self.log_scale - away / 2
            total += float(logsumexp(scores + self._held(some) @ self.log_shares, axis=1).sum())
        return total

    def _held(self, records: Rows) -> Floats:
        """(m, L) float64, 1 for the level that a record holds of each code; the last is unknown."""
        held, rows = np.zeros((len(records), len(self.log_shares))), np.arange(len(records))
        for place, codes in enumerate(records.codes):
            first, last = self.firsts[place], self.firsts[place + 1] - 1
            held[rows, np.minimum(first + codes, last)] = 1
        return held
