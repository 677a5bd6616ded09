"""Inference: whether avatars give away a secret of the people that they were made from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.audits.comparison import Comparison, compared
from sosie.audits.controls import above_controls, on_the_same
from sosie.audits.definition import Definition
from sosie.audits.links import nearest_group
from sosie.audits.reasons import NO_HOLDOUT, TOO_FEW_PEOPLE
from sosie.audits.results import Metric, json_name
from sosie.audits.twins import RELEASES, Fold, by_person, sampled
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Column, Numbers, Table
from sosie.errors import InputError, Reason
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["DEFINITION", "inference", "on_twins"]

DEFINITION = Definition(
    "inference",
    "%",
    "lower",
    "inference",
    needs=("two_columns", "holdout"),
    options=("known", "secrets"),
    advice=("sensitive", "raise_k", "fewer_columns"),
)

LARGEST = float(np.finfo(np.float64).max)

EVERYONE = slice(None)

HALVES = slice(None, None, 2), slice(1, None, 2)
"""One half chooses the secret that leaks most, the other says how much."""

MOST_GUESSED = 20_000
"""Up to so many people all are attacked; above, as many drawn: their rate is within a point."""

MOST_TRIED = 2_000
"""People on whom each secret is tried where twins are: of some fifty secrets two are reported, and
those on everybody; of the others a rate is within three points."""

MOST_SECRETS = 100
"""Of more columns so many secrets, drawn at random, are tried where none are named."""


def inference(
    originals: object,
    avatars: object | None = None,
    *,
    holdout: object | None = None,
    secrets: Sequence[Hashable] | None = None,
    known: Sequence[Hashable] | None = None,
    tolerance: float = 0.05,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """How often avatars give away a secret, above a control.

    The attacker knows some columns of a person and guesses a secret one: the value of the
    avatar nearest in the known columns (or of one of its equals, drawn). A guess is right
    if it is the same level, or a number within `tolerance` times the distance between the
    5th and the 95th percentile of the originals; missing is a value like any other. With
    `a` the share of right guesses about originals and `c` about people set aside before
    the avatars were made, the risk is ``100 (a - c) / (1 - c)``.

    Of several secrets, the one where ``a - c`` is greatest is chosen on one half of the
    people, and the metric is its risk for the other half, so that choosing does not
    flatter the attacker.

    In percent, at most 100; lower protects better; 0 or below means that avatars tell
    about the population, not about their people; no published target. ``attack`` and
    `control` are a and c in percent. The interval comes from their two Wilson intervals.
    Above 20,000 people, as many are drawn, stated as ``sample``.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars, holdout : the same columns. Without a holdout there is no value.
    secrets : columns to guess; by default each in turn, of more than 100 as many drawn at random.
    known : what the attacker knows; by default all columns but the secret.
    tolerance : see above, 0 or more.
    components : dimensions of the latent space of the known columns.
    target : None for no target.

    Returns
    -------
    Metric
        ``columns`` holds, for all people, ``column``, ``attack``, ``control``, ``risk`` and
        ``ci`` of each secret, and ``without_avatars``: how often the guess is right with
        the people set aside instead of the avatars. Greatest ``attack - control`` first.

    Raises
    ------
    InputError
        A column is absent, or is both known and secret.

    Notes
    -----
    Source: Giomi et al., PETS 2023.

    Examples
    --------
    Copies give away everything; two of the three strangers' guesses are off:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]}).with_columns(y=-pl.col("x"))
    >>> strangers = pl.DataFrame({"x": [1.1, 5.2, 8.3], "y": [-1.2, -9.8, -0.7]})
    >>> metric = inference(people, people, holdout=strangers, secrets=["y"])
    >>> metric.value, metric.detail["attack"], round(metric.control, 1)
    (100.0, 100.0, 33.3)
    """
    comparison = compared(originals, avatars, aligned=False, holdout=holdout, components=components)
    if (reason := comparison.lacks("two_columns")) is not None:
        return DEFINITION.unavailable(reason, target=target)
    plans = _plans(comparison.originals.names, secrets, known)
    if comparison.holdout is None:
        return DEFINITION.unavailable(NO_HOLDOUT, target=target)
    people, strangers = _sampled(comparison.originals), _sampled(comparison.holdout)
    if min(len(people), len(strangers)) < 2:  # halves of which would be empty
        return DEFINITION.unavailable(TOO_FEW_PEOPLE, target=target)
    guessing = [
        (name, guesses)
        for name, given in plans
        if (guesses := _guessed(comparison, people, strangers, name, given, tolerance)) is not None
    ]
    if not guessing:
        return DEFINITION.unavailable(Reason("nothing_to_guess"), target=target)
    detail: dict[str, Any] = {"tolerance": tolerance} | _told(known)
    if len(people) < len(comparison):
        detail["sample"] = len(people)
    guessing.sort(key=lambda pair: pair[1].advantage(EVERYONE), reverse=True)
    one, other = (EVERYONE, EVERYONE) if len(guessing) == 1 else HALVES
    secret, worst = max(guessing, key=lambda pair: pair[1].advantage(one))
    return above_controls(
        DEFINITION,
        worst.people[other],
        worst.strangers[other],
        target=target,
        detail=detail | {"secret": json_name(secret)},
        columns=tuple(guesses.record(name, above_controls) for name, guesses in guessing),
    )


def on_twins(
    folds: Sequence[Fold],
    *,
    secrets: Sequence[Hashable] | None = None,
    known: Sequence[Hashable] | None = None,
    tolerance: float = 0.05,
    target: float | None = DEFINITION.target,
) -> Metric:
    """The same where everyone's avatars are published: see `sosie.audits.twins`.

    Each half of the people is reported with the secret that leaks most of the other half, so
    that choosing does not flatter the attacker and nobody is left out. All secrets are tried on
    one release of each twin, and of a larger table on `MOST_TRIED` people; those chosen, on all.
    """
    first = folds[0].comparison
    if (reason := first.lacks("two_columns")) is not None:
        return DEFINITION.unavailable(reason, target=target)
    plans = dict(_plans(first.originals.names, secrets, known))

    def attacked(folds: Sequence[Fold], name: Hashable, releases: int) -> _Guesses | None:
        outcomes = [_attacked(fold, name, plans[name], tolerance, releases) for fold in folds]
        usable = [one for one in outcomes if one is not None]
        return _Guesses.of_all(folds, usable) if len(usable) == len(folds) else None

    few = sampled(folds, MOST_TRIED)
    found = {name: one for name in plans if (one := attacked(few, name, 1)) is not None}
    if not found:
        return DEFINITION.unavailable(Reason("nothing_to_guess"), target=target)
    chosen = [max(found, key=lambda name: found[name].advantage(half)) for half in HALVES]
    found |= {name: one for name in chosen if (one := attacked(folds, name, RELEASES)) is not None}
    attack, control = (np.empty(folds[0].people) for _ in range(2))
    for name, reported in zip(chosen, HALVES[::-1], strict=True):
        attack[reported] = found[name].people[reported]
        control[reported] = found[name].strangers[reported]
    ranked = sorted(found, key=lambda name: found[name].advantage(EVERYONE), reverse=True)
    return on_the_same(
        DEFINITION,
        attack,
        control,
        target=target,
        detail={"tolerance": tolerance, "secret": json_name(min(chosen, key=ranked.index))}
        | _told(known),
        columns=tuple(found[name].record(name, on_the_same) for name in ranked),
    )


def _told(known: Sequence[Hashable] | None) -> dict[str, Any]:
    """What the attacker knows, where it was named."""
    return {} if known is None else {"known": [json_name(name) for name in known]}


def _attacked(
    fold: Fold, secret: Hashable, known: Sequence[Hashable], tolerance: float, releases: int
) -> _Guesses | None:
    """Guesses about members and strangers of a fold, averaged over so many releases."""
    comparison, column = fold.comparison, fold.comparison.originals.column(secret)
    if not _varies(column):
        return None
    try:
        space = comparison.known_spaces.of(known)
    except InputError:
        return None
    margin = _margin(column, tolerance)
    asked = [
        (_Secrets(people.column(secret), margin), space.transform(people))
        for people in fold.attacked
    ]
    rates = []
    for release in fold.releases[:releases]:
        avatars, guess = space.transform(release), release.column(secret)
        index = NeighbourIndex(avatars, comparison.threads)
        groups = index.groups
        rates.append(
            [own.guessed(nearest_group(index, points), groups, guess) for own, points in asked]
        )
    one, other = (np.mean(rate, axis=0) for rate in zip(*rates, strict=True))
    (members, points), (others, away) = asked
    reference = NeighbourIndex(away, comparison.threads)
    without = members.guessed(nearest_group(reference, points), reference.groups, others.column)
    return _Guesses(one, other, float(without.mean()))


@dataclass(frozen=True)
class _Guesses:
    """Chance that each guess is right.

    Attributes
    ----------
    people : (n,) float64, about originals, from the avatars.
    strangers : (h,) float64, about people set aside, from the avatars.
    without : share of right guesses about originals, from the people set aside.
    """

    people: Floats
    strangers: Floats
    without: float

    def advantage(self, rows: slice) -> float:
        """Success with some of the people above that with strangers."""
        return float(self.people[rows].mean()) - float(self.strangers[rows].mean())

    @classmethod
    def of_all(cls, folds: Sequence[Fold], each: Sequence[_Guesses]) -> _Guesses:
        """Everyone's, of those of each fold."""
        people, strangers = by_person(folds, [(one.people, one.strangers) for one in each])
        weights = [len(one.people) for one in each]
        return cls(people, strangers, float(np.average([e.without for e in each], weights=weights)))

    def record(self, name: Hashable, compare: Callable[..., Metric]) -> dict[str, Any]:
        """What is said of one secret, for all people, and what is guessed of it without avatars.

        Parameters
        ----------
        compare : `above_controls`, or `on_the_same` where members and strangers are the same.
        """
        whole = compare(DEFINITION, self.people, self.strangers, target=None, detail={})
        return {
            "column": json_name(name),
            "attack": whole.detail["attack"],
            "control": whole.control,
            "risk": whole.value,
            "ci": whole.ci,
            "without_avatars": 100 * self.without,
        }


