"""Where releases come from: an Avatarizer, any other generator, or tables that exist already.

A source gives aligned releases as encoded tables (row i belongs to person i), and can be
fitted again on one of its own releases, which is all that an attacker without the
originals can do.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from sosie.compute.arrays import Ints
from sosie.data.table import Grid, Numbers, Roles, Table
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.guarantee import Guarantee
from sosie.generate.methods import method_of

__all__ = ["AvatarSource", "Generator", "OtherSource", "Releases", "Source", "source_of"]

PART = 1 << 17
"""Rows of a release that are drawn together: a whole one is held only where it must be."""


@runtime_checkable
class Generator(Protocol):
    """Anything that makes synthetic tables row by row.

    ``fit(data)`` learns from a dataframe; ``release(r)`` gives release number r with the
    same columns, row i made for row i of the data, and the same answer for the same r.
    """

    def fit(self, data: Any, /) -> Any:
        """Learn from a dataframe, one row a person."""

    def release(self, r: int, /) -> Any:
        """Release r, aligned by row."""


class Releases:
    """Releases that exist already, as a generator: nothing is fitted.

    Parameters
    ----------
    tables : dataframes with the columns of the originals; row i is person i in each.
    """

    def __init__(self, tables: Sequence[Any]) -> None:
        self.tables = list(tables)

    def __len__(self) -> int:
        return len(self.tables)

    def fit(self, data: Any, /) -> Releases:
        """Nothing to learn."""
        del data
        return self

    def release(self, r: int, /) -> Any:
        """Table number r."""
        if r >= len(self.tables):
            raise InputError(
                f"there are {len(self.tables)} releases: at most {max(len(self.tables) - 1, 0)} "
                "can be used to fit, and one more is the target"
            )
        return self.tables[r]


class Source(Protocol):
    """What the scenarios draw from."""

    @property
    def originals(self) -> Table:
        """The rows that releases are aligned with."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is known of the generator, its seed excepted."""

    @property
    def guarantee(self) -> Guarantee | None:
        """What its releases guarantee, where that is known."""

    @property
    def repeatable(self) -> bool:
        """Whether another run makes the same releases."""

    @property
    def threads(self) -> int:
        """How many may work side by side; -1 for all."""

    def draw(self, release: int) -> Table:
        """One aligned release, in the columns and level codes of the originals."""

    def parts(self, release: int) -> Iterator[tuple[Ints, Table]]:
        """The same, some rows at a time: which rows, in whatever order, and their avatars."""

    def refit(self, published: Table) -> Source:
        """The same generator, fitted on one of its releases as if it were the originals."""


