"""Membership: the curve by its definition, the reference, the leak dial."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import dial, distances, people
from sklearn.metrics import roc_auc_score, roc_curve

from sosie.audits.comparison import Comparison
from sosie.audits.intervals import area_interval
from sosie.audits.privacy.membership import membership
from sosie.audits.ranking import area_under_curve
from sosie.audits.reasons import NO_HOLDOUT, TOO_FEW_PEOPLE


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    originals = people(300)
    avatars = pl.concat([originals.head(60), people(240, seed=5)])
    return Comparison.of(originals, avatars, holdout=people(400, seed=2))


def test_the_area_equals_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 8, 70).astype(float), rng.integers(0, 6, 40).astype(float)
    truth = np.repeat([1, 0], [70, 40])
    expected = roc_auc_score(truth, np.concatenate([one, other]))
    assert area_under_curve(one, other) == pytest.approx(expected)


def test_scores_equal_brute_force(comparison: Comparison) -> None:
    order = np.random.default_rng(0).permutation(400)
    reference = comparison.holdout_points[order[::2]]
    strangers = comparison.holdout_points[order[1::2]]

    def scores(points: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        away = distances(points, reference).min(axis=1)
        close = distances(points, comparison.avatar_points).min(axis=1)
        tiny = np.finfo(float).tiny
        return np.asarray(np.log(np.maximum(away, tiny) / np.maximum(close, tiny)))

    members, others = scores(comparison.original_points), scores(strangers)
    truth, every = np.repeat([1, 0], [300, 200]), np.concatenate([members, others])
    metric = membership(comparison)
    assert metric.value == pytest.approx(roc_auc_score(truth, every))
    false, true, _ = roc_curve(truth, every, drop_intermediate=False)
    assert metric.detail["true_positive_rate"] == pytest.approx(100 * true[false <= 0.01].max())
    assert metric.detail["strangers"] == metric.detail["reference"] == 200
    assert metric.ci is not None
    assert metric.ci[0] < metric.value < metric.ci[1]


def test_the_interval_holds_chance_for_independent_avatars() -> None:
    found = membership(people(300), people(300, seed=7), holdout=people(400, seed=2))
    assert found.ci is not None
    assert found.ci[0] < 0.5 < found.ci[1]


def test_the_interval_by_hand() -> None:
    """Hanley and McNeil: A = 0.8 of 5 and 7 people, Q1 = 2/3, Q2 = 32/45."""
    variance = (0.8 * 0.2 + 4 * (2 / 3 - 0.64) + 6 * (32 / 45 - 0.64)) / 35
    half = 1.96 * variance**0.5
    assert area_interval(0.8, 5, 7) == pytest.approx((0.8 - half, 1.0))
    assert 0.8 + half > 1
    assert area_interval(0.5, 50, 70)[1] - 0.5 == pytest.approx(
        1.96 * ((0.25 + 49 * (1 / 3 - 0.25) + 69 * (1 / 3 - 0.25)) / 3500) ** 0.5
    )


def test_what_is_needed_is_said() -> None:
    originals = people()
    assert membership(originals, originals).reason == NO_HOLDOUT
    few = membership(originals, originals, holdout=people(19, seed=2))
    assert few.reason == TOO_FEW_PEOPLE
    some = membership(originals, originals, holdout=people(50, seed=2))
    assert some.value == 1
    assert some.detail["true_positive_rate"] is None


def test_the_leak_dial_moves_the_metric_one_way() -> None:
    originals, holdout = people(300), people(300, seed=3)
    values = [
        membership(originals, avatars, holdout=holdout).value
        for avatars in dial(originals, people(300, seed=9))
    ]
    assert (np.diff(np.array(values, dtype=float)) >= -0.01).all(), values
    assert values[-1] == 1
