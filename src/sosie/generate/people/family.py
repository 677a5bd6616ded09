"""People and the tables of their rows, together: fitted once, then only drawn from."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.compute.threads import one_blas_thread
from sosie.data import frames, identifiers
from sosie.data.constraints import Order, Plan
from sosie.data.frames import Frame
from sosie.data.native import written
from sosie.data.table import Grid, Numbers, Roles, Table
from sosie.errors import InputError, quoted
from sosie.generate.exchangeable.streams import Stream, stream
from sosie.generate.methods.exchangeable import ExchangeableFitted, in_canonical_codes
from sosie.generate.people.children import ChildLaw, Drawn, Fitting, rate_of
from sosie.generate.people.reading import Child, Reading, times_of
from sosie.generate.people.sequences import Sequences, people_hashes
from sosie.generate.people.times import in_units_of
from sosie.generate.release import Release
from sosie.generate.settings import Settings
from sosie.latent.content import content_hashes

__all__ = ["Family", "FittedFamily", "within"]

Name = Hashable

PEOPLE = "people"
"""The name of the table of people in what a release gives."""

BLOCK = 2048
"""Avatars whose rows are drawn together: no result depends on threads or memory."""

PILOT = 20_000
"""Avatars of which the maps of the marginals are made: quantiles to a hundredth."""


@dataclass(frozen=True)
class Rows:
    """The rows of one table, as they were read and as the law sees them.

    Attributes
    ----------
    child : as read.
    frame : its columns, and the people's own beside them, from which some may be computed.
    plan : how constraints within a row are kept; None where there are none.
    table : encoded; its columns are those to be drawn.
    """

    child: Child
    frame: Frame
    plan: Plan | None
    table: Table

    @classmethod
    def of(
        cls, child: Child, people: Table, roles: Roles, k: int, found: bool, threads: int
    ) -> Rows:
        """Encode the rows, and find what holds within each.

        Raises
        ------
        InputError
            A column may identify somebody, or can't be used.
        """
        own = within(roles, child.columns)
        own = replace(own, numeric=(*own.numeric, *_time_as_number(child, own)))
        identifiers.check(_selected(child.frame, child.columns), own)
        joined, fixed = _joined(child, people)
        roles = replace(own, drop=tuple(n for n in own.drop if n in joined.columns))
        table = Table.of(joined, roles, threads=threads)
        times_of(table, child.time)
        stay = (child.time, *fixed, *_running(table, child))
        plan = Plan.of(table, k, found=True, fixed=stay) if found else None
        if plan is not None and (plan.steps or plan.linked):
            table = Table.of(plan.forward(), plan.roles(), threads=threads)
        drawn = [name for name in table.names if name not in fixed]
        return cls(child, joined, plan, in_canonical_codes(table.select(drawn)))

    @property
    def owner(self) -> Ints:
        """(N,) int64, the person of each row."""
        return self.child.owner


@dataclass(frozen=True)
class Family:
    """People's rows, before people are grouped.

    Attributes
    ----------
    reading : people and their rows as they were read.
    rows : of each table.
    end : an own column that no time exceeds; None where there is none.
    """

    reading: Reading
    rows: tuple[Rows, ...]
    end: Name | None

    @classmethod
    def of(
        cls, reading: Reading, people: Table, roles: Roles, k: int, found: bool, threads: int
    ) -> Family:
        """Encode the rows of all tables.

        Parameters
        ----------
        people : encoded.
        roles : of all columns of all tables.
        found : whether constraints are looked for.

        Raises
        ------
        InputError
            Columns or roles that can't be used here.
        """
        _check_roles(reading, roles)
        rows = tuple(Rows.of(child, people, roles, k, found, threads) for child in reading.children)
        end = reading.end
        if end is not None and end not in {column.name for column in people.numbers}:
            raise InputError(f"column {end!r} (--end) must be a date or a number, and take part")
        return cls(reading, rows, end if end is not None else _end_of(rows, people))

    @property
    def fixed(self) -> tuple[Name, ...]:
        """Own columns that rows are drawn with, and that are not restored from others."""
        return () if self.end is None else (self.end,)

    def fitted(self, people: Table, settings: Settings) -> tuple[Table, tuple[Fitting, ...]]:
        """People with what their rows tell of them, and the laws of the rows.

        Parameters
        ----------
        people : the own columns, as the method sees them.
        """
        hashes = [content_hashes(rows.table) for rows in self.rows]
        owners = [rows.owner for rows in self.rows]
        own = content_hashes(people) if people.columns else np.zeros(len(people), dtype=np.uint64)
        own = np.resize(own, len(self.reading.people)) if not people.columns else own
        rank = np.argsort(np.argsort(people_hashes(own, list(zip(hashes, owners, strict=True)))))
        columns, fittings = list(people.columns), []
        end = None if self.end is None else people.number(self.end)
        with one_blas_thread():
            for rows, of_rows in zip(self.rows, hashes, strict=True):
                time = rows.table.number(rows.child.time)
                key = rank[rows.owner]
                order = np.lexsort((of_rows, time.values, key))
                counts = np.bincount(rows.owner, minlength=len(rank))
                canonical = np.argsort(rank)
                made = Sequences.of_counts(counts[canonical])
                sequences = Sequences(made.bounds, canonical[made.people])
                fitting, told = Fitting.of(
                    rows.child.name,
                    rows.table,
                    rows.child.time,
                    order,
                    sequences,
                    len(rank),
                    None if end is None else in_units_of(end, time),
                    settings.k,
                    settings.min_level_count,
                )
                fittings.append(fitting)
                columns += [Numbers(n, "number", v, Grid()) for n, v in told.values.items()]
        _check_names(columns)
        return replace(people, columns=tuple(columns)), tuple(fittings)

    def grouped(
        self, fittings: Sequence[Fitting], people: ExchangeableFitted, threads: int
    ) -> FittedFamily:
        """The laws of the rows, of people who are grouped."""
        group_of_place = _groups(people)
        group = np.empty_like(group_of_place)
        group[people.order] = group_of_place
        laws = [fitting.grouped(group, len(people.groups.bounds) - 1) for fitting in fittings]
        made = FittedFamily(self, tuple(laws), people)
        return made.with_marginals(threads)


@dataclass(frozen=True)
class FittedFamily:
    """What rows are drawn from.

    Attributes
    ----------
    laws : of each table of rows.
    people : what people are drawn from.
    """

    family: Family
    laws: tuple[ChildLaw, ...]
    people: ExchangeableFitted

    def with_marginals(self, threads: int) -> FittedFamily:
        """The same with the maps of the marginals of the rows' numbers, from a pilot."""
        made = self.people.draw(
            0, 0, range(1), storage=self.people.table.storage, chunk=1, threads=threads
        )
        group = _groups(self.people)
        some = np.arange(min(len(group), PILOT)) * len(group) // min(len(group), PILOT)
        values: dict[Name, Floats] = {
            name: np.asarray(made.values[i][some])
            for i, name in enumerate(self.people.layout.numbers)
        }
        with one_blas_thread():
            laws = tuple(
                law.with_marginals(
                    values,
                    group[some],
                    self._end(values, law),
                    stream(0, 0, 0, 0, Stream.PILOT_ROWS, i),
                )
                for i, law in enumerate(self.laws)
            )
        return replace(self, laws=laws)

    def _end(self, values: dict[Name, Floats], law: ChildLaw) -> Floats | None:
        if self.family.end is None:
            return None
        column = self.people.table.number(self.family.end)
        return in_units_of(replace(column, values=values[self.family.end]), law.times.column)

    def draw(self, release: Release, seed: int, number: int) -> tuple[Drawn, ...]:
        """The rows of a release of people, by place.

        Parameters
        ----------
        release : of people.
        seed, number : the seed, and which release.
        """
        made, group = release.made, _groups(self.people)
        values = dict(zip(self.people.layout.numbers, made.values, strict=True))
        drawn = []
        with one_blas_thread():
            for i, law in enumerate(self.laws):

                def rng_of(block: int, i: int = i) -> np.random.Generator:
                    return stream(seed, number, 0, block, Stream.ROWS, i)

                drawn.append(law.draw(values, group, self._end(values, law), rng_of, BLOCK))
        return tuple(drawn)

    def frames(self, release: Release, people: object, drawn: Sequence[Drawn], seed: int) -> Any:
        """Tables of the kinds that were read: a dictionary, or the lone table.

        Parameters
        ----------
        people : the native table of people that `release` gave.
        drawn : rows by place, see `draw`.
        seed : of the order of surrogates, and of the few levels that are drawn again.
        """
        own = frames.wrap(people)
        reading = self.family.reading
        tables = {
            rows.child.name: self._frame(rows, release.places, own, some, seed)
            for rows, some in zip(self.family.rows, drawn, strict=True)
        }
        if not reading.alone:
            return {PEOPLE: people, **tables}
        (only,) = tables.values()
        return only

    def _frame(self, rows: Rows, places: Ints, people: Frame, drawn: Drawn, seed: int) -> Any:
        at, owner = _in_order(drawn.sequences, places)
        child, reading = rows.child, self.family.reading
        native: dict[Name, Any] = {}
        for column in drawn.columns:
            own = _taken(column, at)
            native[own.name] = written(own, frames.column(rows.table.frame, own.name))
        for name in people.columns:
            if name in rows.frame.columns:
                native[name] = frames.take(frames.column(people, name), owner)
        made = frames.assemble(rows.table.frame, native)
        if rows.plan is not None and rows.plan.steps:
            made = rows.plan.backward(made, seed)
        made = frames.wrap(made)
        native = {}
        for name in child.frame.columns:
            if name == reading.person or (reading.alone and name in people.columns):
                native[name] = frames.take(frames.column(people, name), owner)
            elif name in rows.table.roles.id:
                numbers = np.random.default_rng(seed).permutation(len(at))
                native[name] = frames.surrogates(frames.column(child.frame, name), numbers)
            elif name in made.columns:
                native[name] = frames.column(made, name).to_native()
        return frames.assemble(child.frame, native)


