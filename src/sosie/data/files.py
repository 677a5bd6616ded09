"""Files: CSV, Parquet and Excel in and out, through Polars.

A CSV is written the way it came, see `sosie.data.csv_dialect`. Files appear under their final name
only when they are whole, see `sosie.data.atomic`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sosie.data.atomic import atomic, shown
from sosie.data.csv_dialect import Dialect, parse, write_csv
from sosie.data.excel import is_workbook, read_sheet, unpacked, write_sheet
from sosie.data.notation import Decimal
from sosie.errors import InputError, Reason

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Dialect",
    "File",
    "Reading",
    "check_apart",
    "check_format",
    "check_room",
    "read",
    "write",
]

CSV = (".csv", ".txt", ".tsv", ".tab")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx",)
ELSEWHERE = {
    **dict.fromkeys((".sav", ".zsav", ".por"), "an SPSS file: in SPSS, save it as CSV"),
    ".dta": "a Stata file: in Stata, write it with `export delimited`",
    **dict.fromkeys(
        (".sas7bdat", ".xpt", ".cport"), "a SAS file: in SAS, write it with `proc export dbms=csv`"
    ),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "an R file: in R, write it with `write.csv`"),
    **dict.fromkeys(
        (".xls", ".xlsb", ".xlsm", ".ods", ".numbers"), "a spreadsheet: save it as .xlsx or CSV"
    ),
    ".feather": "an Arrow file: save it as Parquet",
}
"""What is not read, and the way."""

READING = 3
"""Bytes of memory that reading takes for each byte of a CSV, at least."""

NARROWEST = 1
"""Bytes of a cell of a table, at least."""


@dataclass(frozen=True)
class Reading:
    """How files are read; what is None is found.

    Attributes
    ----------
    separator, header, decimal, na, sheet, names_in : see `read`.
    """

    separator: str | None = None
    header: bool | None = None
    decimal: Decimal | None = None
    na: tuple[str, ...] = ()
    sheet: str | None = None
    names_in: tuple[int, int] | None = None

    def read(self, path: Path) -> File:
        """Read a file so (see `read`)."""
        return read(
            path,
            self.separator,
            header=self.header,
            decimal=self.decimal,
            na=self.na,
            sheet=self.sheet,
            names_in=self.names_in,
        )

    def given(self) -> bool:
        """Whether anything is said."""
        return self != Reading()


@dataclass(frozen=True)
class File:
    """A table read from a file.

    Attributes
    ----------
    frame : the table.
    dialect : how the CSV was written; None for Parquet and Excel.
    sha256 : of the file, in hexadecimal.
    notes : what was noticed.
    """

    frame: pl.DataFrame
    dialect: Dialect | None = None
    sha256: str = ""
    notes: tuple[Reason, ...] = ()


def read(
    path: Path,
    separator: str | None = None,
    *,
    header: bool | None = None,
    decimal: Decimal | None = None,
    na: Sequence[str] = (),
    sheet: str | None = None,
    names_in: tuple[int, int] | None = None,
) -> File:
    """Read a CSV, Parquet or Excel file, told apart by what it holds, or a folder of Parquet files.

    Parameters
    ----------
    path : the file, or the folder.
    separator, header, decimal, na : of the CSV, see `sosie.data.csv_dialect.parse`; `header` of
        the sheet too.
    sheet : of the workbook, its name or its number from 1; None takes the first.
    names_in : the first and the last line (row of the sheet) that name the columns, from 1, where
        titles or groups of columns stand above; None takes the first line, and looks whether it
        can.

    Raises
    ------
    InputError
        The file can't be read: the message names it, and the line where there is one.
    """
    if os.path.isdir(path):  # noqa: PTH112 (does not raise for a name that can't be)
        from sosie.data.parquet import Scan

        scan = Scan.of(path)
        check_room(len(scan) * scan.width * NARROWEST, str(path))
        return File(scan.frame(), None, scan.sha256)
    with suppress(OSError, ValueError):  # told below
        check_room(path.stat().st_size * READING, str(path))
    raw = _bytes(path)
    hashed = sha256(raw).hexdigest()
    try:
        if raw[:4] == b"PAR1" == raw[-4:] or path.suffix.lower() in PARQUET:
            return File(_parquet(raw), None, hashed)
        if is_workbook(raw):
            check_room(unpacked(raw) * NARROWEST, "as a table, it")
            return File(read_sheet(raw, sheet, header=header, names_in=names_in), None, hashed)
        _check_text(path, sheet)
        frame, dialect, notes = parse(
            raw, separator, header=header, decimal=decimal, na=na, names_in=names_in
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return File(frame, dialect, hashed, tuple(notes))


def _check_text(path: Path, sheet: str | None) -> None:
    """Raise InputError where a file is not CSV by its name, or was said to have sheets."""
    other = ELSEWHERE.get(path.suffix.lower())
    if other is not None:
        raise InputError(f"this is {other}")
    if sheet is not None:
        raise InputError("this is no Excel workbook, so it has no sheets (--sheet)")


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: expected a CSV, Parquet or Excel file, this is not a file")
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read ({reason})") from error


def _parquet(raw: bytes) -> pl.DataFrame:
    import polars as pl

    try:
        check_room(_unpacked(raw), "as a table, it")
        frame = pl.read_parquet(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = str(error).strip().split("\n")[0]
        raise InputError(f"not a readable Parquet file ({first})") from error
    if not frame.width or not len(frame):
        raise InputError(f"there are no {'rows' if frame.width else 'columns'} in it")
    return frame


def _unpacked(raw: bytes) -> int:
    """Bytes that a Parquet file takes at least once it is read: few may stand for many."""
    import polars as pl

    lazy = pl.scan_parquet(io.BytesIO(raw))
    rows = int(lazy.select(pl.len()).collect().item())
    return rows * len(lazy.collect_schema()) * NARROWEST


def check_room(needed: float, what: str) -> None:
    """Raise InputError where something needs more memory than is free, before it is begun.

    Parameters
    ----------
    needed : bytes, a low estimate.
    what : as the message names it.
    """
    from sosie.compute.memory import available

    free = available()
    if free is not None and needed > free:
        raise InputError(
            f"{what} needs at least {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB is"
            " free: take fewer rows or columns, or more memory; for avatars alone, save it as"
            " Parquet and use sosie avatarize --memory"
        )


def write(
    frame: pl.DataFrame, path: Path, dialect: Dialect | None = None, mode: int | None = None
) -> None:
    """Write a table, Parquet or Excel where the name ends so, CSV otherwise, whole or not at all.

    Parameters
    ----------
    dialect : how the CSV is written; None for the usual one.
    mode : permissions of the file; by default those of any new file.

    Raises
    ------
    InputError
        The disk is full, or the file can't be written there; what was there stays.
    """
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        fill: Callable[[IO[bytes]], object] = _repacked(frame).write_parquet
    elif suffix in EXCEL:
        fill = partial(write_sheet, frame)
    else:
        known = dialect or Dialect("\t" if suffix in (".tsv", ".tab") else ",")
        fill = partial(write_csv, frame, dialect=known)
    import polars as pl

    try:
        atomic(path, fill, mode)
    except pl.exceptions.PolarsError as error:
        # A full disk reaches us so from Parquet; nested columns can't be written as CSV.
        reason = str(error).strip().split("\n")[0].rpartition("error: ")[2]
        raise InputError(f"{shown(path)}: can't be written ({reason})") from error


def _repacked(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with categories of its own: older Polars keeps, and writes, those of its source."""
    import polars as pl

    columns = [c for c in frame if c.dtype == pl.Categorical]
    return frame.with_columns(c.cast(pl.String).cast(c.dtype) for c in columns)


def check_format(path: Path) -> None:
    """Raise InputError where a name does not say how a table is to be written."""
    if path.suffix.lower() not in CSV + PARQUET + EXCEL:
        ends = ", ".join(CSV[:-1] + PARQUET[:1] + EXCEL)
        raise InputError(f"{path}: the name must end in {ends}")


def check_apart(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Raise InputError where a file to be written is one that is read, or is named twice."""
    known = {path.resolve(): path for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        if path.resolve() in known:
            raise InputError(
                f"{path}: this would overwrite a file that is read or written already; "
                "choose another name"
            )
        known[path.resolve()] = path
