"""What the report shows of columns taken together: links, components; aggregates only."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.audits.associations import MEASURES, measures_of, of_both
from sosie.audits.comparison import Comparison
from sosie.audits.results import json_name
from sosie.compute.arrays import Floats

__all__ = ["contributions", "links", "space"]

MOST_COLUMNS = 100
"""Columns of the pictures; where there are more, those whose links changed most."""

MOST_POINTS = 1_500
"""Avatars in a picture that turns: more slow a browser down."""

Json = dict[str, Any]


def links(comparison: Comparison) -> Json | None:
    """Strength of the link between any two columns, among originals and among avatars.

    Returns
    -------
    dict
        ``columns``, ``measures`` (names of what serves each pair), ``originals`` and
        ``avatars`` (matrices; null where a column does not vary), and ``total`` columns.
        None with fewer than two columns.
    """
    if len(comparison.originals.columns) < 2:
        return None
    before, after = of_both(comparison)
    change = np.abs(np.nan_to_num(after.matrix) - np.nan_to_num(before.matrix)).sum(axis=1)
    kept = np.sort(np.argsort(-change, kind="stable")[:MOST_COLUMNS])
    codes = measures_of(comparison.originals)[np.ix_(kept, kept)]
    return {
        "columns": [json_name(before.names[place]) for place in kept],
        "total": len(before.names),
        "measures": [[MEASURES[code] for code in row] for row in codes],
        "originals": _rounded(before.matrix[np.ix_(kept, kept)]),
        "avatars": _rounded(after.matrix[np.ix_(kept, kept)]),
    }


def contributions(comparison: Comparison) -> Json:
    """Share of each component that comes from each column, in percent.

    Returns
    -------
    dict
        ``components`` (numbers from 1), ``explained`` (percent of inertia), ``columns``,
        those that contribute most first, and ``percent``: one row a column.
    """
    famd = comparison.famd
    shares = famd.contributions()
    weight = {name: float(famd.explained @ share) for name, share in shares.items()}
    names = sorted(shares, key=lambda name: -weight[name])[:MOST_COLUMNS]
    return {
        "components": list(range(1, famd.components + 1)),
        "explained": [round(100 * float(share), 3) for share in famd.explained],
        "columns": [json_name(name) for name in names],
        "percent": [[round(100 * float(share), 2) for share in shares[name]] for name in names],
    }


def space(comparison: Comparison, rng: np.random.Generator) -> Json | None:
    """Avatars as points in the first three components; no original is there.

    Parameters
    ----------
    rng : draws and shuffles the avatars shown, at most 1,500.
    """
    if comparison.famd.components < 3:
        return None
    points = comparison.avatar_points[:, :3]
    shown = points[rng.permutation(len(points))[:MOST_POINTS]].round(2)
    return {
        "components": [1, 2, 3],
        "explained": [100 * float(share) for share in comparison.famd.explained[:3]],
        "avatars": {axis: shown[:, i].tolist() for i, axis in enumerate("xyz")},
    }


def _rounded(matrix: Floats) -> list[list[float | None]]:
    return [
        [None if np.isnan(value) else round(float(value), 3) for value in row] for row in matrix
    ]
