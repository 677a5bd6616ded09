"""Steps of a plan: what the method is told of a column, and the column back from its avatars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.data import frames
from sosie.data.constraints.columns import (
    MICROSECONDS_PER_DAY,
    Columns,
    Name,
    column_as_number,
)
from sosie.data.constraints.rule import Rule
from sosie.data.frames import Frame
from sosie.data.native import written
from sosie.data.table import Column, Levels, Numbers, Table, label_of

__all__ = ["Computed", "Joined", "Mended", "Placed", "Restored", "Step", "closed_range"]

DECIMALS_OF_A_SHARE = 6


class Restored:
    """Avatars on their way back: the method's columns, and those restored from them.

    Parameters
    ----------
    table, originals : the originals.
    source : the method's avatars.
    told : columns that the method knew in another form, or not at all.
    """

    def __init__(
        self, table: Table, originals: Columns, source: Frame, told: Iterable[Name]
    ) -> None:
        self.table = table
        self.originals = originals
        self.source = source
        self._told = {*told}
        self._encoded: dict[Name, Column] = {}
        self._changed: set[Name] = set()

    def columns(self, names: Iterable[Name]) -> Columns:
        """Some columns, to be calculated with."""
        encoded = {name: self.column(name) for name in names}
        return Columns(encoded, {name: self.originals.units[name] for name in encoded})

    def column(self, name: Name) -> Column:
        """A column, encoded like the originals."""
        if name not in self._encoded:
            if name in self._told:
                raise KeyError(f"column {name!r} is not restored yet")
            alone = frames.assemble(
                self.source, {name: frames.column(self.source, name).to_native()}
            )
            self._encoded[name] = self.table.select([name]).like(alone).columns[0]
        return self._encoded[name]

    def put(self, column: Column) -> None:
        """Restore a column, whose levels are written as the originals wrote them."""
        if isinstance(column, Levels):
            column = replace(self.table.level(column.name), codes=column.codes)
        self._encoded[column.name] = column
        self._changed.add(column.name)

    def frame(self) -> Any:
        """All columns of the originals that are here, in their order."""
        here = {*self.source.columns}
        native = {}
        for name in self.table.frame.columns:
            if name in self._changed:
                series = frames.column(self.table.frame, name)
                native[name] = written(self._encoded[name], series)
            elif name in here:
                native[name] = frames.column(self.source, name).to_native()
        return frames.assemble(self.table.frame, native)


# ---------------------------------------------------------------- values on their grid


def _on_grid(number: Numbers, values: Floats) -> Numbers:
    """A column of values in the units of `Columns.numbers`, written on the grid of another."""
    grid = number.grid
    if number.kind == "date":
        ticks = values * (grid.per_day / MICROSECONDS_PER_DAY)
        return replace(number, values=np.rint((ticks - grid.origin) / grid.step))
    if grid.step:
        return replace(number, values=np.rint((values - grid.origin) / grid.step))
    return replace(number, values=number.rounded(values))


def _as_column(table: Table, name: Name, values: Floats) -> Column:
    """Numbers as a column of the originals' type; true and false are levels."""
    number = column_as_number(table, name)
    if number is not None:
        return _on_grid(number, values)
    column = table.level(name)
    rounded = np.rint(values)
    missing = _code(column, None, 0)
    yes, no = (_code(column, word, missing) for word in ("True", "False"))
    codes = np.where(np.isnan(values), missing, np.where(rounded == 1, yes, no))
    return replace(column, codes=codes.astype(column.codes.dtype))


def _code(column: Levels, label: str | None, otherwise: int) -> int:
    return column.labels.index(label) if label in column.labels else otherwise


def closed_range(values: Floats, k: int) -> tuple[float, float]:
    """From the mean of the k smallest values to that of the k greatest; NaN counts for nothing.

    >>> closed_range(np.array([1.0, 2.0, 3.0, 9.0]), 2)
    (1.5, 6.0)
    """
    present = values[~np.isnan(values)]
    k = min(k, len(present))
    if not k:
        return (-np.inf, np.inf)
    ordered = np.partition(present, sorted({k - 1, len(present) - k}))
    return float(ordered[:k].mean()), float(ordered[len(present) - k :].mean())


def _native(frame: Frame, values: Floats, *, whole: bool) -> Any:
    """A native column of plain numbers; NaN is missing."""
    import polars as pl

    series = pl.Series("", values).fill_nan(None)
    series = series.cast(pl.Int64) if whole else series
    return _like(frame, series)


def _like(frame: Frame, series: Any) -> Any:
    """A Polars column in the kind of a table."""
    kind = frame.implementation if hasattr(frame, "implementation") else None
    if kind is None or kind.is_polars():
        return series
    if kind.is_pandas():
        import pandas as pd

        values = series.to_numpy() if series.dtype.is_numeric() else series.to_list()
        return pd.Series(values, dtype=None if series.dtype.is_numeric() else object)
    import pyarrow as pa

    return pa.chunked_array([series.to_arrow()])


