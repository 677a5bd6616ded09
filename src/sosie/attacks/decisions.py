"""How a target is assigned to a person, given log-likelihoods.

A decision knows nothing of how the likelihoods were made. People and targets arrive in
random order, so a tie that falls to the first is a tie broken at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sosie.attacks.estimators.scorers import Scorer
from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.latent.neighbours import NeighbourIndex

__all__ = [
    "Decision",
    "Verdict",
    "among",
    "among_all",
    "assigned",
    "first_of",
    "nearest_people",
    "one_to_one",
    "own_row",
]

Decision = Literal["likelihood", "likelihood-all", "one-to-one", "row"]

CERTAIN = 1e12
"""What an infinite log-likelihood counts in an assignment."""

BLOCK = 4_000
"""Targets that are assigned one-to-one together; more are assigned within blocks."""


@dataclass(frozen=True)
class Verdict:
    """What an attacker says of each target.

    Attributes
    ----------
    rank : (m,) int64, how many people come before the right one; -1 where it is no candidate.
    margin : (m,) float64, log-likelihood of the first above the second: how sure he is.
    """

    rank: Ints
    margin: Floats

    @property
    def hit(self) -> Mask:
        """(m,) bool, the right person comes first."""
        return np.asarray(self.rank == 0)

    @classmethod
    def joined(cls, parts: Sequence[Verdict]) -> Verdict:
        """One verdict of several, in order."""
        ranks, margins = [part.rank for part in parts], [part.margin for part in parts]
        return cls(np.concatenate(ranks), np.concatenate(margins))

    def take(self, rows: Ints | Mask) -> Verdict:
        """The verdict on some targets only."""
        return Verdict(self.rank[rows], self.margin[rows])


def nearest_people(points: Floats, means: Floats, candidates: int) -> Ints:
    """The people whose mean is nearest to each target, ``(m, candidates) int64``."""
    index = NeighbourIndex(means)
    order = NeighbourIndex(points).order
    people = np.empty((len(points), candidates), dtype=np.int64)
    people[order] = index.nearest(points[order], candidates).rows
    return people


def among(scorer: Scorer, targets: Ints, truth: Ints, candidates: Ints) -> Verdict:
    """Greatest likelihood among candidates.

    Parameters
    ----------
    targets : (m,) which targets.
    truth : (m,) the right person of each.
    candidates : (m, c) people.
    """
    scores = scorer.pairs(targets[:, None], candidates)
    return _verdict(scores, candidates == truth[:, None])


def among_all(scorer: Scorer, targets: Ints, truth: Ints, people: int) -> Verdict:
    """Greatest likelihood among everyone, in blocks of targets."""
    rank = np.empty(len(targets), dtype=np.int64)
    margin = np.empty(len(targets))
    step = max(CELLS // people, 1)
    for start in range(0, len(targets), step):
        part = slice(start, start + step)
        scores = scorer.grid(targets[part])
        found = first_of(scores, truth[part])
        rank[part], margin[part] = found.rank, found.margin
    return Verdict(rank, margin)


def among_scored(scores: Floats, truth: Ints, candidates: Ints) -> Verdict:
    """Greatest likelihood among candidates, of scores already made for everyone, ``(m, n)``."""
    near = np.take_along_axis(scores, candidates, axis=1)
    return _verdict(near, candidates == truth[:, None])


def first_of(scores: Floats, truth: Ints) -> Verdict:
    """Greatest likelihood among everyone, of scores already made, ``(m, n)``."""
    right = np.zeros(scores.shape, dtype=bool)
    right[np.arange(len(scores)), truth] = True
    return _verdict(scores, right)


def own_row(scorer: Scorer, people: Ints, row: Ints, candidates: Ints) -> Verdict:
    """The most likely row under each person's own distribution.

    Parameters
    ----------
    people : (m,) which people.
    row : (m,) the target that belongs to each.
    candidates : (m, c) targets.
    """
    scores = scorer.pairs(candidates, people[:, None])
    return _verdict(scores, candidates == row[:, None])


def one_to_one(scorer: Scorer, targets: Ints, truth: Ints, means: Floats) -> Verdict:
    """Targets assigned to distinct people so that the total likelihood is greatest.

    With more than 4,000 people, within blocks: people are cut into blocks of neighbours,
    a target belongs to the block of its likeliest person among all, and targets of a
    block compete for its people.

    Parameters
    ----------
    targets : (m,) which targets.
    truth : (m,) the right person of each.
    means : (n, d) float64, where people are: blocks are made of neighbours.
    """
    if len(means) <= BLOCK:
        return assigned(scorer.grid(targets), truth)
    order = NeighbourIndex(means).order
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    step = max(CELLS // len(means), 1)
    parts = (targets[start : start + step] for start in range(0, len(targets), step))
    likeliest = np.concatenate([scorer.grid(part).argmax(axis=1) for part in parts])
    block = place[likeliest] // BLOCK
    rank = np.ones(len(targets), dtype=np.int64)
    margin = np.full(len(targets), -np.inf)
    for number in np.unique(block):
        rows = np.flatnonzero(block == number)
        people = order[number * BLOCK : (number + 1) * BLOCK]
        inside = np.where(place[truth[rows]] // BLOCK == number, place[truth[rows]] % BLOCK, -1)
        found = assigned(scorer.grid(targets[rows], people), inside)
        rank[rows], margin[rows] = found.rank, found.margin
    return Verdict(rank, margin)


def assigned(scores: Floats, truth: Ints) -> Verdict:
    """The assignment with the greatest total of some scores.

    The margin is to the best that the target would get elsewhere; it is negative where
    the target gave way.

    Parameters
    ----------
    scores : (m, n) float64, in random order of rows and columns.
    truth : (m,) the right column of each row, -1 where it is not there.
    """
    from scipy.optimize import linear_sum_assignment

    bounded = np.clip(scores, -CERTAIN, CERTAIN)
    rows, columns = linear_sum_assignment(bounded, maximize=True)
    rank = np.ones(len(scores), dtype=np.int64)
    margin = np.full(len(scores), -np.inf)
    rank[rows] = np.where(columns == truth[rows], 0, 1)
    given = bounded[rows, columns]
    bounded[rows, columns] = -np.inf
    margin[rows] = given - bounded[rows].max(axis=1)
    return Verdict(rank, margin)


def _verdict(scores: Floats, right: Mask) -> Verdict:
    """Rank of the right one and margin of the first, ties in order of position."""
    known = right.any(axis=1)
    place = right.argmax(axis=1)
    own = scores[np.arange(len(scores)), place][:, None]
    before = (scores > own).sum(axis=1)
    before += ((scores == own) & (np.arange(scores.shape[1]) < place[:, None])).sum(axis=1)
    rank = np.where(known, before, -1)
    if scores.shape[1] == 1:
        return Verdict(rank, np.zeros(len(scores)))
    best = np.partition(scores, -2, axis=1)[:, -2:]
    # Two that are both impossible, or both certain, leave no margin.
    tied = best[:, 0] == best[:, 1]
    return Verdict(rank, np.where(tied, 0.0, best[:, 1] - np.where(tied, 0.0, best[:, 0])))
