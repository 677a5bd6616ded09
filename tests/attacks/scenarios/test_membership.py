"""Membership by likelihood ratio: the ratio of two Gaussians, and what it finds of whom."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal, norm

from sosie.attacks import Releases, attack
from sosie.attacks.scenarios import membership
from sosie.attacks.scenarios.membership import halves_of, log_ratios, true_positives
from sosie.audits.ranking import area_under_curve
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer


@pytest.fixture
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(rng.normal(size=(120, 3)), schema=["a", "b", "c"])


def test_each_person_takes_part_in_half_of_the_tables() -> None:
    members = halves_of(31, 8, np.random.default_rng(0))
    assert set(members.sum(axis=0)) == {4}
    assert not np.array_equal(members[0], members[2])


def test_the_score_is_the_log_ratio_of_two_gaussians() -> None:
    """Where everyone's effect is their own, it is drawn towards nobody's: scipy gives the ratio."""
    rng = np.random.default_rng(1)
    members = halves_of(400, 16, rng)
    effects = rng.normal(0, 30, (400, 2))  # far above chance: nothing is drawn to the mean
    seen = rng.normal(size=(16, 400, 2)) + members[:, :, None] * effects
    scores = log_ratios(seen, members)
    others, took_part = seen[1:], members[1:]
    inside = np.array([others[took_part[:, i], i].mean(axis=0) for i in range(400)])
    outside = np.array([others[~took_part[:, i], i].mean(axis=0) for i in range(400)])
    around = others - np.where(took_part[:, :, None], inside, outside)
    flat = around.reshape(-1, 2)
    covariance = flat.T @ flat / (len(flat) - 2 * 400)
    for person in range(0, 400, 40):
        one, other = (
            multivariate_normal(mean[person], covariance).logpdf(seen[0, person])
            for mean in (inside, outside)
        )
        assert scores[0, person] == pytest.approx(one - other, rel=0.02, abs=0.5)


def test_true_positives_are_counted_above_one_stranger_in_a_hundred() -> None:
    rng = np.random.default_rng(2)
    members = halves_of(50, 10, rng)
    scores = rng.normal(size=members.shape)
    found = true_positives(scores, members)
    strangers = sorted(scores[~members])
    assert len(strangers) == 250
    threshold = strangers[-3]  # two of 250 are above
    by_hand = [
        np.mean([scores[t, i] > threshold for t in range(10) if members[t, i]]) for i in range(50)
    ]
    assert found == pytest.approx(by_hand)


def test_effects_that_chance_explains_are_everyone_s() -> None:
    """All have the same effect: only the middle of the two means is left to chance.

    It has the variance of a mean over 15 tables, so the area is that of two Gaussians 1.5 apart
    with variance 1 + 1/15. Effects of their own would add noise and turn some people around.
    """
    rng = np.random.default_rng(3)
    members = halves_of(2_000, 16, rng)
    seen = rng.normal(size=(16, 2_000, 1)) + 1.5 * members[:, :, None]
    scores = log_ratios(seen, members)
    area = area_under_curve(scores[members], scores[~members])
    assert area == pytest.approx(norm.cdf(1.5 / np.sqrt(2 * (1 + 1 / 15))), abs=0.005)


def test_barycentres_of_two_give_members_away_and_groups_of_ten_hardly(
    frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "TABLES", 12)
    made = Avatarizer(k=2, components=3, method="barycentre", seed=1)
    near = {r.estimator: r for r in attack(frame, made, scenario="membership").results}
    assert set(near) == {"distance", "likelihood-ratio"}
    groups = attack(frame, Avatarizer(k=10, seed=1), scenario="membership").results
    far = {r.estimator: r for r in groups}
    assert set(far) == {"distance", "likelihood-ratio", "ratio-key-known"}
    for one in (*near.values(), *far.values()):
        assert one.chance == 1
        assert one.targets == 120
    ratio, hidden = near["likelihood-ratio"], far["likelihood-ratio"]
    assert ratio.ci is not None
    assert ratio.ci[0] > 1
    assert ratio.area is not None
    assert hidden.area is not None
    assert ratio.area > hidden.area
    assert ratio.to_dict()["area"] == round(ratio.area, 4)


def test_too_few_people_are_a_reason(frame: pl.DataFrame) -> None:
    (none,) = attack(frame.head(60), Avatarizer(k=5, seed=1), scenario="membership").results
    assert none.rate is None
    assert none.reasons == (Reason("too_few_strangers", {"n": 60, "least": 100}),)


def test_half_of_the_people_too_few_for_k_is_a_reason(frame: pl.DataFrame) -> None:
    (none,) = attack(frame, Avatarizer(k=61, seed=1), scenario="membership").results
    assert none.rate is None
    assert none.reasons


def test_other_generators_can_not_be_fitted_to_other_tables(frame: pl.DataFrame) -> None:
    (none,) = attack(frame, Releases([frame] * 101), scenario="membership").results
    assert none.reasons == (Reason("only_avatarizer"),)
