"""A sweep of settings: the frontier, what follows k, every setting, and which to take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sosie.audits.registry import definition_of
from sosie.report.figures.drawing import Figure
from sosie.report.figures.sweeps import Panel, SweepPoint, frontier, panels
from sosie.report.views.lists import Cell, listed
from sosie.tuning.results import AGREEING, ALLOWED, CHANCE, STRONGEST, SWEPT, Trial, Tuning
from sosie.words import Words
from sosie.words.readings import advice, reason

__all__ = ["SHOWN", "SweepRow", "SweepView", "sweep"]

PROTECTION = tuple(
    d.key for d in SWEPT if d.criterion != "utility" and d.swept is not None and d.swept.shown
)

SHOWN = (*PROTECTION, STRONGEST.key, *ALLOWED)
"""The metrics of the table, in order."""

PANELS = (*PROTECTION, STRONGEST.key, "loss")
_MOST_ADVICE = 3


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One setting; ``cells`` are the metrics of `SHOWN`, ``notes`` what stands under each."""

    k: Cell
    method: str
    components: Cell
    cells: tuple[tuple[Cell, str], ...]
    risk: Cell
    chance: Cell
    loss: Cell
    meets: bool
    result: str
    frontier: bool
    chosen: bool


@dataclass(frozen=True, slots=True)
class SweepView:
    """The whole section, every text ready; figures are None where nothing was measured."""

    intro: tuple[str, ...]
    readings: tuple[str, ...]
    advice: tuple[str, ...]
    headings: tuple[str, ...]
    several: bool
    rows: tuple[SweepRow, ...]
    frontier: Figure | None
    frontier_alt: str
    panels: Figure | None
    panels_alt: str

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures by identifier."""
        named = {"frontier": self.frontier, "panels": self.panels}
        return {key: figure for key, figure in named.items() if figure is not None}


def sweep(words: Words, told: Mapping[str, Any]) -> SweepView:
    """Read ``tune.json``."""
    tuning = Tuning.from_dict(told)
    several = len({trial.setting.components for trial in tuning.trials}) > 1
    rows = tuple(_row(words, tuning, trial) for trial in tuning.trials)
    readings = tuple(_readings(words, tuning, several))
    measured = [trial for trial in tuning.trials if trial.metrics]
    placed = [trial for trial in measured if None not in (trial.risk, trial.loss)]
    names = [words(f"tuning.short.{key}") for key in PANELS if key != "loss"]
    return SweepView(
        intro=tuple(_intro(words, tuning, several)),
        readings=readings,
        advice=_advice(words, tuning),
        headings=tuple(words(f"tuning.short.{key}") for key in _shown(tuning)),
        several=several,
        rows=rows,
        frontier=_frontier(words, tuning, several) if placed else None,
        frontier_alt=words("tuning.frontier_alt", n=len(placed), best=readings[0]),
        panels=_panels(words, tuning, several) if len(measured) > 1 else None,
        panels_alt=words("tuning.panels_alt", names=listed(words, [*names, words("tuning.loss")])),
    )


def _shown(tuning: Tuning) -> tuple[str, ...]:
    """The metrics of the table; that of analyses where there were some."""
    analysed = any(AGREEING.key in trial.metrics for trial in tuning.trials)
    return tuple(key for key in SHOWN if analysed or key != AGREEING.key)


def named(words: Words, trial: Trial, several: bool) -> str:
    """A setting in words."""
    return words(
        "tuning.setting_components" if several else "tuning.setting",
        k=words.number(trial.setting.k),
        method=_method(words, trial),
        components=words.number(trial.setting.components),
    )


def _method(words: Words, trial: Trial) -> str:
    return words.get(f"report.methods_short.{trial.setting.method}", trial.setting.method)


def _intro(words: Words, tuning: Tuning, several: bool) -> Iterable[str]:
    attacked = any(trial.value(STRONGEST.key) is not None for trial in tuning.trials)
    yield words(
        "tuning.intro" if attacked else "tuning.intro_plain",
        rows=words.number(tuning.rows),
        releases=words.number(tuning.releases),
    )
    if not tuning.complete:
        yield words("tuning.partial", done=len(tuning.trials), wanted=tuning.wanted)
    if not several:
        yield words("tuning.unswept")


def _readings(words: Words, tuning: Tuning, several: bool) -> Iterable[str]:
    best, nearest = tuning.cheapest, tuning.nearest
    if best is not None:
        yield words(
            "tuning.cheapest",
            setting=named(words, best, several),
            risk=words.value(best.risk, "%"),
            chance=words.value(_chance(tuning, best), "%"),
            loss=words.value(best.loss),
        )
        if len(tuning.alike) > 1:
            safest, others = tuning.alike[0], [t for t in tuning.alike if t != best]
            yield words(
                "tuning.alike",
                names=listed(words, (named(words, t, several) for t in others), most=4),
                allowed=words.value(CHANCE),
                setting=named(words, safest, several),
                risk=words.value(safest.risk, "%"),
                chance=words.value(_chance(tuning, safest), "%"),
            )
        if tuning.unbound is None or tuning.unbound == best:
            yield words("tuning.cost_nothing")
        else:
            yield words(
                "tuning.cost",
                setting=named(words, tuning.unbound, several),
                changes=words.joined(_changes(words, tuning.unbound, best)),
            )
    elif nearest is not None:
        names = listed(words, (_short(words, key) for key in nearest.missed))
        yield words("tuning.none", setting=named(words, nearest, several), names=names)
    else:
        yield words("tuning.none_measured")


def _short(words: Words, key: str) -> str:
    """A metric's short name, or its own where it is no column of the table."""
    return words.get(f"tuning.short.{key}", words.get(f"metrics.{key}.name", key))


