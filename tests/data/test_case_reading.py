"""Cases 31 to 40 and 49 of real tables that came through with silent damage."""

from __future__ import annotations

import copy
import datetime as dt
import io
import pickle
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xlsxwriter
from polars.testing import assert_frame_equal
from spoken import spoken

from sosie import Avatarizer, SosieWarning, audit
from sosie.data.csv_dialect import parse, write_csv
from sosie.data.files import read, write
from sosie.data.missing import States, sentinels, states_among, tagged, tags
from sosie.data.moments import clock_of
from sosie.data.notation import Ambiguous, Notation, limit_of, notation_of
from sosie.data.table import Roles, Table
from sosie.errors import InputError
from sosie.generate.options import check_mapping, check_names, check_number, check_whole

NARROW, NO_BREAK = "\u202f", "\u00a0"


def bytes_of(frame: pl.DataFrame, dialect: Any) -> bytes:
    file = io.BytesIO()
    write_csv(frame, file, dialect)
    return file.getvalue()


def untouched(text: str, **options: Any) -> pl.DataFrame:
    """The table in a CSV file, which is written back as it was."""
    frame, dialect, _ = parse(text.encode(), **options)
    assert bytes_of(frame, dialect).decode() == text
    return frame


# ---------------------------------------------------------------- 31


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('pay,a\n"1,232",x\n685,y\n', [1232, 685]),
        ('pay,a\n"1,232.50",x\n685.00,y\n', [1232.5, 685]),
        ('pay,a\n"-1,234,567",x\n12,y\n', [-1234567, 12]),
        ("pay;a\n1.232;2,5\n685;3,5\n", [1232, 685]),
        ("pay;a\n1.232,5;2\n685,25;3\n", [1232.5, 685.25]),
        ("pay;a\n1,232;2.5\n685;3.5\n", [1232, 685]),
        *(
            (f"pay;a\n1{space}232;2\n12{space}345{space}678;3\n", [1232, 12345678])
            for space in (" ", NO_BREAK, NARROW, "\u2009", "'", "’")
        ),
    ],
)
def test_case_31_thousands_are_read_by_the_files_own_mark(text: str, numbers: list[float]) -> None:
    assert untouched(text)["pay"].to_list() == numbers


def test_case_31_a_group_that_may_be_decimals_is_refused_by_name() -> None:
    for text in ("pay;a\n1.232;x\n685;y\n", "pay;a\n1,232;x\n685;y\n"):
        with pytest.raises(InputError, match=r"column 'pay', row 1: '1.232' may be 1232 or 1\.232"):
            parse(text.encode())
    assert untouched("pay;a\n1.232;x\n685;y\n", decimal=",")["pay"].to_list() == [1232, 685]
    assert untouched("pay;a\n1.232;x\n685;y\n", decimal=".")["pay"].to_list() == [1.232, 685]


@pytest.mark.parametrize("roles", [Roles(numeric=("pay",)), Roles()])
def test_case_31_so_it_is_in_a_table_in_memory(roles: Roles) -> None:
    cells = [f"{1000 + 7 * i:,}" for i in range(30)] + ["685"]
    with pytest.raises(InputError, match=r"column 'pay', row 1: '1,000' may be 1000 or 1\.000"):
        Table.of(pd.DataFrame({"pay": cells}), roles)
    assert Table.of(pd.DataFrame({"pay": cells}), Roles(categorical=("pay",))).columns
    surer = pd.DataFrame({"pay": [*cells, "12.5", "1,234.5"]})
    column = Table.of(surer, roles).number("pay")
    assert column.values[:2].tolist() == [1000, 1007]
    assert column.texts(column.values)[-2:] == ["12.5", "1,234.5"]


def test_case_31_codes_of_groups_stay_text() -> None:
    siren = "siren;a\n" + "".join(f"552 100 {i};{i}\n" for i in range(500, 520))
    assert untouched(siren)["siren"].dtype == pl.String


