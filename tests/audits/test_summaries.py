"""Aggregates for the report, against a brute-force oracle and against an attacker who subtracts."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.audits.comparison import Comparison
from sosie.audits.summaries import BINS, MOST_LEVELS, distribution, distributions, projection
from sosie.data.table import Roles

LEAST = 5


def summary(people: pl.Series, avatars: pl.Series, **roles: Any) -> dict[str, Any]:
    """What is told of one column, beside another one that varies."""
    frames = [
        pl.DataFrame({"x": series, "other": np.arange(len(series)) * 1.0})
        for series in (people, avatars)
    ]
    told = distribution(Comparison.of(*frames, roles=Roles(**roles)), "x", LEAST)
    json.dumps(told, allow_nan=False)
    return told


def bin_of(edges: list[Any], value: Any) -> int:
    """By hand: from an edge up to the next one; what lies beyond the edges in the outer bins."""
    inner = edges[1:-1]
    return sum(value >= edge for edge in inner)


def shares(counts: Counter[Any], keys: Any) -> list[float]:
    return [100 * counts[key] / counts.total() for key in keys]


# ---------------------------------------------------------------- numbers and dates


KINDS = {
    "number": lambda x: float(x) / 3,
    "integer": int,
    "date": lambda x: dt.date(2000, 1, 1) + dt.timedelta(int(x)),
    "moment": lambda x: dt.datetime(2000, 1, 1) + dt.timedelta(minutes=int(x)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", ["normal", "skewed", "few", "spike"])
def test_bins_hold_what_an_oracle_counts(kind: str, law: str) -> None:
    rng = np.random.default_rng(7)
    drawn = {
        "normal": rng.normal(0, 400, 500),
        "skewed": rng.lognormal(4, 2, 500),
        "few": rng.integers(0, 14, 500),
        "spike": np.where(rng.random(500) < 0.9, 0, rng.normal(0, 4000, 500)),
    }[law]
    people = [KINDS[kind](x) for x in drawn]
    avatars = [KINDS[kind](x) for x in drawn[:300] + rng.integers(-9, 9, 300)]
    told = summary(pl.Series(people), pl.Series(avatars))
    edges = told["edges"]
    if told["kind"] == "date":
        read = dt.date.fromisoformat if kind == "date" else dt.datetime.fromisoformat
        edges = [read(edge) for edge in edges]
    assert told["kind"] == ("date" if kind == "moment" else kind)
    assert 2 <= len(edges) <= BINS + 3
    assert edges == sorted(edges)
    for values, key in ((people, "originals"), (avatars, "avatars")):
        counts = Counter(bin_of(edges, value) for value in values)
        assert told[key] == pytest.approx(shares(counts, range(len(edges) - 1)))
        assert key == "avatars" or min(counts.values()) >= LEAST
    assert told["missing"] == {"originals": 0.0, "avatars": 0.0}


@pytest.mark.parametrize("kind", KINDS)
def test_no_edge_is_a_person_s_value(kind: str) -> None:
    """Extremes and the smallest date, from which dates are counted, are not round."""
    people = [KINDS[kind](x) for x in range(7, 7 + 97 * 211, 97)]
    told = summary(pl.Series(people), pl.Series(people))
    shown = {str(edge) for edge in told["edges"]}
    held = {value.isoformat() if hasattr(value, "isoformat") else str(value) for value in people}
    assert not shown & held
    assert not shown & {str(float(value)) for value in people if isinstance(value, int | float)}


def test_large_whole_numbers_are_not_counted_from_a_person_s() -> None:
    people = pl.Series([2**60 + 1 + 977 * i for i in range(300)])
    told = summary(people, people)
    assert all(isinstance(edge, int) and edge % 1000 == 0 for edge in told["edges"])
    counts = Counter(bin_of(told["edges"], value) for value in people.to_list())
    assert told["originals"] == pytest.approx(shares(counts, range(len(told["edges"]) - 1)))


def test_too_few_values_are_not_shown() -> None:
    values = [1.0, 2.0, 3.0, 4.0] + [None] * 30
    told = summary(pl.Series(values), pl.Series(values), numeric=("x",))
    assert (told["edges"], told["originals"], told["avatars"]) == ([], [], [])


def test_avatars_without_a_value() -> None:
    told = summary(pl.Series(range(40)), pl.Series([None] * 40, dtype=pl.Int64), numeric=("x",))
    assert told["avatars"] == [0.0] * (len(told["edges"]) - 1)
    assert told["missing"] == {"originals": 0.0, "avatars": 100.0}


# ---------------------------------------------------------------- levels


def test_levels_are_what_an_oracle_counts() -> None:
    rng = np.random.default_rng(1)
    people = rng.choice(["a", "b", "c", None], 200, p=[0.5, 0.3, 0.1, 0.1]).tolist()
    people += ["rare"] * 3 + ["rarer"] * 2
    avatars = rng.choice(["a", "b", "c", "rare", "new"], 100).tolist()
    told = summary(pl.Series(people), pl.Series(avatars))
    counts = Counter(x for x in people if x is not None)
    made = Counter(avatars)
    order = [level for level, _ in counts.most_common(3)]
    assert told["levels"] == order
    assert told["originals"] == pytest.approx(shares(counts, order))
    assert told["avatars"] == pytest.approx(shares(made, order))
    assert told["rare_levels"] == 2
    assert told["rare"] == pytest.approx(
        {"originals": 100 * 5 / counts.total(), "avatars": shares(made, ["rare"])[0]}
    )
    assert told["new_levels"] == 1
    assert told["new"] == pytest.approx({"originals": 0.0, "avatars": shares(made, ["new"])[0]})
    assert told["missing"]["originals"] == pytest.approx(100 * people.count(None) / len(people))


def test_booleans_constants_and_nothing() -> None:
    told = summary(pl.Series([True] * 30 + [False] * 10), pl.Series([True] * 40))
    assert (told["kind"], told["levels"]) == ("boolean", ["True", "False"])
    assert (told["originals"], told["avatars"]) == ([75.0, 25.0], [100.0, 0.0])
    told = summary(pl.Series(["x"] * 20), pl.Series(["x"] * 20))
    assert (told["levels"], told["originals"], told["rare_levels"]) == (["x"], [100.0], 0)
    told = summary(pl.Series([None] * 20), pl.Series([None] * 20))
    assert (told["levels"], told["originals"]) == ([], [])
    assert told["missing"] == {"originals": 100.0, "avatars": 100.0}


def test_levels_beyond_the_most_are_pooled() -> None:
    people = pl.Series([f"level {i % (MOST_LEVELS + 50)}" for i in range(5_000)])
    told = summary(people, people)
    assert len(told["levels"]) == len(told["originals"]) == len(told["avatars"]) == MOST_LEVELS
    assert told["other_levels"] == 50
    assert told["other"] == pytest.approx({"originals": 20.0, "avatars": 20.0})


# ---------------------------------------------------------------- an attacker who subtracts


def counts_behind(told: list[float | None], rows: int) -> set[int]:
    """Every number of people over which exact shares could have been taken."""
    return {
        people
        for people in range(rows - LEAST, rows + 1)
        if all(
            share is None or abs(share * people / 100 - round(share * people / 100)) < 1e-6
            for share in told
        )
    }


@pytest.mark.parametrize("rows", [37, 120, 998, 2001])
@pytest.mark.parametrize("lost", [1, 2, 4])
@pytest.mark.parametrize("text", [True, False])
def test_a_hidden_share_of_missing_is_not_given_back(rows: int, lost: int, text: bool) -> None:
    """The denominators of the shares beside it must not say how many have a value."""
    rng = np.random.default_rng(rows)
    values: list[Any] = rng.integers(0, 30, rows).tolist()
    if text:
        values = ["few" if x < 11 else "many" for x in values]
    values[:lost] = [None] * lost
    told = summary(pl.Series(values), pl.Series(values))
    assert told["missing"]["originals"] is None
    shown = told["originals"]
    assert all(Fraction(share * rows / 100).limit_denominator(1000) % LEAST == 0 for share in shown)
    assert sum(shown) == pytest.approx(100, abs=len(shown) * 100 * LEAST / rows)


@pytest.mark.parametrize("carriers", [1, 3, 4])
def test_a_hidden_share_of_rare_levels_is_not_given_back(carriers: int) -> None:
    def people_of(women: int, others: int) -> pl.Series:
        men = 203 - women - others
        return pl.Series(["F"] * women + ["M"] * men + ["X"] * others)

    people = people_of(110, carriers)
    told = summary(people, people)
    assert told["rare_levels"] == 1
    assert told["rare"]["originals"] is None
    assert told["levels"] == ["F", "M"]
    for others in range(1, LEAST):  # any number of carriers could lie behind what is told
        assert any(
            summary(people_of(women, others), people)["originals"] == told["originals"]
            for women in range(105, 115)
        )
    one = summary(pl.Series(["F"] * (200 - carriers) + ["X"] * carriers), people)
    assert one["originals"] == [100.0]  # the remainder is not the rare level's share


def test_hidden_missing_beside_rare_levels_that_are_told() -> None:
    people = pl.Series(["F"] * 95 + ["A"] * 2 + ["B"] * 4 + [None] * 2)
    told = summary(people, people)
    assert told["missing"]["originals"] is None
    steps = [share * len(people) / 100 for share in (*told["originals"], told["rare"]["originals"])]
    assert steps == pytest.approx([95, 5])


def test_what_can_be_told_is_exact() -> None:
    people = pl.Series(["F"] * 51 + ["M"] * 46 + [None] * 6)
    told = summary(people, people)
    assert told["missing"]["originals"] == pytest.approx(100 * 6 / 103)
    assert told["originals"] == pytest.approx([100 * 51 / 97, 100 * 46 / 97])
    assert counts_behind(told["originals"], 100) == {97}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_bin_or_level_holds_fewer_than_k(data: st.DataObject) -> None:
    rows = data.draw(st.integers(3, 60))
    kind = data.draw(
        st.sampled_from(
            [
                st.floats(-1e9, 1e9),
                st.integers(-(2**62), 2**62),
                st.sampled_from(["a", "b", "c", "d", "e"]),
                st.dates(),
                st.booleans(),
            ]
        )
    )
    column = st.lists(st.none() | kind, min_size=rows, max_size=rows)
    people, avatars = data.draw(column), data.draw(column)
    dtype = pl.Series(people + avatars, strict=False).dtype
    told = summary(pl.Series(people, dtype=dtype), pl.Series(avatars, dtype=dtype))
    present = sum(value is not None for value in people)
    for share in [
        *told["originals"],
        told["missing"]["originals"],
        (told.get("rare") or {}).get("originals"),
    ]:
        assert share is None or share == 0 or share * rows / 100 > LEAST - 1e-6
    assert len(told["originals"]) == len(told["avatars"])
    if present < LEAST:
        assert told["originals"] == []


# ---------------------------------------------------------------- the projection


def plane(rows: int, **options: Any) -> Comparison:
    rng = np.random.default_rng(0)
    people = pl.DataFrame({f"c{i}": rng.normal(size=rows) for i in range(4)})
    return Comparison.of(people, people.select(pl.all() + 0.01), **options)


def test_the_projection_counts_people_in_cells_of_k_or_more() -> None:
    comparison = plane(2_000)
    told = projection(comparison, LEAST, np.random.default_rng(1))
    assert told is not None
    json.dumps(told, allow_nan=False)
    x, y = (np.array(told["originals"][f"{axis}_edges"]) for axis in "xy")
    counts = told["originals"]["counts"]
    assert (len(counts), len(counts[0])) == (len(y) - 1, len(x) - 1)
    points = comparison.original_points
    for i, j in itertools.product(range(len(y) - 1), range(len(x) - 1)):
        inside = (
            (points[:, 0] >= x[j])
            & (points[:, 0] < x[j + 1])
            & (points[:, 1] >= y[i])
            & (points[:, 1] < y[i + 1])
        ).sum()
        if inside < LEAST:
            assert counts[i][j] is None
        else:
            assert counts[i][j] % LEAST == 0
            assert abs(counts[i][j] - inside) <= LEAST / 2
    assert told["explained"] == pytest.approx(100 * comparison.famd.explained[:2], abs=1e-3)


def test_the_order_of_the_avatars_shown_says_nothing() -> None:
    comparison = plane(500)
    told = projection(comparison, LEAST, np.random.default_rng(1))
    assert told is not None
    shown = np.array([told["avatars"]["x"], told["avatars"]["y"]]).T
    points = comparison.avatar_points[:, :2].round(3)
    assert sorted(map(tuple, shown)) == sorted(map(tuple, points))
    assert abs(np.corrcoef(shown[:, 0], points[:, 0])[0, 1]) < 0.2


def test_at_most_so_many_avatars_are_shown() -> None:
    told = projection(plane(4_000), LEAST, np.random.default_rng(1))
    assert told is not None
    assert len(told["avatars"]["x"]) == 3_000


def test_one_component_has_no_plane() -> None:
    assert projection(plane(100, components=1), LEAST, np.random.default_rng(1)) is None


def test_every_column_is_summed_up_in_order() -> None:
    comparison = plane(50)
    assert [told["column"] for told in distributions(comparison, LEAST)] == ["c0", "c1", "c2", "c3"]
