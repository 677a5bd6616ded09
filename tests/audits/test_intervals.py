"""Intervals of a rate, against independent implementations and the definition."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from sosie.audits.intervals import clopper_pearson_upper, median_interval, wilson
from sosie.errors import InputError

TRIALS = [(0, 1), (1, 1), (0, 50), (3, 50), (50, 50), (1887, 2139), (17, 1_000_000)]


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("successes", "n"), TRIALS)
def test_wilson_equals_scipy(successes: int, n: int, level: float) -> None:
    expected = binomtest(successes, n).proportion_ci(level, method="wilson")
    assert wilson(successes, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), TRIALS)
def test_upper_bound_equals_scipy_and_its_definition(successes: int, n: int) -> None:
    upper = clopper_pearson_upper(successes, n)
    expected = binomtest(successes, n, alternative="less").proportion_ci(0.95, method="exact")
    assert upper == pytest.approx(expected.high, rel=1e-9)
    if successes < n:
        assert binom.cdf(successes, n, upper) == pytest.approx(0.05, rel=1e-6)


def test_shared_hits_fall_between_whole_ones() -> None:
    assert wilson(3, 20) < wilson(3.5, 20) < wilson(4, 20)
    assert (
        clopper_pearson_upper(3, 20) < clopper_pearson_upper(3.5, 20) < clopper_pearson_upper(4, 20)
    )


@pytest.mark.parametrize(
    ("successes", "n", "level"), [(0, 0, 0.95), (-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0)]
)
def test_arguments_out_of_range_are_errors(successes: int, n: int, level: float) -> None:
    for interval in (wilson, clopper_pearson_upper):
        with pytest.raises(InputError):
            interval(successes, n, level)


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (10, 2), (100, 40), (2139, 1024)])
def test_median_interval_has_the_ranks_of_the_binomial_law(n: int, rank: int) -> None:
    values = np.random.default_rng(0).permutation(np.arange(1, n + 1))
    assert median_interval(values) == (rank, n + 1 - rank)
    assert binom.cdf(rank - 1, n, 0.5) <= 0.025 < binom.cdf(rank, n, 0.5)


def test_a_few_values_hold_no_interval_of_the_median() -> None:
    assert median_interval(np.arange(5)) is None
    with pytest.raises(InputError, match="level"):
        median_interval(np.arange(50), level=1)