# ---------------------------------------------------------------- the steps


@dataclass(frozen=True)
class Computed:
    """A column that others give.

    Attributes
    ----------
    left_out : whether the method does without it; otherwise it says which values are missing, and
        what stands where nothing can be computed.
    """

    output: Name
    inputs: tuple[Name, ...]
    rule: Rule
    left_out: bool

    def restore(self, restored: Restored) -> None:
        """Compute the column from those restored before."""
        columns = restored.columns(self.inputs)
        values = self.rule.computed(columns, self.output)
        if values.dtype == np.int64:
            restored.put(self._level(restored, values))
            return
        if not self.left_out:
            before = restored.columns([self.output]).numbers(self.output)
            values = np.where(np.isnan(values) | np.isnan(before), before, values)
        restored.put(_as_column(restored.table, self.output, values))

    def _level(self, restored: Restored, rows: Ints) -> Levels:
        column = restored.table.level(self.output)
        codes = np.asarray(column.codes).take(np.maximum(rows, 0))
        missing = _code(column, None, int(np.argmax(column.counts())))
        codes = np.where(rows < 0, missing, codes)
        if not self.left_out:
            before = restored.column(self.output)
            if isinstance(before, Levels):
                codes = np.where((rows < 0) | before.missing, before.codes, codes)
                column = before
        return replace(column, codes=codes)


@dataclass(frozen=True)
class Placed:
    """A column told by its distance from others in order with it.

    Attributes
    ----------
    lows, highs : columns that it is never below, never above; restored before it.
    fillers : what stands for a missing value of each of them, in units of `Columns.numbers`.
    limits : the closed range of the originals.
    unit : of the distance, in the same units; 0 for any number.
    moment : whether it is a date.
    """

    output: Name
    lows: tuple[Name, ...]
    highs: tuple[Name, ...]
    fillers: Mapping[Name, float]
    limits: tuple[float, float]
    unit: float
    moment: bool

    @property
    def told(self) -> Name:
        """The column that holds the distance."""
        return self.output

    @property
    def inputs(self) -> tuple[Name, ...]:
        """What it is placed by."""
        return (*self.lows, *self.highs)

    def tell(self, frame: Frame, columns: Columns) -> Any:
        """The distance: in its unit, or as a share of the way between two.

        Where a column it is placed by is missing, it is taken from that column's filler, and may
        be negative.
        """
        values = columns.numbers(self.output)
        low, high = self._bounds(columns, filled=True)
        present = ~np.any([columns.missing(name) for name in self.inputs], axis=0)
        if self.lows and self.highs:
            share: Floats = np.full(len(values), 0.5)
            apart = high > low
            share[apart] = np.clip((values - low)[apart] / (high - low)[apart], 0, 1)
            share[np.isnan(values)] = np.nan
            return _native(frame, np.round(share, DECIMALS_OF_A_SHARE), whole=False)
        distance: Floats = values - low if self.lows else high - values
        distance = np.where(present & (distance < 0), 0.0, distance)  # a user's order may not hold
        if self.unit:
            distance = np.rint(distance / self.unit)
            whole = self.moment or self.unit >= 1
            if not whole:
                decimals = round(-math.log10(self.unit))
                distance = np.round(distance * self.unit, decimals)
            elif not self.moment:
                distance = distance * self.unit
            return _native(frame, distance, whole=whole)
        return _native(frame, distance, whole=False)

    def restore(self, restored: Restored) -> None:
        """The column from its distance, within the closed range and in order."""
        told = frames.floats(frames.column(restored.source, self.output))
        columns = restored.columns(self.inputs)
        low, high = self._bounds(columns, filled=True)
        if self.lows and self.highs:
            values = low + np.clip(told, 0, 1) * np.maximum(high - low, 0)
        else:
            distance = told * self.unit if self.moment else told
            values = low + distance if self.lows else high - distance
        values = np.clip(values, *self.limits)
        grain = restored.originals.grain(self.output)
        low, high = self._bounds(columns, filled=False)
        values = _in_steps(np.rint, values, grain)
        values = np.where(values < low, _in_steps(np.ceil, low, grain), values)
        values = np.where(values > high, _in_steps(np.floor, high, grain), values)
        values = np.where(np.isnan(told), np.nan, values)
        restored.put(_as_column(restored.table, self.output, values))

    def _bounds(self, columns: Columns, *, filled: bool) -> tuple[Floats, Floats]:
        """The highest of what is below and the lowest of what is above, row by row."""
        ends = []
        for names, none, closer in (
            (self.lows, -np.inf, np.maximum),
            (self.highs, np.inf, np.minimum),
        ):
            end = np.full(len(columns), none)
            for name in names:
                values = columns.numbers(name)
                filler = self.fillers[name] if filled else none
                end = closer(end, np.where(np.isnan(values), filler, values))
            ends.append(end)
        return ends[0], ends[1]


