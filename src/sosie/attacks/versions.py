"""The same settings fitted to another version of a table: by an attacker, or for a new release."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

from sosie.attacks.groups import members_of
from sosie.compute.arrays import Ints
from sosie.data.table import Table
from sosie.generate.avatarizer import Avatarizer, coded_like
from sosie.generate.methods import method_of
from sosie.generate.secrets import Secrets

__all__ = ["Version"]


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
        drawn = self.avatarizer.draw(release)
        return coded_like(drawn, self.codes.select(drawn.names))

    def members(self) -> Ints:
        """(m,) int64, the group of each row; raises InputError where the method has none."""
        return members_of(self.avatarizer)
