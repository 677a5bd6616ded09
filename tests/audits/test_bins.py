"""Edges of bins are round, rise, and cover what is between two values."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sosie.audits.bins import bins_of, round_edges
from sosie.data.table import Numbers, Roles, Table

MOST = 20


def numbers(series: pl.Series) -> Numbers:
    column = Table.of(pl.DataFrame({"x": series}), Roles(numeric=("x",))).column("x")
    assert isinstance(column, Numbers)
    return column


def written(series: pl.Series, most: int = MOST) -> tuple[float | str, ...]:
    column = numbers(series)
    bins = bins_of(column, float(np.nanmin(column.values)), float(np.nanmax(column.values)), most)
    assert bins is not None
    assert len(bins.written) == len(bins.edges)
    assert (np.diff(bins.edges) > 0).all()
    return bins.written


@settings(max_examples=100, deadline=None)
@given(
    st.floats(-1e300, 1e300),
    st.floats(0, 1e300),
    st.integers(1, 50),
)
def test_numbers_have_round_edges_that_cover(low: float, span: float, most: int) -> None:
    high = low + span
    edges = round_edges(low, high, most)
    if edges is None:  # floating point can't tell them apart
        assert high - low < 1e-9 * max(abs(low), abs(high)) or high - low < 1e-300
        return
    near = 1e-9 * max(abs(low), abs(high))
    assert edges[0] <= low + near
    assert edges[-1] >= high - near
    assert 2 <= len(edges) <= most + 3
    assert (np.diff(edges) > 0).all()


def test_numbers_by_hand() -> None:
    assert round_edges(0.0, 1.0, 10).tolist() == [i / 10 for i in range(11)]  # type: ignore[union-attr]
    assert round_edges(-1.0, 4.0, 2).tolist() == [-2.5, 0.0, 2.5, 5.0]  # type: ignore[union-attr]
    assert round_edges(7.0, 7.0, 20).tolist() == [7.0, 7.5]  # type: ignore[union-attr]
    assert round_edges(0.0, 0.0, 10).tolist() == [0.0, 0.1]  # type: ignore[union-attr]


def test_numbers_too_close_or_too_far() -> None:
    assert round_edges(1e6, 1e6 + 1e-10, 20) is None
    assert round_edges(-1.7e308, 1.7e308, 20) is None
    assert round_edges(5e-324, 1e-323, 20) is None
    assert round_edges(0.0, 5e-324, 1) is None


def test_whole_numbers_have_edges_between_them() -> None:
    assert written(pl.Series(range(18, 96))) == tuple(np.arange(14.5, 100, 5).tolist())
    assert written(pl.Series([0, 1, 2, 3])) == (-0.5, 0.5, 1.5, 2.5, 3.5)
    assert written(pl.Series([-7, 7]), 3) == (-10.5, -5.5, -0.5, 4.5, 9.5)
    assert written(pl.Series([5.0, 6.0, None])) == (4.5, 5.5, 6.5)


@settings(max_examples=100, deadline=None)
@given(st.integers(-(2**63), 2**64 - 1), st.integers(-(2**63), 2**64 - 1), st.integers(1, 40))
def test_whole_numbers_of_any_size(one: int, other: int, most: int) -> None:
    low, high = sorted((one, other))
    if low < 0 and high >= 2**63:
        return
    dtype = pl.Int64 if high < 2**63 else pl.UInt64
    series = pl.Series([low, high], dtype=dtype)
    edges, grain = written(series, most), numbers(series).grid.step
    (step,) = {later - edge for edge, later in itertools.pairwise(edges)}  # type: ignore[operator]
    assert int(edges[0]) <= low + 1
    assert int(edges[-1]) > high - grain  # wider than 2^53, whole numbers are counted in steps
    assert len(edges) <= most + 3
    if max(abs(low), abs(high)) > 2**53:  # counted from the smallest, which is a person's own
        assert all(isinstance(edge, int) and edge % step == 0 for edge in edges)


DATES = {
    "years": (dt.date(1931, 5, 17), dt.date(1999, 3, 2), "1930-01-01", "1935-01-01"),
    "quarters": (dt.date(2017, 2, 9), dt.date(2021, 7, 1), "2017-01-01", "2017-04-01"),
    "months": (dt.date(2019, 11, 13), dt.date(2021, 1, 30), "2019-11-01", "2019-12-01"),
    "Mondays": (dt.date(2020, 1, 8), dt.date(2020, 5, 1), "2020-01-06", "2020-01-13"),
    "days": (dt.date(2020, 1, 8), dt.date(2020, 1, 20), "2020-01-08", "2020-01-09"),
    "one day": (dt.date(2020, 1, 8), dt.date(2020, 1, 8), "2020-01-08", "2020-01-09"),
    "before the era": (dt.date(1, 1, 1), dt.date(150, 1, 1), "0001-01-01", "0010-01-01"),
    "no end": (dt.date(9999, 12, 1), dt.date(9999, 12, 31), "9999-11-29", "9999-12-06"),
}


@pytest.mark.parametrize(("low", "high", "first", "second"), DATES.values(), ids=DATES.keys())
def test_dates_start_with_round_spans(low: dt.date, high: dt.date, first: str, second: str) -> None:
    edges = written(pl.Series([low, high]))
    assert edges[:2] == (first, second)
    assert edges[-1] >= high.isoformat()  # type: ignore[operator]
    assert len(edges) <= MOST + 3


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_start_with_parts_of_a_day(unit: str) -> None:
    noon = dt.datetime(2020, 1, 8, 12, 7, 13)
    series = pl.Series([noon, noon + dt.timedelta(hours=7)], dtype=pl.Datetime(unit))  # type: ignore[arg-type]
    assert written(series)[:2] == ("2020-01-08T12:00:00", "2020-01-08T12:30:00")
    series = pl.Series([noon, noon + dt.timedelta(days=50)], dtype=pl.Datetime(unit))  # type: ignore[arg-type]
    assert written(series)[:2] == ("2020-01-06", "2020-01-13")


def test_durations_and_times_of_day() -> None:
    assert written(pl.Series([dt.time(8), dt.time(17, 30)]))[:2] == (
        "1970-01-01T08:00:00",
        "1970-01-01T08:30:00",
    )
    microseconds = pl.Series([dt.timedelta(microseconds=x) for x in (3, 40)])
    assert written(microseconds)[:2] == (
        "1970-01-01T00:00:00.000002",
        "1970-01-01T00:00:00.000004",
    )


def test_no_bins_below_a_microsecond_or_beyond_the_calendar() -> None:
    close = numbers(pl.Series([1, 5], dtype=pl.Int64).cast(pl.Datetime("ns")))
    assert bins_of(close, 0.0, 0.0, MOST) is not None
    far = numbers(pl.Series([2**62, 2**62 + 10**15], dtype=pl.Int64).cast(pl.Datetime("us")))
    assert bins_of(far, 0.0, 10.0**12, MOST) is None


@settings(max_examples=100, deadline=None)
@given(st.dates(), st.dates(), st.integers(10, 40))
def test_any_two_dates(one: dt.date, other: dt.date, most: int) -> None:
    low, high = sorted((one, other))
    edges = written(pl.Series([low, high]), most)
    texts = [str(edge) for edge in edges]
    assert texts == sorted(texts)
    assert texts[0] <= low.isoformat()
    assert texts[-1] >= high.isoformat()
    assert 2 <= len(texts) <= most + 3
