"""The attack laboratory: scenario x estimator x decision, and the report of what they find."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from sosie.attacks.decisions import Decision
from sosie.attacks.estimators import DECLARATIONS
from sosie.attacks.moments import Progress, pooled_columns
from sosie.attacks.profile import hidden_rate_complement, partial, related
from sosie.attacks.results import AttackReport, AttackResult
from sosie.attacks.scenarios import DECLARATIONS as DECLARED
from sosie.attacks.scenarios import V1, V2, Arena, Cast, Insert, Nearest, Scenario, Setup
from sosie.attacks.sources import AvatarSource, Generator, Source, source_of
from sosie.attacks.strongest import Attacker, choose, family, verdict
from sosie.attacks.unaided import UNAIDED, Unaided, unaided
from sosie.compute.threads import one_blas_thread
from sosie.data.table import Numbers, Roles, Table
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.latent.common_levels import MOST_LEVELS

__all__ = ["CURVE", "ESTIMATORS", "PUBLISHED_COMPONENTS", "SCENARIOS", "attack", "curve_of"]

CURVE = (2, 3, 5, 10, 20, 35, 50, 100)
"""Numbers of releases of a curve."""

SWEEP = (5, 10, 15)
"""Other components in which the published protocol is tried."""

PUBLISHED_COMPONENTS = 12
"""Components in which the published protocol reproduces the article (with drawn categories)."""

MOST_TARGETS = 10_000
"""Of more targets than this, so many are drawn at random: the interval is narrow enough."""

MIXER = 0x9E3779B97F4A7C15
"""An odd number whose product spreads the bits of a row's key."""

NAMING = ("v1", "nearest", "insert", "partial")
"""Scenarios in which a person is named: a guarantee bounds these."""

AIDED = tuple(DECLARATIONS)
"""Estimators from releases."""

ESTIMATORS = (*AIDED, *UNAIDED, "all")
"""What may be asked for as an estimator."""

LINKAGE = ("v1", "v2", "nearest", "insert", "partial")

SCENARIOS = (*LINKAGE, *DECLARED, "all")
"""What may be asked for as a scenario."""

_SCENARIOS: dict[str, Scenario] = {"v1": V1(), "v2": V2(), "insert": Insert(), "nearest": Nearest()}


def curve_of(releases: int) -> tuple[int, ...]:
    """Numbers of releases of a curve up to some number.

    >>> curve_of(12)
    (2, 3, 5, 10, 12)
    """
    return (*(t for t in CURVE if t < releases), releases)


@dataclass(frozen=True)
class _Order:
    """What was asked for."""

    estimators: tuple[str, ...]
    decision: Decision | None
    components: int | None
    shrinkage: float | None
    candidates: int
    releases: int
    repeats: int
    several: bool = False
    """Whether several scenarios are asked for: one that can't be played says why."""
    known: Mapping[str, Sequence[Hashable]] = field(default_factory=dict)

    @property
    def everything(self) -> bool:
        """Whether all estimators are asked for."""
        return self.estimators == (*AIDED, *UNAIDED)

    @property
    def aided(self) -> tuple[str, ...]:
        """Estimators from releases."""
        return tuple(name for name in self.estimators if name in AIDED)

    @property
    def unaided(self) -> tuple[str, ...]:
        """Estimators that need no release."""
        return tuple(name for name in self.estimators if name in UNAIDED)


@dataclass(frozen=True)
class _Found:
    """A result with what is needed to repeat it, and to rank it.

    Attributes
    ----------
    result : as reported.
    rate : on the half on which attackers are compared, in 0..1; None where it is no contender.
    attacker : who it was; None for an attack without releases.
    """

    result: AttackResult
    rate: float | None = None
    attacker: Attacker | None = None


