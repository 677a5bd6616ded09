"""Originals and avatars, prepared once for every metric.

One projection (fitted on the originals) and one neighbour search each way serve all
distances. Everything is computed when first asked for and then kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from sosie.audits.definition import Need
from sosie.audits.distances import CHUNK, Crowd, closer_within, crowd
from sosie.audits.known_spaces import KnownSpaces, part_of
from sosie.audits.reasons import NO_CATEGORIES, NO_HOLDOUT, NOT_ALIGNED, TOO_FEW_COLUMNS
from sosie.audits.results import Metric
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.storage import MEMORY, Storage
from sosie.data.rows import rows_found
from sosie.data.table import Column, Levels, Roles, Table
from sosie.errors import InputError, Reason
from sosie.latent.famd import FAMD, CrossProduct, Layout
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["Comparison", "Found", "compared", "encoded"]

Counted = TypeVar("Counted")

CONCERN_ORIGINALS = {"product", "famd", "original_points", "original_index", "known_spaces"}
"""What is computed from the originals alone, and serves beside any avatars."""


@dataclass(frozen=True)
class Comparison:
    """Two tables compared by value, in one latent space.

    Attributes
    ----------
    originals : the people, n rows.
    avatars : encoded like the originals.
    holdout : people who had no part in making the avatars, encoded alike; or None.
    aligned : whether row i of the avatars is the avatar of row i modulo n.
    components : dimensions of the latent space.
    threads : -1 for all. No result depends on it.
    notes : what differs between the tables.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i * i) for i in range(20)]})
    >>> float(Comparison.of(people, people, aligned=True).closest_originals[:, 0].max())
    0.0
    """

    originals: Table
    avatars: Table
    holdout: Table | None = None
    aligned: bool = False
    components: int = 5
    threads: int = -1
    notes: tuple[Reason, ...] = ()

    @classmethod
    def of(
        cls,
        originals: object,
        avatars: object,
        *,
        aligned: bool = False,
        holdout: object | None = None,
        roles: Roles | None = None,
        components: int = 5,
        threads: int = -1,
        storage: Storage = MEMORY,
    ) -> Self:
        """Encode the tables and check that they can be compared.

        Parameters
        ----------
        originals, avatars, holdout : pandas, polars or pyarrow tables with the same
            columns in any order; or tables already encoded with the same levels.
        aligned : row i of the avatars is the avatar of row i; with N avatars a person,
            N whole tables one after the other.
        roles : columns to leave out (``drop``, ``id``) and types that are forced.
            Kept columns are compared like all others.
        storage : where encoded columns live.

        Raises
        ------
        InputError
            A column is missing or extra, a value can't be read, or the tables are declared
            aligned and their numbers of rows do not fit.
        """
        people = encoded(originals, roles, storage)
        records = avatars if isinstance(avatars, Table) else people.like(avatars)
        _check_levels(people, records)
        strangers = None
        if holdout is not None:
            # Levels that only the avatars have keep the avatars' codes.
            strangers = (
                holdout if isinstance(holdout, Table) else _encoded_holdout(records, holdout)
            )
        if not len(records):
            raise InputError("the avatars have no rows")
        if strangers is not None and not len(strangers):
            raise InputError("the holdout has no rows")
        if aligned:
            check_aligned(len(people), len(records))
        pairs = zip(people.columns, records.columns, strict=True)
        appeared = [note for before, after in pairs for note in appeared_in(before, after)]
        notes = tuple(dict.fromkeys((*people.notes, *records.notes, *appeared)))
        return cls(people, records, strangers, aligned, components, threads, notes)

    def __len__(self) -> int:
        return len(self.originals)

    @property
    def avatar_count(self) -> int:
        """Rows of avatars."""
        return len(self.avatars)

    @property
    def parts(self) -> int:
        """Avatars for each person, where the tables are aligned."""
        return self.avatar_count // len(self)

    def lacks(self, *needs: Need) -> Reason | None:
        """Why a metric with such needs has no value here; None where all is there.

        The first need that is not met is named.
        """
        unmet: dict[Need, tuple[bool, Reason]] = {
            "aligned": (not self.aligned, NOT_ALIGNED),
            "holdout": (self.holdout is None, NO_HOLDOUT),
            "categories": (not self.originals.levels, NO_CATEGORIES),
            "two_columns": (len(self.originals.columns) < 2, TOO_FEW_COLUMNS),
        }
        return next(
            (reason for need in needs for lacking, reason in [unmet[need]] if lacking), None
        )

    def measure(self, metric: Callable[..., Metric], **options: Any) -> Metric:
        """A metric of these tables, computed where they are."""
        return metric(self, **options)

    def by_column(self, count: Callable[..., Counted], *options: Any) -> list[Counted]:
        """What a function counts of each pair of columns, in order."""
        pairs = zip(self.originals.columns, self.avatars.columns, strict=True)
        return [count(before, after, *options) for before, after in pairs]

    def with_avatars(self, avatars: Table) -> Comparison:
        """The same originals beside other avatars; what concerns originals alone is kept."""
        return self._beside(avatars=avatars)

    def with_holdout(self, holdout: Table) -> Comparison:
        """The same, with others who had no part; what concerns originals alone is kept."""
        return self._beside(holdout=holdout)

    def in_spaces_of(self, other: Comparison) -> Comparison:
        """The same tables in the latent spaces of another comparison, of the same columns."""
        made = replace(self)
        made.__dict__["famd"], made.__dict__["known_spaces"] = other.famd, other.known_spaces
        return made

    def _beside(self, **others: Any) -> Comparison:
        made = replace(self, **others)
        for name in CONCERN_ORIGINALS & self.__dict__.keys():
            made.__dict__[name] = self.__dict__[name]
        return made

    @cached_property
    def product(self) -> CrossProduct:
        """All that any latent space needs to know of the originals; one pass."""
        layout = Layout.of(self.originals, self.originals.roles.weights)
        return CrossProduct(layout).add(self.originals)

    @cached_property
    def famd(self) -> FAMD:
        """The latent space, fitted on the originals."""
        return FAMD.solve(self.product, self.components)

    @cached_property
    def shared(self) -> dict[Hashable, Any]:
        """What several metrics need and this class does not know of, by name."""
        return {}

    def space(self, names: Sequence[Hashable]) -> FAMD:
        """The latent space of some columns, fitted on the originals without another pass.

        Raises
        ------
        InputError
            None of them varies.
        """
        return FAMD.solve(part_of(self.product, names), self.components)

    @cached_property
    def known_spaces(self) -> KnownSpaces:
        """Where attackers who know some columns look for the nearest row."""
        return KnownSpaces(self.originals, self.components)

    @cached_property
    def original_points(self) -> Floats:
        """(n, d) float64."""
        return self.famd.transform(self.originals)

    @cached_property
    def avatar_points(self) -> Floats:
        """(m, d) float64."""
        return self.famd.transform(self.avatars)

    @cached_property
    def holdout_points(self) -> Floats:
        """(h, d) float64; no rows where nobody was set aside."""
        if self.holdout is None:
            return np.empty((0, self.famd.components))
        return self.famd.transform(self.holdout)

    @cached_property
    def original_index(self) -> NeighbourIndex:
        """Search among the originals."""
        return NeighbourIndex(self.original_points, self.threads)

    @cached_property
    def avatar_index(self) -> NeighbourIndex:
        """Search among the avatars."""
        return NeighbourIndex(self.avatar_points, self.threads)

    @cached_property
    def closest_originals(self) -> Floats:
        """Distances from each avatar to its two nearest originals, ``(m, 2) float64``."""
        return self._to_originals(self.avatar_points, self.avatar_index.order)

    @cached_property
    def closest_originals_of_holdout(self) -> Floats:
        """The same from each person set aside, ``(h, 2) float64``."""
        points = self.holdout_points
        return self._to_originals(points, np.arange(len(points)))

    @cached_property
    def crowd(self) -> Crowd:
        """What stands between each original and its own avatar; the tables must be aligned."""
        return crowd(self.original_index, self.avatar_index)

    @cached_property
    def repeated(self) -> Mask:
        """Whether each original's whole row is a row of the avatars, ``(n,) bool``."""
        return rows_found(self.originals, self.avatars)

    def closer(self, rows: Ints) -> Ints:
        """How many avatars are closer to some people than their own, however many there are."""
        around = self.crowd
        closer = around.closer[rows].copy()
        more = closer >= around.limit
        closer[more] = self.avatar_index.count_within(
            self.original_points[rows[more]], closer_within(around.own[rows[more]])
        )
        return closer

    def _to_originals(self, points: Floats, order: Ints) -> Floats:
        distances = np.empty((len(points), 2))
        distances[:, 1] = np.inf  # a single original has no second
        for start in range(0, len(points), CHUNK):
            rows = order[start : start + CHUNK]
            nearest = self.original_index.nearest(points[rows], min(2, len(self))).distances
            distances[rows, : nearest.shape[1]] = nearest
        return distances


