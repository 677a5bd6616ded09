"""Formulas: products, quotients, weight over squared height; days between dates, ages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Mask
from sosie.data.constraints.columns import MICROSECONDS_PER_DAY, Columns, Name
from sosie.data.constraints.rule import (
    FEWEST_BROKEN,
    Constraint,
    Derivation,
    Kind,
    expected_distinct,
    known,
    off_grid,
    said,
    shuffled,
)
from sosie.data.constraints.sums import whole_rows

__all__ = ["Between", "Formula", "find_formulas", "find_intervals", "years_between"]

Form = Literal["product", "quotient", "over_square"]
Clock = Literal["days", "whole_days", "elapsed_days", "hours", "age", "years", "long_years"]

TRIED = 24
"""Rows in which every pair of columns is tried for every third."""

MOST_TENS = 6
"""Powers of ten that units and percentages bring: 10,000 for a height in centimetres."""

DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Formula:
    """``output = factor * left * right``, or over `right`, or over its square.

    Examples
    --------
    >>> Formula("bmi", "weight", "height", "over_square", 10_000).text
    'bmi = 10000 * weight / height ** 2'
    """

    output: Name
    left: Name
    right: Name
    form: Form
    factor: float = 1.0
    kind: Kind = "formula"

    @property
    def columns(self) -> tuple[Name, ...]:
        """The output, then its two parts."""
        return (self.output, self.left, self.right)

    @property
    def text(self) -> str:
        """The formula, as ``--derive`` takes it."""
        sign = {"product": "*", "quotient": "/", "over_square": "/"}[self.form]
        factor = "" if self.factor == 1 else f"{self.factor:.10g} * "
        power = " ** 2" if self.form == "over_square" else ""
        return f"{said(self.output)} = {factor}{said(self.left)} {sign} {said(self.right)}{power}"

    def broken(self, columns: Columns) -> Mask:
        """Where the output is not what its parts make, written in its unit."""
        computed = self.computed(columns, self.output)
        return off_grid(columns.numbers(self.output), computed, columns.grain(self.output))

    def derivations(self) -> Sequence[Derivation]:
        """The output: it is rounded, so its parts can't be had from it."""
        return [Derivation(self.output, (self.left, self.right))]

    def computed(self, columns: Columns, _output: Name, /) -> NDArray[Any]:
        """The output, not yet rounded; missing where it is divided by zero."""
        return self.factor * combined(
            columns.numbers(self.left), columns.numbers(self.right), self.form
        )


