"""The bound is about people: nothing but what they have in common as a group enters their rows."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import polars as pl
import pytest
from visit_tables import two_tables, visits

from sosie import Avatarizer
from sosie.generate.people.categories import Rare
from sosie.generate.people.sequences import Sequences


def _release(long: pl.DataFrame, **options: object) -> pl.DataFrame:
    return Avatarizer(k=10, seed=1, **options).fit(long, person="patient").release()


@pytest.fixture(scope="module")
def long() -> pl.DataFrame:
    return visits()


@pytest.fixture(scope="module")
def release(long: pl.DataFrame) -> pl.DataFrame:
    return _release(long)


def test_the_bound_counts_people(long: pl.DataFrame) -> None:
    made = Avatarizer(k=10, seed=1).fit(long, person="patient").guarantee
    assert (made.holds, made.people) == (True, 160)
    assert made.smallest_group is not None
    assert 10 <= made.smallest_group < 20
    assert made.bound == 1 / made.smallest_group


def test_the_order_of_rows_and_of_people_changes_nothing(
    long: pl.DataFrame, release: pl.DataFrame
) -> None:
    rng = np.random.default_rng(3)
    mixed = long[rng.permutation(len(long))]
    made = Avatarizer(k=10, seed=1).fit(mixed, person="patient", time="day").release()
    assert made.equals(release)


def test_members_who_change_places_change_nothing(
    long: pl.DataFrame, release: pl.DataFrame
) -> None:
    """Whose rows are whose says nothing: people renamed at random give the same avatars."""
    names = np.random.default_rng(4).permutation(160)
    renamed = long.with_columns(pl.Series("patient", names[long["patient"].to_numpy()]))
    assert _release(renamed).equals(release)


def test_members_with_the_same_shares_give_the_same_rare_levels() -> None:
    """Two groups of two: levels change hands within a group, and nothing is drawn otherwise."""
    sequences = Sequences.of_counts(np.array([2, 2, 2, 2]))
    group = np.array([0, 0, 1, 1])
    allowed = np.ones(5, dtype=bool)
    one = Rare.of(np.array([0, 1, 2, 2, 3, -1, 3, 4]), allowed, group, sequences, 2)
    other = Rare.of(np.array([2, 1, 0, 2, 4, -1, 3, 3]), allowed, group, sequences, 2)
    at, owner = np.arange(8), np.array([0, 1, 1, 0])
    for own, theirs in zip(
        (one.starts, one.codes, one.running),
        (other.starts, other.codes, other.running),
        strict=True,
    ):
        np.testing.assert_array_equal(own, theirs)
    draws = [
        Rare(made.starts, made.codes, made.running, made.otherwise, made.running_otherwise, 0.3)
        .draw(at, owner, sequences, np.random.default_rng(5))
        .tolist()
        for made in (one, other)
    ]
    assert draws[0] == draws[1]


def test_the_law_of_rows_holds_no_row_of_anybody(long: pl.DataFrame) -> None:
    """Order statistics of the whole table are all that is as long as it."""
    fitted = Avatarizer(k=10, seed=1).fit(long, person="patient")
    law = fitted._family.laws[0]
    lengths = {
        (name, max(array.shape))
        for name, array in _arrays(law, ())
        if array.size and name[0] != "table"
    }
    long_ones = {name[-1] for name, length in lengths if length >= 160}
    assert long_ones <= {"ordered", "scores", "shares"}  # tabulated maps and the way back


def _arrays(thing: object, name: tuple[str, ...]) -> list[tuple[tuple[str, ...], np.ndarray]]:
    if isinstance(thing, np.ndarray):
        return [(name, thing)]
    if isinstance(thing, tuple):
        return [pair for each in thing for pair in _arrays(each, name)]
    if is_dataclass(thing):
        return [
            pair
            for field in fields(thing)
            for pair in _arrays(getattr(thing, field.name), (*name, field.name))
        ]
    return []


def test_no_row_and_no_pair_of_rows_is_copied(long: pl.DataFrame, release: pl.DataFrame) -> None:
    """Exact twins come by chance alone: no oftener than of people who took no part."""
    names = ["pain", "stage", "doses", "low", "high"]
    known = set(long.drop_nulls().select(names).rows())
    others = visits(seed=9).drop_nulls().select(names).rows()
    ours = release.drop_nulls().select(names).rows()
    by_chance = np.mean([row in known for row in others])
    assert np.mean([row in known for row in ours]) <= by_chance + 0.005


def test_surrogates_match_over_tables_and_say_nothing() -> None:
    people, children = two_tables()
    fitted = Avatarizer(seed=1).fit(people, person="patient", children=children)
    made = fitted.release()
    assert list(made) == ["people", "measures", "stays"]
    keys = made["people"]["patient"]
    assert keys.n_unique() == len(people)
    assert not set(keys) & set(people["patient"])
    for name in ("measures", "stays"):
        assert set(made[name]["patient"]) <= set(keys)
    assert made["people"].schema == people.schema
    assert made["stays"].schema == children["stays"].schema
    # Other names for the same people: the same surrogates for the same avatars.
    names = pl.Series("patient", np.random.default_rng(4).permutation(160))
    renamed = {n: c.with_columns(names[c["patient"].to_numpy()]) for n, c in children.items()}
    again = Avatarizer(seed=1).fit(people.with_columns(names), person="patient", children=renamed)
    for name, table in again.release().items():
        assert table.equals(made[name])


def test_the_same_bytes_for_the_same_seed_and_others_for_another(
    long: pl.DataFrame, release: pl.DataFrame
) -> None:
    assert _release(long).equals(release)
    other = Avatarizer(k=10, seed=2).fit(long, person="patient").release()
    assert not other.equals(release)
    threads = Avatarizer(k=10, seed=1, threads=1, chunk=7).fit(long, person="patient").release()
    assert threads.equals(release)
