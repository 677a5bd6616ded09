"""Histograms of two tables with the same bins, and how far they are from each other."""

from __future__ import annotations

import numpy as np

from sosie.compute.arrays import Floats

__all__ = ["BINS", "hellinger_distance", "histogram", "quantile_edges"]


BINS = 20
"""Bins of a number, between the originals' quantiles."""


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
