"""Who fares worst: the Hidden Rate and the Local Cloaking of people who share a level."""

from __future__ import annotations

from typing import Any

import numpy as np

from sosie.audits.comparison import Comparison
from sosie.audits.intervals import hidden_interval, median_interval
from sosie.audits.results import json_name

__all__ = ["FEWEST", "worst_off"]

FEWEST = 20
"""People who share a level that is looked at: a rate of fewer says nothing."""

SHOWN = 5


def worst_off(comparison: Comparison, least: int = FEWEST) -> dict[str, Any] | None:
    """The levels whose people are found most often, and how far they are hidden.

    For each level that `FEWEST` people hold: the share of them whose nearest avatar is not their
    own (see `hidden_rate`), and the median number of avatars closer than it (see
    `local_cloaking`; counts stop at 32). The worst are those whose interval ends lowest, so that
    a level does not stand first by chance alone, as the smallest of many would.

    Parameters
    ----------
    least : fewer originals than this share nothing that is shown; at least `FEWEST` count.

    Returns
    -------
    dict
        ``levels`` (how many were looked at), ``least``, ``hidden_rate`` of everyone in percent,
        and ``worst``: ``column``, ``level``, ``people``, ``hidden_rate``, ``ci`` (95 %, Wilson)
        and ``local_cloaking`` with its ``cloaking_ci``. None where tables are not aligned.

    Examples
    --------
    Everyone in town b is nearest to their own avatar, nobody in town a:

    >>> import polars as pl
    >>> x = pl.Series([float(i) for i in range(60)])
    >>> town = pl.Series(["a"] * 30 + ["b"] * 30)
    >>> people = pl.DataFrame({"x": x, "town": town})
    >>> avatars = pl.DataFrame({"x": pl.concat([x[:30].reverse(), x[30:]]), "town": town})
    >>> worst_off(Comparison.of(people, avatars, aligned=True))["worst"][0]["level"]
    'b'
    """
    if not comparison.aligned:
        return None
    crowd, least = comparison.crowd, max(least, FEWEST)
    rows = []
    for column in comparison.originals.levels:
        for code in np.flatnonzero(column.counts() >= least):
            label = column.labels[code]
            if label is None:
                continue
            held = column.codes[:] == code
            hits, people = float(crowd.hit[held].sum()), int(held.sum())
            rows.append(
                {
                    "column": json_name(column.name),
                    "level": str(label),
                    "people": people,
                    "hidden_rate": 100 * (1 - hits / people),
                    "ci": list(hidden_interval(hits, people)),
                    "local_cloaking": float(np.median(crowd.closer[held])),
                    "cloaking_ci": median_interval(crowd.closer[held]),
                }
            )
    worst = sorted(rows, key=lambda row: (row["ci"][1], row["local_cloaking"]))  # type: ignore[index]
    return {
        "levels": len(rows),
        "least": least,
        "hidden_rate": 100 * (1 - float(crowd.hit.mean())),
        "worst": worst[:SHOWN],
    }
