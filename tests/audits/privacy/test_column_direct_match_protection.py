"""Column direct match protection: the formula by hand, equality of values, missing values."""

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from comparison_cases import people

from sosie.audits.privacy.column_direct_match_protection import column_direct_match_protection


def test_column_match_follows_its_formula() -> None:
    originals = pl.DataFrame({"a": [1, 2, 3, 4, 5], "b": ["x", "x", "y", "y", None]})
    aligned = pl.DataFrame({"a": [1, 2, 9, 9, 9], "b": ["x", "y", "y", "x", None]})
    metric = column_direct_match_protection(originals, aligned)
    # a: 2 matches, 3 distinct; b: 3 matches (the missing one too), 3 distinct with missing
    assert metric.columns == (
        {
            "column": "b",
            "matches": 3,
            "distinct": 3,
            "protection": 100 * (1 - 9 / 25),
            "below_target": False,
        },
        {
            "column": "a",
            "matches": 2,
            "distinct": 3,
            "protection": 100 * (1 - 6 / 25),
            "below_target": False,
        },
    )
    assert metric.value == 64
    assert metric.unit == "%"
    assert (metric.direction, metric.criterion, metric.target) == ("higher", "singling_out", 50)


def test_columns_below_an_adjustable_target_are_flagged() -> None:
    originals = pl.DataFrame({"a": [1, 2, 3, 4, 5], "b": ["x", "x", "y", "y", None]})
    metric = column_direct_match_protection(originals, originals, target=40)
    assert [(c["column"], c["below_target"]) for c in metric.columns] == [("a", True), ("b", False)]
    assert metric.met is False
    free = column_direct_match_protection(originals, originals, target=None)
    assert free.met is None
    assert not any(column["below_target"] for column in free.columns)


def test_a_forgotten_identifier_gives_zero() -> None:
    originals = people().with_columns(id=pl.int_range(200))
    metric = column_direct_match_protection(originals, originals)
    assert (metric.value, metric.columns[0]["column"]) == (0, "id")


DAYS = [date(2020, 1, 1) + timedelta(days=40 * i) for i in range(15)]


HOURS = [datetime(2020, 1, 1) + timedelta(hours=7 * i) for i in range(15)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Few distinct values: categories.
        (pl.Series([1, 2, None]), pl.Series([1.0, 2.0, float("nan")])),
        (pl.Series(["1", "2", None]), pl.Series([1, 2, None])),
        (pl.Series([True, False, None]), pl.Series([1, 0, None])),
        (pl.Series([True, False, None]), pl.Series(["True", "False", None])),
        (pl.Series(["0", "1", None]), pl.Series([False, True, None])),
        (pl.Series(["a", "b", None]), pl.Series(["a", "b", None], dtype=pl.Categorical)),
        (pl.Series(DAYS[:3]), pl.Series(DAYS[:3]).cast(pl.Datetime("us"))),
        (pl.Series([0.0, 1.5]), pl.Series([-0.0, 1.5])),
        # Many: numbers and dates.
        (pl.Series([*range(15), None]), pl.Series([*map(float, range(15)), float("nan")])),
        (pl.Series([*range(15), None]), pl.Series([*map(str, range(15)), None])),
        (pl.Series([*range(15)]), pl.Series([*range(15)], dtype=pl.UInt8)),
        (pl.Series([i / 4 for i in range(15)]), pl.Series([f"{i / 4}" for i in range(15)])),
        (pl.Series([*DAYS, None]), pl.Series([*DAYS, None]).cast(pl.Datetime("ns"))),
        (pl.Series(DAYS), pl.Series([day.isoformat() for day in DAYS])),
        (pl.Series(HOURS), pl.Series(HOURS).dt.replace_time_zone("UTC")),
        (
            pl.Series(HOURS).dt.replace_time_zone("Europe/Paris"),
            pl.Series(HOURS)
            .dt.replace_time_zone("Europe/Paris")
            .dt.convert_time_zone("Asia/Tokyo"),
        ),
        (
            pl.Series([2**60 + i for i in range(15)]),
            pl.Series([2**60 + i for i in range(15)], dtype=pl.UInt64),
        ),
    ],
)
def test_equality_is_of_values_not_of_representations(one: pl.Series, other: pl.Series) -> None:
    metric = column_direct_match_protection(pl.DataFrame({"c": one}), pl.DataFrame({"c": other}))
    assert metric.columns[0]["matches"] == len(one)
    assert metric.columns[0]["distinct"] == len(one)


def test_values_that_look_alike_are_not_equal() -> None:
    one = pl.DataFrame({"a": [i / 4 for i in range(15)], "b": [2**60 + i for i in range(15)]})
    other = one.select(pl.col("a") + 1e-9, pl.col("b") + 20)
    metric = column_direct_match_protection(one, other)
    assert [column["matches"] for column in metric.columns] == [0, 0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (pd.array([1, 2, None], "Int64"), np.array([1.0, 2.0, np.nan])),
        (pd.array([1.5, None], "Float64"), np.array([1.5, np.nan])),
        (pd.array([True, None], "boolean"), np.array([True, None], dtype=object)),
        (pd.array(["a", None], "string"), pd.Categorical(["a", None])),
        (pd.array([1, None], pd.ArrowDtype(pa.int64())), pd.array([1, None], "Int64")),
        (
            pd.to_datetime(["2020-01-01", None]),
            np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"),
        ),
        (np.array(["a", None], dtype=object), np.array(["a", np.nan], dtype=object)),
    ],
)
def test_one_missing_value_whatever_it_is_called(before: Any, after: Any) -> None:
    one, other = pd.DataFrame({"c": before}), pd.DataFrame({"c": after})
    metric = column_direct_match_protection(one, other)
    assert metric.columns[0]["matches"] == len(one)
    assert metric.columns[0]["distinct"] == len(one)


def test_with_several_avatars_a_person_the_worst_part_counts() -> None:
    originals = pl.DataFrame({"a": ["p", "q", "r", "s"]})
    stacked = pl.DataFrame({"a": ["p", "q", "p", "p", "s", "r", "q", "p"]})
    column = column_direct_match_protection(originals, stacked).columns[0]
    assert (column["matches"], column["distinct"]) == (2, 2)
