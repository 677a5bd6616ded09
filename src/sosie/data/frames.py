"""The only room that knows which dataframe it holds: pandas, polars or pyarrow.

Everything else sees NumPy arrays. Columns are read here, and columns of the same
dtype are built here from what the method drew.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, cast

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Codes, Floats, Ints, Mask
from sosie.errors import InputError, quoted

__all__ = [
    "Columns",
    "Frame",
    "Holds",
    "Series",
    "alike",
    "assemble",
    "build",
    "build_text",
    "column",
    "factorize",
    "floats",
    "holds",
    "in_pandas",
    "in_zone_of",
    "is_missing",
    "is_wrapped",
    "like",
    "objects",
    "objects_at",
    "reordered",
    "surrogates",
    "take",
    "take_rows",
    "ticks",
    "ticks_per_day",
    "wrap",
]

Frame = nw.DataFrame[Any]
Series = nw.Series[Any]

Holds = Literal["boolean", "whole", "real", "moment", "nested", "other"]
"""What a column holds: ``moment`` is a date, a time of day or a duration."""

FEW_ROWS, UNSEEN = 2**12, -2

SHORT_RANGE = 2**16
"""Whole numbers within such a range are counted instead of hashed."""

NO_NAMES = ("None", "nan", "NaT", "<NA>")
"""How a missing name is shown."""

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = dt.timedelta(days=1)
_MICROSECOND = dt.timedelta(microseconds=1)
_EPOCH = dt.datetime(1970, 1, 1)  # naive: moments are read by their wall clock


class Columns(ABC):
    """A table that is not in memory and is read a column at a time."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """Names of the columns."""

    @abstractmethod
    def get_column(self, name: Hashable) -> Series:
        """One column, whole."""

    @abstractmethod
    def __len__(self) -> int:
        """How many rows there are."""


def wrap(frame: object) -> Frame:
    """Accept a pandas, polars or pyarrow table, or one that is read a column at a time.

    Raises
    ------
    InputError
        For anything else, for a lazy frame, and for column names that repeat, are missing or
        are tuples of one level.
    """
    if isinstance(frame, Columns):
        return cast(Frame, frame)
    frame = nw.to_native(frame, pass_through=True)  # whose names may have several levels
    kind = f"{type(frame).__module__}.{type(frame).__name__}"
    if "Lazy" in kind:  # its columns are not asked for: that may be long
        raise InputError(
            f"expected a pandas, polars or pyarrow table, got {kind}; collect it first"
        )
    names = getattr(frame, "column_names", getattr(frame, "columns", ()))
    seen: dict[Hashable, int] = {}
    for name in () if callable(names) else names:
        seen[name] = seen.get(name, 0) + 1
    for place, name in enumerate(seen, 1):
        lone = isinstance(name, tuple) and getattr(names, "nlevels", 1) == 1
        if lone or (not isinstance(name, str) and str(name) in NO_NAMES):
            raise InputError(
                f"column {place} is named {name!r}; the name of a column must be text or a number:"
                " rename it"
            )
    repeated = [name for name, times in seen.items() if times > 1]
    if repeated:
        raise InputError(f"several columns have the same name: {quoted(repeated)}")
    try:
        wrapped: Frame = nw.from_native(cast(Any, frame), eager_only=True)
    except TypeError as error:
        raise InputError(f"expected a pandas, polars or pyarrow table, got {kind}") from error
    if not any(_is(wrapped, name) for name in ("pandas", "polars", "pyarrow")):
        raise InputError(
            f"tables of {wrapped.implementation} are not supported; "
            "convert to pandas, polars or pyarrow"
        )
    return wrapped


def column(frame: Frame, name: Hashable) -> Series:
    """A column by its name, which in pandas may be a number."""
    return frame.get_column(cast(str, name))


def _is(data: Frame | Series, name: str) -> bool:
    return bool(getattr(data.implementation, f"is_{name}")())


# ---------------------------------------------------------------- Arrow columns


def _arrow(series: Series) -> Any:
    """The Arrow column of a pyarrow table or of a pandas column of Arrow dtype, else None."""
    native = series.to_native()
    if _is(series, "pyarrow"):
        return native
    if _is(series, "pandas"):
        import pandas as pd

        if isinstance(native.dtype, pd.ArrowDtype):
            import pyarrow as pa

            return pa.chunked_array(native.array.__arrow_array__())
    return None


def _from_arrow(series: Series, array: Any) -> Any:
    """An Arrow column as the native kind of `series`."""
    if _is(series, "pyarrow"):
        return array
    import pandas as pd

    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def _whole_arrow(array: Any) -> Any:
    """One contiguous Arrow array, of a type that every kernel knows (views are spelt out)."""
    import pyarrow as pa

    kind = array.type
    for name, plain in (("string_view", pa.large_string()), ("binary_view", pa.large_binary())):
        if getattr(pa.types, f"is_{name}", bool)(kind):
            array = array.cast(plain)
    whole = array.combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


# ---------------------------------------------------------------- reading


def holds(series: Series) -> Holds:
    """What a column holds, whatever the dataframe calls it."""
    dtype = series.dtype
    if dtype.is_nested() or type(dtype).__name__ == "Map":
        return "nested"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_integer():
        return "whole"
    if dtype.is_numeric():
        return "real"
    if dtype.is_temporal():
        return "moment"
    if dtype == nw.Object:
        return _objects_hold(objects(series)) if _is(series, "pandas") else "nested"
    return _unknown_holds(series) if dtype == nw.Unknown else "other"


def _unknown_holds(series: Series) -> Holds:
    array, dtype = _arrow(series), series.to_native().dtype if _is(series, "pandas") else None
    if array is not None:
        import pyarrow as pa

        if pa.types.is_nested(array.type) or isinstance(array.type, pa.BaseExtensionType):
            return "nested"
        if pa.types.is_decimal(array.type):
            return "real"
        return "moment" if pa.types.is_temporal(array.type) and _unit(series) else "other"
    if _zone(series) is not None:  # narwhals misses zones such as America/New_York
        return "moment"
    return "nested" if str(dtype).lower().startswith(("sparse", "complex")) else "other"


def _zone(series: Series) -> Any:
    """The time zone of a column of moments, or None."""
    if _is(series, "polars"):
        return getattr(series.to_native().dtype, "time_zone", None)
    array = _arrow(series)
    return getattr(series.to_native().dtype if array is None else array.type, "tz", None)


def _unit(series: Series) -> str | None:
    """The unit in which moments are counted; None for days, or for what is not counted."""
    array, native = _arrow(series), series.to_native()
    if array is not None:
        import pyarrow as pa

        return "ms" if pa.types.is_date64(array.type) else getattr(array.type, "unit", None)
    if _is(series, "polars"):
        return "ns" if series.dtype == nw.Time else getattr(native.dtype, "time_unit", None)
    dtype = native.dtype
    return (
        np.datetime_data(dtype)[0] if isinstance(dtype, np.dtype) else getattr(dtype, "unit", None)
    )


def _objects_hold(values: Sequence[Any]) -> Holds:
    present = [value for value in values if value is not None]
    if any(isinstance(v, list | tuple | dict | set | frozenset | np.ndarray) for v in present):
        return "nested"
    if all(isinstance(v, bool) for v in present):
        return "boolean"
    if all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in present):
        short = all(isinstance(v, int) and -(2**63) <= v < 2**63 for v in present)
        return "whole" if short else "real"
    alike = len({type(v) for v in present}) == 1
    return (
        "moment" if alike and isinstance(present[0], dt.date | dt.time | dt.timedelta) else "other"
    )


def is_missing(series: Series) -> Mask:
    """Where a value is missing: None, NaN, NaT and NA are all the same, ``(n,) bool``."""
    real = series.dtype.is_float()
    if not real and not series.null_count():
        return np.zeros(len(series), dtype=bool)
    mask = series.is_null()
    if real:
        mask = mask | series.is_nan().fill_null(True)
    return np.asarray(mask.to_numpy(), dtype=bool)


def factorize(series: Series) -> tuple[Codes, Ints]:
    """Codes of the distinct values, in order of first appearance.

    Returns
    -------
    codes : (n,) int32
        -1 where missing.
    first : (L,) int64
        The first row that holds each distinct value.
    """
    lost = is_missing(series)
    if (
        series.dtype.is_integer()
        and not lost.any()
        and (places := _short_range(series)) is not None
    ):
        return _by_appearance(places)
    if _is(series, "polars"):
        heads = _heads_polars(series.to_native())
        heading = heads == np.arange(len(heads))
        codes = (np.cumsum(heading, dtype=np.int32) - 1)[heads]
        if not lost.any():
            return codes, np.flatnonzero(heading)
    elif (array := _arrow(series)) is not None:
        whole = _whole_arrow(array)
        import pyarrow as pa

        encoded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    else:
        codes = _factorize_pandas(series)
    codes[lost] = -1
    return _by_appearance(codes)


def _short_range(series: Series) -> Codes | None:
    """Whole numbers counted from the least, if the greatest is not far: no hash is needed."""
    low, high = int(series.min()), int(series.max())
    if high - low >= SHORT_RANGE or high >= 2**63:
        return None
    values = _plain(series, np.zeros(len(series), dtype=bool), np.int64)
    places = np.empty(len(values), dtype=np.int32)
    np.subtract(values, low, out=places, casting="unsafe")
    return places


def _heads_polars(native: Any) -> NDArray[Any]:
    """For each row, the first row of the same value."""
    import polars as pl

    rows = native.alias("value").to_frame().with_row_index("row")
    return np.asarray(rows.select(pl.col("row").first().over("value"))["row"].to_numpy())


def _factorize_pandas(series: Series) -> Codes:
    import pandas as pd

    native = series.to_native()
    if native.dtype == object:
        # 1, 1.0 and True hash alike in Python: values are told apart by their text.
        texts = [v if isinstance(v, str) else v if v is None else repr(v) for v in objects(series)]
        native = pd.Series(texts, dtype=object)
    codes, _ = pd.factorize(native)
    return np.array(codes, dtype=np.int32)


def _by_appearance(codes: Codes) -> tuple[Codes, Ints]:
    """Renumber codes densely in order of first appearance; -1 stays."""
    size = int(codes.max(initial=-1)) + 1
    # Most columns show all they hold in a few rows; where one does not, all are looked at.
    for head in (codes[:FEW_ROWS], codes):
        first = np.full(size + 1, len(codes), dtype=np.int64)
        # The last write, so the first row, stays; -1 writes into the place behind the others.
        first[head[::-1]] = np.arange(len(head) - 1, -1, -1)
        used = np.flatnonzero(first[:size] < len(codes))
        order = used[np.argsort(first[used])]
        renumbered = np.full(size + 1, UNSEEN, dtype=np.int32)
        renumbered[order] = np.arange(len(order), dtype=np.int32)
        renumbered[-1] = -1
        found = renumbered.take(codes)
        if found.min(initial=0) > UNSEEN:
            break
    return found, first[order]


def objects(series: Series) -> list[Any]:
    """Python values; every missing value is None."""
    missing = is_missing(series)
    values = [None if lost else v for v, lost in zip(series.to_list(), missing, strict=True)]
    return [v.item() if isinstance(v, np.number | np.bool_) else v for v in values]


def alike(series: Series) -> Ints:
    """For each row, the first one with an equal value, ``(n,) int64``; missing equals missing."""
    codes, first = factorize(series)
    lost = np.flatnonzero(codes < 0)[:1]
    return np.concatenate([first, lost])[codes]  # the last one serves the code -1


def objects_at(series: Series, rows: Ints) -> list[Any]:
    """Python values of some rows."""
    array = _arrow(series)
    if array is not None:
        import pyarrow as pa

        return list(_whole_arrow(array).take(pa.array(rows)).to_pylist())
    native = series.to_native()
    picked = native.iloc[rows] if _is(series, "pandas") else native.gather(rows)
    return [v.item() if isinstance(v, np.number | np.bool_) else v for v in picked.to_list()]


def is_wrapped(series: Series) -> bool:
    """Whether `ticks` of the column are unsigned numbers, to be read as uint64."""
    return bool(series.dtype == nw.UInt64)


def floats(series: Series) -> Floats:
    """Values as ``(n,) float64``, missing as NaN; those of float32 as they are written."""
    dtype = series.dtype
    if dtype == nw.Object or dtype.is_decimal() or dtype == nw.Unknown:
        codes, first = factorize(series)
        distinct = [float(value) for value in objects_at(series, first)]
        return np.array([*distinct, np.nan])[codes]  # the last one serves the code -1
    missing = is_missing(series)
    values = _plain(series, missing, np.float64)
    if dtype == nw.Float32:
        values = _as_written(values)
    return np.where(missing, np.nan, values) if missing.any() else values


def _as_written(values: Floats) -> Floats:
    """The doubles that float32 values stand for: 0.1, not 0.10000000149."""
    single = values.astype(np.float32)
    known, back = np.unique(single, return_inverse=True)
    return np.array([float(str(value)) for value in known])[back]


def ticks(series: Series) -> Ints:
    """Whole numbers, dates, times and durations as ``(n,) int64``; missing as 0.

    Dates count days or the series' own unit since 1970, by the wall clock where there
    is a time zone, so that midnights stay midnights; unsigned numbers above the range
    of int64 are wrapped, as is undone by `build`.

    Raises
    ------
    InputError
        Whole numbers of 128 bits that do not fit in 64.
    """
    missing = is_missing(series)
    if series.dtype == nw.Object:
        values = [0 if value is None else _object_tick(value) for value in objects(series)]
        return np.array(values, dtype=np.int64)
    if series.dtype.is_integer():
        return _whole_ticks(series, missing)
    array = _arrow(series)
    if array is not None:
        return _arrow_ticks(array)
    if _is(series, "polars"):
        import polars as pl

        native = series.to_native()
        if getattr(native.dtype, "time_zone", None):
            native = native.dt.replace_time_zone(None)
        physical = native.to_physical().cast(pl.Int64).fill_null(0)
        return np.asarray(physical.to_numpy(), dtype=np.int64)
    native = series.to_native()
    if getattr(native.dtype, "tz", None) is not None:
        native = native.dt.tz_localize(None)
    counted = native.to_numpy().view(np.int64).copy()
    counted[missing] = 0
    return np.asarray(counted, dtype=np.int64)


def _whole_ticks(series: Series, missing: Mask) -> Ints:
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):
        low, high = int(series.min() or 0), int(series.max() or 0)
        if not -(2**63) <= low <= high < 2**63:
            raise InputError(
                f"column {series.name!r} ({dtype}) holds whole numbers beyond 64 bits; "
                "drop it (--drop) or keep it as it is (--keep)"
            )
        series = series.cast(nw.Int64)
    if dtype == nw.UInt64:
        return _plain(series, missing, np.uint64).view(np.int64)
    return _plain(series, missing, np.int64)


def _arrow_ticks(array: Any) -> Ints:
    import pyarrow as pa

    if getattr(array.type, "tz", None) is not None:
        import pyarrow.compute as pc

        array = pc.local_timestamp(array)
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    counted = _whole_arrow(array.cast(width).cast(pa.int64())).fill_null(0)
    return np.asarray(counted.to_numpy(zero_copy_only=False), dtype=np.int64)


def _object_tick(value: Any) -> int:
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    if isinstance(value, dt.date):
        return value.toordinal() - _EPOCH.toordinal()
    if isinstance(value, dt.time):
        return (dt.datetime.combine(_EPOCH, value, tzinfo=None) - _EPOCH) // _MICROSECOND
    return value // _MICROSECOND if isinstance(value, dt.timedelta) else int(value)


def ticks_per_day(series: Series) -> int:
    """How many ticks of `ticks` make a day; 1 for dates."""
    if series.dtype == nw.Object:
        present = next(value for value in objects(series) if value is not None)
        is_date = isinstance(present, dt.date) and not isinstance(present, dt.datetime)
        return 1 if is_date else _DAY // _MICROSECOND
    unit = _unit(series)
    return 86_400 * _PER_SECOND[unit] if unit else 1


def in_zone_of(series: Series, other: Series) -> Series:
    """The same moments on the wall clock of `other`: its time zone, or UTC if it has none."""
    own, wanted = _zone(series), _zone(other)
    if own is None or str(own) == str(wanted) or other.dtype == nw.Object:
        return series
    native, zone = series.to_native(), wanted or "UTC"
    array = _arrow(series)
    if array is not None:
        import pyarrow as pa

        converted = _from_arrow(series, array.cast(pa.timestamp(array.type.unit, str(zone))))
    elif _is(series, "polars"):
        converted = native.dt.convert_time_zone(str(zone))
    else:
        converted = native.dt.tz_convert(zone)
    return nw.from_native(converted, series_only=True)


def _plain(series: Series, missing: Mask, dtype: Any) -> NDArray[Any]:
    """Numbers as one NumPy array, which may be the column's own memory; missing as 0 or NaN."""
    fill = bool(missing.any()) and not series.dtype.is_float()
    array = _arrow(series)
    if array is None:
        filled = series.fill_null(0) if fill else series
        return np.asarray(filled.to_numpy()).astype(dtype, copy=False)
    # A chunk at a time: Arrow would put all together first, and keep that memory.
    values = np.empty(len(array), dtype=dtype)
    start = 0
    for chunk in array.chunks:
        part = chunk.fill_null(0) if fill else chunk
        values[start : start + len(chunk)] = part.to_numpy(zero_copy_only=False)
        start += len(chunk)
    return values


