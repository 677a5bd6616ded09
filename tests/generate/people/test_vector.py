"""What people are told by: means, slopes and shares, each person by brute force."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, rankdata
from visit_tables import two_tables, visits

from sosie import Avatarizer


@pytest.fixture(scope="module")
def long() -> pl.DataFrame:
    return visits()


@pytest.fixture(scope="module")
def fitted(long: pl.DataFrame) -> Avatarizer:
    return Avatarizer(seed=1, constraints=False).fit(long, person="patient")


def _told(fitted: Avatarizer, name: str) -> np.ndarray:
    return fitted.table.number(f"rows: {name}").values


def _people(long: pl.DataFrame) -> list[pl.DataFrame]:
    return [part.sort("day") for part in long.partition_by("patient", maintain_order=True)]


def test_own_columns_are_those_that_never_vary(fitted: Avatarizer) -> None:
    assert [name for name in fitted.table.names if "rows:" not in name] == ["sex", "born"]


def test_span_and_pace(long: pl.DataFrame, fitted: Avatarizer) -> None:
    people = _people(long)
    span = np.array([part["day"].max() - part["day"].min() for part in people])
    np.testing.assert_array_equal(_told(fitted, "span"), span)
    law = fitted._family.laws[0].times
    usual = np.interp(span, law.spans, law.usual)
    np.testing.assert_allclose(_told(fitted, "pace"), [len(part) for part in people] - usual)


def test_level_and_change_by_least_squares(long: pl.DataFrame, fitted: Avatarizer) -> None:
    pain = long["pain"].to_numpy()
    known = ~np.isnan(pain)
    scores = np.full(len(pain), np.nan)
    scores[known] = norm.ppf((rankdata(pain[known]) - 0.5) / known.sum())
    level, change = [], []
    for part in _people(long.with_columns(pl.Series("z", scores))):
        days = part["day"].to_numpy().astype(float)
        u = (days - days[0]) / max(days[-1] - days[0], 1)
        z = part["z"].to_numpy()
        here = ~np.isnan(z)
        level.append(z[here].mean() if here.any() else 0.0)
        change.append(np.polyfit(u[here], z[here], 1)[0] if here.sum() > 1 else 0.0)
    np.testing.assert_allclose(_told(fitted, "pain, level"), level, atol=1e-9)
    np.testing.assert_allclose(_told(fitted, "pain, change"), change, atol=1e-7)


def test_shares_of_levels_and_of_missing_values(long: pl.DataFrame, fitted: Avatarizer) -> None:
    for level in "abc":
        shares = [(part["stage"] == level).mean() for part in _people(long)]
        np.testing.assert_allclose(_told(fitted, f"stage, share of {level}"), shares)
    missing = [part["pain"].is_null().mean() for part in _people(long)]
    np.testing.assert_allclose(_told(fitted, "pain missing, share of kind 1"), missing)


def test_people_without_rows_have_no_first_time() -> None:
    people, children = two_tables()
    fitted = Avatarizer(seed=1, constraints=False).fit(people, person="patient", children=children)
    first = fitted.table.number("stays: first time").values
    without = ~people["patient"].is_in(children["stays"]["patient"].implode()).to_numpy()
    np.testing.assert_array_equal(np.isnan(first), without)
