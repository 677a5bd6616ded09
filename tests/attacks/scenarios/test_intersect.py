"""Several releases: candidates counted by hand, and what alignment is worth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from sosie.attacks import Releases, attack
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.intersect import matched, plans, remaining, shared
from sosie.data.table import Roles, Table
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(160, 3))
    levels = np.where(x[:, 0] > 0, "upper", "lower")
    return pl.DataFrame(x, schema=["a", "b", "c"]).with_columns(part=pl.Series(levels))


@pytest.fixture(scope="module")
def found(frame: pl.DataFrame) -> dict[tuple[str, str, str], AttackResult]:
    made = Avatarizer(k=5, seed=1)
    results = attack(frame, made, scenario="intersect", releases=5).results
    return {(r.versions or "", r.estimator, r.decision): r for r in results}


def test_who_remains_is_counted_by_a_loop() -> None:
    rng = np.random.default_rng(0)
    groups = [rng.permutation(np.arange(60) // size) for size in (5, 6, 10)]
    chains = np.column_stack([np.arange(60), rng.permutation(60), np.arange(60)])
    for chain, credit in zip(chains, remaining(groups, chains), strict=True):
        left = set(range(60))
        for own, person in zip(groups, chain, strict=True):
            mates = {p for p in range(60) if own[p] == own[person]}
            left = left & mates or left
        assert credit == pytest.approx((chain[0] in left) / len(left))


def test_shared_people_are_counted_pair_by_pair() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.permutation(np.arange(24) // 4), rng.permutation(np.arange(24) // 3)
    one[5] = -1  # who is not in this version is in no group
    found = shared(one, other)
    for g in range(6):
        for h in range(8):
            both = sum((one == g) & (other == h))
            assert found[g, h] == pytest.approx(both / (sum(one == g) * sum(other == h)))


def test_records_are_matched_as_the_least_total_has_it() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(7, 2))
    order = rng.permutation(7)
    assert np.array_equal(matched(points, points[order] + 0.001), np.argsort(order))


def test_versions_lose_and_win_people_and_columns(frame: pl.DataFrame) -> None:
    made = plans(Table.of(frame), 5, True, np.random.default_rng(0))
    fewer, everyone, more = (set(plan.rows.tolist()) for plan in made["person-changed"])
    assert everyone == set(range(160))
    assert len(fewer) == len(more) == 159
    assert fewer != more
    assert [plan.k for plan in made["other-k"]] == [5, 10, 20]
    assert made["column-less"][1].names == ("b", "c", "part")
    months = [set(plan.rows.tolist()) for plan in made["monthly"]]
    assert {len(month) for month in months} == {160 - 5 * 3}
    assert [len(one - two) for one, two in pairwise(months)] == [3] * 5


def test_linked_columns_are_not_left_out(frame: pl.DataFrame) -> None:
    categories = frame.select("part").with_columns(site="part", ward="part")
    linked = Table.of(categories, Roles(linked=(("part", "site"),)))
    made = plans(linked, 5, True, np.random.default_rng(0))
    assert set(made["column-less"][1].names) == {"part", "site"}


def test_releases_of_one_table_add_nothing_to_one(
    found: dict[tuple[str, str, str], AttackResult],
) -> None:
    """The bound holds over releases under one key: who remains is always the whole group."""
    one = found["same-table", "groups", "aligned"]
    assert one.releases == 6
    assert one.rate == pytest.approx(one.chance)
    nested = found["other-k", "groups", "aligned"]
    assert nested.rate == pytest.approx(nested.chance)


def test_another_key_leaves_fewer_where_rows_are_aligned(
    found: dict[tuple[str, str, str], AttackResult],
) -> None:
    for name in ("new-key", "monthly-new-key"):
        aligned = found[name, "groups", "aligned"]
        assert aligned.ci is not None
        assert aligned.chance is not None
        assert aligned.ci[0] > 1.5 * aligned.chance
    months = found["monthly-new-key", "groups", "aligned"]
    assert months.rate is not None
    assert months.rate > (found["new-key", "groups", "aligned"].rate or 100)


def test_shuffled_rows_leave_what_one_release_leaves(
    found: dict[tuple[str, str, str], AttackResult],
) -> None:
    """Members of a group are alike whatever is held beside it: the interval reaches one in s."""
    for (_, estimator, rows), one in found.items():
        if (estimator, rows) == ("groups", "shuffled"):
            assert one.ci is not None
            assert one.chance is not None
            assert one.ci[0] <= one.chance


def test_barycentres_are_found_by_the_mean_of_their_records(frame: pl.DataFrame) -> None:
    made = Avatarizer(k=5, seed=1, method="barycentre")
    results = attack(frame, made, scenario="intersect", releases=5).results
    rates = {(r.versions, r.decision): r for r in results}
    assert {name for name, _ in rates} == {
        *("same-table", "other-k", "column-less", "person-changed", "monthly")
    }
    aligned, shuffled = (rates["same-table", rows] for rows in ("aligned", "shuffled"))
    assert aligned.rate is not None
    assert shuffled.ci is not None
    assert aligned.rate > shuffled.ci[1]  # alignment is worth something


def test_one_release_where_two_are_needed_is_a_reason(frame: pl.DataFrame) -> None:
    (none,) = attack(frame, Avatarizer(k=5, seed=1), scenario="intersect", releases=0).results
    assert none.rate is None
    assert none.reasons == (Reason("two_to_intersect"),)


def test_tables_of_another_generator_are_intersected_as_they_are(frame: pl.DataFrame) -> None:
    rng = np.random.default_rng(3)
    noisy = [frame.with_columns(pl.col("a") + rng.normal(0, 0.5, 160)) for _ in range(3)]
    results = attack(frame, Releases(noisy), scenario="intersect", releases=2).results
    assert [(r.versions, r.decision, r.releases) for r in results] == [
        ("same-table", "aligned", 3),
        ("same-table", "shuffled", 3),
    ]
    assert (results[0].rate or 0) > 50


def test_a_table_too_small_for_a_larger_k_says_so() -> None:
    rng = np.random.default_rng(5)
    small = pl.DataFrame(rng.normal(size=(14, 2)), schema=["a", "b"])
    results = attack(small, Avatarizer(k=6, seed=1), scenario="intersect", candidates=5).results
    (larger,) = [r for r in results if r.versions == "other-k"]
    assert larger.rate is None
    assert [reason.key for reason in larger.reasons] != []