# ---------------------------------------------------------------- building


def like(series: Series) -> Series:
    """A few rows with the dtype and the missing style of a column: all that `build` looks at."""
    missing = series.is_null()
    if series.dtype != nw.Object:
        return series.filter(missing).head(1) if missing.any() else series.head(1)
    # Of objects, one of each type, and the one with the most decimals.
    shown: dict[object, int] = {}
    for row, value in enumerate(objects(series)):
        scale = value.as_tuple().exponent if isinstance(value, Decimal) else 0
        shown.setdefault((type(value), scale), row)
    return nw.from_native(cast(Any, take(series, np.array([*shown.values()]))), series_only=True)


def take(series: Series, rows: Ints) -> object:
    """Some rows, as a native column of the same dtype.

    Categories that the column uses and these rows do not are left out. Those that nobody used
    were declared, and stay, but for Arrow's dictionaries, which declare nothing.
    """
    native, array = series.to_native(), _arrow(series)
    if array is not None:
        return _from_arrow(series, _take_arrow(array, rows))
    if _is(series, "polars"):
        return _repacked_polars(native.gather(rows), native)
    import pandas as pd

    taken = pd.Series(native.array.take(rows), dtype=native.dtype)
    if taken.dtype != "category":
        return taken
    gone = np.setdiff1d(native.cat.codes, taken.cat.codes)
    return taken.cat.set_categories(np.delete(native.cat.categories, gone[gone >= 0]))


