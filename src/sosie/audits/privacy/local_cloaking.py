"""Local cloaking: how many avatars stand between a person and their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition, Swept
from sosie.audits.distances import Crowd
from sosie.audits.intervals import median_interval
from sosie.audits.results import Metric
from sosie.compute.arrays import Ints

__all__ = ["DEFINITION", "local_cloaking", "people_to_count"]

DEFINITION = Definition(
    "local_cloaking",
    "avatars",
    "higher",
    "singling_out",
    target=5.0,
    place=30,
    needs=("aligned",),
    advice=("smoothed", "raise_k", "rare_profiles"),
    gathered="closer",
    swept=Swept(releases=3),
)

MOST_COUNTED = 20_000
"""Up to so many people all are counted; above, a sample where counting is long."""

SAMPLE = 2_000
"""The median of so many lies within two points of rank of that of all, nineteen times in twenty."""


def local_cloaking(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Median number of avatars strictly closer to a person than their own.

    The attacker is the one of the hidden rate, and more patient: he ranks all avatars by their
    resemblance to the person whose row he holds. The count says how many wrong avatars come
    before the right one, for the person in the middle.

    A count from 0 to n; higher protects better; target at least 5. Distances are
    Euclidean between FAMD coordinates fitted on the originals; those within 1e-9 of each
    other, relatively, are equal. The interval is that of the order statistics.

    Where most people have more than 32 avatars closer than their own, these are counted
    for all people up to 20,000, else for a sample of 2,000, stated as ``sample`` (person by
    person, counts then stop at 32).

    Parameters
    ----------
    originals : n rows, any dataframe; or a `Comparison`.
    avatars : aligned; with N avatars a person, the nearest of their own counts.
    components : dimensions of the latent space.
    target : None for no target.

    Notes
    -----
    Source: Guillaudeux et al., npj Digital Medicine 6:37 (2023).

    Examples
    --------
    Each avatar is three steps up the line; the avatars of the five people around stand
    closer:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(20)]})
    >>> local_cloaking(people, people.select(pl.col("x") + 3)).value
    5.0
    """
    comparison = compared(originals, avatars, aligned=True, components=components)
    if (reason := comparison.lacks(*DEFINITION.needs)) is not None:
        return DEFINITION.unavailable(reason, target=target)
    around = comparison.crowd
    closer, bounds = around.closer, median_interval(around.closer)
    detail: dict[str, Any] = {}
    rows = people_to_count(around)
    if len(rows):
        if len(rows) < len(closer):
            detail["sample"] = len(rows)
        closer = comparison.closer(rows)
        bounds = median_interval(closer)
    return DEFINITION.result(
        float(np.median(closer)),
        target=target,
        ci=bounds,
        detail=detail,
        by_person={"closer": around.closer if "sample" in detail else closer},
    )


def people_to_count(around: Crowd) -> Ints:
    """Those around whom all closer avatars must be counted; nobody where those looked at do."""
    bounds, rows = median_interval(around.closer), np.arange(len(around.closer))
    if bounds is None or bounds[1] < around.limit:
        return rows[:0]
    if len(rows) > MOST_COUNTED:
        return np.random.default_rng(0).choice(rows, SAMPLE, replace=False)
    return rows
