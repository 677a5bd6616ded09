"""What stands in a file beside one row a person: titles, no header, totals.

Each is told by its line and what it holds, so that it can be taken out or said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sosie.errors import InputError, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_header", "check_last_row", "check_layout"]

MOST_TITLES = 20
"""Lines above a header that are looked at."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(
    r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[T ].*)?|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}"
)
_TOTAL = re.compile(
    r"(?:grand |sous-|sub-?|sub )?totaux|(?:grand |sous-|sub-?|sub )?total(?: général| general)?"
    r"|sum|somme|mean|average|moyenne|count|effectif",
    re.IGNORECASE,
)


def check_layout(head: str, rows: Sequence[Sequence[str]]) -> None:
    """Raise InputError where titles stand above the table, or spaces between its columns.

    Parameters
    ----------
    head : the beginning of the file.
    rows : its first lines that are not blank, as cells, cut by the likeliest separator.
    """
    if len(rows) < 2:
        return
    widths = [len(row) for row in rows]
    usual, times = Counter(widths).most_common(1)[0]
    if usual == 1:
        _check_spaces([row[0] for row in rows if row])
        return
    titles = _titles(rows, usual)
    if titles and times > len(rows) / 2 and titles < len(rows) - 1:
        lines = head.split("\n")
        held = next((line.strip() for line in lines if line.strip()), "")
        raise InputError(
            f"line 1 holds {_short(held)}, a title, and the columns are named below it; "
            f"take out what stands above the line that begins with {rows[titles][0]!r}"
        )


def _titles(rows: Sequence[Sequence[str]], width: int) -> int:
    """How many lines stand above the header: narrower than the table, or one filled cell wide."""
    for place, row in enumerate(rows[:MOST_TITLES]):
        filled = sum(cell.strip() != "" for cell in row)
        # A table of two columns may well have one without a name.
        if len(row) >= width and (filled > 1 or width < 3):
            return place
        if len(row) == width - 1 and place == 0 and filled == len(row):
            return 0  # every line ends in a separator but the first
    return 0


def _check_spaces(lines: Sequence[str]) -> None:
    cut = [line.split() for line in lines]
    width = len(cut[0])
    alike = sum(len(row) == width for row in cut[1:])
    if width < 2 or alike < 0.9 * (len(cut) - 1):
        return
    below = [row for row in cut[1:] if len(row) == width]
    if any(all(_NUMBER.fullmatch(row[place]) for row in below) for place in range(width)):
        raise InputError(
            f"line 1 holds {_short(lines[0])}: the columns are separated by spaces; save the file"
            " with commas, semicolons or tabs between them"
        )


def check_header(header: Sequence[str], text: pl.DataFrame) -> None:
    """Raise InputError where the first line looks like a person, not like names.

    Parameters
    ----------
    header : its cells.
    text : the rows below it, as text.
    """
    for name, column in zip(header, text, strict=False):
        bare = name.strip()
        if _NUMBER.fullmatch(bare):
            what = "a number"
        elif _DATE.fullmatch(bare):
            what = "a date"
        elif bare and (rows := (column == name).arg_true()).len():
            row = int(rows[0]) + 1
            if text.row(row - 1) == tuple(cell or None for cell in header[: text.width]):
                raise InputError(f"row {row} repeats the names of the columns; take it out")
            what = f"a value of its column too (row {row})"
        else:
            continue
        raise InputError(
            f"the first line should name the columns, and holds {_short(name)}, {what}; if there"
            " are no names, say --no-header, and --header if these are the names"
        )


def check_last_row(text: pl.DataFrame) -> None:
    """Raise InputError where the last row is a total and not a person.

    A word such as total stands there, and nowhere else in its column.
    """
    last = text.height - 1
    for column in text:
        cell = column[last]
        if cell is None or not _TOTAL.fullmatch(cell.strip().rstrip(" :")):
            continue
        if last and not (column[:last] == cell).any():
            others = [other for other in text.row(last) if other not in (None, cell)]
            raise InputError(
                f"row {last + 1}, the last, holds {cell!r}"
                + (f" beside {quoted(others[:3])}" if others else "")
                + f" (column {column.name!r}): it is no person; take it out"
            )


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
