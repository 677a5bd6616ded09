"""The attack laboratory: scenario x estimator x decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

from sosie.attack.decisions import Decision
from sosie.attack.moments import Progress
from sosie.attack.results import AttackReport, AttackResult, Rate
from sosie.attack.scenarios import V1, V2, Arena, Scenario, Setup
from sosie.attack.sources import AvatarSource, Generator, Source, source_of
from sosie.attack.strongest import Attacker, Chosen, choose, family, verdict
from sosie.errors import InputError
from sosie.table import Roles

__all__ = ["CURVE", "PUBLISHED_COMPONENTS", "attack", "curve_of"]

CURVE = (2, 3, 5, 10, 20, 35, 50, 100)
"""Numbers of releases of a curve."""

PUBLISHED_COMPONENTS = 12
"""Components in which the published protocol reproduces the article (with drawn categories)."""

MOST_TARGETS = 20_000
"""Of more targets than this, so many are drawn at random: the interval is narrow enough."""

ScenarioName = Literal["v1", "v2", "nearest", "insert", "partial", "all"]
EstimatorName = Literal["published", "pooled", "nearest-mean", "diagonal", "analytic", "geometry", "all"]

SCENARIOS: dict[str, Scenario] = {"v1": V1(), "v2": V2()}
FROM_RELEASES = ("published", "pooled", "nearest-mean", "diagonal")


def curve_of(releases: int) -> tuple[int, ...]:
    """Numbers of releases of a curve up to some number.

    >>> curve_of(12)
    (2, 3, 5, 10, 12)
    """
    return (*(t for t in CURVE if t < releases), releases)


@dataclass(frozen=True)
class _Order:
    """What was asked for."""

    estimator: str
    decision: Decision | None
    components: int | None
    shrinkage: float | None
    candidates: int


def attack(
    data: Any,
    generator: Generator,
    *,
    scenario: ScenarioName = "v1",
    estimator: EstimatorName = "all",
    decision: Decision | None = None,
    releases: int = 100,
    candidates: int = 50,
    components: int | None = None,
    shrinkage: float | None = None,
    curve: bool = False,
    repeats: int = 1,
    targets: int | None = None,
    roles: Roles | None = None,
    seed: int = 0,
    folder: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> AttackReport:
    source = source_of(data, generator, roles)
    order = _Order(estimator, decision, components, shrinkage, candidates)
    rows = len(source.originals)
    _check(order, rows, releases, repeats)
    counts = curve_of(releases) if curve else (releases,)
    limit = targets if targets is not None else (MOST_TARGETS if rows > MOST_TARGETS else None)
    setup = Setup(counts, components, seed, limit, 0, None if folder is None else str(folder), progress)
    names = tuple(SCENARIOS) if scenario == "all" else (scenario,)
    results: list[AttackResult] = []
    strongest: dict[str, AttackResult] = {}
    for name in names:
        found = list(_scenario(SCENARIOS[name], source, setup, order))
        results.extend(found)
    return AttackReport(rows, source.parameters, tuple(results), strongest)


def _scenario(scenario: Scenario, source: Source, setup: Setup, order: _Order) -> Iterator[AttackResult]:
    for arena in scenario.arenas(source, setup):
        yield from _arena(arena, order)


def _arena(arena: Arena, order: _Order) -> Iterator[AttackResult]:
    most = arena.cloud.components
    if order.estimator in ("published", "all"):
        d = min(order.components or PUBLISHED_COMPONENTS, most)
        attacker = family("published", d, most)[0]
        attacker = replace(attacker, decision=order.decision or "likelihood")
        yield attacker.result(arena, verdict(arena, attacker, order.candidates), order.candidates)
    if order.estimator != "published":
        attackers = family(order.estimator, order.components, most, order.shrinkage)
        yield choose(arena, attackers, order.candidates).result


def _check(order: _Order, rows: int, releases: int, repeats: int) -> None:
    if order.candidates > rows:
        raise InputError(f"{order.candidates} candidates are more than the {rows} people of the table")
    if releases < 2:
        raise InputError(f"a covariance needs at least 2 releases, got {releases}")