def _in_steps(whole: np.ufunc, values: Floats, grain: float) -> Floats:
    """Values on a grid: the nearest, the next above or the next below."""
    if not grain:
        return values
    steps = values / grain
    nearest = np.rint(steps)
    # A value that is on the grid stays where it is, whatever its last binary digit says; where
    # nothing bounds, infinity does.
    with np.errstate(invalid="ignore"):
        steps = np.where(np.abs(steps - nearest) < 1e-6, nearest, whole(steps))
    if grain >= 1:
        return np.asarray(steps * grain)
    return np.round(steps * grain, round(-math.log10(grain)))


@dataclass(frozen=True)
class Joined:
    """One-hot columns, told as one category under the first one's name."""

    columns: tuple[Name, ...]
    inputs: tuple[Name, ...] = ()

    @property
    def told(self) -> Name:
        """The column that holds the category."""
        return self.columns[0]

    def tell(self, frame: Frame, columns: Columns) -> Any:
        """The name of the column that is 1, missing where one of them is."""
        import polars as pl

        flags = np.array([columns.numbers(name) for name in self.columns])
        lost = np.isnan(flags).any(axis=0) | ~(flags == 1).any(axis=0)
        place = np.where(lost, len(self.columns), np.argmax(flags == 1, axis=0))
        words = pl.Series("", [*(str(name) for name in self.columns), None], dtype=pl.String)
        return _like(frame, words.gather(place))

    def restore(self, restored: Restored) -> None:
        """All columns from the category."""
        series = frames.column(restored.source, self.told)
        codes, first = frames.factorize(series)
        words = [label_of(value) for value in frames.objects_at(series, first)]
        for name in self.columns:
            column = restored.table.level(name)
            no = _code(column, "0", _code(column, "False", 0))
            yes = _code(column, "1", _code(column, "True", 0))
            missing = _code(column, None, no)
            by_word = [yes if word == str(name) else no for word in words]
            level = np.array([*by_word, missing], dtype=column.codes.dtype)[codes]
            restored.put(replace(column, codes=level))


@dataclass(frozen=True)
class Mended:
    """Categories drawn again where they can't stand beside another column's level.

    Attributes
    ----------
    outputs : one column, or one-hot columns, drawn as one.
    given : the column that stands; restored before them.
    k : tuples held by fewer people are not drawn.
    """

    outputs: tuple[Name, ...]
    given: Name
    rule: Rule
    k: int

    @property
    def inputs(self) -> tuple[Name, ...]:
        """What they are drawn given."""
        return (self.given,)

    def restore(self, restored: Restored, draws: np.random.Generator) -> None:
        """Draw from the originals' law of the columns given the other's level."""
        rows = np.flatnonzero(self.rule.broken(restored.columns(self.rule.columns)))
        if not len(rows):
            return
        own = [restored.table.level(name) for name in self.outputs]
        key = np.zeros(len(restored.table), dtype=np.int64)
        for column in own:
            key = np.unique(key * len(column.labels) + column.codes, return_inverse=True)[1]
        first = np.unique(key, return_index=True)[1]
        tuples = np.full(len(rows), -1, dtype=np.int64)
        often = np.bincount(key) >= self.k
        theirs, given = self._given(restored)
        for level in np.unique(given[rows]):
            weights = np.where(often, np.bincount(key[theirs == level], minlength=len(first)), 0)
            if weights.any():
                here = given[rows] == level
                shares = weights / weights.sum()
                tuples[here] = draws.choice(len(weights), int(here.sum()), p=shares)
        rows, tuples = rows[tuples >= 0], tuples[tuples >= 0]
        for name, column in zip(self.outputs, own, strict=True):
            before = restored.column(name)
            if isinstance(before, Levels):
                codes = np.array(before.codes)
                codes[rows] = column.codes[first[tuples]]
                restored.put(replace(before, codes=codes))

    def _given(self, restored: Restored) -> tuple[Ints, Ints]:
        """The levels of the other column in the originals and in the avatars, numbered alike."""
        theirs, given = restored.table.column(self.given), restored.column(self.given)
        if isinstance(theirs, Levels) and isinstance(given, Levels):
            return theirs.codes.astype(np.int64), given.codes.astype(np.int64)
        both = [
            restored.originals.numbers(self.given),
            restored.columns([self.given]).numbers(self.given),
        ]
        codes = np.unique(np.concatenate(both), return_inverse=True)[1].astype(np.int64)
        return codes[: len(both[0])], codes[len(both[0]) :]


Step = Computed | Placed | Joined | Mended
