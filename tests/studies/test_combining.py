"""The rules for several releases, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

from sosie.studies.combining import combined, interval

Q = np.array([[1.0], [2.0], [6.0]])
"""Mean 3, variance 7."""

ERRORS = np.array([[1.0], [1.0], [2.0]])
"""Mean variance 2."""

NORMAL = np.full((3, 1), np.inf)


def test_fitted_releases() -> None:
    both = combined(Q, ERRORS, NORMAL, np.array([1.0, 1.0, 1.0]))
    assert both.estimates[0] == 3
    assert both.errors[0] == pytest.approx(np.sqrt(2 + 7 / 3))
    assert both.naive[0] == pytest.approx(np.sqrt(2))
    assert both.releases[0] == 3
    # Twice as many rows as the originals halve the variances on them, not the originals' own.
    twice = combined(Q, ERRORS, NORMAL, np.array([2.0, 2.0, 2.0]))
    assert twice.errors[0] == pytest.approx(np.sqrt(4 + 7 / 3))


def test_one_fitted_release() -> None:
    both = combined(Q[:1], ERRORS[:1], np.array([[5.0]]), np.array([1.0]))
    assert both.errors[0] == pytest.approx(np.sqrt(2))
    assert both.degrees[0] == 5


def test_redrawn_releases() -> None:
    both = combined(Q, ERRORS, NORMAL, np.ones(3), "redrawn")
    whole = (1 + 1 / 3) * 7
    assert both.errors[0] == pytest.approx(np.sqrt(whole - 2))
    assert both.degrees[0] == pytest.approx(2 * (1 - 2 / whole) ** 2)
    one = combined(Q[:1], ERRORS[:1], NORMAL[:1], np.ones(1), "redrawn")
    assert one.errors[0] == pytest.approx(np.sqrt(3))


def test_a_variance_below_0_has_the_non_negative_variant() -> None:
    both = combined(Q / 100, ERRORS, NORMAL, np.ones(3), "redrawn")
    assert both.errors[0] == pytest.approx(np.sqrt(2))
    assert np.isinf(both.degrees[0])


def test_copies_of_one_release_count_as_one() -> None:
    same, error = Q[[0, 0, 0]], np.ones((3, 1))
    same[1] += 1e-9  # sums in another order
    both = combined(same, error, NORMAL, np.ones(3))
    assert both.errors[0] == pytest.approx(np.sqrt(2))


def test_releases_without_an_estimate_are_left_out() -> None:
    q, errors = np.vstack([Q, [[np.nan]]]), np.vstack([ERRORS, [[np.nan]]])
    both = combined(q, errors, np.full((4, 1), np.inf), np.ones(4))
    assert both.errors[0] == pytest.approx(np.sqrt(2 + 7 / 3))
    assert both.releases[0] == 3
    nothing = combined(q[3:], errors[3:], np.full((1, 1), np.inf), np.ones(1))
    assert np.isnan(nothing.estimates[0])
    assert nothing.releases[0] == 0


def test_intervals_have_the_quantiles_of_scipy() -> None:
    low, high = interval(np.array([1.0, 1.0]), np.array([2.0, 2.0]), np.array([np.inf, 3.5]))
    assert high == pytest.approx([1 + 2 * norm.ppf(0.975), 1 + 2 * t.ppf(0.975, 3.5)])
    assert low == pytest.approx([1 - 2 * norm.ppf(0.975), 1 - 2 * t.ppf(0.975, 3.5)])
