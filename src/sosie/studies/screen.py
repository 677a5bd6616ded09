"""Every pair of columns looked at, and those that changed most named.

An outcome is a column of numbers or of two values. Beside each other column it has one figure on
each table, both in standard deviations of the outcome among the originals:

- beside a category, the mean in each level that at least 20 (and k) originals hold, so that
  nothing hides in an average;
- beside a number, the slope for one standard deviation of it.

Pairs are ranked by the part of the difference that chance does not explain: what is left of
``|difference|`` after `z` standard errors of it, z the normal quantile at 95 % for as many figures
as are looked at (Bonferroni); without any left, by the difference in standard errors. So neither
small groups nor large tables fill the list by themselves.

Missing values are left out pair by pair.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.audits.results import json_name
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Column, Levels, Numbers, Table
from sosie.studies.design import number_of

__all__ = ["Pair", "Screen", "screen"]

FEWEST = 20
"""People in a level below which its mean says little."""

WORST = 10
"""Pairs that are named."""

OUTCOMES = 16
"""Outcomes looked at together: their rows, as numbers, are all that is in memory (0.4 GB for a
million rows and each table)."""

SMALLEST = 1e-12
"""A variance below this, on the scale of 1, is that of a constant."""

CHUNK = 16_384
"""Rows multiplied at a time."""


ROUNDING = 1e-9
"""A difference below this, in standard deviations, is what summing in another order gives."""


@dataclass(frozen=True)
class Pair:
    """One figure of two columns on originals and avatars.

    Attributes
    ----------
    outcome, column : the pair.
    level : of the column where it is a category; None beside a number.
    value : of a two-valued outcome, the value whose share is compared.
    original, avatars : the mean (or share) in the level, or the slope for one standard deviation
        of the column; in units of the outcome.
    difference : avatars less original, in standard deviations of the outcome.
    standard_error : of the difference.
    unexplained : what of ``|difference|`` chance does not explain, at least 0.
    people : originals it was measured on.
    """

    outcome: Hashable
    column: Hashable
    level: str | None
    value: str | None
    original: float
    avatars: float
    difference: float
    standard_error: float
    unexplained: float
    people: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**vars(self), "outcome": json_name(self.outcome), "column": json_name(self.column)}


@dataclass(frozen=True)
class Screen:
    """All pairs.

    Attributes
    ----------
    worst : the pairs that changed most, worst first; a pair of columns stands once, at its worst
        level.
    figures : how many were looked at.
    changed : how many changed by more than chance explains.
    """

    worst: tuple[Pair, ...]
    figures: int
    changed: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "figures": self.figures,
            "changed": self.changed,
            "worst": [pair.to_dict() for pair in self.worst],
        }


@dataclass(frozen=True)
class _Scaled:
    """A column as numbers in both tables, centred and scaled on the originals; NaN where missing.

    Attributes
    ----------
    value : of a column of two texts, the one that is 1.
    centre, scale : its mean and standard deviation among the originals.
    """

    name: Hashable
    value: str | None
    centre: float
    scale: float
    original: Floats
    avatars: Floats


@dataclass(frozen=True)
class _Moments:
    """Figures of some levels or numbers beside some outcomes, each (L, q) float64."""

    estimate: Floats
    variance: Floats
    rows: Floats


def screen(originals: Table, avatars: Table, *, k: int = 10, worst: int = WORST) -> Screen:
    """Look at every pair of columns.

    Parameters
    ----------
    originals, avatars : encoded alike (`Table.like`); of several releases, the first.
    k : people a level must have to be named; never fewer than 20.
    worst : pairs that are named.

    Examples
    --------
    >>> import polars as pl
    >>> stay = [float(day) for day in range(40)]
    >>> people = Table.of(pl.DataFrame({"stay": stay, "ward": ["a", "b"] * 20}))
    >>> screen(people, people).changed
    0
    """
    from scipy.special import ndtri

    fewest = max(k, FEWEST)
    names = [column.name for column in originals.columns if _is_outcome(column)]
    numbers = [column.name for column in originals.numbers]
    levels = sum(int((column.counts() >= fewest).sum()) for column in originals.levels)
    z = float(-ndtri(0.025 / max(len(names) * (levels + len(numbers)), 1)))
    ranking = _Ranking(fewest, z, worst)
    for start in range(0, len(names), OUTCOMES):
        outcomes = _scaled(originals, avatars, names[start : start + OUTCOMES])
        if not outcomes:
            continue
        powers = [_powers([getattr(o, side) for o in outcomes]) for side in ("original", "avatars")]
        for column in originals.levels:
            ranking.add_levels(outcomes, powers, column, avatars.level(column.name))
        for place in range(0, len(numbers), OUTCOMES):
            part = _scaled(originals, avatars, numbers[place : place + OUTCOMES])
            ranking.add_numbers(outcomes, part)
    return ranking.screen()


class _Ranking:
    """The worst pairs so far."""

    def __init__(self, fewest: int, z: float, worst: int) -> None:
        self.fewest, self.z, self.worst = fewest, z, worst
        self.best: list[tuple[float, Pair]] = []
        self.figures = self.changed = 0

    def screen(self) -> Screen:
        return Screen(tuple(pair for _, pair in self.best), self.figures, self.changed)

    def add_levels(
        self, outcomes: list[_Scaled], powers: list[Floats], column: Levels, other: Levels
    ) -> None:
        """Means in each level; of a pair only its worst level counts."""
        wide = len(other.labels)
        before = _level_moments(column.codes, wide, powers[0])
        after = _level_moments(other.codes, wide, powers[1])
        score, difference, error = self._scores(before, after)
        missing = [code for code, label in enumerate(other.labels) if label is None]
        score[missing] = -np.inf
        score[:, [o.name == column.name for o in outcomes]] = -np.inf
        self._count(score)
        for j, outcome in enumerate(outcomes):
            i = int(score[:, j].argmax())
            if score[i, j] > -np.inf:
                pair = Pair(
                    outcome.name,
                    column.name,
                    other.labels[i],
                    outcome.value,
                    outcome.centre + outcome.scale * float(before.estimate[i, j]),
                    outcome.centre + outcome.scale * float(after.estimate[i, j]),
                    float(difference[i, j]),
                    float(error[i, j]),
                    max(float(score[i, j]), 0.0),
                    int(before.rows[i, j]),
                )
                self._keep(float(score[i, j]), pair)

    def add_numbers(self, outcomes: list[_Scaled], columns: list[_Scaled]) -> None:
        """Slopes on each number."""
        if not columns:
            return
        before = _slopes([c.original for c in columns], [o.original for o in outcomes])
        after = _slopes([c.avatars for c in columns], [o.avatars for o in outcomes])
        score, difference, error = self._scores(before, after)
        score[[[o.name == c.name for o in outcomes] for c in columns]] = -np.inf
        self._count(score)
        for i, j in zip(*np.unravel_index(self._top(score), score.shape), strict=True):
            if score[i, j] > -np.inf:
                outcome = outcomes[j]
                pair = Pair(
                    outcome.name,
                    columns[i].name,
                    None,
                    outcome.value,
                    outcome.scale * float(before.estimate[i, j]),
                    outcome.scale * float(after.estimate[i, j]),
                    float(difference[i, j]),
                    float(error[i, j]),
                    max(float(score[i, j]), 0.0),
                    int(before.rows[i, j]),
                )
                self._keep(float(score[i, j]), pair)

    def _scores(self, before: _Moments, after: _Moments) -> tuple[Floats, Floats, Floats]:
        """What chance does not explain; where it explains all, how near it comes (0 or less)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = after.estimate - before.estimate
            difference[np.abs(difference) < ROUNDING] = 0.0
            error = np.sqrt(before.variance + after.variance)
            unexplained = np.abs(difference) - self.z * error
            nearness = np.nan_to_num(np.abs(difference) / error, posinf=0.0) / self.z - 1
        score = np.where(unexplained > 0, unexplained, np.minimum(nearness, 0.0))
        known = (before.rows >= self.fewest) & (after.rows >= 2) & np.isfinite(difference)
        return np.where(known, score, -np.inf), difference, error

    def _count(self, score: Floats) -> None:
        self.figures += int((score > -np.inf).sum())
        self.changed += int((score > 0).sum())

    def _top(self, score: Floats) -> Ints:
        return np.argsort(-score, axis=None, kind="stable")[: self.worst]

    def _keep(self, score: float, pair: Pair) -> None:
        if len(self.best) == self.worst and score <= self.best[-1][0]:
            return
        ranked = sorted([*self.best, (score, pair)], key=lambda one: -one[0])
        self.best = ranked[: self.worst]