class AvatarSource:
    """Releases of an `Avatarizer`, without building dataframes."""

    def __init__(self, avatarizer: Avatarizer) -> None:
        self.avatarizer = avatarizer

    @property
    def originals(self) -> Table:
        """The rows that releases are aligned with."""
        return self.avatarizer.table

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The settings."""
        return asdict(self.avatarizer.settings)

    @property
    def guarantee(self) -> Guarantee:
        """That of the Avatarizer."""
        return self.avatarizer.guarantee

    @property
    def repeatable(self) -> bool:
        """Whether a seed was given."""
        return self.avatarizer.secrets.seed == self.avatarizer._order_seed

    @property
    def threads(self) -> int:
        """Those of the Avatarizer."""
        return self.avatarizer.threads

    def draw(self, release: int) -> Table:
        """One aligned release."""
        return self.avatarizer.draw(release)

    def parts(self, release: int) -> Iterator[tuple[Ints, Table]]:
        """The same, as many places at a time as are drawn fast."""
        for rows, drawn in self.avatarizer.pieces(release, PART):
            yield rows, drawn
            self.originals.storage.forget()

    def refit(self, published: Table) -> AvatarSource:
        """An Avatarizer with the same settings and another seed, fitted on a release.

        The seed must differ: with the same one, row i would get the weights it got before.
        The attacker has no reason to round what he makes, and does not: on ACTG175 this is
        what gives the article's V2 (rounded, the published estimator falls to 0.2 %).
        """
        return AvatarSource(self._reseeded(2**32 - 3).fit(_unrounded(published)))

    def inserted(self, published: Table) -> AvatarSource | Reason:
        """The generator as if each original, one at a time, were put among the published rows.

        Release r holds avatars of the originals, made with the published rows alone.
        """
        again, settings = self._reseeded(2**32 - 4), self.avatarizer.settings
        method = method_of(settings.method)
        fitted = method.inserted(_unrounded(published), self.originals, settings, again.threads)
        if isinstance(fitted, Reason):
            return fitted
        again._fitted = fitted
        return AvatarSource(again)

    def _reseeded(self, purpose: int) -> Avatarizer:
        """The same settings; the secrets follow from the first seed, so that results repeat."""
        # What it is fitted to is the method's table: nothing is left to be found in it.
        return self.avatarizer.unconstrained().reseeded(purpose)


class OtherSource:
    """Releases of any other generator, encoded like the originals."""

    def __init__(self, data: Any, generator: Generator, roles: Roles | None = None) -> None:
        self.generator = generator
        self._originals = Table.of(data, roles)
        generator.fit(data)

    @property
    def originals(self) -> Table:
        """The rows that releases are aligned with."""
        return self._originals

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its class is all that is known."""
        return {"generator": type(self.generator).__name__}

    @property
    def guarantee(self) -> None:
        """Nothing is known of it."""

    @property
    def repeatable(self) -> bool:
        """A generator must give the same answer for the same release."""
        return True

    @property
    def threads(self) -> int:
        """All."""
        return -1

    def parts(self, release: int) -> Iterator[tuple[Ints, Table]]:
        """The whole release: other generators make it whole."""
        yield np.arange(len(self._originals)), self.draw(release)

    def draw(self, release: int) -> Table:
        """One aligned release.

        Raises
        ------
        InputError
            Another number of rows, other columns than the originals, or no table at all.
        """
        made = self.generator.release(release)
        try:
            table = self._originals.like(made)
        except InputError as error:
            raise InputError(f"release {release}: {error}") from error
        if len(table) != len(self._originals):
            raise InputError(
                f"release {release} has {len(table)} rows, the originals {len(self._originals)}: "
                "releases must be aligned, row i made for row i"
            )
        return table

    def refit(self, published: Table) -> OtherSource:
        """A copy of the generator, fitted on a release.

        Raises
        ------
        InputError
            The releases exist already: there is no generator to fit again.
        """
        if isinstance(self.generator, Releases):
            raise InputError(
                "there is no generator to fit on the published release",
                reason=Reason("no_generator"),
            )
        frame = published.frame.to_native()
        return OtherSource(frame, copy.deepcopy(self.generator), self._originals.roles)


def _unrounded(table: Table) -> Table:
    columns = tuple(
        replace(c, kind="number", grid=Grid()) if isinstance(c, Numbers) else c
        for c in table.columns
    )
    return replace(table, columns=columns)


def source_of(data: Any, generator: Generator, roles: Roles | None = None) -> Source:
    """A fitted source; neither the data nor the generator of the caller is changed.

    Parameters
    ----------
    data : the originals, any dataframe.
    generator : an `Avatarizer`, `Releases`, or any object with ``fit`` and ``release``.
    roles : how columns are read, for generators that don't say.

    Raises
    ------
    InputError
        The generator lacks a method, or can't be fitted.
    """
    if isinstance(generator, Avatarizer):
        own = copy.copy(generator)
        return AvatarSource(own if _is_fitted(own, data) else own.fit(data))
    if not isinstance(generator, Generator):
        raise InputError(
            f"a generator needs fit(data) and release(r), and {type(generator).__name__} lacks one"
        )
    other = generator if isinstance(generator, Releases) else copy.deepcopy(generator)
    return OtherSource(data, other, roles)


def _is_fitted(avatarizer: Avatarizer, data: Any) -> bool:
    """Whether it was fitted on this very table."""
    return avatarizer._fitted is not None and (
        avatarizer.originals is data or avatarizer.table is data
    )


def fingerprint(table: Table) -> str:
    """A digest of the encoded columns: equal tables have equal ones."""
    digest = hashlib.sha256()
    for column in table.columns:
        digest.update(repr((column.name, column.kind)).encode())
        cells = column.values if isinstance(column, Numbers) else column.codes.astype(np.int32)
        digest.update(np.ascontiguousarray(cells).tobytes())
    return digest.hexdigest()
