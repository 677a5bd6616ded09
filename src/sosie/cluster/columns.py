"""Columns of two tables on a cluster, encoded alike, counted whole and cut into parts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sosie.audits.comparison import appeared_in
from sosie.audits.registry import DEFINITIONS
from sosie.cluster import regions
from sosie.cluster.encoding import lengths_of, pieces_of, whole_column
from sosie.cluster.scheduling import compute, delayed, persist
from sosie.cluster.sizes import sized
from sosie.data import frames
from sosie.data.parquet import Scan
from sosie.data.rows import values_of
from sosie.data.table import Column, Grid, Levels, Numbers, Roles, Table, encoded_column
from sosie.errors import InputError, Reason, quoted
from sosie.latent.famd import Outline

__all__ = ["Alike", "both_tables", "encoded_alike", "names_of", "row_counts_of", "table_of_part"]


def both_tables(originals: Any, avatars: Any) -> list[tuple[Any, str]]:
    """Each table with what it is called."""
    return [(originals, "originals"), (avatars, "avatars")]


def names_of(originals: Any, avatars: Any, roles: Roles) -> list[Hashable]:
    """The columns to compare, in order. Raises InputError where the tables differ in them."""
    import pandas as pd

    for table, what in both_tables(originals, avatars):
        held = list(table.columns)
        repeated = [name for i, name in enumerate(held) if name in held[:i]]
        if repeated:
            raise InputError(f"{what}: several columns have the same name: {quoted(repeated)}")
    held = list(originals.columns)
    if not held:
        raise InputError("the table has no columns")
    roles.check(held)
    names = [name for name in held if name not in (*roles.drop, *roles.id)]
    if not names:
        raise InputError("no column is left to compare: all are dropped or identifiers")
    one, other = (
        pd.DataFrame(columns=pd.Index(list(table.columns), tupleize_cols=False), dtype=float)
        for table in (originals, avatars)
    )
    empty = tuple(Numbers(name, "number", np.empty(0), Grid()) for name in names)
    Table(frames.wrap(one), empty, roles).like(other)
    return names


def row_counts_of(table: Any, what: str) -> list[int]:
    """How many rows each partition of a table has."""
    columns = list(table.columns)
    if not columns:
        raise InputError(f"the {what} have no columns")
    with _partitions_of(what, columns[0]):
        return lengths_of(table, columns[0])


@dataclass(frozen=True)
class Alike:
    """One column of both tables.

    Attributes
    ----------
    before, after : without rows and levels.
    outline : of the originals, for the layout.
    notes : of the originals, of the avatars, of both.
    counted : by function, what it counted, delayed.
    """

    before: Column
    after: Column
    outline: Outline
    notes: tuple[list[Reason], list[Reason], list[Reason]]
    counted: Any


@sized
@dataclass(frozen=True)
class _Encoded:
    """A column, whole, and a few of its rows as they came."""

    column: Column
    shown: Any
    notes: list[Reason]

    def without_rows(self) -> _Encoded:
        none = regions.no_rows(values_of(self.column))
        return replace(self, column=regions.with_rows(self.column, none))


def encoded_alike(
    name: Hashable,
    originals: Any,
    avatars: Any,
    roles: Roles,
    ends: Sequence[Sequence[tuple[int, int]]],
    *,
    aligned: bool,
    k: int,
) -> tuple[Alike, tuple[list[Any], list[Any]]]:
    """What is known of a column, and its encoded rows in each part of either table, delayed."""
    # Files are read by the task itself, which so never holds a column twice.
    one, other = (
        table if isinstance(table, Scan) else pieces_of(table, name)
        for table in (originals, avatars)
    )
    first = delayed(_encoded)(name, one, roles)
    second = delayed(_encoded_like)(delayed(_Encoded.without_rows)(first), other, roles)
    made = [
        delayed(_counts)(first, second, aligned, k),
        delayed(_facts)(first),
        delayed(_facts_of_both)(first, second),
    ]
    cut = [
        [delayed(_cut)(whole, start, stop) for start, stop in some]
        for whole, some in zip((first, second), ends, strict=True)
    ]
    counted, facts, facts_of_both, *rows = persist(*made, *cut[0], *cut[1])
    with _partitions_of("originals", name):
        before, outline, own = compute(facts)[0]
    with _partitions_of("avatars", name):
        after, others, appeared = compute(facts_of_both)[0]
    count = len(cut[0])
    known = Alike(before, after, outline, (own, others, appeared), counted)
    return known, (rows[:count], rows[count:])


@contextmanager
def _partitions_of(what: str, name: Hashable) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise InputError(f"{what}: a partition lacks column {name!r}") from error


def _read(name: Hashable, pieces: Scan | Sequence[Any], what: str) -> frames.Series:
    if isinstance(pieces, Scan):
        return pieces.get_column(name)
    try:
        return whole_column(name, pieces)
    except InputError as error:
        raise InputError(f"{what}, {error}") from error


def _encoded(name: Hashable, pieces: Scan | Sequence[Any], roles: Roles) -> _Encoded:
    notes: list[Reason] = []
    series = _read(name, pieces, "originals")
    return _Encoded(encoded_column(name, series, roles, notes), _shown(series), notes)


def _shown(series: frames.Series) -> Any:
    """A few rows with its dtype, its time zone and its missing values."""
    if series.dtype == nw.Object:
        return frames.like(series).to_native()
    missing = frames.is_missing(series)
    rows = np.unique([missing.argmin(), missing.argmax()])
    return series[rows.tolist()].to_native()  # its categories too, in use or not


def _encoded_like(first: _Encoded, pieces: Scan | Sequence[Any], roles: Roles) -> _Encoded:
    name = first.column.name
    known = Table(frames.wrap(_frame(first.shown, name)), (first.column,), roles)
    found = known.like(_frame(_read(name, pieces, "avatars").to_native(), name))
    return _Encoded(found.columns[0], None, list(found.notes))


def _frame(native: Any, name: Hashable) -> Any:
    """A dataframe of one column of Polars or pandas."""
    import pandas as pd
    import polars as pl

    if isinstance(native, pl.Series):
        return native.to_frame(str(name))
    frame = pd.Series(native).to_frame("x")
    frame.columns = pd.Index([name], tupleize_cols=False)
    return frame


def _facts(first: _Encoded) -> tuple[Column, Outline, list[Reason]]:
    return _bare(first.column), Outline.of(first.column), first.notes


def _facts_of_both(first: _Encoded, second: _Encoded) -> tuple[Column, list[Reason], list[Reason]]:
    return _bare(second.column), second.notes, appeared_in(first.column, second.column)


def _bare(column: Column) -> Column:
    """Neither rows nor levels, which may be many: codes are enough from here on."""
    column = regions.with_rows(column, regions.no_rows(values_of(column)))
    none = np.empty(0, dtype=np.int64)
    return replace(column, labels=(), first=none) if isinstance(column, Levels) else column


def _counts(first: _Encoded, second: _Encoded, aligned: bool, k: int) -> dict[str, Any]:
    """By function, what each metric that declares one counts of the two columns."""
    before, after = first.column, second.column
    counted = {}
    for definition in DEFINITIONS:
        if definition.count is not None:
            options = [k] if "k" in definition.options else []
            possible = aligned or "aligned" not in definition.needs
            counted[definition.count.__name__] = (
                definition.count(before, after, *options) if possible else None
            )
    return counted


def _cut(whole: _Encoded, start: int, stop: int) -> Any:
    return values_of(whole.column)[start:stop].copy()


def table_of_part(columns: Sequence[Column], rows: Sequence[Any], roles: Roles) -> Table:
    """The rows of one part, encoded."""
    pairs = zip(columns, rows, strict=True)
    return regions.table_of([regions.with_rows(column, held) for column, held in pairs], roles)
