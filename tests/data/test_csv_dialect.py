"""CSV files of every kind: read as they are meant, and written back as they came."""

from __future__ import annotations

import csv
import datetime as dt
import io
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from spoken import spoken

from sosie.data.csv_dialect import MOST_COLUMNS, Dialect, parse, separator_of, write_csv
from sosie.errors import InputError


def rewritten(raw: bytes, separator: str | None = None) -> bytes:
    frame, dialect, _ = parse(raw, separator)
    file = io.BytesIO()
    write_csv(frame, file, dialect)
    return file.getvalue()


def columns(raw: bytes) -> dict[str, list[Any]]:
    return parse(raw)[0].to_dict(as_series=False)


UNTOUCHED = {
    "comma": b"a,b\n1,x\n2,y\n",
    "semicolon": b"a;b\n1;x\n2;y\n",
    "tab": b"a\tb\n1\tx\n2\ty\n",
    "bar": b"a|b\n1|x\n2|y\n",
    "one column": b"a\nx\ny\n",
    "one column with missing": b"a\n1\n\n2\n",
    "one column with missing, read with care": b"a\n\xef\xbb\xbfx\n\ny\n\n",
    "white space": b"a,b\n \t, \n",
    "decimal comma": b"a;b\n1,5;2\n-0,25;3\n",
    "decimal comma without a zero": b"a;b\n70;x\n70,5;y\n",
    "byte order mark": b"\xef\xbb\xbfa,b\n1,x\n",
    "windows-1252": "a;b\n1,5;é\n2,5;€\n".encode("cp1252"),
    "utf-8": "âge,b\n1,é\n2,🩺\n".encode(),
    "CRLF": b"a,b\r\n1,x\r\n2,y\r\n",
    "line end in quotes": b'a,b\n"x\ny",1\nz,2\n',
    "CRLF in quotes": b'a,b\r\n"x\r\ny",1\r\nz,2\r\n',
    "many line feeds in quotes among CRLF": b'a,b\r\n"x\ny\nz\nt",1\r\nz,2\r\n',
    "a mark of byte order in the first cell": b"a,b\n\xef\xbb\xbfx,1\ny,2\n",
    "line feed in quotes among CRLF": b'a,b\r\n"x\ny",1\r\nz,2\r\n',
    "all quoted": b'"a","b"\n"1","x"\n"","y"\n',
    "text quoted": b'"a","b"\n1,"x"\nNA,"y"\n',
    "quote in quotes": b'a,b\n"he said ""yes""",1\nz,2\n',
    "separator in quotes": b'a,b\n"x, y",1\nz,2\n',
    "separator in a quoted name": b'"a,b",c\n1,2\n',
    "line end in a name": b'"a\nb",c\n1,2\n',
    "NA": b"a,b\nNA,x\n1,NA\n",
    "a dot for missing numbers, nothing for text": b"a,b\n.,x\n1,\n2,y\n",
    "two words in a column": b"a,b\nNA,1\nNA,2\nnull,3\n4,5\n",
    "a word for each column": b"a,b,c\nNA,null,1\n2,x,\n",
    "leading zeros": b"a,b\n01000,1\n75001,2\n",
    "telephones": b"a,b\n+33612345678,1\n+33687654321,2\n",
    "codes with an E": b"a,b\n1E5,e5\n2E7,e11\n",
    "beyond 64 bits": b"a\n123456789012345678901234567890\n1\n",
    "unsigned": b"a\n18446744073709551615\n1\n",
    "below 2^63": b"a\n9223372036854775807\n-9223372036854775808\n",
    "trailing zeros": b"a,b\n1.50,70.0\n2.25,71.5\n-0.10,72.5\n",
    "numbers without a needless zero": b"a,b\n70,1\n70.5,2\n",
    "small and large numbers": b"a\n1e-300\n123456789.5\n0.1\n",
    "true and false": b"a,b\ntrue,1\nfalse,2\n",
    "TRUE and FALSE": b"a,b\nTRUE,1\nFALSE,2\n",
    "dates": b"a,b\n2020-02-29,1\n1899-12-31,2\n",
    "no such date": b"a,b\n2020-06-31,1\n2020-06-30,2\n",
    "french dates": b"a,b\n31/12/2020,1\n01/01/2021,2\n",
    "moments": b"a,b\n2020-01-01T10:00:00,1\n,2\n2020-01-01T10:00:59,3\n",
    "moments with a space": b"a,b\n2020-01-01 10:00:00,1\n2020-01-01 10:00:59,2\n",
    "moments without seconds": b"a,b\n2020-01-01 10:00,1\n2020-01-01 10:01,2\n",
    "thousands": b"a;b\n1,234;2.5\n950;3.5\n",
    "thousands and decimals": b"a;b\n1.234,5;2\n950,1;3\n",
    "points for thousands among decimal commas": b"a;b\n1.234;1,5\n950;2,5\n",
    "commas and points": b"a;b\n1,5;2.5\n2,5;3.5\n",
    "a column of nothing": b"a,b\n,1\n,2\n",
    "names like compressed files": b"PKID,BZh\n1,2\n",
    "a keyword, markup, an emoji": 'class,<b>,"🩺 ""dose"""\n1,2,3\n'.encode(),
}


