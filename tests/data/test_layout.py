"""Where the columns are named: in the first line, below titles, or in two rows under groups."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter
from workbooks import NAMES, awkward

from sosie.data.files import Reading, read
from sosie.data.layout import TitlesError, joined_names, place_of_names
from sosie.data.table import Numbers, Table
from sosie.errors import InputError

DATA = [["F", "41", "12,5"], ["M", "52", "13,1"]]


@pytest.mark.parametrize(
    ("top", "place"),
    [
        ([["sex", "age", "bp"]], (0, 0)),
        ([["Export"], ["", ""], ["sex", "age", "bp"]], (2, 2)),
        ([["Export", "3 May", None], ["sex", "age", "bp"]], (0, 1)),
        ([["who", None, "size"], ["sex", "age", None]], (0, 1)),
        ([["a", "b", "c"], ["sex", "age", "bp"]], (0, 0)),  # what is right is taken
        ([["", "", ""]], None),
        ([["sex", "2019", "bp"]], None),  # a year is no name
    ],
)
def test_place_of_names(top: list[list[str | None]], place: tuple[int, int] | None) -> None:
    assert place_of_names([*top, *DATA]) == place


def test_a_table_of_words_has_its_names_first() -> None:
    """Nothing tells the names of a table of words from its values."""
    words = [["a", "b", None, "c"], ["x", "y", "z", "t"], ["x", "v", "z", "u"]]
    assert place_of_names(words) is None


def test_groups_name_what_is_repeated() -> None:
    groups = ["id", "before", None, "after", None]
    assert joined_names(groups, [None, "bp", "pulse", "bp", "weight"]) == [
        *("id", "before bp", "pulse", "after bp", "weight"),
    ]


def test_an_awkward_sheet(tmp_path: Path) -> None:
    path = awkward(tmp_path / "registre.xlsx")
    with pytest.raises(InputError, match=r"alone, a title.*--names-in 4-5") as error:
        read(path)
    assert isinstance(error.value.__cause__, TitlesError)
    assert error.value.__cause__.lines == (4, 5)
    frame = read(path, names_in=(4, 5)).frame
    assert frame.columns == list(NAMES)
    assert frame.schema["entrée"] == pl.Date
    assert frame.schema["âge"] == pl.Int64
    table = Table.of(frame)
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds["poids (kg)"] == "number"


def test_blank_rows_above_are_no_titles(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([["sex", "age", None], ["F", 41, 1.5], ["M", 52, 2.5]], 3):
            sheet.write_row(row, 0, cells)
    assert read(path).frame.columns == ["sex", "age", "column_3"]
    assert read(path, names_in=(4, 4)).frame["age"].to_list() == [41, 52]
    with pytest.raises(InputError, match="has 6 rows, none of them row 9"):
        read(path, names_in=(9, 9))


TITLED = """Export of 3 May

who;;before;after
sex;age;start;start
F;41;2020-01-02;1
M;52;2020-01-03;2
"""


def test_lines_of_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(TITLED)
    with pytest.raises(InputError, match=r"--names-in 3-4"):
        read(path)
    with pytest.raises(InputError, match="several columns have the same name: 'start'"):
        read(path, names_in=(4, 4))
    with pytest.raises(InputError, match="no names of columns in line 40"):
        read(path, names_in=(39, 40))
    file = read(path, names_in=(3, 4))
    assert file.frame.columns == ["sex", "age", "before start", "after start"]
    assert file.frame["before start"].to_list() == [dt.date(2020, 1, 2), dt.date(2020, 1, 3)]
    path.write_text(TITLED.replace("start;start", "start;score"))
    assert Reading(names_in=(4, 4)).read(path).frame.columns == ["sex", "age", "start", "score"]
    assert file.dialect is not None
    assert file.dialect.separator == ";"


def test_an_error_names_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(TITLED.replace("start;start", "start;score") + "F;44\n")
    with pytest.raises(InputError, match="line 7 has 2 cells where the header has 4"):
        read(path, names_in=(3, 4))


def test_decimal_commas_of_text_are_numbers() -> None:
    """As a workbook holds what was typed with a comma on an English machine."""
    texts = [f"{value / 10:.1f}".replace(".", ",") for value in range(500, 620)]
    (column,) = Table.of(pl.DataFrame({"weight": texts})).columns
    assert isinstance(column, Numbers)