def test_what_a_notation_is() -> None:
    """By hand: the sign, the marks and what stands around."""
    dollars = Notation(".", ",", before="$")
    assert [dollars.plain(cell) for cell in ("$1,234.5", "-$3", "$-3")] == ["1234.5", "-3", "-3"]
    assert dollars.written("-1234567.25") == "-$1,234,567.25"
    assert notation_of(["1.5", "2,5"]) is None
    assert notation_of(["12 %", "5"]) is None
    assert notation_of(["1.234", "5"], ",") == Notation(",", ".")
    assert isinstance(notation_of(["1.234", "5"]), Ambiguous)
    assert notation_of(["0.123", "5"]) == Notation(".")
    assert [limit_of(c) for c in ("<0.5", "≤ 0,5", ">1000", "<x", "5")] == [
        0.5,
        0.5,
        1000,
        None,
        None,
    ]


# ---------------------------------------------------------------- 32, 33

REFUSED = {
    "Jean,45,M\nAnne,50,F\n": "the first line should name the columns, and holds '45', a number",
    "name,2020-01-01\na,b\n": "holds '2020-01-01', a date",
    "n;sex\n5;M\n6;sex\n": r"holds 'sex', a value of its column too \(row 2\)",
    "a,b\n1,x\na,b\n2,y\n": "row 2 repeats the names of the columns",
    "id;n\n1;5\n2;6\nTOTAL;11\n": "row 3, the last, holds 'TOTAL' beside '11' .column 'id'.",
    "id,n\nx,5\nGrand total,11\n": "row 2, the last, holds 'Grand total'",
    "Export of 3 May\n\nid;age;sex\n1;2;M\n2;3;F\n": "line 1 holds 'Export of 3 May', a title",
    "Export;;\nof 3 May;;\nid;age;sex\n1;2;M\n2;3;F\n": "the line that begins with 'id'",
    "id  age   sex\n1   30 M\n2    40    F\n": "line 1 holds 'id  age   sex'.*separated by spaces",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_cases_32_and_33_what_is_no_person_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text.encode())


def test_case_32_the_way_on() -> None:
    text = "Jean,45,M\nAnne,50,F\n"
    with pytest.raises(InputError, match="--no-header"):
        parse(text.encode())
    frame = untouched(text, header=False)
    assert frame.to_dict(as_series=False) == {
        "column_1": ["Jean", "Anne"],
        "column_2": [45, 50],
        "column_3": ["M", "F"],
    }
    assert untouched("id,2019,2020\nx,1,2\n", header=True).columns == ["id", "2019", "2020"]


@pytest.mark.parametrize(
    "text",
    [
        "full name\nJean Dupont\nAnne Martin\n",
        "sex,n\nM,5\nF,total\nM,total\n",
        "a\nx\ny\n",
        "a,b\ntotal,1\nx,2\n",
    ],
)
def test_what_is_a_table_of_people_is_not_refused(text: str) -> None:
    assert untouched(text).height >= 2


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("x,a\n18.8%,1\n20.0%,2\n", [18.8, 20]),
        ("x;a\n12,5 €;1\n1 020 €;2\n", [12.5, 1020]),
        (f"x;a\n12,50{NO_BREAK}€;1\n3,25{NO_BREAK}€;2\n", [12.5, 3.25]),
        ('x,a\n"$1,232.50",1\n$4.25,2\n', [1232.5, 4.25]),
        ("x;a\n5 %;1,5\n7 %;2,5\n", [5, 7]),
    ],
)
def test_case_33_percents_and_currencies_are_numbers(text: str, numbers: list[float]) -> None:
    assert untouched(text)["x"].to_list() == numbers


# ---------------------------------------------------------------- 34, 35, 36

PEOPLE = 1_500


def laboratory(seed: int = 3) -> str:
    """A hospital's export: decimal commas, codes and limits among numbers, 999 for no age."""
    rng = np.random.default_rng(seed)
    crp = [f"{x:.1f}".replace(".", ",") for x in 0.5 + rng.gamma(2, 4, PEOPLE)]
    codes = ("ND", "NC", "?", "<0,5", "")
    kinds = rng.choice(6, PEOPLE, p=[0.4, 0.2, 0.1, 0.05, 0.2, 0.05])
    cells = [codes[kind - 1] if kind else cell for kind, cell in zip(kinds, crp, strict=True)]
    pay = [f"{int(x):,}".replace(",", NARROW) for x in rng.gamma(2, 1000, PEOPLE)]
    age = np.where(rng.random(PEOPLE) < 0.1, 999, rng.integers(18, 95, PEOPLE))
    rows = zip(cells, pay, age, strict=True)
    return "crp;pay;age\n" + "".join(f"{c};{p};{a}\n" for c, p, a in rows)


