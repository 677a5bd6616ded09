"""A release as a Dask dataframe, in the dtypes and the order that are published."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.cluster.shuffle import KEY
from sosie.data import frames
from sosie.data.native import written
from sosie.data.table import Levels, Numbers, Roles
from sosie.generate.release import Release
from sosie.generate.settings import Settings

__all__ = ["Shared", "in_order_of_keys", "native_frame"]


@dataclass(frozen=True)
class Shared:
    """What every part of a release needs."""

    groups: tuple[Any, ...]
    held: Mapping[Hashable, Any]
    names: tuple[Hashable, ...]
    roles: Roles
    settings: Settings


def native_frame(shared: Shared, drawn: Release, kept: Mapping[Hashable, Any]) -> Any:
    """Avatars as the table has them, in columns that are numbered.

    Parameters
    ----------
    kept : columns that stay as they are, in the order of the avatars.
    """
    import pandas as pd

    natives: dict[Hashable, Any] = {}
    for name in shared.names:
        if name in kept:
            natives[name] = kept[name].reset_index(drop=True)
            continue
        column, series = drawn.column(name), _series(shared.held[name])
        if isinstance(column, Levels):
            column = replace(column, first=np.arange(len(column.labels)))
        natives[name] = _alike(pd.Series(written(column, series)), name, shared)
    frame = pd.concat(natives.values(), axis=1)
    frame.columns = pd.Index(_numbered(natives))
    return frame


def _series(native: Any) -> frames.Series:
    import pandas as pd

    return frames.column(frames.wrap(pd.Series(native).to_frame("x")), "x")


def _alike(series: Any, name: Hashable, known: Shared) -> Any:
    """Categories are the same in all parts: those that may be drawn, and no others."""
    import pandas as pd

    if not isinstance(series.dtype, pd.CategoricalDtype):
        return series
    held: Any = known.held[name]
    group = next(g for g in known.groups if any(c.name == name for c in g.columns))
    if isinstance(group.columns[0], Numbers):  # each part has categories of its own
        return series.astype(series.cat.categories.dtype)
    levels = group.drawable(name)
    drawn = {*(range(len(held)) if levels is None else levels.tolist())}
    names = {value for i, value in enumerate(held) if i in drawn}
    return series.cat.set_categories([c for c in held.cat.categories if c in names])


def _avatars_meta(known: Shared, shown: Mapping[Hashable, Any]) -> Any:
    """An empty dataframe with the dtypes of a release."""
    import pandas as pd

    columns = {}
    for name in known.names:
        if name in known.held:
            columns[name] = _alike(pd.Series(known.held[name])[:0], name, known)
        else:
            columns[name] = shown[name]
    frame = pd.concat(columns.values(), axis=1)
    frame.columns = pd.Index(_numbered(columns))
    frame[KEY] = np.empty(0, dtype=np.int64)
    return frame


def _numbered(names: Iterable[Hashable]) -> list[str]:
    """Names that Dask can work with, whatever those of the table are."""
    return [str(number) for number, _ in enumerate(names)]


def in_order_of_keys(
    made: Sequence[Any], known: Shared, shown: Mapping[Hashable, Any], rows: int | None
) -> Any:
    """A Dask dataframe of avatars, delayed, that have a number each.

    Parameters
    ----------
    shown : column that is kept -> an empty one of its dtype.
    rows : numbers are below it; None where they are any of 63 bits.
    """
    import dask.dataframe as dd

    meta = _avatars_meta(known, shown)
    frame = dd.from_delayed(list(made), meta=meta, verify_meta=False)
    last = 2**63 - 1 if rows is None else max(rows - 1, 1)
    inner = {last * i // len(made) for i in range(1, len(made))}
    ordered = frame.set_index(KEY, divisions=sorted({0, *inner, last}))
    named = _named(meta.drop(columns=KEY), known.names)
    return ordered.map_partitions(_named, known.names, meta=named).clear_divisions()


def _named(part: Any, names: Sequence[Hashable]) -> Any:
    """A part of a release with the table's own names, and an index of its own."""
    import pandas as pd

    part = part.reset_index(drop=True)
    part.columns = pd.Index(list(names), tupleize_cols=False)
    return part