@dataclass(frozen=True)
class Found(Comparison):
    """What was found of two tables that are not here: columns without rows stand for them.

    Attributes
    ----------
    rows, avatar_rows : of the tables.
    counted : what was counted of each pair of columns, by the name of the counting function.
    known : further attributes of a `Comparison`, by name.
    closer_avatars : what `closer` says of the people that the metric asks about.
    no_space : why there is no latent space, where there is none.
    """

    rows: int = 0
    avatar_rows: int = 0
    counted: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    closer_avatars: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    no_space: Reason | None = None

    def __post_init__(self) -> None:
        self.__dict__.update(self.known)

    def __len__(self) -> int:
        return self.rows

    @property
    def avatar_count(self) -> int:
        """Rows of avatars."""
        return self.avatar_rows

    def by_column(self, count: Callable[..., Any], *_: Any) -> list[Any]:
        """What was counted, see `Comparison.by_column`."""
        return list(self.counted[count.__name__])

    @cached_property
    def famd(self) -> FAMD:
        """There is none here; whoever needs it is told why."""
        raise InputError("these tables have no latent space here", reason=self.no_space)

    def closer(self, _: Ints) -> Ints:
        """What was counted, see `Comparison.closer`."""
        return self.closer_avatars


def compared(originals: object, avatars: object | None, **options: Any) -> Comparison:
    """The comparison itself, or one made of two dataframes declared aligned.

    This is how every metric takes either.
    """
    if isinstance(originals, Comparison):
        return originals
    if avatars is None:
        raise InputError("a metric needs the originals and the avatars, or a Comparison")
    return Comparison.of(originals, avatars, **options)


