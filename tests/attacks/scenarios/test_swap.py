"""Which of two people was in the table: found where an avatar is its person, a coin elsewhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sosie.attacks import Releases, attack
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
    ]


def test_it_is_repeated_with_its_seed(frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap, "TRIALS", 3)
    made = Avatarizer(k=3, method="smoothed", seed=1)
    first, again = (attack(frame, made, scenario="swap", seed=2) for _ in range(2))
    assert first.results == again.results


def test_other_generators_can_not_be_simulated(frame: pl.DataFrame) -> None:
    (none,) = attack(frame, Releases([frame] * 101), scenario="swap").results
    assert none.reasons == (Reason("only_avatarizer"),)
