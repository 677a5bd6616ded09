"""Table: any dataframe as typed, encoded columns.

A column is either `Numbers` (numbers, whole numbers, dates: things that can be
averaged) or `Levels` (categories and booleans: things that can be voted on). The
encoding is exact both ways, so a table can be given back with the dtypes it came in.
"""

from __future__ import annotations

import datetime as dt
import difflib
import math
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Codes, Floats, Ints, Mask
from sosie.compute.storage import MEMORY, Storage
from sosie.compute.sums import tally
from sosie.compute.threads import each_part
from sosie.data import frames
from sosie.data.coarsening import cut_short
from sosie.data.frames import Frame, Holds, Series
from sosie.data.missing import (
    FEWEST_NUMBERS,
    NAMED,
    States,
    sentinels,
    states_among,
    tagged,
    tags,
)
from sosie.data.notation import Ambiguous, Notation, is_number_like, notation_of
from sosie.errors import InputError, Reason, quoted

__all__ = ["Column", "Grid", "Kind", "Levels", "Numbers", "Roles", "Table", "kept_in"]

Name = Hashable
Kind = Literal["number", "integer", "date", "category", "boolean"]

MOST_LEVELS_OF_A_NUMBER = 10
"""A column with at most this many distinct values is a category (the rule of the studies)."""

FEWEST_ROWS_OF_AN_IDENTIFIER = 50
FEW_ROWS = 2_000
SHOWN = 200
"""Rows of a column of text that are looked at first."""

MOST_DECIMALS = 12
MANY_ROWS = 16_384
MOST_WEIGHT = 1e9
EXACT = 2**53
_OFFSET = re.compile(r"^.*?(Z|[+-]\d{2}:?\d{2})$")
_PART = re.compile(r"[.](\d+)")
_DATE_TEXT = re.compile(r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d{1,2}:\d{2}.*)?$")


