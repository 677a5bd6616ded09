"""Attackers who hold the groups of exchangeable avatars, which are secret: the worst case.

Their rates are what the bound of the guarantee is set against. One knows who is in which group
and the law of each group, from as many releases as he likes, and guesses the group of an avatar,
then a member. An ideal one is told the group of each avatar too: all that is left to him is the
guess among its members, one in their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sosie.attacks.results import Rate
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Table
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods.exchangeable import ExchangeableFitted
from sosie.latent.famd import FAMD

__all__ = ["GroupAttack", "Guess", "attack_groups", "members_of"]

Knows = Literal["law", "groups"]
Guess = Literal["any", "nearest", "one-to-one"]
GUESSES: tuple[Guess, ...] = ("any", "nearest", "one-to-one")

COMPONENTS = 40
"""At most: later ones each stand for a rare level."""

SHRUNK = 0.5
"""Of the covariance of a group, towards the mean one: a group's draws are few."""

RIDGE = 1e-6
"""Of the mean variance: a group in which a column does not vary leaves no direction empty."""


@dataclass(frozen=True)
class GroupAttack:
    """One attacker.

    Attributes
    ----------
    knows : ``law`` (the groups and their laws) or ``groups`` (the group of each avatar, too).
    guess : how he names a member: ``any`` at random, the ``nearest`` to the avatar, or all
        avatars of a group ``one-to-one`` at the least total distance.
    releases : how many he learnt the laws from; 0 stands for the originals themselves.
    person : how often he names the right person, percent.
    group : how often the right group.
    """

    knows: Knows
    guess: Guess
    releases: int
    person: Rate
    group: Rate


def members_of(avatarizer: Avatarizer) -> Ints:
    """The group of each row, ``(n,) int64``.

    Raises
    ------
    InputError
        The method has no groups.
    """
    fitted = avatarizer.fitted
    if not isinstance(fitted, ExchangeableFitted):
        raise InputError("only exchangeable avatars have groups")
    sizes = np.diff(fitted.groups.bounds)
    group = np.empty(len(fitted.order), dtype=np.int64)
    group[fitted.order] = np.repeat(np.arange(len(sizes)), sizes)
    return group


def attack_groups(
    avatarizer: Avatarizer, releases: int, *, targets: int | None = None, seed: int = 0
) -> Iterator[GroupAttack]:
    """Attack one release of a fitted Avatarizer, holding its groups.

    Parameters
    ----------
    avatarizer : fitted; its releases 0 to ``releases - 1`` are learnt from, the next is attacked.
    targets : attack at most so many avatars, drawn at random.
    seed : of the attacker's own coin tosses.

    Raises
    ------
    InputError
        The method has no groups.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"a": [i * 37 % 41 for i in range(80)], "b": list(range(80))})
    >>> made = Avatarizer(k=5, seed=1, numeric=["b"]).fit(people)
    >>> [(one.knows, one.guess, one.group.rate) for one in attack_groups(made, 0)][-1]
    ('groups', 'one-to-one', 100.0)
    """
    rng = np.random.default_rng(seed)
    group, table = members_of(avatarizer), avatarizer.table
    famd = FAMD.fit(table, COMPONENTS)
    people = famd.transform(table)
    points = famd.transform(avatarizer.draw(releases))
    laws = _Laws(group, famd.components)
    for known in _learnt(avatarizer, releases, famd, people):
        laws.add(known)
    # In random order, so that no tie leaks who is who.
    order = rng.permutation(len(group))
    some = order[: targets or len(order)]
    groups: dict[Knows, Ints] = {"law": laws.likeliest(points[some]), "groups": group[some]}
    for knows, named in groups.items():
        for guess in GUESSES:
            person = _named(guess, named, some, group, people, points, rng)
            right, near = (int((a == b).sum()) for a, b in ((person, some), (named, group[some])))
            rates = (Rate.of(right, len(some)), Rate.of(near, len(some)))
            yield GroupAttack(knows, guess, releases, *rates)


def _learnt(avatarizer: Avatarizer, releases: int, famd: FAMD, people: Floats) -> Iterator[Floats]:
    if not releases:
        yield people
    for release in range(releases):
        drawn: Table = avatarizer.draw(release)
        yield famd.transform(drawn)


class _Laws:
    """A Gaussian for each group, from all the avatars of its members."""

    def __init__(self, group: Ints, components: int) -> None:
        self.group, self.size = group, int(group.max()) + 1
        self.count = np.zeros(self.size)
        self.sums = np.zeros((self.size, components))
        self.products = np.zeros((self.size, components, components))

    def add(self, points: Floats) -> None:
        order = np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[order], np.arange(self.size))
        for g, rows in enumerate(np.split(order, starts[1:])):
            self.count[g] += len(rows)
            self.sums[g] += points[rows].sum(axis=0)
            self.products[g] += points[rows].T @ points[rows]

    def likeliest(self, points: Floats) -> Ints:
        """The likeliest group of each point, ``(m,) int64``."""
        means = self.sums / self.count[:, None]
        own = self.products / self.count[:, None, None] - means[:, :, None] * means[:, None, :]
        pooled = np.einsum("g,gij->ij", self.count / self.count.sum(), own)
        pooled += RIDGE * np.trace(pooled) / len(pooled) * np.eye(len(pooled))
        scores = np.empty((len(points), self.size))
        for g in range(self.size):
            covariance = SHRUNK * own[g] + (1 - SHRUNK) * pooled
            root = np.linalg.inv(np.linalg.cholesky(covariance))
            away = (points - means[g]) @ root.T
            scores[:, g] = np.log(np.diag(root)).sum() - 0.5 * np.square(away).sum(axis=1)
            scores[:, g] += np.log(self.count[g])
        return np.asarray(scores.argmax(axis=1))


def _named(
    guess: Guess,
    named: Ints,
    targets: Ints,
    group: Ints,
    people: Floats,
    points: Floats,
    rng: np.random.Generator,
) -> Ints:
    """The person named for each target, among the members of the group named, ``(m,) int64``."""
    from scipy.optimize import linear_sum_assignment

    person = np.empty(len(targets), dtype=np.int64)
    for g in np.unique(named):
        own = np.flatnonzero(named == g)
        members = rng.permutation(np.flatnonzero(group == g))
        if guess == "any":
            person[own] = rng.choice(members, len(own))
            continue
        gaps = points[targets[own]][:, None] - people[members]
        costs = np.square(gaps).sum(axis=2)
        person[own] = members[costs.argmin(axis=1)]
        if guess == "one-to-one":
            rows, columns = linear_sum_assignment(costs)
            person[own[rows]] = members[columns]
    return person
