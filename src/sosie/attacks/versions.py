"""The same settings fitted to another version of a table: by an attacker, or for a new release."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np

from sosie.attacks.groups import members_of
from sosie.compute.arrays import Ints
from sosie.data.table import Column, Levels, Table
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods import method_of
from sosie.generate.secrets import Secrets

__all__ = ["Version", "in_codes_of"]


@dataclass(frozen=True)
class Version:
    """Avatars of one version of a table.

    Attributes
    ----------
    avatarizer : fitted to it.
    codes : the table in whose level codes releases are given.
    """

    avatarizer: Avatarizer
    codes: Table

    @classmethod
    def of(
        cls,
        avatarizer: Avatarizer,
        table: Table,
        secrets: Secrets,
        *,
        k: int | None = None,
        codes: Table | None = None,
    ) -> Version:
        """Fit the settings of an avatarizer to a table.

        Parameters
        ----------
        table : encoded; all or some of the rows and columns of `codes`.
        k : in place of that of the settings.
        codes : whose level codes are wanted; by default the table's.

        Raises
        ------
        InputError
            The table can't be used with these settings.
        """
        again, settings = copy.copy(avatarizer), avatarizer.settings
        settings = settings if k is None else replace(settings, k=k)
        again._secrets = secrets
        again._fitted = method_of(settings.method).fit(
            table, settings, secrets.key, avatarizer.threads
        )
        return cls(again, table if codes is None else codes)

    def draw(self, release: int) -> Table:
        """One aligned release; methods may number levels by how many people hold them."""
        return in_codes_of(self.avatarizer.draw(release), self.codes)

    def members(self) -> Ints:
        """(m,) int64, the group of each row; raises InputError where the method has none."""
        return members_of(self.avatarizer)


def in_codes_of(table: Table, known: Table) -> Table:
    """The table with its levels numbered as another one numbers them.

    >>> import polars as pl
    >>> one, other = (Table.of(pl.DataFrame({"sex": list(sex)})) for sex in ("MF", "FM"))
    >>> in_codes_of(one, other).level("sex").codes.tolist()
    [1, 0]
    """
    columns = tuple(_recoded(column, known.column(column.name)) for column in table.columns)
    return replace(table, columns=columns)


def _recoded(column: Column, known: Column) -> Column:
    if not (isinstance(column, Levels) and isinstance(known, Levels)):
        return column
    if column.labels == known.labels:
        return column
    place = {label: code for code, label in enumerate(known.labels)}
    codes = np.array([place[label] for label in column.labels], dtype=known.codes.dtype)
    return replace(column, codes=codes[column.codes], labels=known.labels)
