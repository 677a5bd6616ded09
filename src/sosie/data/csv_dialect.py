"""How a CSV file is written: found in the file, and used to write another one alike.

A table that is read and written back gives the same bytes, but for what carries no
meaning: blank lines, separators at the ends of lines, a missing last line end, line ends of
old Macs, plus signs and spaces around numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Literal

from sosie.data.csv_values import Style, typed, written
from sosie.data.layout import check_header, check_last_row, check_layout, joined_names
from sosie.data.notation import Decimal
from sosie.errors import InputError, Reason, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Dialect", "Quoting", "parse", "separator_of", "write_csv"]

Quoting = Literal["necessary", "always", "non_numeric"]

SEPARATORS = (",", ";", "\t", "|")
MOST_COLUMNS = 20_000
HEAD = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAGIC = {
    b"PK\x03\x04": "a spreadsheet or a zip archive: save the sheet as CSV in UTF-8",
    b"\xd0\xcf\x11\xe0": "a spreadsheet: save the sheet as CSV in UTF-8",
    b"\x1f\x8b": "compressed: decompress it first, or save it as Parquet",
    b"\x28\xb5\x2f\xfd": "compressed: decompress it first, or save it as Parquet",
    b"\xfd7zXZ": "compressed: decompress it first, or save it as Parquet",
    b"BZh91AY&SY": "compressed: decompress it first, or save it as Parquet",
    b"\xff\xfe": "in UTF-16: save it as CSV in UTF-8",
    b"\xfe\xff": "in UTF-16: save it as CSV in UTF-8",
}


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is written.

    Attributes
    ----------
    separator : one character.
    decimal_comma : whether numbers are written 1,5.
    encoding : ``utf-8``, ``utf-8-sig`` (with a byte order mark) or ``cp1252``.
    line_end : ``\n`` or ``\r\n``.
    missing : the word for a missing value.
    quoting : which cells stand in quotes: those that need it, all, or all but numbers.
    columns : column -> what it writes in its own way.
    header : whether the first line names the columns.
    """

    separator: str = ","
    decimal_comma: bool = False
    encoding: str = "utf-8"
    line_end: str = "\n"
    missing: str = ""
    quoting: Quoting = "necessary"
    columns: Mapping[str, Style] = field(default_factory=dict)
    header: bool = True


def separator_of(option: str) -> str:
    r"""The separator that a user means.

    >>> separator_of("tab"), separator_of("\\t"), separator_of(";")
    ('\t', '\t', ';')

    Raises
    ------
    InputError
        It is not one ASCII character, or it is a quote or a line end.
    """
    separator = "\t" if option in ("\\t", "tab") else option
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise InputError(f"the separator must be one character, such as ';' or tab, got {option!r}")
    return separator


def parse(
    raw: bytes,
    separator: str | None = None,
    *,
    header: bool | None = None,
    decimal: Decimal | None = None,
    na: Sequence[str] = (),
    names_in: tuple[int, int] | None = None,
) -> tuple[pl.DataFrame, Dialect, list[Reason]]:
    """Read the bytes of a CSV file.

    Parameters
    ----------
    raw : the whole file.
    separator : None finds it.
    header : whether the first line names the columns; None takes it so, and looks whether it
        can. Without, they are ``column_1``, ``column_2`` …
    decimal : the mark before decimals; None finds it.
    na : texts that stand for a missing value in columns of numbers.
    names_in : the first and the last line that name the columns, from 1, where others stand above
        them; these are left out, and not written again.

    Returns
    -------
    frame, dialect, notes
        The typed table, how it was written, and what was noticed.

    Raises
    ------
    InputError
        It is not a table of people: the message names the line, where there is one.
    """
    notes: list[Reason] = []
    raw, encoding = _as_utf8(raw, notes)
    if b"\n" not in raw:
        raw = raw.replace(b"\r", b"\n")  # as old as the century
    raw, above, declared = _from_header(raw)
    if names_in is not None:
        raw, above, groups = _below_titles(raw, names_in, above)
    head = raw[:HEAD].decode("utf-8", "ignore")
    if separator is None and names_in is None:
        rows = {known: _first_rows(head, known) for known in SEPARATORS}
        check_layout(head, rows[declared] if declared in rows else max(rows.values(), key=_width))
    separator = separator_of(separator) if separator else declared or _likeliest(head)
    first, start, lines = _header(raw, separator, named=header is not False and names_in is None)
    line_end = "\r\n" if raw[:start].endswith(b"\r\n") else "\n"
    if header is False:
        start, lines = 0, 0
        names, first = [f"column_{place}" for place in range(1, len(first) + 1)], []
    else:
        if names_in is not None:
            first = joined_names(_first_rows(groups, separator)[0] if groups else (), first)
            _check_unlike(first)
        names = _names(first, notes)
    body, above = raw[start:], above + lines
    width = len(names)
    if not body or (width > 1 and not body.strip(b"\r\n")):  # one column has blank rows
        raise InputError("there is a header and no row below it")
    # Rows may end in one separator more than the header does.
    extra = bool(first) and _trailing(body[:HEAD].decode("utf-8", "ignore"), separator, width)
    text = _cells(body, separator, width + extra, above)
    unnamed = not first or first[-1] == ""
    if extra or (unnamed and width > 1 and text[:, -1].null_count() == len(text)):
        text = text[:, :-1]
        names = names if extra else names[:-1]
        notes[:] = [note for note in notes if note != _unnamed(width)]
        notes.append(Reason("separator_at_end"))
    text.columns = names
    if header is None and names_in is None:
        check_header(first, text)
    check_last_row(text)
    del raw, body
    frame, comma, missing, columns = typed(text, separator, notes, decimal, na)
    dialect = Dialect(
        separator, comma, encoding, line_end, missing, columns=columns, header=header is not False
    )
    return frame, _with_quoting(dialect, frame, head), notes


