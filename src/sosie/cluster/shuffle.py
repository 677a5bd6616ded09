"""Rows on their way to where they belong, by Dask's own shuffle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sosie.cluster.scheduling import compute, delayed
from sosie.compute.arrays import Ints

__all__ = ["KEY", "PLACE", "ROW", "moved", "no_rows_of", "walls_between"]

SAMPLED = 100_000
"""Places looked at to set the walls between regions."""


PLACE, KEY, ROW = "__place__", "__key__", "__row__"


def walls_between(located: Sequence[Any], wanted: int, total: int) -> list[int]:
    """Between which places of the curve regions lie, so that each has as many rows."""
    step = max(total // SAMPLED, 1)
    samples = compute(*(delayed(_sampled)(part, step) for part in located))
    seen = np.sort(np.concatenate(samples))
    shares = np.arange(1, wanted) / wanted
    inner = np.unique(seen[(shares * len(seen)).astype(np.int64)]) if wanted > 1 else seen[:0]
    return [0, *(int(wall) for wall in inner if wall > 0), 2**63 - 1]


def moved(located: Sequence[Any], walls: Sequence[int]) -> list[Any]:
    """Rows in regions along the curve, by Dask's own shuffle."""
    import dask.dataframe as dd

    meta = compute(delayed(no_rows_of)(located[0]))[0]
    frame = dd.from_delayed(list(located), meta=meta, verify_meta=False)
    return list(frame.set_index(PLACE, divisions=list(walls)).to_delayed())


def no_rows_of(part: Any) -> Any:
    """The same dataframe without its rows."""
    return part.iloc[:0]


def _sampled(part: Any, step: int) -> Ints:
    return np.asarray(np.sort(part[PLACE].to_numpy())[step // 2 :: step])