def attack(
    data: Any,
    generator: Generator,
    *,
    scenario: str | Sequence[str] = "v1",
    estimator: str | Sequence[str] = "all",
    decision: Decision | None = None,
    releases: int = 100,
    candidates: int = 50,
    components: int | None = None,
    shrinkage: float | None = None,
    curve: bool | Sequence[int] = False,
    repeats: int = 1,
    targets: int | None = None,
    holdout: Any = None,
    law: Avatarizer | None = None,
    roles: Roles | None = None,
    known: Sequence[Hashable] | Mapping[str, Sequence[Hashable]] = (),
    seed: int = 0,
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> AttackReport:
    """Attack a generator as its strongest opponents would.

    Parameters
    ----------
    data : the originals: a pandas, polars or pyarrow table, one row a person.
    generator : an `Avatarizer`, `Releases` that exist already, or any object with
        ``fit(df)`` and ``release(r)`` aligned by row. It is copied, not changed.
    scenario : what the attacker holds.
        ``v1``: the originals and the generator. ``v2``: one published release and the
        generator. ``nearest``: one full profile and one release. ``insert``: the same and
        the generator. ``partial``: some columns of a profile and one release.
        ``contributor``: the originals and one release, to name whose row weighs most in a
        record. ``groups``: who is in which group of exchangeable avatars. ``swap``: everybody
        but one, to tell which of two people was in the table (minutes; not among ``all``).
        ``reconstruct``: published releases alone, to rebuild rows of the originals (not among
        ``all``). One, several, or ``all``.
    estimator : how a person's avatars are modelled. From releases: ``published``,
        ``pooled``, ``nearest-mean``, ``diagonal``. From the generator's law, without
        release (V1): ``analytic``, ``geometry``, ``combined``, ``bayes``. One, several, or
        ``all``: the published protocol, the strongest from releases, those from the law.
    decision : how a target is assigned: ``likelihood`` (among the nearest candidates),
        ``likelihood-all``, ``one-to-one``, ``row`` (the likeliest row under a person's own
        distribution). None: the published protocol uses ``likelihood``, others what does best.
    releases : how many the attacker makes, at least 2 where his estimator needs any.
        The attacked release is one more.
    candidates : people whose mean is nearest to a target, for ``likelihood``.
    components : dimensions of his latent space. None: 12 for the published protocol,
        others what does best, of 40 at most.
    shrinkage : of ``pooled``, in 0..1. None: what does best.
    curve : also at 2, 3, 5, 10, 20, 35, 50, 100 releases, up to `releases`; or at some others.
    repeats : run so many times, each on releases of its own, to show the spread.
    targets : attack at most so many, drawn at random. None: all, or 10,000 of more.
    holdout : people who took no part, with the columns of the originals: what ``reconstruct``
        is held against.
    law : the Avatarizer that he believes made the releases, where `generator` is none.
    roles : how columns are read, where `generator` does not say.
    known : columns that ``partial`` knows; by default sets of them drawn at random.
    seed : of the attacker's own coin tosses; not of any avatars, and not secret.
    folder : private folder where moments are kept after each release, so that an
        interrupted attack goes on; with a seed in the generator, exactly.
    progress : called as ``progress(done, total, what)`` after each release.

    Returns
    -------
    AttackReport
        ``to_dict()`` is attack.json.

    Raises
    ------
    InputError
        Fewer than 2 releases, more candidates than people, releases that are not aligned
        or have other columns, an unknown name.

    Notes
    -----
    "What does best" is chosen on one half of the targets, and the rate is that of the
    other half. Protocol: see docs/attacks.md.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"a": [i * 37 % 41 for i in range(80)], "b": list(range(80))})
    >>> avatarizer = Avatarizer(k=5, seed=1, numeric=["b"])
    >>> report = attack(people, avatarizer, estimator="published", releases=10)
    >>> [(result.scenario, result.releases, result.targets) for result in report.results]
    [('v1', 10, 80)]
    """
    played = (scenario,) if isinstance(scenario, str) else tuple(scenario)
    if "all" in played:
        played = (*LINKAGE, *(one.key for one in DECLARED.values() if not one.alone))
    names = (estimator,) if isinstance(estimator, str) else tuple(estimator)
    asked: tuple[str, ...] = (*AIDED, *UNAIDED) if "all" in names else names
    order = _Order(
        asked,
        decision,
        components,
        shrinkage,
        candidates,
        releases,
        repeats,
        several=len(played) > 1,
        known=known if isinstance(known, Mapping) else {"": tuple(known)} if known else {},
    )
    for one in played:
        _check(order, one)
    source = source_of(data, generator, roles)
    rows = len(source.originals)
    if candidates > rows:
        raise InputError(
            f"{candidates} candidates are more than the {rows} people of the table; ask for fewer"
        )
    laboratory = _Laboratory(
        source=source,
        law=_law_of(source, law),
        order=order,
        setup=Setup(
            counts=_counts(curve, releases),
            components=components,
            seed=seed,
            targets=targets if targets is not None else min(rows, MOST_TARGETS),
            folder=None if folder is None else str(folder),
            progress=progress,
            holdout=holdout,
        ),
    )
    with one_blas_thread():
        return laboratory.report(played)


def _check(order: _Order, scenario: str) -> None:
    if scenario not in SCENARIOS:
        known = ", ".join(SCENARIOS)
        raise InputError(f"unknown scenario {scenario!r}; there are {known}")
    unknown = [name for name in order.estimators if name not in (*AIDED, *UNAIDED)]
    if unknown:
        known = ", ".join((*AIDED, *UNAIDED, "all"))
        raise InputError(f"unknown estimator {unknown[0]!r}; there are {known}")
    alone = not order.several
    if alone and scenario in ("v2", "insert") and not order.aided:
        raise InputError(f"{order.estimators[0]} needs the originals: it is for scenario v1")
    needs = (scenario == "v1" and not order.unaided) or scenario in ("v2", "insert")
    if alone and needs and order.releases < 2:
        raise InputError(
            f"a mean and a covariance need at least 2 releases, got {order.releases}; "
            "only analytic, geometry, combined and bayes need none"
        )
    for name, value, least in (
        ("releases", order.releases, 0),
        ("candidates", order.candidates, 1),
        ("repeats", order.repeats, 1),
        ("components", 1 if order.components is None else order.components, 1),
    ):
        if value < least:
            raise InputError(f"{name} must be at least {least}, got {value}")
    if order.shrinkage is not None and not 0 <= order.shrinkage <= 1:
        raise InputError(f"shrinkage must be between 0 and 1, got {order.shrinkage}")


def _counts(curve: bool | Sequence[int], releases: int) -> tuple[int, ...]:
    if releases < 2 or curve is False:
        return (releases,)
    if curve is True:
        return curve_of(releases)
    if any(not 2 <= count <= releases for count in curve):
        raise InputError(
            f"numbers of releases of a curve go from 2 to {releases}, got {list(curve)}"
        )
    return tuple(sorted({*curve, releases}))


def _law_of(source: Source, law: Avatarizer | None) -> Avatarizer | Reason:
    """The Avatarizer whose law the attacker works out, or why there is none."""
    if law is not None:
        law = law.unconstrained().fit(source.originals)
    elif isinstance(source, AvatarSource):
        law = source.avatarizer
    else:
        return Reason("law_unknown")
    return law.fitted.law if isinstance(law.fitted.law, Reason) else law


def _twins(table: Table) -> int:
    """People whose encoded row another one has too."""
    key = np.zeros(len(table), dtype=np.uint64)
    for column in table.columns:
        if isinstance(column, Numbers):
            cells = (column.values + 0.0).view(np.uint64)  # -0.0 is 0.0
        else:
            cells = column.codes.astype(np.uint64)
        key = (key ^ cells) * np.uint64(MIXER)
        key ^= key >> np.uint64(29)
    _, counts = np.unique(key, return_counts=True)
    return int(counts[counts > 1].sum())


def _bounded(results: Sequence[AttackResult]) -> Iterator[Reason]:
    """What deserves a look where the latent space has more components than were tried."""
    kept = sorted({r.most_components for r in results if r.most_components is not None})
    if kept:
        yield Reason("more_components", {"components": kept[-1]})


@dataclass(frozen=True)
class _Laboratory:
    source: Source
    law: Avatarizer | Reason
    order: _Order
    setup: Setup

    def report(self, names: Sequence[str]) -> AttackReport:
        """Everything that was asked for."""
        found = {name: [self._guaranteed(f) for f in self._scenario(name)] for name in names}
        strongest = {
            name: max(contenders, key=lambda f: f.rate or 0.0).result
            for name, all_found in found.items()
            if (contenders := [f for f in all_found if f.rate is not None])
        }
        own = self.source.originals
        target = self.source.draw(self.setup.target)
        results = [f.result for all_found in found.values() for f in all_found]
        if not related(own, target, self.setup.seed):
            unrelated = Reason("rows_unrelated")
            results = [
                r if r.rate is None else replace(r, reasons=(*r.reasons, unrelated))
                for r in results
            ]
        return AttackReport(
            rows=len(own),
            parameters=self.source.parameters,
            results=tuple(results),
            strongest=strongest,
            hidden_rate_complement=hidden_rate_complement(own, target, self._own_components()),
            notes=(*self._notes(), *_bounded(results)),
        )

    def _guaranteed(self, found: _Found) -> _Found:
        """With the bound of a guarantee, and the chance of one who knows the groups.

        Members of a group of s people are named right with probability 1 / s by a blind choice
        among them: over all people, as many as there are groups.
        """
        result = found.result
        if result.rate is None or result.scenario not in NAMING or self.source.guarantee is None:
            return found
        known, chance = self.source.guarantee, result.chance
        if result.scenario == "v1" and known.groups is not None:
            chance = 100 * known.groups / len(self.source.originals)
        bound = None if known.bound is None else 100 * known.bound
        return replace(found, result=replace(result, chance=chance, bound=bound))

    def _own_components(self) -> int:
        return int(self.source.parameters.get("components", 5))

    def _notes(self) -> Iterator[Reason]:
        people, attacked = len(self.source.originals), self.setup.targets
        if attacked is not None and attacked < people:
            yield Reason("some_attacked", {"attacked": attacked, "people": people})
        if pooled := pooled_columns(self.source.originals):
            values = {"columns": [str(name) for name in pooled], "common": MOST_LEVELS - 1}
            yield Reason("levels_pooled", values)
        if twins := _twins(self.source.originals):
            yield Reason("same_rows", {"n": twins})
        roles = self.source.originals.roles
        if roles.keep:
            yield Reason("kept_not_attacked", {"columns": [str(name) for name in roles.keep]})
        if int(self.source.parameters.get("augment", 1)) > 1:
            yield Reason("one_of_several_attacked")

    def _scenario(self, name: str) -> Iterator[_Found]:
        try:
            if name in DECLARED:
                yield from (
                    _Found(result) for result in DECLARED[name].play(self.source, self.setup)
                )
                return
            if name == "partial":
                components = self.order.components or self._own_components()
                for result in partial(self.source, self.setup, components, self.order.known):
                    yield _Found(result)
                return
            if name == "v1" and self.order.unaided:
                yield from self._unaided()
            if name == "nearest" or self.order.aided:
                yield from self._aided(_SCENARIOS[name])
        except InputError as error:
            if name == "v1" or not (self.order.everything or self.order.several):
                raise
            reason = error.reason or Reason("as_written", {"text": str(error)})
            yield _Found(AttackResult.none(name, "published", reason, releases=self.order.releases))

    def _aided(self, scenario: Scenario) -> Iterator[_Found]:
        if self.order.releases < 2 and scenario.name != "nearest":
            reason = Reason("two_releases")
            yield _Found(AttackResult.none(scenario.name, "published", reason))
            return
        found: list[_Found] = []
        for arena in scenario.arenas(self.source, self.setup):
            found.extend(self._arena(arena))
        for repeat in range(1, self.order.repeats):
            found = list(self._repeated(scenario, replace(self.setup, repeat=repeat), found))
        last = max(f.result.releases for f in found)
        for f in found:
            yield f if f.result.releases == last else replace(f, rate=None)

    def _arena(self, arena: Arena) -> Iterator[_Found]:
        order, most = self.order, arena.cloud.components
        if arena.scenario == "nearest":
            yield from self._nearest(arena)
            return
        if "published" in order.aided:
            yield from self._published(arena)
        if order.aided == ("published",):
            return
        attackers = family(order.aided, order.components, most, order.shrinkage, arena.people)
        if len(attackers) == 1 and order.decision:
            yield self._plain(arena, replace(attackers[0], decision=order.decision))
            return
        allowed = (order.decision,) if order.decision else arena.decisions
        chosen = choose(arena, attackers, order.candidates, allowed)
        yield _Found(chosen.result, chosen.rate, chosen.attacker)

    def _published(self, arena: Arena) -> Iterator[_Found]:
        """The published protocol; at the most releases also in other numbers of components."""
        order, most = self.order, arena.cloud.components
        sweep = [min(order.components or PUBLISHED_COMPONENTS, most)]
        if order.everything and order.components is None and self._last(arena):
            sweep += [d for d in (*SWEEP, most) if d < most or d == most != sweep[0]]
        for d in dict.fromkeys(sweep):
            attacker = family(("published",), d, most)[0]
            decided = replace(attacker, decision=order.decision or arena.decisions[0])
            yield self._plain(arena, decided)

    def _last(self, arena: Arena) -> bool:
        return arena.cloud.releases == self.setup.counts[-1]

    def _plain(self, arena: Arena, attacker: Attacker) -> _Found:
        said = verdict(arena, attacker, self.order.candidates)
        return _Found(attacker.result(arena, said, self.order.candidates), None, attacker)

    def _nearest(self, arena: Arena) -> Iterator[_Found]:
        """The nearest row: as the hidden rate has it, then in the components that do best."""
        most, only = arena.cloud.components, self.order.components
        attacker = family(("nearest-mean",), min(only or self._own_components(), most), most)[0]
        plain = self._plain(arena, replace(attacker, decision="row"))
        yield replace(plain, result=self._anyone(plain.result))
        several = family(("nearest-mean",), only, most)
        chosen = choose(arena, several, self.order.candidates, ("row",))
        result = self._anyone(chosen.result)
        yield _Found(result, chosen.rate, chosen.attacker)

    def _anyone(self, result: AttackResult) -> AttackResult:
        """The nearest of all rows: that only the first few are ranked is no choice of his."""
        rows = len(self.source.originals)
        return replace(
            result, estimator="nearest", candidates=rows, recall=100.0, chance=100 / rows
        )

    def _repeated(
        self, scenario: Scenario, setup: Setup, found: Sequence[_Found]
    ) -> Iterator[_Found]:
        """The same attackers on other releases."""
        arenas = {arena.cloud.releases: arena for arena in scenario.arenas(self.source, setup)}
        for f in found:
            rate = f.result.rate
            if f.attacker is None or rate is None:
                yield f
                continue
            arena = arenas[f.result.releases]
            again = 100 * float(verdict(arena, f.attacker, self.order.candidates).hit.mean())
            rates = (*(f.result.repeats or (rate,)), again)
            yield replace(f, result=replace(f.result, repeats=rates))

    def _unaided(self) -> Iterator[_Found]:
        order = self.order
        if isinstance(self.law, Reason):
            for name in order.unaided:
                yield _Found(AttackResult.none("v1", name, self.law, decision="likelihood-all"))
            return
        runs = [self._unaided_once(self.law, repeat) for repeat in range(order.repeats)]
        if not order.everything and "bayes" in order.unaided and "bayes" not in runs[0]:
            reason = Reason("no_noise")
            yield _Found(AttackResult.none("v1", "bayes", reason, decision="likelihood-all"))
        for name in runs[0]:
            first = runs[0][name]
            decision = first.best()
            result = first.result(decision, half=len(first.verdicts) > 1)
            if order.repeats > 1:
                rates = [100 * float(run[name].verdicts[decision].hit.mean()) for run in runs]
                result = result.with_repeats(rates)
            yield _Found(result, first.rate(decision))

    def _unaided_once(self, law: Avatarizer, repeat: int) -> dict[str, Unaided]:
        setup = replace(self.setup, repeat=repeat)
        target = self.source.draw(setup.target)
        cast = Cast.of(len(self.source.originals), setup.seed, setup.targets)
        wanted = self.order.decision
        allowed: tuple[Decision, ...] = ("likelihood-all", "one-to-one")
        if wanted is not None:
            allowed = ("one-to-one",) if wanted == "one-to-one" else ("likelihood-all",)
        names = self.order.unaided
        return {
            one.estimator: one for one in unaided(law, target, cast, names, allowed, setup.seed)
        }
