"""Histograms: distances worked by hand."""

import numpy as np
import pytest

from sosie.audits.histograms import hellinger_distance


def test_the_distance_by_hand() -> None:
    one, other = np.array([3.0, 1, 0]), np.array([1.0, 1, 2])
    overlap = np.sqrt(3 / 4 * 1 / 4) + np.sqrt(1 / 4 * 1 / 4)
    assert hellinger_distance(one, other) == pytest.approx(np.sqrt(1 - overlap))
    assert hellinger_distance(one, 5 * one) == pytest.approx(0, abs=1e-8)
    assert hellinger_distance(np.array([1.0, 0]), np.array([0.0, 7])) == 1
