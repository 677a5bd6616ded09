"""Linkability: brute force over ties, controls, the order of rows, the leak dial."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import KNOWN, REST, distances, drawn_nearest, people, space_of
from numpy.typing import NDArray

from sosie.audits.comparison import Comparison
from sosie.audits.intervals import above_control
from sosie.audits.privacy.linkability import linkability
from sosie.audits.reasons import NO_HOLDOUT, TOO_FEW_COLUMNS
from sosie.errors import InputError


def test_linkability_equals_brute_force(comparison: Comparison) -> None:
    x, y, h = zip(*(space_of(comparison, names) for names in (KNOWN, REST)), strict=True)

    def reunited(halves: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
        one, other = (
            drawn_nearest(distances(half, made)) for half, made in zip(halves, y, strict=True)
        )
        return np.asarray((one * other).sum(axis=1))

    attack, control = reunited(x), reunited(h)
    metric = linkability(comparison, known=KNOWN)
    assert metric.detail["attack"] == pytest.approx(100 * attack.mean())
    assert metric.control == pytest.approx(100 * control.mean())
    risk, interval = above_control(attack.sum(), len(attack), control.sum(), len(control))
    assert metric.value == pytest.approx(100 * risk)
    assert metric.ci == pytest.approx((100 * interval[0], 100 * interval[1]))


def test_linkability_without_control_has_no_value(comparison: Comparison) -> None:
    alone = Comparison(comparison.originals, comparison.avatars)
    metric = linkability(alone)
    assert (metric.value, metric.reason) == (None, NO_HOLDOUT)
    assert metric.detail["attack"] == linkability(comparison).detail["attack"]


def test_no_evidence_of_leakage_is_no_failure() -> None:
    found = Comparison.of(people(), people(seed=5), holdout=people(100, seed=6))
    metric = linkability(found)
    assert metric.value == pytest.approx(0, abs=3)
    assert metric.ci is not None
    assert metric.ci[0] < 0 < metric.ci[1]


def test_one_column_can_not_be_split() -> None:
    one = pl.DataFrame({"x": [float(i) for i in range(20)]})
    assert linkability(one, one).reason == TOO_FEW_COLUMNS


@pytest.mark.parametrize(
    ("known", "words"),
    [(["agee"], "no column 'agee'"), ([], "not none and not all"), (KNOWN + REST, "not none")],
)
def test_known_columns_are_checked(comparison: Comparison, known: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        linkability(comparison, known=known)


def test_order_of_the_rows_leaks_nothing() -> None:
    # Every avatar is as near as every other: aligned or not, nobody is found by their row.
    levels = pl.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v", "v", "u"] * 25})
    reversed_ = linkability(Comparison.of(levels, levels.reverse(), holdout=levels))
    same = linkability(Comparison.of(levels, levels, holdout=levels))
    assert same.value == pytest.approx(reversed_.value)
    assert same.control == pytest.approx(reversed_.control)


def test_the_leak_dial_moves_the_metric_one_way(dialled_aside: list[Comparison]) -> None:
    values = -np.array([linkability(comparison).value for comparison in dialled_aside])
    # A stranger's nearest avatar moves too: the control wavers, by less than one percent.
    assert (np.diff(values) <= 1).all(), values
    assert values[0] - values[-1] > 50
