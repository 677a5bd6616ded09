"""What avatars lose or change, one notice a column: nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sosie.data.table import Levels, Table

__all__ = ["Notice", "levels_lost", "shares_moved"]

MOST_LOST = 0.05
"""Share of a column's people from which losing their values is said."""

COMMON = 0.02
"""Share of the people from which a level is missed by itself."""

MOST_MOVED = 0.05
"""Change of a level's share that is said."""


@dataclass(frozen=True)
class Notice:
    """Something that deserves a look: what, where, whom it touches.

    What to do is part of the words, ``notices.<kind>`` of the catalogues.

    Attributes
    ----------
    kind : ``levels_lost``, ``constant``, ``share_moved``, ``rows_not_people``,
        ``constraints_not_kept``, ``constraints_of_many_columns`` or ``said_not_held``.
    column : its name; None for the whole table.
    people : how many it touches; None where that is not counted.
    values : what else the words speak of.

    Examples
    --------
    >>> Notice("constant", "death", 24, {"share": 0.02}).to_dict()
    {'kind': 'constant', 'column': 'death', 'people': 24, 'values': {'share': 0.02}}
    """

    kind: str
    column: Hashable = None
    people: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As ``run.json`` holds it."""
        return {
            "kind": self.kind,
            "column": None if self.column is None else str(self.column),
            "people": self.people,
            "values": dict(self.values),
        }


def levels_lost(table: Table, least: int) -> Iterator[Notice]:
    """Columns whose rare levels hold many people, or levels that many hold.

    Parameters
    ----------
    least : levels that fewer people hold are never drawn.

    Yields
    ------
    Notice
        ``constant`` where a single level is left, else ``levels_lost``.
    """
    for column in table.levels:
        counts = column.counts()
        held = np.array([label is not None for label in column.labels]) & (counts > 0)
        rare = held & (counts < least)
        people, lost = int(counts[held].sum()), int(counts[rare].sum())
        if not lost:
            continue
        values = {"share": lost / people}
        if int((held & ~rare).sum()) == 1 and not (counts > 0)[~held].any():
            yield Notice("constant", column.name, lost, values)
        elif (
            lost > MOST_LOST * people
            or int(held.sum()) == 2
            or counts[rare].max() >= COMMON * people
        ):
            yield Notice("levels_lost", column.name, lost, {**values, "least": least})


def shares_moved(originals: Table, avatars: Table) -> Iterator[Notice]:
    """Columns of which a level's share moves by more than five points.

    Parameters
    ----------
    avatars : encoded like the originals.
    """
    for before, after in zip(originals.columns, avatars.columns, strict=True):
        if not (isinstance(before, Levels) and isinstance(after, Levels)):
            continue
        counts = before.counts()
        shares = after.counts()[: len(counts)] / max(len(after.codes), 1)
        moves = shares - counts / max(len(before.codes), 1)
        most = int(np.argmax(np.abs(moves)))
        if abs(moves[most]) > MOST_MOVED:
            points = round(100 * float(moves[most]), 1)
            yield Notice("share_moved", before.name, int(counts[most]), {"points": points})
