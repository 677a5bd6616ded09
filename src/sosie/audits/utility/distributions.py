"""Distributions: how far each column has moved from originals to avatars.

Takes originals and avatars (dataframes of any kind, which need not be aligned), or one
`Comparison`.
"""

from __future__ import annotations

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.results import Definition, Metric, json_name
from sosie.compute.arrays import Floats
from sosie.data.table import Column, Levels, Numbers, Table

__all__ = ["DEFINITIONS", "hellinger_distance", "hellinger_mean", "quantile_edges"]

HELLINGER = Definition("hellinger_mean", "distance", "lower", "utility", 0.1)

DEFINITIONS = (HELLINGER,)

BINS = 20
"""Bins of a number, between the originals' quantiles."""


def hellinger_mean(
    originals: object, avatars: object | None = None, *, target: float | None = 0.1
) -> Metric:
    """Hellinger distance between originals and avatars, column by column, averaged.

    For shares p and q, ``sqrt(1 - sum_b sqrt(p_b q_b))``: the levels of a category, or
    for numbers and dates twenty bins between the originals' quantiles. Missing values have
    a bin of their own. ``numbers`` and ``categories`` are the means of either kind.

    From 0 (the same) to 1 (nothing in common); lower is better; target at most 0.1. With
    people set aside, `control` is their distance from the originals: what another sample
    of the same population scores.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    target : None for no target.

    Returns
    -------
    Metric
        ``columns`` holds ``column``, ``distance`` and, with people set aside, ``control``;
        farthest first.

    Notes
    -----
    Source: Hellinger, J. reine angew. Math. 136 (1909); used for avatars and other
    synthetic data.

    Examples
    --------
    Half the people move to a level that nobody had:

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F"] * 8})
    >>> avatars = pl.DataFrame({"sex": ["F"] * 4 + ["M"] * 4})
    >>> round(hellinger_mean(people, avatars).value, 4)
    0.5412
    """
    comparison = compared(originals, avatars, aligned=False)
    held = comparison.holdout
    distances = comparison.by_column(column_distance)
    records = []
    for before, distance in zip(comparison.originals.columns, distances, strict=True):
        record = {"column": json_name(before.name), "distance": distance}
        if held is not None:
            record["control"] = column_distance(before, held.column(before.name))
        records.append(record)
    return HELLINGER.found(
        float(np.mean(distances)),
        target=target,
        control=None if held is None else float(np.mean([float(r["control"]) for r in records])),
        detail=_means(comparison.originals, np.array(distances)),
        columns=tuple(records[i] for i in np.argsort(distances)[::-1]),
    )


def _means(table: Table, distances: Floats) -> dict[str, float]:
    numbers = np.array([isinstance(column, Numbers) for column in table.columns])
    kinds = {"numbers": numbers, "categories": ~numbers}
    return {name: float(distances[own].mean()) for name, own in kinds.items() if own.any()}


def hellinger_distance(one: Floats, other: Floats) -> float:
    """Hellinger distance between two histograms with the same bins, in 0..1.

    Parameters
    ----------
    one, other : (b,) counts or shares, not all zero.

    Examples
    --------
    >>> round(hellinger_distance(np.array([1.0, 0.0]), np.array([1.0, 1.0])), 4)
    0.5412
    """
    overlap = np.sqrt(one / one.sum() * (other / other.sum())).sum()
    return float(np.sqrt(max(0.0, 1 - overlap)))


def quantile_edges(values: Floats, bins: int = BINS) -> Floats:
    """Inner edges of bins that hold about as many values each, ``(bins - 1,)`` at most.

    A value that would fill several bins is the edge of one.

    >>> quantile_edges(np.arange(6.0), 3), quantile_edges(np.array([0.0, 0, 0, 0, 1, 2]), 3)
    (array([1., 3.]), array([0.]))
    """
    inner = np.arange(1, bins) / bins
    return np.unique(np.quantile(values, inner, method="inverted_cdf"))


def histogram(values: Floats, edges: Floats) -> Floats:
    """Counts up to each edge, above the last one, and of missing values, ``(edges + 2,)``."""
    missing = np.isnan(values)
    places = np.searchsorted(edges, values[~missing], side="left")
    counts = np.bincount(places, minlength=len(edges) + 1)
    return np.append(counts, missing.sum()).astype(np.float64)


def column_distance(before: Column, after: Column) -> float:
    """Hellinger distance between the values of two columns, in 0..1."""
    if isinstance(before, Numbers) and isinstance(after, Numbers):
        edges = quantile_edges(before.values[~before.missing])
        return hellinger_distance(histogram(before.values, edges), histogram(after.values, edges))
    codes = [column.codes for column in (before, after) if isinstance(column, Levels)]
    size = max(int(some.max()) for some in codes) + 1
    one, other = (np.bincount(some, minlength=size).astype(np.float64) for some in codes)
    return hellinger_distance(one, other)
