"""What the report shows of the tables: aggregates only (design decision 10).

Originals appear as histograms whose bins hold at least k people and whose edges are round
numbers; levels that fewer hold are counted, not named. A share that fewer than k people have
is hidden, and then the shares beside it are rounded to k people, so that no difference
between them gives it back.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from sosie.audits.bins import bins_of, round_edges
from sosie.audits.comparison import Comparison
from sosie.audits.results import json_name
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Levels, Numbers

__all__ = ["distribution", "distributions", "projection"]

BINS = 20
"""Of a histogram: the shape shows, and most hold enough people."""

CELLS = 36
"""Of the density of originals, on each side: finer ones would mostly be left blank."""

MOST_POINTS = 3_000
"""Avatars in a picture: more hide one another, and the page grows."""

MOST_LEVELS = 200
"""Levels named; a page shows fewer, and the file stays small."""

Json = dict[str, Any]


def projection(comparison: Comparison, least: int, rng: np.random.Generator) -> Json | None:
    """Originals as a density, avatars as points, in the first two components.

    Parameters
    ----------
    least : a cell that fewer originals share is left blank (null); the others are counted in
        multiples of it.
    rng : draws and shuffles the avatars shown, at most 3,000; their order says nothing.

    Returns
    -------
    dict
        ``components``, ``explained`` (percent of inertia), ``originals`` (``x_edges``,
        ``y_edges``, ``counts``: one row for each step of y) and ``avatars`` (``x``, ``y``).
        None where there is one component only.
    """
    if comparison.famd.components < 2:
        return None
    people, avatars = comparison.original_points[:, :2], comparison.avatar_points[:, :2]
    edges = [_cells(avatars[:, axis]) for axis in (0, 1)]
    if edges[0] is None or edges[1] is None:
        return None
    counts, _, _ = np.histogram2d(people[:, 0], people[:, 1], bins=[edges[0], edges[1]])
    shown = avatars[rng.permutation(len(avatars))[:MOST_POINTS]]
    rounded = _rounded(counts, least).astype(int)
    return {
        "components": [1, 2],
        "explained": [round(100 * float(share), 3) for share in comparison.famd.explained[:2]],
        "originals": {
            "x_edges": edges[0].tolist(),
            "y_edges": edges[1].tolist(),
            "counts": [
                [int(shown) if count >= least else None for count, shown in zip(*row, strict=True)]
                for row in zip(counts.T, rounded.T, strict=True)
            ],
        },
        "avatars": {"x": shown[:, 0].round(3).tolist(), "y": shown[:, 1].round(3).tolist()},
    }


def _cells(values: Floats) -> Floats | None:
    low, high = np.quantile(values, [0.002, 0.998])
    return round_edges(float(low), float(high), CELLS)


def distributions(comparison: Comparison, least: int) -> list[Json]:
    """One summary for each column, see `distribution`."""
    return [distribution(comparison, name, least) for name in comparison.originals.names]


def distribution(comparison: Comparison, name: Hashable, least: int) -> Json:
    """How originals and avatars are spread over one column, in percent of those with a value.

    Parameters
    ----------
    least : bins hold at least so many originals; levels that fewer hold are pooled, and
        only their number is told.

    Returns
    -------
    dict
        ``column``, ``kind``, ``missing`` (percent of all), and either ``edges``,
        ``originals``, ``avatars`` (values outside the edges count in the outer bins), or
        ``levels``, ``originals``, ``avatars``, ``rare_levels`` and ``rare``; with more
        than 200 levels ``other_levels`` and ``other``, and where avatars have levels of
        their own ``new_levels`` and ``new``. A share of originals that is hidden is null;
        those beside it are then percent of the people shown, in steps of `least` people.
    """
    people, avatars = comparison.originals.column(name), comparison.avatars.column(name)
    record: Json = {"column": json_name(name), "kind": people.kind}
    lost = [column.missing for column in (people, avatars)]
    record["missing"] = {
        "originals": _hidden(int(lost[0].sum()), len(lost[0]), least),
        "avatars": 100 * float(lost[1].mean()),
    }
    hidden = record["missing"]["originals"] is None
    if isinstance(people, Numbers) and isinstance(avatars, Numbers):
        own, made = people.values[~lost[0]], avatars.values[~lost[1]]
        record |= _binned(own, made, people, least, hidden=hidden)
    elif isinstance(people, Levels) and isinstance(avatars, Levels):
        record |= _counted(people, avatars, least, hidden=hidden)
    return record


def _hidden(count: int, total: int, least: int) -> float | None:
    """A share in percent, or None where it is that of some people but fewer than `least`."""
    return None if 0 < count < least else 100 * count / max(total, 1)


def _rounded(counts: Floats | Ints, least: int) -> Floats:
    """Counts in multiples of `least`, at least one where there is anybody.

    >>> _rounded(np.array([0, 1, 12, 13]), least=5).tolist()
    [0.0, 5.0, 10.0, 15.0]
    """
    return least * np.maximum(np.rint(counts / least), counts > 0)


def _shares(counts: Ints, people: int, least: int | None = None) -> list[float]:
    """Counts in percent of their sum; in steps of `least` of all people where it is given."""
    shares = counts / max(int(counts.sum()), 1)
    if least is not None:
        shares = _rounded(shares * people, least) / people
    return [float(share) for share in 100 * shares]


def _binned(people: Floats, avatars: Floats, column: Numbers, least: int, *, hidden: bool) -> Json:
    bins = None
    if len(people) >= least:  # what lies farther out than the k outermost would show them
        ordered = np.sort(people)
        low, high = sorted((float(ordered[least - 1]), float(ordered[-least])))
        bins = bins_of(column, low, high, BINS)
    if bins is None:
        return {"edges": [], "originals": [], "avatars": []}
    kept = _merged(_histogram(people, bins.edges), least)
    edges = bins.edges[kept]
    return {
        "edges": [bins.written[place] for place in kept],
        "originals": _shares(
            _histogram(people, edges), len(column.values), least if hidden else None
        ),
        "avatars": _shares(_histogram(avatars, edges), len(avatars)),
    }


def _histogram(values: Floats, edges: Floats) -> Ints:
    """Counts per bin; what lies outside counts in the first or the last bin."""
    inside = np.clip(values, edges[0], edges[-1])
    return np.histogram(inside, bins=edges)[0]


def _merged(counts: Ints, least: int) -> list[int]:
    """Which edges to keep so that every bin holds at least so many.

    >>> _merged(np.array([1, 4, 6, 2]), least=5)
    [0, 2, 4]
    """
    kept, people_in_bin = [0], 0
    for place, count in enumerate(counts, 1):
        people_in_bin += int(count)
        if people_in_bin >= least:
            kept.append(place)
            people_in_bin = 0
    if kept[-1] != len(counts):  # the rest joins the last bin
        kept[max(len(kept) - 1, 1) :] = [len(counts)]
    return kept


def _counted(people: Levels, avatars: Levels, least: int, *, hidden: bool) -> Json:
    size = len(avatars.labels)
    named = np.array([label is not None for label in avatars.labels])
    own, made = (np.bincount(column.codes, minlength=size) * named for column in (people, avatars))
    common = np.flatnonzero(own >= least)
    common = common[np.argsort(-own[common], kind="stable")]
    rare = named & (own < least) & (own > 0)
    new = named & (own == 0)
    carriers = int(own[rare].sum())
    told_rare = not 0 < carriers < least
    counts = np.append(own[common], carriers) if told_rare else own[common]
    step = least if hidden or not told_rare else None
    originals = _shares(counts, len(people.codes), step)
    carried = originals.pop() if told_rare else None
    shares = 100 * made / max(int(made.sum()), 1)
    record: Json = {
        "levels": [avatars.labels[code] for code in common[:MOST_LEVELS]],
        "originals": originals[:MOST_LEVELS],
        "avatars": [float(share) for share in shares[common[:MOST_LEVELS]]],
        "rare_levels": int(rare.sum()),
        "rare": {
            "originals": carried,
            "avatars": float(shares[rare].sum()),
        },
    }
    others = common[MOST_LEVELS:]
    if len(others):
        record["other_levels"] = len(others)
        record["other"] = {
            "originals": float(sum(originals[MOST_LEVELS:])),
            "avatars": float(shares[others].sum()),
        }
    if made[new].any():
        record["new_levels"] = int((made[new] > 0).sum())
        record["new"] = {"originals": 0.0, "avatars": float(shares[new].sum())}
    return record
