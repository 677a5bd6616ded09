"""The plane of two components: originals as a density of tiles, avatars as circles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sosie.report.figures.drawing import AVATARS, Axis, Figure, plane, rounded, text, ticks
from sosie.report.figures.heat import RISING, tile
from sosie.words import Words

__all__ = ["axis_titles", "projection"]

_WIDTH, _KEY = 520, 34
_TALLEST = 560
_RADIUS = 1.8


def projection(words: Words, entry: Mapping[str, Any]) -> Figure:
    """Draw ``figures.projection`` of ``run.json``: a unit is as long on both axes."""
    originals, avatars = entry["originals"], entry["avatars"]
    xs, ys = ([*originals[f"{a}_edges"], *avatars[a]] for a in "xy")
    low, high = (min(xs), min(ys)), (max(xs), max(ys))
    shape = (high[1] - low[1]) / ((high[0] - low[0]) or 1.0)
    height = round(min(max(shape * (_WIDTH - 70), 200), _TALLEST)) + _KEY + 40
    titles = axis_titles(words, entry)
    across, up = (
        Axis(
            low[place], high[place], ticks(words, low[place], high[place]), titles[place], grid=True
        )
        for place in (0, 1)
    )
    axes = plane(across, up, 0, _KEY, _WIDTH - 8, height)
    most = max((count or 0 for row in originals["counts"] for count in row), default=0) or 1
    parts = [_key(words, most), axes.svg]
    for y, y_next, row in zip(
        originals["y_edges"], originals["y_edges"][1:], originals["counts"], strict=False
    ):
        for x, x_next, count in zip(
            originals["x_edges"], originals["x_edges"][1:], row, strict=False
        ):
            if count:
                left, top = axes.x(x), axes.y(y_next)
                hover = words("report.projection.tile", n=words.number(count))
                size = (axes.x(x_next) - left, axes.y(y) - top)
                parts.append(tile(left, top, *size, RISING(count / most), hover))
    r = _RADIUS
    circles = "".join(
        f"M{rounded(axes.x(x) - r, axes.y(y))}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0"
        for x, y in zip(avatars["x"], avatars["y"], strict=True)
    )
    look = f'fill="none" stroke="{AVATARS}" stroke-width="0.8" opacity="0.5" pointer-events="none"'
    parts.append(f'<path d="{circles}" {look}/>')
    return Figure(_WIDTH, height, "".join(parts))


def _key(words: Words, most: int) -> str:
    """What the colour of a tile says: a scale from none to the most."""
    name = words("report.projection.per_tile")
    steps = "".join(tile(20 + 12 * place, 16, 12, 9, RISING(place / 9), "") for place in range(10))
    return text(0, 10, name) + text(6, 25, "0") + steps + text(146, 25, words.number(most))


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
