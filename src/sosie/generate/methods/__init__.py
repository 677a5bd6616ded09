"""Methods of making avatars, behind one protocol: a file each.

A module of this package that has a ``METHOD`` is one: lists elsewhere read `METHODS`, so that a new
one needs a module, its words and its test.

A method states its defaults, fits a table, and gives a `Fitted` from which releases are drawn.
Whoever releases, attacks or reports reads from these two what the method can and can't do.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol, Self

from sosie.compute.arrays import Ints
from sosie.compute.storage import Space
from sosie.data.table import Table
from sosie.errors import InputError, Reason
from sosie.generate.gathered import Gathered, Layout
from sosie.generate.guarantee import Guarantee
from sosie.generate.mixture import Mixture
from sosie.latent.famd import FAMD

if TYPE_CHECKING:
    from sosie.generate.settings import Settings

__all__ = ["METHODS", "Fitted", "Method", "method_of"]


class Fitted(Protocol):
    """What releases of a table are drawn from; fitted once, for all of them.

    A place is a position in an order of the method's own; draws are keyed by it.
    """

    @property
    def table(self) -> Table:
        """The originals."""

    @property
    def famd(self) -> FAMD:
        """The latent space in which people were compared."""

    @property
    def order(self) -> Ints:
        """(n,) int64, the row at each place."""

    @property
    def layout(self) -> Layout:
        """Which columns the arrays that `draw` gives are of."""

    @property
    def guarantee(self) -> Guarantee:
        """What holds for its avatars, or why nothing does."""

    @property
    def law(self) -> Mixture | Reason:
        """The law of weights of each person's avatar, for attackers; or why there is none."""

    def draw(
        self, seed: int, release: int, parts: range, *, storage: Space, chunk: int, threads: int
    ) -> Gathered:
        """One avatar for each place, for each of some parts, one whole part after the other.

        Parameters
        ----------
        parts : which of the ``augment`` avatars of each place.
        storage : where they live.
        chunk, threads : no result depends on them.
        """

    def pairing(self, seed: int, release: int, part: int) -> Ints:
        """(n,) int64, the row to which the avatar of each place belongs; nominal where groups do.

        Nothing that is published may depend on it.
        """

    def pieces(self, size: int) -> Iterator[Self]:
        """The same, about so many places at a time: a piece draws what the whole does there."""


class Method(Protocol):
    """A way of making avatars.

    Attributes
    ----------
    key : its name; words about it stand in the catalogues under ``methods.<key>`` and the like.
    place : in lists; the least is the default.
    k, components : defaults.
    least_k : the smallest k that it takes.
    decodes : ways of decoding categories, the default first; empty where it has no choice.
    """

    @property
    def key(self) -> str: ...  # noqa: D102 (above)

    @property
    def place(self) -> int: ...  # noqa: D102 (above)

    @property
    def k(self) -> int: ...  # noqa: D102 (above)

    @property
    def components(self) -> int: ...  # noqa: D102 (above)

    @property
    def least_k(self) -> int: ...  # noqa: D102 (above)

    @property
    def decodes(self) -> tuple[str, ...]: ...  # noqa: D102 (above)

    def min_level_count(self, k: int) -> int:
        """The default number of people who must hold a level that may be drawn."""

    def fit(self, table: Table, settings: Settings, key: int, threads: int) -> Fitted:
        """Fit a table.

        Parameters
        ----------
        key : of the table, a secret; methods without secret groups have no use for it.

        Raises
        ------
        InputError
            The table can't be used with these settings.
        """

    def bytes_per_row(self, components: int, k: int) -> tuple[int, int]:
        """Memory that fitting takes, and that is held then, where the columns live on disk."""

    def inserted(
        self, published: Table, people: Table, settings: Settings, threads: int
    ) -> Fitted | Reason:
        """Avatars of people as if each, one at a time, were put among published rows.

        Row i of a release is an avatar of row i of `people`, of which there are as many as rows.
        """


def _declared() -> dict[str, Method]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    every: list[Method] = [module.METHOD for module in modules if hasattr(module, "METHOD")]
    return {method.key: method for method in sorted(every, key=lambda method: method.place)}


METHODS: dict[str, Method] = _declared()
"""Methods by their key, the default first."""


def method_of(key: str) -> Method:
    """The method of a name.

    Raises
    ------
    InputError
        There is none.

    Examples
    --------
    >>> method_of("barycentre").k
    5
    """
    if key not in METHODS:
        raise InputError(f"method must be {' or '.join(METHODS)}, got {key!r}")
    return METHODS[key]
