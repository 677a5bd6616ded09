"""Columns of a Dask dataframe or of Parquet files, encoded whole, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from sosie.cluster.scheduling import compute, delayed, persist
from sosie.cluster.shuffle import no_rows_of
from sosie.cluster.sizes import sized
from sosie.compute.arrays import Ints
from sosie.data import frames
from sosie.data.identifiers import IdentifierError, Suspect, suspect
from sosie.data.parquet import Scan
from sosie.data.table import Column, Levels, Numbers, Roles, check_linked, encoded_column
from sosie.errors import InputError, Reason, quoted
from sosie.generate.settings import Settings
from sosie.words.readings import warning_of

__all__ = [
    "REGION",
    "Encoder",
    "cuts_of",
    "encoded_columns",
    "in_order",
    "lengths_of",
    "names_and_lengths",
    "pieces_of",
    "shown_of",
    "whole_column",
]

REGION = 1 << 17
"""Rows of a region: what is done to one takes some 200 MB."""


SIDE_BY_SIDE = 2
"""Columns encoded at the same time: each takes memory of one worker."""


def names_and_lengths(data: Any, roles: Roles) -> tuple[list[Hashable], list[int]]:
    """The columns of a table, and how many rows each partition has.

    Raises
    ------
    InputError
        There is nothing to make avatars from, or a role can't be had on a cluster.
    """
    names = list(data.columns)
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise InputError(f"several columns have the same name: {quoted(repeated)}")
    if not names:
        raise InputError("the table has no columns")
    roles.check(names)
    if roles.id:
        raise InputError(
            f"surrogates for {quoted(roles.id)} are not made on a cluster: leave the column out"
            " (--drop), and number the avatars afterwards"
        )
    lengths = lengths_of(data, names[0])
    if not sum(lengths):
        raise InputError("the table has no rows")
    return names, lengths


def cuts_of(lengths: Sequence[int]) -> tuple[Ints, list[tuple[int, int]]]:
    """Parts of at most `REGION` rows: where they end, and where each is in the partitions.

    Returns
    -------
    ends : (parts + 1,) int64, numbers of rows.
    sources : the partition of each part, and its first row there.

    >>> ends, sources = cuts_of([0, 3])
    >>> ends.tolist(), sources
    ([0, 0, 3], [(0, 0), (1, 0)])
    """
    sizes, sources = [], []
    for partition, length in enumerate(lengths):
        for start in range(0, max(length, 1), REGION):
            sizes.append(min(REGION, length - start))
            sources.append((partition, start))
    return np.cumsum([0, *sizes]), sources


def pieces_of(data: Any, name: Hashable) -> list[Any]:
    """One column of each partition; where data come from Parquet, nothing else is read."""
    if isinstance(data, Scan):
        return [delayed(_read)(data, part, name) for part in range(len(data.files))]
    return list(data[[name]].to_delayed())


def _read(scan: Scan, part: int, name: str) -> Any:
    """One column of one file, in Arrow's types, which hold missing values of every type."""
    return frames.in_pandas(scan.part(part, [name]).to_series()).to_frame(name)


def lengths_of(data: Any, name: Hashable) -> list[int]:
    """Rows of each partition."""
    if isinstance(data, Scan):
        return list(data.counts)
    return list(compute(*(delayed(len)(piece) for piece in pieces_of(data, name))))


@dataclass(frozen=True)
class Encoder:
    """What a method makes of a column, or of a group of linked ones, whole.

    Attributes
    ----------
    column : puts a column first in the form that the method wants.
    made : what is known of the group without its rows (its `columns` and `outlines`, and which
        levels are `drawable`), and arrays of its rows; what deserves a look is added to the list.
    """

    column: Callable[[Column], Column]
    made: Callable[[Sequence[Column], Settings, list[Reason]], tuple[Any, tuple[Any, ...]]]


def encoded_columns(
    data: Any,
    names: Sequence[Hashable],
    roles: Roles,
    settings: Settings,
    ends: Ints,
    encoder: Encoder,
) -> tuple[tuple[Any, ...], dict[Hashable, Any], list[list[Any]]]:
    """Encode each column or linked group whole, and cut it into parts.

    Returns
    -------
    groups : what is known of them.
    held : native values that writing avatars needs.
    rows : for each group, its encoded rows in each part, on the cluster.
    """
    import warnings

    outside = {*roles.keep, *roles.drop, *roles.id}
    linked = {name: group for group in roles.linked for name in group}
    asked = [linked.get(name, (name,)) for name in names if name not in outside]
    groups: list[Any] = []
    rows: list[list[Any]] = []
    held: dict[Hashable, Any] = {}
    suspects: list[Suspect] = []

    def begin(own: Sequence[Hashable]) -> tuple[Any, ...]:
        # Files are read by the task itself, which so never holds a column twice.
        pieces = data if isinstance(data, Scan) else [pieces_of(data, name) for name in own]
        whole = delayed(_encoded)(own, pieces, roles, settings, encoder)
        cut = [delayed(_cut)(whole, int(a), int(b)) for a, b in pairwise(ends)]
        return persist(delayed(_facts)(whole), *cut)

    begun = map(begin, dict.fromkeys(asked))
    waiting = deque(islice(begun, SIDE_BY_SIDE))
    while waiting:
        facts, *cut = waiting.popleft()
        group, natives, notes, identifiers = compute(facts)[0]
        for note in notes:
            warnings.warn(warning_of(note), stacklevel=4)
        groups.append(group)
        held |= natives
        suspects += identifiers
        rows.append(cut)
        del facts
        waiting.extend(islice(begun, 1))
    if suspects:
        raise IdentifierError(suspects)
    if not groups:
        raise InputError(
            "no column is left to make avatars from: all are kept, dropped or identifiers"
        )
    # Categories first, then numbers, as on one machine.
    order = sorted(range(len(groups)), key=lambda i: isinstance(groups[i].columns[0], Numbers))
    return tuple(groups[i] for i in order), held, [rows[i] for i in order]


