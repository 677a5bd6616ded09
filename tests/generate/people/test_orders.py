"""What holds along every person holds along every avatar; every kind of dataframe comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from visit_tables import two_tables, visits

from sosie import Avatarizer


@pytest.fixture(scope="module")
def release() -> pl.DataFrame:
    made = Avatarizer(seed=1).fit(visits(240), person="patient").release()
    assert isinstance(made, pl.DataFrame)
    return made


def _steps(release: pl.DataFrame, name: str) -> pl.Series:
    steps = release.with_columns(pl.col(name).diff().over("patient").alias("step"))
    return steps["step"].drop_nulls()


def test_times_rise_and_keep_the_least_gap(release: pl.DataFrame) -> None:
    assert (_steps(release, "day") >= 20).all()
    assert (release.group_by("patient").agg(pl.col("day").min())["day"] >= 0).all()


def test_a_number_that_never_falls_never_does(release: pl.DataFrame) -> None:
    assert (_steps(release, "doses") >= 0).all()
    assert release["doses"].max() > 0


def test_death_comes_last_and_once(release: pl.DataFrame) -> None:
    per_person = release.group_by("patient", maintain_order=True).agg(
        pl.col("dead").sum().alias("times"), pl.col("dead").last().alias("last")
    )
    assert set(per_person["times"]) == {0, 1}
    assert (per_person["times"] == per_person["last"].cast(pl.UInt32)).all()
    assert 0.25 < per_person["times"].mean() < 0.55  # 40 % of the originals


def test_orders_within_a_row_hold(release: pl.DataFrame) -> None:
    assert (release["low"] <= release["high"]).all()
    assert (release["low"] < release["high"]).any()


def test_stages_that_only_rise(release: pl.DataFrame) -> None:
    long = visits(240).with_columns(
        pl.when(pl.col("doses") < 4)
        .then(pl.lit("I"))
        .when(pl.col("doses") < 9)
        .then(pl.lit("II"))
        .otherwise(pl.lit("III"))
        .alias("grade")
    )
    made = Avatarizer(seed=1).fit(long, person="patient").release()
    rank = made["grade"].replace_strict({"I": 1, "II": 2, "III": 3}, return_dtype=pl.Int64)
    assert (_steps(made.with_columns(rank), "grade") >= 0).all()


@pytest.mark.slow
def test_no_time_is_beyond_the_end() -> None:
    long = visits(240)
    last = pl.col("day").max().over("patient")
    ends = long.with_columns((last + 10 + pl.col("born") % 50).alias("end"))
    for said in ({"end": "end"}, {}):
        made = Avatarizer(seed=1).fit(ends, person="patient", **said).release()
        assert (made["day"] <= made["end"]).all()
        assert made["end"].n_unique() > 50


def test_people_without_rows_have_none() -> None:
    people, children = two_tables(240)
    made = Avatarizer(seed=1).fit(people, person="patient", children=children).release()
    share = made["stays"]["patient"].n_unique() / len(people)
    assert share == pytest.approx(2 / 3, abs=0.1)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_the_same_kind_comes_back(kind: str) -> None:
    people, children = two_tables()

    def native(table: pl.DataFrame) -> Any:
        return table.to_pandas() if kind == "pandas" else table.to_arrow()

    tables = {name: native(child) for name, child in children.items()}
    made = Avatarizer(seed=1).fit(native(people), person="patient", children=tables).release()
    for name, table in {"people": native(people), **tables}.items():
        assert type(made[name]) is type(table)
        if isinstance(table, pd.DataFrame):
            assert made[name].dtypes.to_dict() == table.dtypes.to_dict()
        else:
            assert made[name].schema.equals(table.schema)


def test_dates_tell_the_time() -> None:
    start = pl.date(2020, 1, 1)
    long = visits().with_columns((start + pl.duration(days="day")).alias("day"))
    made = Avatarizer(seed=1).fit(long, person="patient").release()
    assert made.schema == long.schema
    days = made.with_columns(pl.col("day").diff().over("patient").dt.total_days().alias("gap"))
    assert (days["gap"].drop_nulls() >= 20).all()


def test_a_number_that_runs_with_time_is_computed() -> None:
    """Age at each visit, whole years from the day of birth; and a clock to the decimal."""
    long = visits(240).with_columns(
        (
            (pl.col("day") + 365 * (2000 - pl.col("born")) + pl.col("patient") * 97 % 365) // 365
        ).alias("age"),
        (9000 + 7 * pl.col("born") + pl.col("day") / 8).alias("clock"),
    )
    made = Avatarizer(seed=1).fit(long, person="patient", time="day").release()
    first = made.group_by("patient", maintain_order=True).first()
    joined = made.join(first, on="patient", suffix="_first")
    since = joined["day"] - joined["day_first"]
    np.testing.assert_allclose(joined["clock"] - joined["clock_first"], since / 8, atol=0.13)
    away = (joined["age"] - joined["age_first"]) - since / 365
    assert away.abs().max() < 1  # as whole years begun are
    assert made["age"].n_unique() > 3
