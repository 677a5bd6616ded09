"""Avatarizer: a table in, avatars out.

Neighbours are found once; a release only draws new weights, so a hundred releases cost
one fit and a hundred gathers.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from sosie.compute.arrays import Ints
from sosie.compute.randomness import BLOCK, Purpose, fresh_seed, keys
from sosie.compute.storage import MEMORY, Space
from sosie.data.remote import engine_of
from sosie.data.table import Roles, Table
from sosie.errors import InputError, SosieError, SosieWarning, quoted
from sosie.generate.draw import Gathered, gather, gathered_into
from sosie.generate.mixture import Mixture, mixture_of
from sosie.generate.release import Release
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex, Neighbours, along_curve, curve, reach_of

__all__ = ["Avatarizer", "Decode", "Method", "Settings"]

Method = Literal["smoothed", "barycentre"]
Decode = Literal["draw", "vote"]

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Settings:
    """How avatars are made; all of it is public, and none of it is the seed.

    Attributes
    ----------
    k : neighbours that each avatar is a mixture of, at least 1.
    components : dimensions of the latent space in which neighbours are found.
    method : ``smoothed`` (spread given back on normal scores) or ``barycentre`` (as published).
    decode : categories by ``draw`` (one neighbour's, by weight) or ``vote`` (the heaviest).
    min_level_count : levels that fewer people hold are never drawn.
    augment : avatars for each person.
    """

    k: int = 5
    components: int = 5
    method: Method = "smoothed"
    decode: Decode = "draw"
    min_level_count: int = 5
    augment: int = 1

    @classmethod
    def of(
        cls,
        k: int = 5,
        components: int = 5,
        method: Method = "smoothed",
        decode: Decode = "draw",
        min_level_count: int | None = None,
        augment: int = 1,
    ) -> Self:
        """Settings with the default level count: k where smoothed, 1 where barycentre.

        Raises
        ------
        InputError
            A value out of range.

        Examples
        --------
        >>> Settings.of(k=7).min_level_count, Settings.of(method="barycentre").min_level_count
        (7, 1)
        """
        for name, number in (("k", k), ("components", components), ("augment", augment)):
            if number < 1:
                raise InputError(f"{name} must be at least 1, got {number}")
        if method not in ("smoothed", "barycentre"):
            raise InputError(f"method must be smoothed or barycentre, got {method!r}")
        if decode not in ("draw", "vote"):
            raise InputError(f"decode must be draw or vote, got {decode!r}")
        least = (k if method == "smoothed" else 1) if min_level_count is None else min_level_count
        if least < 1:
            raise InputError(f"min_level_count must be at least 1, got {least}")
        return cls(k, components, method, decode, least, augment)


class Avatarizer:
    """Replaces each person by a random local mixture of their nearest neighbours.

    Parameters
    ----------
    k, components, method, decode, min_level_count, augment :
        See `Settings`; ``min_level_count`` is by default k, and 1 for the barycentre.
    seed :
        A secret. None takes one from the operating system. Whoever holds the seed and
        the originals can make the avatars again.
    keep, drop, id, categorical, numeric, date, linked, weights :
        See `sosie.data.table.Roles`.
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
        k: int = 5,
        components: int = 5,
        *,
        method: Method = "smoothed",
        decode: Decode = "draw",
        seed: int | None = None,
        min_level_count: int | None = None,
        augment: int = 1,
        keep: Sequence[Hashable] = (),
        drop: Sequence[Hashable] = (),
        id: Sequence[Hashable] = (),  # noqa: A002 (the name of the option)
        categorical: Sequence[Hashable] = (),
        numeric: Sequence[Hashable] = (),
        date: Mapping[Hashable, str | None] | None = None,
        linked: Sequence[Sequence[Hashable]] = (),
        weights: Mapping[Hashable, float] | None = None,
        threads: int = -1,
        chunk: int = BLOCK,
    ) -> None:
        self.settings = Settings.of(k, components, method, decode, min_level_count, augment)
        self.roles = Roles(
            keep=_names(keep),
            drop=_names(drop),
            id=_names(id),
            categorical=_names(categorical),
            numeric=_names(numeric),
            date=dict(date or {}),
            linked=tuple(tuple(group) for group in linked),
            weights=dict(weights or {}),
        )
        if seed is not None and seed < 0:
            raise InputError("the seed must be at least 0")
        self._seed = fresh_seed() if seed is None else seed
        # The published order has entropy of its own; it is repeatable only with a given seed.
        self._order_seed = fresh_seed() if seed is None else seed
        self.threads = (os.cpu_count() or 1) if threads < 1 else threads
        self.chunk = chunk
        self._fitted: _Fitted | None = None
        self._spread: Any = None

    @property
    def secret_seed(self) -> int:
        """The seed in use. Keep it with the originals, never with the avatars."""
        return self._seed

    @property
    def fitted(self) -> _Fitted:
        """What `fit` found; raises SosieError before it."""
        if self._fitted is None:
            raise SosieError("fit the avatarizer to a table first")
        return self._fitted

    @property
    def table(self) -> Table:
        """The originals as they were read."""
        return self.fitted.table

    @property
    def famd(self) -> FAMD:
        """The latent space in which neighbours were found."""
        return self.fitted.famd

    @property
    def neighbours(self) -> Neighbours:
        """The k nearest other people of each person, in row order."""
        return self.fitted.near

    def fit(self, data: object, *, engine: Any = None) -> Self:
        """Find each person's neighbours; the input is not changed.

        Parameters
        ----------
        data : a pandas, polars or pyarrow table, one row a person; or a `Table`; or a Dask
            dataframe, whose releases are Dask dataframes too.
        engine : the package that works on the table where it is (see `sosie.data.remote`); by
            default the one for the kind of `data`, if there is any.

        Raises
        ------
        InputError
            The table can't be used: the message names the column or row and the way out.
        """
        engine = engine or engine_of(data)
        if engine is not None:
            self._fitted, self._spread = None, engine.fit(data, self.settings, self.roles)
            return self
        self._spread = None
        if isinstance(data, Table):
            table = data
        else:
            table = Table.of(data, self.roles, threads=self.threads)
            for note in table.notes:
                warnings.warn(note, SosieWarning, stacklevel=2)
        if suspects := table.identifiers():
            name, plural = suspects[0], "s" * (len(suspects) > 1)
            raise InputError(
                f"column{plural} {quoted(suspects)} look{'' if plural else 's'}"
                f" like an identifier: leave it out (--drop {name}), replace it by a fresh"
                f" surrogate (--id {name}), or, if it is"
                f" really meant, keep it as it is (--keep {name}), average it (--numeric {name})"
                f" or, where it holds dates, say so (--date {name})"
            )
        self._fitted = _Fitted.of(table, self.settings, self.threads)
        return self

    def draw(self, release: int = 0, part: int = 0) -> Table:
        """One aligned release as an encoded table: row i is an avatar of row i.

        Parameters
        ----------
        release : which release, at least 0.
        part : which of the ``augment`` avatars of each person.
        """
        if release < 0:
            raise InputError(f"releases are numbered from 0, got {release}")
        fitted, number = self.fitted, release * self.settings.augment + part
        made = self._gather(fitted.mixture, [number], fitted.table.space)
        whole = Release(fitted.table, fitted.mixture, made, fitted.place, _NONE)
        return whole.encoded(fitted.table.space)

    def draw_places(self, release: int, places: slice) -> tuple[Ints, Table]:
        """Some rows of what `draw` gives, in memory: those at consecutive places.

        Returns
        -------
        rows : (m,) int64, the row of each.
        table : their avatars, encoded.
        """
        fitted, mixture = self.fitted, self.fitted.mixture
        some = replace(
            mixture,
            order=mixture.order[places],
            rows=mixture.rows[:, places],
            distances=mixture.distances[:, places],
            first=places.start,
            total=len(mixture.order),
        )
        made = self._gather(some, [release * self.settings.augment], MEMORY)
        own = np.arange(len(some.order))
        return some.order, Release(fitted.table, some, made, own, _NONE).encoded()

    def release(self, r: int = 0, *, shuffle: bool = True) -> Any:
        """One release, as the kind of dataframe that was fitted.

        Shuffled, it can be published. Unshuffled, row i is an avatar of row i (with
        ``augment`` N, one whole table of avatars after the other): that link is a
        secret, for measuring only.

        Parameters
        ----------
        r : which release, at least 0; other releases draw other weights.
        """
        if self._spread is not None:
            return self._spread.release(
                r, seed=self._seed, order_seed=self._order_seed, shuffle=shuffle
            )
        return self.drawn(r, shuffle=shuffle).frame(self.threads, last=True)

    def drawn(self, r: int = 0, *, shuffle: bool = True) -> Release:
        """One release, gathered and not yet written (see `release`)."""
        if r < 0:
            raise InputError(f"releases are numbered from 0, got {r}")
        parts = self.settings.augment
        fitted = self.fitted
        numbers = range(r * parts, (r + 1) * parts)
        made = self._gather(fitted.mixture, numbers, fitted.table.space)
        return self._ordered(made, r, shuffle)

    def both(self, r: int = 0) -> tuple[Release, Release]:
        """One release drawn once: as it is published, and aligned."""
        drawn = self.drawn(r)
        return drawn, self._ordered(drawn.made, r, shuffle=False)

    def _ordered(self, made: Gathered, r: int, shuffle: bool) -> Release:
        fitted, parts = self.fitted, self.settings.augment
        if shuffle:
            places = np.argsort(self._keys(r, Purpose.ORDER))  # places of all parts together
        else:
            count = len(fitted.table)
            places = np.concatenate([fitted.place + part * count for part in range(parts)])
        surrogates = _NONE
        if fitted.table.roles.id:
            surrogates = np.argsort(np.argsort(self._keys(r, Purpose.SURROGATE)))[places]
        return Release(fitted.table, fitted.mixture, made, places, surrogates)

    def releases(self, count: int, *, shuffle: bool = True) -> Iterator[Any]:
        """Releases 0 to ``count - 1``, one at a time."""
        for r in range(count):
            yield self.release(r, shuffle=shuffle)

    def _gather(self, mixture: Mixture, numbers: Sequence[int], space: Space) -> Gathered:
        """So many avatars of each person of a mixture, in `space`."""
        made = gathered_into(mixture, len(numbers), space)
        for part, number in enumerate(numbers):
            gather(
                mixture,
                self.fitted.table.numbers,
                self._seed,
                number,
                made,
                part,
                decode=self.settings.decode,
                chunk=self.chunk,
                threads=self.threads,
                space=self.fitted.table.space,
            )
        return made

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