@sized
@dataclass(frozen=True)
class _Encoded:
    group: Any
    natives: dict[Hashable, Any]
    notes: list[Reason]
    identifiers: list[Suspect]
    arrays: tuple[Any, ...]


def _encoded(
    names: Sequence[Hashable],
    pieces: Scan | Sequence[Sequence[Any]],
    roles: Roles,
    settings: Settings,
    encoder: Encoder,
) -> _Encoded:
    """A column or a linked group, whole, with arrays of its rows."""
    notes: list[Reason] = []
    columns: list[Column] = []
    natives: dict[Hashable, Any] = {}
    suspects: list[Suspect] = []
    for i, name in enumerate(names):
        series = (
            pieces.get_column(name) if isinstance(pieces, Scan) else whole_column(name, pieces[i])
        )
        column = encoder.column(encoded_column(name, series, roles, notes))
        columns.append(column)
        natives[name] = _shown(column, series)
        answered = name in (*roles.categorical, *roles.numeric, *roles.date)
        found = None if answered else suspect(name, series)
        suspects += [] if found is None else [found]
        del series
    for column in columns if len(columns) > 1 else ():
        check_linked(column)
    group, arrays = (None, ()) if suspects else encoder.made(columns, settings, notes)
    return _Encoded(group, natives, notes, suspects, arrays)


def _shown(column: Column, series: frames.Series) -> Any:
    """Native values of the levels of a column, or of numbers some that show dtype and style."""
    if isinstance(column, Levels):
        native: Any = frames.take(series, column.first)
    else:
        native = frames.like(series).to_native()
    if type(native).__module__.startswith("polars"):
        native = frames.in_pandas(native)
    return native


def whole_column(name: Hashable, parts: Sequence[Any]) -> frames.Series:
    """One column of all partitions. Raises InputError where their types do not go together."""
    import pandas as pd

    held = [part[name] for part in parts if len(part)]
    first = held[0].dtype
    for i, part in enumerate(parts):
        if len(part) and _kind(part[name].dtype) != _kind(first):
            raise InputError(
                f"partition {i}: column {name!r} is {first} in the first partition with rows and"
                f" {part[name].dtype} here; give all partitions one type"
            )
    if isinstance(first, pd.CategoricalDtype):
        from pandas.api.types import union_categoricals

        same = all(series.dtype == first for series in held)
        joined = pd.Series(union_categoricals(held, ignore_order=not same))
    else:
        joined = pd.concat(held, ignore_index=True)
    return frames.column(frames.wrap(joined.to_frame("x")), "x")


def _kind(dtype: Any) -> str:
    """What must be the same in all partitions; numbers may be whole in some and not in others."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return f"category of {_kind(dtype.categories.dtype)}"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if isinstance(dtype, pd.StringDtype) or pd.api.types.is_object_dtype(dtype):
        return "text"
    return str(dtype)


def _facts(whole: _Encoded) -> tuple[Any, dict[Hashable, Any], list[Reason], list[Suspect]]:
    return whole.group, whole.natives, whole.notes, whole.identifiers


def _cut(whole: _Encoded, start: int, stop: int) -> tuple[Any, ...]:
    part = slice(start, stop)
    return tuple(_some(array, part) for array in whole.arrays)


def _some(arrays: Any, part: slice) -> Any:
    """Some rows of an array, or of each of several; None stays None."""
    if isinstance(arrays, tuple):
        return tuple(_some(array, part) for array in arrays)
    return None if arrays is None else arrays[part].copy()


def in_order(outlines: Sequence[Any], names: Sequence[Hashable]) -> list[Any]:
    """Columns in the order of the table."""
    place = {name: i for i, name in enumerate(names)}
    return sorted(outlines, key=lambda outline: place[outline.name])


def shown_of(kept: Mapping[Hashable, Sequence[Any]]) -> dict[Hashable, Any]:
    """An empty column of the dtype of each that is kept."""
    empty = compute(*(delayed(no_rows_of)(pieces[0]) for pieces in kept.values()))
    return {name: one[name] for name, one in zip(kept, empty, strict=True)}
