"""From encoded columns back to columns of the kind that they came from."""

from __future__ import annotations

from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np

from sosie.compute.arrays import Ints
from sosie.data import frames
from sosie.data.frames import Series
from sosie.data.table import Column, Levels

__all__ = ["held", "written"]


def held(series: Series, rows: Ints) -> Series:
    """Some rows of a column, as a column of the same kind, with 0 for -0."""
    taken: Series = nw.from_native(cast(Any, frames.take(series, rows)), series_only=True)
    if not taken.dtype.is_float():
        return taken
    # Polars leaves out what adds a constant 0: a column of zeros it adds.
    zeros: Series = (taken != taken).cast(taken.dtype)  # noqa: PLR0124 (or missing)
    return taken + zeros


def written(column: Column, series: Series) -> object:
    """A native column of an encoded one.

    Parameters
    ----------
    series : a column of the originals: its dtype, its missing style, and the rows that
        `Levels.first` tells of.
    """
    if isinstance(column, Levels):
        # A level that no row holds is in no avatar either.
        levels = held(series, np.maximum(column.first, 0))
        return frames.take(levels, column.codes.astype(np.int64))
    values, grid, missing = column.values, column.grid, column.missing
    if grid.text is not None:
        return frames.build_text(series, column.texts(values))
    if column.states is not None:  # 999 where it stood for a missing value
        values = column.states.numbers(values)
        missing = np.isnan(values)
    if not grid.step or series.dtype.is_float() or series.dtype.is_decimal():
        return frames.build(series, values, missing)
    steps = np.where(missing, 0, values).astype(np.int64)
    # Wraps around 2^64 on purpose: unsigned numbers beyond int64 come back so.
    ticks = steps.view(np.uint64) * np.uint64(grid.step) + np.uint64(grid.origin % 2**64)
    return frames.build(series, ticks.view(np.int64), missing)