@pytest.mark.parametrize("method", ["smoothed", "barycentre"])
def test_cases_34_and_35_codes_and_limits_come_back_in_their_shares(method: Any) -> None:
    text = laboratory()
    frame, dialect, _ = parse(text.encode())
    assert bytes_of(frame, dialect).decode() == text
    with pytest.warns(SosieWarning) as told:
        avatarizer = Avatarizer(k=20, seed=1, method=method).fit(frame)
    said = [str(one.message) for one in told]
    assert "'<0,5' (" in said[0]
    assert "a limit" in said[0]
    assert "'ND' (" in said[0]
    assert "'999' (" in said[1]
    made = bytes_of(avatarizer.release(), dialect).decode().splitlines()
    before, after = text.splitlines()[1:], made[1:]
    for place, codes in ((0, ("ND", "NC", "?", "<0,5", "")), (2, ("999",))):
        originals = Counter(line.split(";")[place] for line in before)
        avatars = Counter(line.split(";")[place] for line in after)
        for code in codes:
            assert abs(originals[code] - avatars[code]) < 0.03 * PEOPLE
    values = [c for line in after if (c := line.split(";")[0])[:1].isdigit()]
    assert min(float(c.replace(",", ".")) for c in values) >= 0.5
    assert all(NARROW in p for line in after if len(p := line.split(";")[1]) > 3)
    ages = [int(line.split(";")[2]) for line in after]
    assert all(18 <= age < 95 or age == 999 for age in ages)


def test_case_34_a_verbatim_copy_scores_as_a_copy() -> None:
    frame, _, _ = parse(laboratory().encode())
    table = Table.of(frame)
    assert np.array_equal(
        table.like(frame).number("crp").values.view(np.uint64),
        table.number("crp").values.view(np.uint64),
    )
    hidden = audit(frame, frame, aligned=True).privacy["hidden_rate"].value
    assert hidden is not None
    assert hidden < 1  # ties


