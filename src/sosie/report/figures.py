"""Figures as plotly JSON: originals are filled tiles or bars, avatars circles or outlines.

Plain dictionaries, since the browser draws them: nothing here needs plotly to be imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

from sosie.report.shares import Share, Shares
from sosie.words import Words

__all__ = ["Curve", "Figure", "curve", "distribution", "projection", "shown", "template"]

Figure = dict[str, Any]

# Okabe and Ito's blue and vermilion, apart for every colour vision and in grey.
ORIGINALS = "#0072b2"
ORIGINALS_PALE = "#9cc7e3"
AVATARS = "#b8480a"
INK = "#1d2b36"
GRID = "#e3e8ec"

_LABEL = 24
_DAY = 86_400_000
# One look for each line, so that no line is told by its colour alone.
LINES = (
    (INK, "solid", "circle"),
    (AVATARS, "dash", "square"),
    (ORIGINALS, "dot", "diamond"),
    ("#007a5e", "dashdot", "triangle-up"),
    ("#a0457f", "longdash", "x"),
    ("#6b5b00", "longdashdot", "cross"),
    ("#4b4b9b", "5px,2px", "star"),
)


def template(words: Words) -> Figure:
    """Layout shared by all figures: type, grid, language of numbers."""
    axis = {
        "gridcolor": GRID,
        "linecolor": "#8796a1",
        "zeroline": False,
        "automargin": True,
        "fixedrange": True,
        "separatethousands": True,
        "exponentformat": "power",
        "minexponent": 6,
        "title": {"standoff": 8},
    }
    decimal, thousands = words("format.decimal"), words("format.thousands")
    return {
        "layout": {
            "font": {
                "family": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', "
                "'Liberation Sans', Arial, sans-serif",
                "size": 12,
                "color": INK,
            },
            "paper_bgcolor": "#fff",
            "plot_bgcolor": "#fff",
            "separators": decimal + thousands,
            "xaxis": axis,
            "yaxis": axis,
            "dragmode": False,
            "hoverlabel": {"align": "left", "bgcolor": "#fff", "font": {"color": INK}},
            "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
            "showlegend": False,
        }
    }


def projection(words: Words, entry: Mapping[str, Any]) -> Figure:
    """Plane of two components: originals as a density of tiles, avatars as circles."""
    originals, avatars = entry["originals"], entry["avatars"]
    tiles = {
        "type": "heatmap",
        "x": originals["x_edges"],
        "y": originals["y_edges"],
        "z": originals["counts"],
        "colorscale": [[0, "#d3e5f2"], [0.5, "#7db4d8"], [1, "#14598c"]],
        "hoverongaps": False,
        "hoverinfo": "text",
        "text": _tile_texts(words, originals["counts"]),
        "colorbar": {
            "title": {"text": words("report.projection.per_tile"), "side": "top"},
            "orientation": "h",
            "y": 1.02,
            "yanchor": "bottom",
            "thickness": 8,
            "len": 0.5,
            "x": 0,
            "xanchor": "left",
            "outlinewidth": 0,
        },
    }
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": avatars["x"],
        "y": avatars["y"],
        "hoverinfo": "skip",
        "marker": {
            "symbol": "circle-open",
            "size": 4,
            "color": AVATARS,
            "opacity": 0.45,
            "line": {"width": 0.9},
        },
    }
    x_title, y_title = axis_titles(words, entry)
    return {
        "data": [tiles, points],
        "layout": {
            "xaxis": {"title": {"text": x_title}},
            "yaxis": {"title": {"text": y_title}, "scaleanchor": "x"},
            "height": 560,
        },
    }


def axis_titles(words: Words, entry: Mapping[str, Any]) -> tuple[str, str]:
    """Names of the two axes, with the share of inertia where it is known."""
    components = entry.get("components") or [1, 2]
    explained = entry.get("explained") or [None, None]
    first, second = (
        words("report.projection.axis_plain", n=component)
        if share is None
        else words("report.projection.axis", n=component, share=words.value(share, "%"))
        for component, share in zip(components, explained, strict=True)
    )
    return first, second


def _tile_texts(words: Words, counts: Sequence[Sequence[int | None]]) -> list[list[str]]:
    return [
        [
            "" if count is None else words("report.projection.tile", n=words.number(count))
            for count in row
        ]
        for row in counts
    ]


def distribution(words: Words, shares: Shares) -> Figure:
    """Bins of a number or a date, or levels, originals filled and avatars outlined."""
    if shares.edges is None:
        return _levels(words, shares)
    return _bins(words, shares)


def _bins(words: Words, shares: Shares) -> Figure:
    edges, widths = list(shares.edges or ()), list(shares.widths or ())
    usual = median(widths)
    even = max(widths) - min(widths) <= usual * (0.1 if shares.dates else 1e-6)
    # Wide bins are drawn lower, so that areas are shares.
    scale = [1.0] * len(widths) if even else [usual / width for width in widths]
    bars = {
        "type": "bar",
        "x": edges[:-1],
        "y": _scaled([share.originals for share in shares.rows], scale),
        "width": [width * _DAY for width in widths] if shares.dates else widths,
        "offset": 0,
        "marker": {"color": ORIGINALS_PALE, "line": {"color": "#fff", "width": 0.5}},
        "hoverinfo": "text",
        "hovertext": [_hover(words, share) for share in shares.rows],
        "textposition": "none",
    }
    outline_points = _steps(edges, _scaled([share.avatars for share in shares.rows], scale))
    outline = {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in outline_points],
        "y": [y for _, y in outline_points],
        "line": {"color": AVATARS, "width": 2},
        "hoverinfo": "skip",
    }
    return {
        "data": [bars, outline],
        "layout": {
            "xaxis": {"type": "date" if shares.dates else "linear", "showgrid": False},
            "yaxis": {
                "title": {"text": _height_title(words, shares, usual, even)},
                "rangemode": "tozero",
                "nticks": 5,
            },
            "height": 210,
        },
    }


def _steps(
    edges: Sequence[float | str], heights: Sequence[float | None]
) -> list[tuple[float | str | None, float | None]]:
    """Corners of the outline of a histogram, down to the axis on both sides of what is hidden."""
    points: list[tuple[float | str | None, float | None]] = []
    before: float | None = None
    for left, right, height in zip(edges, edges[1:], heights, strict=False):
        if height is None:
            points += [] if before is None else [(left, 0.0), (None, None)]
        else:
            points += [(left, 0.0)] if before is None else []
            points += [(left, height), (right, height)]
        before = height
    return points if before is None else [*points, (edges[-1], 0.0)]


def _height_title(words: Words, shares: Shares, usual: float, even: bool) -> str:
    if even:
        return words("report.distributions.share")
    key = "density_days" if shares.dates else "density"
    digits = 0 if shares.dates else 2
    width = words.number(round(usual)) if shares.dates else words.value(round(usual, digits))
    return words(f"report.distributions.{key}", width=width)


def _levels(words: Words, shares: Shares) -> Figure:
    rows = shares.rows
    places = list(range(len(rows)))
    texts = [_hover(words, share) for share in rows]
    originals, avatars = (
        {
            "type": "bar",
            "orientation": "h",
            "y": places,
            "x": values,
            "width": 0.66,
            "hoverinfo": "text",
            "hovertext": texts,
            "textposition": "none",
            "marker": marker,
        }
        for values, marker in (
            ([share.originals for share in rows], {"color": ORIGINALS_PALE}),
            (
                [share.avatars for share in rows],
                {"color": "rgba(0,0,0,0)", "line": {"color": AVATARS, "width": 2}},
            ),
        )
    )
    return {
        "data": [originals, avatars],
        "layout": {
            "barmode": "overlay",
            "xaxis": {
                "title": {"text": words("report.distributions.share")},
                "rangemode": "tozero",
                "nticks": 5,
            },
            "yaxis": {
                "tickvals": places,
                "ticktext": [shown(share.short or share.label) for share in rows],
                "range": [len(rows) - 0.5, -0.5],
                "showgrid": False,
                "ticks": "",
            },
            "height": 62 + 22 * max(len(rows), 2),
        },
    }


def _hover(words: Words, share: Share) -> str:
    hidden = words("report.distributions.hidden")
    values = (
        (words("report.originals"), share.originals),
        (words("report.avatars"), share.avatars),
    )
    lines = [
        words(
            "format.colon",
            label=name,
            value=hidden if value is None else words.value(value, "%"),
        )
        for name, value in values
    ]
    return "<br>".join([shown(share.label, 60), *lines])


def _scaled(values: Sequence[float | None], scale: Sequence[float]) -> list[float | None]:
    return [
        None if value is None else value * factor
        for value, factor in zip(values, scale, strict=True)
    ]


def shown(text: str, length: int = _LABEL) -> str:
    """Text for a figure: on one line, not too long, and nothing that plotly takes for markup.

    >>> shown("<b>bold</b> & long beyond reason")
    '&lt;b&gt;bold&lt;/b&gt; &amp; long beyo…'
    """
    line = " ".join(text.split())
    return escape(line if len(line) <= length else line[: length - 1] + "…", quote=False)


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of the figure of attacks: rates in percent by number of releases."""

    label: str
    releases: tuple[int, ...]
    rates: tuple[float, ...]
    intervals: tuple[tuple[float, float] | None, ...]
    published: bool = False


