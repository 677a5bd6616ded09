"""Which of two people was in the table: found where an avatar is its person, a coin elsewhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal

from sosie.attacks import Releases, attack
from sosie.attacks.partition import GroupLaw, Rows
from sosie.attacks.scenarios import swap
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer


@pytest.fixture
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(rng.normal(size=(60, 3)), schema=["a", "b", "c"])


def test_mixtures_of_two_neighbours_give_away_who_was_there(frame: pl.DataFrame) -> None:
    made = Avatarizer(k=2, components=3, method="barycentre", seed=1)
    one, five = attack(frame, made, scenario="swap").results
    assert (one.releases, five.releases) == (1, 5)
    assert one.estimator == five.estimator == "key-known"
    assert one.chance == five.chance == 50
    assert five.ci is not None
    assert five.ci[0] > 50


def test_the_key_is_known_and_then_secret_where_groups_are(
    frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swap, "TRIALS", 3)
    report = attack(frame, Avatarizer(k=5, seed=1), scenario="swap")
    played = [(r.estimator, r.releases, r.targets) for r in report.results]
    assert played == [
        ("key-known", 1, 3),
        ("key-known", 5, 3),
        ("key-secret", 1, 3),
        ("key-secret", 5, 3),
        ("keys-guessed", 1, 3),
        ("keys-guessed", 5, 3),
    ]


@pytest.mark.slow
def test_who_cuts_the_same_groups_is_always_right_and_who_guesses_keys_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worst case, which the key is there to prevent."""
    monkeypatch.setitem(swap.KEYS_OF, "keys-guessed", 8)
    rng = np.random.default_rng(6)
    x = rng.normal(size=(100, 4))
    data = pl.DataFrame(x, schema=["a", "b", "c", "d"]).with_columns(
        part=pl.Series(rng.choice(list("uvwxyz"), 100)), side=pl.Series(rng.choice(list("lr"), 100))
    )
    report = attack(data, Avatarizer(k=5, seed=1), scenario="swap")
    rates = {(r.estimator, r.releases): r for r in report.results}
    known, guessed = rates["key-known", 5], rates["keys-guessed", 5]
    assert known.ci is not None
    assert known.ci[0] > 80
    assert guessed.ci is not None
    assert guessed.ci[0] < 60


def test_the_likelihood_is_that_of_a_mixture_of_groups() -> None:
    """Against scipy's Gaussians, record by record and group by group."""
    rng = np.random.default_rng(7)
    people = Rows(rng.normal(size=(30, 2)), (rng.integers(0, 3, 30),))
    groups = rng.permutation(np.arange(30) // 6)
    records = Rows(rng.normal(size=(9, 2)), (np.array([0, 1, 2] * 3),))
    within = np.concatenate(
        [people.numbers[groups == g] - people.numbers[groups == g].mean(axis=0) for g in range(5)]
    )
    covariance = within.T @ within / (30 - 5)
    expected = 0.0
    for numbers, code in zip(records.numbers, records.codes[0], strict=True):
        density = 0.0
        for g in range(5):
            mates = groups == g
            mean = people.numbers[mates].mean(axis=0)
            share = max((people.codes[0][mates] == code).mean(), 1e-3)
            density += mates.mean() * share * multivariate_normal(mean, covariance).pdf(numbers)
        expected += np.log(density)
    assert GroupLaw.of(people, groups).log_likelihood(records) == pytest.approx(expected)


def test_large_tables_are_not_cut_for_every_key(
    frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swap, "TRIALS", 1)
    monkeypatch.setattr(swap, "MOST_PEOPLE", 59)
    results = attack(frame, Avatarizer(k=5, seed=1), scenario="swap").results
    (none,) = [r for r in results if r.rate is None]
    assert (none.estimator, none.reasons[0].key) == ("keys-guessed", "too_many_to_swap")
    assert {r.estimator for r in results if r.rate is not None} == {"key-known", "key-secret"}


def test_it_is_repeated_with_its_seed(frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap, "TRIALS", 3)
    made = Avatarizer(k=3, method="smoothed", seed=1)
    first, again = (attack(frame, made, scenario="swap", seed=2) for _ in range(2))
    assert first.results == again.results


def test_other_generators_can_not_be_simulated(frame: pl.DataFrame) -> None:
    (none,) = attack(frame, Releases([frame] * 101), scenario="swap").results
    assert none.reasons == (Reason("only_avatarizer"),)