def within(roles: Roles, names: Collection[Name]) -> Roles:
    """What is said of some columns.

    >>> within(Roles(drop=("a", "b")), ["b", "c"]).drop
    ('b',)
    """

    def some(given: Sequence[Name]) -> tuple[Name, ...]:
        return tuple(name for name in given if name in names)

    return replace(
        roles,
        keep=some(roles.keep),
        keep_anyway=some(roles.keep_anyway),
        drop=some(roles.drop),
        id=some(roles.id),
        categorical=some(roles.categorical),
        numeric=some(roles.numeric),
        date={name: form for name, form in roles.date.items() if name in names},
        linked=tuple(group for group in roles.linked if all(name in names for name in group)),
        weights={name: weight for name, weight in roles.weights.items() if name in names},
        coarsen={name: length for name, length in roles.coarsen.items() if name in names},
    )


def _check_roles(reading: Reading, roles: Roles) -> None:
    own = {*reading.people.columns}
    every = [*reading.people.columns, *(n for c in reading.children for n in c.columns)]
    roles.check(list(dict.fromkeys(every)))
    of_rows = {name for child in reading.children for name in child.columns} - own
    for asked, what in ((roles.keep, "--keep"), (roles.weights, "--weight")):
        outside = [name for name in asked if name in of_rows]
        if outside:
            raise InputError(
                f"column {outside[0]!r} ({what}) is of people's rows: only people's own columns"
                " can be kept or weighted"
            )
    for group in roles.linked:
        inside = [name in of_rows for name in group]
        if any(inside) and not all(inside):
            raise InputError(
                f"linked columns {quoted(group)} are of people and of their rows; link columns of"
                " one table"
            )
    names = [child.name for child in reading.children]
    if PEOPLE in names:
        raise InputError(f"a table of rows can't be called {PEOPLE!r}: name it otherwise")


