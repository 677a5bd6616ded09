"""Rows of people: each figure by hand, or by another library."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from visit_tables import visits

from sosie.audits.rows import along_statistics, compared_rows


def test_a_table_and_itself_differ_in_nothing() -> None:
    long = visits(60)
    summary = compared_rows("visits", long, long, "patient", "day").summary()
    assert summary.pop("curves_inside") == 1
    assert set(summary.values()) == {0.0}


def test_along_people_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    owner = np.repeat(np.arange(40), rng.integers(1, 6, 40))
    values = rng.normal(size=len(owner)) + rng.normal(size=40)[owner]
    values[::9] = np.nan
    frame = pd.DataFrame({"owner": owner, "x": values}).dropna()
    before = frame.groupby("owner")["x"].shift()
    made = along_statistics(values, owner)
    assert made["lag"] == pytest.approx(frame["x"].corr(before))
    away = frame["x"] - frame.groupby("owner")["x"].transform("mean")
    lagged = away.groupby(frame["owner"]).shift()
    assert made["lag_within"] == pytest.approx((away * lagged).sum() / (away**2).sum())
    counts = frame.groupby("owner")["x"].count()
    means, grand, people = frame.groupby("owner")["x"].mean(), frame["x"].mean(), len(counts)
    msb = (counts * (means - grand) ** 2).sum() / (people - 1)
    msw = (away**2).sum() / (len(frame) - people)
    size = (len(frame) - (counts**2).sum() / len(frame)) / (people - 1)
    assert made["between"] == pytest.approx((msb - msw) / (msb + (size - 1) * msw))


def test_transitions_and_rows_by_hand() -> None:
    one = pl.DataFrame(
        {"who": [0, 0, 0, 1, 1], "t": [0, 1, 2, 0, 1], "s": ["a", "a", "b", "b", "b"]}
    )
    two = pl.DataFrame({"who": [0, 0, 1, 1], "t": [0, 1, 0, 3], "s": ["a", "b", "b", "b"]})
    made = compared_rows("x", one, two, "who", "t")
    assert made.mean_rows == (2.5, 2.0)
    # Pairs: aa, ab, bb against ab, bb: (1/3 + |1/3 - 1/2| + |1/3 - 1/2|) / 2.
    assert made.categories[0]["transitions"] == pytest.approx(1 / 3)


def test_no_point_of_a_curve_has_fewer_than_k_people() -> None:
    made = compared_rows("x", visits(60), visits(60, seed=5), "patient", "day", k=25)
    points = [p for number in made.numbers for p in (number["curve"] or {"points": []})["points"]]
    assert points
    assert min(point["people"] for point in points) >= 25
    assert all(point["low"] <= point["mean"] <= point["high"] for point in points)
