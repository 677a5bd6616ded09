"""Files: CSV and Parquet in and out, through Polars.

A CSV is written the way it came: separator, decimal comma, encoding, line ends and the
word for a missing value. Files appear under their final name only when they are whole.
"""

from __future__ import annotations

import csv
import io
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sosie.errors import InputError, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Dialect", "File", "atomic", "read", "write"]

SEPARATORS = (",", ";", "\t", "|")
MISSING_WORDS = ("NA", "N/A", "NaN", "nan", "null", "NULL")
MOST_COLUMNS = 20_000
_WHOLE = r"^[+-]?(?:0|[1-9][0-9]*)$"
_DECIMAL = r"^[+-]?(?:0|[1-9][0-9]*)?(?:[.][0-9]*)?(?:[eE][+-]?[0-9]+)?$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}$"


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    separator : one character.
    decimal_comma : whether numbers are written 1,5.
    encoding : ``utf-8``, ``utf-8-sig`` (with a byte order mark) or ``cp1252``.
    line_end : ``\\n`` or ``\\r\\n``.
    missing : the word for a missing value.
    """

    separator: str = ","
    decimal_comma: bool = False
    encoding: str = "utf-8"
    line_end: str = "\n"
    missing: str = ""


@dataclass(frozen=True)
class File:
    """A table read from a file.

    Attributes
    ----------
    frame : the table.
    dialect : how the CSV was written; None for Parquet.
    notes : what was noticed.
    """

    frame: pl.DataFrame
    dialect: Dialect | None = None
    notes: tuple[str, ...] = ()


def read(path: Path, separator: str | None = None) -> File:
    """Read a CSV or Parquet file.

    Text is read as whole numbers, numbers, true/false or ISO dates only where every
    value of the column is one; digits with leading zeros (postcodes) stay text.

    Parameters
    ----------
    path : a file whose name ends in .csv, .tsv, .txt or .parquet.
    separator : of the CSV; None finds it.

    Raises
    ------
    InputError
        The file can't be read: the message names it, and the line where there is one.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    if not path.is_file():
        raise InputError(f"{path}: expected a CSV or Parquet file, this is not a file")
    with path.open("rb") as file:
        start = file.read(8)
    if path.suffix.lower() in (".parquet", ".pq") or start[:4] == b"PAR1":
        return _read_parquet(path)
    return _read_csv(path, separator)


def _read_parquet(path: Path) -> File:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({_line(error)})") from error
    return File(frame)


def _line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def _read_csv(path: Path, separator: str | None) -> File:
    import polars as pl

    raw = path.read_bytes()
    text, encoding = _decoded(path, raw)
    head = text[: 1 << 20]
    separator = separator or _separator(head)
    if len(separator) != 1:
        raise InputError(f"the separator must be one character, got {separator!r}")
    header, notes = _header(path, head, separator), []
    trailing = _trailing(head, separator, len(header))
    try:
        frame = pl.read_csv(
            io.BytesIO(
                text.encode() if encoding == "cp1252" else raw.removeprefix(b"\xef\xbb\xbf")
            ),
            separator=separator,
            has_header=False,
            schema=dict.fromkeys(map(str, range(len(header))), pl.String),
            extra_columns="ignore" if trailing else "raise",
            missing_columns="raise",
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        _blank_lines(path, text, separator, len(header), trailing)
        raise InputError(f"{path}: {_line(error)}") from error
    if text.count(separator) != frame.height * (len(header) - 1 + trailing) and len(header) > 1:
        blank = _blank_lines(path, text, separator, len(header), trailing)
        frame = frame.with_row_index("row").filter(~pl.col("row").is_in(blank)).drop("row")
    frame = frame[1:]
    if not len(frame):
        raise InputError(f"{path}: there is a header and no row below it")
    frame.columns = header
    if header[-1] == "" and frame[:, -1].null_count() == len(frame):
        frame = frame[:, :-1]
        notes.append("every line ends in a separator; the empty last column is left out")
    columns, word, comma = _typed(frame, separator)
    dialect = Dialect(separator, comma, encoding, "\r\n" if "\r\n" in head else "\n", word)
    return File(pl.DataFrame(columns), dialect, tuple(notes))


def _decoded(path: Path, raw: bytes) -> tuple[str, str]:
    if raw[:2] in (b"\x1f\x8b", b"PK", b"BZ") or raw[:4] == b"\x28\xb5\x2f\xfd":
        raise InputError(f"{path}: compressed; decompress it first, or save it as Parquet")
    if not raw.strip():
        raise InputError(f"{path}: the file is empty")
    if b"\x00" in raw[: 1 << 20]:
        raise InputError(f"{path}: not a text file (it holds zero bytes); save it as CSV in UTF-8")
    if raw.startswith(b"\xef\xbb\xbf"):
        return raw[3:].decode("utf-8", "replace"), "utf-8-sig"
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace"), "cp1252"


def _separator(head: str) -> str:
    """The separator that cuts most lines into the same number of cells, two or more."""

    def score(separator: str) -> tuple[float, int]:
        rows = [row for row in islice(_rows(head, separator), 200) if row]
        width = len(rows[0]) if rows else 1
        same = sum(abs(len(row) - width) <= 1 for row in rows) / max(len(rows), 1)
        return (same if width > 1 else 0.0), width

    return max(SEPARATORS, key=score)


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    with suppress(csv.Error):
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _header(path: Path, head: str, separator: str) -> list[str]:
    header = next(_rows(head, separator), [])
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{path}: {len(header)} columns are more than {MOST_COLUMNS}; is the separator right (--sep)?"
        )
    repeated = [name for i, name in enumerate(header) if name in header[:i]]
    if repeated:
        raise InputError(
            f"{path}: several columns have the same name: {quoted(dict.fromkeys(repeated))}"
        )
    return header


