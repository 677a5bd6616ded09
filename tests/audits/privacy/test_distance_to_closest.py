"""Distance to closest: every distance, and five avatars by hand."""

import numpy as np
import pytest
from comparison_cases import distances, line

from sosie.audits.comparison import Comparison
from sosie.audits.privacy.distance_to_closest import distance_to_closest


def test_distances_equal_brute_force(comparison: Comparison) -> None:
    away = distances(comparison.avatar_points, comparison.original_points).min(axis=1)
    strangers = distances(comparison.holdout_points, comparison.original_points).min(axis=1)
    closest = distance_to_closest(comparison)
    assert closest.value == pytest.approx(np.median(away), abs=1e-6)
    assert closest.detail["percentile_5"] == pytest.approx(np.percentile(away, 5), abs=1e-6)
    assert closest.control == pytest.approx(np.median(strangers), abs=1e-6)


def test_five_avatars_of_twelve_people() -> None:
    """By hand: the standard deviation of 0 to 11 is 3.4521; no alignment is needed."""
    people = line(*range(12))
    avatars = line(0.1, 3.2, 5.3, 7.4, 9.5)
    assert distance_to_closest(people, avatars).value == pytest.approx(
        0.3 / np.std(np.arange(12.0))
    )
