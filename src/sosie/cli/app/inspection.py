"""What a file holds, told in aggregates: ``python -m sosie.cli.app.inspection FILE OUT``.

Nothing here is of a single person: levels held by fewer than five people are counted and not
named, ranges run between values that five people lie beyond, bars stand for five people or more.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie.data.atomic import OWNER_FILE, atomic
from sosie.data.files import read
from sosie.data.identifiers import suspects
from sosie.data.table import Levels, Numbers, Table
from sosie.errors import InputError
from sosie.generate.methods import METHODS

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Card", "Inspection", "Setting", "inspect", "smallest_group"]

FEWEST = 5
"""People behind anything that is shown."""

MOST_LEVELS = 6
"""Levels of a column that are named."""

LONGEST_LABEL = 60
"""Characters of a level that are shown."""

BARS = 16
"""Bars of a column of numbers."""

MOST_DIGITS = 6
"""Decimals of a number that are shown."""

LARGEST_K = 100
"""Groups beyond it blur more than anyone has asked for."""

GUARANTEED = ("exchangeable",)
"""Methods whose groups bound every link."""


@dataclass(frozen=True)
class Card:
    """A column as it was read.

    Attributes
    ----------
    name : of the column.
    kind : ``number``, ``integer``, ``date``, ``category``, ``boolean``, or ``unreadable``.
    missing : rows without a value.
    distinct : distinct values, missing apart.
    suspect : whether it looks like an identifier.
    notes : what deserves a look, as JSON files hold it.
    levels : the most frequent ones, with how many hold them.
    unnamed : levels that are not among them.
    low, high : range of a column of numbers (texts for dates, ISO 8601), five people beyond each
        end; None if there is none.
    digits : decimals that write them.
    bars : people in each of equal parts of that range; 0 where they are fewer than five.
    """

    name: str
    kind: str
    missing: int = 0
    distinct: int = 0
    suspect: bool = False
    notes: tuple[object, ...] = ()
    levels: tuple[tuple[str, int], ...] = ()
    unnamed: int = 0
    low: float | str | None = None
    high: float | str | None = None
    digits: int = 0
    bars: tuple[int, ...] = ()


@dataclass(frozen=True)
class Setting:
    """What a k means here: people in the smallest group, how many groups."""

    k: int
    smallest: int
    groups: int


@dataclass(frozen=True)
class Inspection:
    """A file as it was read, and what can be done with it.

    Attributes
    ----------
    rows : people.
    columns : a card each, in the file's order.
    notes : of the file as a whole.
    methods : names of the methods, the default first.
    guaranteed : those whose groups bound every link.
    k : the default.
    settings : one for each k.
    """

    rows: int
    columns: tuple[Card, ...]
    notes: tuple[object, ...]
    methods: tuple[str, ...]
    guaranteed: tuple[str, ...]
    k: int
    settings: tuple[Setting, ...]


def inspect(path: Path) -> Inspection:
    """Read a file and tell what it holds.

    Raises
    ------
    InputError
        It can't be read.
    """
    file = read(path)
    frame = file.frame
    rows = len(frame)
    methods, k = offered()
    most = max(2, min(LARGEST_K, rows // 2))
    return Inspection(
        rows=rows,
        columns=tuple(card(frame, name) for name in frame.columns),
        notes=tuple(note.to_dict() for note in file.notes),
        methods=methods,
        guaranteed=GUARANTEED,
        k=min(k, most),
        settings=tuple(smallest_group(rows, k) for k in range(2, most + 1)),
    )


def offered() -> tuple[tuple[str, ...], int]:
    """Methods, the default first, and the k of the default."""
    return tuple(METHODS), next(iter(METHODS.values())).k


def smallest_group(people: int, k: int) -> Setting:
    """Groups by halving, as long as both halves hold k people.

    >>> smallest_group(2139, 10)
    Setting(k=10, smallest=16, groups=128)
    """
    groups = 1
    while people // (2 * groups) >= k:
        groups *= 2
    return Setting(k, people // groups, groups)


def card(frame: pl.DataFrame, name: str) -> Card:
    """One column, alone, so that one that can't be read does not hide the others."""
    try:
        table = Table.of(frame.select(name))
    except InputError as error:
        return Card(name, "unreadable", notes=(str(error),))
    column, notes = table.columns[0], tuple(note.to_dict() for note in table.notes)
    missing = int(column.missing.sum())
    suspect = bool(suspects(frame.select(name)))
    if isinstance(column, Levels):
        counts, labels = column.counts(), column.labels
        known = [i for i in np.argsort(-counts, kind="stable") if labels[i] is not None]
        shown = [(str(labels[i]), int(counts[i])) for i in known[:MOST_LEVELS]]
        named = tuple((text[:LONGEST_LABEL], count) for text, count in shown if count >= FEWEST)
        unnamed = len(known) - len(named)
        return Card(name, column.kind, missing, len(known), suspect, notes, named, unnamed)
    values = np.sort(column.values[~column.missing])
    distinct = int((np.diff(values) > 0).sum()) + 1
    told = Card(name, column.kind, missing, distinct, suspect, notes)
    return Card(**{**told.__dict__, **_ranged(column, values)})


def _ranged(column: Numbers, values: np.ndarray[Any, np.dtype[np.float64]]) -> Mapping[str, Any]:
    """Range and bars of sorted values; nothing where they are too few."""
    if len(values) < 4 * FEWEST:
        return {}
    low, high = float(values[FEWEST]), float(values[-FEWEST - 1])
    ends = {"low": _value(column, low), "high": _value(column, high)}
    digits = min(column.grid.decimals or 0, MOST_DIGITS)
    if low == high:
        return {**ends, "digits": digits}
    counts, _ = np.histogram(values, BARS, (low, high))
    bars = tuple(int(count) if count >= FEWEST else 0 for count in counts)
    return {**ends, "digits": digits, "bars": bars}


def _value(column: Numbers, value: float) -> float | str:
    """A number, or the text of a date."""
    grid = column.grid
    number = grid.origin + grid.step * int(value) if grid.step else value
    if column.kind != "date":
        return number
    try:
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(days=number / grid.per_day)
    except OverflowError:  # no calendar of ours goes so far
        return "…"
    return (
        f"{moment:%Y-%m-%d}" if moment.time() == dt.time.min else moment.isoformat(" ", "minutes")
    )


def main(arguments: Sequence[str]) -> None:
    """Inspect a file and write what was found, or why it can't be read, as JSON."""
    told: dict[str, Any]
    try:
        told = asdict(inspect(Path(arguments[0])))
    except InputError as error:
        told = {"error": str(error)}
    except MemoryError:
        told = {"error": "there is not enough memory for this table; try fewer rows or columns"}
    text = json.dumps(told).encode()
    atomic(Path(arguments[1]), lambda file: file.write(text), OWNER_FILE)


if __name__ == "__main__":
    main(sys.argv[1:])
