"""Exchangeable avatars: drawn around nobody, from one law for each group of at least k people.

The table is cut into groups of people who are near each other, along axes that only the key of
the table gives (`sosie.latent.tree`). All avatars of a group are independent draws from one law in
which its members enter alike (`sosie.generate.exchangeable`): nobody who lacks the secrets can
tell whose avatar is whose better than one in the size of the group (`sosie.generate.guarantee`).

Sources: probabilistic k-anonymity, Soria-Comas and Domingo-Ferrer (2012); kin are condensation,
Aggarwal and Yu (2004), and hybrid microdata, Domingo-Ferrer and Gonzalez-Nicolas (2010).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import Storage
from sosie.data import frames
from sosie.data.table import Column, Levels, Table, label_of
from sosie.errors import Reason
from sosie.generate.exchangeable import ExchangeableLaw, draw, fit, pairing
from sosie.generate.exchangeable.choices import MANY
from sosie.generate.gathered import Gathered, Layout
from sosie.generate.guarantee import Guarantee
from sosie.latent.common_levels import CommonLevels
from sosie.latent.content import content_hashes
from sosie.latent.famd import FAMD
from sosie.latent.tree import REACH, Groups, groups

if TYPE_CHECKING:
    from sosie.generate.settings import Settings

__all__ = [
    "METHOD",
    "Exchangeable",
    "ExchangeableFitted",
    "grouped",
    "in_canonical_codes",
    "located",
]

MOST_LEVEL_COUNT = 10
"""People who make a level common enough to be drawn, however large k is. A level is a count of a
column, not a group: agencies publish counts from 5 to 11 people on (Handbook on Statistical
Disclosure Control, Hundepool et al. 2010: 3 to 10; CMS: 11), and the bound on linkage does not
depend on it. Were it k, 24 deaths of 1,200 people would be erased at k = 40."""

WORKING, LAW = 80, 60
"""Bytes a row while the law is fitted, and while it is held: measured from 1 to 4 million rows of
24 columns that live on disk."""


@dataclass(frozen=True)
class Exchangeable:
    """Draws from the law of each group.

    Attributes
    ----------
    least_k : a group of one person would be that person.
    """

    key: str = "exchangeable"
    place: int = 0
    k: int = 10
    components: int = 10
    least_k: int = 2
    decodes: tuple[str, ...] = ()

    def min_level_count(self, k: int) -> int:
        """K people share what may be drawn, and 10 are always enough."""
        return min(k, MOST_LEVEL_COUNT)

    def fit(self, table: Table, settings: Settings, key: int, threads: int) -> ExchangeableFitted:
        """Cut the table into groups and fit their law (see `sosie.generate.methods.Method.fit`)."""
        table = in_canonical_codes(table)
        famd, points = located(table, settings, threads)
        cut = grouped(table, points, famd, key, settings.k)
        table.storage.forget()
        law = fit(
            table,
            cut,
            _by_place(points, cut.order, table),
            k=settings.k,
            min_level_count=settings.min_level_count,
            threads=threads,
            storage=table.storage,
        )
        return ExchangeableFitted(table, famd, settings, law, cut.order)

    def bytes_per_row(self, components: int, k: int) -> tuple[int, int]:
        """Hashes, parts and orders beside coordinates in whole numbers; and the law."""
        del k
        return 2 * components + WORKING, LAW

    def inserted(self, published: Table, people: Table, settings: Settings, threads: int) -> Reason:
        """Nobody can be put among published rows: the groups they would join are secret."""
        del published, people, settings, threads
        return Reason("groups_are_secret")


@dataclass(frozen=True)
class ExchangeableFitted:
    """The originals, their latent space, and the law of the groups.

    See `sosie.generate.methods.Fitted`. Places follow the tree: every group is a range of them.

    Attributes
    ----------
    law : of the groups.
    order : (n,) int64, the row at each place.
    """

    table: Table
    famd: FAMD
    settings: Settings
    groups: ExchangeableLaw
    order: Ints

    @property
    def layout(self) -> Layout:
        """Which columns are drawn as codes and as values."""
        return Layout(self.groups.voted, self.groups.names)

    @property
    def guarantee(self) -> Guarantee:
        """One in the size of the smallest group."""
        return Guarantee.of_groups(np.diff(self.groups.bounds))

    @property
    def law(self) -> Reason:
        """There are no weights to know: members of a group have the same law."""
        return Reason("law_of_groups")

    def draw(
        self, seed: int, release: int, parts: range, *, storage: Storage, chunk: int, threads: int
    ) -> Gathered:
        """One avatar for each place and part."""
        del chunk  # blocks of the law's own fit the processor's cache
        first, *others = (
            draw(self.groups, seed, release, part, threads=threads, storage=storage)
            for part in parts
        )
        if not others:
            return first
        every = (first, *others)
        return Gathered(
            [
                storage.keep(np.concatenate([one.codes[i] for one in every]))
                for i in range(len(first.codes))
            ],
            [
                storage.keep(np.concatenate([one.values[i] for one in every]))
                for i in range(len(first.values))
            ],
        )

    def pairing(self, seed: int, release: int, part: int) -> Ints:
        """A nominal person for each avatar: anyone of its group, each once."""
        return pairing(self.order, self.groups.bounds, seed, release, part)

    def pieces(self, size: int) -> Iterator[Self]:
        """Whole groups of about so many places at a time."""
        bounds = self.groups.bounds
        starts = np.unique(np.searchsorted(bounds, np.arange(bounds[0], bounds[-1], size)))
        for first, last in zip(starts, (*starts[1:], len(bounds) - 1), strict=True):
            places = slice(int(bounds[first] - bounds[0]), int(bounds[last] - bounds[0]))
            law = self.groups.some(slice(int(first), int(last)))
            yield replace(self, groups=law, order=self.order[places])


def located(table: Table, settings: Settings, threads: int = -1) -> tuple[FAMD, Floats]:
    """The latent space in which groups are cut, and where everyone is, ``(n, d)``.

    Parameters
    ----------
    table : in canonical codes.
    """
    space = CommonLevels.of(table).pooled(table)
    famd = FAMD.fit(space, settings.components, table.roles.weights, threads)
    return famd, famd.transform(space, threads, table.storage)


def grouped(table: Table, points: Floats, famd: FAMD, key: int, k: int) -> Groups:
    """The groups of at least k people that a key cuts.

    Parameters
    ----------
    table, points, famd : see `located`.
    """
    strata, name = _strata(table)
    return groups(
        points,
        content_hashes(table),
        key,
        k,
        reach=REACH * float(np.sqrt(famd.eigenvalues[0])),
        strata=strata,
        name=name,
        storage=table.storage,
    )


def _by_place(points: Floats, order: Ints, table: Table) -> Floats:
    """Coordinates of the row at each place; none where no column has levels enough to need them."""
    if not table.roles.linked and all(len(column.labels) <= MANY for column in table.levels):
        return points[:0]
    placed = table.storage.empty(points.shape, np.float64)
    for start in range(0, len(order), BLOCK):
        placed[start : start + BLOCK] = points.take(order[start : start + BLOCK], axis=0)
    return placed


def in_canonical_codes(table: Table) -> Table:
    """The table with its commonest levels first, whatever the order of its rows.

    Between levels that as many people hold, names decide.

    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"sex": ["M", "F", "M"]}))
    >>> in_canonical_codes(table).level("sex").labels
    ('M', 'F')
    """
    return replace(table, columns=tuple(_canonical(column) for column in table.columns))


def _canonical(column: Column) -> Column:
    if not isinstance(column, Levels):
        return column
    counts = column.counts()

    def key(code: int) -> tuple[bool, int, str]:
        label = column.labels[code]
        return label is None, -int(counts[code]), label or ""

    rank = sorted(range(len(column.labels)), key=key)
    order = np.array(rank, dtype=np.int64)
    place = np.argsort(order).astype(column.codes.dtype)
    return replace(
        column,
        codes=place[column.codes],
        labels=tuple(column.labels[code] for code in rank),
        first=column.first[order],
    )


def _strata(table: Table) -> tuple[Ints | None, Callable[[int], str]]:
    """The joint level of the kept columns of each row, and what to call one."""
    names = [name for name in table.roles.keep if name not in table.roles.keep_anyway]
    if not names:
        return None, str
    columns = [_labelled(table, name) for name in names]
    codes = np.zeros(len(table), dtype=np.int64)
    for own, labels in columns:
        codes = np.unique(codes * len(labels) + own, return_inverse=True)[1]
    first = np.unique(codes, return_index=True)[1]

    def called(stratum: int) -> str:
        row = int(first[stratum])
        return _described(names, [labels[own[row]] for own, labels in columns])

    return codes.astype(np.int64), called


def _labelled(table: Table, name: Hashable) -> tuple[Ints, list[str]]:
    """Codes of a kept column in the order of its labels, and the labels."""
    codes, first = frames.factorize(frames.column(table.frame, name))
    texts = [
        label_of(value) for value in frames.objects_at(frames.column(table.frame, name), first)
    ]
    order = np.argsort(np.array(texts, dtype=object), kind="stable")
    place = np.append(np.argsort(order) + 1, 0)  # missing, coded -1, comes first
    return place[codes].astype(np.int64), ["", *(texts[i] for i in order)]


def _described(names: Sequence[Hashable], labels: Sequence[str]) -> str:
    return ", ".join(
        f"{name} = {label or '(missing)'}" for name, label in zip(names, labels, strict=True)
    )


METHOD = Exchangeable()
