"""What the report shows of the tables: aggregates only (design decision 10).

Originals appear as histograms whose bins hold at least k people; levels that fewer hold
are counted, not named; bounds of bins are round numbers, never a person's value.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.comparison import Comparison
from sosie.frames import Floats, Ints
from sosie.table import Grid, Levels, Numbers

__all__ = ["distribution", "distributions", "projection"]

BINS = 20
CELLS = 36
MOST_POINTS = 3_000
MOST_LEVELS = 200

Json = dict[str, Any]


def projection(comparison: Comparison, least: int, rng: np.random.Generator) -> Json | None:
    """Originals as a density, avatars as points, in the first two components.

    Parameters
    ----------
    least : a cell that fewer originals share is left blank (null).
    rng : draws and shuffles the avatars shown, at most 3,000; their order says nothing.

    Returns
    -------
    dict
        See the page on a run's files; None where there is one component only.
    """
    if comparison.famd.components < 2:
        return None
    people, avatars = comparison.original_points[:, :2], comparison.avatar_points[:, :2]
    edges = [_cells(avatars[:, axis]) for axis in (0, 1)]
    counts, _, _ = np.histogram2d(people[:, 0], people[:, 1], bins=edges)
    shown = avatars[rng.permutation(len(avatars))[:MOST_POINTS]]
    return {
        "components": [1, 2],
        "explained": [100 * float(share) for share in comparison.famd.explained[:2]],
        "originals": {
            "x_edges": edges[0].tolist(),
            "y_edges": edges[1].tolist(),
            "counts": [[int(c) if c >= least else None for c in row] for row in counts.T],
        },
        "avatars": {"x": shown[:, 0].round(3).tolist(), "y": shown[:, 1].round(3).tolist()},
    }


def _cells(values: Floats) -> Floats:
    low, high = np.quantile(values, [0.002, 0.998])
    return _round_edges(float(low), float(high), CELLS)


def _round_edges(low: float, high: float, most: int) -> Floats:
    """Edges at multiples of 1, 2, 2.5 or 5 times a power of ten that cover a range.

    >>> _round_edges(3.2, 11.7, 5).tolist()
    [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    """
    span = high - low
    if not span > 0:
        span = abs(low) or 1.0
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first = math.floor(low / step)
    last = max(math.ceil(high / step), first + 1)
    return np.arange(first, last + 1) * step


def distributions(comparison: Comparison, least: int) -> list[Json]:
    """One summary for each column, see `distribution`."""
    return [distribution(comparison, name, least) for name in comparison.originals.names]


def distribution(comparison: Comparison, name: Hashable, least: int) -> Json:
    """How originals and avatars are spread over one column, in percent of those with a value.

    Parameters
    ----------
    least : bins hold at least so many originals; levels that fewer hold are pooled, and
        only their number is told.
    """
    people, avatars = comparison.originals.column(name), comparison.avatars.column(name)
    told: Json = {"column": name if isinstance(name, int) else str(name), "kind": people.kind}
    lost = [column.missing for column in (people, avatars)]
    told["missing"] = {
        "originals": _hidden(int(lost[0].sum()), len(lost[0]), least),
        "avatars": 100 * float(lost[1].mean()),
    }
    if isinstance(people, Numbers) and isinstance(avatars, Numbers):
        told |= _binned(people.values[~lost[0]], avatars.values[~lost[1]], people, least)
    elif isinstance(people, Levels) and isinstance(avatars, Levels):
        told |= _counted(people, avatars, least)
    return told


def _hidden(count: int, total: int, least: int) -> float | None:
    """A share in percent, or None where it is that of some people but fewer than `least`."""
    return None if 0 < count < least else 100 * count / max(total, 1)


def _shares(counts: NDArray[Any]) -> list[float]:
    return [float(share) for share in 100 * counts / max(int(counts.sum()), 1)]


def _binned(people: Floats, avatars: Floats, column: Numbers, least: int) -> Json:
    if len(people) < least:
        return {"edges": [], "originals": [], "avatars": []}
    ordered = np.sort(people)
    edges = _round_edges(float(ordered[least - 1]), float(ordered[-least]), BINS)
    counts = _histogram(people, edges)
    kept = _merged(counts, least)
    edges = edges[kept]
    return {
        "edges": [_written(float(edge), column) for edge in edges],
        "originals": _shares(_histogram(people, edges)),
        "avatars": _shares(_histogram(avatars, edges)),
    }


def _histogram(values: Floats, edges: Floats) -> Ints:
    """Counts per bin; what lies outside counts in the first or the last bin."""
    inside = np.clip(values, edges[0], edges[-1])
    return np.histogram(inside, bins=edges)[0]


def _merged(counts: Ints, least: int) -> Ints:
    """Which edges to keep so that every bin holds at least so many.

    >>> _merged(np.array([1, 4, 6, 2]), least=5).tolist()
    [0, 2, 4]
    """
    kept, held = [0], 0
    for i, count in enumerate(counts):
        held += int(count)
        if held >= least:
            kept.append(i + 1)
            held = 0
    if kept[-1] != len(counts):
        kept = [*kept[:-1], len(counts)] if len(kept) > 1 else [0, len(counts)]
    return np.array(kept)


def _written(edge: float, column: Numbers) -> float | str:
    """An edge in the units of the column; dates as ISO text."""
    grid = column.grid
    if column.kind != "date":
        return float(grid.origin + edge) if grid.step else edge
    days = (grid.origin + edge * grid.step) / grid.per_day
    return _iso(days, grid)


def _iso(days: float, grid: Grid) -> str:
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(days=days)
    whole = grid.per_day == 1 or grid.step % grid.per_day == 0
    return moment.date().isoformat() if whole else moment.isoformat(timespec="seconds")


def _counted(people: Levels, avatars: Levels, least: int) -> Json:
    size = len(avatars.labels)
    named = np.array([label is not None for label in avatars.labels])
    counts = [np.bincount(column.codes, minlength=size) * named for column in (people, avatars)]
    shares = [100 * c / max(int(c.sum()), 1) for c in counts]
    common = np.flatnonzero(counts[0] >= least)
    common = common[np.argsort(-counts[0][common], kind="stable")]
    shown, others = common[:MOST_LEVELS], common[MOST_LEVELS:]
    rare = named & (counts[0] < least) & (counts[0] > 0)
    new = named & (counts[0] == 0)
    told: Json = {
        "levels": [avatars.labels[code] for code in shown],
        "originals": [float(s) for s in shares[0][shown]],
        "avatars": [float(s) for s in shares[1][shown]],
        "rare_levels": int(rare.sum()),
        "rare": {
            "originals": _hidden(int(counts[0][rare].sum()), int(counts[0].sum()), least),
            "avatars": float(shares[1][rare].sum()),
        },
    }
    if len(others):
        told["other_levels"] = len(others)
        told["other"] = {
            "originals": float(shares[0][others].sum()),
            "avatars": float(shares[1][others].sum()),
        }
    if counts[1][new].any():
        told["new_levels"] = int((counts[1][new] > 0).sum())
        told["new"] = {"originals": 0.0, "avatars": float(shares[1][new].sum())}
    return told