def test_case_34_codes_said_outright_need_not_recur() -> None:
    cells = [f"{i}.5" for i in range(30)]
    text = "x\n" + "\n".join([*cells, "unfit", "777"]) + "\n"
    assert parse(text.encode())[0]["x"].dtype == pl.String
    assert "is not read" in spoken(parse(text.encode())[2])[0]
    frame = untouched(text, na=("unfit",))
    column = Table.of(frame, Roles(na=("unfit",))).number("x")
    assert column.states == States.of(["unfit"])
    assert column.states.codes(column.values)[-2:].tolist() == [2, 0]
    numbers = pl.DataFrame({"x": [*range(60), 777]})
    column = Table.of(numbers, Roles(na=("777",))).number("x")
    assert column.missing.tolist() == [False] * 60 + [True]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_case_34_a_table_in_memory_is_given_back_with_its_codes(kind: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    cells = [f"{x:.2f}" for x in rng.normal(50, 9, 300)]
    cells[::5] = ["ND"] * 60
    people = kind({"x": cells, "y": rng.normal(size=300)})
    with pytest.warns(SosieWarning, match="'ND'"):
        made = Avatarizer(k=10, seed=1).fit(people).release()
    found = list(made["x"])
    assert abs(found.count("ND") - 60) < 30
    assert all(cell == "ND" or 20 < float(cell) < 80 for cell in found)


@pytest.mark.parametrize(
    "cells",
    [
        ["12", "14B", *(str(i) for i in range(30))],  # digits in it: not a code for missing
        ["sorry", *(str(i) for i in range(30))],  # of one person
        ["ND", "ND", "1", "2", "3"],  # few numbers are categories
        [*(f"word {i % 30}" for i in range(90)), "1", "2"],
    ],
)
def test_case_34_other_texts_are_not_numbers(cells: list[str]) -> None:
    assert Table.of(pl.DataFrame({"x": cells})).columns[0].kind == "category"


def test_case_34_nines_are_codes_only_where_they_are_far_and_recur() -> None:
    ages = np.arange(20.0, 90)
    assert sentinels(np.append(ages, [999, 999, 999])) == [999]
    assert sentinels(np.append(ages, [-99, -99, -99])) == [-99]  # 119 away, more than 69
    assert sentinels(np.append(ages, [-999, -999, -999])) == [-999]
    assert sentinels(np.append(ages, [99, 99, 99])) == []
    assert sentinels(np.append(ages, [999, 999])) == []
    assert sentinels(np.append(ages, [500, 500, 500])) == []


def test_the_kind_of_a_missing_value_goes_with_the_value() -> None:
    values = np.array([1.5, np.nan, *tagged(np.array([1, 2]))])
    assert np.isnan(values[1:]).all()
    assert tags(values).tolist() == [0, 0, 1, 2]
    assert tags(values[[3, 0, 2]]).tolist() == [2, 0, 1]
    assert tags(pickle.loads(pickle.dumps(values))).tolist() == [0, 0, 1, 2]  # noqa: S301
    states = States.of(["999", "-1"])
    assert states.numbers(values)[[0, 2, 3]].tolist() == [1.5, 999, -1]
    assert states.shares(values) == {"999": 0.25, "-1": 0.25}
    assert states_among({"1": 1, "ND": 5}) is None


def test_kinds_of_a_second_table_are_those_of_the_first() -> None:
    one = [*(str(i) for i in range(30)), "ND", "ND", "<1", "<1"]
    other = ["3", "NC", "NC", "ND", "<1", *(f"{i}" for i in range(40, 60))]
    first = Table.of(pl.DataFrame({"x": one}))
    second = first.like(pl.DataFrame({"x": other})).number("x")
    assert second.states is not None
    assert second.states.texts(second.values)[:5] == [None, "NC", "NC", "ND", "<1"]
    assert first.number("x").states is not None
    assert second.states.labels[:2] == ("<1", "ND")
    numbers = first.like(pl.DataFrame({"x": [3, None, 5]})).number("x")
    assert numbers.values[[0, 2]].tolist() == [3, 5]


def test_case_36_na_beside_empty_cells_stays() -> None:
    text = "country,n,x\nNA,1,2\n,2,NA\nFR,3,\nNA,4,5\n"
    frame = untouched(text)
    assert frame["country"].to_list() == ["NA", None, "FR", "NA"]
    table = Table.of(frame)
    assert set(table.level("country").labels) == {"NA", None, "FR"}
    many = "x\n" + "\n".join([*(str(i) for i in range(20)), "NA", "", "NA"]) + "\n"
    column = Table.of(untouched(many)).number("x")
    assert column.states is not None
    assert column.states.codes(column.values)[-3:].tolist() == [2, 1, 2]


# ---------------------------------------------------------------- 37


@pytest.fixture
def partitioned(tmp_path: Path) -> Path:
    for site, year, rows in (("a", 2019, 3), ("a", 2020, 2), ("b c", 2019, 4)):
        folder = tmp_path / "in" / f"site={site.replace(' ', '%20')}" / f"year={year}"
        folder.mkdir(parents=True)
        pl.DataFrame({"x": np.arange(rows) + 0.5}).write_parquet(folder / "0.parquet")
    return tmp_path / "in"


def test_case_37_the_columns_of_a_partitioned_folder_are_there(partitioned: Path) -> None:
    frame = read(partitioned).frame
    assert frame.schema == {"x": pl.Float64, "site": pl.String, "year": pl.Int64}
    assert Counter(frame["site"]) == {"a": 5, "b c": 4}
    assert Counter(frame["year"]) == {2019: 7, 2020: 2}
    known = pl.read_parquet(partitioned / "**/*.parquet", hive_partitioning=True)
    assert_frame_equal(frame["x", "year"], known["x", "year"], check_row_order=False)


def test_case_37_folders_that_differ_are_an_error(partitioned: Path) -> None:
    pl.DataFrame({"x": [1.5]}).write_parquet(partitioned / "more.parquet")
    with pytest.raises(InputError, match=r"the folders around it name"):
        read(partitioned)


# ---------------------------------------------------------------- 38


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2022-03-01T05:43:36Z", "2022-03-01T05:43:37Z"], (5, 43, 36, 0)),
        (["2022-03-01T05:43:36+01:00", "2022-07-01T05:43:37+02:00"], (4, 43, 36, 0)),
        (["2022-03-01T05:43:36.123+02:00", "2022-07-01T05:43:37.000+02:00"], (3, 43, 36, 123_000)),
        (["2022-03-01 05:43:36-0500", "2022-07-01 05:43:37-0400"], (10, 43, 36, 0)),
        (["2022-03-01T05:43:36+05:30", "2022-07-01T05:43:37+05:30"], (0, 13, 36, 0)),
        (["2022-03-01T05:43:36.125", "2022-07-01T05:43:37.500"], (5, 43, 36, 125_000)),
        (["2022-03-01T05:43:36.123456", "2022-07-01T05:43:37.500000"], (5, 43, 36, 123_456)),
    ],
)
def test_case_38_moments_are_right_and_come_back(cells: list[str], first: tuple[int, ...]) -> None:
    column = untouched("at,n\n" + "".join(f"{cell},x\n" for cell in cells))["at"]
    moment = cast(dt.datetime, column[0])
    utc = moment.astimezone(dt.UTC) if moment.tzinfo else moment
    assert (utc.hour, utc.minute, utc.second, utc.microsecond) == first
    assert (utc.date(), moment.tzinfo is None) == (dt.date(2022, 3, 1), "+" not in cells[0]
            and "Z" not in cells[0] and "-0" not in cells[0][19:])  # fmt: skip


