"""Propensity: another library's model, labels permuted, and the law that is right."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import people
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sosie.audits.comparison import Comparison
from sosie.audits.reasons import TOO_FEW_PEOPLE
from sosie.audits.utility import propensity as module
from sosie.audits.utility.propensity import propensity

Points = NDArray[np.float64]


def normal(rows: int, rng: np.random.Generator) -> Points:
    """People of two numbers that are linked."""
    return rng.normal(size=(rows, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])


def drawn(points: Points, rows: int, rng: np.random.Generator) -> Points:
    """Avatars from the right law: the Gaussian with the means and covariances of the people."""
    return rng.multivariate_normal(points.mean(axis=0), np.cov(points.T, ddof=0), rows)


def frame(points: Points) -> pl.DataFrame:
    return pl.DataFrame(points, schema=["x", "y"])


def features_of(comparison: Comparison) -> Points:
    points = np.vstack([comparison.original_points, comparison.avatar_points])
    polynomials = PolynomialFeatures(2, include_bias=False).fit_transform(points)
    return np.asarray(StandardScaler().fit_transform(polynomials))


def error_of(features: Points, labels: NDArray[np.bool_]) -> float:
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1_000).fit(features, labels)
    return float(np.square(model.predict_proba(features)[:, 1] - labels.mean()).mean())


def test_the_error_is_that_of_another_library() -> None:
    comparison = Comparison.of(people(400), people(500, seed=2))
    labels = np.repeat([False, True], [400, 500])
    metric = propensity(comparison)
    assert metric.detail["slopes"] == 20
    assert metric.detail["pmse"] == pytest.approx(
        error_of(features_of(comparison), labels), rel=1e-3
    )


def test_what_is_expected_agrees_with_labels_permuted() -> None:
    """Permuted, originals vary as much as avatars: 1 / (1 - c) times what Snoke expects."""
    rng = np.random.default_rng(0)
    comparison = Comparison.of(frame(normal(300, rng)), frame(normal(600, rng)))
    detail = propensity(comparison).detail
    features, labels = features_of(comparison), np.repeat([False, True], [300, 600])
    errors = np.array([error_of(features, rng.permutation(labels)) for _ in range(300)])
    share = 2 / 3
    assert detail["another_sample"] == pytest.approx(1 / (1 - share))
    expected = detail["expected"] / (1 - share)
    deviation = expected * np.sqrt(2 / detail["slopes"])
    # Three standard errors, and a share q / N of what holds for many rows only.
    assert errors.mean() == pytest.approx(expected, abs=3 * deviation / np.sqrt(300), rel=0.01)
    assert errors.std() == pytest.approx(deviation, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 3])
def test_the_right_law_scores_one_and_another_sample_more(times: int) -> None:
    rng = np.random.default_rng(1)
    right, other, standardised = [], [], []
    for _ in range(150):
        points = normal(300, rng)
        for values, records in (
            (right, drawn(points, 300 * times, rng)),
            (other, normal(300 * times, rng)),
        ):
            metric = propensity(frame(points), frame(records))
            assert metric.value is not None
            values.append(metric.value)
            if values is right:
                standardised.append(metric.detail["standardised"])
    # Of 5 slopes a ratio has the standard deviation sqrt(2 / 5): three standard errors.
    error = 3 * np.sqrt(2 / 5 / 150)
    assert np.mean(right) == pytest.approx(1, abs=error)
    assert np.mean(other) == pytest.approx(1 + times, abs=error * (1 + times))
    assert np.mean(standardised) == pytest.approx(0, abs=3 / np.sqrt(150))
    assert np.std(standardised) == pytest.approx(1, abs=0.3)


def test_lost_links_and_lost_spread_are_seen() -> None:
    rng = np.random.default_rng(2)
    points = normal(500, rng)
    unlinked = np.column_stack([points[:, 0], rng.permutation(points[:, 1])])
    narrow = points.mean(axis=0) + 0.7 * (points - points.mean(axis=0))
    for records in (unlinked, narrow):
        value = propensity(frame(points), frame(records)).value
        assert value is not None
        assert value > 5


def test_tables_without_anything_in_common_are_told_apart() -> None:
    far = frame(normal(200, np.random.default_rng(3)) + 50)
    detail = propensity(frame(normal(200, np.random.default_rng(4))), far).detail
    assert detail["pmse"] == pytest.approx(1 / 4, rel=1e-3)  # every p is 0 or 1


def test_above_a_size_rows_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 150)
    metric = propensity(people(300), people(300, seed=2))
    assert metric.detail["sample"] == 300
    assert propensity(people(100), people(100, seed=2)).reason == TOO_FEW_PEOPLE
