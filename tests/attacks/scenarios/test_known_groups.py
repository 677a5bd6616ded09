"""What a known group gives away: shares counted by hand and against random groups."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from sosie.attacks import attack
from sosie.attacks.groups import members_of
from sosie.attacks.scenarios.groups import chance_of_one_value, guesses, of_one_value
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer


def people(rows: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(rows, 2))
    return pl.DataFrame(
        {
            "x": x[:, 0],
            "y": x[:, 1],
            "part": np.where(x[:, 0] + rng.normal(0, 0.1, rows) > 0, "upper", "lower"),
            "coin": rng.choice(["heads", "tails"], rows),
        }
    )


def test_shares_are_those_of_a_loop_over_groups() -> None:
    rng = np.random.default_rng(1)
    codes, group = rng.integers(0, 3, 60), rng.permutation(np.arange(60) % 25)
    one, named = of_one_value(codes, group), guesses(codes, group)
    for i in range(60):
        mates = codes[group == group[i]]
        assert one[i] == (len(set(mates)) == 1)
        assert (mates == named[i]).sum() == np.bincount(mates).max()


def test_chance_is_what_groups_at_random_have() -> None:
    rng = np.random.default_rng(2)
    codes, group = (rng.random(40) < 0.2).astype(np.int64), np.arange(40) // 4
    drawn = [of_one_value(rng.permutation(codes), group).mean() for _ in range(4_000)]
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert abs(np.mean(drawn) - chance_of_one_value(codes, group)) < 4 * error


def test_a_column_that_groups_follow_is_given_away_and_a_coin_less() -> None:
    frame = people()
    made = Avatarizer(k=5, seed=1).fit(frame)
    report = attack(frame, made, scenario="groups")
    rates = {(r.estimator, r.column): r for r in report.results}
    assert {column for _, column in rates} == {"part", "coin"}
    group = members_of(made)
    for name in ("part", "coin"):
        alike = [frame[name].filter(group == g).n_unique() == 1 for g in group]
        assert rates["one-value", name].rate == pytest.approx(100 * np.mean(alike))
    part = rates["commonest", "part"]
    assert part.rate > 75
    assert part.chance < 60
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.parametrize("method", ["smoothed", "barycentre"])
def test_without_groups_a_reason(method: str) -> None:
    made = Avatarizer(k=5, method=method, seed=1)
    (none,) = attack(people(), made, scenario="groups").results
    assert none.rate is None
    assert none.reasons == (Reason("no_groups"),)


def test_no_column_of_few_values_is_told() -> None:
    (none,) = attack(people().select("x", "y"), Avatarizer(seed=1), scenario="groups").results
    assert none.reasons == (Reason("no_column_of_few_values", {"most": 20}),)


def test_the_bound_and_the_chance_of_who_knows_the_groups() -> None:
    frame = people()
    made = Avatarizer(k=5, seed=1).fit(frame)
    known = {"estimator": "pooled", "releases": 3, "candidates": 20}
    report = attack(frame, made, scenario=("v1", "nearest"), **known)
    sizes = np.bincount(members_of(made))
    for found in report.results:
        assert found.bound == pytest.approx(100 / sizes.min())
    v1 = report.find(scenario="v1")[0]
    assert v1.chance == pytest.approx(100 * len(sizes) / len(frame))
    assert {r.chance for r in report.find(scenario="nearest")} == {100 / len(frame)}
