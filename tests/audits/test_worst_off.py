"""Who fares worst: rates by level, counted by hand."""

import numpy as np
import polars as pl
import pytest

from sosie.audits.comparison import Comparison
from sosie.audits.intervals import wilson
from sosie.audits.worst_off import worst_off

PEOPLE = 100


def compared(aligned: bool = True) -> Comparison:
    """Of 30 in town b, 24 are their own nearest avatar; of the others, nobody. Ten live in c."""
    x = np.arange(PEOPLE, dtype=float) * 10
    towns = np.array(["a"] * 60 + ["b"] * 30 + ["c"] * 10)
    places = np.concatenate([np.roll(x[:60], 20), x[60:84], np.roll(x[84:90], 3), x[90:]])
    people = pl.DataFrame({"x": x, "town": towns})
    avatars = pl.DataFrame({"x": places, "town": towns})
    return Comparison.of(people, avatars, aligned=aligned)


def test_rates_by_level_are_counted() -> None:
    found = worst_off(compared())
    assert found is not None
    assert [row["level"] for row in found["worst"]] == ["b", "a"]
    first = found["worst"][0]
    assert (first["column"], first["people"], found["levels"]) == ("town", 30, 2)
    assert first["hidden_rate"] == pytest.approx(100 * 6 / 30)
    low, high = wilson(24, 30)
    assert first["ci"] == pytest.approx([100 * (1 - high), 100 * (1 - low)])
    assert first["local_cloaking"] == 0
    assert found["worst"][1]["hidden_rate"] == 100
    assert found["hidden_rate"] == pytest.approx(100 - 34)


def test_levels_of_fewer_are_neither_shown_nor_counted() -> None:
    found = worst_off(compared(), least=31)
    assert found is not None
    assert [row["level"] for row in found["worst"]] == ["a"]


def test_tables_that_are_not_aligned_have_none() -> None:
    assert worst_off(compared(aligned=False)) is None
