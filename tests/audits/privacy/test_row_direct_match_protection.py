"""Row direct match protection: by hand, against a join, rows that share a hash."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import people

from sosie.audits.comparison import Comparison
from sosie.audits.intervals import wilson
from sosie.audits.privacy.row_direct_match_protection import row_direct_match_protection
from sosie.data import rows as whole_rows


def test_row_match_by_hand() -> None:
    originals = pl.DataFrame({"a": [1, 1, 2, None], "b": ["x", "y", "x", "y"]})
    avatars = pl.DataFrame({"b": ["y", "y", "x"], "a": [None, 2, 1]})
    metric = row_direct_match_protection(originals, avatars)
    assert metric.value == 50
    low, high = wilson(2, 4)
    assert metric.ci == (100 * (1 - high), 100 * (1 - low))
    assert metric.per_person()["found"].to_list() == [True, False, False, True]


def test_row_match_equals_a_join(comparison: Comparison) -> None:
    originals = (
        people(400).with_columns(pl.col("age") // 10, pl.lit(0.0).alias("weight")).drop("marker")
    )
    avatars = (
        people(400, seed=3)
        .with_columns(pl.col("age") // 10, pl.lit(-0.0).alias("weight"))
        .drop("marker")
    )
    found = originals.join(avatars.unique(), on=originals.columns, how="semi", nulls_equal=True)
    metric = row_direct_match_protection(originals, avatars)
    assert metric.value == pytest.approx(100 * (1 - len(found) / 400))


def test_rows_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    originals, avatars = people(50), pl.concat([people(30, seed=5), people(50).tail(20)])
    expected = row_direct_match_protection(originals, avatars)
    monkeypatch.setattr(whole_rows, "hashes", lambda table: np.zeros(len(table), dtype=np.uint64))
    assert row_direct_match_protection(originals, avatars).value == expected.value == 60
