"""Excel workbooks (.xlsx): one sheet in, one sheet out."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections import Counter
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from sosie.data.layout import (
    MOST_TITLES,
    TitlesError,
    check_header,
    check_last_row,
    joined_names,
    place_of_names,
)
from sosie.errors import InputError, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_ROWS", "is_workbook", "read_sheet", "unpacked", "write_sheet"]

MOST_ROWS = 2**20
"""Rows of a sheet, the names of the columns included; columns are limited to 2^14."""

MOST_COLUMNS = 2**14
LOOKED_AT = 10
"""Rows below the names whose values tell that they are names."""

UNNAMED = "__UNNAMED__"
"""How the reader names a column that has no name."""


def is_workbook(raw: bytes) -> bool:
    """Whether bytes are an Excel workbook, and not another zip archive."""
    if not raw.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return any(name.startswith("xl/workbook") for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError):
        return False


def unpacked(raw: bytes) -> int:
    """Bytes of the sheets of a workbook: few may stand for many."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def read_sheet(
    raw: bytes,
    sheet: str | None = None,
    *,
    header: bool | None = None,
    names_in: tuple[int, int] | None = None,
) -> pl.DataFrame:
    """One sheet of a workbook; dates are dates.

    Parameters
    ----------
    raw : the whole file.
    sheet : its name, or its number from 1; None takes the first.
    header : whether the first row names the columns; None takes it so, and looks whether it can.
    names_in : or the first and the last row that do, from 1; what is above is left out.

    Raises
    ------
    InputError
        There is no such sheet, or nothing in it: the message lists the sheets.
    TitlesError
        Other rows name the columns.
    """
    import fastexcel
    import polars as pl

    faults = (pl.exceptions.PolarsError, fastexcel.FastExcelError, ValueError)
    try:
        workbook = fastexcel.read_excel(raw)
        names = workbook.sheet_names
        name = _chosen(names, sheet)
        cells = _cells(workbook, name, header=header, names_in=names_in)
        frame = _typed(cells)
    except faults as error:
        first = str(error).strip().split("\n")[0]
        raise InputError(f"not a readable Excel workbook ({first})") from error
    if not frame.width or not len(frame):
        what = "is empty" if not frame.width else "has a header and no row below it"
        raise InputError(
            f"the sheet {name!r} {what}; the workbook has {quoted(names)} (--sheet NAME)"
        )
    if header is False:
        frame.columns = [f"column_{place}" for place in range(1, frame.width + 1)]
        return frame
    return _checked(frame, header if names_in is None else True)


def _cells(
    workbook: Any, name: str, *, header: bool | None, names_in: tuple[int, int] | None
) -> pl.DataFrame:
    """The cells below the names, under them; see `read_sheet`."""
    if names_in is None:
        row = None if header is False else 0
        cells: pl.DataFrame = workbook.load_sheet(
            name, header_row=row, schema_sample_rows=None
        ).to_polars()
        if header is None and any(title.startswith(UNNAMED) for title in cells.columns):
            _check_titles(_top(workbook, name, MOST_TITLES + LOOKED_AT))
        return cells
    first, last = names_in
    top = _top(workbook, name, last)
    if len(top) < last:
        raise InputError(f"the sheet {name!r} has {len(top)} rows, none of them row {last}")
    named = joined_names(top[first - 1] if first < last else (), top[last - 1])
    repeated = [title for title, times in Counter(named).items() if title and times > 1]
    if repeated:
        raise InputError(f"several columns have the same name: {quoted(repeated)}")
    cells = workbook.load_sheet(
        name, header_row=None, skip_rows=last, schema_sample_rows=None
    ).to_polars()
    named += [""] * (cells.width - len(named))
    cells.columns = [
        title or f"{UNNAMED}{place}" for place, title in enumerate(named[: cells.width])
    ]
    return cells


