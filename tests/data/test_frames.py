"""Each dtype of each dataframe is read, and built again, as it was."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sosie.data import frames
from sosie.errors import InputError

if TYPE_CHECKING:
    from conftest import Backend

PARIS = ZoneInfo("Europe/Paris")
WHOLE = [7, 120, None, 7, 0]
REAL = [0.25, 1.5, None, 0.25, -3.0]
TEXT = ["b", "a", None, "b", "c"]
MONEY = [Decimal("10.25"), Decimal("3.10"), None, Decimal("10.25"), Decimal("0.07")]
DAYS = [dt.date(2020, 2, 29), dt.date(1965, 1, 1), None, dt.date(2020, 2, 29), dt.date(2038, 1, 1)]
NOONS = [None if day is None else dt.datetime.combine(day, dt.time(12, 30, 5)) for day in DAYS]
CLOCK = [dt.time(8, 15), dt.time(0, 0), None, dt.time(8, 15), dt.time(23, 59)]
SPANS = [dt.timedelta(days=3, minutes=5), dt.timedelta(0), None, dt.timedelta(days=3, minutes=5)]
SPANS.append(-dt.timedelta(hours=2))


def zoned(zone: str) -> pd.Series:
    return pd.Series(NOONS, dtype="datetime64[us]").dt.tz_localize(zone)


NUMPY = {
    "float64": pd.Series(REAL, dtype="float64"),
    "float32": pd.Series(REAL, dtype="float32"),
    "integer as float": pd.Series(WHOLE, dtype="float64"),
    "int8": pd.Series([7, 120, 7], dtype="int8"),
    "uint64": pd.Series([7, 2**64 - 1, 2**63], dtype="uint64"),
    **{f"datetime {u}": pd.Series(NOONS).astype(f"datetime64[{u}]") for u in ("s", "us", "ns")},
    **{f"datetime {zone}": zoned(zone) for zone in ("UTC", "Europe/Paris", "Asia/Kolkata")},
    **{f"timedelta {u}": pd.Series(SPANS).astype(f"timedelta64[{u}]") for u in ("s", "us", "ns")},
    "Int64": pd.Series(WHOLE, dtype="Int64"),
    "Int8": pd.Series(WHOLE, dtype="Int8"),
    "UInt64": pd.Series([2**64 - 1, None, 3], dtype="UInt64"),
    "Float64": pd.Series(REAL, dtype="Float64"),
    "Float32": pd.Series(REAL, dtype="Float32"),
    "objects: integers": pd.Series(WHOLE, dtype=object),
    "objects: numbers": pd.Series([1.0, 2.5, None], dtype=object),
    "objects: decimals": pd.Series(MONEY, dtype=object),
    "objects: dates": pd.Series(DAYS, dtype=object),
    "objects: moments": pd.Series(NOONS, dtype=object),
    "objects: zoned": pd.Series([v and v.replace(tzinfo=PARIS) for v in NOONS], dtype=object),
    "objects: timestamps": pd.Series([v and pd.Timestamp(v) for v in NOONS], dtype=object),
    "objects: times": pd.Series(CLOCK, dtype=object),
    "objects: spans": pd.Series(SPANS, dtype=object),
    "objects: missing as NA": pd.Series([7, pd.NA, 3], dtype=object),
    "objects: missing as nan": pd.Series([7, float("nan"), 3], dtype=object),
}
ARROW = {
    **{str(kind): pa.array(WHOLE, kind) for kind in (pa.int8(), pa.int64(), pa.uint64())},
    **{str(kind): pa.array(REAL, kind) for kind in (pa.float32(), pa.float64())},
    "decimal128": pa.array(MONEY, pa.decimal128(10, 2)),
    "decimal256": pa.array(MONEY, pa.decimal256(50, 3)),
    "date32": pa.array(DAYS, pa.date32()),
    "date64": pa.array(DAYS, pa.date64()),
    **{f"timestamp {u}": pa.array(NOONS, pa.timestamp(u)) for u in ("s", "ms", "us", "ns")},
    "timestamp UTC": pa.array(NOONS, pa.timestamp("us", "UTC")),
    "timestamp Paris": pa.array(NOONS, pa.timestamp("ms", "Europe/Paris")),
    **{f"duration {u}": pa.array(SPANS, pa.duration(u)) for u in ("s", "ms", "us", "ns")},
    **{f"time32 {u}": pa.array(CLOCK, pa.time32(u)) for u in ("s", "ms")},
    **{f"time64 {u}": pa.array(CLOCK, pa.time64(u)) for u in ("us", "ns")},
}
POLARS = {
    **{
        str(kind): pl.Series(WHOLE, dtype=kind)
        for kind in (pl.Int8, pl.Int64, pl.UInt64, pl.Int128)
    },
    **{str(kind): pl.Series(REAL, dtype=kind) for kind in (pl.Float32, pl.Float64)},
    "decimal": pl.Series(MONEY, dtype=pl.Decimal(10, 2)),
    "date": pl.Series(DAYS),
    **{f"datetime {u}": pl.Series(NOONS, dtype=pl.Datetime(u)) for u in ("ms", "us", "ns")},
    "datetime Paris": pl.Series(NOONS).dt.replace_time_zone("Europe/Paris"),
    **{f"duration {u}": pl.Series(SPANS, dtype=pl.Duration(u)) for u in ("ms", "us", "ns")},
    "time": pl.Series(CLOCK),
}
NUMERIC = [
    *(pytest.param(s, id=f"pandas-{name}") for name, s in NUMPY.items()),
    *(
        pytest.param(pd.Series(pd.arrays.ArrowExtensionArray(a)), id=f"pandas-pyarrow-{name}")
        for name, a in ARROW.items()
    ),
    *(pytest.param(pa.chunked_array([a]), id=f"pyarrow-{name}") for name, a in ARROW.items()),
    *(pytest.param(s, id=f"polars-{name}") for name, s in POLARS.items()),
]

# Older pyarrow can hold views of text, and do nothing with them.
VIEWS = [pa.string_view()] if int(pa.__version__.split(".")[0]) >= 20 else []
SHUFFLED = pa.DictionaryArray.from_arrays(
    pa.array([1, 3, None, 1, 2], pa.int8()), pa.array(["unused", "b", "c", "a"]), ordered=True
)
LEVELLED = [
    pytest.param(pd.Series(TEXT, dtype="str"), id="pandas-str"),
    pytest.param(pd.Series(TEXT, dtype=object), id="pandas-object"),
    pytest.param(pd.Series(TEXT, dtype="string"), id="pandas-string"),
    pytest.param(pd.Series(TEXT, dtype="category"), id="pandas-category"),
    pytest.param(pd.Series(WHOLE, dtype="Int64").astype("category"), id="pandas-category-of-int"),
    pytest.param(pd.Series([True, None, False], dtype="boolean"), id="pandas-boolean"),
    pytest.param(pd.Series([True, None, False], dtype=object), id="pandas-object-boolean"),
    pytest.param(pd.Series(pd.PeriodIndex(["2020", None, "2021"], freq="Y")), id="pandas-period"),
    pytest.param(
        pd.Series(pd.arrays.ArrowExtensionArray(SHUFFLED)), id="pandas-pyarrow-dictionary"
    ),
    *(
        pytest.param(pa.chunked_array([pa.array(TEXT, kind)]), id=f"pyarrow-{kind}")
        for kind in (pa.string(), pa.large_string(), *VIEWS)
    ),
    pytest.param(
        pa.chunked_array([pl.Series(TEXT, dtype=pl.Categorical).to_arrow()]),
        id="pyarrow-dict-of-polars",
    ),
    pytest.param(pa.chunked_array([pa.array([b"x", None, b"y"])]), id="pyarrow-binary"),
    pytest.param(pa.chunked_array([pa.array([True, None, False])]), id="pyarrow-bool"),
    pytest.param(pa.chunked_array([pa.nulls(3)]), id="pyarrow-null"),
    pytest.param(pl.Series(TEXT), id="polars-string"),
    pytest.param(pl.Series(TEXT, dtype=pl.Categorical), id="polars-categorical"),
    pytest.param(pl.Series(TEXT, dtype=pl.Enum(["c", "b", "a"])), id="polars-enum"),
    pytest.param(pl.Series([True, None, False]), id="polars-boolean"),
    pytest.param(pl.Series([b"x", None, b"y"]), id="polars-binary"),
    pytest.param(pl.Series([None, None, None]), id="polars-null"),
]


def series(native: Any) -> frames.Series:
    return nw.from_native(native, series_only=True)


def assert_same(one: Any, other: Any) -> None:
    """Equal values, dtype and missing style."""
    if isinstance(one, pl.Series):
        assert one.dtype == other.dtype
        assert one.equals(other, null_equal=True)
    elif isinstance(one, pd.Series):
        pd.testing.assert_series_equal(one, other, check_names=False)
        if one.dtype == object:
            assert [type(v) for v in one] == [type(v) for v in other]
    else:
        assert one.type == other.type
        assert one.combine_chunks().equals(other.combine_chunks())


@pytest.mark.parametrize("native", NUMERIC)
def test_what_is_read_is_built_again(native: Any) -> None:
    read = series(native)
    missing = frames.is_missing(read)
    held = frames.holds(read)
    assert held in ("whole", "real", "moment")
    values = frames.floats(read) if held == "real" else frames.ticks(read)
    assert_same(native, frames.build(read, values, missing))


@pytest.mark.parametrize("native", [*NUMERIC, *LEVELLED])
def test_levels_are_found_by_appearance_and_taken_back(native: Any) -> None:
    read = series(native)
    codes, first = frames.factorize(read)
    cells = frames.objects(read)
    known: list[Any] = []
    for cell in cells:
        if cell is not None and cell not in known:
            known.append(cell)
    assert codes.tolist() == [-1 if cell is None else known.index(cell) for cell in cells]
    assert first.tolist() == [cells.index(value) for value in known]
    assert frames.objects_at(read, first) == known
    taken = series(frames.take(read, np.arange(len(cells))[::-1]))
    assert frames.objects(taken) == cells[::-1]
    if not str(taken.to_native()).count("unused"):
        assert taken.dtype == read.dtype


def test_every_missing_value_is_the_same() -> None:
    cells = [None, float("nan"), pd.NaT, pd.NA, "here"]
    assert frames.is_missing(series(pd.Series(cells, dtype=object))).tolist() == [True] * 4 + [
        False
    ]
    with_nan = [1.0, float("nan"), None]
    for native in (
        pl.Series(with_nan),
        pa.chunked_array([pa.array(with_nan, from_pandas=False)]),
        pd.Series(pd.arrays.ArrowExtensionArray(pa.array(with_nan, from_pandas=False))),
        pd.Series(with_nan, dtype="Float64"),
    ):
        assert frames.is_missing(series(native)).tolist() == [False, True, True]


def test_missing_written_as_nan_comes_back_as_nan() -> None:
    lost = np.array([False, True])
    values = np.array([2.5, 0.0])
    nan = frames.build(series(pl.Series([1.0, float("nan")])), values, lost)
    null = frames.build(series(pl.Series([1.0, None])), values, lost)
    assert (nan.null_count(), nan.is_nan().sum()) == (0, 1)  # type: ignore[attr-defined]
    assert null.to_list() == [2.5, None]  # type: ignore[attr-defined]
    kept = frames.build(
        series(pa.chunked_array([pa.array([1.0, float("nan")], from_pandas=False)])), values, lost
    )
    assert kept.null_count == 0  # type: ignore[attr-defined]


def test_objects_of_several_number_types_lose_no_decimals() -> None:
    mixed = series(pd.Series([1, 2.5, None], dtype=object))
    built = frames.build(mixed, np.array([2.25, 3.0]), np.zeros(2, dtype=bool))
    assert built.tolist() == [2.25, 3.0]  # type: ignore[attr-defined]
    mixed = series(pd.Series([Decimal("1.5"), Decimal("2.25"), 3], dtype=object))
    built = frames.build(mixed, np.array([2.25]), np.zeros(1, dtype=bool))
    assert str(built[0]) == "2.25"  # type: ignore[index]


def test_a_clock_that_skips_or_repeats_an_hour() -> None:
    """02:30 does not exist on 2021-03-28 in Paris and happens twice on 2021-10-31."""
    walls = [dt.datetime(2021, 3, 28, 2, 30), dt.datetime(2021, 10, 31, 2, 30)]
    wanted = [
        dt.datetime(2021, 3, 28, 1, tzinfo=dt.UTC),
        dt.datetime(2021, 10, 31, 0, 30, tzinfo=dt.UTC),
    ]
    ticks = np.array(
        [(wall - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) for wall in walls]
    )
    one = dt.datetime(2020, 1, 1, tzinfo=PARIS)
    for native in (
        pd.Series([one]).astype(pd.DatetimeTZDtype("us", PARIS)),
        pd.Series([one], dtype=object),
        pl.Series([one]).dt.convert_time_zone("Europe/Paris"),
        pa.chunked_array([pa.array([one], pa.timestamp("us", "Europe/Paris"))]),
    ):
        built = frames.objects(series(frames.build(series(native), ticks, np.zeros(2, dtype=bool))))
        gap, fold = (moment.astimezone(dt.UTC) for moment in built)
        assert fold == wanted[1]
        assert dt.timedelta(0) <= gap - wanted[0] <= dt.timedelta(minutes=30)


@pytest.mark.parametrize(
    "native", [p for p in LEVELLED if "dict" in p.id or "enum" in p.id or "category" in p.id]
)
def test_unused_categories_are_left_out_in_their_order(native: Any) -> None:
    read = series(native)
    cells = frames.objects(read)
    rows = np.array([0, 4, 2, 0])
    taken = frames.take(read, rows)
    assert frames.objects(series(taken)) == [cells[row] for row in rows]
    if isinstance(taken, pl.Series):
        assert taken.dtype.categories.to_list() == ["c", "b"]  # type: ignore[attr-defined]
    elif isinstance(taken, pd.Series) and taken.dtype == "category":
        assert set(taken.cat.categories) == {cells[0], cells[4]}
        assert taken.cat.ordered == native.cat.ordered
    else:
        held = taken if isinstance(taken, pa.ChunkedArray) else taken.array.__arrow_array__()  # type: ignore[attr-defined]
        assert held.chunk(0).dictionary.to_pylist() == ["b", "c"]
        assert held.type == getattr(native, "type", SHUFFLED.type)


def test_dictionaries_that_differ_by_chunk_are_one() -> None:
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]).dictionary_encode()]
    codes, first = frames.factorize(series(pa.chunked_array(chunks)))
    assert codes.tolist() == [0, 1, 1, 2]
    assert first.tolist() == [0, 1, 3]


def test_a_decimal_is_rounded_not_cut() -> None:
    for native in (pl.Series(MONEY, dtype=pl.Decimal(10, 2)), pa.chunked_array([pa.array(MONEY)])):
        built = frames.build(series(native), np.array([1.15, 2.67, 0.29]), np.zeros(3, dtype=bool))
        assert [str(value) for value in frames.objects(series(built))] == ["1.15", "2.67", "0.29"]


@pytest.mark.parametrize(
    "thing",
    [
        {"a": [1]},
        [[1, 2]],
        np.eye(2),
        pl.LazyFrame({"a": [1]}),
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        None,
        "table.csv",
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_not_a_table_is_named(thing: object) -> None:
    with pytest.raises(InputError, match="expected a pandas, polars or pyarrow table, got"):
        frames.wrap(thing)


def test_a_lazy_frame_is_told_to_be_collected() -> None:
    with pytest.raises(InputError, match="collect it first"):
        frames.wrap(pl.LazyFrame({"a": [1]}))


def test_two_columns_of_the_same_name_are_named() -> None:
    twice = pd.DataFrame([[1, 2, 3]], columns=["age", "sex", "age"])
    with pytest.raises(InputError, match=r"same name: 'age'$"):
        frames.wrap(twice)
    arrow = pa.table([pa.array([1]), pa.array([2])], names=["a b", "a b"])
    with pytest.raises(InputError, match=r"same name: 'a b'$"):
        frames.wrap(arrow)


NESTED = [
    pd.Series([[1], [2]]),
    pd.Series([{"a": 1}, None]),
    pd.Series([(1, 2), (3, 4)]),
    pd.Series([1 + 2j]),
    pd.Series([0.0, 1.0]).astype("Sparse[float]"),
    pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    pa.chunked_array([pa.FixedShapeTensorArray.from_numpy_ndarray(np.eye(2))]),
    pl.Series([[1], [2]]),
    pl.Series([{"a": 1}]),
    pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2)),
    pl.Series([object()], dtype=pl.Object),
    pa.chunked_array([pa.array([[1]])]),
    pa.chunked_array([pa.array([{"a": 1}])]),
    pa.chunked_array([pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))]),
]


@pytest.mark.parametrize(
    "native", NESTED, ids=lambda s: f"{type(s).__module__}-{getattr(s, 'dtype', '')}"
)
def test_nested_columns_are_seen(native: Any) -> None:
    assert frames.holds(series(native)) == "nested"


SURROGATES = [
    pytest.param(pd.Series([12, 99], dtype="int64"), [100, 101, 102], id="pandas-int"),
    pytest.param(
        pd.Series([12.0, None], dtype="float64"), [100, 101, 102], id="pandas-int-as-float"
    ),
    pytest.param(pd.Series([12, None], dtype="Int64"), [100, 101, 102], id="pandas-Int64"),
    pytest.param(pd.Series([12, 5], dtype=object), [100, 101, 102], id="pandas-object-int"),
    pytest.param(pd.Series(["x", None]), ["A1", "A2", "A3"], id="pandas-str"),
    pytest.param(
        pd.Series(["A7", "AA2"], dtype="category"), ["AAA1", "AAA2", "AAA3"], id="category"
    ),
    pytest.param(pl.Series([-250, 3]), [1000, 1001, 1002], id="polars-int"),
    pytest.param(pl.Series(["A", None]), ["AA1", "AA2", "AA3"], id="polars-str"),
    pytest.param(pl.Series(["p"], dtype=pl.Enum(["p"])), ["A1", "A2", "A3"], id="polars-enum"),
    pytest.param(pa.chunked_array([pa.array([5], pa.int32())]), [10, 11, 12], id="pyarrow-int"),
    pytest.param(
        pa.chunked_array([pa.array(["q"]).dictionary_encode()]),
        ["A1", "A2", "A3"],
        id="pyarrow-dict",
    ),
    pytest.param(pl.Series([None, None], dtype=pl.Int64), [10, 11, 12], id="all-missing"),
]


@pytest.mark.parametrize(("native", "wanted"), SURROGATES)
def test_surrogates_are_fresh(native: Any, wanted: list[Any]) -> None:
    read = series(native)
    fresh = series(frames.surrogates(read, np.arange(3)))
    assert frames.objects(fresh) == wanted
    assert not {*wanted} & {*frames.objects(read)}
    if not isinstance(native, pl.Series) or not isinstance(native.dtype, pl.Enum):
        assert type(fresh.dtype) is type(read.dtype)


@pytest.mark.parametrize(
    "native",
    [
        pl.Series([120], dtype=pl.Int8),
        pl.Series([2**63 - 5]),
        pl.Series([2**64 - 1], dtype=pl.UInt64),
        pl.Series([Decimal("95.00")], dtype=pl.Decimal(4, 2)),
        pd.Series([2.0**53]),
        pd.Series([0.5, 1.5]),
        pd.Series([dt.date(2020, 1, 1)]).astype("datetime64[s]"),
        pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["a"])]),
    ],
    ids=lambda s: str(getattr(s, "dtype", getattr(s, "type", ""))),
)
def test_a_dtype_without_room_for_surrogates_is_an_error(native: Any) -> None:
    with pytest.raises(InputError, match="can't hold new identifiers; drop it"):
        frames.surrogates(series(native), np.arange(200))


@pytest.mark.parametrize(
    "native",
    [p for p in LEVELLED if p.id.startswith(("pandas-s", "polars-s", "pyarrow-s", "pyarrow-l"))],
)
def test_text_is_written_in_its_dtype(native: Any) -> None:
    read = series(native)
    assert_same(native, frames.build_text(read, TEXT))


def test_text_of_numbers_is_written_in_a_category_of_numbers() -> None:
    ordered = pd.CategoricalDtype([1, 5, 20], ordered=True)
    built = frames.build_text(series(pd.Series([20, 1, 5], dtype=ordered)), ["10", None, "2"])
    assert built.tolist()[::2] == [10, 2]  # type: ignore[attr-defined]
    assert built.cat.categories.tolist() == [2, 10]  # type: ignore[attr-defined]
    assert built.cat.ordered  # type: ignore[attr-defined]


def test_text_of_dates_is_written_in_numbers() -> None:
    read = series(pd.Series([20200101, None], dtype="Int64"))
    assert frames.objects(series(frames.build_text(read, ["20210215", None]))) == [20210215, None]


def test_128_bits_that_do_not_fit_in_64_are_an_error() -> None:
    with pytest.raises(InputError, match=r"'big'.*beyond 64 bits; drop it"):
        frames.ticks(series(pl.Series("big", [2**100], dtype=pl.Int128)))


def test_float32_is_read_as_it_is_written() -> None:
    assert frames.floats(series(pl.Series([0.1, 2.35], dtype=pl.Float32))).tolist() == [0.1, 2.35]


def test_assemble_keeps_names_and_their_kind(any_pandas: Backend) -> None:
    like = any_pandas.frame({3: [1, 2], 0: [1, 2], "x": [1, 2]}).drop(columns="x")
    like.columns = pd.Index([3, 0], name="visit")
    source = frames.wrap(like)
    made = frames.assemble(source, {0: like[0], 3: like[3]})
    assert made.columns.tolist() == [0, 3]
    assert made.columns.name == "visit"
    assert made.columns.dtype == like.columns.dtype


def test_arrow_fields_stay_required() -> None:
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.int64())])
    table = pa.table({"a": [1], "b": [2]}, schema=schema)
    source = frames.wrap(table)
    assert (
        frames.assemble(source, {"b": table["b"], "a": table["a"]}).schema.field("a").nullable
        is False
    )


@pytest.mark.parametrize("low", [0, -5, 2**62, 2**63])
@pytest.mark.parametrize("step", [1, 2**40])
def test_whole_numbers_are_coded_alike_near_or_far_apart(low: int, step: int) -> None:
    values = [low + step * i for i in (2, 0, 2, 1, 0)]
    dtype = "uint64" if low >= 2**63 else "int64"
    series = frames.wrap(pd.DataFrame({"x": np.array(values, dtype=dtype)})).get_column("x")
    codes, first = frames.factorize(series)
    assert codes.tolist() == [0, 1, 0, 2, 1]
    assert first.tolist() == [0, 1, 3]


def test_labels_that_may_not_repeat_are_no_hindrance() -> None:
    strict = pd.Series(["a", "b"]).set_flags(allows_duplicate_labels=False)
    assert frames.take(series(strict), np.array([1, 1, 0])).tolist() == ["b", "b", "a"]  # type: ignore[attr-defined]


def test_values_that_come_late_have_codes_too() -> None:
    values = [1] * 5000 + [None, 7, 3, 7]
    codes, first = frames.factorize(frames.wrap(pd.DataFrame({"x": values})).get_column("x"))
    assert codes[4999:].tolist() == [0, -1, 1, 2, 1]
    assert first.tolist() == [0, 5001, 5002]
