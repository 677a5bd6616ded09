"""What the attacker holds: who the people are, where releases come from, what is attacked.

A scenario turns a source into an `Arena` for each number of releases. The attacked
release is never among those that were fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from sosie.attacks.decisions import Decision, nearest_people
from sosie.attacks.moments import (
    MEMORY,
    MOST_COMPONENTS,
    Cloud,
    Progress,
    accumulate,
    is_bounded,
    rows_of,
    space_of,
    transformed,
)
from sosie.attacks.sources import AvatarSource, Source, fingerprint
from sosie.attacks.store import Store
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Table
from sosie.errors import InputError, Reason

__all__ = ["V1", "V2", "Arena", "Cast", "Insert", "Nearest", "Scenario", "Setup"]


@dataclass(frozen=True)
class Setup:
    """How an attack is run.

    Attributes
    ----------
    counts : numbers of releases to look at, rising, each at least 2.
    components : coordinates to keep, or None for all, up to 40.
    seed : of the attacker's own coin tosses (orders, halves), not of any avatars.
    targets : at most so many targets, drawn at random; None for all.
    repeat : 0, 1, ...: each works on releases of its own.
    folder : where to keep the moments, or None.
    progress : called with releases done, releases in all, and what is being done.
    memory : bytes that the covariances may take.
    holdout : people who took no part, a dataframe with the columns of the originals, or None.
    """

    counts: tuple[int, ...]
    components: int | None = None
    seed: int = 0
    targets: int | None = None
    repeat: int = 0
    folder: str | None = None
    progress: Progress | None = None
    memory: int = MEMORY
    holdout: Any = None

    @property
    def first(self) -> int:
        """Number of the first release that is fitted."""
        return self.repeat * (self.counts[-1] + 1)

    @property
    def target(self) -> int:
        """Number of the attacked release, which comes after those that are fitted."""
        return self.first + self.counts[-1]


@dataclass(frozen=True)
class Cast:
    """People and targets in random order, so that no tie and no method leaks the row order.

    Attributes
    ----------
    people : (n,) row of each person.
    targets : (n,) row of each target; those that are attacked come first.
    truth : (n,) the person of each target.
    attacked : how many targets are attacked. The others are rows that could be taken for
        someone's: whoever looks for a person's row looks among all of them.
    """

    people: Ints
    targets: Ints
    truth: Ints
    attacked: int

    @classmethod
    def of(cls, rows: int, seed: int, targets: int | None = None) -> Cast:
        """Draw both orders.

        >>> cast = Cast.of(5, seed=1)
        >>> bool((cast.people[cast.truth] == cast.targets).all())
        True
        """
        rng = np.random.default_rng(seed)
        people, order = rng.permutation(rows), rng.permutation(rows)
        place = np.empty(rows, dtype=np.int64)
        place[people] = np.arange(rows)
        return cls(people, order, place[order], rows if targets is None else min(targets, rows))


@dataclass(frozen=True)
class Arena:
    """One scenario after some number of releases.

    Attributes
    ----------
    scenario : its name.
    cloud : what the releases tell of each person.
    points : (n, d) float64, the targets in the same latent space.
    cast : orders of people and targets.
    decisions : how this attacker can decide; the first is the one that is tried first.
    """

    scenario: str
    cloud: Cloud
    points: Floats
    cast: Cast
    decisions: tuple[Decision, ...]
    _near: dict[tuple[int, int], Ints] = field(default_factory=dict, repr=False, compare=False)

    @property
    def people(self) -> int:
        """Number of people."""
        return len(self.cloud.means)

    def first(self, components: int) -> tuple[Cloud, Floats]:
        """Cloud and targets in fewer components."""
        cloud = self.cloud.first(components)
        return cloud, np.ascontiguousarray(self.points[:, : cloud.components])

    def candidates(self, components: int, count: int) -> Ints:
        """The people whose mean is nearest to each attacked target, ``(m, count)``."""
        key = (components, count)
        if key not in self._near:
            cloud, points = self.first(components)
            self._near[key] = nearest_people(points[: self.cast.attacked], cloud.means, count)
        return self._near[key]

    def rows(self, components: int, count: int) -> Ints:
        """The rows nearest to the mean of each attacked target's own person, ``(m, count)``."""
        key = (-components, count)
        if key not in self._near:
            cloud, points = self.first(components)
            people = self.cast.truth[: self.cast.attacked]
            self._near[key] = nearest_people(cloud.means[people], points, count)
        return self._near[key]


