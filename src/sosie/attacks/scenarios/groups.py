"""What a known group gives away: one value that all share, and the likeliest value.

The guarantee of exchangeable avatars is against naming a person. Whoever knows the group of a
person (he holds the secrets, or the groups are far apart) learns what its members share.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from sosie.attacks.groups import members_of
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Setup
from sosie.attacks.scenarios.protocol import Declaration
from sosie.attacks.sources import AvatarSource, Source
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.table import Column, Numbers
from sosie.errors import Reason

__all__ = ["DECLARATION", "chance_of_one_value", "guesses", "of_one_value", "play"]

MOST_VALUES = 20
"""Columns of more values are no attribute that a group could share by being small."""

SHOWN = 5
"""Columns reported of each kind: those in which groups give away most."""


def play(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """Both figures for each column of few values, those farthest above chance first.

    ``one-value``: percent of people whose group has one value of the column; `chance` is what
    groups of the same sizes have that are drawn at random. ``commonest``:
    percent whose value is the commonest among one release's avatars of their group; `chance`
    is that of naming the commonest value of the whole release.
    """
    guarantee = source.guarantee
    if not isinstance(source, AvatarSource) or guarantee is None or guarantee.groups is None:
        yield AttackResult.none("groups", "one-value", Reason("no_groups"), decision="value")
        return
    group, release = members_of(source.avatarizer), source.draw(setup.target)
    shared, guessed = [], []
    for column in source.originals.columns:
        mine, theirs, values = _codes(column, release.column(column.name))
        if not 2 <= values <= MOST_VALUES:
            continue
        whole = np.zeros(len(group), dtype=np.int64)
        known = {"scenario": "groups", "decision": "value", "column": str(column.name)}
        one, chance = of_one_value(mine, group), 100 * chance_of_one_value(mine, group)
        shared.append(AttackResult.share(one, estimator="one-value", chance=chance, **known))
        right, blind = (guesses(theirs, where) == mine for where in (group, whole))
        chance = 100 * float(blind.mean())
        guessed.append(AttackResult.share(right, estimator="commonest", chance=chance, **known))
    for results in (shared, guessed):
        yield from sorted(results, key=lambda r: (r.chance or 0.0) - (r.rate or 0.0))[:SHOWN]
    if not shared:
        reason = Reason("no_column_of_few_values", {"most": MOST_VALUES})
        yield AttackResult.none("groups", "one-value", reason, decision="value")


def of_one_value(codes: Ints, group: Ints) -> Mask:
    """(n,) bool, everyone in the same group has the same code.

    >>> of_one_value(np.array([1, 1, 1, 2]), np.array([0, 0, 1, 1]))
    array([ True,  True, False, False])
    """
    size = int(group.max()) + 1
    lowest = np.full(size, np.iinfo(np.int64).max)
    highest = np.full(size, -1)
    np.minimum.at(lowest, group, codes)
    np.maximum.at(highest, group, codes)
    return np.asarray((lowest == highest)[group])


def chance_of_one_value(codes: Ints, group: Ints) -> float:
    """Share of people whose group would have one value, were groups drawn at random, in 0..1.

    A person of a value that ``c`` of ``n`` people have, in a group of ``s``, shares it with all
    the others with probability ``C(c - 1, s - 1) / C(n - 1, s - 1)``.

    >>> pairs = np.array([0, 0, 1, 1])
    >>> round(float(chance_of_one_value(np.array([1, 1, 2, 2]), pairs)), 4)
    0.3333
    """
    counts, sizes = np.bincount(codes), np.bincount(group)
    counts, people = counts[counts > 0], len(codes)
    share = 0.0
    for size, number in zip(*np.unique(sizes[sizes > 0], return_counts=True), strict=True):
        alike = np.exp(_ways(counts - 1, size - 1) - _ways(np.array(people - 1), size - 1))
        share += size * number / people * float((counts / people * alike).sum())
    return share


def _ways(of: Ints, some: int) -> Floats:
    """Logarithm of ``C(of, some)``; minus infinity where there are not so many."""
    enough = of >= some
    rest = np.where(enough, of - some, 0)
    ways = gammaln(of + 1.0) - gammaln(some + 1.0) - gammaln(rest + 1.0)
    return np.where(enough, ways, -np.inf)


def guesses(codes: Ints, group: Ints) -> Ints:
    """(n,) int64, the commonest code in each row's group; the smallest of several.

    >>> guesses(np.array([1, 2, 2, 0]), np.array([0, 0, 0, 1]))
    array([2, 2, 2, 0])
    """
    values = int(codes.max()) + 1
    pairs, counts = np.unique(group * values + codes, return_counts=True)
    order = np.lexsort((pairs, -counts, pairs // values))  # in each group the commonest first
    groups, first = np.unique(pairs[order] // values, return_index=True)
    commonest = np.empty(int(group.max()) + 1, dtype=np.int64)
    commonest[groups] = pairs[order][first] % values
    return commonest[group]


def _codes(originals: Column, avatars: Column) -> tuple[Ints, Ints, int]:
    """Codes of both in common, and how many values the originals have; missing is a value."""
    mine, theirs = (
        column.values if isinstance(column, Numbers) else column.codes.astype(np.int64)
        for column in (originals, avatars)
    )
    count = len(np.unique(mine))
    _, codes = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
    return codes[: len(mine)], codes[len(mine) :], count


DECLARATION = Declaration("groups", 4, play, quick=True)
