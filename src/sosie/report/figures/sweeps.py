"""A sweep of settings: the frontier of risk against loss, and small panels against k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sosie.report.figures.drawing import (
    EDGE,
    INK,
    LOOKS,
    Axis,
    Figure,
    legend,
    line,
    mark,
    plane,
    shortened,
    text,
    ticks,
)
from sosie.words import Words

__all__ = ["Panel", "SweepPoint", "frontier", "panels"]

_WIDTH, _HEIGHT = 520, 360
_PANEL = 190
_TARGET = "2 4"


class SweepPoint(NamedTuple):
    """A setting: its k, utility lost, highest rate in percent, whether it is the one to take."""

    k: int
    loss: float
    risk: float
    chosen: bool


class Panel(NamedTuple):
    """A measure: its title, unit, (k, value) of each line, and target."""

    title: str
    unit: str
    lines: Mapping[str, Sequence[tuple[int, float | None]]]
    target: float | None


def frontier(
    words: Words,
    lines: Mapping[str, Sequence[SweepPoint]],
    best: Sequence[tuple[float, float]],
    goal: float | None,
) -> Figure:
    """Settings as points, ``best`` (loss, risk) joined by a line, the one to take ringed.

    ``goal`` is the rate that the target of the hidden rate allows, in percent.
    """
    points = [point for some in lines.values() for point in some]
    keys = [(_band([(0, 0), (28, 0)]), words("tuning.frontier_line"))]
    if any(point.chosen for point in points):
        keys.append((mark("ring", 14, 0, INK, radius=7), words("tuning.chosen")))
    keys += [
        (mark(_look(n)[2], 14, 0, _look(n)[0]), shortened(name, 48)) for n, name in enumerate(lines)
    ]
    if goal is not None:
        name = f"{words('tuning.goal')} ({words.value(goal, '%')})"
        keys.append((line([(0, 0), (28, 0)], INK, width=1.5, dash=_TARGET), name))
    names, top = legend(keys, _WIDTH)
    most_loss = max(point.loss for point in points) * 1.08 or 1.0
    most_risk = max([point.risk for point in points] + [goal or 0.0]) * 1.08 or 1.0
    axes = plane(
        Axis(0, most_loss, ticks(words, 0, most_loss), words("tuning.x")),
        Axis(0, most_risk, ticks(words, 0, most_risk), words("tuning.y")),
        *(0, top, _WIDTH - 12, top + _HEIGHT),
    )
    parts = [names, axes.svg, _band([(axes.x(x), axes.y(y)) for x, y in sorted(best)])]
    if goal is not None:
        ends = [(axes.x.start, axes.y(goal)), (axes.x.end, axes.y(goal))]
        parts.append(line(ends, INK, width=1.5, dash=_TARGET))
    for place, (name, some) in enumerate(lines.items()):
        color, _, shape = _look(place)
        for point in some:
            x, y = axes.x(point.loss), axes.y(point.risk)
            if point.chosen:
                parts.append(mark("ring", x, y, INK, radius=10))
            parts.append(mark(shape, x, y, color, hover=_hover(words, name, point)))
            # Numbers of one line stand above its points, of the next below.
            beside = y - 9 if place % 2 else y + 18
            number = words.number(point.k)
            parts.append(text(x, beside, number, anchor="middle", size=11, color=color))
    return Figure(_WIDTH, round(top) + _HEIGHT, "".join(parts))


def _band(points: Sequence[tuple[float, float]]) -> str:
    return line(points, EDGE, width=6, opacity=0.35) if points else ""


def _look(place: int) -> tuple[str, str, str]:
    return LOOKS[(place + 1) % len(LOOKS)]


def _hover(words: Words, name: str, point: SweepPoint) -> str:
    risk = words("format.colon", label=words("tuning.risk"), value=words.value(point.risk, "%"))
    loss = words("format.colon", label=words("tuning.loss"), value=words.value(point.loss))
    return f"{name}, {words('tuning.point', k=words.number(point.k))}\n{risk}\n{loss}"


def panels(words: Words, drawn: Sequence[Panel]) -> Figure:
    """One small panel for each measure, against k on a logarithmic axis, two a row."""
    ks = sorted({k for panel in drawn for some in panel.lines.values() for k, _ in some})
    keys = [
        (
            line([(0, 0), (28, 0)], color, dash=dash) + mark(shape, 14, 0, color, radius=4),
            shortened(name, 48),
        )
        for name, (color, dash, shape) in (
            (name, _look(n)) for n, name in enumerate(drawn[0].lines)
        )
    ]
    if any(panel.target is not None for panel in drawn):
        key = line([(0, 0), (28, 0)], INK, width=1.5, dash=_TARGET)
        keys.append((key, words("tuning.target")))
    names, top = legend(keys, _WIDTH)
    parts, half = [names], _WIDTH / 2
    for place, panel in enumerate(drawn):
        left = half * (place % 2)
        parts.append(_panel(words, panel, ks, left, top + _PANEL * (place // 2), half - 16))
    return Figure(_WIDTH, round(top) + _PANEL * ((len(drawn) + 1) // 2), "".join(parts))


def _panel(
    words: Words, panel: Panel, ks: Sequence[int], left: float, top: float, width: float
) -> str:
    known = {
        name: [(k, value) for k, value in some if value is not None]
        for name, some in panel.lines.items()
    }
    values = [value for some in known.values() for _, value in some]
    values += [] if panel.target is None else [panel.target]
    low, high = min(values, default=0.0), max(values, default=1.0)
    low = 0.0 if low < 0.5 * high else low  # from 0 where that leaves most of the axis to values
    room = (high - low) * 0.06 or 1.0
    across = Axis(
        ks[0] * 0.9,
        ks[-1] * 1.1,
        [(k, words.number(k)) for k in ks],
        words("tuning.panel_k"),
        log=True,
    )
    up = Axis(low - room * (low > 0), high + room, ticks(words, low, high, 4, panel.unit))
    axes = plane(across, up, left, top + 22, left + width, top + _PANEL - 8)
    parts = [text(left, top + 12, shortened(panel.title, 60), size=13), axes.svg]
    if panel.target is not None:
        ends = [(axes.x.start, axes.y(panel.target)), (axes.x.end, axes.y(panel.target))]
        parts.append(line(ends, INK, width=1.5, dash=_TARGET))
    for place, (name, some) in enumerate(known.items()):
        color, dash, shape = _look(place)
        points = [(axes.x(k), axes.y(value)) for k, value in some]
        parts.append(line(points, color, dash=dash) if points else "")
        parts += [
            mark(
                shape,
                *point,
                color,
                radius=3.5,
                hover=f"{name}, k = {k}\n{words.value(value, panel.unit)}",
            )
            for point, (k, value) in zip(points, some, strict=True)
        ]
    return "".join(parts)
