"""Which of two people was in the table, for who knows everybody else: the worst case.

He makes the table with one and with the other, and asks under which of the two the published
releases are likelier. Either he knows the key of the table, and cuts the same groups, or he tries
keys of his own. A guarantee against linkage says nothing of this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sosie.attacks.moments import rows_of
from sosie.attacks.partition import GroupLaw, Rows
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Setup
from sosie.attacks.scenarios.protocol import Declaration
from sosie.attacks.sources import AvatarSource, Source
from sosie.attacks.versions import Version
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.table import Table
from sosie.errors import Reason
from sosie.generate.methods.exchangeable import grouped, in_canonical_codes, located
from sosie.generate.secrets import Secrets
from sosie.latent.famd import FAMD

__all__ = ["DECLARATION", "play"]

TRIALS = 30
"""Pairs of people: the interval is some 17 points either side."""

DRAWN = 12
"""Releases that he draws of each of the two tables, of several keys where the key is secret."""

KEYS_OF = {"key-known": 0, "key-secret": 4, "keys-guessed": 30}
"""Keys of his own that each attacker tries."""

KEY = 2**62
"""Keys and seeds of his own are below."""

MOST_PEOPLE = 20_000
"""Above, groups are not cut for every key: each record is held against each group."""

PUBLISHED = (1, 5)
"""Numbers of releases that are published."""

WIDTHS = (0.02, 0.1, 0.3)
"""Shares of people that the neighbourhoods of the two hold, in which he counts records."""

COMPONENTS = 10
"""At most: later ones each stand for a rare level."""


def play(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """Percent right of `TRIALS` pairs, chance 50, by what is known of the key.

    `releases` of a result is how many are published. ``key-known`` cuts the same groups and takes
    the likelihood of the release (`sosie.attacks.partition`); for methods without groups he
    simulates releases. ``key-secret`` simulates releases under keys of his own. ``keys-guessed``
    cuts the groups of 30 keys and believes the one under which the release is likeliest.

    Fits of the method for each pair and attacker: this takes minutes on large tables.
    """
    if not isinstance(source, AvatarSource):
        reason = Reason("only_avatarizer")
        yield AttackResult.none("swap", "key-known", reason, decision="one-of-two")
        return
    rng = np.random.default_rng(setup.seed)
    grouped = source.avatarizer.guarantee.groups is not None
    cutting = grouped and len(source.originals) <= MOST_PEOPLE
    attackers: dict[str, Attacker] = {"key-known": _by_groups if cutting else _by_counts}
    if grouped:
        attackers |= {"key-secret": _by_counts, "keys-guessed": _by_groups}
    if grouped and not cutting:
        attackers.pop("keys-guessed")
        reason = Reason("too_many_to_swap", {"most": MOST_PEOPLE})
        yield AttackResult.none("swap", "keys-guessed", reason, decision="one-of-two")
    right: dict[str, list[Mask]] = {name: [] for name in attackers}
    for _ in range(TRIALS):
        trial = _Trial.of(source, rng)
        for name, attacker in attackers.items():
            right[name].append(attacker(trial, KEYS_OF[name], rng) == trial.truth)
    for name, hits in right.items():
        for place, count in enumerate(PUBLISHED):
            result = AttackResult.share(
                np.array(hits)[:, place],
                scenario="swap",
                estimator=name,
                decision="one-of-two",
                chance=50.0,
                candidates=2,
            )
            yield replace(result, releases=count)


@dataclass(frozen=True)
class _Trial:
    """Two people of whom one is in the table, and what is published of it.

    Attributes
    ----------
    pair : (2,) int64, their rows.
    rows : whose rows are in the table without the second, and without the first.
    truth : which of the two tables it is.
    published : releases of it.
    """

    source: AvatarSource
    pair: Ints
    rows: tuple[Ints, Ints]
    truth: int
    published: tuple[Table, ...]

    @classmethod
    def of(cls, source: AvatarSource, rng: np.random.Generator) -> _Trial:
        everyone = np.arange(len(source.originals))
        pair, truth = rng.permutation(everyone)[:2], int(rng.integers(2))
        rows = np.delete(everyone, pair[1]), np.delete(everyone, pair[0])
        table = rows_of(source.originals, rows[truth])
        secrets = Secrets(source.avatarizer.secrets.key, int(rng.integers(KEY)))
        version = Version.of(source.avatarizer, table, secrets, codes=source.originals)
        published = tuple(version.draw(release) for release in range(max(PUBLISHED)))
        return cls(source, pair, rows, truth, published)

    def tables(self) -> list[Table]:
        """The two tables between which he has to decide."""
        return [rows_of(self.source.originals, rows) for rows in self.rows]

    def keys(self, number: int, rng: np.random.Generator) -> list[int]:
        """That of the table, where he has it (0), or so many of his own."""
        own = self.source.avatarizer.secrets.key
        return [int(key) for key in rng.integers(0, KEY, number)] or [own]


Attacker = Callable[[_Trial, int, np.random.Generator], Ints]


def _by_groups(trial: _Trial, guesses: int, rng: np.random.Generator) -> Ints:
    """Which of the two he says: under the likeliest key, the table under which releases are."""
    originals, settings = trial.source.originals, trial.source.avatarizer.settings
    people = Rows.of(originals, originals)
    records = [Rows.of(table, originals) for table in trial.published]
    spaces = []
    for table in map(in_canonical_codes, trial.tables()):
        famd, points = located(table, settings, trial.source.threads)
        spaces.append((table, points, famd))
    scores = []
    for key in trial.keys(guesses, rng):
        laws = []
        for rows, space in zip(trial.rows, spaces, strict=True):
            cut = grouped(*space, key, settings.k)
            group = np.empty(len(rows), dtype=np.int64)
            group[cut.order] = np.repeat(np.arange(len(cut)), cut.sizes)
            laws.append(GroupLaw.of(people.take(rows), group))
        scores.append([[law.log_likelihood(one) for law in laws] for one in records])
    told = np.array([np.sum(scores, axis=1, where=_first(len(records), c)) for c in PUBLISHED])
    likeliest = told.max(axis=2).argmax(axis=1)
    return np.asarray(told[np.arange(len(PUBLISHED)), likeliest].argmax(axis=1))


def _first(releases: int, count: int) -> Mask:
    """(releases, 1) bool, those that are published."""
    return np.asarray(np.arange(releases) < count)[:, None]


def _by_counts(trial: _Trial, guesses: int, rng: np.random.Generator) -> Ints:
    """Which of the two he says: releases simulated of both tables, records counted near the two."""
    originals, avatarizer = trial.source.originals, trial.source.avatarizer
    famd = FAMD.fit(originals, COMPONENTS)
    whole = famd.transform(originals)
    counts = _Counts(famd, whole[trial.pair], whole)
    told = np.array([counts.of(table) for table in trial.published])
    keys = trial.keys(guesses, rng)
    seeds, drawn = rng.integers(0, KEY, len(keys)), []
    for table in trial.tables():
        simulated = [
            Version.of(avatarizer, table, Secrets(key, int(seed)), codes=originals)
            for seed, key in zip(seeds, keys, strict=True)
        ]
        each = range(DRAWN // len(keys))
        drawn.append(np.array([counts.of(one.draw(r)) for one in simulated for r in each]))
    direction, middle = _discriminant(*drawn)
    return np.array([int((told[:c].mean(axis=0) - middle) @ direction > 0) for c in PUBLISHED])


class _Counts:
    """How many records lie near each of two people: smooth counts, at several widths."""

    def __init__(self, famd: FAMD, two: Floats, people: Floats) -> None:
        self.famd, self.two = famd, two
        away = np.square(people[None] - two[:, None]).sum(axis=2)
        self.widths = np.maximum(np.quantile(away, WIDTHS, axis=1).T, np.finfo(float).tiny)

    def of(self, release: Table) -> Floats:
        """(2 * widths,) float64."""
        points = self.famd.transform(release)
        near = np.empty(self.widths.shape)
        for person, (place, widths) in enumerate(zip(self.two, self.widths, strict=True)):
            away = np.square(points - place).sum(axis=1)
            near[person] = np.exp(-away / widths[:, None]).sum(axis=1)
        return near.ravel()


def _discriminant(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Fisher's direction from the first to the second, and the point halfway.

    The covariance is drawn halfway to its diagonal: there are few releases.
    """
    pooled = (np.cov(first.T) + np.cov(second.T)) / 2
    spread = np.diag(pooled) + 1e-9 * (1 + np.diag(pooled).max())
    pooled = (pooled + np.diag(spread)) / 2
    means = first.mean(axis=0), second.mean(axis=0)
    return np.linalg.solve(pooled, means[1] - means[0]), (means[0] + means[1]) / 2


DECLARATION = Declaration("swap", 1, play, alone=True)
