"""Hellinger distance, mean: how far each column has moved from originals to avatars."""

from __future__ import annotations

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition, Swept
from sosie.audits.histograms import hellinger_distance, histogram, quantile_edges
from sosie.audits.results import Metric, json_name
from sosie.compute.arrays import Floats
from sosie.data.table import Column, Levels, Numbers, Table

__all__ = ["DEFINITION", "hellinger_mean"]


def column_distance(before: Column, after: Column) -> float:
    """Hellinger distance between the values of two columns, in 0..1."""
    if isinstance(before, Numbers) and isinstance(after, Numbers):
        edges = quantile_edges(before.values[~before.missing])
        return hellinger_distance(histogram(before.values, edges), histogram(after.values, edges))
    codes = [column.codes for column in (before, after) if isinstance(column, Levels)]
    size = max(int(own.max()) for own in codes) + 1
    one, other = (np.bincount(own, minlength=size).astype(np.float64) for own in codes)
    return hellinger_distance(one, other)


DEFINITION = Definition(
    "hellinger_mean",
    "distance",
    "lower",
    "utility",
    target=0.1,
    place=10,
    advice=("smoothed_utility", "draw", "lower_k", "group_levels"),
    gathered="counts",
    count=column_distance,
    swept=Swept(allowed=0.1),
)


def hellinger_mean(
    originals: object, avatars: object | None = None, *, target: float | None = DEFINITION.target
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
    strangers = comparison.holdout
    distances = comparison.by_column(column_distance)
    records = []
    for before, distance in zip(comparison.originals.columns, distances, strict=True):
        record = {"column": json_name(before.name), "distance": distance}
        if strangers is not None:
            record["control"] = column_distance(before, strangers.column(before.name))
        records.append(record)
    return DEFINITION.result(
        float(np.mean(distances)),
        target=target,
        control=None
        if strangers is None
        else float(np.mean([float(r["control"]) for r in records])),
        detail=_means(comparison.originals, np.array(distances)),
        columns=tuple(records[i] for i in np.argsort(distances)[::-1]),
    )


def _means(table: Table, distances: Floats) -> dict[str, float]:
    numbers = np.array([isinstance(column, Numbers) for column in table.columns])
    kinds = {"numbers": numbers, "categories": ~numbers}
    return {name: float(distances[own].mean()) for name, own in kinds.items() if own.any()}
