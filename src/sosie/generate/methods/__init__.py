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
from typing import Protocol, Self

from sosie.compute.arrays import Ints
from sosie.compute.storage import Storage
from sosie.data.table import Table
from sosie.errors import InputError, Reason
from sosie.generate.gathered import Gathered, Layout
from sosie.generate.guarantee import Guarantee
from sosie.generate.mixture import Mixture
from sosie.generate.options import check_whole
from sosie.generate.settings import DEFAULT, Settings
from sosie.latent.famd import FAMD

__all__ = ["METHODS", "Fitted", "Method", "method_of", "settings_of"]


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
        self, seed: int, release: int, parts: range, *, storage: Storage, chunk: int, threads: int
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


def settings_of(
    k: int | None = None,
    components: int | None = None,
    method: str = DEFAULT,
    decode: str | None = None,
    min_level_count: int | None = None,
    augment: int = 1,
) -> Settings:
    """Settings with the method's defaults for all that is None.

    Raises
    ------
    InputError
        A value out of range, or one that the method does not take.

    Examples
    --------
    >>> settings_of(k=7).min_level_count, settings_of(method="barycentre").min_level_count
    (7, 1)
    """
    chosen = method_of(method)
    k = chosen.k if k is None else k
    components = chosen.components if components is None else components
    least = {"k": chosen.least_k, "components": 1, "augment": 1}
    for name, number in (("k", k), ("components", components), ("augment", augment)):
        check_whole(name, number, least[name])
    if decode is not None and decode not in chosen.decodes:
        if not chosen.decodes:
            raise InputError(f"method {method} has no decode to choose, got {decode!r}")
        raise InputError(f"decode must be {' or '.join(chosen.decodes)}, got {decode!r}")
    if decode is None and chosen.decodes:
        decode = chosen.decodes[0]
    count = chosen.min_level_count(k) if min_level_count is None else min_level_count
    check_whole("min_level_count", count, 1)
    return Settings(k, components, method, decode, count, augment)
