"""Figures as still images for a document: the browser's figures, drawn by matplotlib.

Only what the figures of this package use is drawn: bars, lines, points, heat maps, points in
three dimensions, several panels, linear, logarithmic, date and named axes.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie.report.figures import GRID, INK, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["still"]

_DASHES = {
    "solid": "-",
    "dash": (0, (6, 3)),
    "dot": (0, (1.5, 2)),
    "dashdot": (0, (6, 2, 1.5, 2)),
    "longdash": (0, (10, 3)),
    "longdashdot": (0, (10, 2, 1.5, 2)),
}
_MARKS = {
    "circle": "o",
    "circle-open": "o",
    "square": "s",
    "square-open": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-up-open": "^",
    "x": "x",
    "x-open": "x",
    "cross": "P",
    "star": "*",
}
_DAY = 86_400_000
_PIXEL = 1 / 96
_DPI = 130
_MOST_TICKS = 9


def still(figure: Figure, width: int, words_of: Mapping[str, str]) -> bytes:
    """PNG of a figure.

    Parameters
    ----------
    figure : plotly JSON as this package makes it.
    width : in pixels of the screen (96 an inch); the height is that of the figure.
    words_of : ``decimal`` and ``thousands`` signs.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    layout = figure["layout"]
    canvas = Canvas(
        figsize=(width * _PIXEL, layout["height"] * _PIXEL), dpi=_DPI, layout="constrained"
    )
    FigureCanvasAgg(canvas)
    canvas.set_facecolor("white")
    if figure["data"] and figure["data"][0]["type"] == "scatter3d":
        _space(canvas, figure)
    else:
        _panels(canvas, figure, words_of)
    stream = io.BytesIO()
    with warnings.catch_warnings():
        # A name may hold signs that the font lacks: an empty box stands for them.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        canvas.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def _panels(canvas: Canvas, figure: Figure, signs: Mapping[str, str]) -> None:
    layout = figure["layout"]
    suffixes = sorted({str(trace.get("xaxis", "x"))[1:] for trace in figure["data"]} or {""})
    wide = 2 if len(suffixes) > 1 else 1
    axes = canvas.subplots(-(-len(suffixes) // wide), wide, squeeze=False).ravel()
    for ax in axes[len(suffixes) :]:
        ax.set_visible(False)
    titles = [note["text"] for note in layout.get("annotations", ())]
    for place, suffix in enumerate(suffixes):
        ax = axes[place]
        mine = [t for t in figure["data"] if str(t.get("xaxis", "x"))[1:] == suffix]
        _axes(ax, mine, layout.get(f"xaxis{suffix}", {}), layout.get(f"yaxis{suffix}", {}), signs)
        if place < len(titles):
            ax.set_title(_text(titles[place]), fontsize=9, loc="left", color=INK)
    if layout.get("showlegend"):
        handles, labels = axes[0].get_legend_handles_labels()
        where: dict[str, Any] = {"loc": "outside upper left", "ncols": 2, "fontsize": 7.5}
        canvas.legend(handles, labels, frameon=False, **where)


def _axes(
    ax: Axes,
    traces: Sequence[Figure],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    signs: Mapping[str, str],
) -> None:
    dates = x.get("type") == "date"
    for spine in ("top", "right"):
        ax.spines[spine].set_visible(False)
    for spine in ("left", "bottom"):
        ax.spines[spine].set_color("#8796a1")
    ax.tick_params(labelsize=7.5, colors=INK, length=3)
    ax.grid(visible=True, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    if x.get("showgrid") is False:
        ax.grid(visible=False, axis="x")
    if y.get("showgrid") is False:
        ax.grid(visible=False, axis="y")
    if x.get("type") == "log":
        ax.set_xscale("log")
        ax.minorticks_off()
    for trace in traces:
        _DRAW[trace["type"]](ax, trace, dates)
    _ticks(ax, x, y, signs, dates=dates)
    heat = next((trace for trace in traces if trace["type"] == "heatmap"), None)
    if heat is not None and _named(heat):
        _names(ax, heat, x, y)


def _bar(ax: Axes, trace: Figure, dates: bool) -> None:
    marker = trace["marker"]
    outline = marker["color"] == "rgba(0,0,0,0)"
    look: dict[str, Any] = {
        "facecolor": "none" if outline else marker["color"],
        "edgecolor": marker.get("line", {}).get("color", "none"),
        "linewidth": marker.get("line", {}).get("width", 0) * 0.75,
    }
    values = [np.nan if value is None else value for value in trace["x" if _flat(trace) else "y"]]
    if _flat(trace):
        ax.barh(trace["y"], values, height=trace["width"], **look)
        return
    width = [value / _DAY for value in trace["width"]] if dates else trace["width"]
    ax.bar(_moments(trace["x"], dates), values, width=width, align="edge", **look)


def _flat(trace: Figure) -> bool:
    return trace.get("orientation") == "h"


def _scatter(ax: Axes, trace: Figure, dates: bool) -> None:
    line, marker = trace.get("line", {}), trace.get("marker", {})
    color = line.get("color") or marker.get("color") or INK
    mode = trace.get("mode", "lines")
    open_mark = "open" in str(marker.get("symbol", ""))
    xs = _moments(trace["x"], dates)
    ys = [np.nan if value is None else value for value in trace["y"]]
    label = _text(trace["name"]) if trace.get("name") and trace.get("showlegend", True) else None
    alpha = trace.get("opacity", marker.get("opacity", 1.0))
    many = len(xs) > 1000
    (drawn,) = ax.plot(
        xs,
        ys,
        linestyle=_DASHES.get(line.get("dash", "solid"), "-") if "lines" in mode else "none",
        linewidth=line.get("width", 2) * 0.75,
        color=color,
        alpha=alpha,
        marker=_MARKS.get(marker.get("symbol", "circle"), "o") if "markers" in mode else None,
        markersize=marker.get("size", 6) * (0.55 if many else 0.7),
        markerfacecolor="none" if open_mark else color,
        markeredgewidth=marker.get("line", {}).get("width", 1.2) * 0.75,
        label=label,
    )
    drawn.set_rasterized(many)
    error = trace.get("error_y")
    if error:
        ends = [error["arrayminus"], error["array"]]
        ax.errorbar(xs, ys, yerr=ends, fmt="none", ecolor=color, elinewidth=0.8, capsize=2)
    if "text" in mode:
        above = str(trace.get("textposition", "top")).startswith("top")
        for at_x, at_y, text in zip(xs, ys, trace["text"], strict=True):
            ax.annotate(
                _text(text),
                (at_x, at_y),
                xytext=(0, 5 if above else -10),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                color=color,
            )


def _heatmap(ax: Axes, trace: Figure, dates: bool) -> None:  # noqa: ARG001 (one signature for all)
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list(
        "scale", [tuple(stop) for stop in trace["colorscale"]]
    )
    cells = np.array(
        [[np.nan if value is None else value for value in row] for row in trace["z"]], dtype=float
    )
    low, high = trace.get("zmin"), trace.get("zmax")
    ax.grid(visible=False)
    if _named(trace):
        drawn = ax.pcolormesh(np.ma.masked_invalid(cells), cmap=scale, vmin=low, vmax=high)
        ax.invert_yaxis()
    else:
        drawn = ax.pcolormesh(
            trace["x"], trace["y"], np.ma.masked_invalid(cells), cmap=scale, vmin=low, vmax=high
        )
    if trace.get("showscale", True) and ax.figure is not None:
        bar = ax.figure.colorbar(drawn, ax=ax, location="top", shrink=0.5, aspect=40, pad=0.02)
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)
    if trace.get("texttemplate"):
        top = np.nanmax(cells) if cells.size else 1.0
        for i, row in enumerate(trace["text"]):
            for j, text in enumerate(row):
                dark = cells[i, j] > 0.6 * top
                ax.text(
                    j + 0.5,
                    i + 0.5,
                    _text(text),
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white" if dark else INK,
                )


def _named(trace: Figure) -> bool:
    """Whether the cells stand for names rather than intervals."""
    return bool(trace["x"]) and isinstance(trace["x"][0], str)


def _names(ax: Axes, trace: Figure, x: Mapping[str, Any], y: Mapping[str, Any]) -> None:
    for axis, names, told in ((ax.xaxis, trace["x"], x), (ax.yaxis, trace["y"], y)):
        if told.get("showticklabels") is False:
            axis.set_ticks([])
            continue
        axis.set_ticks(np.arange(len(names)) + 0.5, [_text(name) for name in names])
        axis.set_tick_params(labelsize=6.5, length=0)
    if x.get("tickangle"):
        ax.tick_params(axis="x", rotation=90)
    if x.get("side") == "top":
        ax.xaxis.tick_top()


def _ticks(
    ax: Axes, x: Mapping[str, Any], y: Mapping[str, Any], signs: Mapping[str, str], *, dates: bool
) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for axis, told in ((ax.xaxis, x), (ax.yaxis, y)):
        if told.get("tickvals") is not None:
            axis.set_ticks(told["tickvals"], [_text(text) for text in told["ticktext"]])
        elif not (dates and axis is ax.xaxis):
            axis.set_major_locator(MaxNLocator(told.get("nticks", _MOST_TICKS)))
            suffix = str(told.get("ticksuffix", ""))
            axis.set_major_formatter(
                FuncFormatter(lambda value, _, suffix=suffix: _number(value, signs) + suffix)
            )
        title = told.get("title", {}).get("text")
        if title:
            axis.set_label_text(_text(title), fontsize=8, color=INK)
    if dates:
        ax.xaxis_date()
        ax.tick_params(axis="x", rotation=30)
    if x.get("rangemode") == "tozero":
        ax.set_xlim(left=0)
    if y.get("rangemode") == "tozero" and not y.get("range"):
        ax.set_ylim(bottom=0)
    if y.get("range"):
        ax.set_ylim(*y["range"])


def _space(canvas: Canvas, figure: Figure) -> None:
    trace, scene = figure["data"][0], figure["layout"]["scene"]
    ax: Any = canvas.add_subplot(projection="3d")
    marker = trace["marker"]
    ax.scatter(
        trace["x"], trace["y"], trace["z"], s=3, color=marker["color"], alpha=marker["opacity"]
    )
    for axis in "xyz":
        getattr(ax, f"set_{axis}label")(_text(scene[f"{axis}axis"]["title"]["text"]), fontsize=7)
    ax.tick_params(labelsize=6)


_DRAW = {"bar": _bar, "scatter": _scatter, "heatmap": _heatmap}


def _moments(values: Iterable[Any], dates: bool) -> list[Any]:
    if not dates:
        return [np.nan if value is None else value for value in values]
    return [
        np.datetime64("NaT")
        if value is None
        else np.datetime64(datetime.fromisoformat(value).replace(tzinfo=None))
        for value in values
    ]


def _number(value: float, signs: Mapping[str, str]) -> str:
    """A tick's number.

    >>> _number(1500.0, {"decimal": ",", "thousands": " "}), _number(-0.25, {"decimal": ","})
    ('1 500', '−0,25')
    """
    text = f"{value:,.10g}" if abs(value) < 1e9 else f"{value:.3g}"
    swap = {".": signs["decimal"], ",": signs.get("thousands", ""), "-": "−"}
    return "".join(swap.get(character, character) for character in text)


def _text(text: str) -> str:
    r"""A figure's text without markup, and nothing that matplotlib takes for mathematics.

    >>> print(_text("a &lt;b&gt; costs $5"))
    a <b> costs \$5
    """
    plain = unescape(re.sub(r"<[^>]*>", " ", str(text)))
    plain = " ".join(plain.replace("\u200b", "").split())
    plain = "".join(c if c.isprintable() else "\ufffd" for c in plain)
    return plain.replace("$", r"\$")
