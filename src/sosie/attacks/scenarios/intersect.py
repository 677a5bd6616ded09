"""Several releases of a table that changes: other settings, another key, people who come and go.

A release of a group says that its person is one of the group. Where another version of the table
is cut elsewhere, the same person is also one of another group, and only those in both remain. An
ideal attacker has rows aligned: he is told which records of several releases are of one person.
Published releases are shuffled each by itself, so that he first has to say which records belong
together: all records of two releases are assigned to each other, so that the total distance, or the
total of people whom their groups share, is best.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist

from sosie.attacks.decisions import BLOCK, nearest_people
from sosie.attacks.moments import rows_of
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Setup
from sosie.attacks.scenarios.protocol import Declaration
from sosie.attacks.sources import AvatarSource, Source
from sosie.attacks.versions import Version
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.table import Numbers, Table
from sosie.errors import InputError, Reason
from sosie.generate.secrets import Secrets
from sosie.latent.famd import FAMD

__all__ = ["DECLARATION", "Plan", "Seen", "matched", "plans", "play", "remaining", "shared"]

MONTHS = 6
"""Versions of a table that is released every month, at most."""

CHANGE = 0.02
"""Share of the people who leave before the next month; as many join."""

COMPONENTS = 10
"""At most: later ones each stand for a rare level."""

KEY = 2**62
"""Keys and seeds of versions are below."""

Rows = Literal["aligned", "shuffled"]
ROWS: tuple[Rows, ...] = ("aligned", "shuffled")


@dataclass(frozen=True)
class Plan:
    """One version of the table.

    Attributes
    ----------
    rows : (m,) int64, whose rows are in it.
    names : its columns.
    k : of its avatars.
    new_key : whether its key is another one than that of the first release.
    """

    rows: Ints
    names: tuple[Hashable, ...]
    k: int
    new_key: bool = False


@dataclass(frozen=True)
class Seen:
    """One release, and what an attacker knows of its table.

    Attributes
    ----------
    points : (n, d) float64, the record of each person in a latent space that all releases share;
        NaN for those who are not in this version.
    groups : (n,) int64, the group of each person, -1 for those; None where there are no groups.
    """

    points: Floats
    groups: Ints | None

    @property
    def present(self) -> Mask:
        """(n,) bool, who is in this version."""
        return ~np.isnan(self.points[:, 0])


def plans(table: Table, k: int, keyed: bool, rng: np.random.Generator) -> dict[str, list[Plan]]:
    """What changes from one release to the next, by name.

    Parameters
    ----------
    keyed : whether the method has a key, which may change too.
    """
    people, names = len(table), table.names
    everyone, order = np.arange(people), rng.permutation(people)
    same = Plan(everyone, names, k)
    step = max(round(CHANGE * people), 1)
    window = people - (MONTHS - 1) * step
    months = [Plan(np.sort(order[m * step :][:window]), names, k) for m in range(MONTHS)]
    persons = [np.sort(order[1:]), everyone, np.sort(order[:-1])]
    found = {
        "same-table": [same] * MONTHS,
        "other-k": [same, replace(same, k=2 * k), replace(same, k=4 * k)],
        "column-less": [same, replace(same, names=_all_but_one(table))],
        "person-changed": [replace(same, rows=rows) for rows in persons],
        "monthly": months if window > people // 2 else [],
    }
    if keyed:
        found["new-key"] = [same, replace(same, new_key=True)]
        for name in ("person-changed", "monthly"):
            found[f"{name}-new-key"] = [replace(plan, new_key=True) for plan in found[name]]
    return found


def _all_but_one(table: Table) -> tuple[Hashable, ...]:
    """Without the first number; the last column where there is none. Linked columns stay."""
    linked = {name for names in table.roles.linked for name in names}
    free = [column for column in table.columns if column.name not in linked]
    numbers = [column.name for column in free if isinstance(column, Numbers)]
    left_out = numbers[:1] or [column.name for column in free[-1:]]
    return tuple(name for name in table.names if name not in left_out)


def play(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """Percent of people named, from as many releases as `AttackResult.releases`.

    ``groups`` knows who is in which group of each version, and names one of those who are in all
    of them: a hit counts one in their number, and chance is one in the size of the first group.
    ``nearest`` names the person nearest to the mean of the records. The people attacked are in all
    versions. Avatars of another generator are attacked over releases of one table.
    """
    known = {"scenario": "intersect", "estimator": "nearest"}
    if setup.counts[-1] < 1:
        yield AttackResult.none(reason=Reason("two_to_intersect"), decision="aligned", **known)
        return
    if not isinstance(source, AvatarSource):
        yield from _of_other(source, setup)
        return
    rng = np.random.default_rng(setup.seed)
    settings, table = source.avatarizer.settings, source.originals
    keyed = source.avatarizer.guarantee.groups is not None
    for name, versions in plans(table, settings.k, keyed, rng).items():
        some = versions[: setup.counts[-1] + 1]
        if len(some) < 2:
            reason = Reason("too_few_to_change", {"n": len(table)})
            yield AttackResult.none(reason=reason, decision="aligned", versions=name, **known)
            continue
        try:
            seen = _released(source, some, rng)
        except InputError as error:  # k is too large, or no column is left
            reason = error.reason or Reason("as_written", {"text": str(error)})
            yield AttackResult.none(reason=reason, decision="aligned", versions=name, **known)
            continue
        yield from _attacked(seen, _people(table, some), setup, name)


def _of_other(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """Releases of a generator of which no more is known."""
    count = min(setup.counts[-1] + 1, MONTHS)
    famd = FAMD.fit(source.originals, COMPONENTS)
    seen = [Seen(famd.transform(source.draw(setup.first + r)), None) for r in range(count)]
    yield from _attacked(seen, famd.transform(source.originals), setup, "same-table")


def _common(table: Table, versions: list[Plan]) -> FAMD:
    """The latent space of the columns that all versions have."""
    names = [name for name in table.names if all(name in plan.names for plan in versions)]
    return FAMD.fit(table.select(names), COMPONENTS)


def _people(table: Table, versions: list[Plan]) -> Floats:
    return _common(table, versions).transform(table)


def _released(source: AvatarSource, versions: list[Plan], rng: np.random.Generator) -> list[Seen]:
    """A release of each version, with a seed of its own, and who was in which group."""
    table, famd = source.originals, _common(source.originals, versions)
    seen: list[Seen] = []
    fitted: dict[int, Version] = {}
    for plan in versions:
        key = int(rng.integers(KEY)) if plan.new_key else source.avatarizer.secrets.key
        secrets, place = Secrets(key, int(rng.integers(KEY))), id(plan)
        if place not in fitted:
            part = rows_of(table.select(plan.names), plan.rows)
            fitted[place] = Version.of(source.avatarizer, part, secrets, k=plan.k, codes=table)
        version = fitted[place]
        points = np.full((len(table), famd.components), np.nan)
        points[plan.rows] = famd.transform(version.draw(len(seen)))
        groups = None
        if version.avatarizer.guarantee.groups is not None:
            groups = np.full(len(table), -1)
            groups[plan.rows] = version.members()
        seen.append(Seen(points, groups))
    return seen


def _attacked(seen: list[Seen], people: Floats, setup: Setup, name: str) -> Iterator[AttackResult]:
    """The attackers of some releases; those attacked are people who are in all versions."""
    rng = np.random.default_rng(setup.seed)
    always = rng.permutation(np.flatnonzero(np.all([one.present for one in seen], axis=0)))
    attacked = always[: setup.targets]
    for rows in ROWS:
        for estimator in ("groups", "nearest")[seen[0].groups is None :]:
            if rows == "aligned":
                chains = np.repeat(always[:, None], len(seen), axis=1)
            else:
                chains = _chains(seen, always, estimator == "groups", rng)
            if estimator == "groups":
                credit = remaining([one.groups for one in seen if one.groups is not None], chains)
            else:
                means = np.mean([s.points[c] for s, c in zip(seen, chains.T, strict=True)], axis=0)
                credit = nearest_people(means, people[always], 1)[:, 0] == np.arange(len(always))
            yield AttackResult.share(
                credit[: len(attacked)],
                scenario="intersect",
                estimator=estimator,
                decision=rows,
                chance=_chance(seen[0], always, attacked, estimator),
                releases=len(seen),
                candidates=len(always),
                versions=name,
            )


def _chance(first: Seen, always: Ints, attacked: Ints, estimator: str) -> float:
    """A blind choice with the same knowledge and one release."""
    if estimator == "nearest" or first.groups is None:
        return 100 / len(always)
    sizes = np.bincount(first.groups[first.groups >= 0])
    return 100 * float((1 / sizes[first.groups[attacked]]).mean())


def _chains(seen: list[Seen], always: Ints, grouped: bool, rng: np.random.Generator) -> Ints:
    """(m, releases) int64: of each record of the first release, those taken for the same person's.

    A record is numbered by its person, which no attacker knows: records of the other releases are
    in an order of their own. He is told which are of people who are in all versions.
    """
    chains, first = [always], seen[0]
    for other in seen[1:]:
        rows = rng.permutation(always)
        if grouped and len(always) <= BLOCK and first.groups is not None:
            assert other.groups is not None  # noqa: S101 (of one method)
            score = shared(first.groups, other.groups)[first.groups[always]][:, other.groups[rows]]
            chains.append(rows[_assigned(-score)])
        else:
            chains.append(rows[matched(first.points[always], other.points[rows])])
    return np.column_stack(chains)


def matched(points: Floats, others: Floats) -> Ints:
    """For each record of one release, that of the other which is taken for the same person's.

    The assignment of least total squared distance; above `BLOCK` records, the nearest.

    Parameters
    ----------
    points, others : (n, d) float64, in orders that say nothing.
    """
    if len(points) > BLOCK:
        return nearest_people(points, others, 1)[:, 0]
    return _assigned(cdist(points, others, "sqeuclidean"))


def _assigned(costs: Floats) -> Ints:
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(costs)[1])


def shared(one: Ints, other: Ints) -> Floats:
    """Share of the pairs of two records that are one person's, by the groups of the two.

    Of groups of s and t people who share m, a pair of records is one person's with probability
    m / (s t).

    Parameters
    ----------
    one, other : (n,) int64, the group of each person, -1 for those who are not there.

    Examples
    --------
    >>> shared(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    array([[0.33333333, 0.        ],
           [0.16666667, 0.5       ]])
    """
    both = (one >= 0) & (other >= 0)
    counts = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(counts, (one[both], other[both]), 1.0)
    sizes = [np.bincount(groups[groups >= 0]) for groups in (one, other)]
    return counts / np.outer(*sizes)


def remaining(groups: list[Ints], chains: Ints) -> Floats:
    """(m,) float64, the chance of naming the person of a chain among those who remain.

    One in their number, 0 where the person is not one of them. A release that leaves nobody is
    of someone else, and is left out.

    Parameters
    ----------
    groups : for each release, (n,) int64, the group of each person.
    chains : (m, releases) int64, the person of each record that is taken for one person's; the
        first is whom it is about.

    Examples
    --------
    >>> groups = [np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])]
    >>> remaining(groups, np.array([[0, 0], [1, 3]]))
    array([1., 0.])
    """
    members = [_members(one) for one in groups]
    credit = np.zeros(len(chains))
    for place, chain in enumerate(chains.tolist()):
        left = members[0][groups[0][chain[0]]]
        for sets, own, person in zip(members[1:], groups[1:], chain[1:], strict=True):
            left = left & sets[own[person]] or left
        credit[place] = (chain[0] in left) / len(left)
    return credit


def _members(groups: Ints) -> list[frozenset[int]]:
    order = np.argsort(groups, kind="stable")
    order = order[np.count_nonzero(groups < 0) :]
    parts = np.split(order, np.cumsum(np.bincount(groups[groups >= 0]))[:-1])
    return [frozenset(part.tolist()) for part in parts]


DECLARATION = Declaration("intersect", 3, play, alone=True)