def _is_outcome(column: Column) -> bool:
    """Numbers, categories of two values, and categories whose levels are numbers."""
    if isinstance(column, Numbers):
        return True
    labels = [label for label in column.labels if label is not None]
    return len(labels) == 2 or (len(labels) > 2 and all(map(_is_number, labels)))


def _is_number(label: str) -> bool:
    try:
        return math.isfinite(float(label))
    except ValueError:
        return False


def _scaled(originals: Table, avatars: Table, names: list[Hashable]) -> list[_Scaled]:
    """Columns as numbers; one that does not vary among the originals is left out."""
    columns = []
    for name in names:
        before, after = originals.column(name), avatars.column(name)
        value, first, second = _as_numbers(before, after)
        known = first[~np.isnan(first)]
        if len(known) < 2 or known.min() == known.max():
            continue
        # By the largest value, so that squares of the very large and small are numbers.
        size = float(np.abs(known).max())
        centre, scale = size * float((known / size).mean()), size * float((known / size).std())
        if not (math.isfinite(scale) and scale > 0):
            continue
        columns.append(
            _Scaled(name, value, centre, scale, (first - centre) / scale, (second - centre) / scale)
        )
    return columns


def _as_numbers(before: Column, after: Column) -> tuple[str | None, Floats, Floats]:
    texts = [label for label in getattr(before, "labels", ()) if label is not None]
    if isinstance(before, Numbers) or all(map(_is_number, texts)):
        return None, number_of(before), number_of(after)
    one = max(texts)
    return one, _is_value(before, one), _is_value(after, one)