@dataclass(frozen=True)
class Roles:
    """What the user says about columns; everything else is inferred.

    Attributes
    ----------
    keep : columns that stay as they are, row by row, and take no part in the method.
    keep_anyway : those of `keep` that stand outside the strata in which groups are cut.
    drop : columns left out of the avatars.
    id : columns replaced by a fresh surrogate.
    categorical, numeric : columns whose type is forced.
    date : column -> format of a text column that holds dates (None: ISO 8601).
    linked : groups of categories drawn together from the same neighbour.
    weights : column -> weight of its squared distance.
    na : texts and numbers that stand for a missing value in columns of numbers.
    pivot : the last year that two digits stand for; None takes the present year, so that a
        birth is not in the future.
    coarsen : text column -> characters of it that stay.
    """

    keep: tuple[Name, ...] = ()
    drop: tuple[Name, ...] = ()
    id: tuple[Name, ...] = ()
    categorical: tuple[Name, ...] = ()
    numeric: tuple[Name, ...] = ()
    date: Mapping[Name, str | None] = field(default_factory=dict)
    linked: tuple[tuple[Name, ...], ...] = ()
    weights: Mapping[Name, float] = field(default_factory=dict)
    keep_anyway: tuple[Name, ...] = ()
    na: tuple[str, ...] = ()
    pivot: int | None = None
    coarsen: Mapping[Name, int] = field(default_factory=dict)

    def compared(self) -> Self:
        """The roles under which a release is compared: surrogates say nothing, kept columns do.

        >>> Roles(keep=("sex",), id=("number",), drop=("name",)).compared().drop
        ('name', 'number')
        """
        return replace(
            self,
            keep=(),
            keep_anyway=(),
            id=(),
            linked=(),
            drop=(*self.drop, *self.id),
            weights={name: w for name, w in self.weights.items() if name not in self.keep},
        )

    def check(self, names: Sequence[Name]) -> None:
        """Raise InputError for a column that the table lacks or that has two roles."""
        groups = [name for group in self.linked for name in group]
        asked = [*self.keep, *self.drop, *self.id, *self.categorical, *self.numeric]
        for name in [*asked, *self.date, *groups, *self.weights, *self.coarsen]:
            if name not in names:
                close = difflib.get_close_matches(str(name), [str(n) for n in names], 1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise InputError(f"there is no column {name!r}{hint}")
        for several, what in (
            ([*self.keep, *self.drop, *self.id], "--keep, --drop and --id"),
            ([*self.categorical, *self.numeric, *self.date], "--categorical, --numeric and --date"),
            (groups, "groups of linked columns"),
        ):
            twice = [name for i, name in enumerate(several) if name in several[:i]]
            if twice:
                raise InputError(f"column {twice[0]!r} is named more than once in {what}")
        for group in self.linked:
            outside = [name for name in group if name in (*self.keep, *self.drop, *self.id)]
            if outside:
                raise InputError(f"linked column {outside[0]!r} is kept, dropped or an identifier")
            if len(group) < 2:
                raise InputError(
                    f"a group of linked columns needs two or more, got {quoted(group)}"
                )
        for name, weight in self.weights.items():
            if not 0 <= weight <= MOST_WEIGHT:
                raise InputError(
                    f"the weight of column {name!r} must be a number from 0 to {MOST_WEIGHT:g}, "
                    f"got {weight}"
                )


@dataclass(frozen=True)
class Grid:
    """How the values of a `Numbers` column are written.

    The value is ``origin + step * x`` in whole ticks where `step` > 0 (whole numbers,
    dates), else ``x`` rounded to `decimals` (None: not rounded).

    Attributes
    ----------
    text : of a column of text, the format of its dates or the mark before decimals.
    notation : of a column of text, thousands and units around its numbers.
    shortest : whether its numbers are written with as few decimals as they need.
    """

    origin: int = 0
    step: int = 0
    decimals: int | None = None
    per_day: int = 1
    text: str | None = None
    notation: Notation | None = None
    shortest: bool = False

    @property
    def spacing(self) -> float:
        """Between neighbouring values, as they are encoded; 0 where any number may be written.

        >>> Grid(step=7).spacing, Grid(decimals=2).spacing, Grid().spacing
        (1.0, 0.01, 0.0)
        """
        if self.step:
            return 1.0
        return 0.0 if self.decimals is None else 10.0**-self.decimals


@dataclass(frozen=True)
class Numbers:
    """A column that can be averaged.

    Attributes
    ----------
    name : column name.
    kind : ``number``, ``integer`` or ``date``.
    values : (n,) float64, NaN where missing, in units of the grid.
    grid : how values are written.
    states : kinds of missing values and limits, told apart by the NaN itself; None where a
        missing value is of one kind.
    """

    name: Name
    kind: Kind
    values: Floats
    grid: Grid
    states: States | None = None

    @property
    def missing(self) -> Mask:
        """(n,) bool."""
        return np.isnan(self.values)

    def rounded(self, values: Floats) -> Floats:
        """Values on the grid: whole steps, or as many decimals as the column has."""
        if self.grid.step:
            return np.rint(values) + 0.0  # no -0
        if self.grid.decimals is None:
            return values
        return np.round(values, self.grid.decimals) + 0.0

    def texts(self, values: Floats) -> list[str | None]:
        """Values as a text column writes them; None where missing."""
        grid, missing = self.grid, np.isnan(values)
        known, back = np.unique(np.where(missing, 0, values), return_inverse=True)
        if self.kind == "date":
            epoch = dt.datetime(1970, 1, 1)
            ticks = (grid.origin + grid.step * int(value) for value in known)
            moments = [epoch + dt.timedelta(microseconds=tick) for tick in ticks]
            # Years before 1000 are not padded everywhere.
            forms = [_form(grid.text or "", moment) for moment in moments]
            written = [moment.strftime(form) for moment, form in zip(moments, forms, strict=True)]
        else:
            written = [_number_written(value, grid) for value in known.tolist()]
        if self.states is None:
            return [None if lost else written[i] for i, lost in zip(back, missing, strict=True)]
        kinds = self.states.texts(values)
        cells = zip(back, missing, kinds, strict=True)
        return [kind if lost else written[i] for i, lost, kind in cells]


def _form(form: str, moment: dt.datetime) -> str:
    thousandths = f"{moment.microsecond // 1000:03d}"
    return form.replace("%Y", f"{moment.year:04d}").replace("%3f", thousandths)


def _number_written(value: float, grid: Grid) -> str:
    digits = grid.decimals or 0
    plain = f"{value:.{digits}f}" if grid.step or grid.decimals else repr(value)
    if grid.shortest and "." in plain and "e" not in plain:
        plain = plain.rstrip("0").rstrip(".")
    return grid.notation.written(plain) if grid.notation else plain.replace(".", grid.text or ".")


@dataclass(frozen=True)
class Levels:
    """A column that can be voted on. A missing value is a level of its own.

    Attributes
    ----------
    name : column name.
    kind : ``category`` or ``boolean``.
    codes : (n,) unsigned or int32, the level of each row.
    labels : one text for each level, None for missing; equal values have equal labels
        whatever their dtype.
    first : (L,) int64, a row of the source that holds each level; -1 where none does.
    """

    name: Name
    kind: Kind
    codes: NDArray[Any]
    labels: tuple[str | None, ...]
    first: Ints

    @property
    def missing(self) -> Mask:
        """(n,) bool."""
        if None not in self.labels:
            return np.zeros(len(self.codes), dtype=bool)
        return np.asarray(self.codes == self.labels.index(None))

    def counts(self) -> Ints:
        """How many rows hold each level, ``(L,) int64``."""
        return tally(self.codes, len(self.labels))


Column = Numbers | Levels


@dataclass(frozen=True)
class Table:
    """Typed, encoded columns, with the frame they came from.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"sex": ["F", "M", "F"], "age": [61, 47, None]}))
    >>> [(column.name, column.kind) for column in table.columns]
    [('sex', 'category'), ('age', 'category')]
    """

    frame: Frame
    columns: tuple[Column, ...]
    roles: Roles
    notes: tuple[Reason, ...] = ()
    storage: Storage = MEMORY

    @classmethod
    def of(
        cls,
        frame: object,
        roles: Roles | None = None,
        storage: Storage = MEMORY,
        threads: int = 1,
    ) -> Self:
        """Encode a dataframe; the input is not changed.

        Parameters
        ----------
        storage : where the encoded columns live; on disk, one column is read at a time.
        threads : columns encoded side by side where they live in memory; -1 for all.

        Raises
        ------
        InputError
            Nested columns, infinite values, unknown columns, text that is not a number
            or a date where one was declared.
        """
        roles = roles or Roles()
        source = frames.wrap(frame)
        roles.check(source.columns)
        source = cut_short(source, roles.coarsen)
        if not source.columns:
            raise InputError("the table has no columns")
        if not len(source):
            raise InputError("the table has no rows")
        outside = {*roles.keep, *roles.drop, *roles.id}
        names = [name for name in source.columns if name not in outside]
        found: list[Any] = [None] * len(names)
        said: list[list[Reason]] = [[] for _ in names]

        def encode(part: slice) -> None:
            for i in range(part.start, part.stop):
                series = frames.column(source, names[i])
                found[i] = kept_in(storage, encoded_column(names[i], series, roles, said[i]))

        alone = storage is not MEMORY or len(source) < MANY_ROWS
        each_part(encode, len(names), 1, 1 if alone else threads)
        columns: tuple[Column, ...] = tuple(found)
        notes = [note for some in said for note in some]
        linked = {name for group in roles.linked for name in group}
        for column in columns:
            if column.name in linked:
                check_linked(column)
        return cls(source, columns, roles, tuple(notes), storage)

    def like(self, frame: object) -> Table:
        """Encode another dataframe with this table's columns, types and level codes.

        Columns are matched by name and values by value, not by representation: 1 and
        1.0, a category and a string, a date and its timestamp are equal. Levels that
        this table lacks get codes after its own.

        Raises
        ------
        InputError
            A column is missing or extra, or a value can't be read as its column's type.
        """
        source = frames.wrap(frame)
        wanted = [column.name for column in self.columns]
        absent = [name for name in wanted if name not in source.columns]
        if absent:
            raise InputError(
                f"the second table lacks {_count(absent)}; drop it from both, or add it"
            )
        known = {*wanted, *self.roles.keep, *self.roles.drop, *self.roles.id}
        extra = [name for name in source.columns if name not in known]
        if extra:
            raise InputError(
                f"the second table has {_count(extra)} that the first lacks; "
                "drop it from both, or add it"
            )
        lengths = self.roles.coarsen
        source = cut_short(source, {name: lengths[name] for name in wanted if name in lengths})
        notes: list[Reason] = []
        columns = tuple(
            kept_in(
                self.storage, _encode_like(column, frames.column(source, column.name), self, notes)
            )
            for column in self.columns
        )
        return replace(self, frame=source, columns=columns, notes=tuple(notes))

    def __len__(self) -> int:
        for column in self.columns:
            return len(column.values if isinstance(column, Numbers) else column.codes)
        return len(self.frame)

    @property
    def names(self) -> tuple[Name, ...]:
        """Names of the encoded columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: Name) -> Column:
        """The encoded column of that name; KeyError where there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> Mapping[Name, Column]:
        """Of a thousand columns, looking for one takes as long as reading it."""
        return {column.name: column for column in self.columns}

    def number(self, name: Name) -> Numbers:
        """The column of that name, which can be averaged; TypeError where it can't."""
        column = self.column(name)
        if isinstance(column, Numbers):
            return column
        raise TypeError(f"column {name!r} is a {column.kind}")

    def level(self, name: Name) -> Levels:
        """The column of that name, which can be voted on; TypeError where it can't."""
        column = self.column(name)
        if isinstance(column, Levels):
            return column
        raise TypeError(f"column {name!r} is a {column.kind}")

    @property
    def numbers(self) -> tuple[Numbers, ...]:
        """The columns that can be averaged, in order."""
        return tuple(column for column in self.columns if isinstance(column, Numbers))

    @property
    def levels(self) -> tuple[Levels, ...]:
        """The columns that can be voted on, in order."""
        return tuple(column for column in self.columns if isinstance(column, Levels))

    def take(self, rows: Ints) -> Table:
        """The same table with only some rows, encoded columns and source alike."""
        return replace(self.encoded_rows(rows), frame=frames.take_rows(self.frame, rows))

    def encoded_rows(self, rows: Ints) -> Table:
        """Some rows of the encoded columns beside the whole source, for what never reads it."""
        columns = tuple(
            replace(c, values=c.values[rows]) if isinstance(c, Numbers) else _levels_taken(c, rows)
            for c in self.columns
        )
        return replace(self, columns=columns)

    def select(self, names: Sequence[Name]) -> Table:
        """The same rows with only some encoded columns."""
        return replace(
            self, columns=tuple(column for column in self.columns if column.name in names)
        )


def check_linked(column: Column) -> None:
    """Raise InputError where a column can't be drawn together with others."""
    if isinstance(column, Numbers):
        raise InputError(
            f"linked column {column.name!r} is a {column.kind}; only categories can be "
            "linked: declare it with --categorical, or leave it out of --linked"
        )


def kept_in(storage: Storage, column: Column) -> Column:
    """The same column, its rows in a storage."""
    made: Column
    if isinstance(column, Levels):
        made = replace(column, codes=storage.keep(column.codes))
    else:
        made = replace(column, values=storage.keep(column.values))
    storage.forget()
    return made


def _levels_taken(column: Levels, rows: Ints) -> Levels:
    """Some rows of a column; levels that none of them holds keep their codes."""
    codes = column.codes[rows]
    return replace(column, codes=codes, first=_first_rows(codes, len(column.labels)))


def _first_rows(codes: NDArray[Any], size: int) -> Ints:
    """The first row of each level, -1 where no row holds it."""
    first = np.full(size, -1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def _count(names: Sequence[Name]) -> str:
    return f"column {quoted(names)}" if len(names) == 1 else f"columns {quoted(names)}"


def _all_distinct_whole(column: Numbers) -> bool:
    present = column.values[~column.missing]
    if column.kind != "integer" or len(present) < FEWEST_ROWS_OF_AN_IDENTIFIER:
        return False
    # A few rows settle it for most columns.
    return all(len(np.unique(some)) == len(some) for some in (present[:FEW_ROWS], present))


# ---------------------------------------------------------------- encoding


def encoded_column(name: Name, series: Series, roles: Roles, notes: list[Reason]) -> Column:
    """One column, whole; what deserves a look is added to the notes."""
    held = frames.holds(series)
    if held == "nested":
        raise InputError(
            f"column {name!r} is not a plain column ({series.dtype}): flatten it, make it dense, "
            "or drop it (--drop)"
        )
    missing = frames.is_missing(series)
    if missing.all():
        notes.append(Reason("no_value_in_column", {"column": str(name)}))
        return _levels(name, series, "category")
    if name in roles.categorical:
        return _levels(name, series, "boolean" if held == "boolean" else "category")
    forced = name in roles.numeric or name in roles.date
    column = _numbers(name, series, held, missing, roles, forced)
    if column is None:
        return _categories(name, series, held, notes)
    if held in ("whole", "real"):
        column = with_sentinels(column, roles.na)
    missing = missing if column.states is None else column.missing
    present = column.values[~missing] if missing.any() else column.values
    if not forced and not _more_distinct_than(present, MOST_LEVELS_OF_A_NUMBER):
        del column, present  # memory, on millions of rows
        return _levels(name, series, "category")
    if column.states is not None:
        notes.append(states_note(column))
    if "%y" in (column.grid.text or ""):
        last = roles.pivot or dt.date.today().year
        years = {"first": str(last - 99), "last": str(last)}
        notes.append(Reason("two_digit_years", {"column": str(name), **years}))
    if not forced and _all_distinct_whole(column):
        notes.append(Reason("all_distinct", {"column": str(name)}))
    return column


def _categories(name: Name, series: Series, held: Holds, notes: list[Reason]) -> Levels:
    column = _levels(name, series, "boolean" if held == "boolean" else "category")
    shown = [label for label in column.labels[:100] if label is not None]
    if held == "other" and all(_DATE_TEXT.match(label) for label in shown):
        notes.append(Reason("dates_as_text", {"column": str(name)}))
    return column


def _more_distinct_than(values: Floats, most: int) -> bool:
    """Whether there are more than `most` distinct values, looked at in parts."""
    known = values[:0]
    for start in range(0, len(values), MANY_ROWS):
        part = values[start : start + MANY_ROWS]
        known = np.union1d(known, part[~np.isin(part, known)])
        if len(known) > most:
            return True
    return False


def _levels(name: Name, series: Series, kind: Kind) -> Levels:
    codes, first = frames.factorize(series)
    labels: list[str | None] = [label_of(value) for value in frames.objects_at(series, first)]
    if len({*labels}) < len(labels):
        codes, first, labels = _merged(codes, first, labels)
    lost = codes < 0
    if lost.any():
        first = np.append(first, np.argmax(lost))
        codes = np.where(lost, len(labels), codes)
        labels.append(None)
    return Levels(name, kind, _narrow(codes, len(labels)), tuple(labels), first)


def _merged(
    codes: Codes, first: Ints, labels: list[str | None]
) -> tuple[Codes, Ints, list[str | None]]:
    """One level for values that are equal and not alike: 1 and 1.0 in a column of objects."""
    known: dict[str | None, int] = {}
    new = np.array([*(known.setdefault(label, len(known)) for label in labels), -1], dtype=np.int32)
    _, heads = np.unique(new[:-1], return_index=True)
    return new[codes], first[heads], list(known)


def _narrow(codes: Codes, size: int) -> NDArray[Any]:
    """The smallest dtype that holds the codes: on a million rows this is most of the memory."""
    return codes.astype(np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.int32)


def label_of(value: object) -> str:
    """One text for each value, the same for equal values of different types.

    >>> label_of(1) == label_of(1.0) == label_of("1")
    True
    """
    if isinstance(value, bool | np.bool_):
        return "True" if value else "False"
    if isinstance(value, float | Decimal | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**64 else repr(number)
    if isinstance(value, dt.datetime):
        moment = value.replace(tzinfo=None)
        return moment.date().isoformat() if moment.time() == dt.time() else moment.isoformat(" ")
    if isinstance(value, dt.timedelta):  # pandas writes its own otherwise
        return str(dt.timedelta(value.days, value.seconds, value.microseconds))
    return str(value)


def _numbers(
    name: Name, series: Series, held: Holds, missing: Mask, roles: Roles, forced: bool
) -> Numbers | None:
    """The column as numbers, or None where it is a category."""
    if held == "moment":
        return _dates(name, series, missing)
    if name in roles.date:
        return _date_text(name, series, missing, roles.date[name], roles.pivot)
    if held == "whole":
        return _integers(name, series, missing)
    if held == "real":
        return _floats(name, frames.floats(series), missing)
    typed = series.dtype in (nw.Categorical, nw.Enum) or held != "other"
    if not forced and (typed or not _looks_numeric(series, roles.na)):
        return None
    return _number_text(name, series, roles.na, forced=forced)


def _looks_numeric(series: Series, na: Collection[str]) -> bool:
    """Whether the first rows of a column of text hold numbers, and no text with digits else."""
    shown = {label_of(v).strip() for v in series.head(SHOWN).to_list() if isinstance(v, str)} - {
        *na
    }
    digits = {text for text in shown if any(sign.isdigit() for sign in text)}
    return bool(digits) and all(map(is_number_like, digits))


def _number_text(
    name: Name, series: Series, na: Collection[str], *, forced: bool
) -> Numbers | None:
    """Text as numbers; None where it is not one, or was plain digits and not declared.

    Raises
    ------
    InputError
        It was declared and can't be read, or a mark may be that of decimals or of thousands.
    """
    codes, first = frames.factorize(series)
    labels = [label_of(value) for value in frames.objects_at(series, first)]
    rows = tally(codes[codes >= 0], len(labels))
    counts = {label: int(count) for label, count in zip(labels, rows, strict=True)}
    parted = states_among(counts, na, fewest=0 if forced else FEWEST_NUMBERS)
    numbers, kinds = parted or (labels, [])
    way = notation_of([number.strip() for number in sorted(numbers)])
    if isinstance(way, Ambiguous) and way.as_decimal.decimal == ".":
        way = way.as_decimal  # as programs write numbers
    if isinstance(way, Ambiguous):
        row = int(first[labels.index(way.cell)]) + 1 if way.cell in labels else 1
        raise InputError(
            f"column {name!r}, row {row}: {way.cell!r} may be {way.as_group.plain(way.cell)} or "
            f"{way.as_decimal.plain(way.cell)}; write it without marks for thousands, or declare "
            "it --categorical"
        )
    marked = way is not None and (
        way.group or way.before or way.after or any("," in number for number in numbers)
    )
    if not forced and (way is None or parted is None or not (kinds or marked)):
        return None
    states = States.of(sorted(kinds)) if kinds else None
    tag = {kind: place for place, kind in enumerate(sorted(kinds), 1)}

    def read(text: str) -> float:
        if text in tag:
            return float(tagged(np.array(tag[text])))
        if way is not None:
            return float(way.plain(text.strip()))
        return _as_number(text)

    values = _parsed(name, series, read)
    column = _floats(name, values, np.isnan(values))
    mark = "," if way is None and any("," in number for number in numbers) else "."
    mark = way.decimal if way else mark
    decimals = {len(number.strip().partition(mark)[2]) for number in numbers}
    grid = replace(
        column.grid,
        text=mark,
        notation=way if marked else None,
        shortest=bool(kinds or marked) and len(decimals) > 1,
    )
    return replace(column, grid=grid, states=states)


def with_sentinels(column: Numbers, na: Collection[str]) -> Numbers:
    """The column with numbers that stand for a missing value as kinds of it: 999."""
    grid = column.grid
    if grid.origin or grid.step > 1:
        return column
    present = column.values[~column.missing]
    numbers = sorted(sentinels(present, na))
    if not numbers or len(numbers) == len(np.unique(present)):
        return column
    values = np.where(np.isnan(column.values), np.nan, column.values)
    for tag, number in enumerate(numbers, 1):
        values[column.values == number] = tagged(np.array(tag))
    return replace(column, values=values, states=States.of([f"{x:.15g}" for x in numbers]))


def states_note(column: Numbers) -> Reason:
    """What stands for a missing value in a column, for those who look after it."""
    assert column.states is not None  # noqa: S101
    shares = column.states.shares(column.values)
    limits = dict(zip(column.states.labels, column.states.limits, strict=True))
    shown: list[Reason] = []
    rare = 0
    for label, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        if share * len(column.values) < NAMED:
            rare += 1
            continue
        key = "code_of_missing" if limits[label] is None else "limit_of_numbers"
        shown.append(Reason(key, {"label": label, "percent": 100 * share}))
    if rare:
        shown.append(Reason("rare_codes", {"n": rare, "least": NAMED}))
    return Reason("numbers_with_codes", {"column": str(column.name), "codes": shown})


def _integers(name: Name, series: Series, missing: Mask) -> Numbers:
    ticks, unsigned = frames.ticks(series), frames.is_wrapped(series)
    present = ticks[~missing] if missing.any() else ticks  # a copy of millions is not free
    present = present.view(np.uint64) if unsigned else present
    low, high = int(present.min()), int(present.max())
    # float64 is exact up to 2^53: larger numbers are counted from the smallest, and in steps.
    origin = low if max(abs(low), abs(high)) > EXACT else 0
    step = 2 ** max((high - low).bit_length() - 53, 0)
    return _on_ticks(name, "integer", ticks, missing, Grid(origin=origin, step=step), unsigned)


def _on_ticks(
    name: Name, kind: Kind, ticks: Ints, missing: Mask, grid: Grid, unsigned: bool = False
) -> Numbers:
    """Whole ticks in steps from the origin, rounded down, exact over all of 64 bits."""
    if grid.origin == 0 and not unsigned:
        values = (ticks // grid.step if grid.step > 1 else ticks).astype(np.float64)
    else:
        bits, origin = ticks.view(np.uint64), np.uint64(grid.origin % 2**64)
        below = bits < origin if unsigned else ticks < np.int64(grid.origin)
        away = np.where(below, origin - bits, bits - origin) // np.uint64(grid.step)
        values = np.where(below, -1.0, 1.0) * away
    values[missing] = np.nan
    return Numbers(name, kind, values, grid)


def _dates(name: Name, series: Series, missing: Mask) -> Numbers:
    ticks = frames.ticks(series)
    per_day = frames.ticks_per_day(series)
    return _on_ticks(name, "date", ticks, missing, _date_grid(ticks[~missing], per_day))


def _date_grid(present: Ints, per_day: int) -> Grid:
    """Dates are counted from the earliest, in the coarsest of day, hour, minute … that fits all."""
    parts = (1, 24, 1440, 86_400, 86_400 * 10**3, 86_400 * 10**6, 86_400 * 10**9)
    steps = [per_day // part for part in parts if per_day % part == 0]
    step = next((s for s in steps if not (present % s).any()), 1)
    return Grid(origin=int(present.min()), step=step, per_day=per_day)


def _floats(name: Name, values: Floats, missing: Mask) -> Numbers:
    if np.signbit(values[values == 0]).any():
        values = values + 0.0  # one zero: equal values look alike, or a lone -0 would show
    present = values[~missing] if missing.any() else values
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise InputError(
            f"column {name!r} has an infinite value in row {infinite[0] + 1}; "
            "replace it by a missing value or a bound"
        )
    if len(present) and _farthest(present) < EXACT and _are_whole(present):
        return Numbers(name, "integer", values, Grid(step=1))
    return Numbers(name, "number", values, Grid(decimals=_decimals(present)))


def _are_whole(values: Floats) -> bool:
    parts = range(0, len(values), MANY_ROWS)
    return not any(np.mod(values[start : start + MANY_ROWS], 1).any() for start in parts)


def _decimals(values: Floats) -> int | None:
    """The fewest decimals that write every value exactly; None where twelve are too few."""
    if _farthest(values) > 1e290:  # rounding would overflow
        return None
    fewest, settled = 0, False
    while not settled:  # more decimals may not write what fewer do: 63696531.77 with twelve
        settled = True
        for start in range(0, len(values), MANY_ROWS):
            part = values[start : start + MANY_ROWS]
            parted = part[np.mod(part, 1) != 0]
            while not np.array_equal(np.round(parted, fewest), parted):
                fewest += 1
                settled = settled and start == 0
                if fewest > MOST_DECIMALS:
                    return None
    return fewest


def _farthest(values: Floats) -> float:
    """The greatest distance from 0; 0 where there are no values."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _as_number(text: str) -> float:
    number = float(text.strip().replace(",", ".").replace("\u202f", "").replace("\u00a0", ""))
    if math.isnan(number):
        raise ValueError("not a number; read it as missing first")
    return number


def _parsed(name: Name, series: Series, read: Callable[[str], float]) -> Floats:
    """Each distinct text read once; an error names the first row that can't be read."""
    codes, first = frames.factorize(series)
    parsed = np.full(len(first) + 1, np.nan)  # the last one serves the code -1
    for i, value in enumerate(frames.objects_at(series, first)):
        try:
            parsed[i] = read(label_of(value))
        except ValueError as error:
            raise InputError(
                f"column {name!r}, row {first[i] + 1}: {value!r} can't be read ({error})"
            ) from error
    return parsed[codes]


def _date_text(
    name: Name, series: Series, missing: Mask, form: str | None, pivot: int | None = None
) -> Numbers:
    """Text dates in microseconds; where no format is given, ISO 8601.

    Moments with offsets are those of the clock on the wall where all have one offset, and of
    UTC otherwise. Two-digit years are the hundred up to `pivot`.
    """
    separators, offsets, digits = set(), set(), set()
    last = pivot or dt.date.today().year

    def moment_of(text: str) -> dt.datetime:
        moment = dt.datetime.strptime(text, form) if form else dt.datetime.fromisoformat(text)
        if form and "%y" in form:
            moment = moment.replace(year=last - (last - moment.year) % 100)
        return moment

    def noted(text: str) -> float:
        moment = moment_of(text.strip())
        separators.add(" " if " " in text.strip() else "T")
        offsets.add("" if moment.tzinfo is None else _OFFSET.sub(r"\1", text.strip()))
        digits.add(len(match[1]) if (match := _PART.search(text)) else 0)
        if "" in offsets and len(offsets) > 1:
            raise ValueError("some times have a zone and others not; give all one, or none")
        return 0.0

    def read(text: str) -> float:
        moment = moment_of(text.strip())
        if moment.tzinfo is not None and len(offsets) > 1:
            moment = moment.astimezone(dt.UTC)
        return (moment.replace(tzinfo=None) - dt.datetime(1970, 1, 1)) / dt.timedelta(
            microseconds=1
        )

    _parsed(name, series, noted)

    moments = _parsed(name, series, read)
    ticks = np.where(missing, 0, np.rint(moments)).astype(np.int64)
    grid = _date_grid(ticks[~missing], 86_400 * 10**6)
    if form is None:
        day, second = not (ticks % (86_400 * 10**6)).any(), not (ticks % 10**6).any()
        part = "" if second else ".%3f" if max(digits) == 3 else ".%f"
        offset = "+00:00" if len(offsets) > 1 else min(offsets)
        clock = "" if day and not offset else f"{min(separators)}%H:%M:%S{part}{offset}"
        form = f"%Y-%m-%d{clock}"
    return _on_ticks(name, "date", ticks, missing, replace(grid, text=form))


def _encode_like(column: Column, series: Series, table: Table, notes: list[Reason]) -> Column:
    first = frames.column(table.frame, column.name)
    before, after = first.dtype, series.dtype
    if before != after and not (before.is_integer() and after.is_integer()):
        kinds = {"first": str(before), "second": str(after)}
        notes.append(Reason("kinds_differ", {"column": str(column.name), **kinds}))
    series = frames.in_zone_of(series, first)
    if isinstance(column, Levels):
        return _levels_like(column, _levels(column.name, series, column.kind))
    missing = frames.is_missing(series)
    if missing.all():
        return replace(column, values=np.full(len(series), np.nan))
    held = frames.holds(series)
    try:
        found = _numbers(
            column.name, series, held, missing, table.roles, forced=column.kind != "date"
        )
        if found is None or (column.kind == "date") != (found.kind == "date"):
            form = column.grid.text
            found = _date_text(column.name, series, missing, form, table.roles.pivot)
    except InputError as error:
        raise InputError(f"second table, {error}") from error
    unsigned = frames.is_wrapped(series)
    if (
        held == "whole"
        and column.kind == "integer"
        and 0 <= column.grid.origin < 2 ** (64 - (not unsigned))
    ):
        found = _on_ticks(
            column.name, "integer", frames.ticks(series), missing, column.grid, unsigned
        )
    if column.states is None and found.states is None:
        return replace(column, values=_regridded(found, column.grid))
    return _states_like(
        column, with_sentinels(found, column.states.labels if column.states else ())
    )


def _states_like(column: Numbers, found: Numbers) -> Numbers:
    """Values with the kinds of the first column, and after them those of the second alone."""
    known = column.states or States.of(())
    own = found.states.labels if found.states else ()
    states = known.extended(own)
    values = _regridded(replace(found, states=None), replace(column.grid, notation=None))
    new = np.array([0, *(states.labels.index(label) + 1 for label in own)])
    lost = np.isnan(found.values)
    values = np.where(lost, tagged(new[tags(found.values)]), values)
    return replace(column, values=values, states=states)


def _regridded(found: Numbers, grid: Grid) -> Floats:
    """Values of one grid in the units of another."""
    own = found.grid
    if own == grid:
        return found.values
    step, ratio = own.step or 1, grid.per_day / own.per_day
    # The origins are whole numbers, possibly beyond 2^53: their difference is taken first.
    shift = (
        float(own.origin * ratio - grid.origin) if ratio != 1 else float(own.origin - grid.origin)
    )
    return (found.values * step * ratio + shift) / (grid.step or 1)


def _levels_like(column: Levels, found: Levels) -> Levels:
    labels = _same_codes(_same_booleans(found.labels, column.labels), column.labels)
    known: dict[str | None, int] = {label: code for code, label in enumerate(column.labels)}
    new = np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int32)
    codes = _narrow(new[found.codes], len(known))
    return replace(column, codes=codes, labels=tuple(known), first=_first_rows(codes, len(known)))


BOOLEANS = (
    ("False", "True"),
    ("false", "true"),
    ("f", "t"),
    ("no", "yes"),
    ("n", "y"),
    ("non", "oui"),
    ("n", "o"),
    ("faux", "vrai"),
    ("0", "1"),
)
"""How tables write no and yes, in any case of letters."""


def _same_booleans(
    found: tuple[str | None, ...], wanted: tuple[str | None, ...]
) -> tuple[str | None, ...]:
    """The labels in the writing of the first table, where both are of two values: no and yes."""
    if {*found} <= {*wanted}:
        return found
    ours, theirs = _booleans(wanted), _booleans(found)
    if ours is None or theirs is None:
        return found
    words = {truth: label for label, truth in ours.items()}
    return tuple(None if label is None else words.get(theirs[label], label) for label in found)


def _booleans(labels: Sequence[str | None]) -> dict[str, bool] | None:
    """Whether each label says yes; None where they are of no one writing."""
    present = [label for label in labels if label is not None]
    for pair in BOOLEANS:
        truths = {word.lower(): bool(place) for place, word in enumerate(pair)}
        if present and all(label.lower() in truths for label in present):
            known = {label: truths[label.lower()] for label in present}
            return known if len({*known.values()}) == len(known) else None
    return None


def _same_codes(
    found: tuple[str | None, ...], wanted: tuple[str | None, ...]
) -> tuple[str | None, ...]:
    """Labels that lost their leading zeros, as the first table writes them: 1000 for 01000.

    Only where all codes of the first table have one length, some begin with 0, and the second
    has numbers that are shorter.
    """
    codes = [label for label in wanted if label is not None]
    present = [label for label in found if label is not None]
    lengths = {len(label) for label in codes}
    if len(lengths) != 1 or not all(map(str.isdecimal, [*codes, *present])):
        return found
    (length,) = lengths
    if not any(code[0] == "0" for code in codes) or any(label[0] == "0" for label in present):
        return found
    return tuple(None if label is None else label.zfill(length) for label in found)