def _trailing(head: str, separator: str, width: int) -> bool:
    """Whether rows end in one separator more than the header."""
    rows = [row for row in islice(_rows(head, separator), 1, 100) if row]
    return bool(rows) and all(len(row) == width + 1 and row[-1] == "" for row in rows)


def _blank_lines(path: Path, text: str, separator: str, width: int, trailing: bool) -> list[int]:
    """Numbers of the blank records, the header being 0; an error where a line has too few or too many cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    blank = []
    try:
        for number, row in enumerate(reader):
            if not row:
                blank.append(number)
            elif len(row) != width + (trailing and number > 0):
                raise InputError(
                    f"{path}: line {reader.line_num} has {len(row)} cells where the header has {width}"
                )
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: {error}") from error
    return blank


def _typed(frame: pl.DataFrame, separator: str) -> tuple[list[pl.Series], str, bool]:
    """Columns with the types their text shows, the file's word for missing, and whether commas are decimal."""
    import polars as pl

    columns, words, comma = [], dict.fromkeys(MISSING_WORDS, 0), False
    for text in frame:
        lost = text.is_in(list(MISSING_WORDS))
        if lost.any():
            for word, count in text.filter(lost).value_counts().iter_rows():
                words[word] += count
            text = text.set(lost.fill_null(value=False), None)  # noqa: PLW2901 (the same column, cleaned)
        column = _column(text)
        if column is None and separator != ",":
            column = _column(text.str.replace(",", ".", literal=True), numbers_only=True)
            comma = comma or column is not None
        columns.append(text if column is None else column)
    empty = sum(column.null_count() for column in frame)
    word = max(words, key=lambda w: words[w])
    return columns, (word if words[word] > empty else ""), comma


def _column(text: pl.Series, *, numbers_only: bool = False) -> pl.Series | None:
    """The column as what all its values are, or None where it is text."""
    import polars as pl

    present = text.drop_nulls()
    if not len(present):
        return None
    trial = present[:100]

    def all_match(pattern: str) -> bool:
        return bool(trial.str.contains(pattern).all()) and bool(present.str.contains(pattern).all())

    if all_match(_WHOLE):
        try:
            return text.cast(pl.Int64)
        except pl.exceptions.InvalidOperationError:
            return None  # whole numbers beyond 64 bits are names, not quantities
    if all_match(_DECIMAL):
        return text.cast(pl.Float64, strict=False)
    if numbers_only:
        return None
    if set(trial.unique()) <= {"true", "false"} and set(present.unique()) <= {"true", "false"}:
        return text == "true"
    for pattern, kind in ((_DAY, pl.Date), (_MOMENT, pl.Datetime("us"))):
        if all_match(pattern):
            try:
                return (
                    text.str.to_date() if kind == pl.Date else text.str.to_datetime(time_unit="us")
                )
            except pl.exceptions.PolarsError:
                return None
    return None


def write(
    frame: pl.DataFrame, path: Path, dialect: Dialect | None = None, mode: int = 0o644
) -> None:
    """Write a table, Parquet where the name ends so, CSV otherwise, whole or not at all.

    Parameters
    ----------
    dialect : how the CSV is written; None for the usual one.
    mode : permissions of the file.

    Raises
    ------
    InputError
        The disk is full, or the file can't be written there; what was there stays.
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        atomic(path, lambda file: frame.write_parquet(file), mode)
    else:
        atomic(path, lambda file: _write_csv(frame, file, dialect or Dialect()), mode)


def _write_csv(frame: pl.DataFrame, file: IO[bytes], dialect: Dialect) -> None:
    if dialect.encoding == "utf-8-sig":
        file.write(b"\xef\xbb\xbf")
    plain = dialect.encoding != "cp1252"
    target = file if plain else io.BytesIO()
    frame.write_csv(
        target,
        separator=dialect.separator,
        decimal_comma=dialect.decimal_comma,
        line_terminator=dialect.line_end,
        null_value=dialect.missing,
        datetime_format="%Y-%m-%dT%H:%M:%S" if _whole_seconds(frame) else None,
    )
    if isinstance(target, io.BytesIO) and not plain:
        file.write(target.getvalue().decode().encode("cp1252", "replace"))


def _whole_seconds(frame: pl.DataFrame) -> bool:
    import polars as pl

    moments = [column for column in frame if isinstance(column.dtype, pl.Datetime)]
    return all((column.dt.microsecond().fill_null(0) == 0).all() for column in moments)


def atomic(path: Path, fill: Callable[[IO[bytes]], object], mode: int = 0o644) -> None:
    """Fill a file under a temporary name beside its final one, then move it there.

    The temporary file can be read by its owner only; it is gone afterwards, whatever
    happens, short of a kill.

    Raises
    ------
    InputError
        It can't be written; the previous file is as it was.
    """
    with _temporary(path) as temporary:
        try:
            descriptor = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR
            )
            with os.fdopen(descriptor, "wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
        except OSError as error:
            raise InputError(
                f"{path}: can't be written ({error.strerror or _line(error)})"
            ) from error


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
