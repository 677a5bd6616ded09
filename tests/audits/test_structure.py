"""Links between columns and components as the report shows them: aggregates, right and rounded."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from sosie.audits.comparison import Comparison
from sosie.audits.structure import MOST_COLUMNS, MOST_POINTS, contributions, links, space


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    x = rng.normal(size=400)
    return pl.DataFrame(
        {
            "x": x,
            "y": 2 * x,
            "z": rng.normal(size=400),
            "sex": rng.choice(["F", "M"], 400),
            "same": ["s"] * 400,
        }
    )


@pytest.fixture(scope="module")
def comparison(people: pl.DataFrame) -> Comparison:
    avatars = people.with_columns(y=-pl.col("x"))
    return Comparison.of(people, avatars, aligned=True)


def test_links_among_originals_and_avatars(comparison: Comparison) -> None:
    told = links(comparison)
    assert told is not None
    assert told["columns"] == ["x", "y", "z", "sex", "same"]
    assert told["total"] == 5
    assert (told["originals"][0][1], told["avatars"][0][1]) == (1.0, -1.0)
    assert told["measures"][0][1] == "pearson"
    assert told["measures"][0][3] == told["measures"][3][0] == "correlation_ratio"
    assert told["measures"][3][4] == "cramer_v"
    assert told["originals"][0][4] is None  # a column that does not vary has no link
    json.dumps(told, allow_nan=False)


def test_a_single_column_has_no_links() -> None:
    one = pl.DataFrame({"x": [float(i) for i in range(30)]})
    assert links(Comparison.of(one, one)) is None


def test_of_many_columns_those_that_changed_most_are_kept() -> None:
    rng = np.random.default_rng(3)
    many = MOST_COLUMNS + 5
    people = pl.DataFrame({f"c{i}": rng.normal(size=60) for i in range(many)})
    avatars = people.with_columns(c104=pl.col("c0"))
    told = links(Comparison.of(people, avatars))
    assert told is not None
    assert told["total"] == many
    assert len(told["columns"]) == len(told["originals"]) == MOST_COLUMNS
    assert "c104" in told["columns"]


def test_contributions_sum_to_a_hundred(comparison: Comparison) -> None:
    told = contributions(comparison)
    sums = np.array(told["percent"]).sum(axis=0)
    assert sums == pytest.approx(100, abs=0.05)
    assert told["components"] == list(range(1, len(sums) + 1))
    first = sorted(zip([row[0] for row in told["percent"]], told["columns"], strict=True))
    assert {name for _, name in first[-2:]} == {"x", "y"}  # twins make the first component
    json.dumps(told, allow_nan=False)


def test_space_shows_avatars_only(comparison: Comparison) -> None:
    told = space(comparison, np.random.default_rng(0))
    assert told is not None
    points = np.column_stack([told["avatars"][axis] for axis in "xyz"])
    shown = {tuple(point) for point in comparison.avatar_points[:, :3].round(2).tolist()}
    assert {tuple(point) for point in points.tolist()} == shown
    assert len(points) == 400 <= MOST_POINTS


def test_two_components_have_no_space() -> None:
    plane = pl.DataFrame({"x": np.arange(60.0) ** 2, "y": np.arange(60.0)})
    assert space(Comparison.of(plane, plane), np.random.default_rng(0)) is None
