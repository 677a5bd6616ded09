"""Rare values: levels that point at the few people who hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.results import Metric, json_name
from sosie.data.table import Column, Levels
from sosie.errors import InputError, Reason

__all__ = ["DEFINITION", "rare_values"]


def rare_levels(
    before: Column, after: Column, k: int
) -> tuple[dict[str, Any], NDArray[np.uint8]] | None:
    """One column's rare levels, and which avatars carry one, packed in bits; None without any."""
    if not (isinstance(before, Levels) and isinstance(after, Levels)):
        return None
    counts = before.counts()
    rare = (counts > 0) & (counts < k)
    rare &= np.array([label is not None for label in before.labels], dtype=bool)
    if not rare.any():
        return None
    wanted = np.append(rare, np.zeros(len(after.labels) - len(rare), dtype=bool))
    shown = wanted & (after.counts() > 0)
    carriers = wanted[after.codes]
    record = {
        "column": json_name(before.name),
        "rare": int(rare.sum()),
        "shown": int(shown.sum()),
        "avatars": int(carriers.sum()),
    }
    return record, np.packbits(carriers)


DEFINITION = Definition(
    "rare_values",
    "levels",
    "lower",
    "singling_out",
    target=0.0,
    place=90,
    options=("k",),
    advice=("min_level_count", "group_levels", "smoothed"),
    gathered="counts",
    count=rare_levels,
)


def rare_values(
    originals: object,
    avatars: object | None = None,
    *,
    k: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Levels carried by fewer than k people that appear in the avatars.

    The attacker need not know anybody's row: a diagnosis or a town that three people of the
    region have says by itself who is meant, and, where avatars show it, that somebody with it
    was in the table.

    A count of levels over all categories and booleans; lower protects better; target 0,
    which the smoothed method reaches by construction. A missing value is no level here.
    Levels are counted, never named: only `per_person` says which avatars carry one.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    k : a level held by this many people is not rare, at least 2.
    target : None for no target.

    Returns
    -------
    Metric
        ``columns`` holds ``column``, ``rare`` (rare levels of the originals), ``shown``
        (those that avatars carry) and ``avatars`` (how many carry one).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"country": ["FR"] * 6 + ["IS", "MT"]})
    >>> avatars = pl.DataFrame({"country": ["FR"] * 7 + ["MT"]})
    >>> metric = rare_values(people, avatars)
    >>> metric.value, metric.columns[0]["rare"]
    (1.0, 2)
    """
    if k < 2:
        raise InputError(f"k must be at least 2, got {k}")
    comparison = compared(originals, avatars, aligned=False)
    counts = [count for count in comparison.by_column(rare_levels, k) if count is not None]
    if not counts:
        return DEFINITION.unavailable(Reason("no_rare_level", {"k": k}), target=target)
    records = [record for record, _ in counts]
    packed = np.bitwise_or.reduce([carriers for _, carriers in counts])
    carries = np.unpackbits(packed, count=comparison.avatar_count).astype(bool)
    ranked = tuple(sorted(records, key=lambda record: (-record["shown"], -record["avatars"])))
    return DEFINITION.result(
        sum(record["shown"] for record in ranked),
        target=target,
        detail={"k": k, "avatars": int(carries.sum())},
        columns=ranked,
        by_person={"carries_rare_level": carries},
    )
