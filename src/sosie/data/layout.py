"""What stands in a file beside one row a person: titles, names in two rows, no header, totals.

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

__all__ = [
    "TitlesError",
    "check_header",
    "check_last_row",
    "check_layout",
    "joined_names",
    "place_of_names",
]

Cells = Sequence[str | None]

MOST_TITLES = 20
"""Lines above a header that are looked at."""

MOST_UNNAMED = 0.2
"""Share of the columns that may have no name where the others are named."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(
    r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[T ].*)?|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}"
)
_TOTAL = re.compile(
    r"(?:grand |sous-|sub-?|sub )?totaux|(?:grand |sous-|sub-?|sub )?total(?: général| general)?"
    r"|sum|somme|mean|average|moyenne|count|effectif",
    re.IGNORECASE,
)


class TitlesError(InputError):
    """The columns are not named in the first line alone.

    Attributes
    ----------
    lines : the first and the last line that name them, from 1.
    """

    def __init__(self, message: str, lines: tuple[int, int]) -> None:
        first, last = lines
        said = f"{first}" if first == last else f"{first}-{last}"
        super().__init__(f"{message}, or say --names-in {said}")
        self.lines = lines


def place_of_names(rows: Sequence[Cells]) -> tuple[int, int] | None:
    """First and last of the rows that name the columns, from 0; None where none does.

    These are the first that have a name for four columns in five, in one row or in two where
    the upper one names groups, above columns of numbers or dates.

    >>> place_of_names([["Export", None, None], ["sex", "age", "bp"], ["F", "41", "12,5"]])
    (1, 1)
    >>> place_of_names([["who", "", "size", ""], ["sex", "age", "h", "w"], ["F", "41", "9", "7"]])
    (0, 1)
    """
    width = max(map(len, rows), default=0)
    if width < 3:
        return None
    for place, row in enumerate(rows[: MOST_TITLES + 1]):
        above = rows[place - 1] if place and _filled(rows[place - 1]) > 1 else ()
        names = joined_names(above, row)
        unnamed = width - _filled(names)
        if unnamed <= MOST_UNNAMED * width and _are_names(names, rows[place + 1 :]):
            return place - bool(above), place
    return None


def joined_names(above: Cells, row: Cells) -> list[str]:
    """Names of columns from the groups above them and their own, which are enough where unique.

    >>> joined_names(["sex", "start", None, "end", None], [None, "day", "bp", "day", "pulse"])
    ['sex', 'start day', 'bp', 'end day', 'pulse']
    """
    width = max(len(above), len(row))
    groups, own = ([(cell or "").strip() for cell in cells] for cells in (above, row))
    groups, own = (cells + [""] * (width - len(cells)) for cells in (groups, own))
    times = Counter(own)
    names, group = [], ""
    for over, name in zip(groups, own, strict=True):
        group = over or group
        repeated = times[name] > 1 and group
        names.append(over if not name else f"{group} {name}" if repeated else name)
        group = group if name else ""  # a name over two rows heads no other column
    return names


def _filled(cells: Cells) -> int:
    return sum(bool(cell and cell.strip()) for cell in cells)


def _are_names(names: Sequence[str], below: Sequence[Cells]) -> bool:
    """Whether cells are words, and head some column whose values mostly are none."""
    if any(_is_value(name) for name in names) or len({*filter(None, names)}) < _filled(names):
        return False
    columns = ([row[place] for row in below if place < len(row)] for place in range(len(names)))
    values = ([_is_value(cell) for cell in column if cell] for column in columns)
    return any(sum(column) > len(column) / 2 for column in values)


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell.strip()) or _DATE.fullmatch(cell.strip()))


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
    named = place_of_names(rows)
    grouped = named is not None and named[0] < named[1]
    if (titles or grouped) and times > len(rows) / 2 and titles < len(rows) - 1:
        first, last = named if named is not None and named[1] >= titles else (titles, titles)
        lines = [place for place, line in enumerate(head.split("\n"), 1) if line.strip()]
        held = next((line.strip() for line in head.split("\n") if line.strip()), "")
        what = "a title" if titles else "names of groups"
        raise TitlesError(
            f"line 1 holds {_short(held)}, {what}, and the columns are named below it; "
            f"take out what stands above the line that begins with {rows[last][0]!r}",
            (lines[first], lines[last]),
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
