"""Methods that mix each person's neighbours: what `smoothed` and `barycentre` share.

Neighbours are found once; a release only draws new weights, so a hundred releases cost one fit
and a hundred gathers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.compute.storage import Storage
from sosie.data.table import Table
from sosie.errors import InputError, Reason
from sosie.generate.draw import gather, gathered_into
from sosie.generate.gathered import Gathered, Layout
from sosie.generate.guarantee import Guarantee
from sosie.generate.mixture import Mixture, mixture_of
from sosie.generate.noise import Sums
from sosie.generate.scales import Scaled
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex, Neighbours, along_curve, curve, reach_of

if TYPE_CHECKING:
    from sosie.generate.settings import Settings

__all__ = ["LocalFitted", "LocalMethod", "layout_of"]


@dataclass(frozen=True)
class LocalMethod(ABC):
    """A method whose avatars are mixtures of their person's k nearest neighbours.

    Attributes
    ----------
    k, components : those of the studies.
    """

    key: str
    k: int = 5
    components: int = 5
    least_k: int = 1
    decodes: tuple[str, ...] = ("draw", "vote")

    @abstractmethod
    def min_level_count(self, k: int) -> int:
        """The default number of people who must hold a level that may be drawn."""

    @abstractmethod
    def scaled(self, values: Floats, least: int) -> Scaled:
        """The values of a number on the scale on which they are averaged.

        Parameters
        ----------
        values : (n,) float64, NaN where missing.
        least : how many people must share an extreme, where extremes are kept back.
        """

    @abstractmethod
    def noise_sums(self, mixture: Mixture, threads: int) -> Sums:
        """What the noise is made of, over the people of a mixture, or of a part of one."""

    def fit(self, table: Table, settings: Settings, key: int, threads: int) -> LocalFitted:
        """Find each person's neighbours (see `sosie.generate.methods.Method.fit`)."""
        del key  # anyone who has the table finds the same neighbours
        if settings.k > len(table) - 1:
            raise InputError(
                f"k is {settings.k}, and in a table of {len(table)} rows the largest k is"
                f" {max(len(table) - 1, 0)}",
                reason=Reason(
                    "k_too_large",
                    {"k": settings.k, "people": len(table), "most": max(len(table) - 1, 0)},
                ),
            )
        famd = FAMD.fit(table, settings.components, table.roles.weights, threads)
        table.storage.forget()
        near, order = _neighbours(famd, table, settings.k, threads)
        return self._fitted(table, famd, settings, near, order, threads)

    def bytes_per_row(self, components: int, k: int) -> tuple[int, int]:
        """Latent coordinates twice, or once with the tree and what is found in it; neighbours."""
        return max(16 * components + 30, 8 * components + 8 * k + 45), 8 * k

    def inserted(
        self, published: Table, people: Table, settings: Settings, threads: int
    ) -> LocalFitted:
        """Mixtures of the published rows that are nearest to each of some people."""
        famd = FAMD.fit(published, settings.components, published.roles.weights)
        index = NeighbourIndex(famd.transform(published), threads)
        found = index.nearest(famd.transform(people), settings.k)
        # The avatar of person i takes the place of published row i.
        place = np.argsort(index.order)
        near = Neighbours(found.distances[index.order], place[found.rows[index.order]])
        return self._fitted(published, famd, settings, near, index.order, threads)

    def _fitted(
        self,
        table: Table,
        famd: FAMD,
        settings: Settings,
        near: Neighbours,
        order: Ints,
        threads: int,
    ) -> LocalFitted:
        least = settings.min_level_count
        bare = mixture_of(table, near, order, self.scaled, min_level_count=least, threads=threads)
        mixture = replace(bare, noise=self.noise_sums(bare, threads).noise())
        return LocalFitted(table, famd, settings, mixture)


def _neighbours(famd: FAMD, table: Table, k: int, threads: int) -> tuple[Neighbours, Ints]:
    """Each row's neighbours, as places, and the row at each place; the search is let go."""
    points = famd.transform(table, threads)
    table.storage.forget()
    order = along_curve(points, curve(points, reach_of(famd.eigenvalues)))
    points = points.take(order, axis=0)
    return NeighbourIndex.placed_along(points, order, threads).around(k), order


@dataclass(frozen=True)
class LocalFitted:
    """The originals, their latent space, and the mixture that releases are gathered from.

    See `sosie.generate.methods.Fitted`. Places follow a curve through the latent space.
    """

    table: Table
    famd: FAMD
    settings: Settings
    mixture: Mixture

    @property
    def order(self) -> Ints:
        """(n,) int64, the row at each place."""
        return self.mixture.order

    @property
    def layout(self) -> Layout:
        """Which columns are voted on and averaged."""
        return layout_of(self.mixture)

    @property
    def guarantee(self) -> Guarantee:
        """None: an avatar is drawn around its person."""
        return Guarantee.of_method(self.settings.method, len(self.table))

    @property
    def law(self) -> Mixture:
        """The mixture: its neighbours and the law of the weights say all."""
        return self.mixture

    @cached_property
    def place(self) -> Ints:
        """(n,) int64: the place of each row."""
        place = np.empty(len(self.mixture.order), dtype=np.int64)
        place[self.mixture.order] = np.arange(len(place))
        return place

    @cached_property
    def neighbours(self) -> Neighbours:
        """The k nearest other people of each person, in row order."""
        order, mixture = self.mixture.order, self.mixture
        return Neighbours(mixture.distances.T[self.place], order[mixture.rows.T[self.place]])

    def draw(
        self, seed: int, release: int, parts: range, *, storage: Storage, chunk: int, threads: int
    ) -> Gathered:
        """One avatar for each place and part."""
        made = gathered_into(self.mixture, len(parts), storage)
        for i, part in enumerate(parts):
            gather(
                self.mixture,
                self.table.numbers,
                seed,
                release * self.settings.augment + part,
                made,
                i,
                decode=self.settings.decode,
                chunk=chunk,
                threads=threads,
                storage=self.table.storage,
            )
        return made

    def pairing(self, seed: int, release: int, part: int) -> Ints:
        """The row at each place: its avatar is drawn around it."""
        del seed, release, part
        return self.mixture.order

    def pieces(self, size: int) -> Iterator[Self]:
        """So many places at a time."""
        whole = self.mixture
        for start in range(0, len(whole.order), size):
            places = slice(start, min(start + size, len(whole.order)))
            part = replace(
                whole,
                order=whole.order[places],
                rows=whole.rows[:, places],
                distances=whole.distances[:, places],
                first=places.start,
                total=len(whole.order),
            )
            yield replace(self, mixture=part)


def layout_of(mixture: Mixture) -> Layout:
    """Which columns the arrays gathered from a mixture are of."""
    return Layout(mixture.voted, tuple(number.name for number in mixture.numbers))
