"""Closest rate: every distance, copies, a single original."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import distances, line, people

from sosie.audits.comparison import Comparison
from sosie.audits.privacy.closest_rate import closest_rate
from sosie.audits.reasons import TWO_ORIGINALS


def test_the_rate_equals_brute_force(comparison: Comparison) -> None:
    away = np.sort(distances(comparison.avatar_points, comparison.original_points), axis=1)
    exposed = (away[:, 0] < 0.2) & (away[:, 0] / away[:, 1] < 0.3)
    assert closest_rate(comparison).value == pytest.approx(100 * (1 - exposed.mean()))


def test_copies_are_all_exposed() -> None:
    twins = line(*(v for v in range(20) for _ in range(2)))
    assert closest_rate(twins, twins).value == 0
    two = pl.DataFrame({"g": ["a", "b"]})
    assert closest_rate(two, two).value == 0


def test_one_original_has_no_second() -> None:
    comparison = Comparison.of(people(200), people(10))
    alone = Comparison(comparison.originals.take(np.array([0])), comparison.avatars)
    metric = closest_rate(alone)
    assert (metric.value, metric.reason) == (None, TWO_ORIGINALS)
