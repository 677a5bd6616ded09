"""What is shown of a file is of nobody alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sosie.cli.app.inspection import card, inspect, main, smallest_group
from sosie.latent.tree import groups


def test_rare_levels_are_counted_and_not_named() -> None:
    frame = pl.DataFrame({"town": ["Lyon"] * 6 + ["Paris"] * 5 + ["Brest"] * 4 + ["Here"] + [None]})
    told = card(frame, "town")
    assert told.levels == (("Lyon", 6), ("Paris", 5))
    assert (told.unnamed, told.distinct, told.missing) == (2, 4, 1)


def test_ranges_leave_out_five_people_at_each_end() -> None:
    frame = pl.DataFrame({"income": np.random.default_rng(1).permutation(100) * 1.5})
    told = card(frame, "income")
    assert (told.low, told.high, told.digits) == (7.5, 141.0, 1)
    inside = np.arange(5, 95)
    counts, _ = np.histogram(inside, 16)
    assert told.bars == tuple(counts)


def test_bars_of_few_people_are_empty() -> None:
    values = [0.5] * 40 + [1.25 * i for i in range(1, 12)] + [99.5] * 40
    told = card(pl.DataFrame({"x": values}), "x")
    assert set(told.bars) & {1, 2, 3, 4} == set()


def test_few_values_have_no_range() -> None:
    told = card(pl.DataFrame({"x": [i + 0.5 for i in range(19)]}), "x")
    assert (told.low, told.high, told.bars) == (None, None, ())


def test_dates_are_written_as_dates() -> None:
    days = pl.date_range(pl.date(2027, 1, 1), pl.date(2027, 2, 9), eager=True)
    told = card(pl.DataFrame({"day": days}), "day")
    assert (told.kind, told.low, told.high) == ("date", "2027-01-06", "2027-02-04")


def test_a_column_that_can_not_be_read_hides_no_other(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.5, 2.5] * 30, "nested": [[1]] * 60})
    frame.write_parquet(tmp_path / "t.parquet")
    told = inspect(tmp_path / "t.parquet")
    assert [column.kind for column in told.columns] == ["category", "unreadable"]
    assert "nested" in told.columns[1].notes[0]


def test_identifiers_are_suspected() -> None:
    frame = pl.DataFrame({"nir": [f"1 {i:03}" for i in range(60)], "sex": ["F", "M"] * 30})
    assert card(frame, "nir").suspect
    assert not card(frame, "sex").suspect
    assert card(frame, "nir").levels == ()


@pytest.mark.parametrize(("people", "k"), [(64, 2), (100, 7), (333, 10), (47, 24), (30, 15)])
def test_smallest_groups_are_those_of_the_tree(people: int, k: int) -> None:
    points = np.random.default_rng(people).normal(size=(people, 3))
    hashes = np.arange(people, dtype=np.uint64)
    tree = groups(points, hashes, key=1, k=k, reach=100)
    told = smallest_group(people, k)
    assert (told.smallest, told.groups) == (min(tree.sizes), len(tree))


def test_what_can_not_be_read_is_written_down(tmp_path: Path) -> None:
    main([str(tmp_path / "absent.csv"), str(tmp_path / "out.json")])
    told = json.loads((tmp_path / "out.json").read_text())
    assert told == {"error": f"{tmp_path / 'absent.csv'}: there is no such file"}
