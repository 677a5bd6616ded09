"""Heat maps: links between columns, and what columns give to components."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sosie.report.figures.drawing import (
    INK,
    Figure,
    bar,
    hovered,
    label_width,
    rounded,
    shortened,
    text,
)
from sosie.words import Words

__all__ = ["DIVERGING", "RISING", "Ramp", "contribution_map", "link_map", "tile"]

_WIDTH = 480
_NAMED = 45  # more names than this would not be legible


class Ramp:
    """A colour for each share from 0 to 1, between stops at equal distances.

    >>> Ramp("#000000", "#ffffff")(0.5)
    '#808080'
    """

    def __init__(self, *stops: str) -> None:
        self._stops = [tuple(bytes.fromhex(stop[1:])) for stop in stops]

    def __call__(self, share: float) -> str:
        """The colour as ``#rrggbb``; shares outside 0 to 1 take the nearest."""
        pairs = list(pairwise(self._stops))
        place = min(max(share, 0.0), 1.0) * len(pairs)
        low, high = pairs[min(int(place), len(pairs) - 1)]
        part = place - min(int(place), len(pairs) - 1)
        return "#" + "".join(
            f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high, strict=True)
        )


DIVERGING = Ramp("#14598c", "#7db4d8", "#ffffff", "#e8a07f", "#9c3205")
RISING = Ramp("#e3eef6", "#7db4d8", "#14598c")


def tile(x: float, y: float, width: float, height: float, color: str, hover: str) -> str:
    """One cell of a heat map."""
    return hovered(f'path fill="{color}" d="{_square(x, y, width, height)}"', hover)


def _square(x: float, y: float, width: float, height: float) -> str:
    return f"M{rounded(x, y)}h{rounded(width)}v{rounded(height)}h{rounded(-width)}z"


def link_map(
    words: Words, names: Sequence[str], matrix: Sequence[Sequence[float | None]], most: float
) -> Figure:
    """Square map of links between columns, coloured from -most to most."""
    labels = [shortened(name, 18) for name in names] if len(names) <= _NAMED else []
    size = 10
    room = max((label_width(label, size) for label in labels), default=0) + 6
    side = (_WIDTH - room) / max(len(names), 1)
    top = 26.0
    tiles = [
        (room + j * side, top + i * side, value, f"{names[i]} × {names[j]}")
        for i, row in enumerate(matrix)
        for j, value in enumerate(row)
        if value is not None
    ]
    colors = [DIVERGING(round((value / most + 1) / 2, 2)) for _, _, value, _ in tiles]
    parts = [_scale(words, most)]
    if labels:
        parts += [
            tile(x, y, side, side, color, f"{pair}\n{words.value(round(value, 2))}")
            for (x, y, value, pair), color in zip(tiles, colors, strict=True)
        ]
    else:  # too small to be pointed at: one path for each colour
        squares: dict[str, list[str]] = {}
        for (x, y, _, _), color in zip(tiles, colors, strict=True):
            squares.setdefault(color, []).append(_square(x, y, side, side))
        parts += [f'<path fill="{key}" d="{"".join(some)}"/>' for key, some in squares.items()]
    foot = top + side * len(names)
    for place, label in enumerate(labels):
        middle = (place + 0.5) * side
        parts.append(text(room - 4, top + middle + 3, label, anchor="end", size=size))
        parts.append(text(room + middle + 3, foot + 5, label, anchor="end", size=size, turn=-90))
    return Figure(_WIDTH, round(foot + room + 4), "".join(parts))


def _scale(words: Words, most: float) -> str:
    """What the colours say, from -most to most."""
    left, step = 40, 10
    tiles = "".join(tile(left + step * n, 4, step, 10, DIVERGING(n / 20), "") for n in range(21))
    low, high = words.value(-most), words.value(most)
    return (
        text(left - 4, 13, low, anchor="end", size=10)
        + tiles
        + text(left + 21 * step + 4, 13, high, size=10)
    )


def contribution_map(
    words: Words,
    names: Sequence[str],
    components: Sequence[str],
    percent: Sequence[Sequence[float]],
) -> Figure:
    """What each column gives to each component, in percent, with the numbers."""
    row, top = 20, 24
    labels = [shortened(name) for name in names]
    room = max(map(label_width, labels), default=0) + 8
    wide = (_WIDTH - room) / max(len(components), 1)
    most = max((value for shares in percent for value in shares), default=0.0) or 1.0
    longest = max((label_width(name, 1) for name in components), default=1)
    size = round(min(11, (wide - 4) / longest), 1)  # headings beside each other must not touch
    parts = [
        text(room + (place + 0.5) * wide, 16, name, anchor="middle", size=size)
        for place, name in enumerate(components)
    ]
    for i, (label, shares) in enumerate(zip(labels, percent, strict=True)):
        y = top + i * row
        parts.append(text(room - 6, y + 14, label, anchor="end"))
        for j, value in enumerate(shares):
            parts.append(bar(room + j * wide, y, wide - 2, row - 1, fill=RISING(value / most)))
            color = "#fff" if value > 0.6 * most else INK  # legible on the darker tiles
            shown = words.value(value, "%")
            middle = room + (j + 0.5) * wide
            parts.append(text(middle, y + 14, shown, anchor="middle", size=11, color=color))
    return Figure(_WIDTH, top + row * len(names) + 6, "".join(parts))