def _take_arrow(array: Any, rows: Ints) -> Any:
    import pyarrow as pa

    taken = _whole_arrow(array).take(pa.array(rows))
    if pa.types.is_dictionary(array.type):
        # A dictionary keeps levels that no row holds: only those in use, in their order.
        codes = taken.indices.to_numpy(zero_copy_only=False)
        missing = np.asarray(taken.indices.is_null())
        used, back = np.unique(np.where(missing, 0, codes).astype(np.int64), return_inverse=True)
        kept = np.isin(used, codes[~missing])
        new = (np.cumsum(kept) - 1)[back]
        indices = pa.array(new, mask=missing).cast(array.type.index_type)
        words = taken.dictionary.take(pa.array(used[kept]))
        taken = pa.DictionaryArray.from_arrays(indices, words, ordered=array.type.ordered)
    return pa.chunked_array([taken.cast(array.type)])


def _repacked_polars(native: Any, source: Any) -> Any:
    import polars as pl

    if isinstance(native.dtype, pl.Enum):
        here, there = (set(one.drop_nulls().unique().cast(pl.String)) for one in (native, source))
        words = [word for word in native.dtype.categories if word in here or word not in there]
        return native.cast(pl.String).cast(pl.Enum(words))
    return native.rechunk()


def build(series: Series, values: Floats | Ints, missing: Mask) -> object:
    """A native column of the dtype and missing style of `series` from numbers or ticks.

    Parameters
    ----------
    values : (m,) float64 or int64
        Numbers for number columns, ticks for whole numbers, dates and durations.
    missing : (m,) bool
        Rows without a value.
    """
    if series.dtype == nw.Object:
        return _build_objects(series, values, missing)
    if series.dtype.is_float() and missing.any() and not series.is_null().any():
        # Missing was NaN, not null, in the originals: so it stays.
        values, missing = np.where(missing, np.nan, values), np.zeros_like(missing)
    array = _arrow(series)
    if array is not None:
        return _from_arrow(series, _build_arrow(array.type, values, missing))
    native = series.to_native()
    if _is(series, "polars"):
        return _build_polars(native.dtype, values, missing)
    return _build_pandas(native.dtype, values, missing)