def encoded(originals: object, roles: Roles | None = None, storage: Storage = MEMORY) -> Table:
    """The columns to compare: all but those dropped and identifiers; kept ones count too."""
    if isinstance(originals, Table):
        if roles is None and not originals.roles.keep:
            return originals
        roles = roles or originals.roles
        originals = originals.frame.to_native()
    table = Table.of(originals, replace(roles or Roles(), keep=(), linked=()), storage)
    if not table.columns:
        raise InputError("no column is left to compare: all are dropped or identifiers")
    return table


def _encoded_holdout(avatars: Table, holdout: object) -> Table:
    try:
        return avatars.like(holdout)
    except InputError as error:
        raise InputError(f"holdout: {error}") from error


def _check_levels(first: Table, second: Table) -> None:
    if first.names != second.names:
        raise InputError("the two encoded tables have other columns; compare dataframes instead")
    codes: Mapping[Hashable, Levels] = {column.name: column for column in second.levels}
    for column in first.levels:
        same = codes.get(column.name)
        if same is None or same.labels[: len(column.labels)] != column.labels:
            raise InputError(
                f"column {column.name!r} is encoded in two ways; compare dataframes instead"
            )


def check_aligned(originals: int, avatars: int) -> None:
    """Raise InputError where numbers of rows do not fit."""
    if avatars % originals:
        raise InputError(
            f"aligned avatars are as many as the originals, or a whole multiple: there are"
            f" {originals} originals and {avatars} avatars"
        )


def appeared_in(before: Column, after: Column) -> list[Reason]:
    """Missing values and levels that only the avatars have."""
    notes = []
    column = {"column": str(before.name)}
    if after.missing.any() and not before.missing.any():
        notes.append(Reason("missing_in_avatars_only", column))
    if isinstance(before, Levels) and isinstance(after, Levels):
        labels = after.labels[len(before.labels) :]
        new = len(labels) - (None in labels)
        if new:
            notes.append(Reason("values_in_avatars_only", {**column, "n": new}))
    return notes
