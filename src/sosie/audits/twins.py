"""People who took no part, though everyone did: twins of the avatarizer, fitted to four fifths.

The avatars that are published are made of everybody. What needs people who took no part is
measured on twins: the same method and settings, with secrets of its own, is fitted to four
fifths of the people, and the last fifth are strangers to it. Five times, so that everyone is a
stranger once and, beside the strangers of the fold before, a member once: rates of members and
of strangers are about the same people, and their difference is as exact as the table allows.
What holds between the columns of everybody holds for four fifths, and is not looked for again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sosie.audits.comparison import Comparison
from sosie.compute.arrays import Floats, Ints
from sosie.compute.storage import MEMORY
from sosie.data.table import Table
from sosie.errors import InputError, Reason, SosieWarning
from sosie.generate.avatarizer import Avatarizer

__all__ = ["FOLDS", "RELEASES", "Fold", "by_person", "sampled", "twins", "twins_of"]

FOLDS = 5

FEWEST = 200
"""Under so many, half of a fifth is not the 20 people against whom others can be ranked."""

MOST = 20_000
"""Above, twins are made of so many people, drawn at random: a rate is within a point."""

RELEASES = 3
"""Of each twin, over which chances of success are averaged: a draw costs less than a fit."""

PURPOSE = 2**32 - 16
"""Of the secrets of the first twin; the others follow."""


@dataclass(frozen=True)
class Fold:
    """One twin, beside those who took part and those who did not.

    Attributes
    ----------
    comparison : those who took part beside one release of the twin; the strangers set aside.
    releases : several releases, the first of them that of the comparison.
    tested : (m,) int64, rows of those who took part that are attacked, the strangers of the
        next fold.
    members : their numbers among the `people` of all folds.
    strangers : (m,) int64, the numbers of the strangers.
    people : how many there are in all folds together.
    """

    comparison: Comparison
    releases: tuple[Table, ...]
    tested: Ints
    members: Ints
    strangers: Ints
    people: int

    @cached_property
    def attacked(self) -> tuple[Table, Table]:
        """Members and strangers, about whom the attacker is asked."""
        strangers = self.comparison.holdout
        assert strangers is not None  # noqa: S101 (every fold has some)
        return self.comparison.originals.encoded_rows(self.tested), strangers

    def some(self, count: int) -> Fold:
        """The same twin, and the first of those who are attacked: all folds hold random people.

        Of all folds together these are people 0 to `FOLDS` times `count`.
        """
        _, strangers = self.attacked
        return replace(
            self,
            comparison=self.comparison.with_holdout(strangers.encoded_rows(np.arange(count))),
            tested=self.tested[:count],
            members=self.members[:count],
            strangers=self.strangers[:count],
            people=FOLDS * count,
        )


def sampled(folds: Sequence[Fold], most: int) -> Sequence[Fold]:
    """Folds in which at most so many people are attacked, all folds together."""
    if folds[0].people <= most:
        return folds
    return [fold.some(most // FOLDS) for fold in folds]


def twins(
    avatarizer: Avatarizer, originals: Table, components: int, threads: int = -1
) -> tuple[Fold, ...] | Reason:
    """Fit the five twins of a fitted avatarizer; or why there can be none.

    Parameters
    ----------
    avatarizer : fitted; it is not changed.
    originals : the same people, encoded to be compared.
    components : dimensions of the latent space of the comparison.
    """
    if originals.storage is not MEMORY:
        return Reason("not_on_disk")
    if len(originals) < FEWEST:
        return Reason("too_few_for_twins", {"n": len(originals), "least": FEWEST})
    order = np.random.default_rng(0).permutation(len(originals))[:MOST]
    # Its latent spaces serve all folds: members and strangers are looked at alike.
    everyone = Comparison(originals, originals, components=components, threads=threads)
    try:
        return tuple(_fold(avatarizer, everyone, order, number) for number in range(FOLDS))
    except InputError as error:
        why = error.reason or Reason("as_written", {"text": str(error)})
        return Reason("no_twins", {"why": why})


def twins_of(folds: Sequence[Fold] | Reason | None) -> dict[str, int] | None:
    """What ``audit.json`` says of them; None without any."""
    if folds is None or isinstance(folds, Reason):
        return None
    return {"folds": FOLDS, "people": folds[0].people, "releases": RELEASES}


def _fold(avatarizer: Avatarizer, everyone: Comparison, order: Ints, number: int) -> Fold:
    originals = everyone.originals
    fold = np.arange(len(order)) % FOLDS
    part, aside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
    twin = avatarizer.reseeded(PURPOSE + number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SosieWarning)  # it was told of the avatars of everyone
        twin.fit(avatarizer.originals.take(order[part]))
    drawn = twin.releases(RELEASES, shuffle=False)
    releases = tuple(originals.like(release) for release in drawn)
    people, strangers = originals.take(order[part]), originals.take(order[aside])
    comparison = replace(
        everyone, originals=people, avatars=releases[0], holdout=strangers
    ).in_spaces_of(everyone)
    tested = np.flatnonzero(fold[part] == (number + 1) % FOLDS)
    return Fold(comparison, releases, tested, part[tested], aside, len(order))


def by_person(
    folds: Sequence[Fold], outcomes: Sequence[tuple[Floats, Floats]]
) -> tuple[Floats, Floats]:
    """What befell everyone as a member and as a stranger, ``(n,)`` each.

    Parameters
    ----------
    outcomes : for each fold, of its members attacked and of its strangers.
    """
    member, stranger = np.empty(folds[0].people), np.empty(folds[0].people)
    for fold, (one, other) in zip(folds, outcomes, strict=True):
        member[fold.members], stranger[fold.strangers] = one, other
    return member, stranger