def _unwrapped(values: Floats | Ints) -> NDArray[Any]:
    """Undoes the wrap of `ticks`."""
    return values.view(np.uint64) if values.dtype == np.int64 else values


def _build_polars(dtype: Any, values: NDArray[Any], missing: Mask) -> Any:
    import polars as pl

    if isinstance(dtype, pl.Decimal):
        return pl.Series(_decimals(values, missing, dtype.scale), dtype=dtype)
    column = pl.Series("", _unwrapped(values) if dtype == pl.UInt64 else values)
    if missing.any():
        column = pl.select(pl.when(pl.Series("", ~missing)).then(column)).to_series()
    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        return _localized_polars(column.cast(pl.Datetime(dtype.time_unit)), zone)
    return column.cast(pl.Int32).cast(dtype) if dtype == pl.Date else column.cast(dtype)


def _localized_polars(wall: Any, zone: str) -> Any:
    """Wall clock times in a zone: the earlier of two, and an hour on where the clock skips."""
    import polars as pl

    def local(times: Any) -> Any:
        return times.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")

    utc = wall.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    candidates = pl.DataFrame({"at": local(wall), "on": local(wall.dt.offset_by("1h")), "utc": utc})
    return candidates.select(pl.coalesce("at", "on", "utc").alias("")).to_series()