# ---------------------------------------------------------------- bytes


def _as_utf8(raw: bytes, notes: list[Reason]) -> tuple[bytes, str]:
    """The text in UTF-8 without a byte order mark, and the encoding it came in."""
    for magic, meaning in _MAGIC.items():
        if raw.startswith(magic):
            raise InputError(f"not a CSV file, it is {meaning}")
    if b"\x00" in raw:
        raise InputError("not a text file (it holds zero bytes); save it as CSV in UTF-8")
    marked = raw.startswith(_BYTE_ORDER_MARK)
    raw = raw.removeprefix(_BYTE_ORDER_MARK)
    if not raw or raw.isspace():
        raise InputError("the file is empty")
    if _is_utf8(raw):
        return raw, "utf-8-sig" if marked else "utf-8"
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"line {line} is neither UTF-8 nor Windows-1252; save it as CSV in UTF-8"
        ) from None
    notes.append(Reason("read_as_windows_1252"))
    return text.encode(), "cp1252"


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _from_header(raw: bytes) -> tuple[bytes, int, str | None]:
    """The text from its header on, how many lines stand above it, and the separator they declare.

    Above it there may be blank lines and Excel's own ``sep=;``.
    """
    match = re.match(rb"[\r\n]*(?:sep=([\x21-\x7e\t])\r?\n)?[\r\n]*", raw)
    end = match.end() if match else 0
    declared = match[1].decode() if match and match[1] else None
    return raw[end:], raw.count(b"\n", 0, end), declared


def _below_titles(raw: bytes, names_in: tuple[int, int], above: int) -> tuple[bytes, int, str]:
    """The text from the last line of names on, how many lines stand above, and the line of groups.

    Raises
    ------
    InputError
        The file has no such line.
    """
    first, last = (place - above - 1 for place in names_in)
    end = 0
    groups = ""
    for place, line in enumerate(islice(_lines(raw), max(last, 0))):
        end += len(line.encode())
        groups = line if place == first else groups
    if first < 0 or end >= len(raw):
        raise InputError(f"there are no names of columns in line {names_in[1]}")
    return raw[end:], names_in[1] - 1, groups


def _lines(raw: bytes) -> Iterator[str]:
    """The lines one by one, without a copy of the whole; their ends stay."""
    start = 0
    while start < len(raw):
        end = raw.find(b"\n", start) + 1 or len(raw)
        yield raw[start:end].decode("utf-8", "replace")
        start = end


# ---------------------------------------------------------------- rows


def _likeliest(head: str) -> str:
    """The separator that cuts most lines into as many cells as the header, two or more."""

    def score(separator: str) -> tuple[float, int]:
        rows = _first_rows(head, separator)
        width = len(rows[0]) if rows else 1
        same = sum(abs(len(row) - width) <= 1 for row in rows) / max(len(rows), 1)
        return (same if width > 1 else 0.0), width

    return max(SEPARATORS, key=score)


