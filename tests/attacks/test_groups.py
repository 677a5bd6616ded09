"""Attackers of exchangeable avatars, those who hold the secret groups included, and the bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie.attacks import attack
from sosie.attacks.groups import GroupAttack, attack_groups, members_of
from sosie.audits.intervals import clopper_pearson_upper
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer

People = Callable[..., dict[str, list[Any]]]


def lowest(rate: float, targets: int, attackers: int) -> float:
    """Lower end of an interval that all attackers together leave in one of a hundred times."""
    hits = round(rate * targets / 100)
    return 100 * (1 - clopper_pearson_upper(targets - hits, targets, 1 - 0.01 / attackers))


def islands(rows: int = 400) -> pl.DataFrame:
    """Groups far from each other: their law gives the group away, and no member."""
    rng = np.random.default_rng(0)
    centre = np.repeat(rng.normal(0, 40, size=(rows // 10, 3)), 10, axis=0)
    return pl.DataFrame(centre + rng.normal(size=(rows, 3)), schema=["a", "b", "c"])


def test_an_ideal_attacker_reaches_one_in_the_size_and_no_more() -> None:
    avatarizer = Avatarizer(k=10, seed=1).fit(islands())
    groups = len(np.unique(members_of(avatarizer)))
    expected = 100 * groups / 400
    made = [one for seed in range(20) for one in ideal(avatarizer, seed)]
    assert {one.guess for one in made} == {"any", "nearest", "one-to-one"}
    assert all(one.group.rate == 100 for one in made)
    for guess in ("any", "nearest", "one-to-one"):
        rates = [one.person.rate for one in made if one.guess == guess]
        error = 100 * math.sqrt(expected / 100 / 400 / 20)
        assert abs(np.mean(rates) - expected) < 4 * error


def ideal(avatarizer: Avatarizer, release: int) -> list[GroupAttack]:
    found = attack_groups(avatarizer, release, seed=release)
    return [one for one in found if one.knows == "groups"]


def test_the_law_of_groups_that_are_apart_names_the_group_and_not_the_person() -> None:
    avatarizer = Avatarizer(k=10, seed=1).fit(islands())
    bound = 100 / (avatarizer.guarantee.smallest_group or 1)
    made = [one for one in attack_groups(avatarizer, 10) if one.knows == "law"]
    for one in made:
        assert one.group.rate > 60
        assert lowest(one.person.rate, 400, len(made)) <= bound


def test_only_methods_with_groups_can_be_attacked_so() -> None:
    avatarizer = Avatarizer(k=5, method="smoothed", seed=1).fit(islands(100))
    with pytest.raises(InputError, match="only exchangeable avatars have groups"):
        list(attack_groups(avatarizer, 0))


def test_the_laboratory_is_no_weak_opponent(people: People) -> None:
    """Of avatars drawn around people the same attackers find most: of groups one in the size."""
    frame = pl.DataFrame(people(200), strict=False)
    found = attack(frame, Avatarizer(k=5, seed=1, method="barycentre"), releases=25)
    rate = found.strongest["v1"].rate
    assert rate is not None
    assert rate > 50


@pytest.mark.slow
@pytest.mark.parametrize("k", [5, 10, 20])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_attacker_stays_at_the_bound(people: People, k: int, seed: int) -> None:
    """At 0, 5 and 25 releases, with the true groups: the intervals reach down to the bound."""
    frame = pl.DataFrame(people(400, seed=seed), strict=False)
    avatarizer = Avatarizer(k=k, seed=seed).fit(frame)
    bound = 100 * (avatarizer.guarantee.bound or 0)
    assert avatarizer.guarantee.holds
    report = attack(frame, avatarizer, scenario="all", releases=25, curve=[5])
    found = [one for one in report.results if one.rate is not None and one.scenario != "groups"]
    rates = [(one.rate, one.targets) for one in found]
    for count in (0, 5, 25):
        rates += [(one.person.rate, 400) for one in attack_groups(avatarizer, count)]
    assert {one.releases for one in report.results if one.rate is not None} == {0, 5, 25}
    assert {"v1", "v2", "nearest", "partial"} <= {*report.scenarios}
    assert len(rates) > 30
    for rate, targets in rates:
        assert lowest(rate, targets, len(rates)) <= bound


@pytest.mark.slow
def test_other_groups_of_the_same_table_are_another_table(people: People) -> None:
    """Ideal linkers of releases at k = 5, 10 and 20 with one key: the finest groups' bound."""
    frame = pl.DataFrame(people(400), strict=False)
    groups = {k: members_of(Avatarizer(k=k, key=3).fit(frame)) for k in (5, 10, 20)}
    together = np.stack([groups[k] for k in groups], axis=1)
    sizes = np.unique(together, axis=0, return_counts=True)[1]
    assert np.array_equal(np.sort(sizes), np.sort(np.bincount(groups[5])))
    assert sizes.min() >= 5
