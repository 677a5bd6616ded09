"""Columns of many levels as they enter a latent space: the commonest, and one for the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sosie.compute.arrays import Ints
from sosie.data.table import Column, Levels, Name, Table

__all__ = ["MOST_LEVELS", "CommonLevels"]

MOST_LEVELS = 60
"""Levels with which a column enters the latent space: the commonest ones, and one for all others.
More would each span an axis of few people, and the number must not follow k, or groups of one k
would not be unions of those of another."""


@dataclass(frozen=True)
class CommonLevels:
    """Which levels of a table's columns stand for themselves; the others count as one.

    Attributes
    ----------
    codes : for each column of more than `MOST_LEVELS` levels, ``(L + 1,) int64``, the code of each
        level, and last that of any level that the table does not have.

    Examples
    --------
    >>> import polars as pl
    >>> towns = [f"town {i}" for i in range(100)] + ["town 7"] * 50
    >>> table = Table.of(pl.DataFrame({"town": towns}))
    >>> pooled = CommonLevels.of(table).pooled(table)
    >>> len(table.level("town").labels), len(pooled.level("town").labels)
    (100, 60)
    """

    codes: Mapping[Name, Ints]

    @classmethod
    def of(cls, table: Table) -> Self:
        """The commonest levels of each column, of equally common ones the first."""
        return cls(
            {
                column.name: _codes(column)
                for column in table.levels
                if len(column.labels) > MOST_LEVELS
            }
        )

    def pooled(self, table: Table) -> Table:
        """A table, of whose levels the rare ones are one; coded as the table of `of` is."""
        if not self.codes:
            return table
        return replace(table, columns=tuple(self._pooled(column) for column in table.columns))

    def _pooled(self, column: Column) -> Column:
        if not isinstance(column, Levels) or column.name not in self.codes:
            return column
        code = self.codes[column.name]
        known, common = len(code) - 1, MOST_LEVELS - 1
        kept = np.flatnonzero(code[:-1] < common)
        own = column.codes if len(column.labels) <= known else np.minimum(column.codes, known)
        return replace(
            column,
            codes=code.astype(column.codes.dtype)[own],
            labels=(*(column.labels[level] for level in kept), "…"),
            first=np.append(column.first[kept], -1),
        )


def _codes(column: Levels) -> Ints:
    counts = column.counts()
    common = np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])
    code = np.full(len(counts) + 1, len(common), dtype=np.int64)
    code[common] = np.arange(len(common))
    code[-1] = MOST_LEVELS
    return code
