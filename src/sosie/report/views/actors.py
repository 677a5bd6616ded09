"""Actors against scenarios: what each could do, as published and at the strongest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sosie.audits.account import HOLDERS
from sosie.report.views.attacks import ROWS, attack_reading, known_columns
from sosie.report.views.lists import Cell
from sosie.words import Words
from sosie.words.readings import Standing

__all__ = ["SCENARIOS", "ActorRow", "ActorView", "Found", "actors"]

SCENARIOS: Mapping[str, tuple[str, ...]] = {
    "controller": ("v1",),
    "profile": ("nearest", "insert"),
    "columns": ("partial",),
    "file": ("v2",),
}
"""The scenarios that each holder can play; those of no holder are the controller's."""


LINKAGE = ("hidden_rate", *(key for keys in SCENARIOS.values() for key in keys))
"""Rows whose rate is that of people named, or of rows singled out."""


@dataclass(frozen=True, slots=True)
class Found:
    """A rate with all that must stand beside it; ``order`` is the rate, in percent."""

    rate: Cell
    interval: str
    chance: Cell
    how: str
    ends: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ActorRow:
    """One scenario of an actor; ``reading`` says what the strongest rate means."""

    key: str
    scenario: str
    question: str
    published: Found | None
    article: str
    strongest: Found | None
    missing: str
    reading: str
    standing: Standing | None = None
    """Against the target of attackers; None where it is not judged."""


@dataclass(frozen=True, slots=True)
class ActorView:
    """One actor; ``stated`` is who that could be, empty where nobody said."""

    key: str
    name: str
    holds: str
    stated: str
    rows: tuple[ActorRow, ...]

    @property
    def strongest(self) -> Found | None:
        """The strongest rate of those that link or single out; None where none was measured."""
        rows = (row for row in self.rows if row.key in LINKAGE)
        found = [row.strongest for row in rows if row.strongest is not None]
        return max(found, key=lambda found: found.rate.order or 0.0, default=None)

    @property
    def reading(self) -> str:
        """What its strongest rate means."""
        return next((row.reading for row in self.rows if row.strongest is self.strongest), "")


def actors(
    words: Words,
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None,
    guarantee: Mapping[str, Any] | None = None,
) -> tuple[ActorView, ...]:
    """Read ``attack.json``, where there is one, the hidden rate and what was stated.

    Parameters
    ----------
    guarantee : of ``run.json``, by which who holds everything is judged.
    """
    results = [] if attack is None else list(attack["results"])
    strongest = {} if attack is None else attack["strongest"]
    articles = {} if attack is None else attack.get("published") or {}
    stated = ((audit.get("context") or {}).get("stated") or {}).get("holders") or {}
    known = {scenario for scenarios in SCENARIOS.values() for scenario in scenarios}
    others = tuple(
        dict.fromkeys(r["scenario"] for r in results if r["scenario"] not in known)
    ) + tuple(key for key in strongest if key not in known)
    views = []
    for holder in HOLDERS:
        keys = SCENARIOS[holder] + (tuple(dict.fromkeys(others)) if holder == "controller" else ())
        rows = tuple(
            _row(words, key, results, strongest.get(key), articles.get(key)) for key in keys
        )
        if holder == "profile":
            rows = _profile(_complement(words, audit, attack, articles), rows)
        goal = (audit.get("context") or {}).get("attack_target")
        if goal is not None:
            rows = tuple(_judged(words, holder, row, goal, guarantee or {}) for row in rows)
        views.append(
            ActorView(
                holder,
                words(f"actors.{holder}.name"),
                words(f"actors.{holder}.holds"),
                str(stated.get(holder, "")),
                rows,
            )
        )
    return tuple(views)


def _judged(
    words: Words, holder: str, row: ActorRow, goal: float, guarantee: Mapping[str, Any]
) -> ActorRow:
    """With how its rate stands against the target of attackers.

    Who holds everything is judged by the guarantee, which bounds every attacker.
    """
    target = words.target(goal, "lower", "%")
    if row.key not in LINKAGE:
        return row  # no person is named
    if holder == "controller":
        bound = guarantee.get("bound")
        if bound is None:
            met, verdict = False, words("actors.judged_none", target=target)
        else:
            met, share = 100 * bound <= goal, words.value(100 * bound, "%")
            key = f"actors.judged_bound_{'met' if met else 'missed'}"
            verdict = words(key, bound=share, target=target)
        standing = Standing.CLEAR if met else Standing.MISSED
        read = f"{row.reading} {verdict}" if row.reading else verdict
        return replace(row, reading=read, standing=standing)
    if row.strongest is None or row.strongest.rate.order is None:
        return row
    met = row.strongest.rate.order <= goal
    verdict = words(f"actors.judged_{'met' if met else 'missed'}", target=target)
    standing = Standing.CLEAR if met else Standing.MISSED
    return replace(row, reading=f"{row.reading} {verdict}", standing=standing)


