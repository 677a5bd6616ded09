"""The only room that knows which dataframe it holds: pandas, polars or pyarrow.

Everything else sees NumPy arrays. Columns are read here, and columns of the same
dtype are built here from what the method drew.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sosie.errors import InputError, quoted

__all__ = [
    "Codes",
    "Floats",
    "Frame",
    "Ints",
    "Mask",
    "assemble",
    "build",
    "build_text",
    "factorize",
    "floats",
    "is_missing",
    "objects",
    "surrogates",
    "take",
    "ticks",
    "ticks_per_day",
    "wrap",
]

Frame = nw.DataFrame[Any]
Series = nw.Series[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def wrap(frame: object) -> Frame:
    """Accept a pandas, polars or pyarrow table.

    Raises
    ------
    InputError
        For anything else, for a lazy frame, and for repeated column names.
    """
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    if names is not None and not callable(names) and "Lazy" not in type(frame).__name__:
        seen = list(names)
        repeated = [name for i, name in enumerate(seen) if name in seen[:i]]
        if repeated:
            raise InputError(f"several columns have the same name: {quoted(dict.fromkeys(repeated))}")
    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        kind = f"{type(frame).__module__}.{type(frame).__name__}"
        hint = "; collect it first" if "Lazy" in kind else ""
        raise InputError(f"expected a pandas, polars or pyarrow table, got {kind}{hint}") from error
    if not (_is(wrapped, "pandas") or _is(wrapped, "polars") or _is(wrapped, "pyarrow")):
        raise InputError(f"tables of {wrapped.implementation} are not supported; convert to pandas, polars or pyarrow")
    return wrapped


def _is(data: Frame | Series, name: str) -> bool:
    implementation = data.implementation
    return bool(getattr(implementation, f"is_{name}")())


def is_missing(series: Series) -> Mask:
    """Where a value is missing: None, NaN, NaT and NA are all the same, ``(n,) bool``."""
    mask = series.is_null()
    if series.dtype.is_float():
        mask = mask | series.is_nan().fill_null(True)  # noqa: FBT003 (narwhals takes it so)
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
    missing = is_missing(series)
    native = series.to_native()
    if _is(series, "pandas"):
        codes = _factorize_pandas(series)
    elif _is(series, "polars"):
        codes = _factorize_polars(native)
    else:
        import pyarrow as pa

        array = pa.chunked_array(native.chunks, type=native.type).combine_chunks()
        encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    codes[missing] = -1
    return _by_appearance(codes)


def _factorize_pandas(series: Series) -> Codes:
    import pandas as pd

    native = series.to_native()
    if native.dtype == object:
        # 1, 1.0 and True hash alike in Python; a column that mixes them is told apart by text.
        values = [None if pd.isna(v) is True else (v if isinstance(v, str) else repr(v)) for v in native]
        native = pd.Series(values, dtype=object)
    codes, _ = pd.factorize(native)
    return np.asarray(codes, dtype=np.int32)


def _factorize_polars(native: Any) -> Codes:
    import polars as pl

    levels = native.unique(maintain_order=True).alias("value").to_frame().with_row_index("code")
    joined = native.alias("value").to_frame().join(levels, on="value", how="left", nulls_equal=True, maintain_order="left")
    return joined["code"].cast(pl.Int32).to_numpy(writable=True)


def _by_appearance(codes: Codes) -> tuple[Codes, Ints]:
    """Renumber codes densely in order of first appearance; -1 stays."""
    size = int(codes.max(initial=-1)) + 1
    first = np.full(size, len(codes), dtype=np.int64)
    backwards = np.arange(len(codes) - 1, -1, -1)
    known = codes[::-1] >= 0
    first[codes[::-1][known]] = backwards[known]  # the last write, so the first row, stays
    used = np.flatnonzero(first < len(codes))
    order = used[np.argsort(first[used])]
    renumbered = np.full(size + 1, -1, dtype=np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    return renumbered[codes], first[order]


def objects(series: Series) -> list[Any]:
    """Python values; every missing value is None."""
    missing = is_missing(series)
    values = series.to_list()
    return [None if lost else value for value, lost in zip(values, missing, strict=True)]


def floats(series: Series) -> Floats:
    """Values as ``(n,) float64``, missing as NaN."""
    missing = is_missing(series)
    if series.dtype in (nw.Object, nw.Decimal):
        return np.array([np.nan if v is None else float(v) for v in objects(series)])
    filled = _filled(series, missing, 0)
    values = np.asarray(filled.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if missing.any():
        values = np.where(missing, np.nan, values)
    return values


def ticks(series: Series) -> Ints:
    """Whole numbers, dates and durations as ``(n,) int64``; missing as 0.

    Dates count days or the series' own unit since 1970 (UTC where there is a time
    zone); unsigned numbers above the range of int64 are wrapped, as is undone by `build`.
    """
    missing = is_missing(series)
    if series.dtype == nw.Object:
        values = [0 if v is None else _object_tick(v) for v in objects(series)]
        return np.array(values, dtype=np.int64)
    dtype = series.dtype
    if dtype.is_integer():
        filled = np.asarray(_filled(series, missing, 0).to_numpy())
        return filled.astype(np.uint64).view(np.int64) if dtype == nw.UInt64 else filled.astype(np.int64)
    native = series.to_native()
    if _is(series, "pandas"):
        return _ticks_pandas(native, missing)
    if _is(series, "polars"):
        import polars as pl

        return np.asarray(native.to_physical().cast(pl.Int64).fill_null(0).to_numpy(), dtype=np.int64)
    import pyarrow as pa

    width = pa.int32() if native.type.bit_width == 32 else pa.int64()
    return np.asarray(native.cast(width).cast(pa.int64()).fill_null(0).to_numpy(), dtype=np.int64)


def _ticks_pandas(native: Any, missing: Mask) -> Ints:
    import pandas as pd

    if isinstance(native.dtype, pd.ArrowDtype):
        import pyarrow as pa

        array = pa.chunked_array(native.array.__arrow_array__())
        width = pa.int32() if array.type.bit_width == 32 else pa.int64()
        return np.asarray(array.cast(width).cast(pa.int64()).fill_null(0).to_numpy(), dtype=np.int64)
    if isinstance(native.dtype, pd.DatetimeTZDtype):
        native = native.dt.tz_convert("UTC").dt.tz_localize(None)
    values = native.to_numpy().view(np.int64).copy()
    values[missing] = 0
    return np.asarray(values, dtype=np.int64)


def _object_tick(value: object) -> int:
    if isinstance(value, dt.datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        return round((aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) / dt.timedelta(microseconds=1))
    if isinstance(value, dt.date):
        return value.toordinal() - dt.date(1970, 1, 1).toordinal()
    return int(value)  # type: ignore[call-overload,no-any-return]  # objects here are whole numbers


def ticks_per_day(series: Series) -> int:
    """How many ticks of `ticks` make a day; 1 for dates."""
    dtype = series.dtype
    if isinstance(dtype, nw.Datetime | nw.Duration):
        return 86_400 * _PER_SECOND[dtype.time_unit]
    if dtype == nw.Time:
        return 86_400 * 10**9
    if dtype == nw.Object and any(isinstance(v, dt.datetime) for v in objects(series)):
        return 86_400 * 10**6
    return 1


def _filled(series: Series, missing: Mask, value: float) -> Series:
    return series.fill_null(value) if missing.any() and not series.dtype.is_float() else series


def take(series: Series, rows: Ints) -> object:
    """The values of some rows, as a native column of the same dtype; unused categories are left out."""
    native = series.to_native()
    if _is(series, "pandas"):
        taken = native.iloc[rows].reset_index(drop=True)
        return taken.cat.remove_unused_categories() if taken.dtype == "category" else taken
    if _is(series, "polars"):
        return _repacked_polars(native.gather(rows))
    import pyarrow as pa

    taken = native.take(pa.array(rows))
    if pa.types.is_dictionary(taken.type):
        # A dictionary keeps levels that no row holds: encode anew.
        plain = taken.cast(taken.type.value_type).combine_chunks()
        return plain.dictionary_encode().cast(taken.type)
    return taken


def _repacked_polars(native: Any) -> Any:
    import polars as pl

    if isinstance(native.dtype, pl.Enum):
        used = set(native.drop_nulls().cast(pl.String).unique())
        return native.cast(pl.String).cast(pl.Enum([c for c in native.dtype.categories if c in used]))
    return native.rechunk()


def build(series: Series, values: Floats | Ints, missing: Mask) -> object:
    """A native column of the dtype of `series` from numbers or ticks.

    Parameters
    ----------
    values : (m,) float64 or int64
        Numbers for number columns, ticks for dates and durations.
    missing : (m,) bool
        Rows without a value.
    """
    if series.dtype == nw.Object:
        return _build_objects(series, values, missing)
    if _is(series, "pandas"):
        return _build_pandas(series.to_native().dtype, values, missing)
    if _is(series, "polars"):
        return _build_polars(series.to_native().dtype, values, missing)
    return _build_arrow(series.to_native().type, values, missing)


def _build_polars(dtype: Any, values: Floats | Ints, missing: Mask) -> Any:
    import polars as pl

    if dtype == pl.UInt64 and values.dtype == np.int64:
        values = values.view(np.uint64)  # type: ignore[assignment]  # undoes the wrap of `ticks`
    column = pl.Series(values)
    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        column = column.cast(pl.Datetime(dtype.time_unit)).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    elif dtype == pl.Date:
        column = column.cast(pl.Int32).cast(dtype)
    else:
        column = column.cast(dtype)
    return column.set(pl.Series(missing), None) if missing.any() else column


def _build_arrow(kind: Any, values: Floats | Ints, missing: Mask) -> Any:
    import pyarrow as pa

    if pa.types.is_uint64(kind) and values.dtype == np.int64:
        values = values.view(np.uint64)  # type: ignore[assignment]
    if pa.types.is_temporal(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        array = pa.array(values.astype(np.int32 if kind.bit_width == 32 else np.int64), width, mask=missing)
    elif pa.types.is_decimal(kind):
        cells = [None if lost else _decimal(float(v), kind.scale) for v, lost in zip(values, missing, strict=True)]
        return pa.chunked_array([pa.array(cells, kind)])
    else:
        array = pa.array(values, mask=missing)
    return pa.chunked_array([array.cast(kind)])


def _decimal(value: float, scale: int) -> Decimal:
    return Decimal(repr(value)).quantize(Decimal(1).scaleb(-scale))


def _build_pandas(dtype: Any, values: Floats | Ints, missing: Mask) -> Any:
    import pandas as pd

    if isinstance(dtype, pd.ArrowDtype):
        array = _build_arrow(dtype.pyarrow_dtype, values, missing)
        return pd.Series(pd.arrays.ArrowExtensionArray(array))
    if isinstance(dtype, pd.DatetimeTZDtype):
        stamps = _stamps(values, missing, f"datetime64[{dtype.unit}]")
        return pd.Series(stamps).dt.tz_localize("UTC").dt.tz_convert(dtype.tz)
    if isinstance(dtype, np.dtype):
        if dtype.kind in "mM":
            return pd.Series(_stamps(values, missing, str(dtype)))
        if dtype == np.uint64 and values.dtype == np.int64:
            return pd.Series(values.view(np.uint64))
        if dtype.kind == "f" and missing.any():
            return pd.Series(np.where(missing, np.nan, values).astype(dtype))
        return pd.Series(values.astype(dtype))
    wide = values.view(np.uint64) if str(dtype) == "UInt64" and values.dtype == np.int64 else values
    column = pd.array(wide, dtype=dtype)
    column[missing] = pd.NA
    return pd.Series(column)


def _stamps(values: Floats | Ints, missing: Mask, dtype: str) -> NDArray[Any]:
    stamps = values.astype(np.int64).view(dtype)
    stamps[missing] = np.array("NaT", dtype=dtype)
    return stamps


def _build_objects(series: Series, values: Floats | Ints, missing: Mask) -> Any:
    import pandas as pd

    native = series.to_native()
    lost = is_missing(series)
    present = native[~lost].iloc[0]
    absent = native[lost].iloc[0] if lost.any() else None
    cells = [absent if gone else _object_like(present, v) for v, gone in zip(values.tolist(), missing, strict=True)]
    return pd.Series(cells, dtype=object)


def _object_like(present: object, value: float) -> object:
    if isinstance(present, dt.datetime):
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=value)
        return moment.astimezone(present.tzinfo) if present.tzinfo else moment.replace(tzinfo=None)
    if isinstance(present, dt.date):
        return dt.date(1970, 1, 1) + dt.timedelta(days=value)
    if isinstance(present, Decimal):
        exponent = present.as_tuple().exponent
        return _decimal(value, -exponent if isinstance(exponent, int) else 0)
    return type(present)(value)  # type: ignore[call-arg]


def build_text(series: Series, cells: Sequence[str | None]) -> object:
    """A native column of the text-like dtype of `series`; None is missing."""
    if _is(series, "pandas"):
        import pandas as pd

        column = pd.Series(list(cells), dtype=object)
        dtype = series.to_native().dtype
        return column.astype("category" if dtype == "category" else dtype)
    if _is(series, "polars"):
        import polars as pl

        dtype = series.to_native().dtype
        if isinstance(dtype, pl.Enum):
            dtype = pl.Enum(sorted({cell for cell in cells if cell is not None}))
        return pl.Series(list(cells), dtype=pl.String).cast(dtype)
    import pyarrow as pa

    return pa.chunked_array([pa.array(list(cells), pa.string()).cast(series.to_native().type)])


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
    name = series.name
    if series.dtype.is_integer():
        highest = max(int(series.max() or 0), -int(series.min() or 0))
        values = numbers + 10 ** len(str(highest))
        try:
            return build(series, values, np.zeros(len(values), dtype=bool))
        except Exception as error:
            raise InputError(f"column {name!r} ({series.dtype}) has no room for new identifiers; drop it") from error
    if series.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        known = {str(value) for value in objects(series)}
        prefix, digits = "A", len(str(len(numbers)))
        while any(value.startswith(prefix) for value in known):
            prefix += "A"
        return build_text(series, [f"{prefix}{number + 1:0{digits}d}" for number in numbers])
    raise InputError(f"column {name!r} ({series.dtype}) can't hold surrogates; drop it")


def assemble(like: Frame, columns: Mapping[Hashable, object]) -> Any:
    """A native table of the kind of `like` from native columns of equal length."""
    names: Sequence[Hashable] = list(columns)
    if _is(like, "pandas"):
        import pandas as pd

        parts: Iterable[Any] = columns.values()
        table = pd.concat(list(parts), axis=1) if columns else pd.DataFrame()
        table.columns = pd.Index(names, dtype=like.to_native().columns.dtype)
        return table
    if _is(like, "polars"):
        import polars as pl

        return pl.DataFrame([column.alias(name) for name, column in columns.items()])  # type: ignore[attr-defined]
    import pyarrow as pa

    return pa.table(list(columns.values()), names=names)
