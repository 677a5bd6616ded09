"""Figures of columns taken together: heat maps, three components, qualities of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sosie.report.figures import AVATARS, INK, ORIGINALS_PALE, Figure, shown
from sosie.words import Words

__all__ = ["contribution_map", "link_map", "quality_bars", "space"]

_DIVERGING = [
    [0, "#14598c"],
    [0.25, "#7db4d8"],
    [0.5, "#ffffff"],
    [0.75, "#e8a07f"],
    [1, "#9c3205"],
]
_RISING = [[0, "#ffffff"], [0.5, "#7db4d8"], [1, "#14598c"]]
_LABELLED = 45
_ZERO_WIDTH = "\u200b"


def link_map(names: Sequence[str], matrix: Sequence[Sequence[float | None]], most: float) -> Figure:
    """Square heat map of links between columns, coloured from -most to most."""
    labels = _distinct(names)
    hover = "%{y}<br>%{x}<br><b>%{z:.2f}</b><extra></extra>"
    axis: dict[str, Any] = {
        "type": "category",
        "showgrid": False,
        "showticklabels": len(names) <= _LABELLED,
        "tickfont": {"size": 9},
        "dtick": 1,
    }
    return {
        "data": [
            {
                "type": "heatmap",
                "x": labels,
                "y": labels,
                "z": [list(row) for row in matrix],
                "zmin": -most,
                "zmax": most,
                "colorscale": _DIVERGING,
                "hovertemplate": hover,
                "hoverongaps": False,
                "colorbar": _colorbar(),
            }
        ],
        "layout": {
            "xaxis": axis | {"tickangle": -90},
            "yaxis": axis | {"autorange": "reversed", "scaleanchor": "x"},
            "height": 470,
        },
    }


def _colorbar() -> dict[str, Any]:
    return {
        "orientation": "h",
        "y": 1.01,
        "yanchor": "bottom",
        "thickness": 8,
        "len": 0.6,
        "x": 0.5,
        "outlinewidth": 0,
        "tickfont": {"size": 10},
    }


def _distinct(names: Sequence[str], length: int = 20) -> list[str]:
    """Names for a category axis, on which equal ones would fall together.

    >>> [len(name) for name in _distinct(["a", "b", "a"])]
    [1, 1, 2]
    """
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        label = shown(name, length)
        labels.append(label + _ZERO_WIDTH * seen.get(label, 0))
        seen[label] = seen.get(label, 0) + 1
    return labels


def contribution_map(
    words: Words,
    names: Sequence[str],
    components: Sequence[str],
    percent: Sequence[Sequence[float]],
) -> Figure:
    """Heat map of what each column gives to each component, in percent, with the numbers."""
    return {
        "data": [
            {
                "type": "heatmap",
                "x": list(components),
                "y": _distinct(names, 28),
                "z": [list(row) for row in percent],
                "text": [[words.value(value, "%") for value in row] for row in percent],
                "texttemplate": "%{text}",
                "textfont": {"size": 10},
                "zmin": 0,
                "colorscale": _RISING,
                "hovertemplate": "%{y}<br>%{x}<br><b>%{text}</b><extra></extra>",
                "showscale": False,
                "xgap": 2,
                "ygap": 1,
            }
        ],
        "layout": {
            "xaxis": {"type": "category", "side": "top", "showgrid": False},
            "yaxis": {
                "type": "category",
                "autorange": "reversed",
                "showgrid": False,
                "dtick": 1,
            },
            "height": 60 + 20 * len(names),
        },
    }


def space(axes: Sequence[str], points: Mapping[str, Sequence[float]]) -> Figure:
    """Avatars in three components."""
    scene = {
        f"{axis}axis": {
            "title": {"text": title, "font": {"size": 11}},
            "backgroundcolor": "#f5f7f9",
            "gridcolor": "#d5dde3",
            "showbackground": True,
            "zerolinecolor": "#8796a1",
        }
        for axis, title in zip("xyz", axes, strict=True)
    }
    return {
        "data": [
            {
                "type": "scatter3d",
                "mode": "markers",
                **{axis: list(points[axis]) for axis in "xyz"},
                "marker": {"size": 2.2, "color": AVATARS, "opacity": 0.55},
                "hoverinfo": "skip",
            }
        ],
        "layout": {
            "scene": scene
            | {
                "aspectmode": "cube",
                "dragmode": "turntable",
                "camera": {"eye": {"x": 1.55, "y": 1.55, "z": 1.0}},
            },
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "height": 520,
        },
    }


def quality_bars(
    words: Words, names: Sequence[str], originals: Sequence[float], avatars: Sequence[float]
) -> Figure:
    """Qualities of models of each column: originals filled, avatars outlined."""
    places = list(range(len(names)))
    texts = [
        "<br>".join(
            [
                shown(name, 60),
                words("format.colon", label=words("report.originals"), value=words.value(real)),
                words("format.colon", label=words("report.avatars"), value=words.value(made)),
            ]
        )
        for name, real, made in zip(names, originals, avatars, strict=True)
    ]
    looks = (
        (originals, {"color": ORIGINALS_PALE}),
        (avatars, {"color": "rgba(0,0,0,0)", "line": {"color": AVATARS, "width": 2}}),
    )
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": places,
                "x": list(values),
                "width": 0.66,
                "hoverinfo": "text",
                "hovertext": texts,
                "textposition": "none",
                "marker": marker,
            }
            for values, marker in looks
        ],
        "layout": {
            "barmode": "overlay",
            "xaxis": {"title": {"text": words("report.prediction.axis")}, "rangemode": "tozero"},
            "yaxis": {
                "tickvals": places,
                "ticktext": [shown(name) for name in names],
                "range": [len(names) - 0.5, -0.5],
                "showgrid": False,
                "tickfont": {"color": INK},
            },
            "height": 70 + 22 * max(len(names), 2),
        },
    }
