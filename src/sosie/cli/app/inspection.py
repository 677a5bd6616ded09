"""What a file holds, told in aggregates: ``python -m sosie.cli.app.inspection FILE OUT``.

Nothing here is of a single person: levels held by fewer than five people are counted and not
named, ranges run between values that five people lie beyond, bars stand for five people or more.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie.audits.context import RECIPIENTS, SENSITIVITIES, Context
from sosie.audits.privacy.hidden_rate import DEFINITION as HIDDEN_RATE
from sosie.data.atomic import OWNER_FILE, atomic
from sosie.data.constraints import MOST_COLUMNS, find_constraints
from sosie.data.files import read
from sosie.data.identifiers import MOST_ROWS_EACH, Suspect, repeated, suspects
from sosie.data.layout import TitlesError
from sosie.data.parquet import Scan
from sosie.data.table import Levels, Numbers, Table
from sosie.errors import InputError, Reason
from sosie.generate.methods import METHODS, settings_of
from sosie.jobs.tables import is_parquet

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Card", "Inspection", "People", "Rule", "Setting", "inspect", "smallest_group"]

FEWEST = 5
"""People behind anything that is shown."""

CODES = "numbers_with_codes"
"""The note that a card says in its own way."""

MOST_LEVELS = 6
"""Levels of a column that are named."""

LONGEST_LABEL = 60
"""Characters of a level that are shown."""

BARS = 16
"""Bars of a column of numbers."""

MOST_CELLS = 10_000_000
"""Cells of the largest table that is searched for what holds between columns: some seconds."""

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
    suspect : why it looks like an identifier (see `sosie.data.identifiers.Suspect`); None where it
        does not.
    lost : people whose level is held by too few to be drawn; all who have one, where no level may.
    codes : what stands for a missing value, or for a limit, with how many hold it.
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
    suspect: str | None = None
    notes: tuple[object, ...] = ()
    levels: tuple[tuple[str, int], ...] = ()
    unnamed: int = 0
    low: float | str | None = None
    high: float | str | None = None
    digits: int = 0
    bars: tuple[int, ...] = ()
    lost: int = 0
    codes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Rule:
    """What holds between columns of every row: its kind, and the statement."""

    kind: str
    text: str


@dataclass(frozen=True)
class People:
    """A column that tells people on several rows each."""

    column: str
    people: int
    rows: int


@dataclass(frozen=True)
class Setting:
    """What a k means here: people in the smallest group, how many groups."""

    k: int
    smallest: int
    groups: int


@dataclass(frozen=True)
class Target:
    """What a recipient and a sensitivity set: attackers at most, hidden rate at least, in %."""

    recipient: str
    sensitivity: str
    attack: float | None
    hidden_rate: float | None


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
    names_in : lines that name the columns, where these are not the first alone.
    rules : what holds between columns; those of a large table are not looked for here.
    people : where rows are not people.
    least : people who must hold a level for it to be drawn.
    targets : what each answer about who receives the avatars sets.
    """

    rows: int
    columns: tuple[Card, ...]
    notes: tuple[object, ...]
    methods: tuple[str, ...]
    guaranteed: tuple[str, ...]
    k: int
    settings: tuple[Setting, ...]
    names_in: tuple[int, int] | None = None
    rules: tuple[Rule, ...] = ()
    people: People | None = None
    least: int = FEWEST
    targets: tuple[Target, ...] = ()