def combined(left: Floats, right: Floats, form: Form) -> Floats:
    """Two columns put together, NaN where there is no number."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if form == "product":
            both = left * right
        else:
            both = left / (right if form == "quotient" else right * right)
    return np.where(np.isfinite(both), both, np.nan)


def find_formulas(columns: Columns, sample: Columns) -> Iterator[Constraint]:
    """Products, quotients and quotients by a square, up to a power of ten.

    Every pair is tried for every third column in a few rows, then in the sample, then in all.
    """
    names, values = whole_rows(sample)
    if len(names) < 3:
        return
    rows = values[:, np.linspace(0, values.shape[1] - 1, TRIED).astype(int)]
    best: dict[frozenset[Name], Constraint] = {}
    forms: tuple[Form, ...] = ("product", "over_square", "quotient")
    for form in forms:
        pairs = combined(rows[:, None, :], rows[None, :, :], form)
        for output, name in enumerate(names):
            if not columns.is_counted(name):
                continue
            grain = columns.grain(name)
            for left, right, factor in _fits(rows[output], pairs, grain, form):
                rule = Formula(name, names[left], names[right], form, factor)
                if output in (left, right) or rule.broken(sample).any():
                    continue
                found = _formula(columns, rule)
                triple = frozenset(rule.columns)
                # Of the ways to write it, the one whose output says most: others round it away.
                if found and (triple not in best or found.expected > best[triple].expected):
                    best[triple] = found
    yield from best.values()


def _fits(
    output: Floats, pairs: Floats, grain: float, form: Form
) -> Iterator[tuple[int, int, float]]:
    """Pairs that a power of ten away are the output in all rows tried."""
    most = int(np.argmax(np.abs(output)))
    slack = 0.5 * grain * (1 + 1e-6) + 1e-9 * np.abs(output)
    with np.errstate(all="ignore"):
        tens = np.rint(np.log10(output[most] / pairs[..., most]))
        factors = 10.0**tens
        near = np.abs(output[most] - factors * pairs[..., most]) <= slack[most]
        lefts, rights = np.nonzero(near & (np.abs(tens) <= MOST_TENS))
        for row in range(len(output)):  # a row rules out most pairs
            computed = factors[lefts, rights] * pairs[lefts, rights, row]
            near = np.abs(output[row] - computed) <= slack[row]
            lefts, rights = lefts[near], rights[near]
    for left, right in zip(lefts, rights, strict=True):
        if left != right and (form != "product" or left < right):
            yield int(left), int(right), float(f"{factors[left, right]:.0e}")


def _formula(columns: Columns, rule: Formula) -> Constraint | None:
    """The formula if it holds in all rows, and each of its columns matters."""
    if rule.broken(columns).any():
        return None
    output, left, right = (columns.numbers(name) for name in rule.columns)
    rows = known(output, left, right)
    output, left, right = output[rows], left[rows], right[rows]
    grain = columns.grain(rule.output)
    expected = _expected_output(output, rule.factor * combined(left, right, rule.form), grain)
    for pair in ((shuffled(left), right), (left, shuffled(right))):
        other = rule.factor * combined(*pair, rule.form)
        expected = min(expected, float(off_grid(output, other, grain).sum()))
    return Constraint(rule, expected=expected) if expected >= FEWEST_BROKEN else None


def _expected_output(output: Floats, computed: Floats, grain: float) -> float:
    """Rows that a shuffle of the output breaks on average: those whose value is not near."""
    ordered = np.sort(output)
    slack = 0.5 * grain * (1 + 1e-6) + 1e-9 * np.abs(computed)
    near = np.searchsorted(ordered, computed + slack, side="right")
    near -= np.searchsorted(ordered, computed - slack, side="left")
    return float(len(output) - near.sum() / max(len(output), 1))


# ---------------------------------------------------------------- dates


@dataclass(frozen=True)
class Between:
    """A number of days, hours or years from one date to another.

    Attributes
    ----------
    output, start, end : columns.
    clock : calendar ``days``, ``whole_days`` of 24 hours, ``elapsed_days`` with decimals,
        ``hours``; ``age`` by the birthday, ``years`` by the calendar, or ``long_years`` of 365.25
        days.
    first : 1 where the first day counts as well.

    Examples
    --------
    >>> Between("stay", "admission", "discharge", "days").text
    'stay = days(admission, discharge)'
    """

    output: Name
    start: Name
    end: Name
    clock: Clock
    first: int = 0
    kind: Kind = "formula"

    @property
    def columns(self) -> tuple[Name, ...]:
        """The output, then both dates."""
        return (self.output, self.start, self.end)

    @property
    def text(self) -> str:
        """The formula, as ``--derive`` takes it."""
        dates = f"({said(self.start)}, {said(self.end)})"
        more = f" + {self.first}" if self.first else ""
        call = {
            "days": f"days{dates}",
            "whole_days": f"floor(elapsed{dates})",
            "elapsed_days": f"elapsed{dates}",
            "hours": f"24 * elapsed{dates}",
            "age": f"years{dates}",
            "years": f"calendar_years{dates}",
            "long_years": f"elapsed{dates} / {DAYS_PER_YEAR}",
        }[self.clock]
        return f"{said(self.output)} = {call}{more}"

    def broken(self, columns: Columns) -> Mask:
        """Where the output is another number."""
        computed = self.computed(columns, self.output)
        return off_grid(columns.numbers(self.output), computed, columns.grain(self.output))

    def derivations(self) -> Sequence[Derivation]:
        """The number; dates are not known from it."""
        return [Derivation(self.output, (self.start, self.end))]

    def computed(self, columns: Columns, _output: Name, /) -> NDArray[Any]:
        """The number, not yet rounded."""
        start, end = columns.numbers(self.start), columns.numbers(self.end)
        return elapsed(start, end, self.clock) + self.first


def elapsed(start: Floats, end: Floats, clock: Clock) -> Floats:
    """Days, hours or years between moments in microseconds."""
    if clock in ("age", "years"):
        return years_between(start, end, by_calendar=clock == "years")
    if clock == "days":
        return np.floor(end / MICROSECONDS_PER_DAY) - np.floor(start / MICROSECONDS_PER_DAY)
    days = (end - start) / MICROSECONDS_PER_DAY
    if clock == "whole_days":
        return np.floor(days)
    return days * {"elapsed_days": 1.0, "hours": 24.0, "long_years": 1 / DAYS_PER_YEAR}[clock]


def years_between(start: Floats, end: Floats, *, by_calendar: bool = False) -> Floats:
    """Whole years from one moment to another, in microseconds since 1970; NaN where one is missing.

    A year is over on the birthday; who is born on 29 February has it on 1 March in other years.

    >>> day = 86_400e6
    >>> years_between(np.array([0.0, 58 * day]), np.array([365 * day, 365 * day + 58 * day]))
    array([1., 1.])
    """
    both = known(start, end)
    ends = []
    for values in (start, end):
        days = np.floor(np.where(both, values, 0) / MICROSECONDS_PER_DAY).astype("datetime64[D]")
        months = days.astype("datetime64[M]")
        years = months.astype("datetime64[Y]")
        in_year = (months - years.astype("datetime64[M]")).astype(np.int64) * 31
        ends.append((years.astype(np.int64), in_year + (days - months).astype(np.int64)))
    (first, birthday), (last, today) = ends
    over = last - first - (0 if by_calendar else (today < birthday))
    return np.where(both, over.astype(np.float64), np.nan)


def find_intervals(columns: Columns, sample: Columns) -> Iterator[Constraint]:
    """Numbers that are the days, hours or years between two dates."""
    moments = sample.named("moment")
    numbers = [name for name in sample.named("number") if name not in moments]
    for start in moments:
        for end in moments:
            if start != end:
                yield from _intervals(columns, sample, start, end, numbers)


def _intervals(
    columns: Columns, sample: Columns, start: Name, end: Name, numbers: Sequence[Name]
) -> Iterator[Constraint]:
    done: set[Name] = set()
    clocks: tuple[Clock, ...] = (
        "days", "age", "whole_days", "elapsed_days", "hours", "years", "long_years"
    )  # fmt: skip
    both = sample.numbers(start), sample.numbers(end)
    for clock in clocks:
        between = elapsed(*both, clock)
        for output in numbers:
            values, grain = sample.numbers(output), sample.grain(output)
            for first in (0, 1) if clock in ("days", "whole_days") else (0,):
                if output in done or off_grid(values, between + first, grain).any():
                    continue
                rule = Between(output, start, end, clock, first)
                rows = known(*(columns.numbers(name) for name in rule.columns))
                expected = expected_distinct(columns.numbers(output)[rows])
                if expected >= FEWEST_BROKEN and not rule.broken(columns).any():
                    done.add(output)
                    yield Constraint(rule, expected=expected)
