"""Singling out: values worked by hand, brute force, and the leak dial."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from comparison_cases import dial, distances, people

from sosie.audits.comparison import TIE, Comparison
from sosie.audits.intervals import wilson
from sosie.audits.privacy import singling_out
from sosie.audits.privacy.singling_out import (
    categorical_hidden_rate,
    closest_distances_ratio,
    closest_rate,
    column_direct_match_protection,
    distance_to_closest,
    hidden_rate,
    local_cloaking,
    rare_values,
    row_direct_match_protection,
)
from sosie.audits.results import NO_CATEGORIES, NOT_ALIGNED, Metric
from sosie.data import rows as whole_rows
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer

ALL: dict[str, Callable[..., Metric]] = {
    definition.key: getattr(singling_out, definition.key) for definition in singling_out.DEFINITIONS
}
ALIGNED = {
    "column_direct_match_protection",
    "hidden_rate",
    "local_cloaking",
    "categorical_hidden_rate",
}


def line(*values: float) -> pl.DataFrame:
    return pl.DataFrame({"x": [float(v) for v in values]})


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    originals = people()
    avatars = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    return Comparison.of(originals, avatars, aligned=True, holdout=people(60, seed=2))


# ------------------------------------------------------------ column direct match protection


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


# ------------------------------------------------------------ rows and levels


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


def test_rare_values_by_hand() -> None:
    originals = pl.DataFrame(
        {
            "a": ["x"] * 7 + ["y", "y", None],
            "b": ["u"] * 9 + ["v"],
            "n": [0.0] * 9 + [1e3],
        }
    )
    avatars = pl.concat([originals.with_columns(a=pl.lit("y"), b=pl.lit("u"))] * 2)
    metric = rare_values(originals, avatars)
    assert metric.value == 2
    assert metric.columns == (
        {"column": "a", "rare": 1, "shown": 1, "avatars": 20},
        {"column": "n", "rare": 1, "shown": 1, "avatars": 2},
        {"column": "b", "rare": 1, "shown": 0, "avatars": 0},
    )
    assert metric.detail == {"k": 5, "avatars": 20}
    assert rare_values(originals, avatars, k=2).value == 1
    none = rare_values(originals.head(7), avatars, k=5)
    assert (none.value, none.reason) == (None, "no level is carried by fewer than 5 people.")
    with pytest.raises(InputError, match="at least 2"):
        rare_values(originals, avatars, k=1)


def test_smoothed_avatars_carry_no_rare_level() -> None:
    originals = people().with_columns(
        stage=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("rare")).otherwise(pl.col("stage"))
    )
    avatars = Avatarizer(k=5, seed=1).fit(originals).release()
    assert rare_values(originals, avatars).value == 0


# ------------------------------------------------------------ distances


def test_hidden_rate_and_cloaking_by_hand() -> None:
    originals = line(*range(12))
    avatars = line(1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.6)
    # 0 and 1 are nearest to each other's avatar; 11 is nearest to its own.
    assert hidden_rate(originals, avatars).value == pytest.approx(100 * 2 / 12)
    assert hidden_rate(originals, avatars).per_person()["hit"].to_list() == [0, 0] + [1] * 10
    assert local_cloaking(originals, avatars).value == 0
    assert local_cloaking(originals, avatars).per_person()["closer"].to_list() == [1, 1] + [0] * 10


def test_ties_share_the_hit() -> None:
    originals = line(0, 0, 0, *range(5, 20))
    assert hidden_rate(originals, originals).per_person()["hit"][:4].to_list() == pytest.approx(
        [1 / 3] * 3 + [1]
    )
    near = line(0, 1e-11, 0, *range(5, 20))  # within a relative 1e-9 of nothing: not a tie with 0
    assert hidden_rate(originals, near).per_person()["hit"][:3].to_list() == [0.5, 0, 0.5]


def test_hidden_rate_and_cloaking_equal_brute_force(comparison: Comparison) -> None:
    away = distances(comparison.original_points, comparison.avatar_points)
    own, nearest = np.diagonal(away), away.min(axis=1)
    tied = away <= nearest[:, None] * (1 + TIE)
    rate = hidden_rate(comparison)
    assert rate.value == pytest.approx(100 * (1 - (np.diagonal(tied) / tied.sum(axis=1)).mean()))
    hits = 200 * (1 - rate.value / 100)
    low, high = wilson(hits, 200)
    assert rate.ci == pytest.approx((100 * (1 - high), 100 * (1 - low)))
    closer = (away < own[:, None] * (1 - TIE)).sum(axis=1)
    assert local_cloaking(comparison).value == np.median(closer)


@pytest.mark.parametrize("most", [20_000, 100])
def test_cloaking_counts_beyond_the_nearest(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singling_out, "MOST_COUNTED", most)
    monkeypatch.setattr(singling_out, "SAMPLE", 150)
    originals = people(300)
    shuffled = originals.sample(fraction=1, shuffle=True, seed=4)
    found = Comparison.of(originals, shuffled, aligned=True)
    away = distances(found.original_points, found.avatar_points)
    closer = (away < np.diagonal(away)[:, None] * (1 - TIE)).sum(axis=1)
    metric = local_cloaking(found)
    assert metric.value is not None
    if most > 300:
        assert metric.value == np.median(closer)
        assert "sample" not in metric.detail
    else:
        assert metric.detail == {"sample": 150}
        assert metric.ci is not None
        assert metric.ci[0] <= np.median(closer) <= metric.ci[1]


def test_closest_distances_equal_brute_force(comparison: Comparison) -> None:
    away = np.sort(distances(comparison.avatar_points, comparison.original_points), axis=1)
    strangers = np.sort(distances(comparison.holdout_points, comparison.original_points), axis=1)
    closest = distance_to_closest(comparison)
    assert closest.value == pytest.approx(np.median(away[:, 0]), abs=1e-6)
    assert closest.detail["percentile_5"] == pytest.approx(np.percentile(away[:, 0], 5), abs=1e-6)
    assert closest.control == pytest.approx(np.median(strangers[:, 0]), abs=1e-6)
    ratios = away[:, 0] / away[:, 1]
    ratio = closest_distances_ratio(comparison)
    assert ratio.value == pytest.approx(np.median(ratios), abs=1e-6)
    assert ratio.control == pytest.approx(np.median(strangers[:, 0] / strangers[:, 1]), abs=1e-6)
    exposed = (away[:, 0] < 0.2) & (ratios < 0.3)
    assert closest_rate(comparison).value == pytest.approx(100 * (1 - exposed.mean()))


def test_closest_distances_need_no_alignment_and_two_originals() -> None:
    """Five avatars of twelve people, by hand: sd of 0 to 11 is 3.4521."""
    people = line(*range(12))
    sd = np.std(np.arange(12.0))
    avatars = line(0.1, 3.2, 5.3, 7.4, 9.5)
    assert distance_to_closest(people, avatars).value == pytest.approx(0.3 / sd)
    assert closest_distances_ratio(people, avatars).value == pytest.approx(0.3 / 0.7)
    two = pl.DataFrame({"g": ["a", "b"]})
    assert closest_distances_ratio(two, two).value == closest_rate(two, two).value == 0


def test_a_copy_is_never_perfect() -> None:
    twins = line(*(v for v in range(20) for _ in range(2)))
    assert closest_distances_ratio(twins, twins).value == 0  # d1 = d2 = 0
    assert closest_rate(twins, twins).value == 0


def test_one_original_has_no_second() -> None:
    comparison = Comparison.of(people(200), people(10))
    alone = Comparison(comparison.originals.take(np.array([0])), comparison.avatars)
    for metric in (closest_distances_ratio(alone), closest_rate(alone)):
        assert metric.value is None
        assert metric.reason == "it needs at least two originals."


def test_categorical_hidden_rate_is_the_hidden_rate_of_the_categories(
    comparison: Comparison,
) -> None:
    names = ["sex", "stage", "smoker"]
    one, other = (
        table.frame.to_native().select(names)
        for table in (comparison.originals, comparison.avatars)
    )
    assert categorical_hidden_rate(comparison).value == pytest.approx(hidden_rate(one, other).value)
    some = categorical_hidden_rate(comparison, columns=["sex", "stage"])
    two = hidden_rate(one.select("sex", "stage"), other.select("sex", "stage"))
    assert some.value == pytest.approx(two.value)


def test_categorical_hidden_rate_needs_categories(comparison: Comparison) -> None:
    assert categorical_hidden_rate(line(*range(20)), line(*range(20))).reason == NO_CATEGORIES
    constant = pl.DataFrame({"a": ["x"] * 5})
    assert categorical_hidden_rate(constant, constant).reason == "none of the categories varies."
    with pytest.raises(InputError, match="'age' is no category"):
        categorical_hidden_rate(comparison, columns=["age"])
    with pytest.raises(InputError, match="no column 'agge'"):
        categorical_hidden_rate(comparison, columns=["agge"])


# ------------------------------------------------------------ all of them


def test_what_needs_alignment_says_so() -> None:
    found = Comparison.of(people(), people(150, seed=2))
    for key, metric in ALL.items():
        result = metric(found)
        assert (result.reason == NOT_ALIGNED) is (key in ALIGNED), key


@pytest.fixture(scope="module")
def dialled() -> list[Comparison]:
    rows = 300
    code = pl.Series([f"c{i // 3}" for i in range(rows)])  # levels held by three people
    originals = people(rows).with_columns(code=code)
    independent = people(rows, seed=9).with_columns(code=pl.lit("c0"))
    return [Comparison.of(originals, a, aligned=True) for a in dial(originals, independent)]


@pytest.mark.parametrize("key", ALL)
def test_the_leak_dial_moves_each_metric_one_way(key: str, dialled: list[Comparison]) -> None:
    values = np.array([ALL[key](comparison).value for comparison in dialled], dtype=float)
    if key == "rare_values":
        values = -values
    assert (np.diff(values) <= 1e-9).all(), values
    assert values[0] > values[-1]


def test_copies_score_worst() -> None:
    originals = people().with_columns(id=pl.int_range(200).cast(pl.String))
    found = Comparison.of(originals, originals, aligned=True)
    for key in ALL.keys() - {"categorical_hidden_rate", "rare_values"}:
        assert ALL[key](found).value == pytest.approx(0, abs=1e-12), key
    assert rare_values(found).value == 200


def test_names_of_levels_change_nothing() -> None:
    rare = pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("rare")).otherwise(pl.col("stage"))
    one, other = (people(seed=s).with_columns(stage=rare) for s in (1, 2))
    swap = {"I": "zz", "II": "aa", "III": "mm"}
    renamed = Comparison.of(
        *(frame.with_columns(pl.col("stage").replace(swap)) for frame in (one, other)), aligned=True
    )
    plain = Comparison.of(one, other, aligned=True)
    for key, metric in ALL.items():
        assert metric(renamed).value == pytest.approx(metric(plain).value), key
