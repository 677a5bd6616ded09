"""Marks, scales, axes and legends as SVG: what the report's figures are drawn with.

A figure is a still picture. The page holds it as it is, so it needs no script, is there when the
page is printed at once, and grows without blur; the document holds the same picture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import escape

from sosie.words import Words

__all__ = [
    "Axis",
    "Figure",
    "Plane",
    "Scale",
    "Tick",
    "area",
    "bar",
    "digits_of",
    "hovered",
    "label_width",
    "legend",
    "line",
    "mark",
    "plain",
    "plane",
    "rounded",
    "shortened",
    "text",
    "ticks",
]

# Okabe and Ito's blue and vermilion, apart for every colour vision and in grey.
ORIGINALS = "#0072b2"
ORIGINALS_PALE = "#9cc7e3"
AVATARS = "#b8480a"
INK = "#1d2b36"
SOFT = "#52616d"
GRID = "#e3e8ec"
EDGE = "#8796a1"

# One look for each line, so that no line is told by its colour alone.
LOOKS = (
    (INK, "", "circle"),
    (AVATARS, "7 4", "square"),
    (ORIGINALS, "2 3", "diamond"),
    ("#007a5e", "8 3 2 3", "triangle"),
    ("#a0457f", "12 4", "x"),
    ("#6b5b00", "12 3 2 3", "cross"),
    ("#4b4b9b", "5 2", "down"),
)

FONT = 12  # in units of the drawing, which are pixels of a screen at full size
_FAMILY = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', Arial, sans-serif"
_LABEL = 24
# Widths of characters, in shares of the font's size: of a common sans-serif, rounded up.
_NARROW, _USUAL, _WIDE = 0.4, 0.64, 0.95
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of ``width`` x ``height`` units and the elements in it."""

    width: int
    height: int
    body: str

    @property
    def svg(self) -> str:
        """The picture as an SVG element that also stands alone."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
            f' font-family="{_FAMILY}" font-size="{FONT}" fill="{INK}">{self.body}</svg>'
        )


def plain(content: str) -> str:
    r"""Text for XML: escaped, and without the signs that XML has no place for.

    >>> print(plain("<b>\x00"))
    &lt;b&gt;�
    """
    legal = r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    return escape(re.sub(legal, "\ufffd", content))


def shortened(content: str, length: int = _LABEL) -> str:
    """Text on one line and not too long.

    >>> shortened("long beyond all reason and more")
    'long beyond all reason …'
    """
    one_line = " ".join(content.split())
    return one_line if len(one_line) <= length else one_line[: length - 1] + "…"


def label_width(content: str, size: float = FONT) -> float:
    """Width of a text, estimated: rather too wide than too narrow."""
    share = sum(
        _NARROW if c in "iljtfrI.,;:'’|!()[] \u00a0\u202f" else _WIDE if c in "mwMW@%" else _USUAL
        for c in content
    )
    return share * size


def rounded(*values: float) -> str:
    """Coordinates with a tenth of a unit, as short as can be.

    >>> rounded(1.0, 2.25, -0.01)
    '1 2.2 0'
    """
    # Adding zero turns -0.0 into 0.0.
    return " ".join(f"{round(value, 1) + 0.0:.1f}".removesuffix(".0") for value in values)


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str = "start",
    size: float = FONT,
    color: str = "",
    turn: int = 0,
) -> str:
    """A text whose base line is at ``y``."""
    more = f' text-anchor="{anchor}"' * (anchor != "start") + f' font-size="{size}"' * (
        size != FONT
    )
    more += f' fill="{color}"' * bool(color)
    more += f' transform="rotate({turn} {rounded(x, y)})"' * bool(turn)
    left, top = rounded(x), rounded(y)
    return f'<text x="{left}" y="{top}"{more}>{plain(content)}</text>'


def bar(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str = "none",
    edge: str = "",
    hover: str = "",
) -> str:
    """A rectangle, filled or outlined; ``hover`` is shown where a pointer rests on it."""
    look = f'fill="{fill}"' + f' stroke="{edge}" stroke-width="2"' * bool(edge)
    path = f"M{rounded(x, y)}h{rounded(width)}v{rounded(height)}h{rounded(-width)}z"
    return hovered(f'path d="{path}" {look}', hover)


def line(
    points: Sequence[tuple[float, float]],
    color: str,
    *,
    width: float = 2,
    dash: str = "",
    opacity: float = 1,
) -> str:
    """A line through points."""
    more = f' stroke-dasharray="{dash}"' * bool(dash) + f' opacity="{opacity}"' * (opacity < 1)
    path = "M" + "L".join(rounded(*point) for point in points)
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width}"{more}/>'


def area(points: Sequence[tuple[float, float]], color: str, *, opacity: float = 0.18) -> str:
    """The inside of a line through points that comes back to the first."""
    path = "M" + "L".join(rounded(*point) for point in points)
    return f'<path d="{path}z" fill="{color}" opacity="{opacity}"/>'


def mark(
    shape: str, x: float, y: float, color: str, *, radius: float = 4.5, hover: str = ""
) -> str:
    """A sign of one of the shapes of `LOOKS`, or a ``ring``."""
    r, corner, side = radius, radius * 0.9, radius * 1.8
    paths = {
        "circle": f"M{rounded(x - r, y)}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z",
        "square": f"M{rounded(x - corner, y - corner)}h{side}v{side}h{-side}z",
        "diamond": f"M{rounded(x, y - r * 1.2)}l{r} {r * 1.2}l{-r} {r * 1.2}l{-r} {-r * 1.2}z",
        "triangle": f"M{rounded(x, y - r)}l{r} {1.8 * r}h{-2 * r}z",
        "down": f"M{rounded(x, y + r)}l{r} {-1.8 * r}h{-2 * r}z",
        "x": f"M{rounded(x - corner, y - corner)}l{side} {side}m0 {-side}l{-side} {side}",
        "cross": f"M{rounded(x - r, y)}h{2 * r}m{-r} {-r}v{2 * r}",
    }
    paths["ring"] = paths["circle"]
    fill = "none" if shape in ("x", "cross", "ring") else color
    return hovered(
        f'path d="{paths[shape]}" fill="{fill}" stroke="{color}" stroke-width="1.8"', hover
    )


def hovered(element: str, hover: str) -> str:
    """An element, with a text that is shown where a pointer rests on it."""
    name = element.partition(" ")[0]
    return f"<{element}><title>{plain(hover)}</title></{name}>" if hover else f"<{element}/>"


class Scale(NamedTuple):
    """From values ``low`` to ``high`` to places ``start`` to ``end`` of the drawing."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Place of a value.

        >>> Scale(0, 10, 100, 200)(5), Scale(1, 100, 0, 1, log=True)(10)
        (150.0, 0.5)
        """
        low, high, value = (
            (math.log(v) for v in (self.low, self.high, value))
            if self.log
            else (self.low, self.high, value)
        )
        return self.start + (self.end - self.start) * (value - low) / ((high - low) or 1)


Tick = tuple[float, str]


class Axis(NamedTuple):
    """What an axis says: its ends, ticks, title, and whether lines cross the plane at its ticks."""

    low: float
    high: float
    ticks: Sequence[Tick]
    title: str = ""
    grid: bool = True
    log: bool = False


def ticks(words: Words, low: float, high: float, most: int = 6, unit: str = "") -> list[Tick]:
    """Round values between two ends, at most about ``most``, with their texts.

    >>> from sosie.words import load
    >>> [label for _, label in ticks(load("en"), 0, 1.1, unit="%")]
    ['0.0%', '0.2%', '0.4%', '0.6%', '0.8%', '1.0%']
    """
    if not high > low:
        return [(low, words.number(low, digits_of(low)))]
    raw = (high - low) / most
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(s * magnitude for s in _STEPS if s * magnitude >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [place * step for place in range(first, last + 1)]
    digits = digits_of(step)
    labels = [
        words.number(value + 0.0, digits) if abs(value) < 1e9 else f"{value:.3g}"
        for value in values
    ]
    if unit == "%":
        labels = [words("format.percent", number=label) for label in labels]
    return list(zip(values, labels, strict=True))


def digits_of(step: float) -> int:
    """Decimals that tell multiples of a step apart.

    >>> digits_of(0.25), digits_of(20)
    (2, 0)
    """
    return next((d for d in range(7) if abs(round(step, d) - step) < abs(step) * 1e-6), 6)


class Plane(NamedTuple):
    """Where values stand: both scales, and the axes as drawn."""

    x: Scale
    y: Scale
    svg: str


def plane(x: Axis, y: Axis, left: float, top: float, right: float, bottom: float) -> Plane:
    """Axes within a box: texts of the left and lower axis are inside it too."""
    names = [label for _, label in y.ticks]
    x_0 = left + max(map(label_width, names), default=0) + 8 + 18 * bool(y.title)
    y_0 = bottom - 20 - 17 * bool(x.title)
    across, up = Scale(x.low, x.high, x_0, right, x.log), Scale(y.low, y.high, y_0, top, y.log)
    parts = [line([(x_0, y_0), (right, y_0)], EDGE, width=1)]
    for value, label in y.ticks:
        place = up(value)
        if y.grid:
            parts.append(line([(x_0, place), (right, place)], GRID, width=1))
        parts.append(text(x_0 - 6, place + 4, label, anchor="end"))
    free = -math.inf  # texts that would touch the one before are left out
    for value, label in x.ticks:
        place, half = across(value), label_width(label) / 2
        if x.grid:
            parts.append(line([(place, top), (place, y_0)], GRID, width=1))
        if place - half >= free:
            parts.append(text(min(place, right - half + 6), y_0 + 15, label, anchor="middle"))
            free = place + half + 4
    if x.title:
        parts.append(text((x_0 + right) / 2, bottom - 4, x.title, anchor="middle", color=SOFT))
    if y.title:
        middle = (top + y_0) / 2
        parts.append(text(left + 11, middle, y.title, anchor="middle", color=SOFT, turn=-90))
    return Plane(across, up, "".join(parts))


def legend(entries: Iterable[tuple[str, str]], width: float) -> tuple[str, float]:
    """Keys and names in lines of at most ``width``; also the height they take.

    A key is drawn around (14, 0); its name starts at 32.
    """
    parts, x, y = [], 0.0, 12.0
    for key, name in entries:
        needs = 38 + label_width(name) + 10
        if x and x + needs > width:
            x, y = 0.0, y + 18
        parts.append(f'<g transform="translate({rounded(x, y)})">{key}{text(32, 4, name)}</g>')
        x += needs
    return "".join(parts), y + 14 if parts else 0.0
