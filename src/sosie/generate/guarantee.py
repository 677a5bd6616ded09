"""What holds for avatars against whoever lacks the secrets, or why nothing is guaranteed.

All avatars of a group are independent draws from one law in which its members enter alike. So
every way of giving a group's avatars to its members is as likely as any other, whatever is known
of the originals, the code, the groups and the releases, and whoever names the person of an
avatar is right with probability 1 / s, s being the rows of the group. The bound is that of the
smallest group. Statement, proof and conditions: docs/guarantee.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.errors import Reason

__all__ = ["KEPT", "LINKAGE", "METHOD", "ROWS", "Guarantee"]

LINKAGE = "linkage"
"""What is covered: naming the person whose avatar a record is."""

METHOD = "no_guarantee_of_method"
KEPT = "kept_outside_groups"
ROWS = "rows_are_not_people"


@dataclass(frozen=True)
class Guarantee:
    """The bound on linkage, and why it holds or does not.

    Attributes
    ----------
    holds : whether the bound is guaranteed.
    bound : 1 / `smallest_group`, a probability; None where nothing is guaranteed.
    smallest_group : people in the smallest group; None for methods without groups.
    groups : how many there are; None likewise.
    people : in all groups together, or in the table.
    reason : None where it holds, else the first of these that applies:

        ``rows_are_not_people`` (``column`` that names the person, ``rows``, ``people``)
            several rows are of one person, and it is rows that are counted;
        ``kept_outside_groups`` (``columns``)
            values of these columns stand beside avatars as they stood beside people;
        ``no_guarantee_of_method`` (``method``)
            this method draws an avatar around its person.
    covers : what is guaranteed: ``("linkage",)``, or nothing.
    broken_by : the keys of all reasons that apply.

    Examples
    --------
    >>> made = Guarantee.of_groups([16, 17, 16])
    >>> made.bound, made.people, made.to_json()["covers"]
    (0.0625, 49, ['linkage'])
    >>> made.kept_outside(["postcode"]).holds
    False
    """

    holds: bool
    bound: float | None
    smallest_group: int | None
    groups: int | None
    people: int
    reason: Reason | None = None
    covers: tuple[str, ...] = (LINKAGE,)
    broken_by: tuple[str, ...] = ()

    @classmethod
    def of_groups(cls, sizes: Sequence[int] | NDArray[np.integer[Any]]) -> Self:
        """That of exchangeable avatars.

        Parameters
        ----------
        sizes : (G,) people in each group, at least one group. How many avatars a group
            publishes for each member changes nothing.
        """
        least = int(min(sizes))
        return cls(True, 1 / least, least, len(sizes), int(sum(map(int, sizes))))

    @classmethod
    def of_method(cls, method: str, people: int) -> Self:
        """That of a method that draws avatars around people: none."""
        whole = cls(True, None, None, None, people)
        return whole._broken(Reason(METHOD, {"method": method}))

    def kept_outside(self, columns: Sequence[Hashable]) -> Self:
        """The same with columns kept beside the groups' strata; without any, the same.

        Columns kept inside strata break nothing: a stratum's groups hold k people each.
        """
        if not columns:
            return self
        return self._broken(Reason(KEPT, {"columns": [str(name) for name in columns]}))

    def rows_not_people(self, column: Hashable, rows: int, people: int) -> Self:
        """The same where several rows are of one person: groups count rows.

        Parameters
        ----------
        column : that tells whose a row is.
        rows, people : of the table.
        """
        values = {"column": str(column), "rows": rows, "people": people}
        return replace(self._broken(Reason(ROWS, values)), people=people)

    def _broken(self, reason: Reason) -> Self:
        """The latest reason comes first: rows that are no people matter most."""
        return replace(
            self,
            holds=False,
            bound=None,
            reason=reason,
            covers=(),
            broken_by=(reason.key, *self.broken_by),
        )

    def to_json(self) -> dict[str, Any]:
        """As ``run.json`` holds it."""
        return {
            "holds": self.holds,
            "bound": self.bound,
            "smallest_group": self.smallest_group,
            "groups": self.groups,
            "people": self.people,
            "reason": None if self.reason is None else self.reason.to_dict(),
            "covers": list(self.covers),
            "broken_by": list(self.broken_by),
        }