def _width(rows: Sequence[Sequence[str]]) -> int:
    """How many cells most lines have, the first ones left aside."""
    return Counter(len(row) for row in rows[len(rows) // 2 :]).most_common(1)[0][0] if rows else 0


def _first_rows(head: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with suppress(csv.Error):
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
        rows.extend(row for row in islice(reader, 200) if row)
    return rows


def _header(raw: bytes, separator: str, *, named: bool) -> tuple[list[str], int, int]:
    """The names, where the next line starts, and how many lines stand above it."""
    read = []

    def kept() -> Iterator[str]:
        for line in _lines(raw):
            read.append(line)
            yield line

    try:
        header = next(csv.reader(kept(), delimiter=separator, strict=True), [])
    except csv.Error as error:
        raise InputError(f"the header can't be read ({error})") from None
    if not header:
        raise InputError("the file is empty")
    header[0] = header[0].lstrip("\ufeff")  # a mark of byte order below blank lines
    if header[0].isspace() and len(header) == 1:
        raise InputError("the first line, which names the columns, is blank")
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{len(header)} columns are more than {MOST_COLUMNS}; is the separator right (--sep)?"
        )
    if named:
        _check_unlike(header)
    return header, sum(len(line.encode()) for line in read), len(read)


def _check_unlike(header: Sequence[str]) -> None:
    """Raise InputError where two columns have one name."""
    repeated = [name for name, times in Counter(header).items() if times > 1 and name]
    if repeated:
        raise InputError(f"several columns have the same name: {quoted(repeated)}")


def _names(header: list[str], notes: list[Reason]) -> list[str]:
    names = []
    for place, name in enumerate(header, 1):
        if name:
            names.append(name)
            continue
        new = f"column_{place}"
        while new in header:
            new += "_"
        names.append(new)
        notes.append(_unnamed(place))
    return names


def _unnamed(place: int) -> Reason:
    return Reason("column_without_name", {"place": place})


def _trailing(head: str, separator: str, width: int) -> bool:
    """Whether rows end in one separator more than the header."""
    rows = _first_rows(head, separator)
    return bool(rows) and all(len(row) == width + 1 and row[-1] == "" for row in rows)


def _cells(body: bytes, separator: str, width: int, above: int) -> pl.DataFrame:
    """All cells as text, null where empty.

    Polars reads them; where its count of cells does not add up, every record is checked
    by the standard reader, which names the line at fault.
    """
    import polars as pl

    schema = {str(place): pl.String() for place in range(width)}
    frame: pl.DataFrame | None = None
    if not body.startswith(_BYTE_ORDER_MARK):  # which Polars would take off the first cell
        with suppress(pl.exceptions.PolarsError):
            frame = pl.read_csv(body, has_header=False, separator=separator, schema=schema)
    if frame is not None and _adds_up(frame, body, separator):
        return frame
    blank = set()
    count = 0
    for count, row in enumerate(_records(body, separator, width, above), 1):
        if not row:
            blank.add(count - 1)
    if frame is None or len(frame) != count:
        rows = (row for row in _records(body, separator, width, above) if row)
        return pl.DataFrame(list(rows), schema=schema, orient="row")
    kept = [row for row in range(count) if row not in blank] if blank else None
    return frame if kept is None else frame[kept]


def _adds_up(frame: pl.DataFrame, body: bytes, separator: str) -> bool:
    """Whether quotes are paired and the cells use up all separators: no line is short."""
    import polars as pl

    if body.count(b'"') % 2:
        return False
    between = body.count(separator.encode()) - len(frame) * (frame.width - 1)
    if frame.width == 1 or not between:
        return True
    inside = frame.select(pl.all().str.count_matches(separator, literal=True).sum()).row(0)
    return between == sum(count or 0 for count in inside)


def _records(body: bytes, separator: str, width: int, above: int) -> Iterator[list[str]]:
    """The records, blank ones included; an error where one has too few or too many cells."""
    reader = csv.reader(_lines(body), delimiter=separator, strict=True)
    while True:
        line = above + reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(f"line {line}: {error}") from None
        if row is None:
            return
        if not row and width == 1:
            row = [""]
        if row and len(row) != width:
            raise InputError(
                f"line {line} has {len(row)} cell{'s' * (len(row) > 1)} "
                f"where the header has {width}"
            )
        yield row


# ---------------------------------------------------------------- writing


def write_csv(frame: pl.DataFrame, file: IO[bytes], dialect: Dialect) -> None:
    """Write a table as a CSV of some dialect."""
    frame = written(frame, dialect.columns, decimal_comma=dialect.decimal_comma)
    recoded = dialect.encoding == "cp1252"
    target = io.BytesIO() if recoded else file
    if dialect.encoding == "utf-8-sig":
        file.write(_BYTE_ORDER_MARK)
    frame.write_csv(
        target,
        separator=dialect.separator,
        line_terminator=dialect.line_end,
        null_value=dialect.missing,
        quote_style=dialect.quoting,
        include_header=dialect.header,
    )
    if isinstance(target, io.BytesIO) and recoded:
        file.write(target.getvalue().decode().encode("cp1252", "replace"))


def _with_quoting(dialect: Dialect, frame: pl.DataFrame, head: str) -> Dialect:
    """The way of quoting that gives the first lines back."""
    if '"' not in head:
        return dialect
    first = head.split("\n")[:50]

    def alike(quoting: Quoting) -> int:
        file = io.BytesIO()
        plain = replace(dialect, quoting=quoting, encoding="utf-8")
        write_csv(frame[:50], file, plain)
        lines = file.getvalue().decode().split("\n")
        return sum(one == other for one, other in zip(first, lines, strict=False))

    ways: tuple[Quoting, ...] = ("necessary", "always", "non_numeric")
    return replace(dialect, quoting=max(ways, key=alike))
