"""Local cloaking: by hand, every distance, beyond the nearest avatars."""

import numpy as np
import pytest
from comparison_cases import distances, line, people

from sosie.audits.comparison import Comparison
from sosie.audits.distances import TIE
from sosie.audits.privacy import local_cloaking as module
from sosie.audits.privacy.local_cloaking import local_cloaking


def test_cloaking_by_hand() -> None:
    originals = line(*range(12))
    avatars = line(1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.6)
    assert local_cloaking(originals, avatars).value == 0
    assert local_cloaking(originals, avatars).per_person()["closer"].to_list() == [1, 1] + [0] * 10


def test_cloaking_equals_brute_force(comparison: Comparison) -> None:
    away = distances(comparison.original_points, comparison.avatar_points)
    closer = (away < np.diagonal(away)[:, None] * (1 - TIE)).sum(axis=1)
    assert local_cloaking(comparison).value == np.median(closer)


@pytest.mark.parametrize("most", [20_000, 100])
def test_cloaking_counts_beyond_the_nearest(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COUNTED", most)
    monkeypatch.setattr(module, "SAMPLE", 150)
    originals = people(300)
    shuffled = originals.sample(fraction=1, shuffle=True, seed=4)
    found = Comparison.of(originals, shuffled, aligned=True)
    away = distances(found.original_points, found.avatar_points)
    closer = (away < np.diagonal(away)[:, None] * (1 - TIE)).sum(axis=1)
    metric = local_cloaking(found)
    assert metric.value is not None
    if most > 300:
        assert metric.value == np.median(closer)
        assert "sample" not in metric.detail
    else:
        assert metric.detail == {"sample": 150}
        assert metric.ci is not None
        assert metric.ci[0] <= np.median(closer) <= metric.ci[1]
