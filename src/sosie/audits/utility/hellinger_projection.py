"""Hellinger distance, first components: how far the cloud of avatars has moved."""

from __future__ import annotations

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.histograms import hellinger_distance, histogram, quantile_edges
from sosie.audits.results import Metric
from sosie.compute.arrays import Floats

__all__ = ["DEFINITION", "hellinger_projection"]

DEFINITION = Definition(
    "hellinger_projection",
    "distance",
    "lower",
    "utility",
    place=30,
    advice=("smoothed_utility", "lower_k", "more_components"),
)


def hellinger_projection(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Hellinger distance between originals and avatars on the first components, averaged.

    Coordinates come from the FAMD fitted on the originals, each put into twenty bins
    between the originals' quantiles; see `hellinger_mean`. The first components sum up many
    columns together, which one column after the other would not show.

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
    before, aside = comparison.original_points, comparison.holdout_points
    records = []
    for i in range(before.shape[1]):
        record = {
            "column": i + 1,
            "distance": _distance(before[:, i], comparison.avatar_points[:, i]),
        }
        if len(aside):
            record["control"] = _distance(before[:, i], aside[:, i])
        records.append(record)
    return DEFINITION.result(
        float(np.mean([record["distance"] for record in records])),
        target=target,
        control=float(np.mean([record["control"] for record in records])) if len(aside) else None,
        columns=tuple(records),
    )


def _distance(before: Floats, after: Floats) -> float:
    edges = quantile_edges(before)
    return hellinger_distance(histogram(before, edges), histogram(after, edges))
