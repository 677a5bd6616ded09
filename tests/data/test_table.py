"""Typed columns: what is inferred, forced and refused, and what is equal by value."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from spoken import spoken

from sosie.data.table import Levels, Numbers, Roles, Table, label_of
from sosie.errors import InputError

if TYPE_CHECKING:
    from conftest import Backend

People = Callable[..., dict[str, list[Any]]]


def numbers(table: Table, name: Any) -> Numbers:
    column = table.column(name)
    assert isinstance(column, Numbers)
    return column


def levels(table: Table, name: Any) -> Levels:
    column = table.column(name)
    assert isinstance(column, Levels)
    return column


def words(column: Levels) -> list[str | None]:
    return [column.labels[code] for code in column.codes]


# ---------------------------------------------------------------- types


def test_kinds_are_inferred_the_same_from_every_dataframe(backend: Backend, people: People) -> None:
    table = Table.of(backend.frame(people(), categories=["stage"]))
    assert {column.name: column.kind for column in table.columns} == {
        "age": "integer",
        "weight": "number",
        "dose": "number",
        "smoker": "boolean",
        "stage": "category",
        "site": "category",
        "seen": "date",
        "admitted": "date",
        "stay": "date",
    }


def test_encoding_is_the_same_from_every_dataframe(backend: Backend, people: People) -> None:
    cells = people()
    reference = Table.of(pl.DataFrame(cells))
    table = Table.of(backend.frame(cells, categories=["stage"]))
    for one, other in zip(table.columns, reference.columns, strict=True):
        if isinstance(one, Levels) and isinstance(other, Levels):
            assert words(one) == words(other)
            np.testing.assert_array_equal(one.codes, other.codes)
            np.testing.assert_array_equal(one.first, other.first)
        else:
            assert isinstance(one, Numbers)
            assert isinstance(other, Numbers)
            np.testing.assert_array_equal(one.values, other.values)
            assert one.grid.decimals == other.grid.decimals
            assert one.grid.step / one.grid.per_day == other.grid.step / other.grid.per_day


@pytest.mark.parametrize(("distinct", "kind"), [(10, "category"), (11, "integer")])
def test_at_most_ten_distinct_values_make_a_category(distinct: int, kind: str) -> None:
    rows = [i % distinct for i in range(60)]
    assert Table.of(pl.DataFrame({"x": rows})).column("x").kind == kind
    assert Table.of(pl.DataFrame({"x": [None, *rows]})).column("x").kind == kind
    days = pl.DataFrame({"x": [dt.date(2020, 1, 1 + v) for v in rows]})
    assert Table.of(days).column("x").kind == ("category" if distinct == 10 else "date")


def test_the_eleventh_value_may_come_late() -> None:
    rows = [i % 10 for i in range(5_000)] + [10]
    assert Table.of(pl.DataFrame({"x": rows})).column("x").kind == "integer"


def test_types_are_forced() -> None:
    frame = pl.DataFrame(
        {"code": list(range(50)) * 2, "few": [1, 2] * 50, "text": ["1,5", "2"] * 50}
    )
    table = Table.of(frame, Roles(categorical=("code",), numeric=("few", "text")))
    assert [column.kind for column in table.columns] == ["category", "integer", "number"]
    assert numbers(table, "text").values.tolist() == [1.5, 2.0] * 50
    assert numbers(table, "text").texts(np.array([1.25, np.nan])) == ["1,2", None]


def test_zeros_and_ones_are_categories_and_truth_values_are_boolean(backend: Backend) -> None:
    frame = backend.frame(
        {"flag": [True, False, True], "digit": [0, 1, 1], "text": ["0", "1", "1"]}
    )
    table = Table.of(frame)
    assert [column.kind for column in table.columns] == ["boolean", "category", "category"]
    assert [levels(table, name).labels for name in ("flag", "digit", "text")] == [
        ("True", "False"),
        ("0", "1"),
        ("0", "1"),
    ]


def test_missing_is_a_level_of_its_own(backend: Backend) -> None:
    column = levels(Table.of(backend.frame({"x": ["a", None, "b", None]})), "x")
    assert words(column) == ["a", None, "b", None]
    assert column.counts().tolist() == [1, 1, 2]
    assert column.missing.tolist() == [False, True, False, True]


def test_a_column_without_any_value_is_noted_once(backend: Backend) -> None:
    frame = backend.frame({"x": [1, 2, 3], "empty": [None, None, None]})
    table = Table.of(frame)
    assert [note for note in spoken(table.notes) if "empty" in note] == [
        "column 'empty' has no value at all; it stays so"
    ]
    assert levels(table, "empty").labels == (None,)


def test_equal_objects_are_one_level() -> None:
    table = Table.of(
        pd.DataFrame({"x": pd.Series([1, 1.0, "1", True, -0.0, 0, None], dtype=object)})
    )
    assert words(levels(table, "x")) == ["1", "1", "1", "True", "0", "0", None]
    assert levels(table, "x").first.tolist() == [0, 3, 4, 6]


@pytest.mark.parametrize("values", [[0.0, -0.0, 1.0], [1.0, -0.0, 0.0]])
def test_both_zeros_are_one_level(backend: Backend, values: list[float]) -> None:
    assert sorted(levels(Table.of(backend.frame({"x": values})), "x").labels) == ["0", "1"]  # type: ignore[type-var]


LABELS = [
    (1, "1"),
    (1.0, "1"),
    (Decimal("1.00"), "1"),
    ("1", "1"),
    (1.5, "1.5"),
    (Decimal("1.50"), "1.5"),
    (2**60, str(2**60)),
    (float(2**60), str(2**60)),
    (True, "True"),
    (np.True_, "True"),
    (dt.date(2020, 1, 2), "2020-01-02"),
    (dt.datetime(2020, 1, 2), "2020-01-02"),
    (pd.Timestamp("2020-01-02"), "2020-01-02"),
    (dt.datetime(2020, 1, 2, 3), "2020-01-02 03:00:00"),
    (dt.timedelta(days=1, hours=2), "1 day, 2:00:00"),
    (pd.Timedelta("1 days 02:00:00"), "1 day, 2:00:00"),
]


@pytest.mark.parametrize(("value", "label"), LABELS, ids=lambda v: f"{type(v).__name__}-{v}")
def test_equal_values_have_equal_labels(value: Any, label: str) -> None:
    assert label_of(value) == label


# ---------------------------------------------------------------- dates


def test_dates_are_counted_in_the_coarsest_unit() -> None:
    day = dt.datetime(2020, 1, 1)
    midnights = [day + dt.timedelta(days=i) for i in range(20)]
    hours = [day + dt.timedelta(hours=i) for i in range(20)]
    table = Table.of(pl.DataFrame({"day": midnights, "hour": hours}))
    assert numbers(table, "day").values.tolist() == list(range(20))
    assert numbers(table, "hour").values.tolist() == list(range(20))
    assert numbers(table, "hour").grid.step * 24 == numbers(table, "hour").grid.per_day


def test_midnights_of_a_time_zone_are_days(backend: Backend) -> None:
    for zone in ("Europe/Paris", "Asia/Kolkata", "UTC"):
        walls = pd.date_range("2020-01-01", periods=300, tz=zone).to_pydatetime()
        table = Table.of(backend.frame({"x": [wall.astimezone(walls[0].tzinfo) for wall in walls]}))
        assert numbers(table, "x").values.tolist() == list(range(300))


@pytest.mark.parametrize(
    ("form", "example", "written"),
    [
        ("%d/%m/%Y", "03/01/2020", "05/01/2020"),
        (None, "2020-01-03", "2020-01-05"),
        (None, "2020-01-03T04:05:06", "2020-01-05T04:05:06"),
        (None, "2020-01-03 04:05:06", "2020-01-05 04:05:06"),
        ("%Y%m%d", "20200103", "20200105"),
        (None, "0900-01-03", "0900-01-05"),
        ("%d.%m.%y %H:%M", "03.01.20 04:05", "05.01.20 04:05"),
        (None, "2020-01-03T04:05:06.250000", "2020-01-05T04:05:06.250000"),
    ],
)
def test_text_dates_are_read_and_written_by_their_format(
    backend: Backend, form: str | None, example: str, written: str
) -> None:
    frame = backend.frame({"x": [example, None, example]})
    column = numbers(Table.of(frame, Roles(date={"x": form})), "x")
    two_days = 2 * column.grid.per_day // column.grid.step
    assert column.kind == "date"
    assert column.texts(column.values) == [example, None, example]
    assert column.texts(column.values + two_days) == [written, None, written]


def test_dates_in_numbers_are_read_by_their_format() -> None:
    frame = pd.DataFrame({"x": [20200103, None]}, dtype="float64")
    column = numbers(Table.of(frame, Roles(date={"x": "%Y%m%d"})), "x")
    assert column.texts(column.values) == ["20200103", None]


def test_text_dates_are_never_guessed(backend: Backend) -> None:
    table = Table.of(backend.frame({"visit": ["01/02/2020", "13/02/2020", None] * 3, "x": [1] * 9}))
    assert table.column("visit").kind == "category"
    assert len(table.notes) == 1
    assert spoken(table.notes)[0].startswith("column 'visit' looks like dates written as text")


@pytest.mark.parametrize(
    ("roles", "cell", "words"),
    [
        (Roles(date={"x": "%d/%m/%Y"}), "31/02/2020", "row 2: '31/02/2020' can't be read"),
        (Roles(date={"x": None}), "yesterday", "row 2: 'yesterday' can't be read"),
        (
            Roles(date={"x": None}),
            "2020-01-01T00:00:00+02:00",
            "row 2: '2020-01-01T00:00:00+02:00'",
        ),
        (Roles(numeric=("x",)), "high", "row 2: 'high' can't be read"),
        (Roles(numeric=("x",)), "12b", "row 2: '12b' can't be read"),
        (Roles(numeric=("x",)), "inf", "infinite value in row 2"),
    ],
)
def test_text_that_is_not_what_it_was_declared_is_named(
    backend: Backend, roles: Roles, cell: str, words: str
) -> None:
    good = "01/02/2020" if roles.date.get("x") else "2020-01-01" if roles.date else "1.5"
    with pytest.raises(InputError, match="'x'") as caught:
        Table.of(backend.frame({"x": [good, cell, None]}), roles)
    assert words in str(caught.value)


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([i / 10 for i in range(20)], 1),
        ([i / 4 for i in range(20)], 2),
        ([i / 1000 + 1000 for i in range(20)], 3),
        ([i / 3 for i in range(20)], None),
        ([123456.789 + i for i in range(20)], 3),
        ([i * 1e300 + 1e299 for i in range(20)], None),
        ([i * 2.0**60 for i in range(20)], 0),
        ([i * 1e-300 for i in range(1, 20)], None),
        ([1.7e308, *(i / 2 for i in range(20))], None),
        ([5e-324, *(float(i) for i in range(20))], None),
        ([1 + i * 1e-12 for i in range(20)], 12),
    ],
)
def test_decimals_are_counted(values: list[float], decimals: int | None) -> None:
    column = numbers(Table.of(pl.DataFrame({"x": values})), "x")
    assert column.kind == "number"
    assert column.grid.decimals == decimals
    if decimals is not None:
        np.testing.assert_array_equal(column.rounded(column.values), np.round(values, decimals))


def test_float32_decimals_are_those_written() -> None:
    frame = pl.DataFrame({"x": pl.Series([i / 10 for i in range(30)], dtype=pl.Float32)})
    assert numbers(Table.of(frame), "x").grid.decimals == 1


def test_whole_floats_are_integers(backend: Backend) -> None:
    column = numbers(Table.of(backend.frame({"x": [float(i) for i in range(20)]})), "x")
    assert column.kind == "integer"


@pytest.mark.parametrize("low", [2**53 + 1, -(2**63), 2**62 + 3])
def test_integers_above_two_to_the_53_are_exact(backend: Backend, low: int) -> None:
    column = numbers(Table.of(backend.frame({"x": [low + 3 * i for i in range(20)]})), "x")
    assert column.values.tolist() == [3.0 * i for i in range(20)]
    assert column.grid.origin == low


def test_integers_over_the_whole_range_stay_in_it() -> None:
    values = [-(2**63), 2**63 - 1, *(i * 2**58 for i in range(-9, 10))]
    column = numbers(Table.of(pl.DataFrame({"x": values})), "x")
    highest = column.grid.origin + column.grid.step * int(np.nanmax(column.values))
    assert column.grid.origin == -(2**63)
    assert 2**63 - 1 - column.grid.step <= highest <= 2**63 - 1


def test_unsigned_integers_are_read(backend: Backend) -> None:
    frame = pl.DataFrame({"x": pl.Series([2**64 - 1 - i for i in range(20)], dtype=pl.UInt64)})
    column = numbers(Table.of(frame), "x")
    assert column.grid.origin == 2**64 - 20
    assert column.values.tolist() == [19.0 - i for i in range(20)]


@pytest.mark.parametrize("bad", [float("inf"), float("-inf")])
def test_infinite_values_are_named(backend: Backend, bad: float) -> None:
    frame = backend.frame({"age": [1.5, 2.5, bad]})
    with pytest.raises(InputError, match="'age' has an infinite value in row 3"):
        Table.of(frame)


# ---------------------------------------------------------------- roles


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (Roles(drop=("aeg",)), "there is no column 'aeg'; did you mean 'age'?"),
        (Roles(weights={"zzzz": 1.0}), "there is no column 'zzzz'"),
        (Roles(keep=("age",), drop=("age",)), "'age' is named more than once in --keep, --drop"),
        (Roles(numeric=("age",), categorical=("age",)), "more than once in --categorical"),
        (Roles(linked=(("sex", "age"), ("age", "site"))), "more than once in groups of linked"),
        (Roles(linked=(("sex",),)), "a group of linked columns needs two or more, got 'sex'"),
        (Roles(linked=(("sex", "site"),), keep=("site",)), "linked column 'site' is kept"),
        (Roles(linked=(("sex", "age"),)), "linked column 'age' is a integer; only categories"),
        (Roles(weights={"age": -1.0}), "weight of column 'age' must be a number from 0"),
        (Roles(weights={"age": 1e300}), "must be a number from 0 to 1e+09, got 1e+300"),
        (Roles(weights={"age": float("nan")}), "weight of column 'age'"),
    ],
)
def test_roles_that_make_no_sense_are_refused(roles: Roles, words: str) -> None:
    frame = pl.DataFrame({"age": range(20), "sex": ["F", "M"] * 10, "site": ["a", "b"] * 10})
    with pytest.raises(InputError) as caught:
        Table.of(frame, roles)
    assert words in str(caught.value)


def test_what_is_kept_dropped_or_an_identifier_is_not_encoded() -> None:
    frame = pl.DataFrame({"a": [[1], [2]], "b": ["x", "y"], "c": [1, 2], "d": [1, 1]})
    table = Table.of(frame, Roles(keep=("a",), drop=("b",), id=("c",)))
    assert table.names == ("d",)


def test_nested_columns_and_empty_tables_are_refused(backend: Backend) -> None:
    with pytest.raises(InputError, match="'x' is not a plain column"):
        Table.of(backend.frame({"x": [[1], [2]]}))
    with pytest.raises(InputError, match="no rows"):
        Table.of(backend.frame({"x": []}))
    with pytest.raises(InputError, match="no columns"):
        Table.of(backend.frame({}))


# ---------------------------------------------------------------- identifiers


def spread(rows: int) -> list[int]:
    return [int(v) for v in np.random.default_rng(0).choice(10**9, rows, replace=False)]


def test_whole_numbers_all_distinct_get_a_note(backend: Backend) -> None:
    table = Table.of(backend.frame({"income": spread(60)}))
    assert len(table.notes) == 1
    first = spoken(table.notes)[0]
    assert first.startswith("column 'income' holds whole numbers that are all distinct")


# ---------------------------------------------------------------- a second table


def test_a_second_table_is_matched_by_name_not_by_place(backend: Backend, people: People) -> None:
    cells = people()
    table = Table.of(backend.frame(cells))
    turned = backend.frame(dict(reversed(cells.items())))
    again = table.like(turned)
    assert again.names == table.names
    for one, other in zip(again.columns, table.columns, strict=True):
        np.testing.assert_array_equal(
            one.values if isinstance(one, Numbers) else one.codes,
            other.values if isinstance(other, Numbers) else other.codes,
        )


def test_tables_of_different_kinds_are_compared_by_value(backend: Backend, people: People) -> None:
    cells = people()
    table = Table.of(pl.DataFrame(cells))
    again = table.like(backend.frame(cells, categories=["stage", "site"]))
    for one, other in zip(again.columns, table.columns, strict=True):
        if isinstance(one, Numbers) and isinstance(other, Numbers):
            np.testing.assert_allclose(one.values, other.values, rtol=0, atol=1e-9)
        elif isinstance(one, Levels) and isinstance(other, Levels):
            assert words(one) == words(other)


def test_representations_are_compared_by_value_and_reported() -> None:
    day = dt.date(2020, 1, 1)
    days = [day + dt.timedelta(days=i) for i in range(30)]
    first = pl.DataFrame(
        {"n": range(30), "flag": [True, False, None] * 10, "digit": [0, 1, 1] * 10, "day": days}
    )
    second = pd.DataFrame(
        {
            "n": [str(v) for v in range(30)],
            "flag": [1.0, 0.0, None] * 10,
            "digit": pd.Categorical(["0", "1", "1"] * 10),
            "day": pd.to_datetime(days),
        }
    )
    table = Table.of(first)
    again = table.like(second)
    np.testing.assert_array_equal(numbers(again, "n").values, numbers(table, "n").values)
    np.testing.assert_array_equal(numbers(again, "day").values, numbers(table, "day").values)
    assert words(levels(again, "flag")) == words(levels(table, "flag"))
    assert words(levels(again, "digit")) == words(levels(table, "digit"))
    assert len(again.notes) == 4
    assert spoken(again.notes)[0] == (
        "column 'n' is Int64 in the first table and String in the second; compared by value"
    )


def test_text_dates_match_real_ones() -> None:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(30)]
    text = [day.strftime("%d/%m/%Y") for day in days]
    table = Table.of(pl.DataFrame({"x": text}), Roles(date={"x": "%d/%m/%Y"}))
    for second in (pl.DataFrame({"x": days}), pl.DataFrame({"x": text})):
        assert numbers(table.like(second), "x").values.tolist() == list(range(30))
    iso = pl.DataFrame({"x": [day.isoformat() for day in days]})
    assert numbers(Table.of(pl.DataFrame({"x": days})).like(iso), "x").values.tolist() == list(
        range(30)
    )


@pytest.mark.parametrize("zone", ["Europe/Paris", "America/New_York", "Etc/GMT+5"])
def test_moments_of_different_zones_are_compared_as_moments(backend: Backend, zone: str) -> None:
    days = pd.date_range("2020-01-01", periods=200, tz=zone)
    here = backend.frame({"x": [day.to_pydatetime() for day in days]})
    table = Table.of(here)
    assert numbers(table, "x").values.tolist() == list(range(200))
    utc = days.tz_convert("UTC")
    for second in (
        pl.DataFrame({"x": utc.tz_localize(None).to_pydatetime().tolist()}).with_columns(
            pl.col("x").dt.replace_time_zone("UTC")
        ),
        pd.DataFrame({"x": utc}),
        pd.DataFrame({"x": utc.astype(pd.ArrowDtype(pa.timestamp("us", "UTC")))}),
        pa.table({"x": pa.array(utc)}),
    ):
        if backend.name != "pandas-object":  # objects have a zone each, read by their wall clock
            again = table.like(second)
            np.testing.assert_allclose(numbers(again, "x").values, range(200), atol=1e-9)


def test_levels_of_the_second_table_only_get_new_codes() -> None:
    table = Table.of(pl.DataFrame({"x": ["a", "b", "a"]}))
    again = levels(table.like(pl.DataFrame({"x": ["c", "a", None]})), "x")
    assert again.codes.tolist() == [2, 0, 3]
    assert again.labels == ("a", "b", "c", None)
    assert again.first.tolist() == [1, -1, 0, 2]


def test_few_values_in_the_second_table_stay_numbers() -> None:
    table = Table.of(pl.DataFrame({"x": range(100)}))
    assert numbers(table.like(pl.DataFrame({"x": [3, 4]})), "x").values.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("origin", [0, 2**53 + 11, 2**63 + 5])
def test_large_integers_are_compared_exactly(origin: int) -> None:
    first = pl.DataFrame({"x": pl.Series([origin + i for i in range(30)], dtype=pl.UInt64)})
    below = pl.DataFrame({"x": pl.Series([origin + 7, max(origin - 1, 0)], dtype=pl.UInt64)})
    again = numbers(Table.of(first).like(below), "x")
    assert again.values.tolist() == [7.0, -1.0 if origin else 0.0]


def test_columns_that_do_not_match_are_named(backend: Backend) -> None:
    table = Table.of(backend.frame({"age": [1, 2], "sex": ["F", "M"]}))
    with pytest.raises(InputError, match="second table lacks column 'sex'"):
        table.like(backend.frame({"age": [1, 2]}))
    with pytest.raises(InputError, match="second table has columns 'a', 'b' that the first lacks"):
        table.like(backend.frame({"age": [1], "sex": ["F"], "a": [1], "b": [1]}))


def test_a_second_table_that_can_not_be_read_is_named() -> None:
    table = Table.of(pl.DataFrame({"x": range(20)}))
    with pytest.raises(InputError, match="second table, column 'x', row 2: 'many' can't be read"):
        table.like(pl.DataFrame({"x": ["1", "many"]}))


def test_a_column_all_missing_in_the_second_table_is_missing() -> None:
    table = Table.of(pl.DataFrame({"x": range(20)}))
    assert np.isnan(numbers(table.like(pl.DataFrame({"x": [None, None]})), "x").values).all()


# ---------------------------------------------------------------- rows and columns


def test_taken_rows_are_those_of_the_frame(backend: Backend, people: People) -> None:
    frame = backend.frame(people(), categories=["stage"])
    table = Table.of(frame)
    rows = np.array([7, 3, 3, 150, 11])
    taken = table.take(rows)
    assert len(taken) == 5
    for column in taken.columns:
        whole = backend.cells(frame, column.name)
        cells = backend.cells(taken.frame.to_native(), column.name)
        assert cells == [whole[row] for row in rows]
        if isinstance(column, Levels):
            found = [cells[i] for i in column.first if i >= 0]
            held = [label for label, i in zip(column.labels, column.first, strict=True) if i >= 0]
            assert [None if cell is None else label_of(cell) for cell in found] == held
            assert {code for code, i in enumerate(column.first) if i >= 0} == {*column.codes}


def test_selected_columns_keep_the_order_of_the_table() -> None:
    table = Table.of(pl.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]}))
    assert table.select(["c", "a"]).names == ("a", "c")


def test_column_names_may_be_anything(any_pandas: Backend) -> None:
    names = ["a b", "(x)", "it's", "new\nline", "😀", "class", 0, 1]
    frame = any_pandas.frame({str(i): [i, i + 1] for i in range(len(names))})
    frame.columns = pd.Index(names, dtype=object, tupleize_cols=False)
    assert Table.of(frame).names == tuple(names)


def test_rows_are_matched_by_position_whatever_the_index(
    any_pandas: Backend, people: People
) -> None:
    frame = any_pandas.frame(people())
    plain = Table.of(frame)
    for index in (range(1000, 1200), pd.date_range("2020", periods=200), [7] * 200):
        indexed = Table.of(frame.set_axis(index, axis=0))
        for one, other in zip(indexed.columns, plain.columns, strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(
                one.values if isinstance(one, Numbers) else one.codes,
                other.values if isinstance(other, Numbers) else other.codes,
            )


def test_decimals_do_not_depend_on_the_order_of_the_rows() -> None:
    """63696531.77 has two decimals and, rounded to twelve, is another number."""
    large, small = np.full(20_000, 63696531.77), np.full(20_000, 0.123456789012)
    large[::2] += np.arange(10_000)
    small[::2] += np.arange(10_000)
    grids = []
    for values in (np.concatenate([large, small]), np.concatenate([small, large])):
        grids.append(Table.of(pl.DataFrame({"x": values})).number("x").grid.decimals)
        fewest = [d for d in range(13) if np.array_equal(np.round(values, d), values)]
        assert grids[-1] == (fewest[0] if fewest else None)
    assert grids[0] == grids[1]