def _plans(
    names: tuple[Hashable, ...],
    secrets: Sequence[Hashable] | None,
    known: Sequence[Hashable] | None,
) -> list[tuple[Hashable, list[Hashable]]]:
    """Each secret with what the attacker knows."""
    for name in [*(secrets or ()), *(known or ())]:
        if name not in names:
            raise InputError(f"there is no column {name!r} to compare")
        if secrets is not None and known is not None and name in secrets and name in known:
            raise InputError(
                f"column {name!r} can't be both known and secret",
                reason=Reason("known_and_secret", {"column": str(name)}),
            )
    free = [name for name in names if known is None or name not in known]
    given = names if known is None else known
    if secrets is None and len(free) > MOST_SECRETS:
        drawn = np.random.default_rng(0).permutation(len(free))[:MOST_SECRETS]
        free = [free[i] for i in np.sort(drawn)]
    asked, held = free if secrets is None else secrets, frozenset(given)
    return [
        (secret, [name for name in names if name in held and name != secret]) for secret in asked
    ]


def _guessed(
    comparison: Comparison,
    people: Table,
    strangers: Table,
    secret: Hashable,
    known: Sequence[Hashable],
    tolerance: float,
) -> _Guesses | None:
    """Guesses of one secret; None where nothing varies that could be known or guessed."""
    column = comparison.originals.column(secret)
    if not _varies(column):
        return None
    try:
        space = comparison.known_spaces.of(known)
    except InputError:
        return None
    margin = _margin(column, tolerance)
    points, strange = space.transform(people), space.transform(strangers)
    avatars = NeighbourIndex(space.transform(comparison.avatars), comparison.threads)
    reference = NeighbourIndex(strange, comparison.threads)
    guess, strangers_own = comparison.avatars.column(secret), strangers.column(secret)
    secrets, others = _Secrets(people.column(secret), margin), _Secrets(strangers_own, margin)
    without = secrets.guessed(nearest_group(reference, points), reference.groups, strangers_own)
    return _Guesses(
        secrets.guessed(nearest_group(avatars, points), avatars.groups, guess),
        others.guessed(nearest_group(avatars, strange), avatars.groups, guess),
        float(without.mean()),
    )


