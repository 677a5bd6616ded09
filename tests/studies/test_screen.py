"""The screen of all pairs, against its definitions one pair at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sosie.data.table import Table
from sosie.studies.analyses import analyses
from sosie.studies.screen import Screen, screen


def people(n: int = 3000, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ward = np.array(["a", "b", "c", "rare"])[rng.choice(4, n, p=[0.5, 0.3, 0.19, 0.01])]
    age = rng.normal(60, 15, n)
    return pl.DataFrame(
        {
            "ward": ward,
            "age": age,
            "stay": rng.gamma(2, 4, n) + 4 * (ward == "c"),
            "died": np.where(rng.random(n) < 0.2, "yes", "no"),
            "marker": age + rng.normal(0, 15, n),
        }
    )


def screened(before: pl.DataFrame, after: pl.DataFrame, **options: int) -> Screen:
    table = Table.of(before)
    return screen(table, table.like(after), **options)


def test_nothing_changed_between_two_samples_of_one_law() -> None:
    assert screened(people(), people()).changed == 0
    assert screened(people(), people(seed=1)).changed <= 1


def test_the_mean_stay_of_one_group_is_named() -> None:
    shorter = people(seed=1).with_columns(
        stay=pl.when(pl.col("ward") == "c").then(pl.col("stay") - 4).otherwise("stay")
    )
    before, found = people(), screened(people(), shorter)
    worst = found.worst[0]
    assert (worst.outcome, worst.column, worst.level) == ("stay", "ward", "c")
    ours, theirs = (t.filter(pl.col("ward") == "c")["stay"] for t in (before, shorter))
    assert worst.original == pytest.approx(ours.mean())
    assert worst.avatars == pytest.approx(theirs.mean())
    deviation = np.std(before["stay"].to_numpy())
    assert worst.difference == pytest.approx((theirs.mean() - ours.mean()) / deviation)  # type: ignore[operator]
    variances = [np.var(part.to_numpy(), ddof=1) / len(part) for part in (ours, theirs)]
    error = np.sqrt(sum(variances))
    assert worst.standard_error == pytest.approx(error / deviation)
    assert worst.people == len(ours)
    assert 0 < worst.unexplained < abs(worst.difference)


def test_a_slope_is_that_of_least_squares() -> None:
    changed = people(seed=1).with_columns(marker=pl.col("age").shuffle(3))
    found = screened(people(), changed)
    pair = next(p for p in found.worst if (p.outcome, p.column) == ("marker", "age"))
    for table, value in ((people(), pair.original), (changed, pair.avatars)):
        slope = np.polyfit(table["age"].to_numpy(), table["marker"].to_numpy(), 1)[0]
        assert value == pytest.approx(slope * np.std(people()["age"].to_numpy()))


def test_shares_name_the_value() -> None:
    changed = people(seed=1).with_columns(
        died=pl.when(pl.col("ward") == "b").then(pl.lit("yes")).otherwise("died")
    )
    pair = next(p for p in screened(people(), changed).worst if p.outcome == "died")
    assert (pair.column, pair.level, pair.value) == ("ward", "b", "yes")
    assert pair.avatars == pytest.approx(1)
    share = (people().filter(pl.col("ward") == "b")["died"] == "yes").mean()
    assert pair.original == pytest.approx(share)


def test_levels_of_few_people_are_not_named() -> None:
    before = people(600)
    after = before.with_columns(
        stay=pl.when(pl.col("ward") == "rare").then(1000.0).otherwise("stay")
    )
    assert (before["ward"] == "rare").sum() < 20
    assert all(pair.level != "rare" for pair in screened(before, after).worst)


def test_missing_values_are_left_out_pair_by_pair() -> None:
    def holed(table: pl.DataFrame) -> pl.DataFrame:
        place = pl.int_range(pl.len())
        return table.with_columns(
            age=pl.when(place % 3 == 0).then(None).otherwise("age"),
            stay=pl.when(place % 4 == 0).then(None).otherwise("stay"),
            ward=pl.when(place % 5 == 0).then(None).otherwise("ward"),
        )

    before, after = holed(people()), holed(people(seed=1)).with_columns(pl.col("age") * 2)
    found = screened(before, after, worst=100)
    by_pair = {(pair.outcome, pair.column): pair for pair in found.worst}
    for outcome, column in (("stay", "age"), ("age", "stay")):
        both = before.drop_nulls([outcome, column])
        assert by_pair[outcome, column].people == len(both)
    level = by_pair["stay", "ward"]
    assert level.level is not None
    part = before.filter(pl.col("ward") == level.level)["stay"].drop_nulls()
    assert level.original == pytest.approx(part.mean())
    assert level.people == len(part)


def test_two_hundred_columns_of_every_kind() -> None:
    rng = np.random.default_rng(0)
    numbers = {f"x{i}": rng.normal(size=500) for i in range(100)}
    levels = {f"g{i}": rng.integers(0, 6, 500).astype(str) for i in range(99)}
    before = pl.DataFrame({**numbers, **levels, "same": ["a"] * 500})
    after = before.with_columns(x7=pl.when(pl.col("g3") == "2").then(9.0).otherwise("x7"))
    worst = screened(before, after).worst[0]
    assert (worst.outcome, worst.column, worst.level) == ("x7", "g3", "2")
    assert len(screened(before, after, worst=5).worst) == 5


def test_without_texts_there_is_a_screen() -> None:
    found = analyses(people(), [people(seed=1), people(seed=2)])
    assert found.screen is not None
    assert len(found.screen.worst) == 10
    assert found.analyses == ()
    assert found.agreeing is None
    assert analyses(people(), people(), "mean stay by ward").screen is None


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_figures_do_not_depend_on_the_unit_of_a_column(size: float) -> None:
    rng = np.random.default_rng(4)
    ours, theirs = rng.normal(5, 1, (2, 80))
    ward = ["a", "b"] * 40

    def looked(unit: float) -> list[float]:
        tables = [pl.DataFrame({"x": unit * x, "ward": ward}) for x in (ours, theirs)]
        originals = Table.of(tables[0])
        pairs = screen(originals, originals.like(tables[1])).worst
        (pair,) = (pair for pair in pairs if pair.outcome == "x")
        return [pair.difference, pair.original / unit, pair.avatars / unit]

    assert looked(size) == pytest.approx(looked(1.0))