def _build_arrow(kind: Any, values: NDArray[Any], missing: Mask) -> Any:
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return pa.chunked_array([pa.array(_decimals(values, missing, kind.scale), kind)])
    if not pa.types.is_temporal(kind):
        values = _unwrapped(values) if pa.types.is_uint64(kind) else values
        return pa.chunked_array([pa.array(values, mask=missing).cast(kind)])
    counted = values.astype(np.int32 if kind.bit_width == 32 else np.int64)
    array = pa.array(counted, mask=missing)
    if getattr(kind, "tz", None) is None:
        return pa.chunked_array([array.cast(kind)])
    import pyarrow.compute as pc

    wall = array.cast(pa.timestamp(kind.unit))
    local = pc.assume_timezone(wall, kind.tz, ambiguous="earliest", nonexistent="latest")
    return pa.chunked_array([local])


def _decimals(values: Floats | Ints, missing: Mask, scale: int) -> list[Decimal | None]:
    known, back = np.unique(np.where(missing, 0, values), return_inverse=True)
    written = [_decimal(value, scale) for value in known.tolist()]
    return [None if lost else written[i] for i, lost in zip(back, missing, strict=True)]


def _decimal(value: float, scale: int) -> Decimal:
    return Decimal(f"{value:.{max(scale, 0)}f}")


