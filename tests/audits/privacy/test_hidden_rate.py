"""Hidden rate: by hand, ties, every distance."""

import numpy as np
import pytest
from comparison_cases import distances, line

from sosie.audits.comparison import Comparison
from sosie.audits.distances import TIE
from sosie.audits.intervals import wilson
from sosie.audits.privacy.hidden_rate import hidden_rate


def test_the_rate_by_hand() -> None:
    originals = line(*range(12))
    avatars = line(1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.6)
    # 0 and 1 are nearest to each other's avatar; 11 is nearest to its own.
    assert hidden_rate(originals, avatars).value == pytest.approx(100 * 2 / 12)
    assert hidden_rate(originals, avatars).per_person()["hit"].to_list() == [0, 0] + [1] * 10


def test_ties_share_the_hit() -> None:
    originals = line(0, 0, 0, *range(5, 20))
    assert hidden_rate(originals, originals).per_person()["hit"][:4].to_list() == pytest.approx(
        [1 / 3] * 3 + [1]
    )
    near = line(0, 1e-11, 0, *range(5, 20))  # within a relative 1e-9 of nothing: not a tie with 0
    assert hidden_rate(originals, near).per_person()["hit"][:3].to_list() == [0.5, 0, 0.5]


def test_the_rate_equals_brute_force(comparison: Comparison) -> None:
    away = distances(comparison.original_points, comparison.avatar_points)
    tied = away <= away.min(axis=1)[:, None] * (1 + TIE)
    rate = hidden_rate(comparison)
    assert rate.value == pytest.approx(100 * (1 - (np.diagonal(tied) / tied.sum(axis=1)).mean()))
    hits = 200 * (1 - rate.value / 100)
    low, high = wilson(hits, 200)
    assert rate.ci == pytest.approx((100 * (1 - high), 100 * (1 - low)))