def _check_names(columns: Sequence[Any]) -> None:
    names = [column.name for column in columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"column {twice[0]!r}: a person is told something of this name; rename it")


def _running(table: Table, child: Child) -> list[Name]:
    """Numbers that run with time: they are computed from it, and from nothing else."""
    times = table.number(child.time).values
    order = np.lexsort((times, child.owner))
    sequences = Sequences.of_counts(np.bincount(child.owner))
    others = [column for column in table.numbers if column.name != child.time]
    return [
        column.name
        for column in others
        if rate_of(column, column.values[order], times[order], sequences) is not None
    ]


def _time_as_number(child: Child, roles: Roles) -> tuple[Name, ...]:
    """The time is a number, however few values it has, where it is no date."""
    held = frames.holds(frames.column(child.frame, child.time))
    said = child.time in (*roles.numeric, *roles.categorical, *roles.date)
    return (child.time,) if held in ("whole", "real") and not said else ()


def _selected(frame: Frame, names: Collection[Name]) -> Any:
    columns = {n: frames.column(frame, n).to_native() for n in frame.columns if n in names}
    return frames.assemble(frame, columns)


def _joined(child: Child, people: Table) -> tuple[Frame, tuple[Name, ...]]:
    """The rows' columns with the people's own beside them, and which these are."""
    own = [name for name in people.names if name not in child.columns]
    columns = {name: frames.column(child.frame, name).to_native() for name in child.columns}
    alike = type(frames.wrap(child.frame).to_native()) is type(people.frame.to_native())
    if not alike:
        return frames.wrap(frames.assemble(child.frame, columns)), ()
    for name in own:
        if name in child.frame.columns:
            columns[name] = frames.column(child.frame, name).to_native()
    fixed = tuple(name for name in own if name in columns)
    return frames.wrap(frames.assemble(child.frame, columns)), fixed


def _end_of(rows: Sequence[Rows], people: Table) -> Name | None:
    """The own column above the times of every table, where orders were found that say so."""
    numbers = {column.name for column in people.numbers}
    found: list[Name] = []
    for own in rows:
        for constraint in () if own.plan is None else own.plan.constraints:
            rule = constraint.rule
            if isinstance(rule, Order) and rule.low == own.child.time and rule.high in numbers:
                found.append(rule.high)
    ends = [name for name in dict.fromkeys(found) if found.count(name) == len(rows)]
    return ends[0] if len(ends) == 1 else None


def _groups(people: ExchangeableFitted) -> Ints:
    """The group of each place, ``(n,) int64``."""
    bounds = people.groups.bounds
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def _in_order(sequences: Sequences, places: Ints) -> tuple[Ints, Ints]:
    """Rows in the order of a release of people, and the avatar of each."""
    number = np.full(len(places), -1, dtype=np.int64)
    number[sequences.people] = np.arange(len(sequences))
    own = number[places]
    counts = np.where(own >= 0, sequences.counts[np.maximum(own, 0)], 0)
    owner = np.repeat(np.arange(len(places)), counts)
    ends = np.cumsum(counts)
    inside = np.arange(len(owner)) - np.repeat(ends - counts, counts)
    return sequences.bounds[:-1][own[owner]] + inside, owner


def _taken(column: Any, rows: Ints) -> Any:
    if isinstance(column, Numbers):
        return replace(column, values=column.values[rows])
    return replace(column, codes=column.codes[rows])
