"""Contradictions, by hand and against a count of rows."""

import numpy as np
import polars as pl
import pytest

from sosie import contradictions
from sosie.audits.comparison import Comparison


def stays(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    start, days = rng.integers(0, 300, rows), rng.integers(0, 40, rows)
    cost = rng.integers(1, 900, rows)
    return pl.DataFrame({"start": start, "end": start + days, "days": days, "cost": cost})


def test_a_copy_breaks_nothing_and_shuffled_columns_break_what_can_be_counted() -> None:
    people = stays(400, 1)
    assert contradictions(people, people).value == 0
    assert contradictions(people, people).met
    shuffled = people.with_columns(pl.col("end").shuffle(seed=2))
    broken = (shuffled["end"] - shuffled["start"] != shuffled["days"]).mean()
    found = contradictions(people, shuffled)
    assert found.value == pytest.approx(100 * broken)
    assert found.met is False
    assert {one["kind"] for one in found.detail["constraints"]} >= {"sum"}


def test_what_the_avatars_hold_by_chance_is_nothing() -> None:
    people = stays(400, 1).select("start", "cost")
    found = contradictions(people, people.head(20))
    assert found.value is None
    assert found.reason is not None
    assert found.reason.key == "nothing_held"


def test_one_column_can_not_contradict_itself() -> None:
    people = stays(60, 3).select("cost")
    assert contradictions(Comparison.of(people, people)).reason.key == "too_few_columns"
