"""Whose a row is, what is a person's own, and what tells the time: checked before anything else."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.compute.arrays import Ints, Mask
from sosie.data import frames
from sosie.data.frames import Frame
from sosie.data.table import Numbers, Roles, Table, label_of
from sosie.errors import InputError, SosieWarning, quoted

__all__ = ["Child", "Reading", "reading"]

Name = Hashable

ALONE = "rows"
"""The name of the rows of a lone long table."""

LARGE_SHARE = 0.5
"""Of all rows: a person who has so many shows by the size of the release."""


@dataclass(frozen=True)
class Child:
    """The rows of one table.

    Attributes
    ----------
    name : of the table.
    frame : the rows, with the person's column first read away by its role.
    owner : (N,) int64, whose each row is: a row of the table of people.
    time : the column that tells when.
    columns : those that are the rows' own, in order; neither the person nor what is a person's own.
    """

    name: str
    frame: Frame
    owner: Ints
    time: Name
    columns: tuple[Name, ...]


@dataclass(frozen=True)
class Reading:
    """A table of people and the tables of their rows.

    Attributes
    ----------
    people : one row a person.
    person : the column that tells people apart, in every table.
    children : in order.
    end : an own column that no time exceeds; None where there is none.
    alone : whether there is one long table only, from which `people` was taken.
    """

    people: Frame
    person: Name
    children: tuple[Child, ...]
    end: Name | None
    alone: bool


def reading(
    data: object,
    children: Mapping[str, object] | None,
    person: Name,
    time: Name | Mapping[str, Name] | None,
    end: Name | None,
    roles: Roles,
) -> Reading:
    """Read people and their rows.

    Parameters
    ----------
    data : one row a person, or where there are no children, several rows a person.
    time : the column that tells when a row was; of several tables, by their names.

    Raises
    ------
    InputError
        A column is missing, a row is nobody's, a person is there twice, a time is missing, or
        several columns could tell the time.
    """
    whole = frames.wrap(data)
    _check_column(whole, person, "the table")
    if not children:
        return _long(whole, person, time, end, roles)
    owners, keys = _owners(whole, person)
    twice = np.flatnonzero(np.bincount(owners, minlength=len(whole)) > 1)
    if len(twice):
        rows = np.flatnonzero(owners == twice[0]) + 1
        raise InputError(
            f"column {person!r}: rows {rows[0]} and {rows[1]} of the table of people have the same"
            f" value ({len(twice):,} people are there more than once); keep one row a person"
        )
    if end is not None:
        _check_column(whole, end, "the table of people")
    found = [
        _child(name, frames.wrap(rows), whole, keys, person, time, roles)
        for name, rows in children.items()
    ]
    return Reading(whole, person, tuple(found), end, alone=False)


def _child(
    name: str,
    frame: Frame,
    people: Frame,
    keys: Mapping[str, int],
    person: Name,
    time: Name | Mapping[str, Name] | None,
    roles: Roles,
) -> Child:
    where = f"table {name!r}"
    _check_column(frame, person, where)
    dtypes = [frames.column(table, person).dtype for table in (people, frame)]
    if dtypes[0] != dtypes[1]:
        raise InputError(
            f"column {person!r} is {dtypes[0]} in the table of people and {dtypes[1]} in {where};"
            " make them of one type"
        )
    codes, labels = _owners(frame, person)
    own = np.array([keys.get(label, -1) for label in labels], dtype=np.int64)
    owner = own[codes]
    unknown = np.flatnonzero(owner < 0)
    if len(unknown):
        raise InputError(
            f"{where}, row {unknown[0] + 1}: its {person!r} is nobody's in the table of people"
            f" ({len(unknown):,} rows of {int((own < 0).sum()):,} people); add these people, or"
            " leave their rows out"
        )
    _note_large(name, owner)
    chosen = time.get(name) if isinstance(time, Mapping) else time
    if chosen is not None and not isinstance(time, Mapping) and chosen not in frame.columns:
        chosen = None
    columns = tuple(column for column in frame.columns if column != person)
    return Child(name, frame, owner, _time(frame, owner, chosen, columns, roles, where), columns)


def _long(
    whole: Frame,
    person: Name,
    time: Name | Mapping[str, Name] | None,
    end: Name | None,
    roles: Roles,
) -> Reading:
    """Columns that never vary within anybody are people's own, the others are the rows'."""
    chosen = time.get(ALONE) if isinstance(time, Mapping) else time
    owner, keys = _owners(whole, person)
    _note_large(ALONE, owner)
    first = np.full(len(keys), len(whole), dtype=np.int64)
    np.minimum.at(first, owner, np.arange(len(whole)))
    own = [
        name
        for name in whole.columns
        if name not in (person, chosen) and _is_own(whole, name, owner, first)
    ]
    if end is not None and end not in own:
        _check_column(whole, end, "the table")
        raise InputError(f"column {end!r} (--end) varies within a person; it must be their own")
    columns = tuple(name for name in whole.columns if name not in (person, *own))
    if not columns:
        raise InputError(
            f"no column varies within a value of {person!r}: these are rows of people, one each;"
            " leave --person out"
        )
    when = _time(whole, owner, chosen, columns, roles, "the table")
    people = frames.assemble(
        whole, {name: frames.take(frames.column(whole, name), first) for name in (person, *own)}
    )
    child = Child(ALONE, whole, owner, when, columns)
    return Reading(frames.wrap(people), person, (child,), end, alone=True)


def _check_column(frame: Frame, name: Name, where: str) -> None:
    if name not in frame.columns:
        raise InputError(f"{where} has no column {name!r}; it has {quoted(frame.columns)}")


def _owners(frame: Frame, person: Name) -> tuple[Ints, dict[str, int]]:
    """The number of each row's person, and the numbers by what tells people apart."""
    series = frames.column(frame, person)
    codes, first = frames.factorize(series)
    lost = np.flatnonzero(codes < 0)
    if len(lost):
        raise InputError(
            f"column {person!r} is missing in row {lost[0] + 1} ({len(lost):,} rows): fill it, or"
            " leave these rows out"
        )
    labels = [label_of(value) for value in frames.objects_at(series, first)]
    return codes.astype(np.int64), {label: number for number, label in enumerate(labels)}


