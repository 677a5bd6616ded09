"""Metrics by criterion: figures, intervals, targets, readings and advice, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sosie.audits.registry import definition_of
from sosie.report.views.lists import listed
from sosie.words import Words
from sosie.words.readings import Standing, advice, example, meaning, reading, reason, standing

__all__ = ["Bar", "CriterionView", "Judged", "MetricView", "criteria"]

CRITERIA = ("singling_out", "linkability", "inference")


@dataclass(frozen=True, slots=True)
class Bar:
    """A percent on a line from 0 to 100: all positions in percent of the line."""

    value: float
    target: float | None
    low: float | None
    width: float | None


@dataclass(frozen=True, slots=True)
class MetricView:
    """One metric, every text ready; ``interval`` is empty where there is none."""

    key: str
    place: int
    name: str
    unit: str
    value: str
    interval: str
    control: str
    target: str
    standing: Standing
    result: str
    meaning: str
    example: str
    source: str
    reading: str
    definition: str
    direction: str
    advice: tuple[str, ...]
    advice_keys: tuple[str, ...]
    bar: Bar | None
    controlled: bool = False


class Judged(NamedTuple):
    """An attacker by name, and how its rate stands against the target of attackers."""

    name: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class CriterionView:
    """One criterion: its metrics, its attackers, and its verdict in sentences.

    ``standing`` is that of its worst metric or attacker, None where nothing was measured.
    """

    key: str
    name: str
    definition: str
    metrics: tuple[MetricView, ...]
    standing: Standing | None
    result: str
    verdict: tuple[str, ...]
    attackers: tuple[Judged, ...] = ()

    def of(self, *standings: Standing) -> tuple[MetricView, ...]:
        """Metrics that stand so."""
        return tuple(metric for metric in self.metrics if metric.standing in standings)


def criteria(
    words: Words,
    audit: Mapping[str, Any],
    parameters: Mapping[str, Any],
    attackers: Mapping[str, Sequence[Judged]] | None = None,
) -> tuple[CriterionView, ...]:
    """The three criteria, measured or not, then membership and utility where measured.

    Parameters
    ----------
    attackers : those of each criterion: it is met only where they meet their target.
    """
    groups: dict[str, list[MetricView]] = {key: [] for key in CRITERIA}
    privacy, utility = audit["privacy"], audit["utility"]
    for place, (key, metric) in enumerate([*privacy.items(), *utility.items()], start=1):
        criterion = "utility" if place > len(privacy) else metric.get("criterion") or CRITERIA[0]
        view = _metric(words, key, place, metric, parameters, audit)
        groups.setdefault(str(criterion), []).append(view)
    return tuple(
        _criterion(words, key, metrics, (attackers or {}).get(key, ()))
        for key, metrics in groups.items()
    )


def _criterion(
    words: Words, key: str, metrics: list[MetricView], attackers: Sequence[Judged]
) -> CriterionView:
    judged = [Judged(metric.name, metric.standing) for metric in metrics] + list(attackers)
    worst = _worst(one.standing for one in judged)
    return CriterionView(
        key=key,
        name=words.get(f"criteria.{key}.name", key),
        definition=words.get(f"criteria.{key}.definition", ""),
        metrics=tuple(metrics),
        standing=worst,
        result=words(f"verdict.{worst or 'unmeasured'}"),
        verdict=_verdict(words, judged),
        attackers=tuple(attackers),
    )


def _worst(standings: Iterable[Standing]) -> Standing | None:
    order = (
        Standing.MISSED,
        Standing.NARROW,
        Standing.CLEAR,
        Standing.UNTARGETED,
        Standing.MISSING,
    )
    return min(standings, key=order.index, default=None)


def _verdict(words: Words, judged: Sequence[Judged]) -> tuple[str, ...]:
    if not judged:
        return ()

    def names(wanted: Standing) -> list[str]:
        return [one.name for one in judged if one.standing is wanted]

    missed, narrow = names(Standing.MISSED), names(Standing.NARROW)
    number = len(missed) + len(narrow) + len(names(Standing.CLEAR))
    sentences = []
    if missed and number == 1:
        sentences.append(words("verdict.names_missed_only", names=listed(words, missed)))
    elif missed:
        key = "verdict.names_missed_one" if len(missed) == 1 else "verdict.names_missed_many"
        sentences.append(words(key, missed=len(missed), n=number, names=listed(words, missed)))
    elif number:
        sentences.append(words.count("verdict.names_met", number))
    for key, some in (
        ("narrow", narrow),
        ("untargeted", names(Standing.UNTARGETED)),
        ("missing", names(Standing.MISSING)),
    ):
        if some:
            sentences.append(words(f"verdict.names_{key}", names=listed(words, some)))
    return tuple(sentences)


def _metric(
    words: Words,
    key: str,
    place: int,
    metric: Mapping[str, Any],
    parameters: Mapping[str, Any],
    audit: Mapping[str, Any],
) -> MetricView:
    where = standing(metric)
    unit, target = metric.get("unit"), metric.get("target")
    control = metric.get("control")
    says = meaning(words, key, metric)
    worst = metric.get("columns")
    if says and worst and f"metrics.{key}.means_column" in words:
        says = words(
            f"metrics.{key}.means_column",
            value=words.value(metric["value"], unit, target),
            column=worst[0]["column"],
        )
    if says and metric.get("percentile_5") is not None:
        says += " " + words("reading.percentile_5", value=words.value(metric["percentile_5"], unit))
    if says and control is not None:
        says += " " + words("reading.control", control=words.value(control, unit))
    says = " ".join(filter(None, [says, *_by_actor(words, metric)]))
    definition = definition_of(key)
    helps = () if definition is None or where is Standing.MISSING else definition.advice
    keys = advice(helps, parameters)
    return MetricView(
        key=key,
        place=place,
        name=words.get(f"metrics.{key}.name", key),
        unit=words.get(f"metrics.{key}.unit", ""),
        value=words.value(metric["value"], unit, target),
        interval=words.interval(metric["ci"], unit) if metric.get("ci") else "",
        control=words.value(control, unit),
        target=words.target(target, metric.get("direction"), unit),
        standing=where,
        result=words(f"standing.{where}"),
        meaning=says,
        example=example(words, key, metric, audit.get("rows")),
        source=_source(words, key, audit.get("context") or {}),
        reading=reading(words, metric),
        definition=words.get(f"metrics.{key}.definition", ""),
        direction=words.get(f"metrics.{key}.direction", ""),
        advice=tuple(words(f"advice.{name}") for name in keys),
        advice_keys=keys,
        bar=_bar(metric),
        controlled=control is not None,
    )


def _by_actor(words: Words, metric: Mapping[str, Any]) -> Iterable[str]:
    """What a metric is for each actor who knows some columns."""
    if "actors" not in metric and metric.get("known"):
        columns = ", ".join(map(str, metric["known"]))
        yield words("reading.known", columns=columns)
    for one in metric.get("actors") or ():
        value = words.value(one["value"], metric.get("unit"))
        if one["value"] is None:
            value = reason(words, one["reason"]).rstrip(".")
        columns = ", ".join(map(str, one["known"]))
        yield words("reading.actor", actor=one["actor"], columns=columns, value=value)


def _source(words: Words, key: str, context: Mapping[str, Any]) -> str:
    """Where the target comes from, or why there is none."""
    if key in (context.get("targets") or {}):
        return words("report.metrics.target_context", name=context.get("name", ""))
    return words.get(f"metrics.{key}.source", "")


def _bar(metric: Mapping[str, Any]) -> Bar | None:
    value = metric["value"]
    if metric.get("unit") != "%" or value is None:
        return None
    low, high = metric.get("ci") or (None, None)
    return Bar(
        value=_clamp(value),
        target=None if metric.get("target") is None else _clamp(metric["target"]),
        low=None if low is None else _clamp(low),
        width=None if low is None or high is None else _clamp(high) - _clamp(low),
    )


def _clamp(percent: float) -> float:
    return round(min(max(percent, 0.0), 100.0), 2)
