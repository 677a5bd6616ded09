"""Avatarizer: a table in, avatars out."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from sosie.compute.arrays import Ints
from sosie.compute.randomness import BLOCK, Purpose, fresh_seed, generator, keys
from sosie.compute.storage import MEMORY, Storage
from sosie.data import frames, identifiers
from sosie.data.coarsening import levels_as_one
from sosie.data.constraints import MOST_COLUMNS, Constraint, Plan
from sosie.data.frames import Columns
from sosie.data.remote import engine_of
from sosie.data.table import Levels, Roles, Table
from sosie.errors import InputError, Reason, SosieError
from sosie.generate.gathered import Gathered
from sosie.generate.guarantee import Guarantee
from sosie.generate.methods import Fitted, method_of, settings_of
from sosie.generate.methods.exchangeable import Exchangeable
from sosie.generate.notices import Notice, levels_lost, shares_moved
from sosie.generate.options import check_mapping, check_names, check_whole
from sosie.generate.people import Family, FittedFamily, reading, within
from sosie.generate.release import Release
from sosie.generate.secrets import Secrets, TableKey, table_fingerprint
from sosie.generate.settings import DEFAULT
from sosie.latent.content import content_hashes
from sosie.words.readings import warning_of

__all__ = ["Avatarizer", "coded_like"]

_NONE = np.empty(0, dtype=np.int64)

CHANGED = Reason("key_of_another_table")


class Avatarizer:
    """Draws avatars of the people of a table, by one of the methods.

    Parameters
    ----------
    k, components, method, decode, min_level_count, augment :
        See `sosie.generate.settings.Settings`; None takes the method's default.
    seed :
        A secret. None takes one from the operating system. Whoever holds the seed, the key and
        the originals can make the avatars again.
    key :
        A secret of the table, that of a former release of it (a number, or what
        `sosie.generate.secrets.read_key` finds in its private folder: then a table that has
        changed is noticed). None derives it from a given seed, or takes a fresh one. Only methods
        with a guarantee have a use for it.
    keep, keep_anyway, drop, id, categorical, numeric, date, linked, weights :
        See `sosie.data.table.Roles`; a column named in `keep_anyway` is kept too.
    na, pivot, coarsen :
        See `sosie.data.table.Roles`.
    rare_as :
        Written instead of levels of text that fewer than `min_level_count` people hold.
    constraints :
        Whether what holds between columns of every row is found and kept by construction.
    order, derive :
        What holds, said outright: ``"admission <= discharge"``, ``"margin = price - cost"``.
    rows_are_people :
        Go on where a number of the person tells that rows are not people.
    threads :
        -1 for all. No result depends on it.
    chunk :
        Rows worked on at a time. No result depends on it.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": list(range(20, 60)) * 2, "sex": ["F", "M"] * 40})
    >>> avatarizer = Avatarizer(k=5, seed=1).fit(people)
    >>> avatarizer.release().columns, len(avatarizer.release())
    (['age', 'sex'], 80)

    Notes
    -----
    Source: Guillaudeux et al., npj Digital Medicine 6:37 (2023).
    """

    def __init__(
        self,
        k: int | None = None,
        components: int | None = None,
        *,
        method: str = DEFAULT,
        decode: str | None = None,
        seed: int | None = None,
        key: int | TableKey | None = None,
        min_level_count: int | None = None,
        augment: int = 1,
        keep: Sequence[Hashable] = (),
        keep_anyway: Sequence[Hashable] = (),
        drop: Sequence[Hashable] = (),
        id: Sequence[Hashable] = (),  # noqa: A002 (the name of the option)
        categorical: Sequence[Hashable] = (),
        numeric: Sequence[Hashable] = (),
        date: Mapping[Hashable, str | None] | None = None,
        linked: Sequence[Sequence[Hashable]] = (),
        weights: Mapping[Hashable, float] | None = None,
        na: Sequence[str] = (),
        pivot: int | None = None,
        coarsen: Mapping[Hashable, int] | None = None,
        rare_as: str | None = None,
        constraints: bool = True,
        order: Sequence[str] = (),
        derive: Sequence[str] = (),
        rows_are_people: bool = False,
        threads: int = -1,
        chunk: int = BLOCK,
    ) -> None:
        self.settings = settings_of(k, components, method, decode, min_level_count, augment)
        self.roles = Roles(
            keep=(*_names(keep), *_names(keep_anyway)),
            keep_anyway=_names(keep_anyway),
            drop=_names(drop),
            id=_names(id),
            categorical=_names(categorical),
            numeric=_names(numeric),
            date=check_mapping("date", date, "{'born': '%d/%m/%Y'}"),
            linked=tuple(tuple(group) for group in linked),
            weights=check_mapping("weights", weights, "{'age': 2.0}"),
            na=check_names("na", na),
            pivot=None if pivot is None else check_whole("pivot", pivot),
            coarsen={
                name: check_whole(f"coarsen of column {name!r}", length, 1)
                for name, length in check_mapping("coarsen", coarsen, "{'postcode': 2}").items()
            },
        )
        self.rare_as = rare_as
        if seed is not None:
            check_whole("the seed", seed)
        self.constraints, self.rows_are_people = constraints, rows_are_people
        self.order, self.derive = check_names("order", order), check_names("derive", derive)
        self._table_key = key if isinstance(key, TableKey) else None
        self._secrets = Secrets.of(seed, key.key if isinstance(key, TableKey) else key)
        # The published order has entropy of its own; it is repeatable only with a given seed.
        self._order_seed = fresh_seed() if seed is None else seed
        self.threads = (os.cpu_count() or 1) if threads < 1 else threads
        self.chunk = chunk
        self._fitted: Fitted | None = None
        self._originals: Table | None = None
        self._plan: Plan | None = None
        self._known: tuple[Constraint, ...] | None = None
        self._checked = False
        self._repeated: identifiers.Suspect | None = None
        self._remote: Any = None
        self._family: FittedFamily | None = None

    @property
    def secrets(self) -> Secrets:
        """The key of the table and the seed in use; neither is for anyone else."""
        return self._secrets

    def fingerprint(self) -> str:
        """What tells the fitted table to those who hold its key, and nothing to others."""
        table = self.originals if self._family is None else self.table
        hashes = [content_hashes(table)]
        return table_fingerprint(self._secrets.key, table.names, hashes)

    @property
    def fitted(self) -> Fitted:
        """What releases are drawn from; raises SosieError before `fit`."""
        if self._fitted is None:
            raise SosieError("fit the avatarizer to a table first")
        return self._fitted

    @property
    def table(self) -> Table:
        """The people as the method sees them: without columns that others give."""
        return self.fitted.table

    @property
    def originals(self) -> Table:
        """The people as they were read; raises SosieError before `fit`."""
        if self._originals is None:
            raise SosieError("fit the avatarizer to a table first")
        return self._originals

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """What deserves a look: what avatars lose or change, column by column."""
        told = [] if self._originals is None else [*levels_lost(self._originals, self._least)]
        if self._repeated is not None:
            one = self._repeated
            told.append(Notice("rows_not_people", one.column, one.distinct, {"rows": one.present}))
        if self.constraints and self._plan is None and self._is_fitted:
            told.append(Notice("constraints_not_kept"))
        if self.constraints and self._plan and len(self.originals.columns) > MOST_COLUMNS:
            told.append(Notice("constraints_of_many_columns", values={"most": MOST_COLUMNS}))
        told += [] if self._plan is None else self._contradicted(self._plan)
        lost = {notice.column for notice in told}
        if self._originals is not None and self._originals.storage is MEMORY:
            moved = shares_moved(self._originals, self.aligned())
            told += [notice for notice in moved if notice.column not in lost]
        return tuple(told)

    def _contradicted(self, plan: Plan) -> list[Notice]:
        """What was said to hold, and does not hold for everyone."""
        said = [constraint for constraint in plan.constraints if not constraint.found]
        counts = [(one.text, int(one.broken(self.originals).sum())) for one in said]
        return [Notice("said_not_held", None, n, {"text": text}) for text, n in counts if n]

    @property
    def _least(self) -> int:
        return self.settings.min_level_count

    @property
    def _is_fitted(self) -> bool:
        return self._fitted is not None or self._remote is not None

    @property
    def plan(self) -> Plan | None:
        """What holds between the columns and how it is kept; None where it was not looked for."""
        return self._plan

    @property
    def times(self) -> dict[str, Hashable]:
        """The column that tells when, of each table of people's rows; none without any."""
        rows = () if self._family is None else self._family.family.rows
        return {own.child.name: own.child.time for own in rows}

    def row_plans(self) -> dict[str, Plan]:
        """What holds within each row, of each table of people's rows; none without any."""
        rows = () if self._family is None else self._family.family.rows
        return {own.child.name: own.plan for own in rows if own.plan is not None}

    @property
    def guarantee(self) -> Guarantee:
        """What holds for the avatars of this table, or why nothing does."""
        made = self.fitted if self._remote is None else self._remote
        guarantee = made.guarantee.kept_outside(self.roles.keep_anyway)
        several = self._repeated
        if several is None:
            return guarantee
        return guarantee.rows_not_people(several.column, several.present, several.distinct)

    def fit(
        self,
        data: object,
        *,
        engine: Any = None,
        person: Hashable | None = None,
        children: Mapping[str, object] | None = None,
        time: Hashable | Mapping[str, Hashable] | None = None,
        end: Hashable | None = None,
    ) -> Self:
        """Fit the method to a table; the input is not changed.

        Parameters
        ----------
        data : a pandas, polars or pyarrow table, one row a person; or a `Table`; or a Dask
            dataframe, whose releases are Dask dataframes too. With `person` and without
            `children`, several rows a person.
        engine : the package that works on the table where it is (see `sosie.data.remote`); by
            default the one for the kind of `data`, if there is any.
        person : the column that tells people apart, where they have several rows; it is replaced
            by a surrogate, the same in all tables.
        children : tables of people's rows, by name, beside `data`, which has one row a person.
        time : the column that tells when a row was; of several tables, by name. By default the
            only date, else the only number that rises within every person.
        end : an own column of people that no time exceeds; by default the one that is found so.

        Raises
        ------
        InputError
            The table can't be used: the message names the column or row and the way out.

        Examples
        --------
        >>> import polars as pl
        >>> visits = pl.DataFrame({
        ...     "patient": [i // 4 for i in range(400)],
        ...     "month": [3 * (i % 4) for i in range(400)],
        ...     "pain": [(i * 7 + i // 4) % 31 for i in range(400)],
        ... })
        >>> avatarizer = Avatarizer(k=10, seed=1).fit(visits, person="patient")
        >>> avatarizer.guarantee.people, avatarizer.release().columns
        (100, ['patient', 'month', 'pain'])
        """
        engine = engine or engine_of(data)
        self._originals = self._plan = self._remote = self._family = None
        if person is not None:
            return self._fit_people(data, engine, person, children, time, end)
        if children or time is not None or end is not None:
            raise InputError(
                "children, time and end are of people with several rows: say which column tells"
                " people apart (--person COL, person=COL)"
            )
        self._repeated = self._repeated if self._checked else None
        if engine is not None:
            self._check_unsaid("on a cluster")
            self._fitted = None
            self._remote = engine.fit(data, self.settings, self.roles, self._secrets.key)
            return self
        table = (
            data if isinstance(data, Table) else Table.of(data, self.roles, threads=self.threads)
        )
        if not self._checked:
            identifiers.check(table.frame, table.roles)
            self._repeated = self._rows_of_people(table)
        if not isinstance(data, Table):
            for note in table.notes:
                warnings.warn(warning_of(note), stacklevel=2)
        if not table.columns:
            raise InputError(
                "no column is left to make avatars from: all are kept, dropped or identifiers"
            )
        table = self._without_rare_levels(table)
        self._originals, self._plan = table, self._planned(table)
        method = method_of(self.settings.method)
        table = self._as_planned(table)
        self._fitted = method.fit(table, self.settings, self._secrets.key, self.threads)
        self._check_key()
        return self

    def _as_planned(self, table: Table) -> Table:
        """The table as the method sees it: without columns that others give."""
        if self._plan is not None and self._plan.steps:
            return Table.of(self._plan.forward(), self._plan.roles(), threads=self.threads)
        if self._plan is not None and self._plan.linked:
            return replace(table, roles=self._plan.roles())
        return table

    def _fit_people(
        self,
        data: object,
        engine: Any,
        person: Hashable,
        children: Mapping[str, object] | None,
        time: Hashable | Mapping[str, Hashable] | None,
        end: Hashable | None,
    ) -> Self:
        """Fit people who have several rows (see `sosie.generate.people`)."""
        if engine is not None or isinstance(data, Table):
            raise InputError("people with several rows (--person) are drawn from tables in memory")
        method = method_of(self.settings.method)
        if not isinstance(method, Exchangeable) or self.settings.augment > 1:
            raise InputError(
                "people with several rows (--person) are drawn by the method exchangeable, one"
                " avatar each: leave --method and --augment out"
            )
        self._repeated = None
        self.roles = roles = replace(
            self.roles,
            id=tuple(dict.fromkeys((*self.roles.id, person))),
            drop=tuple(name for name in self.roles.drop if name != person),
        )
        read = reading(data, children, person, time, end, roles)
        own = within(roles, read.people.columns)
        if not self._checked:
            identifiers.check(read.people, own)
        table = self._without_rare_levels(Table.of(read.people, own, threads=self.threads))
        for note in table.notes:
            warnings.warn(warning_of(note), stacklevel=3)
        family = Family.of(read, table, roles, self.settings.k, self.constraints, self.threads)
        self._originals, self._plan = table, self._planned(table, family.fixed)
        whole, fittings = family.fitted(self._as_planned(table), self.settings)
        fitted = method.fit(whole, self.settings, self._secrets.key, self.threads)
        self._fitted, self._family = fitted, family.grouped(fittings, fitted, self.threads)
        self._check_key()
        return self

    def _check_key(self) -> None:
        if self._table_key is not None and not self._table_key.fits(self.fingerprint()):
            warnings.warn(warning_of(CHANGED), stacklevel=3)

    def unconstrained(self) -> Avatarizer:
        """The same, not yet fitted, for a table in which nothing is to be found or kept."""
        other = copy.copy(self)
        other.constraints, other.order, other.derive, other.rare_as = False, (), (), None
        other._plan, other._checked, other._table_key = None, True, None
        return other

    def reseeded(self, purpose: int) -> Avatarizer:
        """The same, not yet fitted, with secrets of its own; they follow from the seed in use.

        It is for rows of the same table: what was found to hold in all is not looked for again.

        Parameters
        ----------
        purpose : what the other one is for: each number gives other secrets.
        """
        other = copy.copy(self)
        drawn = np.random.SeedSequence(self._secrets.seed, spawn_key=(purpose,)).generate_state(4)
        fresh = int.from_bytes(drawn.tobytes())
        repeats = self._secrets.seed == self._order_seed
        other._secrets, other._order_seed = Secrets.of(fresh), fresh if repeats else fresh + 1
        other._known = None if self._plan is None else self._plan.constraints
        other._fitted = other._originals = other._plan = other._table_key = None
        other._checked = self._checked or self._is_fitted  # columns were looked at once
        return other

    def _without_rare_levels(self, table: Table) -> Table:
        """The table with one value for all rare levels, where one is given for them."""
        if self.rare_as is None:
            return table
        rare = {
            column.name: names
            for column in table.levels
            if frames.column(table.frame, column.name).dtype == nw.String
            if (names := rare_levels(column, self.settings.min_level_count))
        }
        frame = levels_as_one(table.frame, rare, self.rare_as)
        # What was cut short is not cut again, or the value itself would lose its end.
        roles = replace(table.roles, coarsen={})
        return Table.of(frame, roles, table.storage, self.threads)

    def _planned(self, table: Table, fixed: Sequence[Hashable] = ()) -> Plan | None:
        """How constraints are kept; None where there are to be none, or the table is on disk."""
        if not (self.constraints or self.order or self.derive):
            return None
        if table.storage is not MEMORY or isinstance(table.frame, Columns):
            self._check_unsaid("of a table that is larger than memory")
            return None
        return Plan.of(
            table,
            self.settings.k,
            orders=self.order,
            derivations=self.derive,
            found=self.constraints,
            known=self._known,
            fixed=fixed,
        )

    def _check_unsaid(self, where: str) -> None:
        if self.order or self.derive:
            raise InputError(
                f"orders and formulas (--order, --derive) are not kept {where}: leave them out, or"
                " fit a table in memory"
            )

    def _rows_of_people(self, table: Table) -> identifiers.Suspect | None:
        """The number of a person that stands on several rows; RepeatedError for two or more."""
        roles = table.roles
        several = identifiers.repeated(table.frame, (*roles.drop, *roles.id, *roles.keep))
        if several is None:
            return None
        if several.rows_each >= identifiers.MOST_ROWS_EACH and not self.rows_are_people:
            raise identifiers.RepeatedError(several)
        return several

    def draw(self, release: int = 0, part: int = 0) -> Table:
        """One aligned release of what the method sees (`table`): row i is an avatar of row i.

        Parameters
        ----------
        release : which release, at least 0.
        part : which of the ``augment`` avatars of each person.
        """
        fitted = self.fitted
        made = self._gathered(fitted, release, range(part, part + 1))
        pairing = fitted.pairing(self._secrets.seed, release, part)
        whole = Release(fitted.table, fitted.layout, made, _places(pairing), pairing, _NONE)
        return whole.encoded(fitted.table.storage)

    def aligned(self, release: int = 0) -> Table:
        """One aligned release, encoded like `originals`: row i is an avatar of row i."""
        if self._plan is None or not self._plan.steps:
            drawn = self.draw(release).select(self.originals.names)
            return coded_like(drawn, self.originals)
        return self.originals.like(self._drawn(release, shuffle=False).frame(self.threads))

    def pieces(self, release: int, size: int) -> Iterator[tuple[Ints, Table]]:
        """What `draw` gives, about so many rows at a time, in an order of the method's own.

        Yields
        ------
        rows : (m,) int64, the row of each.
        table : their avatars, encoded, in memory.
        """
        for piece in self.fitted.pieces(size):
            made = self._gathered(piece, release, range(1), MEMORY)
            rows = piece.pairing(self._secrets.seed, release, 0)
            own = np.arange(len(rows))
            yield rows, Release(piece.table, piece.layout, made, own, rows, _NONE).encoded()

    def release(self, r: int = 0, *, shuffle: bool = True) -> Any:
        """One release, as the kind of dataframe that was fitted.

        Shuffled, it can be published. Unshuffled, row i is an avatar of row i (with
        ``augment`` N, one whole table of avatars after the other): that link is a
        secret, for measuring only.

        Parameters
        ----------
        r : which release, at least 0; other releases draw other weights.
        """
        if self._remote is not None:
            return self._remote.release(
                r, seed=self._secrets.seed, order_seed=self._order_seed, shuffle=shuffle
            )
        if self._family is not None:
            return self._with_rows(self._family, r, shuffle)
        return self._drawn(r, shuffle).frame(self.threads, last=True)

    def _with_rows(self, family: FittedFamily, r: int, shuffle: bool) -> Any:
        """A release of people and their rows: tables by name, or the lone long table."""
        people = self._drawn(r, shuffle)
        drawn = family.draw(people, self._secrets.seed, r)
        order = int(generator(self._order_seed, r, 0, Purpose.MENDED).integers(2**63))
        return family.frames(people, people.frame(self.threads), drawn, order)

    def both(self, r: int = 0) -> tuple[Release, Release]:
        """One release drawn once: as it is published, and aligned; not yet written."""
        published = self._drawn(r, shuffle=True)
        return published, self._ordered(published.made, r, shuffle=False)

    def releases(self, count: int, *, shuffle: bool = True) -> Iterator[Any]:
        """Releases 0 to ``count - 1``, one at a time."""
        for r in range(count):
            yield self.release(r, shuffle=shuffle)

    def _drawn(self, r: int, shuffle: bool) -> Release:
        made = self._gathered(self.fitted, r, range(self.settings.augment))
        return self._ordered(made, r, shuffle)

    def _gathered(
        self, fitted: Fitted, r: int, parts: range, storage: Storage | None = None
    ) -> Gathered:
        if r < 0:
            raise InputError(f"releases are numbered from 0, got {r}")
        return fitted.draw(
            self._secrets.seed,
            r,
            parts,
            storage=storage or fitted.table.storage,
            chunk=self.chunk,
            threads=self.threads,
        )

    def _ordered(self, made: Gathered, r: int, shuffle: bool) -> Release:
        """A release of what was gathered: in random order, or aligned part by part."""
        fitted, parts = self.fitted, range(self.settings.augment)
        count = len(fitted.table)
        pairings = [fitted.pairing(self._secrets.seed, r, part) for part in parts]
        if shuffle:
            places = np.argsort(self._keys(r, Purpose.ORDER))  # places of all parts together
        else:
            aligned = zip(parts, pairings, strict=True)
            places = np.concatenate([_places(own) + part * count for part, own in aligned])
        surrogates = _NONE
        if fitted.table.roles.id:
            surrogates = np.argsort(np.argsort(self._keys(r, Purpose.SURROGATE)))[places]
        storage, pairing = fitted.table.storage, pairings[0]
        if len(parts) > 1:
            pairing = np.concatenate(pairings)
        places, pairing = storage.keep(places), storage.keep(pairing)
        storage.forget()
        whole = Release(fitted.table, fitted.layout, made, places, pairing, surrogates)
        if self._plan is None or not self._plan.steps:
            return whole
        draws = generator(self._secrets.seed, r, 0, Purpose.MENDED).integers(2**63)
        return replace(whole, plan=self._plan, seed=int(draws))

    def _keys(self, release: int, purpose: Purpose) -> Ints:
        """(parts * n,) int64: random numbers by place, whose order is that of publication."""
        parts, count = self.settings.augment, len(self.fitted.table)
        numbers = range(release * parts, (release + 1) * parts)
        return np.concatenate(
            [keys(self._order_seed, number, purpose, 0, count, count) for number in numbers]
        )


def _names(given: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """One name alone is that name, not its letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def rare_levels(column: Levels, least: int) -> list[str]:
    """The levels of a column that some people hold, and fewer than `least`."""
    counts = column.counts()
    return [
        label
        for label, count in zip(column.labels, counts, strict=True)
        if label is not None and 0 < count < least
    ]


def coded_like(table: Table, other: Table) -> Table:
    """The table with the levels of each column numbered as those of another table are."""
    return replace(
        table,
        columns=tuple(
            _recoded(one, known) if isinstance(one, Levels) and isinstance(known, Levels) else one
            for one, known in zip(table.columns, other.columns, strict=True)
        ),
    )


def _recoded(column: Levels, known: Levels) -> Levels:
    place = {label: code for code, label in enumerate(known.labels)}
    codes = np.array([place[label] for label in column.labels], dtype=known.codes.dtype)
    return replace(known, codes=codes[column.codes])


def _places(pairing: Ints) -> Ints:
    """The place of each row, of the row of each place."""
    places = np.empty(len(pairing), dtype=np.int64)
    places[pairing] = np.arange(len(pairing))
    return places