def _build_pandas(dtype: Any, values: Floats | Ints, missing: Mask) -> Any:
    import pandas as pd

    if isinstance(dtype, pd.DatetimeTZDtype):
        stamps = pd.Series(_stamps(values, missing, f"datetime64[{dtype.unit}]"))
        earlier = np.ones(len(stamps), dtype=bool)  # summer time, of two same readings
        return stamps.dt.tz_localize(dtype.tz, ambiguous=earlier, nonexistent="shift_forward")
    if isinstance(dtype, np.dtype):
        if dtype.kind in "mM":
            return pd.Series(_stamps(values, missing, str(dtype)))
        wide = _unwrapped(values) if dtype == np.uint64 else values
        return pd.Series(wide.astype(dtype))
    column = pd.array(_unwrapped(values) if str(dtype) == "UInt64" else values, dtype=dtype)
    column[missing] = pd.NA
    return pd.Series(column)


def _stamps(values: Floats | Ints, missing: Mask, dtype: str) -> NDArray[Any]:
    stamps = values.astype(np.int64).view(dtype)
    stamps[missing] = np.array("NaT", dtype=dtype)
    return stamps


def _build_objects(series: Series, values: Floats | Ints, missing: Mask) -> Any:
    import pandas as pd

    native, lost = series.to_native(), is_missing(series)
    absent = native[lost].iloc[0] if lost.any() else None
    like = _object_like([value for value in objects(series) if value is not None])
    cells = [absent if gone else like(v) for v, gone in zip(values.tolist(), missing, strict=True)]
    return pd.Series(cells, dtype=object)