@dataclass(frozen=True)
class _Fitted:
    """The originals, their latent space, and the mixture that releases are gathered from."""

    table: Table
    famd: FAMD
    mixture: Mixture

    @classmethod
    def of(cls, table: Table, settings: Settings, threads: int) -> _Fitted:
        if not table.columns:
            raise InputError(
                "no column is left to make avatars from: all are kept, dropped or identifiers"
            )
        if settings.k > len(table) - 1:
            raise InputError(
                f"k is {settings.k}, and in a table of {len(table)} rows the largest k is"
                f" {max(len(table) - 1, 0)}"
            )
        famd = FAMD.fit(table, settings.components, table.roles.weights, threads)
        table.space.forget()
        near, order = _neighbours(famd, table, settings.k, threads)
        mixture = mixture_of(
            table,
            near,
            order,
            smoothed=settings.method == "smoothed",
            min_level_count=settings.min_level_count,
            threads=threads,
        )
        return cls(table, famd, mixture)

    @cached_property
    def near(self) -> Neighbours:
        """The k nearest other people of each person, in row order."""
        order, mixture = self.mixture.order, self.mixture
        return Neighbours(mixture.distances.T[self.place], order[mixture.rows.T[self.place]])

    @cached_property
    def place(self) -> Ints:
        """(n,) int64: the place of each row."""
        place = np.empty(len(self.mixture.order), dtype=np.int64)
        place[self.mixture.order] = np.arange(len(place))
        return place


def _neighbours(famd: FAMD, table: Table, k: int, threads: int) -> tuple[Neighbours, Ints]:
    """Each row's neighbours, as places, and the row at each place; the search is let go."""
    points = famd.transform(table, threads)
    table.space.forget()
    order = along_curve(points, curve(points, reach_of(famd.eigenvalues)))
    points = points.take(order, axis=0)
    return NeighbourIndex.placed_along(points, order, threads).around(k), order
