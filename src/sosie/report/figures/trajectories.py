"""Means along people, originals and avatars: a band, never anybody's own line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sosie.report.figures.drawing import (
    AVATARS,
    ORIGINALS,
    Axis,
    Figure,
    area,
    legend,
    line,
    plane,
    ticks,
)
from sosie.words import Words

__all__ = ["trajectories"]

_WIDTH, _HEIGHT = 420, 220
_DASH = "7 4"


def trajectories(words: Words, points: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """The originals' mean and its 95 % band over time, and the avatars' mean.

    Parameters
    ----------
    points : `time`, `low`, `mean`, `high`, `avatars`, in order of time; two at least.
    title : of the axis of time.
    """
    corners = [(0.0, -6.0), (28.0, -6.0), (28.0, 6.0), (0.0, 6.0)]
    keys = [
        (area(corners, ORIGINALS) + line([(0, 0), (28, 0)], ORIGINALS), words("report.originals")),
        (line([(0, 0), (28, 0)], AVATARS, dash=_DASH), words("report.avatars")),
    ]
    names, top = legend(keys, _WIDTH)
    times = [point["time"] for point in points]
    low = min(min(point["low"], point["avatars"]) for point in points)
    high = max(max(point["high"], point["avatars"]) for point in points)
    high = high if high > low else low + 1.0
    axes = plane(
        Axis(times[0], times[-1], ticks(words, times[0], times[-1], 5), title),
        Axis(low, high, ticks(words, low, high, 5), ""),
        *(0, top, _WIDTH - 10, top + _HEIGHT),
    )

    def along(key: str) -> list[tuple[float, float]]:
        return [(axes.x(point["time"]), axes.y(point[key])) for point in points]

    band = area([*along("high"), *reversed(along("low"))], ORIGINALS)
    drawn = line(along("mean"), ORIGINALS) + line(along("avatars"), AVATARS, dash=_DASH)
    return Figure(_WIDTH, round(top) + _HEIGHT, names + axes.svg + band + drawn)
