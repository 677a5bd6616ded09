"""The attack section: published protocol beside the strongest attacker, all results, curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sosie.report.figures.drawing import Figure
from sosie.report.figures.rates import Curve, curve
from sosie.report.views.lists import Cell
from sosie.words import Words
from sosie.words.readings import reasons

__all__ = ["ROWS", "AttackView", "CurveView", "Result", "attack_reading", "attacks"]

ROWS = ("v2",)
"""Scenarios in which rows are singled out rather than people."""
_MOST = 50
_LINES = 6


@dataclass(frozen=True, slots=True)
class Result:
    """One attack's result, every text ready; ``note`` says what else to know, if anything."""

    scenario: str
    estimator: str
    decision: str
    note: str
    components: Cell
    releases: Cell
    candidates: Cell
    rate: Cell
    interval: str
    chance: Cell
    recall: Cell
    targets: Cell


@dataclass(frozen=True, slots=True)
class CurveView:
    """One scenario's rates against the number of releases."""

    id: str
    title: str
    alt: str
    figure: Figure
    lines: tuple[Curve, ...]
    releases: tuple[int, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class AttackView:
    """The whole section."""

    settings: str
    results: tuple[Result, ...]
    curves: tuple[CurveView, ...]
    glossary: tuple[tuple[str, str], ...]
    varied: tuple[Result, ...]
    """The published protocol in other components or with other candidates."""


def attacks(words: Words, attack: Mapping[str, Any]) -> AttackView:
    """Read ``attack.json``."""
    results = attack["results"]
    keys = dict.fromkeys(result["scenario"] for result in results)
    return AttackView(
        settings=_settings(words, attack),
        results=tuple(_result(words, result) for result in results),
        curves=tuple(_curves(words, keys, results, attack.get("published") or {})),
        glossary=_glossary(words, results),
        varied=tuple(_result(words, result) for key in keys for result in _varied(key, results)),
    )


def _varied(scenario: str, results: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Results of the published protocol at its most releases, where there are several."""
    mine = [
        result
        for result in results
        if result["scenario"] == scenario
        and result["estimator"] == "published"
        and result["rate"] is not None
    ]
    most = max((result.get("releases") or 0 for result in mine), default=0)
    last = [result for result in mine if (result.get("releases") or 0) == most]
    ranked = sorted(last, key=lambda r: (r.get("candidates") or 0, r.get("attack_components") or 0))
    return ranked if len(ranked) > 1 else []


def _scenario_name(words: Words, key: str) -> str:
    return words.get(f"attack.scenarios.{key}.name", key)


def _settings(words: Words, attack: Mapping[str, Any]) -> str:
    if any(attack.get(key) is None for key in ("rows", "k", "components")):
        return ""
    method, decode = str(attack.get("method", "")), str(attack.get("decode") or "")
    return words(
        "attack.settings_decode" if decode else "attack.settings",
        rows=words.number(attack["rows"]),
        k=words.number(attack["k"]),
        components=words.number(attack["components"]),
        method=words.get(f"report.methods.{method}", method),
        decode=words.get(f"report.methods.{decode}", decode),
    )


def attack_reading(words: Words, result: Mapping[str, Any]) -> str:
    """What a rate says beside its chance level, in a sentence that fits it."""
    rate, chance = result["rate"], result.get("chance")
    if rate is None:
        return reasons(words, result)
    shown = {"rate": words.value(rate, "%"), "chance": words.value(chance, "%")}
    own = f"attack.reading_{result.get('estimator')}"
    if own in words:
        return words(own, column=result.get("column"), **shown)
    if chance is None:
        return words("attack.reading_untold", **shown)
    return " ".join([_reading(words, rate, result, shown), *_example(words, result)])


def _example(words: Words, result: Mapping[str, Any]) -> Iterable[str]:
    """The rate as a number of those attacked."""
    if targets := result.get("targets"):
        key = "attack.example_rows" if result.get("scenario") in ROWS else "attack.example"
        count = words.number(round(targets * result["rate"] / 100))
        yield words(key, targets=words.number(targets), count=count)


def _reading(words: Words, rate: float, result: Mapping[str, Any], shown: Mapping[str, str]) -> str:
    chance = result["chance"]
    if rate <= chance:
        return words("attack.reading_chance", **shown)
    if (result.get("ci") or [rate])[0] <= chance:
        return words("attack.reading_unsure", **shown)
    return words("attack.reading_most" if rate > _MOST else "attack.reading_above", **shown)


def _result(words: Words, result: Mapping[str, Any]) -> Result:
    def number(key: str, unit: str | None = None) -> Cell:
        return Cell(words.value(result.get(key), unit), result.get(key))

    scenario, estimator, decision = (
        str(result.get(key, "")) for key in ("scenario", "estimator", "decision")
    )
    return Result(
        scenario=words.get(f"attack.scenarios.{scenario}.short", scenario),
        estimator=words.get(f"attack.estimators.{estimator}.name", estimator),
        decision=words.get(f"attack.decisions.{decision}.name", decision),
        note=words.joined(_notes(words, result)),
        components=number("attack_components"),
        releases=number("releases"),
        candidates=number("candidates"),
        rate=number("rate", "%"),
        interval=words.interval(result.get("ci"), "%"),
        chance=number("chance", "%"),
        recall=number("recall", "%"),
        targets=number("targets"),
    )


def known_columns(words: Words, result: Mapping[str, Any]) -> str:
    """Who knows which columns, of a result of whom they were named."""
    label, columns = words("attack.known_columns"), ", ".join(result["known_columns"])
    if result.get("actor"):
        return words("attack.known_by", actor=result["actor"], columns=columns)
    return words("format.colon", label=label, value=columns)


def _notes(words: Words, result: Mapping[str, Any]) -> Iterable[str]:
    if result.get("known_columns"):
        yield known_columns(words, result)
    elif result.get("known") is not None:
        yield words.count("attack.known", result["known"])
    if result.get("area") is not None:
        yield words("attack.area", area=words.value(result["area"]))
    if result.get("versions") is not None:
        yield words(f"attack.versions.{result['versions']}")
    if result.get("column") is not None:
        yield words("format.colon", label=words("attack.column"), value=result["column"])
    if result.get("bound") is not None:
        yield words("attack.bound", bound=words.value(result["bound"], "%"))
    yield reasons(words, result)


def _glossary(words: Words, results: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    entries: dict[str, str] = {}
    for kind, field in (("estimators", "estimator"), ("decisions", "decision")):
        for result in results:
            key = f"attack.{kind}.{result.get(field)}"
            if f"{key}.name" in words:
                entries[words(f"{key}.name")] = words(f"{key}.definition")
    return tuple(entries.items())


def _curves(
    words: Words,
    keys: Iterable[str],
    results: Sequence[Mapping[str, Any]],
    published: Mapping[str, float],
) -> Iterable[CurveView]:
    for place, key in enumerate(keys, start=1):
        mine = [
            result for result in results if result["scenario"] == key and result["rate"] is not None
        ]
        lines = _lines(words, [result for result in mine if result.get("releases")])
        if lines:
            levels = list(_levels(words, mine, published.get(key)))
            yield _curve_view(words, f"curve-{place}", key, lines, levels, mine)


def _lines(words: Words, results: list[Mapping[str, Any]]) -> tuple[Curve, ...]:
    def family(result: Mapping[str, Any]) -> tuple[str, ...]:
        if result.get("chosen_among") is not None:  # the best at each number of releases
            return ("",)
        fields = ("estimator", "decision", "attack_components")
        return tuple(str(result.get(name)) for name in fields)

    found = []
    for key, members in groupby(sorted(results, key=family), key=family):
        points = _highest(members)
        if len(points) < 2:
            continue
        first = _result(words, points[0])
        label = first.estimator if any(key) else words("attack.strongest_line")
        if any(key) and points[0].get("attack_components") is not None:
            label = words("attack.with_components", estimator=label, n=first.components.text)
        found.append(
            Curve(
                label,
                tuple(point["releases"] for point in points),
                tuple(point["rate"] for point in points),
                tuple(tuple(point["ci"]) if point.get("ci") else None for point in points),
                published=any(key) and points[0]["estimator"] == "published",
            )
        )
    # The published protocol first, then the strongest: a figure of twenty lines says nothing.
    found.sort(key=lambda line: (not line.published, -max(line.rates)))
    return tuple(found[:_LINES])


def _highest(results: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The highest rate at each number of releases, in order."""
    best: dict[int, Mapping[str, Any]] = {}
    for result in results:
        at = result["releases"]
        if at not in best or result["rate"] > best[at]["rate"]:
            best[at] = result
    return [best[at] for at in sorted(best)]


def _levels(
    words: Words, results: Sequence[Mapping[str, Any]], article: float | None
) -> Iterable[tuple[str, float]]:
    without: dict[str, float] = {}
    chance = _chance(results)
    for result in results:
        if result.get("releases") == 0:
            name = _result(words, result).estimator
            without[name] = max(without.get(name, 0.0), result["rate"])
    if chance is not None:
        yield words("attack.chance"), chance
    if article is not None:
        yield words("attack.article"), article
    for name, rate in without.items():
        yield words("attack.no_release", estimator=name), rate


def _chance(results: Iterable[Mapping[str, Any]]) -> float | None:
    """What a blind choice would give the attacker with the highest rate."""
    told = [result for result in results if result.get("chance") is not None]
    return max(told, key=lambda r: float(r["rate"]))["chance"] if told else None


def _curve_view(
    words: Words,
    identifier: str,
    key: str,
    lines: tuple[Curve, ...],
    levels: list[tuple[str, float]],
    results: list[Mapping[str, Any]],
) -> CurveView:
    name = _scenario_name(words, key)
    releases = tuple(sorted({release for line in lines for release in line.releases}))
    rows = []
    for line in lines:
        known = dict(zip(line.releases, line.rates, strict=True))
        cells = tuple(words.value(known.get(release), "%") for release in releases)
        rows.append((line.label, cells))
    highest = max(result["rate"] for result in results)
    chance = _chance(results)
    return CurveView(
        id=identifier,
        title=words("attack.curve", scenario=name),
        alt=words(
            "attack.curve_alt",
            scenario=name,
            rate=words.value(highest, "%"),
            chance=words.value(chance, "%"),
        ),
        figure=curve(words, lines, levels),
        lines=lines,
        releases=releases,
        rows=tuple(rows),
    )
