"""A study's columns as arrays, coded alike for originals and avatars.

The coding comes from the originals: which columns are numbers, which levels there are, and that
the first level by value is the one that others are compared with. Rows that lack a value in any
column of the study are left out (complete cases), in both tables.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.table import Column, Levels, Numbers, Table
from sosie.errors import InputError
from sosie.studies.grammar import Study

__all__ = ["Coding", "Factor", "Sample", "Term", "number_of"]

Name = Hashable


class Factor(NamedTuple):
    """One column of a term, at one of its levels where it has levels."""

    column: Name
    level: str | None = None


@dataclass(frozen=True)
class Term:
    """One coefficient: a product of columns.

    Examples
    --------
    >>> Term((Factor("arms", "2"), Factor("age"))).label
    'arms[2]:age'
    """

    factors: tuple[Factor, ...]

    @property
    def label(self) -> str:
        """How tables write it."""
        return ":".join(f"{c}" if level is None else f"{c}[{level}]" for c, level in self.factors)


@dataclass(frozen=True)
class Sample:
    """The complete rows of one table.

    Attributes
    ----------
    outcome : (n,) float64; where the outcome has levels, the place of each.
    event : (n,) float64, or None.
    values : column -> (n,) float64 numbers, or (n,) int64 places of levels.
    rows, dropped : complete rows, and rows left out.
    """

    outcome: Floats
    event: Floats | None
    values: Mapping[Name, Floats | Ints]
    rows: int
    dropped: int


@dataclass(frozen=True)
class Coding:
    """How a study's columns become arrays.

    Attributes
    ----------
    study : with the table's own names.
    outcomes : levels of the outcome, first by value, or () where it is a number.
    levels : column of a term -> its levels among complete originals, first by value; a column
        that is not here is a number.
    """

    study: Study
    outcomes: tuple[str, ...]
    levels: Mapping[Name, tuple[str, ...]]

    @classmethod
    def of(cls, study: Study, table: Table) -> Coding:
        """The coding of a study that the originals ask for.

        Raises
        ------
        InputError
            A column that the table lacks, a mean of a category, groups by a number, an event
            that is not 0 or 1, times below 0.
        """
        study = study.of(table.names)
        outcomes = _outcomes(study, table.column(study.outcome))
        _check_event(study, table)
        factors = list(dict.fromkeys(name for term in study.terms for name in term))
        named = {name: table.column(name) for name in factors}
        grouped = study.model in ("mean", "share", "odds")
        for name, column in named.items():
            if grouped and isinstance(column, Numbers):
                raise InputError(
                    f"analysis {study.text!r}: column {name!r} has too many values for groups; "
                    "declare it with --categorical, or group by another"
                )
        every = {n: _ordered(c.labels) for n, c in named.items() if isinstance(c, Levels)}
        whole = cls(study, outcomes, every)
        # Levels that no complete row holds would be columns of zeros.
        sample = whole.sample(table)
        held = {
            name: tuple(
                level
                for level, count in zip(
                    levels, np.bincount(sample.values[name], minlength=len(levels)), strict=True
                )
                if count
            )
            for name, levels in every.items()
        }
        return cls(study, outcomes, held)

    @property
    def two_valued(self) -> bool:
        """Whether the outcome has two values."""
        return len(self.outcomes) == 2

    def sample(self, table: Table) -> Sample:
        """The complete rows of a table; a level that the originals lack counts as missing."""
        study = self.study
        outcome = table.column(study.outcome)
        target = _places(outcome, self.outcomes) if self.outcomes else number_of(outcome)
        complete = _present(target)
        event = None
        if study.event is not None:
            event = _places(table.column(study.event), _EVENTS[_marks(table.column(study.event))])
            complete &= _present(event)
        values: dict[Name, Floats | Ints] = {}
        for name in dict.fromkeys(name for term in study.terms for name in term):
            column = table.column(name)
            levels = self.levels.get(name)
            values[name] = number_of(column) if levels is None else _places(column, levels)
            complete &= _present(values[name])
        rows = int(complete.sum())
        return Sample(
            np.asarray(target[complete], dtype=np.float64),
            None if event is None else np.asarray(event[complete], dtype=np.float64),
            {name: value[complete] for name, value in values.items()},
            rows,
            len(complete) - rows,
        )

    def terms(self) -> tuple[Term, ...]:
        """The coefficients, in the order of the text; a category leaves out its first level."""
        terms: list[Term] = []
        for names in self.study.terms:
            parts: list[list[Factor]] = [[]]
            for name in names:
                levels = self.levels.get(name)
                coded: Sequence[str | None] = [None] if levels is None else levels[1:]
                parts = [[*part, Factor(name, level)] for part in parts for level in coded]
            terms += [Term(tuple(part)) for part in parts]
        return tuple(terms)

    def size(self) -> int:
        """The number of coefficients, without listing them."""
        return sum(
            math.prod(len(self.levels.get(name, ("", ""))) - 1 for name in term)
            for term in self.study.terms
        )

    def matrix(self, sample: Sample, terms: Sequence[Term]) -> Floats:
        """One column for each term, ``(n, p) float64``."""
        X = np.ones((sample.rows, len(terms)))
        for place, term in enumerate(terms):
            for column, level in term.factors:
                value = sample.values[column]
                X[:, place] *= value if level is None else value == self.levels[column].index(level)
        return X

    def patterns(self, sample: Sample) -> Ints | None:
        """Which combination of levels each row has; None where a number takes part."""
        if any(name not in self.levels for term in self.study.terms for name in term):
            return None
        code = np.zeros(sample.rows, dtype=np.int64)
        for name, levels in self.levels.items():
            _, code = np.unique(code * len(levels) + sample.values[name], return_inverse=True)
        return code


_EVENTS: Mapping[str, tuple[str, ...]] = {"number": ("0", "1"), "boolean": ("False", "True")}


def _marks(column: Column) -> str:
    """How an event is written: 0 and 1, or False and True."""
    words = isinstance(column, Levels) and {*column.labels} & {*_EVENTS["boolean"]}
    return "boolean" if words else "number"


def _outcomes(study: Study, column: Column) -> tuple[str, ...]:
    """The levels of the outcome; () where it is a number."""
    wrong = f"analysis {study.text!r}: column {column.name!r}"
    labels = _ordered(column.labels) if isinstance(column, Levels) else _two(column)
    if study.model == "share":
        if not labels:
            raise InputError(f"{wrong} is a number; ask for its mean, or declare --categorical")
        return labels
    if study.model == "odds" and len(labels) > 2:
        raise InputError(f"{wrong} has {len(labels)} values; odds need an outcome of two")
    if study.model == "odds" and not labels:
        raise InputError(f"{wrong} is a number; odds need an outcome of two values")
    if study.model == "odds" or (study.model == "regression" and len(labels) in (1, 2)):
        return labels
    if isinstance(column, Levels):
        try:
            [_number(label) for label in labels]
        except ValueError as error:
            raise InputError(f"{wrong} is not a number") from error
    if study.model == "survival" and (number_of(column) < 0).any():
        raise InputError(f"{wrong} has times below 0")
    return ()


def _check_event(study: Study, table: Table) -> None:
    if study.event is None:
        return
    column = table.column(study.event)
    labels = column.labels if isinstance(column, Levels) else ("a number",)
    if not {*labels} - {None} <= {*_EVENTS[_marks(column)]}:
        raise InputError(
            f"analysis {study.text!r}: event column {study.event!r} holds other values than "
            "0 and 1; write 1 where the time ends with the event, else 0"
        )


def _two(column: Numbers) -> tuple[str, ...]:
    """The two values of a number, as labels; () where it has more."""
    present = column.values[~column.missing]
    distinct = np.unique(present[:1000])
    if len(distinct) > 2 or len(np.unique(present)) > 2:
        return ()
    return tuple(repr(value) for value in np.unique(present).tolist())


def _number(label: str) -> float:
    """A label as a number, True being 1.

    >>> _number("True"), _number("1.5")
    (1.0, 1.5)
    """
    return float({"False": "0", "True": "1"}.get(label, label))


def _ordered(labels: Sequence[str | None]) -> tuple[str, ...]:
    """Levels by value: numbers by size, texts by code point; missing left out.

    >>> _ordered(["10", "9", None]), _ordered(["b", "10", "9"])
    (('9', '10'), ('10', '9', 'b'))
    """
    known = [label for label in labels if label is not None]
    try:
        return tuple(sorted(known, key=_number))
    except ValueError:
        return tuple(sorted(known))


def number_of(column: Column) -> Floats:
    """A column as numbers, ``(n,) float64``, NaN where missing or not a number.

    Dates are days from the earliest; categories whose levels are numbers are those numbers.
    """
    if isinstance(column, Numbers):
        grid = column.grid
        if column.kind == "date":
            return column.values * (grid.step / grid.per_day)
        return column.values * grid.step + grid.origin if grid.step else column.values
    numbers = np.full(len(column.labels), np.nan)
    for code, label in enumerate(column.labels):
        try:
            numbers[code] = math.nan if label is None else _number(label)
        except ValueError:
            continue
    return np.asarray(numbers[column.codes])


def _places(column: Column, levels: Sequence[str]) -> Ints:
    """The place of each row's level, -1 where it is missing or not among them."""
    if isinstance(column, Numbers):
        known = np.array([_number(level) for level in levels])
        places = np.searchsorted(known, column.values).clip(0, max(len(known) - 1, 0))
        hit = known[places] == column.values if len(known) else np.zeros(len(places), dtype=bool)
        return np.where(hit, places, -1)
    place = {level: i for i, level in enumerate(levels)}
    table = np.array([-1 if lab is None else place.get(lab, -1) for lab in column.labels])
    return np.asarray(table[column.codes], dtype=np.int64)


def _present(values: Floats | Ints) -> Mask:
    return ~np.isnan(values) if values.dtype.kind == "f" else np.asarray(values >= 0)
