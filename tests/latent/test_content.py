"""Hashes of rows follow what they hold: not their order, nor the order of levels."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sosie.data.table import Table
from sosie.latent.content import content_hashes, mixed

ROWS = 300


def every_kind() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 10_000, ROWS)
    return pl.DataFrame(
        {
            "whole": numbers,
            "large": [2**53 + int(i) for i in numbers],
            "real": np.where(numbers % 5, rng.normal(size=ROWS), np.nan),
            "zero": [(0.0, -0.0, None, 1.5)[i % 4] for i in numbers],
            "decimal": [Decimal(int(i)) / 100 for i in numbers],
            "truth": [(True, False, None)[i % 3] for i in numbers],
            "text": [(f"v{i % 40}", "é", "", None)[i % 4] for i in numbers],
            "day": [dt.date(1950, 1, 1) + dt.timedelta(int(i)) for i in numbers],
            "time": [dt.datetime(2020, 1, 1) + dt.timedelta(seconds=int(i)) for i in numbers],
        }
    )


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_hashes_move_with_their_rows(kind: str) -> None:
    frame = every_kind()
    order = np.random.default_rng(1).permutation(ROWS)

    def hashes(some: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        other = {"polars": some, "pandas": some.to_pandas(), "pyarrow": some.to_arrow()}
        return content_hashes(Table.of(other[kind]))

    assert np.array_equal(hashes(frame)[order], hashes(frame[order]))


def test_equal_rows_have_equal_hashes_and_others_differ() -> None:
    frame = every_kind()
    twice = content_hashes(Table.of(pl.concat([frame, frame])))
    assert np.array_equal(twice[:ROWS], twice[ROWS:])
    assert len(np.unique(twice)) == frame.n_unique()


def test_a_missing_level_is_no_level_of_that_name() -> None:
    frame = pd.DataFrame({"a": ["", None, "None", "nan", "\ufffd"] * 4})
    assert len(np.unique(content_hashes(Table.of(frame)))) == 5


def test_the_same_values_in_other_columns_are_other_rows() -> None:
    frame = pl.DataFrame({"a": ["x", "y"] * 10, "b": ["y", "x"] * 10})
    assert len(np.unique(content_hashes(Table.of(frame)))) == 2


def test_every_bit_of_a_number_changes_half_of_the_bits() -> None:
    numbers = np.random.default_rng(0).integers(2**64, size=2_000, dtype=np.uint64)
    for bit in (0, 31, 63):
        changed = mixed(numbers) ^ mixed(numbers ^ np.uint64(1 << bit))
        flipped = np.unpackbits(changed.view(np.uint8)).mean()
        assert abs(flipped - 0.5) < 0.01


def test_hashes_do_not_depend_on_how_a_column_is_stored() -> None:
    """Days or moments, whole numbers or floats, a table or a part of it: the values count."""
    days = [dt.date(2020, 1, 1) + dt.timedelta(7 * i) for i in range(40)]
    frame = pl.DataFrame({"day": days, "number": range(0, 80, 2)})
    whole = Table.of(frame)
    hashes = content_hashes(whole)
    rows = np.arange(3, 40, 3)
    assert np.array_equal(content_hashes(Table.of(frame[rows])), hashes[rows])
    assert np.array_equal(content_hashes(whole.take(rows)), hashes[rows])
    other = frame.with_columns(pl.col("day").cast(pl.Datetime("ns")), pl.col("number") * 1.0)
    assert np.array_equal(content_hashes(Table.of(other)), hashes)
    later = frame.with_columns(pl.col("day") + dt.timedelta(1))
    assert not np.isin(content_hashes(Table.of(later)), hashes).any()