def _object_like(present: Sequence[Any]) -> Callable[[Any], object]:
    """How a number or tick becomes an object of the type that a column holds."""
    import pandas as pd

    one = present[0]
    if isinstance(one, dt.datetime):
        native = (lambda t: t) if isinstance(one, pd.Timestamp) else pd.Timestamp.to_pydatetime
        return lambda v: native(
            pd.Timestamp(_EPOCH + v * _MICROSECOND).tz_localize(
                one.tzinfo, ambiguous=True, nonexistent="shift_forward"
            )
        )
    if isinstance(one, dt.date):
        return lambda v: dt.date.fromordinal(_EPOCH.toordinal() + v)
    if isinstance(one, dt.time):
        return lambda v: (_EPOCH + v * _MICROSECOND).time().replace(tzinfo=one.tzinfo)
    if isinstance(one, dt.timedelta):
        return lambda v: (
            type(one)(v * _MICROSECOND) if type(one) is not dt.timedelta else v * _MICROSECOND
        )
    exponents = [v.as_tuple().exponent for v in present if isinstance(v, Decimal)]
    if exponents:
        scale = max(-exponent for exponent in exponents if isinstance(exponent, int))
        return lambda v: _decimal(v, scale)
    return float if any(isinstance(v, float) for v in present) else int


def build_text(series: Series, cells: Sequence[str | None]) -> object:
    """A native column of the dtype of `series`, text or a number, from texts; None is missing."""
    lost = np.array([cell is None for cell in cells], dtype=bool)
    held = holds(series)
    if held in ("whole", "real") and series.dtype not in (nw.Categorical, nw.Enum):
        parse = int if held == "whole" else float
        return build(series, np.array([0 if c is None else parse(c) for c in cells]), lost)
    if _arrow(series) is not None:
        return _from_arrow(series, _arrow_text(_arrow(series).type, cells))
    if _is(series, "polars"):
        import polars as pl

        dtype = series.to_native().dtype
        if isinstance(dtype, pl.Enum):
            dtype = pl.Enum(sorted({cell for cell in cells if cell is not None}))
        return pl.Series(list(cells), dtype=pl.String).cast(dtype)
    import pandas as pd

    native = series.to_native()
    if native.dtype != "category":
        return pd.Series(list(cells), dtype=object).astype(native.dtype)
    codes, words = pd.factorize(pd.Series(list(cells), dtype=object))
    written = pd.Index(words).astype(native.cat.categories.dtype)
    order = written.argsort()
    rank = np.append(np.argsort(order), -1)  # the last one serves the code -1
    return pd.Series(pd.Categorical.from_codes(rank[codes], written[order], native.cat.ordered))