def _top(workbook: Any, name: str, rows: int) -> list[tuple[str | None, ...]]:
    """The first rows of a sheet as text, blank ones included."""
    cells = workbook.load_sheet(name, header_row=None, skip_rows=0, n_rows=rows, dtypes="string")
    return list(cells.to_polars().rows())


def _check_titles(top: list[tuple[str | None, ...]]) -> None:
    """Raise TitlesError where the columns are named below the first row."""
    place = place_of_names(top)
    held = next((cell for row in top for cell in row if cell), "")
    if place is None or place == (0, 0) or not any(map(any, top[: place[1]])):
        return
    what = ", names of groups" if place[0] == 0 else " alone, a title"
    raise TitlesError(
        f"the first row holds {held!r}{what}, and the columns are named below it; take out what"
        " stands above the row that names them",
        (place[0] + 1, place[1] + 1),
    )


def _typed(cells: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers and days where all are; rows and unnamed columns of nothing are left out."""
    import polars as pl

    columns = []
    for column in cells:
        if column.dtype == pl.Float64 and (column.drop_nulls() % 1 == 0).all():
            with suppress(pl.exceptions.PolarsError):  # beyond 64 bits
                column = column.cast(pl.Int64)  # noqa: PLW2901
        elif column.dtype == pl.Datetime:
            whole = column.drop_nulls().dt.time() == dt.time()
            column = column.cast(pl.Date) if whole.all() else column.cast(pl.Datetime("us"))  # noqa: PLW2901
        if column.null_count() < len(column) or not column.name.startswith(UNNAMED):
            columns.append(column)
    frame = pl.DataFrame(columns)
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame


def _chosen(names: list[str], sheet: str | None) -> str:
    if sheet is None:
        return names[0]
    if sheet in names:
        return sheet
    if sheet.isdecimal() and 0 < int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise InputError(f"there is no sheet {sheet!r}; the workbook has {quoted(names)}")


def _checked(frame: pl.DataFrame, header: bool | None) -> pl.DataFrame:
    import polars as pl

    unnamed = [name for name in frame.columns if name.startswith(UNNAMED)]
    if len(unnamed) > 1 and frame.width - len(unnamed) == 1:
        title = next(name for name in frame.columns if name not in unnamed)
        raise InputError(
            f"the first row holds {title!r} alone, a title; take out what stands above the row"
            " that names the columns"
        )
    names = ["" if name in unnamed else name for name in frame.columns]
    text = frame.select(
        pl.when(True).then(c.cast(pl.String, strict=False)).alias(c.name) for c in frame
    )
    if header is None:
        check_header(names, text)
    check_last_row(text)
    columns = [name or f"column_{place}" for place, name in enumerate(names, 1)]
    if len({*columns}) == len(columns):
        frame.columns = columns
    return frame


def write_sheet(frame: pl.DataFrame, file: IO[bytes]) -> None:
    """Write a table as the one sheet of a workbook; the same table gives the same bytes.

    Texts stay texts, also those that begin with ``=``; times with a zone, which a workbook
    can't hold, are written as text.

    Raises
    ------
    InputError
        There are more rows or columns than a sheet has.
    """
    import polars as pl
    import xlsxwriter

    if len(frame) >= MOST_ROWS or frame.width > MOST_COLUMNS:
        raise InputError(
            f"{len(frame):,} rows and {frame.width:,} columns are more than an Excel sheet has;"
            " write CSV or Parquet"
        )
    texts = [
        pl.col(name).dt.to_string("iso:strict")
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
    ]
    words = pl.col(pl.Categorical, pl.Enum)
    frame = frame.with_columns(*texts).with_columns(words.cast(pl.String))
    options = {f"strings_to_{kind}": False for kind in ("formulas", "urls", "numbers")}
    with xlsxwriter.Workbook(file, {**options, "in_memory": True}) as workbook:
        workbook.set_properties(
            {"created": dt.datetime(2000, 1, 1)}
        )  # else the bytes tell the time
        frame.write_excel(workbook, worksheet="avatars", autofilter=False)