def _is_value(column: Column, value: str) -> Floats:
    """1 where a row holds the value, else 0; NaN where missing."""
    assert isinstance(column, Levels)  # noqa: S101 - only categories have texts
    table = [math.nan if label is None else float(label == value) for label in column.labels]
    return np.asarray(np.array(table)[column.codes])


def _powers(outcomes: list[Floats]) -> Floats:
    """Whether each value is there, the values and their squares, side by side: ``(n, 3 q)``."""
    Y = np.column_stack(outcomes)
    there = ~np.isnan(Y)
    Y[~there] = 0.0
    return np.hstack([there, Y, np.square(Y)])


def _level_moments(codes: NDArray[Any], levels: int, powers: Floats) -> _Moments:
    """The mean of each outcome in each level, and the variance of that mean."""
    from scipy.sparse import csc_array

    rows = len(codes)
    places = codes.astype(np.int32), np.arange(rows + 1, dtype=np.int32)
    indicator = csc_array((np.ones(rows), *places), shape=(levels, rows))
    count, total, squares = np.hsplit(np.asarray(indicator @ powers), 3)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        variance = np.maximum(squares - count * np.square(mean), 0) / (count - 1) / count
    return _Moments(mean, variance, count)


def _slopes(columns: list[Floats], outcomes: list[Floats]) -> _Moments:
    """The slope of each outcome on each number, and its variance under least squares."""
    sums = np.zeros((6, len(columns), len(outcomes)))
    for start in range(0, len(outcomes[0]), CHUNK):
        X = np.column_stack([values[start : start + CHUNK] for values in columns])
        Y = np.column_stack([values[start : start + CHUNK] for values in outcomes])
        A, B = (~np.isnan(X)).astype(float), (~np.isnan(Y)).astype(float)
        X, Y = np.nan_to_num(X), np.nan_to_num(Y)
        pairs = ((A, B), (X, B), (A, Y), (X * X, B), (X, Y), (A, Y * Y))
        for place, (left, right) in enumerate(pairs):
            sums[place] += left.T @ right
    n, x, y, xx, xy, yy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        Sxx, Sxy, Syy = xx - x * x / n, xy - x * y / n, yy - y * y / n
        slope = Sxy / np.where(Sxx > SMALLEST * n, Sxx, np.nan)
        variance = np.maximum(Syy - slope * Sxy, 0) / (n - 2) / Sxx
    return _Moments(slope, variance, n)
