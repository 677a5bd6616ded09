"""Survival curves of originals and avatars laid over each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sosie.report.figures.drawing import (
    AVATARS,
    ORIGINALS,
    Axis,
    Figure,
    Plane,
    area,
    legend,
    line,
    plane,
    ticks,
)
from sosie.words import Words

__all__ = ["Steps", "survival"]

_WIDTH, _HEIGHT = 320, 220  # so that a phone shows it at full size
_DASH = "7 4"

Band = Sequence[tuple[float, float] | None]


class Steps(NamedTuple):
    """A curve that holds each value until the next time; shares in 0..1, None where it ended."""

    times: Sequence[float]
    values: Sequence[float | None]
    band: Band


def survival(
    words: Words, originals: Steps, avatars: Steps, *, least: float, last: float, title: str
) -> Figure:
    """Both curves with their bands, on an axis in percent.

    Parameters
    ----------
    least : the survival at which the axis begins, the same for all groups of an analysis.
    last : the time at which it ends, likewise.
    title : of the axis of time.
    """
    keys = [
        (_key(ORIGINALS, ""), words("report.originals")),
        (_key(AVATARS, _DASH), words("report.avatars")),
    ]
    names, top = legend(keys, _WIDTH)
    axes = plane(
        Axis(0, last, ticks(words, 0, last, 5), title),
        Axis(100 * least, 100, ticks(words, 100 * least, 100, 5, "%"), ""),
        *(0, top, _WIDTH - 10, top + _HEIGHT),
    )
    parts = [names, axes.svg]
    for steps, color in ((originals, ORIGINALS), (avatars, AVATARS)):
        parts.append(_band(axes, steps, color))
    for steps, color, dash in ((originals, ORIGINALS, ""), (avatars, AVATARS, _DASH)):
        known = [v for v in steps.values if v is not None]
        points = _steps(axes, steps.times, known)
        parts.append(line(points, color, dash=dash) if len(points) > 1 else "")
    return Figure(_WIDTH, round(top) + _HEIGHT, "".join(parts))


def _key(color: str, dash: str) -> str:
    corners = [(0.0, -6.0), (28.0, -6.0), (28.0, 6.0), (0.0, 6.0)]
    return area(corners, color) + line([(0, 0), (28, 0)], color, dash=dash)


def _steps(
    axes: Plane, times: Sequence[float], values: Sequence[float]
) -> list[tuple[float, float]]:
    """Corners of a curve that falls at each time."""
    points: list[tuple[float, float]] = []
    for time, value in zip(times, values, strict=False):
        x, y = axes.x(time), axes.y(100 * value)
        if points:
            points.append((x, points[-1][1]))
        points.append((x, y))
    return points


def _band(axes: Plane, steps: Steps, color: str) -> str:
    known = [ends for ends in steps.band if ends is not None]
    if len(known) < 2:
        return ""
    floor = axes.y.low / 100
    lower = _steps(axes, steps.times, [max(low, floor) for low, _ in known])
    upper = _steps(axes, steps.times, [max(high, floor) for _, high in known])
    return area([*upper, *reversed(lower)], color)