def curve(
    words: Words,
    curves: Sequence[Curve],
    levels: Sequence[tuple[str, float]],
) -> Figure:
    """Rates against the number of releases, and horizontal ``levels`` to compare with."""
    lines = [
        _curve_line(line, look) for line, look in zip(curves, _looks(len(curves)), strict=True)
    ]
    ticks = sorted({release for line in curves for release in line.releases})
    ends = [ticks[0] * 0.9, ticks[-1] * 1.1]
    lines += [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"{shown(label, 40)} ({words.value(rate, '%')})",
            "x": ends,
            "y": [rate, rate],
            "line": {"color": "#5d6b76", "width": 1.5, "dash": dash},
            "hoverinfo": "name",
        }
        for (label, rate), dash in zip(
            levels, ("dot", "dash", "longdash", "dashdot") * 9, strict=False
        )
    ]
    return {
        "data": lines,
        "layout": {
            "xaxis": {
                "type": "log",
                "title": {"text": words("attack.curve_x")},
                "tickvals": ticks,
                "ticktext": [words.number(tick) for tick in ticks],
            },
            "yaxis": {"title": {"text": words("attack.curve_y")}, "range": [0, 102]},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "height": 460,
        },
    }


def _looks(n: int) -> list[tuple[str, str, str]]:
    return [LINES[place % len(LINES)] for place in range(n)]


def _curve_line(line: Curve, look: tuple[str, str, str]) -> Figure:
    color, dash, symbol = look
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": shown(line.label, 48),
        "x": list(line.releases),
        "y": list(line.rates),
        "line": {"color": color, "dash": dash, "width": 2.5 if line.published else 2},
        "marker": {"symbol": symbol, "size": 8},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [
                0 if ends is None else ends[1] - rate
                for rate, ends in zip(line.rates, line.intervals, strict=True)
            ],
            "arrayminus": [
                0 if ends is None else rate - ends[0]
                for rate, ends in zip(line.rates, line.intervals, strict=True)
            ],
            "thickness": 1,
            "width": 3,
        },
        "hovertemplate": "%{y:.1f} %<extra>%{fullData.name}</extra>",
    }
