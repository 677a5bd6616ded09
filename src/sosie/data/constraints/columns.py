"""Columns as constraints read them: numbers whatever their dtype, and codes of levels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data import frames
from sosie.data.table import Column, Levels, Numbers, Table, encoded_column

__all__ = ["Columns", "Name", "Unit", "column_as_number", "unit_of"]

Name = Hashable
Unit = Literal["number", "moment", "level"]

SAMPLE = 2_048
"""Rows looked at first: one that contradicts settles it, whatever the rows are."""

_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
MICROSECONDS_PER_DAY = 86_400 * 10**6


def unit_of(table: Table, column: Column) -> Unit:
    """Whether a column can be calculated with: ``number``, ``moment``, or a mere ``level``."""
    if isinstance(column, Numbers):
        return "moment" if column.kind == "date" else "number"
    if column.name in table.roles.categorical:
        return "level"
    held = frames.holds(frames.column(table.frame, column.name))
    if held == "moment":
        return "moment" if _is_calendar(column) else "level"
    return "number" if held in ("whole", "real", "boolean") else "level"


def _is_calendar(column: Levels) -> bool:
    """Whether labels are days or moments: times of day and durations are not."""
    return all(label is None or _moment(label) is not None for label in column.labels)


def _moment(label: str) -> float | None:
    try:
        return (dt.datetime.fromisoformat(label) - _EPOCH) / _MICROSECOND
    except ValueError:
        return None


def _label_number(label: str | None) -> float:
    if label is None:
        return np.nan
    return {"True": 1.0, "False": 0.0}[label] if label in ("True", "False") else float(label)


@dataclass
class Columns:
    """Encoded columns by name, read as numbers or as codes.

    Attributes
    ----------
    encoded : the columns.
    units : how each can be read.
    """

    encoded: Mapping[Name, Column]
    units: Mapping[Name, Unit]
    _numbers: dict[Name, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, table: Table) -> Self:
        """The columns of a table that take part in the method."""
        encoded = {column.name: column for column in table.columns}
        return cls(encoded, {name: unit_of(table, column) for name, column in encoded.items()})

    def __len__(self) -> int:
        columns = self.encoded.values()
        return next((len(c.values if isinstance(c, Numbers) else c.codes) for c in columns), 0)

    def named(self, *units: Unit) -> list[Name]:
        """Columns that can be read so, in order."""
        return [name for name, unit in self.units.items() if unit in units]

    def is_counted(self, name: Name) -> bool:
        """Whether a column has more values than a category has."""
        return isinstance(self.encoded[name], Numbers)

    def missing(self, name: Name) -> Mask:
        """(n,) bool."""
        return self.encoded[name].missing

    def numbers(self, name: Name) -> Floats:
        """(n,) float64, NaN where missing; moments in microseconds since 1970."""
        column = self.encoded[name]
        if isinstance(column, Levels):
            # Short, whatever the rows: a category that is a number has few labels.
            moment = self.units[name] == "moment"
            labels = [
                np.nan if label is None else (_moment(label) if moment else _label_number(label))
                for label in column.labels
            ]
            return np.asarray(np.array(labels, dtype=np.float64)[column.codes])
        if column.kind != "date" and column.grid.step in (0, 1) and not column.grid.origin:
            return column.values
        grid = column.grid
        factor = MICROSECONDS_PER_DAY / grid.per_day if column.kind == "date" else 1.0
        return (column.values * grid.step + grid.origin) * factor

    def codes(self, name: Name) -> NDArray[Any]:
        """(n,) a whole number for each distinct value; missing has one of its own."""
        column = self.encoded[name]
        if isinstance(column, Levels):
            return column.codes
        return np.unique(column.values, return_inverse=True)[1]

    def grain(self, name: Name) -> float:
        """The unit in which values are written, in those of `numbers`; 0 where there is none."""
        column = self.encoded[name]
        if isinstance(column, Levels):
            return _grain_of(column, self.units[name])
        if column.kind == "date":
            return column.grid.step * MICROSECONDS_PER_DAY / column.grid.per_day
        if column.grid.step:
            return float(column.grid.step)
        return 0.0 if column.grid.decimals is None else 10.0**-column.grid.decimals

    def take(self, rows: Ints) -> Columns:
        """The same columns with some rows."""
        encoded = {
            name: replace(c, values=c.values[rows])
            if isinstance(c, Numbers)
            else replace(c, codes=c.codes[rows])
            for name, c in self.encoded.items()
        }
        return Columns(encoded, self.units)

    def sample(self) -> Columns:
        """Some rows from all over the table."""
        size = len(self)
        return self if size <= SAMPLE else self.take(np.arange(SAMPLE) * size // SAMPLE)


def _grain_of(column: Levels, unit: Unit) -> float:
    labels = [label for label in column.labels if label is not None]
    if unit == "moment":
        moments = np.array([_moment(label) for label in labels], dtype=np.float64)
        return float(MICROSECONDS_PER_DAY) if not (moments % MICROSECONDS_PER_DAY).any() else 1.0
    decimals = [len(label.partition(".")[2]) for label in labels]
    return 10.0 ** -max(decimals, default=0)


def column_as_number(table: Table, name: Name) -> Numbers | None:
    """A column as numbers on its own grid, also where it is a category; None where it can't be.

    True and false are no grid: they are written as levels.
    """
    column = table.column(name)
    if isinstance(column, Numbers):
        return column
    series = frames.column(table.frame, name)
    if frames.holds(series) not in ("whole", "real", "moment"):
        return None
    roles = replace(table.roles, numeric=(name,), categorical=())
    encoded = encoded_column(name, series, roles, [])
    return encoded if isinstance(encoded, Numbers) else None
