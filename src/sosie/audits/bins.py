"""Round bins: edges of a histogram that are nobody's value.

Numbers have edges at multiples of 1, 2, 2.5 or 5 times a power of ten; whole numbers halfway
between two of them; dates at the starts of years, months, days, hours and so on.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sosie.compute.arrays import Floats
from sosie.data.table import Grid, Numbers

__all__ = ["Bins", "bins_of", "round_edges"]

_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
_DAY = 86_400 * 10**6
# Spans of a calendar that a reader counts in.
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000)
_SECONDS = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600)
_SPANS = tuple(
    sorted(
        [power * factor for power in (1, 10, 10**2, 10**3, 10**4, 10**5) for factor in (1, 2, 5)]
        + [10**6 * seconds for seconds in _SECONDS]
        + [_DAY, 7 * _DAY]
    )
)
_MONDAY = 4 * _DAY  # the first of the era
_MONTH = 30.436875 * _DAY  # a twelfth of the Gregorian year of 365.2425 days, on average
HALVES = 2**50
"""Up to so far from 0, floating point has halves to spare."""


@dataclass(frozen=True)
class Bins:
    """Edges of a histogram.

    Attributes
    ----------
    edges : (b + 1,) float64, rising, in units of the column's values.
    written : the same as the column's numbers or as ISO dates.
    """

    edges: Floats
    written: tuple[float | str, ...]


def bins_of(column: Numbers, low: float, high: float, most: int) -> Bins | None:
    """Round bins from `low` to `high`, about `most` of them; None where there are none.

    Parameters
    ----------
    column : says what its values are.
    low, high : in units of its values.
    """
    if column.kind == "date":
        return _dates(column.grid, low, high, most)
    if column.grid.step:
        return _whole(column.grid, low, high, most)
    edges = round_edges(low, high, most)
    return None if edges is None else Bins(edges, tuple(edges.tolist()))


def round_edges(low: float, high: float, most: int) -> Floats | None:
    """Edges at round numbers that cover a range; None where floating point can't tell them apart.

    >>> round_edges(3.2, 11.7, 5).tolist()
    [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    """
    span = high - low
    if not span > 0:
        span = abs(low) or 1.0
    rough = span / most
    if not 0 < rough < math.inf:
        return None
    power = math.floor(math.log10(rough))
    try:
        unit = 10.0**power
        step = next((f for f in (1, 2, 2.5, 5, 10) if f * unit >= rough * 0.999), 0) * unit
        first, last = math.floor(low / step), math.ceil(high / step)
    except (OverflowError, ZeroDivisionError):
        return None
    places = range(first, max(last, first + 1) + 1)
    edges = np.array([float(f"{place * step:.12g}") for place in places])  # 0.3, not 0.1 * 3
    return edges if (np.diff(edges) > 0).all() else None


def _whole(grid: Grid, low: float, high: float, most: int) -> Bins | None:
    """Bins of whole numbers; in steps from an origin where they are beyond 2^53."""
    bottom, top = (grid.origin + grid.step * int(value) for value in (low, high))
    step = max(_round_step((top - bottom + 1) / most), grid.step)
    first, last = bottom // step, top // step + 1
    whole = [place * step for place in range(first, last + 1)]
    if (
        grid.origin or grid.step > 1 or max(-bottom, top) > HALVES
    ):  # halves can't be written; the smallest is the person's own
        edges = np.array([(edge - grid.origin) / grid.step for edge in whole])
        return Bins(edges, tuple(whole))
    edges = np.array(whole) - 0.5
    return Bins(edges, tuple(edges.tolist()))


def _round_step(rough: float) -> int:
    """The first of 1, 2, 5, 10, 20, 50 … that is as large.

    >>> [_round_step(rough) for rough in (0.1, 1.5, 2.1, 49, 51)]
    [1, 2, 5, 50, 100]
    """
    power = 1
    while True:
        for factor in (1, 2, 5):
            if power * factor >= rough:
                return power * factor
        power *= 10


# ---------------------------------------------------------------- dates


def _dates(grid: Grid, low: float, high: float, most: int) -> Bins | None:
    """Bins that start with years, months, Mondays, days or parts of a day."""
    start, end = (_moment(grid, value) for value in (low, high))
    if start is None or end is None:
        return None
    finest = _DAY if grid.step % grid.per_day == 0 else 1
    moments = list(_starts(start, end, most, finest))
    edges = [(_ticks(grid, moment) - grid.origin) / grid.step for moment in moments]
    if len(moments) < 2 or len(set(edges)) < len(edges):
        return None
    midnights = all(moment.time() == dt.time() for moment in moments)
    written = (m.date().isoformat() if midnights else m.isoformat() for m in moments)
    return Bins(np.array(edges), tuple(written))


def _moment(grid: Grid, value: float) -> dt.datetime | None:
    ticks = grid.origin + grid.step * int(value)
    try:
        return _EPOCH + dt.timedelta(microseconds=ticks * _DAY // grid.per_day)
    except OverflowError:  # beyond the years 1 to 9999
        return None


def _ticks(grid: Grid, moment: dt.datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND * grid.per_day // _DAY


def _starts(start: dt.datetime, end: dt.datetime, most: int, finest: int) -> Iterator[dt.datetime]:
    """Starts of equal spans, from the one that holds `start` to the first one after `end`."""
    rough = (end - start) / _MICROSECOND / most
    if rough < _MONTH * 0.7:
        span = next((s for s in _SPANS if s >= max(rough, finest)), None)
        if span is not None:
            shift = _MONDAY if span == 7 * _DAY else 0
            first, last = (
                ((moment - _EPOCH) // _MICROSECOND - shift) // span for moment in (start, end)
            )
            for place in range(first, last + 2):
                yield _shifted(_EPOCH, dt.timedelta(microseconds=place * span + shift))
            return
    months = next((m for m in _MONTHS if m * _MONTH >= rough), _MONTHS[-1])
    first, last = ((m.year * 12 + m.month - 1) // months for m in (start, end))
    for place in range(first, last + 2):
        year, month = divmod(place * months, 12)
        if year < dt.MINYEAR:
            yield dt.datetime.min
        elif year > dt.MAXYEAR:
            yield dt.datetime(dt.MAXYEAR, 12, 31)
        else:
            yield dt.datetime(year, month + 1, 1)


def _shifted(moment: dt.datetime, by: dt.timedelta) -> dt.datetime:
    try:
        return moment + by
    except OverflowError:
        return dt.datetime.min if by < dt.timedelta() else dt.datetime(dt.MAXYEAR, 12, 31)
