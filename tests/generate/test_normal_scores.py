"""Normal scores against scipy's ranks and quantiles, spikes, and the extremes left out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from sosie.compute.arrays import Floats
from sosie.generate.normal_scores import PART, NormalScores, runs_of

RNG = np.random.default_rng(0)
COLUMNS = {
    "reals": RNG.normal(size=500),
    "whole": np.rint(RNG.normal(50, 12, 500)),
    "ties": np.rint(RNG.normal(0, 30, 500)) * 0.5,
    "far apart": RNG.normal(size=500) * 1e12,
    "negative": -np.exp(RNG.normal(size=500)),
    "tiny": RNG.normal(size=500) * 1e-300,
}


@pytest.fixture(params=COLUMNS, ids=str)
def values(request: pytest.FixtureRequest) -> Floats:
    return COLUMNS[request.param]


def test_scores_are_quantiles_of_mean_ranks(values: Floats) -> None:
    made = NormalScores.of(values, least=5)
    assert made.spike is None
    assert made.scored.all()
    wanted = norm.ppf((rankdata(values) - 0.5) / len(values))
    assert made.scores.tolist() == wanted.astype(np.float32).tolist()


def test_back_is_the_value_for_all_but_the_extremes(values: Floats) -> None:
    made = NormalScores.of(values, least=5)
    ordered = np.sort(values)
    low, high = ordered[4], ordered[-5]
    back = made.back(norm.ppf((rankdata(values) - 0.5) / len(values)))
    # A value that several share has their mean rank, which may fall between order statistics.
    np.testing.assert_allclose(back, np.clip(values, low, high), rtol=1e-9, atol=0)
    assert made.back(np.array([-40.0, 40.0])).tolist() == [low, high]


def test_back_interpolates_between_order_statistics() -> None:
    made = NormalScores.of(np.array([1.0, 2.0, 4.0, 8.0]), least=1)
    quarters = norm.ppf([0.25, 0.5, 0.75])
    np.testing.assert_allclose(made.back(quarters), [1.5, 3.0, 6.0], rtol=1e-12)


@pytest.mark.parametrize("least", [1, 2, 5, 20])
def test_extremes_are_replaced_by_the_least_th(least: int) -> None:
    values = RNG.permutation(np.arange(100.0) ** 2)
    made = NormalScores.of(values, least)
    ordered = np.sort(values)
    wanted = np.clip(ordered, ordered[least - 1], ordered[-least])
    assert made.ordered.tolist() == wanted.tolist()


def test_an_extreme_that_enough_share_stays() -> None:
    values = np.concatenate([np.arange(100.0), [100.0] * 5, [-1.0] * 4])
    made = NormalScores.of(values, least=5)
    assert made.ordered[-1] == 100.0
    assert made.ordered[0] == 0.0


def test_few_values_leave_only_the_middle() -> None:
    """With fewer than two times `least` values nothing else is shared by enough people."""
    odd = NormalScores.of(np.array([1.0, 5.0, 9.0]), least=5)
    assert odd.ordered.tolist() == [5.0, 5.0, 5.0]
    even = NormalScores.of(np.array([1.0, 5.0, 9.0, 11.0]), least=20)
    assert even.ordered.tolist() == [5.0, 5.0, 9.0, 9.0]


@pytest.mark.parametrize(
    ("held", "rows", "least", "spike"),
    [(10, 100, 5, True), (9, 100, 5, False), (4, 20, 5, False), (5, 20, 5, True), (1, 4, 1, False)],
)
def test_a_spike_is_held_by_a_tenth_and_by_enough(
    held: int, rows: int, least: int, spike: bool
) -> None:
    values = np.concatenate([np.zeros(held), np.arange(1.0, rows - held + 1)])
    made = NormalScores.of(values, least)
    assert made.spike == (0.0 if spike else None)
    assert made.scored.tolist() == [not spike or value != 0 for value in values]


def test_a_tenth_is_of_all_rows_missing_included() -> None:
    values = np.concatenate([np.zeros(9), np.arange(1.0, 50.0), np.full(42, np.nan)])
    assert NormalScores.of(values, 5).spike is None
    assert NormalScores.of(values[:90], 5).spike == 0.0


def test_scores_are_made_off_the_spike_and_the_missing() -> None:
    rest = RNG.normal(size=60)
    values = RNG.permutation(np.concatenate([rest, np.full(30, 7.0), np.full(10, np.nan)]))
    made = NormalScores.of(values, 5)
    off = np.isfinite(values) & (values != 7.0)
    assert made.spike == 7.0
    assert np.array_equal(made.scored, off)
    assert (made.scores[~off] == 0).all()
    wanted = norm.ppf((rankdata(values[off]) - 0.5) / 60)
    assert made.scores[off].tolist() == wanted.astype(np.float32).tolist()
    assert 7.0 not in made.ordered


def test_the_commonest_of_two_is_the_spike_and_the_lower_on_ties() -> None:
    values = np.concatenate([np.zeros(20), np.full(30, 5.0), np.arange(10.0, 60.0)])
    assert NormalScores.of(values, 5).spike == 5.0
    tied = np.concatenate([np.full(20, 5.0), np.zeros(20), np.arange(10.0, 60.0)])
    assert NormalScores.of(tied, 5).spike == 0.0


def test_a_constant_column_is_all_spike() -> None:
    made = NormalScores.of(np.full(10, 3.5), 5)
    assert made.spike == 3.5
    assert made.back(np.array([0.0, 1.0])).tolist() == [3.5, 3.5]


def test_nothing_present_gives_nothing_back() -> None:
    made = NormalScores.of(np.full(4, np.nan), 5)
    assert made.spike is None
    assert np.isnan(made.back(np.zeros(2))).all()


def check_runs(values: Floats) -> None:
    """Against NumPy's distinct values."""
    runs = runs_of(values)
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    parts = list(runs.parts())
    assert np.concatenate([parts[0][:1], *(part[1:] for part in parts)]).tolist() == [0, *ends]
    assert all(one[-1] == next_[0] for one, next_ in pairwise(parts))
    assert runs.at(np.arange(len(values))).tolist() == np.sort(values).tolist()
    assert runs.longest() == (ends[counts.argmax()] - counts.max(), ends[counts.argmax()])
    first = np.empty(len(values), dtype=np.int64)
    runs.give(lambda bounds: bounds[:-1], first)
    assert first.tolist() == (ends - counts)[index].tolist()


def test_runs_are_those_of_equal_values(values: Floats) -> None:
    for some in (values, values[:1], np.concatenate([values, values[::2]])):
        check_runs(some)


@pytest.mark.parametrize("offset", [0.0, 2.0**52, -(2.0**53), 0.5, 1e300])
def test_runs_are_counted_or_sorted(offset: float) -> None:
    check_runs(np.array([3.0, 1.0, 3.0, 7.0]) + offset)


@pytest.mark.parametrize("divisor", [1.0, 2.0, 3e5])
def test_runs_are_looked_at_in_parts(divisor: float) -> None:
    """More rows than a part, and a run that crosses its end."""
    values = RNG.integers(0, 3_000, 2 * PART + 5) / divisor
    check_runs(values)
    check_runs(np.where(values < 1_500 / divisor, 0.3, values + RNG.random(len(values))))
