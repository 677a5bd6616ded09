"""From what was gathered to a table in the dtypes of the originals: whole, or in parts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from sosie.compute.arrays import Ints
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import MEMORY, Storage
from sosie.compute.sums import tally
from sosie.compute.threads import each_part
from sosie.data import frames
from sosie.data.constraints import Plan
from sosie.data.frames import Series
from sosie.data.native import held, written
from sosie.data.table import Column, Levels, Numbers, Table, kept_in
from sosie.generate.gathered import Gathered, Layout

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Release"]

ROW_GROUP = 1 << 17
"""Rows of a group of a Parquet file."""


@dataclass(frozen=True)
class Release:
    """One release.

    Attributes
    ----------
    table : the originals.
    layout : which columns the arrays of `made` are of.
    made : the avatars, by place.
    places : (m,) int64, the place of each avatar in `made`, in the order of this release.
    pairing : the original of each place, int64; of the places of one part where it is the same
        for all parts.
    surrogates : (m,) int64, a number for each avatar; empty where no column asks for one.
    plan : the way back to all columns of the originals, where `table` has not all of them.
    seed : of the few levels that are drawn again on that way.
    """

    table: Table
    layout: Layout
    made: Gathered
    places: Ints
    pairing: Ints
    surrogates: Ints
    plan: Plan | None = None
    seed: int = 0

    def __len__(self) -> int:
        return len(self.places)

    @property
    def rows(self) -> Ints:
        """(m,) int64, the original of each avatar."""
        return self.pairing[self.places % len(self.pairing)]

    def column(self, name: Hashable) -> Column:
        """One encoded column."""
        column = self.table.column(name)
        if isinstance(column, Numbers):
            values = self.made.values[self.layout.numbers.index(name)]
            return replace(column, values=values.take(self.places))
        at = next(i for i, vote in enumerate(self.layout.votes) if name in vote.names)
        vote, codes = self.layout.votes[at], self.made.codes[at].take(self.places)
        if vote.parts is not None:
            codes = vote.parts[codes, vote.names.index(name)].astype(column.codes.dtype)
        return replace(column, codes=codes)

    def encoded(self, storage: Storage = MEMORY) -> Table:
        """All encoded columns, which live in `storage`."""
        columns = tuple(kept_in(storage, self.column(name)) for name in self.table.names)
        return replace(self.table, columns=columns)

    def frame(self, threads: int = 1, *, last: bool = False) -> Any:
        """A dataframe of the kind of the originals.

        Parameters
        ----------
        last : nothing more is wanted of this release; its numbers are let go as they are
            written, which a large table needs.
        """
        if self.plan is None:
            return self._written(threads, last)
        return self._restored(self.plan, threads, last)

    def _restored(self, plan: Plan, threads: int, last: bool) -> Any:
        """All columns of the originals, restored place by place: in any order, the same avatars."""
        surrogates = np.empty_like(self.surrogates)
        if len(surrogates):
            surrogates[self.places] = self.surrogates
        by_place = replace(self, places=np.arange(len(self)), surrogates=surrogates, plan=None)
        whole = plan.backward(by_place._written(threads, last), self.seed)
        return frames.reordered(whole, self.places)

    def _written(self, threads: int, last: bool) -> Any:
        columns: dict[Hashable, object] = dict.fromkeys(self._names)

        def write(part: slice) -> None:
            for name in self._names[part]:
                columns[name] = self._outside(name)
                if columns[name] is None:
                    column = self.column(name)
                    columns[name] = written(column, self._series(name))
                    if last and isinstance(column, Numbers):
                        self._let_go(name)

        each_part(write, len(columns), 1, threads if len(self) > BLOCK else 1)
        return frames.assemble(self.table.frame, columns)

    def batches(self, storage: Storage, size: int = ROW_GROUP) -> Iterator[pl.DataFrame]:
        """The same as Polars dataframes of some rows each; columns wait in `storage`."""
        import polars as pl

        outside: dict[Hashable, Any] = {}
        columns: dict[Hashable, tuple[Column, Series]] = {}
        for name in self._names:
            outside[name] = self._outside(name)
            if outside[name] is None and self._lists_its_values(name):
                outside[name] = written(self.column(name), frames.like(self._series(name)))
            if outside[name] is None:
                columns[name] = _waiting(self.column(name), self._series(name), storage)
            storage.forget()
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield pl.DataFrame(
                {
                    name: _some(*columns[name], part) if held is None else held[part]
                    for name, held in outside.items()
                }
            )
            storage.forget()

    def write_parquet(self, file: IO[bytes], storage: Storage) -> None:
        """Write a Parquet file, a group of rows at a time."""
        from polars.io.plugins import register_io_source

        batches = self.batches(storage)
        first = next(batches)

        def source(names: Sequence[str] | None, *_: object) -> Iterator[pl.DataFrame]:
            yield first if names is None else first.select(names)
            for batch in batches:
                yield batch if names is None else batch.select(names)

        lazy = register_io_source(source, schema=first.schema)
        lazy.sink_parquet(file, row_group_size=ROW_GROUP, maintain_order=True)

    def _lists_its_values(self, name: Hashable) -> bool:
        """Whether a number is written as a category, whose levels all rows make together."""
        dtype = self._series(name).dtype
        listed = dtype in (nw.Enum, nw.Categorical)
        return listed and isinstance(self.table.column(name), Numbers)

    def _let_go(self, name: Hashable) -> None:
        self.made.values[self.layout.numbers.index(name)] = np.empty(0)

    @property
    def _names(self) -> list[Hashable]:
        drop = self.table.roles.drop
        return [name for name in self.table.frame.columns if name not in drop]

    def _series(self, name: Hashable) -> Series:
        return frames.column(self.table.frame, name)

    def _outside(self, name: Hashable) -> Any:
        """A native column that takes no part in the method, or None."""
        if name in self.table.roles.keep:
            series = self._series(name)
            if name in self.table.roles.keep_anyway or not _has_ways(series):
                return frames.take(series, self.rows)
            # Whose row it is must not show in how equal values are written.
            return held(series, frames.alike(series)[self.rows]).to_native()
        if name in self.table.roles.id:
            return frames.surrogates(self._series(name), self.surrogates)
        return None


def _waiting(column: Column, series: Series, storage: Storage) -> tuple[Column, Series]:
    """A column on its way to a file, with the few native values that writing it needs."""
    if isinstance(column, Numbers):
        return replace(column, values=storage.keep(column.values)), frames.like(series)
    present = tally(column.codes, len(column.labels)) > 0
    number = (np.cumsum(present) - 1).astype(column.codes.dtype)
    used, codes = np.flatnonzero(present), number.take(column.codes)
    levels = held(series, column.first[used])
    return replace(column, codes=storage.keep(codes), first=np.arange(len(used))), levels


def _has_ways(series: Series) -> bool:
    """Whether equal values can be written in several ways: -0, NaN beside None, 1 beside 1.0."""
    return series.dtype.is_float() or series.dtype in (nw.Object, nw.Unknown)


def _some(column: Column, series: Series, part: slice) -> Any:
    if isinstance(column, Levels):
        return series.to_native().gather(column.codes[part])
    return written(replace(column, values=column.values[part]), series)
