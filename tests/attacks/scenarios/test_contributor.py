"""Whose row weighs most: the weights are those of the generator, and chance is one in all."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sosie.attacks import Releases, attack
from sosie.attacks.groups import members_of
from sosie.attacks.scenarios.contributor import heaviest
from sosie.attacks.sources import AvatarSource
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer

PEOPLE = 120


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return pl.DataFrame(rng.normal(size=(PEOPLE, 3)), schema=["a", "b", "c"])


def test_the_heaviest_is_the_neighbour_whose_weight_rebuilds_the_record(
    frame: pl.DataFrame,
) -> None:
    """Of two neighbours in three dimensions the weights are solved for, record by record."""
    made = Avatarizer(k=2, components=3, method="barycentre", seed=1).fit(frame)
    people, records = frame.to_numpy(), made.release(4, shuffle=False).to_numpy()
    named = heaviest(AvatarSource(made), 4)
    near = made.fitted.neighbours.rows
    for person in range(PEOPLE):
        pair = people[near[person]]
        line = pair[1] - pair[0]
        along = float((records[person] - pair[0]) @ line / (line @ line))
        assert np.abs(pair[0] + along * line - records[person]).max() < 1e-6
        if abs(along - 0.5) > 1e-6:
            assert named[person] == near[person][int(along > 0.5)]


@pytest.mark.parametrize("method", ["barycentre", "smoothed"])
def test_the_nearest_is_often_the_heaviest_and_chance_is_one_in_all(
    frame: pl.DataFrame, method: str
) -> None:
    (found,) = attack(
        frame, Avatarizer(k=4, components=3, method=method, seed=1), scenario="contributor"
    ).results
    assert found.chance == pytest.approx(100 / PEOPLE)
    assert found.bound is None
    assert found.ci is not None
    assert found.ci[0] > found.chance


def test_in_a_group_nobody_weighs_more_than_another(frame: pl.DataFrame) -> None:
    made = Avatarizer(k=5, seed=1).fit(frame)
    (found,) = attack(frame, made, scenario="contributor").results
    smallest = np.bincount(members_of(made)).min()
    assert found.bound == pytest.approx(100 / smallest)
    assert found.rate is not None
    assert found.rate <= found.bound


def test_other_generators_do_not_tell_their_weights(frame: pl.DataFrame) -> None:
    (none,) = attack(frame, Releases([frame] * 101), scenario="contributor").results
    assert none.rate is None
    assert none.reasons == (Reason("weights_unknown"),)
