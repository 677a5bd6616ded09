"""Forest plots: each term's estimate and interval, on originals and on avatars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from sosie.report.figures.drawing import (
    AVATARS,
    ORIGINALS,
    SOFT,
    Axis,
    Figure,
    Scale,
    Tick,
    label_width,
    legend,
    line,
    mark,
    plane,
    shortened,
    text,
    ticks,
)
from sosie.words import Words

__all__ = ["ForestLine", "Point", "forest"]

_WIDTH, _ROW = 320, 48  # so that a phone shows it at full size
_NAME = -12  # where a term's name and verdict stand, above its intervals
_BELOW = 8  # the middle of its intervals
_APART = 6  # half the distance between the two intervals of a term
_DASH = "6 3"


class Point(NamedTuple):
    """An estimate with the ends of its interval, as it is drawn."""

    value: float
    low: float
    high: float


class ForestLine(NamedTuple):
    """One term, from top to bottom; a side is None where it has no estimate."""

    label: str
    original: Point | None
    avatars: Point | None
    verdict: str
    hover: str


def forest(
    words: Words, lines: Sequence[ForestLine], *, log: bool, nothing: float | None, title: str
) -> Figure:
    """Terms below each other, name and verdict above the intervals of each.

    Parameters
    ----------
    log : whether the axis is logarithmic, as ratios are drawn.
    nothing : where an effect would be none; None for means and shares.
    title : of the axis.
    """
    low, high = _ends(lines, log, nothing)
    keys = [
        (_key(ORIGINALS, "", "circle"), words("report.originals")),
        (_key(AVATARS, _DASH, "square"), words("report.avatars")),
    ]
    if nothing is not None:
        key = line([(14, -6), (14, 6)], SOFT, width=1.5, dash="2 3")
        keys.append((key, words("analyses.no_effect")))
    names, top = legend(keys, _WIDTH)
    bottom = top + _ROW * len(lines) + 44
    marks = _ratio_ticks(words, low, high) if log else ticks(words, low, high)
    axes = plane(
        Axis(low, high, marks, title, log=log),
        Axis(len(lines) - 0.5, -0.5, (), grid=False),
        *(0, top, _WIDTH - 8, bottom),
    )
    parts = [names, axes.svg]
    for i, one in enumerate(lines):
        y = axes.y(i) + _BELOW
        if nothing is not None and low <= nothing <= high:  # beside the intervals, not the words
            ends = [(axes.x(nothing), y - 2 * _APART), (axes.x(nothing), y + 2 * _APART)]
            parts.append(line(ends, SOFT, width=1.5, dash="2 3"))
        sides = ((one.original, -_APART, ORIGINALS, "", "circle"),
                 (one.avatars, _APART, AVATARS, _DASH, "square"))  # fmt: skip
        for point, shift, color, dash, shape in sides:
            if point is not None:
                parts += _interval(axes.x, point, y + shift, color, dash, shape, one.hover)
        room = _WIDTH - 12 - label_width(one.verdict)
        name, place = _fitted(one.label, room), axes.y(i) + _NAME
        parts.append(text(0, place, name))
        parts.append(text(_WIDTH, place, one.verdict, anchor="end", color=SOFT))
    return Figure(_WIDTH, round(bottom), "".join(parts))


def _fitted(label: str, room: float) -> str:
    """As much of a label as there is room for."""
    whole = shortened(label, len(label) + 1)
    lengths = range(len(whole), 1, -1)
    return next((cut for n in lengths if label_width(cut := shortened(whole, n)) <= room), "…")


def _key(color: str, dash: str, shape: str) -> str:
    return line([(0, 0), (28, 0)], color, dash=dash) + mark(shape, 14, 0, color, radius=4)


def _interval(
    x: Scale, point: Point, y: float, color: str, dash: str, shape: str, hover: str
) -> list[str]:
    """A line from end to end, an arrow's head where it goes on, and the estimate's mark."""
    low, high = max(point.low, x.low), min(point.high, x.high)
    parts = []
    if low <= high:
        parts.append(line([(x(low), y), (x(high), y)], color, dash=dash))
        for end, beyond, side in ((low, point.low < x.low, 5), (high, point.high > x.high, -5)):
            if beyond:
                tip = x(end)
                parts.append(line([(tip + side, y - 4), (tip, y), (tip + side, y + 4)], color))
    if x.low <= point.value <= x.high:
        parts.append(mark(shape, x(point.value), y, color, radius=4, hover=hover))
    return parts


def _ends(lines: Sequence[ForestLine], log: bool, nothing: float | None) -> tuple[float, float]:
    """Of the axis: all estimates, and intervals unless one is far wider than those of originals."""
    forward, back = (math.log, math.exp) if log else (float, float)
    sides = [point for one in lines for point in (one.original, one.avatars) if point is not None]
    values = [forward(point.value) for point in sides if _drawable(point.value, log)]
    values += [] if nothing is None else [forward(nothing)]
    ends = [(p.low, p.high) for p in sides if _drawable(p.low, log) and _drawable(p.high, log)]
    spans = sorted(forward(high) - forward(low) for low, high in ends)
    widest = 4 * spans[len(spans) // 2] if spans else 1.0
    known = [end for low, high in ends if forward(high) - forward(low) <= widest
             for end in (forward(low), forward(high))]  # fmt: skip
    low, high = min([*values, *known], default=-1.0), max([*values, *known], default=1.0)
    room = (high - low) * 0.04 or 0.5
    return back(low - room), back(high + room)


def _drawable(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not log)


def _ratio_ticks(words: Words, low: float, high: float) -> list[Tick]:
    """1, 2 and 5 times powers of ten; round steps where the axis is too short for three of them.

    >>> from sosie.words import load
    >>> [label for _, label in _ratio_ticks(load("en"), 0.3, 2.4)]
    ['0.5', '1', '2']
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [m * 10.0**power for power in powers for m in (1, 2, 5)]
    inside = [value for value in values if low <= value <= high]
    if len(inside) < 3:
        return ticks(words, low, high, 5)
    return [(value, _short(words, value)) for value in inside]


def _short(words: Words, value: float) -> str:
    if not 1e-4 < value < 1e6:
        return f"{value:.0e}"
    return words.number(value, max(0, -math.floor(math.log10(value))))