def test_case_38_offsets_of_no_one_zone_are_told() -> None:
    raw = b"at\n2022-03-01T05:43:36-05:00\n2022-07-01T05:43:37+09:00\n"
    frame, dialect, notes = parse(raw)
    assert "times are written in UTC" in spoken(notes)[0]
    assert bytes_of(frame, dialect).split()[1:] == [
        b"2022-03-01T10:43:36+00:00",
        b"2022-06-30T20:43:37+00:00",
    ]
    mixed = ["2022-03-01T05:43:36", "2022-03-01T05:43:37Z"]
    assert untouched("at\n" + "\n".join(mixed) + "\n")["at"].dtype == pl.String
    assert clock_of(pl.Series(mixed)) is None
    with pytest.raises(InputError, match=r"column 'at', row 2: .*some times have a zone"):
        Table.of(pd.DataFrame({"at": mixed}), Roles(date={"at": None}))


def test_case_38_text_with_an_offset_in_memory() -> None:
    cells = [f"2022-03-{day:02d}T05:43:36.250+02:00" for day in range(1, 20)]
    column = Table.of(pd.DataFrame({"at": cells}), Roles(date={"at": None})).number("at")
    assert column.texts(column.values) == cells
    varied = [*cells, "2022-03-20T00:00:00.250-05:00"]
    column = Table.of(pd.DataFrame({"at": varied}), Roles(date={"at": None})).number("at")
    assert column.texts(column.values)[-1] == "2022-03-20T05:00:00.250+00:00"


def test_case_38_a_birth_in_two_digits_is_not_in_the_future() -> None:
    cells = [
        f"{day:02d}/02/{year:02d}" for day, year in zip(range(1, 21), range(19, 39), strict=True)
    ]
    frame = pd.DataFrame({"born": cells})
    table = Table.of(frame, Roles(date={"born": "%d/%m/%y"}, pivot=2024))
    column = table.number("born")
    assert column.texts(column.values) == cells
    days = column.values * column.grid.step / 86_400e6 + column.grid.origin / 86_400e6
    years = [(dt.date(1970, 1, 1) + dt.timedelta(days=int(day))).year for day in days]
    assert years == [*range(2019, 2025), *range(1925, 1939)]
    assert tuple(spoken(table.notes)) == (
        "column 'born': two-digit years are read as 1925 to 2024 (--pivot 2024)",
    )


# ---------------------------------------------------------------- 39