@pytest.mark.parametrize("raw", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_case_29_an_untouched_table_gives_the_same_bytes(raw: bytes) -> None:
    assert rewritten(raw) == raw


REWRITTEN = {
    "a cell quoted without need": (b'a,b\nx,"1"\ny,2\n', b"a,b\nx,1\ny,2\n"),
    "blank lines": (b"\n\na,b\n1,x\n\n2,y\n\n\n", b"a,b\n1,x\n2,y\n"),
    "no last line end": (b"a,b\n1,x", b"a,b\n1,x\n"),
    "a separator at the ends": (b"a;b;\n1;2;\n3;4;\n", b"a;b\n1;2\n3;4\n"),
    "a separator at the ends below the header": (b"a;b\n1;2;\n3;4;\n", b"a;b\n1;2\n3;4\n"),
    "a plus sign before decimals": (b"a\n+1.25\n-0.5\n", b"a\n1.25\n-0.5\n"),
    "spaces around numbers": (b"a, b\n1, 2\n3, 4\n", b"a, b\n1,2\n3,4\n"),
    "no zero before the point": (b"a\n.5\n1.5\n", b"a\n0.5\n1.5\n"),
    "Excel's first line": (b"sep=;\na;b\n1;2\n", b"a;b\n1;2\n"),
    "line ends of old Macs": (b'a,b\r1,"x\ry"\r2,z\r', b'a,b\n1,"x\ny"\n2,z\n'),
    "an inch": (b'a,b\n5" pipe,2\nx,3\n', b'a,b\n"5"" pipe",2\nx,3\n'),
    "a mark of byte order below a blank line": (b"\n\xef\xbb\xbfa,b\n1,2\n", b"a,b\n1,2\n"),
    "a column without a name": (b",a\n1,x\n2,y\n", b"column_1,a\n1,x\n2,y\n"),
}


@pytest.mark.parametrize(("raw", "again"), REWRITTEN.values(), ids=REWRITTEN.keys())
def test_what_carries_no_meaning_is_not_written_back(raw: bytes, again: bytes) -> None:
    assert rewritten(raw) == again
    assert rewritten(again) == again


def test_types_are_what_all_values_show() -> None:
    raw = (
        b"whole,real,flag,day,moment,postcode,text,word\n"
        b"1,1.5,true,2020-02-29,2020-01-01 10:00:00,01000,x,None\n"
        b"-2,NA,false,,2020-01-01 10:00:01,75001,1,NaN\n"
    )
    frame, _, notes = parse(raw)
    assert dict(frame.schema) == {
        "whole": pl.Int64,
        "real": pl.Float64,
        "flag": pl.Boolean,
        "day": pl.Date,
        "moment": pl.Datetime("us"),
        "postcode": pl.String,
        "text": pl.String,
        "word": pl.String,
    }
    assert frame.row(1) == (
        -2,
        None,
        False,
        None,
        dt.datetime(2020, 1, 1, 10, 0, 1),
        "75001",
        "1",
        None,
    )
    assert notes == []


@pytest.mark.parametrize("word", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", '""'])
def test_words_for_missing(word: str) -> None:
    assert columns(f"a,b\n{word},1\n2.5,2\n".encode()) == {"a": [None, 2.5], "b": [1, 2]}


def test_a_dot_is_missing_among_numbers_only() -> None:
    assert columns(b"a,b\n.,.\n2,x\n") == {"a": [None, 2], "b": [".", "x"]}


def test_a_level_that_looks_like_an_exponent_is_kept() -> None:
    assert columns(b"a\ne5\nE11\n") == {"a": ["e5", "E11"]}


def test_a_column_of_infinities_is_a_number_so_that_it_is_refused_by_name() -> None:
    assert parse(b"a\nInf\n1\n-inf\n")[0].schema == {"a": pl.Float64}


def test_decimal_commas_are_of_the_whole_file() -> None:
    frame, dialect, notes = parse(b"a;b\n1.234;1,5\n950;2,5\n")
    assert dialect.decimal_comma
    assert frame["b"].to_list() == [1.5, 2.5]
    assert frame["a"].to_list() == [1234, 950]
    assert notes == []


def test_numbers_with_a_text_of_one_person_stay_text_with_a_note() -> None:
    cells = "\n".join(["see the note", *(f"{x / 10}" for x in range(3, 30))])
    _, _, notes = parse(f"crp\n{cells}\n".encode())
    assert "column 'crp' holds numbers written in a way that is not read" in spoken(notes)[0]
    assert "note" not in spoken(notes)[0].partition("way")[0]  # it travels with the report


@pytest.mark.parametrize(
    "raw", [b"a,b\n1,x\n2,y\n", b"code\n" + b"\n".join(b"0%d" % i for i in range(100, 150))]
)
def test_no_note_without_a_reason(raw: bytes) -> None:
    assert parse(raw)[2] == []


def test_other_notes() -> None:
    assert "read as Windows-1252" in spoken(parse("a,b\né,1\n".encode("cp1252"))[2])[0]
    assert "column 2 has no name; it is called 'column_2'" in spoken(parse(b"a,,c\n1,2,3\n")[2])[0]
    assert "the empty last column is left out" in spoken(parse(b"a;b;\n1;2;\n")[2])[0]


def test_columns_without_a_name_get_one_that_is_free() -> None:
    assert list(columns(b",column_1,\n1,2,3\n")) == ["column_1_", "column_1", "column_3"]


REFUSED = {
    b"": "the file is empty",
    b"\n \r\n": "the file is empty",
    b"\xef\xbb\xbf": "the file is empty",
    b"sep=;\n": "the file is empty",
    b" \r,": "the first line, which names the columns, is blank",
    b"a,b": "there is a header and no row below it",
    b"a,b\n\n": "there is a header and no row below it",
    b"a,b,a,c,c\n1,2,3,4,5\n": "several columns have the same name: 'a', 'c'",
    b"a,b\n1,2\n3\n4,5\n": "line 3 has 1 cell where the header has 2",
    b"a,b\n\n1,2\n3,4,5\n": "line 4 has 3 cells where the header has 2",
    b"\n\na,b\n1,2\n3\n": "line 5 has 1 cell where the header has 2",
    b"a,b\n1,2,3\n4,5,6\n": "line 2 has 3 cells where the header has 2",
    b'a,b\n"x\ny",2\n3\n': "line 4 has 1 cell where the header has 2",
    b'a,b\n1,2\n3,"4\n5,6\n7,8\n': "line 3: unexpected end of data",
    b'"a,b\n1,2\n': "the header can't be read (unexpected end of data)",
    b'a,b\n"x"y,2\n': "line 2: ',' expected after '\"'",
    b"a,b\n1,\x002\n": "zero bytes",
    "a,b\n1,2\n".encode("utf-16"): "UTF-16",
    "a,b\n1,2\n".encode("utf-16-be"): "zero bytes",
    b"\x1f\x8b\x08\x00": "compressed",
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0\xa1\xb1": "a spreadsheet",
    b"a,b\n1,x\n2,\x81\n": "line 3 is neither UTF-8 nor Windows-1252",
    b"a" * 200_000 + b",b\n1,2\n": "the header can't be read",
    b"," * MOST_COLUMNS + b"\n" + b"," * MOST_COLUMNS + b"\n": "20001 columns are more than 20000",
}


@pytest.mark.parametrize(("raw", "message"), REFUSED.items(), ids=range(len(REFUSED)))
def test_case_29_what_is_no_table_is_refused_in_words(raw: bytes, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(raw)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("option", [";;", '"', "\n", "\r", "§", "comma"])
def test_separators_that_can_not_be(option: str) -> None:
    with pytest.raises(InputError, match="the separator must be one character"):
        separator_of(option)
    with pytest.raises(InputError, match="the separator must be one character"):
        parse(b"a,b\n1,2\n", option)


def test_a_given_separator() -> None:
    assert parse(b"a:b\n1:2\n", ":")[0].to_dict(as_series=False) == {"a": [1], "b": [2]}
    assert parse(b"a\tb\n1\t2\n", "\\t")[0].columns == ["a", "b"]
    assert parse(b"a,b\n1,2\n", ";")[0].columns == ["a,b"]


def test_the_separator_is_the_one_that_cuts_lines_alike() -> None:
    assert parse(b"a;b\nParis, Lyon;1\nNice, Lille;2\n")[1].separator == ";"
    assert parse(b'a,b\n"x;y",1\n"z;t",2\n')[1].separator == ","


def test_a_huge_cell() -> None:
    cell = b"x" * 1_000_000
    assert rewritten(b"a,b\n" + cell + b",1\ny,2\n") == b"a,b\n" + cell + b",1\ny,2\n"


def test_thousands_of_columns() -> None:
    names = ",".join(f"c{i}" for i in range(1_500)).encode()
    row = b",".join(b"1" for _ in range(1_500))
    assert parse(names + b"\n" + row + b"\n")[0].shape == (1, 1_500)


def test_a_fault_far_down_is_found() -> None:
    raw = b"a,b\n" + b"1,x\n" * 50_000
    assert parse(raw + b"\n2,y\n")[0].height == 50_001
    with pytest.raises(InputError, match="line 50002 has 1 cell where the header has 2"):
        parse(raw + b"2\n" + raw[4:])


def test_a_style_is_left_where_the_column_has_changed() -> None:
    _, dialect, _ = parse(b"a,b,c\n1.50,2020-01-01 10:00,NA\n2.25,2020-01-01 11:00,5\n")
    other = pl.DataFrame({"a": ["A1", "A2"], "b": [0.5, None], "c": [1, None], "d": [True, False]})
    file = io.BytesIO()
    write_csv(other, file, dialect)
    assert file.getvalue() == b"a,b,c,d\nA1,0.5,1,true\nA2,NA,NA,false\n"
    file = io.BytesIO()
    write_csv(pl.DataFrame({"a": [1e40, 0.5]}), file, dialect)  # too large for two decimals
    assert [float(x) for x in file.getvalue().split()[1:]] == [1e40, 0.5]


def test_time_zones_are_written() -> None:
    moments = pl.Series([dt.datetime(2020, 1, 1, 10)]).dt.replace_time_zone("Europe/Paris")
    file = io.BytesIO()
    write_csv(pl.DataFrame({"a": moments}), file, Dialect())
    assert file.getvalue().endswith(b"+0100\n")


# ---------------------------------------------------------------- the whole kind

cells = st.one_of(
    st.none(),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.sampled_from(
        ["NA", "", "1,5", "1.5", "01", " x", '"', "\n", "\r\n", ";", "true", "2020-01-01"]
    ),
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False).map(str),
)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_in_words(raw: bytes) -> None:
    try:
        frame, _, _ = parse(raw)
    except InputError:
        return
    assert frame.height


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.text("ab1,;\t\"\n\r.'é NAe+-", max_size=60))
def test_what_is_read_is_written_so_that_it_is_read_alike(text: str) -> None:
    try:
        frame, dialect, _ = parse(text.encode())
    except InputError:
        return
    file = io.BytesIO()
    write_csv(frame, file, dialect)
    again, _, _ = parse(file.getvalue(), dialect.separator)
    assert_frame_equal(again, frame)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(data=st.data(), separator=st.sampled_from(",;\t|"), quoting=st.sampled_from([0, 1]))
def test_what_the_standard_writer_writes_is_read(
    data: st.DataObject, separator: str, quoting: Any
) -> None:
    width = data.draw(st.integers(2, 4))
    rows = data.draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=6))
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, quoting=quoting, lineterminator="\n")
    writer.writerows([[f"c{i}" for i in range(width)], *rows])
    raw = file.getvalue()
    try:
        frame, _, _ = parse(raw.encode(), separator)
    except InputError:  # a zero byte, or blank lines only
        return
    for i in range(width):
        for cell, known in zip((row[i] for row in rows), frame[f"c{i}"], strict=True):
            if isinstance(known, str):
                assert known == cell
