"""Which of two people was in the table, for who knows everybody else: the worst case.

He makes the table with one and with the other, draws releases of both, and asks to which of the
two the published ones are closer. Either he knows the key of the table, and cuts the same groups,
or he tries keys of his own. A guarantee against linkage says nothing of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sosie.attacks.moments import rows_of
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Setup
from sosie.attacks.scenarios.protocol import Declaration
from sosie.attacks.sources import AvatarSource, Source
from sosie.attacks.versions import Version
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Table
from sosie.errors import Reason
from sosie.generate.secrets import Secrets
from sosie.latent.famd import FAMD

__all__ = ["DECLARATION", "play"]

TRIALS = 30
"""Pairs of people: the interval is some 17 points either side."""

DRAWN = 12
"""Releases that he draws of each of the two tables, of several keys where the key is secret."""

KEYS = 4
"""Keys that he tries."""

PUBLISHED = (1, 5)
"""Numbers of releases that are published."""

WIDTHS = (0.02, 0.1, 0.3)
"""Shares of people that the neighbourhoods of the two hold, in which he counts records."""

COMPONENTS = 10
"""At most: later ones each stand for a rare level."""


def play(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """Percent right of `TRIALS` pairs, chance 50, with the key known and secret.

    `releases` of a result is how many are published.

    Three fits of the method for each pair and attacker: this takes minutes on large tables.
    """
    if not isinstance(source, AvatarSource):
        reason = Reason("only_avatarizer")
        yield AttackResult.none("swap", "key-known", reason, decision="one-of-two")
        return
    rng = np.random.default_rng(setup.seed)
    pairs = [rng.permutation(len(source.originals))[:2] for _ in range(TRIALS)]
    truths = rng.integers(0, 2, TRIALS)
    grouped = source.avatarizer.guarantee.groups is not None
    for estimator in ("key-known", "key-secret") if grouped else ("key-known",):
        right = np.array(
            [
                _guesses(source, pair, int(truth), estimator == "key-known", rng) == truth
                for pair, truth in zip(pairs, truths, strict=True)
            ]
        )
        for place, count in enumerate(PUBLISHED):
            result = AttackResult.share(
                right[:, place],
                scenario="swap",
                estimator=estimator,
                decision="one-of-two",
                chance=50.0,
                candidates=2,
            )
            yield replace(result, releases=count)


def _guesses(
    source: AvatarSource, pair: Ints, truth: int, known: bool, rng: np.random.Generator
) -> Ints:
    """Which of the two he says, for each number of published releases."""
    tables = [_without(source.originals, int(out)) for out in pair[::-1]]
    famd = FAMD.fit(source.originals, COMPONENTS)
    whole = famd.transform(source.originals)
    counts = _Counts(famd, whole[pair], whole)
    true = Version.of(source.avatarizer, tables[truth], source.avatarizer.secrets)
    told = np.array([counts.of(true.draw(r)) for r in range(max(PUBLISHED))])
    keys = (
        [source.avatarizer.secrets.key]
        if known
        else [int(key) for key in rng.integers(0, 2**62, KEYS)]
    )
    seeds = rng.integers(0, 2**62, len(keys))
    drawn = []
    for table in tables:
        made = [
            Version.of(source.avatarizer, table, Secrets(key, int(seed)))
            for seed, key in zip(seeds, keys, strict=True)
        ]
        drawn.append(
            np.array([counts.of(one.draw(r)) for one in made for r in range(DRAWN // len(made))])
        )
    direction, middle = _discriminant(*drawn)
    return np.array([int((told[:c].mean(axis=0) - middle) @ direction > 0) for c in PUBLISHED])


def _without(table: Table, row: int) -> Table:
    return rows_of(table, np.delete(np.arange(len(table)), row))


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
