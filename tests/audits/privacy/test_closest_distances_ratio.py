"""Closest distances ratio: every distance, copies, a single original."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import distances, line, people

from sosie.audits.comparison import Comparison
from sosie.audits.privacy.closest_distances_ratio import closest_distances_ratio
from sosie.audits.reasons import (
    TWO_ORIGINALS,
)


def test_ratios_equal_brute_force(comparison: Comparison) -> None:
    away = np.sort(distances(comparison.avatar_points, comparison.original_points), axis=1)
    strangers = np.sort(distances(comparison.holdout_points, comparison.original_points), axis=1)
    ratio = closest_distances_ratio(comparison)
    assert ratio.value == pytest.approx(np.median(away[:, 0] / away[:, 1]), abs=1e-6)
    assert ratio.control == pytest.approx(np.median(strangers[:, 0] / strangers[:, 1]), abs=1e-6)


def test_five_avatars_of_twelve_people() -> None:
    people, avatars = line(*range(12)), line(0.1, 3.2, 5.3, 7.4, 9.5)
    assert closest_distances_ratio(people, avatars).value == pytest.approx(0.3 / 0.7)


def test_a_copy_is_never_perfect() -> None:
    twins = line(*(v for v in range(20) for _ in range(2)))
    assert closest_distances_ratio(twins, twins).value == 0  # d1 = d2 = 0
    two = pl.DataFrame({"g": ["a", "b"]})
    assert closest_distances_ratio(two, two).value == 0


def test_one_original_has_no_second() -> None:
    comparison = Comparison.of(people(200), people(10))
    alone = Comparison(comparison.originals.take(np.array([0])), comparison.avatars)
    metric = closest_distances_ratio(alone)
    assert (metric.value, metric.reason) == (None, TWO_ORIGINALS)