@dataclass(frozen=True)
class _Secrets:
    """What is to be guessed, and how near a guess must come."""

    column: Column
    margin: float

    def guessed(self, nearest: Ints, groups: Ints, guess: Column) -> Floats:
        """Chance that one of the nearest rows, drawn evenly, holds the secret, ``(n,)``.

        Parameters
        ----------
        nearest : (n,) int64, which group of equal rows is nearest to each person.
        groups : (m,) int64, the group of each row.
        guess : the secret column of these rows.
        """
        wanted, guesses = _ranked(self.column), _ranked(guess)
        ladder = np.unique(guesses)
        with np.errstate(over="ignore"):  # what is missing is within reach of nothing else
            least = np.maximum(wanted - self.margin, -LARGEST)
            most = np.where(np.isinf(wanted), wanted, np.minimum(wanted + self.margin, LARGEST))
        low = np.searchsorted(ladder, least, side="left")
        high = np.searchsorted(ladder, most, side="right")
        # Rows sorted by group, then by value: those within reach are next to each other.
        step = len(ladder) + 1
        rows = np.sort(groups * step + np.searchsorted(ladder, guesses))
        within = np.searchsorted(rows, nearest * step + high) - np.searchsorted(
            rows, nearest * step + low
        )
        return np.asarray(within / np.bincount(groups)[nearest])


def _ranked(column: Column) -> Floats:
    """Values as numbers: codes, or the numbers themselves, infinite where missing."""
    if isinstance(column, Numbers):
        return np.where(np.isnan(column.values), np.inf, column.values)
    return column.codes.astype(np.float64)


def _margin(column: Column, tolerance: float) -> float:
    if tolerance < 0:
        raise InputError(f"tolerance must be at least 0, got {tolerance}")
    if not isinstance(column, Numbers):
        return 0.0
    shrunk = 8.0 if np.nanmax(np.abs(column.values)) > LARGEST / 8 else 1.0  # differences fit
    low, high = np.nanpercentile(column.values / shrunk, [5, 95])
    # A value on the edge counts whatever the rounding.
    return min(tolerance * float(high - low) * (1 + 1e-12) * shrunk, LARGEST)


def _varies(column: Column) -> bool:
    values = _ranked(column)
    return bool((values != values[0]).any())


def _sampled(table: Table) -> Table:
    """Everyone, or so many drawn by a fixed seed."""
    if len(table) <= MOST_GUESSED:
        return table
    rows = np.random.default_rng(0).choice(len(table), MOST_GUESSED, replace=False)
    return table.take(rows)
