"""Figures of a sweep: the frontier of risk against loss, and small panels against k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sosie.report.figures import INK, LINES, Figure, shown
from sosie.words import Words

__all__ = ["SweepPoint", "frontier", "panels"]

Panel = tuple[str, str, Mapping[str, Sequence[tuple[int, float | None]]], float | None]
"""Title, unit, line -> (k, value) and target."""

_OPEN = ("circle", "square-open", "diamond", "triangle-up-open", "cross", "x-open")
_PANEL_HEIGHT = 235
_GAP = 0.12


class SweepPoint(NamedTuple):
    """A setting: its k, utility lost, highest rate in percent, whether it is the one to take."""

    k: int
    loss: float
    risk: float
    chosen: bool


def frontier(
    words: Words,
    lines: Mapping[str, Sequence[SweepPoint]],
    best: Sequence[tuple[float, float]],
    goal: float | None,
) -> Figure:
    """Settings as points, ``best`` (loss, risk) joined by a line, the one to take ringed.

    ``goal`` is the rate that the target of the hidden rate allows, in percent.
    """
    ordered = sorted(best)
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": words("tuning.frontier_line"),
            "x": [x for x, _ in ordered],
            "y": [y for _, y in ordered],
            "line": {"color": "#8796a1", "width": 6, "shape": "linear"},
            "opacity": 0.35,
            "hoverinfo": "skip",
        }
    ]
    points = [point for some in lines.values() for point in some]
    chosen = [point for point in points if point.chosen]
    if chosen:
        traces.append(_chosen(words, chosen))
    for place, (label, some) in enumerate(lines.items()):
        traces.append(_points(words, label, some, place))
    if goal is not None and points:
        ends = [min(point.loss for point in points), max(point.loss for point in points)]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{words('tuning.goal')} ({words.value(goal, '%')})",
                "x": ends,
                "y": [goal, goal],
                "line": {"color": INK, "width": 1.5, "dash": "dot"},
                "hoverinfo": "name",
            }
        )
    return {
        "data": traces,
        "layout": {
            "xaxis": {"title": {"text": words("tuning.x")}, "rangemode": "tozero"},
            "yaxis": {"title": {"text": words("tuning.y")}, "rangemode": "tozero"},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "height": 480,
        },
    }


def _chosen(words: Words, chosen: Sequence[SweepPoint]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": words("tuning.chosen"),
        "x": [point.loss for point in chosen],
        "y": [point.risk for point in chosen],
        "marker": {"symbol": "circle-open", "size": 22, "color": INK, "line": {"width": 2}},
        "hoverinfo": "skip",
    }


def _points(words: Words, label: str, points: Sequence[SweepPoint], place: int) -> Figure:
    color, _, _ = LINES[(place + 1) % len(LINES)]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": shown(label, 48),
        "x": [point.loss for point in points],
        "y": [point.risk for point in points],
        "text": [words.number(point.k) for point in points],
        "textposition": "top center" if place % 2 else "bottom center",
        "textfont": {"size": 11, "color": color},
        "marker": {"symbol": _OPEN[place % len(_OPEN)], "size": 9, "color": color},
        "hoverinfo": "text",
        "hovertext": [
            "<br>".join(
                [
                    f"{shown(label, 48)}, {words('tuning.point', k=words.number(point.k))}",
                    words(
                        "format.colon",
                        label=words("tuning.risk"),
                        value=words.value(point.risk, "%"),
                    ),
                    words(
                        "format.colon", label=words("tuning.loss"), value=words.value(point.loss)
                    ),
                ]
            )
            for point in points
        ],
    }


def panels(words: Words, drawn: Sequence[Panel]) -> Figure:
    """One small panel for each measure, against k on a logarithmic axis."""
    traces: list[Figure] = []
    layout: dict[str, Any] = {"annotations": []}
    ks = sorted({k for _, _, lines, _ in drawn for some in lines.values() for k, _ in some})
    rows = (len(drawn) + 1) // 2
    for place, panel in enumerate(drawn):
        suffix = "" if place == 0 else str(place + 1)
        left = (0.0, 0.46) if place % 2 == 0 else (0.54, 1.0)
        step = (1 + _GAP) / rows
        top = 1 - (place // 2) * step
        bottom = top - step + _GAP
        layout[f"xaxis{suffix}"] = {
            "type": "log",
            "domain": list(left),
            "anchor": f"y{suffix}",
            "tickvals": ks,
            "ticktext": [words.number(k) for k in ks],
            "title": {"text": words("tuning.panel_k"), "standoff": 2},
        }
        layout[f"yaxis{suffix}"] = {
            "domain": [bottom, top - 0.06],
            "anchor": f"x{suffix}",
            "rangemode": "tozero" if _near_zero(panel) else "normal",
            "nticks": 5,
            "ticksuffix": words("format.percent", number="") if panel[1] == "%" else "",
        }
        layout["annotations"].append(
            {
                "text": shown(panel[0], 60),
                "x": left[0],
                "y": top,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "top",
                "showarrow": False,
                "font": {"size": 13, "color": INK},
            }
        )
        traces += _panel_traces(words, panel, suffix, ks, first=place == 0)
    layout |= {
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "height": _PANEL_HEIGHT * rows + 40,
    }
    return {"data": traces, "layout": layout}


def _near_zero(panel: Panel) -> bool:
    """Whether an axis from 0 leaves most of its length to the values."""
    values = [value for some in panel[2].values() for _, value in some if value is not None]
    return not values or min(values) < 0.5 * max(values)


def _panel_traces(
    words: Words, panel: Panel, suffix: str, ks: Sequence[int], *, first: bool
) -> list[Figure]:
    title, unit, lines, target = panel
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces: list[Figure] = []
    for place, (label, some) in enumerate(lines.items()):
        color, dash, _ = LINES[(place + 1) % len(LINES)]
        known = [(k, value) for k, value in some if value is not None]
        traces.append(
            axes
            | {
                "type": "scatter",
                "mode": "lines+markers",
                "name": shown(label, 48),
                "legendgroup": label,
                "showlegend": first,
                "x": [k for k, _ in known],
                "y": [value for _, value in known],
                "line": {"color": color, "dash": "solid" if place == 0 else dash, "width": 2},
                "marker": {"symbol": _OPEN[place % len(_OPEN)], "size": 7, "color": color},
                "hoverinfo": "text",
                "hovertext": [
                    f"{shown(label, 48)}, {words('tuning.point', k=words.number(k))}<br>"
                    + words("format.colon", label=shown(title, 48), value=words.value(value, unit))
                    for k, value in known
                ],
            }
        )
    if target is not None and ks:
        traces.append(
            axes
            | {
                "type": "scatter",
                "mode": "lines",
                "name": words("tuning.target"),
                "legendgroup": "target",
                "showlegend": first,
                "x": [ks[0], ks[-1]],
                "y": [target, target],
                "line": {"color": INK, "width": 1.5, "dash": "dot"},
                "hoverinfo": "skip",
            }
        )
    return traces