def _arrow_text(kind: Any, cells: Sequence[str | None]) -> Any:
    import pyarrow as pa

    array = pa.array(list(cells), pa.large_string())
    if pa.types.is_dictionary(kind):
        encoded = array.dictionary_encode()
        indices, words = encoded.indices.cast(kind.index_type), encoded.dictionary
        array = pa.DictionaryArray.from_arrays(
            indices, words.cast(kind.value_type), ordered=kind.ordered
        )
    return pa.chunked_array([array if array.type == kind else array.cast(kind)])


def surrogates(series: Series, numbers: Ints) -> object:
    """Fresh identifiers of the dtype of `series`, none of which the column held.

    Whole numbers start at the first power of ten above the originals; text is ``A1``,
    ``A2`` … (with more leading letters where an original looks so).

    Parameters
    ----------
    numbers : (m,) int64, distinct, from 0.

    Raises
    ------
    InputError
        The dtype has no room for them.
    """
    held = holds(series)
    none = np.zeros(len(numbers), dtype=bool)
    if held in ("whole", "real"):
        present = [value for value in objects(series) if value is not None]
        highest = max((abs(int(value)) for value in present), default=0)
        start = 10 ** len(str(highest))
        if all(value == int(value) for value in present) and start + len(numbers) <= _room(series):
            fresh = numbers + start
            return build(series, fresh if held == "whole" else fresh.astype(np.float64), none)
    elif held == "other" and series.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        known = {str(value) for value in objects(series)}
        prefix, digits = "A", len(str(len(numbers)))
        while any(value.startswith(prefix) for value in known):
            prefix += "A"
        cells = [f"{prefix}{number + 1:0{digits}d}" for number in numbers]
        if len(cells) <= _room(series):
            return build_text(series, cells)
    raise InputError(
        f"column {series.name!r} ({series.dtype}) can't hold new identifiers; drop it (--drop)"
    )


def _room(series: Series) -> int:
    """The largest whole number, or the most distinct texts, that the dtype can hold."""
    dtype, array = series.dtype, _arrow(series)
    if array is not None and hasattr(array.type, "index_type"):
        return int(np.iinfo(array.type.index_type.to_pandas_dtype()).max)
    kind = getattr(array, "type", series.to_native().dtype) if dtype.is_decimal() else None
    if kind is not None:
        return int(10 ** (kind.precision - kind.scale)) - 1
    if dtype.is_float():
        return 2**24 if dtype == nw.Float32 else 2**53
    name = type(dtype).__name__.removeprefix("U")
    bits = {"Int8": 8, "Int16": 16, "Int32": 32}.get(name, 64)
    return int(2 ** (bits if dtype.is_unsigned_integer() and bits < 64 else bits - 1)) - 1


def take_rows(frame: Frame, rows: Ints) -> Frame:
    """Some rows of a table; unused categories are left out."""
    taken = {name: take(column(frame, name), rows) for name in frame.columns}
    return wrap(assemble(frame, taken))


def reordered(native: Any, rows: Ints) -> Any:
    """The rows of a native table in another order."""
    taken = nw.from_native(native, eager_only=True)[rows].to_native()
    return taken.reset_index(drop=True) if _is(wrap(taken), "pandas") else taken


def in_pandas(native: Any) -> Any:
    """A Polars column as a pandas one of Arrow's types, which hold missing values of every type."""
    return native.to_frame("x").to_pandas(use_pyarrow_extension_array=True)["x"]


def assemble(like: Frame, columns: Mapping[Any, Any]) -> Any:
    """A native table of the kind of `like` from native columns of equal length."""
    if _is(like, "pandas"):
        import pandas as pd

        table = pd.concat(list(columns.values()), axis=1)
        places = {name: place for place, name in enumerate(like.columns)}
        table.columns = like.to_native().columns.take([places[name] for name in columns])
        return table
    if _is(like, "polars"):
        import polars as pl

        return pl.DataFrame(dict(columns))
    import pyarrow as pa

    source = like.to_native().schema
    fields = [
        pa.field(name, column.type, source.field(name).nullable) for name, column in columns.items()
    ]
    return pa.table(list(columns.values()), schema=pa.schema(fields))
