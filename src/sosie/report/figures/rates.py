"""Rates of attacks against the number of releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sosie.report.figures.drawing import (
    LOOKS,
    SOFT,
    Axis,
    Figure,
    legend,
    line,
    mark,
    plane,
    shortened,
    ticks,
)
from sosie.words import Words

__all__ = ["Curve", "curve"]

_WIDTH, _HEIGHT = 520, 340
_DASHES = ("2 4", "8 4", "14 4", "8 3 2 3")


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: rates in percent by number of releases."""

    label: str
    releases: tuple[int, ...]
    rates: tuple[float, ...]
    intervals: tuple[tuple[float, float] | None, ...]
    published: bool = False


def curve(words: Words, curves: Sequence[Curve], levels: Sequence[tuple[str, float]]) -> Figure:
    """Curves with their intervals, and horizontal ``levels`` to compare with."""
    numbers = sorted({release for some in curves for release in some.releases})
    looks = [LOOKS[place % len(LOOKS)] for place in range(len(curves))]
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(levels))]
    keys = [
        (_key(color, dash) + mark(shape, 14, 0, color, radius=4), shortened(some.label, 48))
        for some, (color, dash, shape) in zip(curves, looks, strict=True)
    ]
    keys += [
        (_key(SOFT, dash), f"{shortened(label, 40)} ({words.value(rate, '%')})")
        for (label, rate), dash in zip(levels, dashes, strict=True)
    ]
    names, top = legend(keys, _WIDTH)
    # A little room on both sides of the first and the last number of releases.
    across = Axis(
        numbers[0] * 0.9,
        numbers[-1] * 1.1,
        [(number, words.number(number)) for number in numbers],
        words("attack.curve_x"),
        log=True,
    )
    axes = plane(
        across,
        Axis(0, 102, ticks(words, 0, 100), words("attack.curve_y")),
        *(0, top, _WIDTH - 12, top + _HEIGHT),
    )
    parts = [names, axes.svg]
    for (_, rate), dash in zip(levels, dashes, strict=True):
        level = [(axes.x.start, axes.y(rate)), (axes.x.end, axes.y(rate))]
        parts.append(line(level, SOFT, width=1.5, dash=dash))
    for some, (color, dash, shape) in zip(curves, looks, strict=True):
        points = [(axes.x(x), axes.y(y)) for x, y in zip(some.releases, some.rates, strict=True)]
        for (x, _), ends in zip(points, some.intervals, strict=True):
            if ends is not None:
                parts.append(line([(x, axes.y(end)) for end in ends], color, width=1))
        parts.append(line(points, color, width=2.5 if some.published else 2, dash=dash))
        parts += [
            mark(shape, *point, color, hover=f"{some.label}\n{words.value(rate, '%')}")
            for point, rate in zip(points, some.rates, strict=True)
        ]
    return Figure(_WIDTH, round(top) + _HEIGHT, "".join(parts))


def _key(color: str, dash: str) -> str:
    return line([(0, 0), (28, 0)], color, dash=dash)
