"""Linkability: values worked by hand, brute force over ties, controls, the leak dial."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import dial, distances, people
from numpy.typing import NDArray

from sosie.audits.comparison import Comparison
from sosie.audits.intervals import above_control, wilson
from sosie.audits.privacy.linkability import correlation_protection_rate, linkability
from sosie.audits.results import NO_HOLDOUT, TOO_FEW_COLUMNS
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.latent.famd import FAMD

KNOWN = ["age", "sex", "stage"]
REST = ["weight", "marker", "smoker"]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    originals = people()
    avatars = Avatarizer(k=5, seed=1).fit(originals).release()
    return Comparison.of(originals, avatars, holdout=people(60, seed=2))


def _space(comparison: Comparison, names: list[str]) -> list[NDArray[np.float64]]:
    famd = FAMD.fit(comparison.originals.select(names))
    assert comparison.holdout is not None
    tables = (comparison.originals, comparison.avatars, comparison.holdout)
    return [famd.transform(table) for table in tables]


def _nearest(away: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chance of each column to be drawn as the nearest of each row."""
    tied = away == away.min(axis=1, keepdims=True)  # equal points are equally far, to the last bit
    return tied / tied.sum(axis=1, keepdims=True)


def test_columns_of_a_split_have_a_space_of_their_own(comparison: Comparison) -> None:
    for names in (KNOWN, REST, ["sex"], ["weight"]):
        alone = FAMD.fit(comparison.originals.select(names))
        found = comparison.space(names)
        assert found.transform(comparison.avatars) == pytest.approx(
            alone.transform(comparison.avatars), abs=1e-9
        )


def test_correlation_protection_equals_brute_force(comparison: Comparison) -> None:
    x, y, h = zip(*(_space(comparison, names) for names in (KNOWN, REST)), strict=True)
    draw = _nearest(distances(x[0], y[0]))  # person -> avatar
    back = _nearest(distances(y[1], x[1]))  # avatar -> person
    linked = np.einsum("ij,ji->i", draw, back)
    metric = correlation_protection_rate(comparison, known=KNOWN)
    assert metric.value == pytest.approx(100 * (1 - linked.mean()))
    assert metric.per_person()["linked"].to_numpy() == pytest.approx(linked)
    assert metric.detail["groups"] == [KNOWN, REST]
    low, high = wilson(linked.sum(), len(linked))
    assert metric.ci == pytest.approx((100 * (1 - high), 100 * (1 - low)))
    pool = np.vstack([h[1], x[1][len(h[1]) :]])  # as many to choose from
    strangers = np.einsum(
        "ij,ji->i", _nearest(distances(h[0], y[0])), _nearest(distances(y[1], pool))[:, : len(h[0])]
    )
    assert metric.control == pytest.approx(100 * (1 - strangers.mean()))


def test_linkability_equals_brute_force(comparison: Comparison) -> None:
    x, y, h = zip(*(_space(comparison, names) for names in (KNOWN, REST)), strict=True)

    def reunited(halves: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
        one, other = (_nearest(distances(half, made)) for half, made in zip(halves, y, strict=True))
        return np.asarray((one * other).sum(axis=1))

    attack, control = reunited(x), reunited(h)
    metric = linkability(comparison, known=KNOWN)
    assert metric.detail["attack"] == pytest.approx(100 * attack.mean())
    assert metric.control == pytest.approx(100 * control.mean())
    risk, interval = above_control(attack.sum(), len(attack), control.sum(), len(control))
    assert metric.value == pytest.approx(100 * risk)
    assert metric.ci == pytest.approx((100 * interval[0], 100 * interval[1]))


def test_every_other_column_is_known_unless_told(comparison: Comparison) -> None:
    names = list(comparison.originals.names)
    assert linkability(comparison).detail["groups"] == [names[::2], names[1::2]]


def test_linkability_without_control_has_no_value(comparison: Comparison) -> None:
    alone = Comparison(comparison.originals, comparison.avatars)
    metric = linkability(alone)
    assert (metric.value, metric.reason) == (None, NO_HOLDOUT)
    assert metric.detail["attack"] == linkability(comparison).detail["attack"]
    assert correlation_protection_rate(alone).value is not None


def test_no_evidence_of_leakage_is_no_failure() -> None:
    found = Comparison.of(people(), people(seed=5), holdout=people(100, seed=6))
    metric = linkability(found)
    assert metric.value == pytest.approx(0, abs=3)
    assert metric.ci is not None
    assert metric.ci[0] < 0 < metric.ci[1]


def test_a_control_that_is_always_right_leaves_nothing_above() -> None:
    one = pl.DataFrame({"x": [float(i) for i in range(20)]}).with_columns(y=-pl.col("x"))
    metric = linkability(one, one, holdout=one)
    assert (metric.value, metric.control) == (None, 100)
    assert metric.reason == "the control is always right, so that nothing can be above it."


def test_one_column_can_not_be_split() -> None:
    one = pl.DataFrame({"x": [float(i) for i in range(20)]})
    assert linkability(one, one).reason == TOO_FEW_COLUMNS
    assert correlation_protection_rate(one, one).reason == TOO_FEW_COLUMNS


@pytest.mark.parametrize(
    ("known", "words"),
    [(["agee"], "no column 'agee'"), ([], "not none and not all"), (KNOWN + REST, "not none")],
)
def test_known_columns_are_checked(comparison: Comparison, known: list[str], words: str) -> None:
    for metric in (linkability, correlation_protection_rate):
        with pytest.raises(InputError, match=words):
            metric(comparison, known=known)


def test_order_of_the_rows_leaks_nothing() -> None:
    # Every avatar is as near as every other: aligned or not, nobody is found by their row.
    levels = pl.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v", "v", "u"] * 25})
    found = Comparison.of(levels, levels.reverse(), holdout=levels)
    same = Comparison.of(levels, levels, holdout=levels)
    for metric in (linkability, correlation_protection_rate):
        assert metric(same).value == pytest.approx(metric(found).value)
        assert metric(same).control == pytest.approx(metric(found).control)


@pytest.fixture(scope="module")
def dialled() -> list[Comparison]:
    originals = people(300)
    return [
        Comparison.of(originals, avatars, holdout=people(100, seed=3))
        for avatars in dial(originals, people(300, seed=9))
    ]


@pytest.mark.parametrize("metric", [correlation_protection_rate, linkability])
def test_the_leak_dial_moves_each_metric_one_way(metric, dialled) -> None:  # type: ignore[no-untyped-def]
    found = [metric(comparison) for comparison in dialled]
    values = np.array([result.value for result in found])
    if found[0].direction == "lower":
        values = -values
    # A stranger's nearest avatar moves too: the control wavers, by less than one percent.
    assert (np.diff(values) <= 1).all(), values
    assert values[0] - values[-1] > 50
