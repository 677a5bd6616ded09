"""Projection: how far the cloud of avatars has moved from that of the originals.

Takes originals and avatars (dataframes of any kind, which need not be aligned), or one
`Comparison`.
"""

from __future__ import annotations

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.results import Definition, Metric
from sosie.audits.utility.distributions import hellinger_distance, histogram, quantile_edges
from sosie.compute.arrays import Floats

__all__ = ["DEFINITIONS", "hellinger_projection"]

PROJECTION = Definition("hellinger_projection", "distance", "lower", "utility")

DEFINITIONS = (PROJECTION,)


def hellinger_projection(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = None,
) -> Metric:
    """Hellinger distance between originals and avatars on the first components, averaged.

    Coordinates come from the FAMD fitted on the originals, each put into twenty bins
    between the originals' quantiles; see `hellinger_mean`. The first components sum up many columns
    together, which one column after the other would not show.

    From 0 (the same) to 1 (nothing in common); lower is better; no published target. With
    people set aside, `control` is their distance from the originals.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    components : how many components.
    target : None for no target.

    Returns
    -------
    Metric
        ``columns`` holds ``column`` (the component's number), ``distance`` and, with people
        set aside, ``control``; in order.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(20)]})
    >>> hellinger_projection(people, people.reverse()).value
    0.0
    """
    comparison = compared(originals, avatars, aligned=False, components=components)
    before, held = comparison.original_points, comparison.holdout_points
    records = []
    for i in range(before.shape[1]):
        record = {
            "column": i + 1,
            "distance": _distance(before[:, i], comparison.avatar_points[:, i]),
        }
        if len(held):
            record["control"] = _distance(before[:, i], held[:, i])
        records.append(record)
    return PROJECTION.found(
        float(np.mean([record["distance"] for record in records])),
        target=target,
        control=float(np.mean([record["control"] for record in records])) if len(held) else None,
        columns=tuple(records),
    )


def _distance(before: Floats, after: Floats) -> float:
    edges = quantile_edges(before)
    return hellinger_distance(histogram(before, edges), histogram(after, edges))
