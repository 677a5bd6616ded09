"""The guarantee says what the groups say, and that nothing holds wherever something breaks it."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from sosie.generate.guarantee import Guarantee


def test_it_is_written_as_agreed() -> None:
    sizes = np.full(128, 17)
    sizes[0], sizes[1:38] = 16, 16
    sizes[-1] += 2139 - sizes.sum()
    assert Guarantee.of_groups(sizes).to_json() == {
        "holds": True,
        "bound": 0.0625,
        "smallest_group": 16,
        "groups": 128,
        "people": 2139,
        "reason": None,
        "covers": ["linkage"],
        "broken_by": [],
    }


@pytest.mark.parametrize("sizes", [[10], [19, 12, 15], np.array([7, 7, 8], dtype=np.uint8)])
def test_the_bound_is_that_of_the_smallest_group(sizes: list[int]) -> None:
    made = Guarantee.of_groups(sizes)
    assert made.bound == 1 / min(sizes)
    assert made.people == sum(int(size) for size in sizes)
    json.dumps(made.to_json(), allow_nan=False)


def test_a_method_that_draws_around_people_has_none() -> None:
    assert Guarantee.of_method("smoothed", 300).to_json() == {
        "holds": False,
        "bound": None,
        "smallest_group": None,
        "groups": None,
        "people": 300,
        "reason": {"key": "no_guarantee_of_method", "values": {"method": "smoothed"}},
        "covers": [],
        "broken_by": ["no_guarantee_of_method"],
    }


def test_columns_kept_outside_the_groups_break_it_and_are_named() -> None:
    made = Guarantee.of_groups([10, 11]).kept_outside(["postcode", 3])
    assert (made.holds, made.bound, made.covers) == (False, None, ())
    assert made.smallest_group == 10
    assert made.to_json()["reason"] == {
        "key": "kept_outside_groups",
        "values": {"columns": ["postcode", "3"]},
    }


def test_no_column_kept_outside_breaks_nothing() -> None:
    made = Guarantee.of_groups([10, 11])
    assert made.kept_outside([]) == made


def test_all_that_breaks_it_is_listed_and_rows_come_first() -> None:
    made = Guarantee.of_groups([10, 12]).kept_outside(["postcode"]).rows_not_people("id", 22, 9)
    assert made.broken_by == ("rows_are_not_people", "kept_outside_groups")
    assert made.reason is not None
    assert made.reason.values == {"column": "id", "rows": 22, "people": 9}
    assert made.people == 9


def test_it_can_not_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Guarantee.of_groups([10]).holds = False  # type: ignore[misc]