def _changes(words: Words, before: Trial, after: Trial) -> Iterable[str]:
    for key in ALLOWED:
        values = before.value(key), after.value(key)
        if None not in values:
            unit = before.metrics[key].unit
            first, second = (words.value(value, unit) for value in values)
            name = words(f"tuning.short.{key}")
            yield words("tuning.change", name=name, before=first, after=second)


def _advice(words: Words, tuning: Tuning) -> tuple[str, ...]:
    nearest = tuning.nearest
    if tuning.cheapest is not None or nearest is None:
        return ()
    parameters: dict[str, Any] = {
        "method": nearest.setting.method,
        "decode": tuning.decode,
        "keep": [],
    }
    missed = [definition_of(key) for key in nearest.missed]
    keys = [key for d in missed if d is not None for key in advice(d.advice, parameters)]
    return tuple(words(f"advice.{key}") for key in list(dict.fromkeys(keys))[:_MOST_ADVICE])


def _chance(tuning: Tuning, trial: Trial) -> float | None:
    """What a guess among the candidates of the rate that is shown would give."""
    attack = trial.metrics.get(STRONGEST.key)
    if attack is not None and attack.value == trial.risk:
        return attack.control
    return 100 / tuning.rows if tuning.rows else None


def _row(words: Words, tuning: Tuning, trial: Trial) -> SweepRow:
    chance = _chance(tuning, trial) if trial.metrics else None
    missed = listed(words, (_short(words, key) for key in trial.missed))
    result = (
        words("tuning.failed", reason=reason(words, trial.reason.to_dict()))
        if trial.reason
        else words("tuning.meets")
        if trial.meets
        else words("tuning.misses", names=missed)
    )
    return SweepRow(
        k=Cell(words.number(trial.setting.k), trial.setting.k),
        method=_method(words, trial),
        components=Cell(words.number(trial.setting.components), trial.setting.components),
        cells=tuple(_cell(words, trial, key) for key in _shown(tuning)),
        risk=Cell(words.value(trial.risk, "%"), trial.risk),
        chance=Cell(words.value(chance, "%"), chance),
        loss=Cell(words.value(trial.loss), trial.loss),
        meets=trial.meets,
        result=result,
        frontier=trial in tuning.frontier,
        chosen=trial == tuning.cheapest,
    )


def _cell(words: Words, trial: Trial, key: str) -> tuple[Cell, str]:
    metric = trial.metrics.get(key)
    if metric is None:
        return Cell(words("format.none"), None), ""
    note = words.interval(metric.ci, metric.unit) if metric.ci and metric.unit == "%" else ""
    return Cell(words.value(metric.value, metric.unit, metric.target), metric.value), note


def _lines(words: Words, tuning: Tuning, several: bool) -> dict[str, list[Trial]]:
    """Trials by line of the figures: one for each method and number of components."""
    lines: dict[str, list[Trial]] = {}
    for trial in tuning.trials:
        label = words(
            "tuning.line_components" if several else "tuning.line",
            method=_method(words, trial),
            components=words.number(trial.setting.components),
        )
        lines.setdefault(label, []).append(trial)
    return lines


def _frontier(words: Words, tuning: Tuning, several: bool) -> Figure:
    lines = {
        label: [
            SweepPoint(trial.setting.k, trial.loss, trial.risk, trial == tuning.cheapest)
            for trial in trials
            if trial.loss is not None and trial.risk is not None
        ]
        for label, trials in _lines(words, tuning, several).items()
    }
    best = [(t.loss or 0.0, t.risk or 0.0) for t in tuning.frontier]
    targets = {
        trial.metrics["hidden_rate"].target
        for trial in tuning.trials
        if "hidden_rate" in trial.metrics
    }
    target = next(iter(targets), None)
    return frontier(words, lines, best, None if target is None else 100 - target)


def _panels(words: Words, tuning: Tuning, several: bool) -> Figure:
    lines = _lines(words, tuning, several)
    drawn = []
    for key in PANELS:
        series = {
            label: [
                (trial.setting.k, trial.loss if key == "loss" else trial.value(key))
                for trial in trials
            ]
            for label, trials in lines.items()
        }
        title = words("tuning.loss" if key == "loss" else f"tuning.short.{key}")
        known = [trial.metrics[key] for trial in tuning.trials if key in trial.metrics]
        drawn.append(
            Panel(title, known[0].unit if known else "", series, known[0].target if known else None)
        )
    return panels(words, drawn)