class Scenario(Protocol):
    """What an attacker holds."""

    @property
    def name(self) -> str:
        """Its name in results."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """How the attacker can decide."""

    def arenas(self, source: Source, setup: Setup) -> Iterator[Arena]:
        """An arena for each number of releases."""


@dataclass(frozen=True)
class V1:
    """The originals and the generator: he makes t releases and attacks another one."""

    name: str = "v1"
    decisions: tuple[Decision, ...] = ("likelihood", "likelihood-all", "one-to-one")

    def arenas(self, source: Source, setup: Setup) -> Iterator[Arena]:
        """People are the originals; the target is release t, the fit is on 0 to t - 1."""
        target = source.draw(setup.target)
        yield from _arenas(self, source, target, setup, setup.first)


@dataclass(frozen=True)
class V2:
    """One published release and the generator: he makes avatars of the avatars.

    People are the rows of the published release, and so are the targets: a success
    singles a row out, a necessary step towards linking it to a person.
    """

    name: str = "v2"
    decisions: tuple[Decision, ...] = ("likelihood", "likelihood-all", "one-to-one", "row")

    def arenas(self, source: Source, setup: Setup) -> Iterator[Arena]:
        """The published release is release t of the originals; releases are made of it."""
        published = source.draw(setup.target)
        store = _store(setup, self.name, source)
        if store:
            published = store.table("published", lambda: published)
        again = source.refit(published)
        yield from _arenas(self, again, published, setup, 0)


@dataclass(frozen=True)
class Insert:
    """One full profile, one published release and the generator.

    He puts the profile among the published rows, makes avatars of it there, and looks for
    the published row that is the most likely under their distribution. Knowing one
    profile, he can't compare people: he decides among rows.
    """

    name: str = "insert"
    decisions: tuple[Decision, ...] = ("row",)

    def arenas(self, source: Source, setup: Setup) -> Iterator[Arena]:
        """People are the profiles, targets the published rows.

        Raises
        ------
        InputError
            The generator is not an `Avatarizer`: how it would treat one more row is unknown.
        """
        if not isinstance(source, AvatarSource):
            raise InputError(
                "only an Avatarizer is known well enough to simulate one more profile",
                reason=Reason("only_avatarizer"),
            )
        published = source.draw(setup.target)
        inserted = source.inserted(published)
        if isinstance(inserted, Reason):
            raise InputError(
                f"no profile can be put among the rows of this method: {inserted.key}",
                reason=inserted,
            )
        yield from _arenas(self, inserted, published, setup, 0)


@dataclass(frozen=True)
class Nearest:
    """One full profile and one published release: the nearest row is taken (100 - hidden rate)."""

    name: str = "nearest"
    decisions: tuple[Decision, ...] = ("row",)

    def arenas(self, source: Source, setup: Setup) -> Iterator[Arena]:
        """One arena without releases: the profiles themselves stand where a mean would.

        Profiles are not compared, so its people are only those whose row is looked for.
        """
        target = source.draw(setup.target)
        famd = space_of(source.originals, setup.components or MOST_COMPONENTS)
        cast = Cast.of(len(source.originals), setup.seed, setup.targets)
        people = cast.targets[: cast.attacked]
        means = famd.transform(rows_of(source.originals, people))
        none = np.empty((0, famd.components, famd.components))
        cloud = Cloud(0, famd, means, none, is_bounded(famd, setup.components))
        points = transformed(famd, target, cast.targets, source.threads)
        own = replace(cast, people=people, truth=np.arange(cast.attacked))
        yield Arena(self.name, cloud, points, own, self.decisions)


def _arenas(
    scenario: Scenario, source: Source, target: Table, setup: Setup, start: int
) -> Iterator[Arena]:
    cast = Cast.of(len(source.originals), setup.seed, setup.targets)
    store = _store(setup, scenario.name, source)
    for cloud in accumulate(
        source,
        setup.counts,
        setup.components,
        order=cast.people,
        start=start,
        store=store,
        progress=setup.progress,
        memory=setup.memory,
    ):
        points = transformed(cloud.famd, target, cast.targets, source.threads)
        yield Arena(scenario.name, cloud, points, cast, scenario.decisions)


def _store(setup: Setup, name: str, source: Source) -> Store | None:
    """The store of this scenario and these data, parameters and, where one was given, seed."""
    if setup.folder is None:
        return None
    known = source.parameters
    seeded = fingerprint(source.draw(0)) if source.repeatable else None
    parts: Sequence[object] = (
        name,
        fingerprint(source.originals),
        sorted(known.items()),
        setup.counts,
        setup.components,
        setup.seed,
        setup.repeat,
        setup.memory,
        seeded,
    )
    return Store.of(setup.folder, *parts)