def _profile(complement: ActorRow, rows: tuple[ActorRow, ...]) -> tuple[ActorRow, ...]:
    """The nearest avatar once, measured by the attacks where they were run; then the others."""
    nearest, *others = rows
    if nearest.strongest is not None:
        complement = replace(complement, strongest=nearest.strongest, reading=nearest.reading)
    return (complement, *(row for row in others if row.strongest is not None))


def _row(
    words: Words,
    key: str,
    results: Sequence[Mapping[str, Any]],
    strongest: Mapping[str, Any] | None,
    article: float | None,
) -> ActorRow:
    mine = [r for r in results if r["scenario"] == key and r["rate"] is not None]
    published = [r for r in mine if r["estimator"] == "published"]
    fullest = max(published, key=lambda r: (r.get("releases") or 0, r["rate"]), default=None)
    best = strongest if strongest is not None and strongest["rate"] is not None else None
    if best is None:
        best = max(mine, key=lambda r: float(r["rate"]), default=None)
    return ActorRow(
        key=key,
        scenario=words.get(f"attack.scenarios.{key}.name", key),
        question=words.get(f"attack.scenarios.{key}.question", ""),
        published=None if fullest is None else _found(words, fullest),
        article="" if article is None else words("actors.article", rate=words.value(article, "%")),
        strongest=None if best is None else _found(words, best),
        missing=words("actors.not_run_how", scenario=key),
        reading="" if best is None else _reading(words, key, best),
    )


def _reading(words: Words, key: str, best: Mapping[str, Any]) -> str:
    text = attack_reading(words, best)
    return f"{text} {words('attack.reading_rows')}" if key in ROWS else text


def _complement(
    words: Words,
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None,
    articles: Mapping[str, float],
) -> ActorRow:
    """The attacker with one whole profile, from the attacks or from the hidden rate."""
    result = None if attack is None else attack.get("hidden_rate_complement")
    hidden = audit["privacy"].get("hidden_rate") or {}
    if result is None and hidden.get("value") is not None:
        ends = hidden.get("ci")
        result = {
            "rate": 100 - hidden["value"],
            "ci": None if ends is None else [100 - ends[1], 100 - ends[0]],
        }
    article = articles.get("hidden_rate_complement")
    if result is not None and result.get("chance") is None:
        people = audit.get("avatars") or audit.get("rows") or (attack or {}).get("rows")
        result = {**result, "chance": 100 / people if people else None}
    found = None if result is None else _found(words, result, words("actors.rate_from_metric"))
    return ActorRow(
        key="hidden_rate",
        scenario=words("attack.scenarios.nearest.name"),
        question=words("attack.scenarios.nearest.question"),
        published=found,
        article="" if article is None else words("actors.article", rate=words.value(article, "%")),
        strongest=found,
        missing=words("actors.not_run"),
        reading="" if result is None else attack_reading(words, result),
    )


def _found(words: Words, result: Mapping[str, Any], how: str = "") -> Found:
    estimator = str(result.get("estimator", ""))
    if not how:
        how = words(
            "actors.how",
            estimator=words.get(f"attack.estimators.{estimator}.name", estimator),
            releases=_releases(words, result.get("releases")),
        )
        if result.get("known_columns"):
            how = words.joined([how, known_columns(words, result)])
        elif result.get("known") is not None:
            how = words.joined([how, words.count("attack.known", result["known"])])
    ends = result.get("ci")
    return Found(
        rate=Cell(words.value(result["rate"], "%"), result["rate"]),
        interval=words.interval(ends, "%"),
        chance=Cell(words.value(result.get("chance"), "%"), result.get("chance")),
        how=how,
        ends=None if ends is None else (ends[0], ends[1]),
    )


def _releases(words: Words, number: int | None) -> str:
    return words("actors.releases_none") if not number else words.count("actors.releases", number)