@pytest.mark.parametrize("name", [None, float("nan"), ("a", "b"), pd.NaT, pd.NA])
def test_case_39_names_that_are_no_names(name: object) -> None:
    frame = pd.DataFrame({"x": range(30), "y": range(30)})
    frame.columns = pd.Index(["x", name], dtype=object, tupleize_cols=False)
    with pytest.raises(InputError, match=r"column 2 is named .* must be text or a number"):
        Table.of(frame)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_whole("k", 5.0), r"k must be a whole number, got 5.0 \(float\): write 5"),
        (lambda: check_whole("k", "5"), r"k must be a whole number, got '5' \(str\): write 5"),
        (lambda: check_whole("seed", "x"), r"seed must be a whole number, got 'x' \(str\)$"),
        (lambda: check_whole("k", True), r"got True \(bool\)$"),
        (lambda: check_whole("k", np.bool_(True)), "got .*True"),
        (lambda: check_whole("k", None), "got None"),
        (lambda: check_whole("k", 0, 1), "k must be at least 1, got 0"),
        (lambda: check_number("w", "1"), r"w must be a number, got '1' \(str\)"),
        (lambda: check_number("w", float("nan")), "w must be a number, got nan"),
        (lambda: check_names("keep", "age"), "keep must be a list of columns, got 'age'"),
        (lambda: check_names("keep", 5), r"got 5 \(int\)"),
        (lambda: check_mapping("date", "born", "{}"), r"date must be a mapping such as {}, got"),
    ],
)
def test_case_39_options_of_a_wrong_type(check: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check()


def test_options_of_the_right_type() -> None:
    assert check_whole("k", np.int64(5)) == 5
    assert check_number("w", 2) == 2.0
    assert check_names("keep", ("a",)) == ("a",)
    assert check_mapping("date", None, "") == {}


# ---------------------------------------------------------------- 40

DECLARED = ["p", "never", "q", "rare"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_case_40_declared_levels_come_back(kind: str) -> None:
    cells = [*["p", "q"] * 40, "rare"]
    numbers = np.arange(81.0) ** 1.5
    frame: Any = (
        pd.DataFrame({"x": pd.Categorical(cells, DECLARED), "n": numbers})
        if kind == "pandas"
        else pl.DataFrame({"x": pl.Series(cells, dtype=pl.Enum(DECLARED)), "n": numbers})
    )
    made: Any = Avatarizer(k=5, seed=1).fit(frame).release()["x"]
    levels = made.cat.categories if kind == "pandas" else made.dtype.categories
    # What one person held is in no avatar; what nobody held says nothing of anybody.
    assert list(levels) == ["p", "never", "q"]


def test_case_40_what_is_computed_can_be_sent_and_copied() -> None:
    people = pl.DataFrame({"x": np.arange(60.0) ** 1.3, "s": ["F", "M"] * 30})
    avatarizer = Avatarizer(k=5, seed=1).fit(people)
    found = audit(people, avatarizer.release(shuffle=False), aligned=True)
    for thing in (found, found.privacy["hidden_rate"], Table.of(people), Roles(na=("ND",))):
        again = pickle.loads(pickle.dumps(thing))  # noqa: S301
        assert type(again) is type(thing)
        assert type(copy.deepcopy(thing)) is type(copy.copy(thing)) is type(thing)
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()  # noqa: S301
    assert copy.deepcopy(found).to_dict() == found.to_dict()
    sent = pickle.loads(pickle.dumps(avatarizer))  # noqa: S301
    assert_frame_equal(sent.release(), avatarizer.release(), check_row_order=False)


# ---------------------------------------------------------------- 45


@pytest.mark.parametrize(
    "words",
    [("FALSE", "TRUE"), ("F", "T"), ("no", "yes"), ("non", "oui"), ("0", "1"), ("Faux", "Vrai")],
)
@pytest.mark.parametrize("numbers", [False, True])
def test_case_45_yes_and_no_are_compared_by_value(words: tuple[str, str], numbers: bool) -> None:
    truth = np.random.default_rng(1).random(40) < 0.4
    first: Any = truth.astype(int) if numbers else truth
    table = Table.of(pd.DataFrame({"x": first}))
    other = table.like(pd.DataFrame({"x": [words[int(one)] for one in truth]}))
    assert np.array_equal(table.level("x").codes, other.level("x").codes)
    assert other.level("x").labels == table.level("x").labels


def test_case_45_sexes_are_no_booleans() -> None:
    table = Table.of(pl.DataFrame({"x": ["F", "M", "F"]}))
    assert table.like(pl.DataFrame({"x": ["F", "F", "F"]})).level("x").codes.tolist() == [0, 0, 0]
    assert table.like(pl.DataFrame({"x": ["0", "1", "0"]})).level("x").labels == (
        "F",
        "M",
        "0",
        "1",
    )


def test_case_45_zip_codes_that_lost_their_zeros() -> None:
    table = Table.of(pl.DataFrame({"zip": ["01000", "75001", "01000", None]}))
    other = table.like(pl.DataFrame({"zip": [1000, 75001, 1000, None]}))
    assert np.array_equal(table.level("zip").codes, other.level("zip").codes)
    lengths = Table.of(pl.DataFrame({"zip": ["1", "75001"]}))
    assert lengths.like(pl.DataFrame({"zip": [1, 2]})).level("zip").labels == ("1", "75001", "2")


# ---------------------------------------------------------------- Excel


def workbook(sheets: dict[str, list[list[object]]]) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return file.getvalue()


TABLE = pl.DataFrame(
    {
        "n": [1, None, 3],
        "x": [1.5, 2.25, None],
        "born": [dt.date(1980, 2, 29), dt.date(2001, 1, 1), None],
        "at": [dt.datetime(2020, 1, 1, 10, 30), None, dt.datetime(2020, 1, 2)],
        "zip": ["01000", "75001", None],
        "text": ["=1+1", "http://a.b", "ND"],
        "yes": [True, False, None],
    }
)


def test_excel_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "x.xlsx")
    file = read(tmp_path / "x.xlsx")
    assert_frame_equal(file.frame, TABLE)
    assert file.dialect is None
    write(TABLE, tmp_path / "y.xlsx")
    assert (tmp_path / "y.xlsx").read_bytes() == (tmp_path / "x.xlsx").read_bytes()


def test_excel_is_read_by_another_program(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "x.xlsx")
    with zipfile.ZipFile(tmp_path / "x.xlsx") as archive:
        cells = archive.read("xl/sharedStrings.xml").decode()
        assert "<t>=1+1</t>" in cells
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")  # no formula


def test_sheets_are_chosen_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    rows: list[list[object]] = [["id", "crp"], ["a", "ND"], ["b", 3.5]]
    path.write_bytes(workbook({"Empty": [], "People": rows, "Names": [["a", "b"]]}))
    with pytest.raises(
        InputError, match=r"the sheet 'Empty' is empty; .* 'Empty', 'People', 'Names'"
    ):
        read(path)
    for sheet in ("People", "2"):
        frame = read(path, sheet=sheet).frame
        assert frame.to_dict(as_series=False) == {"id": ["a", "b"], "crp": ["ND", "3.5"]}
    with pytest.raises(InputError, match="no sheet 'Else'; the workbook has 'Empty', 'People'"):
        read(path, sheet="Else")
    with pytest.raises(InputError, match="the sheet 'Names' has a header and no row below it"):
        read(path, sheet="Names")
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,x\n")
    with pytest.raises(InputError, match="no Excel workbook, so it has no sheets"):
        read(tmp_path / "x.csv", sheet="1")


def test_a_sheet_of_more_than_people(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    for rows, message in (
        ([["Export", None, None], ["id", "a", "b"], [1, 2, 3]], "holds 'Export' alone, a title"),
        ([["id", "n"], ["a", 1], ["b", 2], ["Total", 3]], "row 3, the last, holds 'Total'"),
        ([["Jean", 45], ["Anne", 50]], "holds '45', a number"),
    ):
        path.write_bytes(workbook({"s": cast(Any, rows)}))
        with pytest.raises(InputError, match=message):
            read(path)
    assert read(path, header=False).frame.to_dict(as_series=False) == {
        "column_1": ["Jean", "Anne"],
        "column_2": [45, 50],
    }


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("x.sav", "SPSS"),
        ("x.dta", "Stata.*export delimited"),
        ("x.sas7bdat", "SAS.*proc export"),
        ("x.rds", "write.csv"),
        ("x.xls", "save it as .xlsx or CSV"),
    ],
)
def test_files_of_other_programs_are_told_the_way(tmp_path: Path, name: str, way: str) -> None:
    (tmp_path / name).write_bytes(b"$FL2@(#) something\x00")
    with pytest.raises(InputError, match=way):
        read(tmp_path / name)


def test_a_damaged_workbook_is_an_error(tmp_path: Path) -> None:
    raw = workbook({"s": [["a"], [1]]})
    for cut in (len(raw) // 2, 40):
        (tmp_path / "x.xlsx").write_bytes(raw[:cut])
        with pytest.raises(InputError):
            read(tmp_path / "x.xlsx")
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<nothing/>")
    with pytest.raises(InputError, match="not a readable Excel workbook"):
        read(tmp_path / "x.xlsx")