def inspect(path: Path) -> Inspection:
    """Read a file and tell what it holds.

    Raises
    ------
    InputError
        It can't be read.
    """
    frame, notes, names_in = opened(path)
    rows = len(frame)
    methods, k = offered()
    most = max(2, min(LARGEST_K, rows // 2))
    suspected = {one.column: one for one in suspects(frame)}
    least = min(settings_of().min_level_count, most)
    return Inspection(
        rows=rows,
        columns=tuple(
            card(single(frame, name), name, suspected.get(name), least) for name in frame.columns
        ),
        notes=tuple(note.to_dict() for note in notes),
        methods=methods,
        guaranteed=GUARANTEED,
        k=min(k, most),
        settings=tuple(smallest_group(rows, k) for k in range(2, most + 1)),
        names_in=names_in,
        rules=rules(frame, [*suspected]),
        people=people(frame, [*suspected]),
        least=least,
        targets=tuple(targets()),
    )


def opened(
    path: Path,
) -> tuple[pl.DataFrame | Scan, tuple[Reason, ...], tuple[int, int] | None]:
    """The table, what was noticed, and the lines that name its columns where titles stand above.

    Parquet is read a column at a time.
    """
    if is_parquet(path):
        return Scan.of(path), (), None
    try:
        file = read(path)
    except InputError as error:
        if not isinstance(error.__cause__, TitlesError):
            raise
        names_in = error.__cause__.lines
        file = read(path, names_in=names_in)
        return file.frame, file.notes, names_in
    return file.frame, file.notes, None


def single(frame: pl.DataFrame | Scan, name: str) -> pl.DataFrame:
    """One column, as a table of its own."""
    return frame.frame([name]) if isinstance(frame, Scan) else frame.select(name)


def rules(frame: pl.DataFrame | Scan, left_out: Sequence[Hashable]) -> tuple[Rule, ...]:
    """What holds between the columns that stay; nothing where that would take long to see."""
    if len(frame) * frame.width > MOST_CELLS or frame.width > MOST_COLUMNS:
        return ()
    whole = frame.frame() if isinstance(frame, Scan) else frame
    try:
        found = find_constraints(whole.drop(*map(str, left_out)))
    except InputError:  # of a column, whose card says it
        return ()
    return tuple(Rule(rule.kind, rule.text) for rule in found)


def people(frame: pl.DataFrame | Scan, names: Sequence[Hashable]) -> People | None:
    """The column that tells people on several rows each, as many as stop a run."""
    several = repeated(frame, names)
    if several is None or several.rows_each < MOST_ROWS_EACH:
        return None
    return People(str(several.column), several.distinct, several.present)


def targets() -> Iterator[Target]:
    """What each answer sets."""
    for recipient, sensitivity in product(RECIPIENTS, SENSITIVITIES):
        context = Context.of(recipient, sensitivity)
        hidden_rate = context.target(HIDDEN_RATE.key, HIDDEN_RATE.target)
        yield Target(recipient, sensitivity, context.attack_target, hidden_rate)


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


def card(frame: pl.DataFrame, name: str, suspected: Suspect | None, least: int) -> Card:
    """One column, alone, so that one that can't be read does not hide the others."""
    try:
        table = Table.of(frame)
    except InputError as error:
        return Card(name, "unreadable", notes=(str(error),))
    column = table.columns[0]
    told = Card(
        name,
        column.kind,
        int(column.missing.sum()),
        suspect=None if suspected is None else suspected.kind,
        notes=tuple(note.to_dict() for note in table.notes if note.key != CODES),
    )
    if isinstance(column, Levels):
        return replace(told, **_leveled(column, least))
    return replace(told, **_ranged(column))


def _leveled(column: Levels, least: int) -> Mapping[str, Any]:
    """The commonest levels, and how many people hold those that are too rare to be drawn."""
    counts, labels = column.counts(), column.labels
    known = [i for i in np.argsort(-counts, kind="stable") if labels[i] is not None and counts[i]]
    shown = [(str(labels[i]), int(counts[i])) for i in known[:MOST_LEVELS]]
    named = tuple((text[:LONGEST_LABEL], count) for text, count in shown if count >= FEWEST)
    lost = sum(int(counts[i]) for i in known if counts[i] < least)
    return {
        "distinct": len(known),
        "levels": named,
        "unnamed": len(known) - len(named),
        "lost": lost,
    }


def _ranged(column: Numbers) -> Mapping[str, Any]:
    """Range and bars; nothing where values are too few."""
    values = np.sort(column.values[~column.missing])
    told: dict[str, Any] = {
        "distinct": int((np.diff(values) > 0).sum()) + bool(len(values)),
        "codes": _codes(column),
    }
    if len(values) < 4 * FEWEST:
        return told
    low, high = float(values[FEWEST]), float(values[-FEWEST - 1])
    told |= {"low": _value(column, low), "high": _value(column, high)}
    told["digits"] = min(column.grid.decimals or 0, MOST_DIGITS)
    if low == high:
        return told
    counts, _ = np.histogram(values, BARS, (low, high))
    return told | {"bars": tuple(int(count) if count >= FEWEST else 0 for count in counts)}


def _codes(column: Numbers) -> tuple[tuple[str, int], ...]:
    """Codes and limits that five people hold, the commonest first."""
    if column.states is None:
        return ()
    shares = column.states.shares(column.values)
    counts = {label: round(share * len(column.values)) for label, share in shares.items()}
    ranked = sorted(counts.items(), key=lambda pair: -pair[1])
    return tuple((label, count) for label, count in ranked if count >= FEWEST)


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
