"""Difference of association: how much the links between columns have changed."""

from __future__ import annotations

import numpy as np

from sosie.audits.associations import MEASURES, associations, measures_of, of_both
from sosie.audits.comparison import compared
from sosie.audits.definition import Definition, Swept
from sosie.audits.results import Metric, json_name
from sosie.compute.arrays import Floats
from sosie.errors import Reason

__all__ = ["DEFINITION", "association_difference"]

DEFINITION = Definition(
    "association_difference",
    "difference",
    "lower",
    "utility",
    target=0.1,
    place=20,
    needs=("two_columns",),
    advice=("smoothed_utility", "more_components", "weight"),
    swept=Swept(allowed=0.1),
)

SHOWN = 20
"""Pairs listed in the result, those that changed most: a page of them."""


def association_difference(
    originals: object, avatars: object | None = None, *, target: float | None = DEFINITION.target
) -> Metric:
    """Mean absolute difference of association between originals and avatars over all pairs.

    Pearson's correlation for two numbers or dates, the correlation ratio for a number and
    a category, Cramer's V for two categories; see `associations`. A pair with a column
    that does not vary in the originals is left out; one that varies no more in the
    avatars has lost its links, which counts as 0.

    From 0 (every link kept) to 2; lower is better; target at most 0.1. ``pearson``,
    ``correlation_ratio`` and ``cramer_v`` are the means over the pairs of each kind. With
    people set aside, `control` is the same for them: what another sample of the same
    population scores.

    Parameters
    ----------
    originals : two columns or more, any dataframe; or a `Comparison`.
    avatars : the same columns.
    target : None for no target.

    Returns
    -------
    Metric
        ``columns`` holds the 20 pairs that changed most: ``column``, ``other``,
        ``measure``, ``originals``, ``avatars`` and ``difference``.

    Examples
    --------
    A correlation of 1 becomes -1:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]}).with_columns(y="x")
    >>> avatars = people.with_columns(y=-pl.col("x"))
    >>> association_difference(people, avatars).value
    2.0
    """
    comparison = compared(originals, avatars, aligned=False)
    if (reason := comparison.lacks(*DEFINITION.needs)) is not None:
        return DEFINITION.unavailable(reason, target=target)
    before, after = of_both(comparison)
    one, other = np.triu_indices(len(before.names), 1)
    measured = ~np.isnan(before.matrix[one, other])
    if not measured.any():
        return DEFINITION.unavailable(Reason("no_varying_pair"), target=target)
    one, other = one[measured], other[measured]
    changes = _changes(before.matrix, after.matrix)[one, other]
    control = None
    if comparison.holdout is not None:
        aside = associations(comparison.holdout)
        control = float(_changes(before.matrix, aside.matrix)[one, other].mean())
    measures = measures_of(comparison.originals)[one, other]
    detail = {
        name: float(changes[measures == code].mean())
        for code, name in enumerate(MEASURES)
        if (measures == code).any()
    }
    records = tuple(
        {
            "column": json_name(before.names[one[pair]]),
            "other": json_name(before.names[other[pair]]),
            "measure": MEASURES[measures[pair]],
            "originals": float(before.matrix[one[pair], other[pair]]),
            "avatars": float(np.nan_to_num(after.matrix[one[pair], other[pair]])),
            "difference": float(changes[pair]),
        }
        for pair in np.argsort(-changes, kind="stable")[:SHOWN]
    )
    return DEFINITION.result(
        float(changes.mean()), target=target, control=control, detail=detail, columns=records
    )


def _changes(before: Floats, after: Floats) -> Floats:
    return np.abs(np.nan_to_num(after) - before)
