"""Correlation protection rate: brute force over ties, the order of rows, the leak dial."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import KNOWN, REST, distances, drawn_nearest, space_of

from sosie.audits.comparison import Comparison
from sosie.audits.intervals import wilson
from sosie.audits.privacy.correlation_protection_rate import correlation_protection_rate
from sosie.audits.reasons import TOO_FEW_COLUMNS
from sosie.errors import InputError


def test_correlation_protection_equals_brute_force(comparison: Comparison) -> None:
    x, y, h = zip(*(space_of(comparison, names) for names in (KNOWN, REST)), strict=True)
    draw = drawn_nearest(distances(x[0], y[0]))  # person -> avatar
    back = drawn_nearest(distances(y[1], x[1]))  # avatar -> person
    linked = np.einsum("ij,ji->i", draw, back)
    metric = correlation_protection_rate(comparison, known=KNOWN)
    assert metric.value == pytest.approx(100 * (1 - linked.mean()))
    assert metric.per_person()["linked"].to_numpy() == pytest.approx(linked)
    assert metric.detail["groups"] == [KNOWN, REST]
    low, high = wilson(linked.sum(), len(linked))
    assert metric.ci == pytest.approx((100 * (1 - high), 100 * (1 - low)))
    pool = np.vstack([h[1], x[1][len(h[1]) :]])  # as many to choose from
    strangers = np.einsum(
        "ij,ji->i",
        drawn_nearest(distances(h[0], y[0])),
        drawn_nearest(distances(y[1], pool))[:, : len(h[0])],
    )
    assert metric.control == pytest.approx(100 * (1 - strangers.mean()))


def test_no_control_is_needed(comparison: Comparison) -> None:
    alone = Comparison(comparison.originals, comparison.avatars)
    assert correlation_protection_rate(alone).value is not None


def test_one_column_can_not_be_split() -> None:
    one = pl.DataFrame({"x": [float(i) for i in range(20)]})
    assert correlation_protection_rate(one, one).reason == TOO_FEW_COLUMNS


@pytest.mark.parametrize(
    ("known", "words"),
    [(["agee"], "no column 'agee'"), ([], "not none and not all"), (KNOWN + REST, "not none")],
)
def test_known_columns_are_checked(comparison: Comparison, known: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        correlation_protection_rate(comparison, known=known)


def test_order_of_the_rows_leaks_nothing() -> None:
    # Every avatar is as near as every other: aligned or not, nobody is found by their row.
    levels = pl.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v", "v", "u"] * 25})
    reversed_ = correlation_protection_rate(Comparison.of(levels, levels.reverse(), holdout=levels))
    same = correlation_protection_rate(Comparison.of(levels, levels, holdout=levels))
    assert same.value == pytest.approx(reversed_.value)
    assert same.control == pytest.approx(reversed_.control)


def test_the_leak_dial_moves_the_metric_one_way(dialled_aside: list[Comparison]) -> None:
    values = np.array(
        [correlation_protection_rate(comparison).value for comparison in dialled_aside]
    )
    # A stranger's nearest avatar moves too: the control wavers, by less than one percent.
    assert (np.diff(values) <= 1).all(), values
    assert values[0] - values[-1] > 50
