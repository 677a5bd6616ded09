"""Shares and qualities as bars: originals filled, avatars outlined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from statistics import median
from typing import NamedTuple

from sosie.report.figures.drawing import (
    AVATARS,
    ORIGINALS_PALE,
    Axis,
    Figure,
    Tick,
    bar,
    line,
    plane,
    shortened,
    ticks,
)
from sosie.report.figures.shares import Share, Shares
from sosie.words import Words

__all__ = ["Pair", "distribution", "paired_bars"]

_WIDTH, _WIDE = 330, 480
_LABEL = 18  # characters that leave room for the bars
_HISTOGRAM = 200
_ROW = 21
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_MOST_DATES = 4


class Pair(NamedTuple):
    """A row of bars: its label, values of originals and avatars (None: hidden), what hovers."""

    label: str
    originals: float | None
    avatars: float | None
    hover: str


def distribution(words: Words, shares: Shares) -> Figure:
    """Bins of a number or a date, or levels of a category."""
    if shares.edges is not None:
        return _histogram(words, shares)
    pairs = [
        Pair(share.short or share.label, share.originals, share.avatars, _hover(words, share))
        for share in shares.rows
    ]
    return paired_bars(words, pairs, words("report.distributions.share"), _WIDTH)


def paired_bars(words: Words, pairs: Sequence[Pair], title: str, width: int = _WIDE) -> Figure:
    """One row for each pair, on an axis from 0."""
    values = [value for pair in pairs for value in pair[1:3] if value is not None]
    low, high = min([0.0, *values]), max(values, default=0.0) or 1.0
    height = 44 + _ROW * max(len(pairs), 2)
    labels = [(float(place), shortened(pair.label, _LABEL)) for place, pair in enumerate(pairs)]
    across = Axis(low, high * 1.02, ticks(words, low, high, 5), title)
    axes = plane(across, Axis(len(pairs) - 0.5, -0.5, labels, grid=False), 0, 4, width - 12, height)
    parts = [axes.svg]
    for place, pair in enumerate(pairs):
        looks = ((pair.originals, ORIGINALS_PALE, "", 7.0), (pair.avatars, "none", AVATARS, 6.0))
        for value, fill, edge, half in looks:
            if value is not None:
                ends = sorted((axes.x(0), axes.x(value)))
                top = axes.y(place) - half
                parts.append(
                    bar(
                        ends[0],
                        top,
                        ends[1] - ends[0],
                        2 * half,
                        fill=fill,
                        edge=edge,
                        hover=pair.hover,
                    )
                )
    return Figure(width, height, "".join(parts))


def _histogram(words: Words, shares: Shares) -> Figure:
    edges = [_day(edge) if isinstance(edge, str) else float(edge) for edge in shares.edges or ()]
    heights, title = _heights(words, shares)
    drawn = [value for some in heights for value in some if value is not None]
    most = max(drawn, default=0.0) or 1.0
    places = _date_ticks(words, edges) if shares.dates else ticks(words, edges[0], edges[-1], 5)
    axes = plane(
        Axis(edges[0], edges[-1], places, grid=False),
        Axis(0, most * 1.03, ticks(words, 0, most, 4), title),
        *(0, 6, _WIDTH - 12, _HISTOGRAM),
    )
    floor = axes.y(0)
    parts = [axes.svg]
    for left, right, height, share in zip(edges, edges[1:], heights[0], shares.rows, strict=False):
        if height is not None:
            x, top = axes.x(left), axes.y(height)
            width = max(axes.x(right) - x - 0.5, 0.5)
            hover = _hover(words, share)
            parts.append(bar(x, top, width, floor - top, fill=ORIGINALS_PALE, hover=hover))
    parts += [
        line([(axes.x(x), axes.y(y)) for x, y in run], AVATARS)
        for run in outline(edges, heights[1])
    ]
    return Figure(_WIDTH, _HISTOGRAM, "".join(parts))


def _heights(
    words: Words, shares: Shares
) -> tuple[tuple[list[float | None], list[float | None]], str]:
    """Heights of originals and avatars, and the axis' title: wide bins are drawn lower."""
    widths = list(shares.widths or ())
    usual = median(widths)
    # Months differ by a tenth without anyone seeing it.
    even = max(widths) - min(widths) <= usual * (0.1 if shares.dates else 1e-6)
    scale = [1.0] * len(widths) if even else [usual / width for width in widths]
    heights = tuple(
        [
            None if value is None else value * factor
            for value, factor in zip(some, scale, strict=True)
        ]
        for some in ([s.originals for s in shares.rows], [s.avatars for s in shares.rows])
    )
    if even:
        return (heights[0], heights[1]), words("report.distributions.share")
    key = "density_days" if shares.dates else "density"
    width = words.number(round(usual)) if shares.dates else words.value(round(usual, 2))
    return (heights[0], heights[1]), words(f"report.distributions.{key}", width=width)


def outline(
    edges: Sequence[float], heights: Iterable[float | None]
) -> list[list[tuple[float, float]]]:
    """Corners of the outline of a histogram, down to the axis on both sides of what is hidden.

    >>> outline([0, 1, 2], [5, None])
    [[(0, 0.0), (0, 5), (1, 5), (1, 0.0)]]
    """
    runs: list[list[tuple[float, float]]] = []
    under_way = False
    for left, right, height in zip(edges, edges[1:], heights, strict=False):
        if height is not None:
            if not under_way:
                runs.append([(left, 0.0)])
            runs[-1] += [(left, height), (right, height)]
        elif under_way:
            runs[-1].append((left, 0.0))
        under_way = height is not None
    if under_way:
        runs[-1].append((edges[-1], 0.0))
    return runs


def _day(iso: str) -> float:
    """Days since the first of January 1970, with their fraction."""
    instant = datetime.fromisoformat(iso)
    return instant.replace(tzinfo=instant.tzinfo or UTC).timestamp() / 86_400


def _date_ticks(words: Words, edges: Sequence[float]) -> list[Tick]:
    """First days of months, or years, that lie within the edges; the ends where there are none."""
    origin = date(1970, 1, 1).toordinal()
    first, last = (date.fromordinal(origin + int(edge)) for edge in (edges[0], edges[-1]))
    start, end = first.year * 12 + first.month - 1, last.year * 12 + last.month - 1
    step = next((s for s in _MONTHS if (end - start) / s <= _MOST_DATES), _MONTHS[-1])
    names = words.items("format.short_months")
    found = []
    for month in range(start - start % step, end + 1, step):
        day = date(max(month // 12, 1), month % 12 + 1, 1).toordinal() - origin
        if edges[0] <= day <= edges[-1]:
            year = str(month // 12)
            found.append((float(day), year if step % 12 == 0 else f"{names[month % 12]} {year}"))
    if found:
        return found
    return [
        (edge, words.day(day.isoformat())) for edge, day in ((edges[0], first), (edges[-1], last))
    ]


def _hover(words: Words, share: Share) -> str:
    hidden = words("report.distributions.hidden")
    values = (
        (words("report.originals"), share.originals),
        (words("report.avatars"), share.avatars),
    )
    lines = [
        words(
            "format.colon", label=name, value=hidden if value is None else words.value(value, "%")
        )
        for name, value in values
    ]
    return "\n".join([shortened(share.label, 60), *lines])