def _note_large(name: str, owner: Ints) -> None:
    if not len(owner):
        raise InputError(f"table {name!r} has no rows")
    largest = int(np.bincount(owner).max())
    if largest >= LARGE_SHARE * len(owner) and owner.max() > 0:
        warnings.warn(
            f"one person has {largest:,} of the {len(owner):,} rows of {name!r}: their avatar can't"
            " be told from others of its group, but that somebody has so many rows shows",
            SosieWarning,
            stacklevel=5,
        )


def _is_own(frame: Frame, name: Name, owner: Ints, first: Ints) -> bool:
    codes, _ = frames.factorize(frames.column(frame, name))
    return bool((codes == codes[first[owner]]).all())


# ---------------------------------------------------------------- what tells the time


def _time(
    frame: Frame,
    owner: Ints,
    chosen: Name | None,
    columns: Sequence[Name],
    roles: Roles,
    where: str,
) -> Name:
    """The column that is said, else the only date, else the only number that rises."""
    if chosen is not None:
        _check_column(frame, chosen, where)
        if chosen not in columns:
            raise InputError(f"column {chosen!r} (--time) is a person's own, and tells no time")
        _check_times(frame, chosen, where)
        return chosen
    candidates = [name for name in columns if name not in (*roles.drop, *roles.id, *roles.keep)]
    dates = [name for name in candidates if _is_date(frame, name, roles)]
    rising = dates or [name for name in candidates if _rises(frame, name, owner)]
    if len(rising) == 1:
        _check_times(frame, rising[0], where)
        return rising[0]
    if rising:
        raise InputError(
            f"{where}: several columns could tell the time: {quoted(rising)}; say which (--time)"
        )
    raise InputError(
        f"{where}: no column tells the time: there is no date, and no number that rises within"
        " every person; name one (--time COL)"
    )


def _is_date(frame: Frame, name: Name, roles: Roles) -> bool:
    return name in roles.date or frames.holds(frames.column(frame, name)) == "moment"


def _values(frame: Frame, name: Name) -> Any:
    series = frames.column(frame, name)
    if frames.holds(series) not in ("whole", "real"):
        return None
    return frames.floats(series)


def _rises(frame: Frame, name: Name, owner: Ints) -> bool:
    """Whether a number rises from row to row within every person."""
    values = _values(frame, name)
    if values is None or np.isnan(values).any():
        return False
    order = np.argsort(owner, kind="stable")
    within: Mask = np.diff(owner[order]) == 0
    steps = np.diff(values[order])[within]
    return bool(len(steps) and (steps > 0).all())


def _check_times(frame: Frame, name: Name, where: str) -> None:
    lost = np.flatnonzero(frames.is_missing(frames.column(frame, name)))
    if len(lost):
        raise InputError(
            f"{where}, column {name!r}: the time is missing in row {lost[0] + 1} ({len(lost):,}"
            " rows); fill it, or leave these rows out"
        )


def times_of(table: Table, name: Name) -> Numbers:
    """The column that tells the time, as numbers."""
    column = table.column(name)
    if not isinstance(column, Numbers) or column.missing.any():
        raise InputError(
            f"column {name!r} (--time) is read as a category; declare its dates (--date"
            f" {name}=FORMAT), or name another"
        )
    return column
