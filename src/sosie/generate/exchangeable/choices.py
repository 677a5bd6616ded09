"""What is drawn as a category: a column, a group of linked ones, or the state of a number.

Levels that fewer than `min_level_count` people hold are one code, the last: which of them a
person holds enters nothing. Codes are numbered by label, so that no result depends on the
order of the rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints
from sosie.compute.storage import Storage
from sosie.compute.sums import tally
from sosie.data.table import Levels
from sosie.errors import InputError, quoted
from sosie.generate.exchangeable.fixed_point import SCORE, on_grid

__all__ = ["MANY", "Choice", "choice_of"]

MANY = 20
"""Of more levels, each acts through its mean place in the latent space."""

CHUNK = 1 << 16
"""Rows that are added at a time."""

Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class Choice:
    """Something with levels to draw.

    Attributes
    ----------
    names : columns that it decides; one, or several where linked.
    codes : (n,) unsigned or int32, by place: 0 to ``size - 1``, and `size` for a level that may
        not be drawn.
    size : how many levels may be drawn, at least 1.
    original : (size,) int64, the number of each level in the table (of a joint level, its row
        of `parts`).
    parts : for linked columns ``(L, columns) int64``, the code of each column; else None.
    places : ``(size, d) float64``, on a grid, where there are many levels; else None.
    """

    names: tuple[Hashable, ...]
    codes: NDArray[Any]
    size: int
    original: Ints
    parts: Ints | None = None
    places: Floats | None = None

    @property
    def width(self) -> int:
        """Logits that it takes: none, a difference, one a level, or one an axis."""
        if self.places is not None:
            return int(self.places.shape[1])
        return (0, 1)[self.size - 1] if self.size <= 2 else self.size

    @cached_property
    def features(self) -> Floats:
        """What each level is to the draws that follow, ``(width, size + 1) float64``."""
        if self.places is not None:
            return np.vstack([self.places, np.zeros(self.width)]).T
        return np.eye(self.size + 1)[:-1][-self.width :] if self.width else np.empty((0, 2))

    def sums(self, points: Floats) -> Floats:
        """How many hold each level, and the sums of their coordinates, ``(size, 1 + d) float64``.

        Parameters
        ----------
        points : (n, d) float64, latent coordinates of the same rows; put on a grid, so that
            sums of parts can be added.
        """
        total = np.zeros((self.size + 1, 1 + points.shape[1]))
        for start in range(0, len(points), CHUNK):
            codes = self.codes[start : start + CHUNK]
            part = on_grid(points[start : start + CHUNK], SCORE)
            total[:, 0] += np.bincount(codes, minlength=len(total))
            for i, axis in enumerate(part.T, start=1):
                total[:, i] += np.bincount(codes, axis, minlength=len(total))
        return total[:-1]

    def placed(self, sums: Floats, people: int) -> Self:
        """The same with the mean place of each level, scaled.

        Parameters
        ----------
        sums : see `sums`, of the table.
        people : how many at the centre each level is averaged with.
        """
        counts = sums[:, 0]
        places = sums[:, 1:] / (counts + people)[:, None]
        # On the scale of a score, which the penalty of coefficients is meant for.
        spread = np.sqrt((counts @ np.square(places)).max() / counts.sum())
        return replace(self, places=on_grid(places / (spread or 1.0), SCORE))

    def slim(self) -> Self:
        """Without the rows."""
        return replace(self, codes=np.empty(0, dtype=self.codes.dtype))

    @classmethod
    def among(
        cls,
        names: tuple[Hashable, ...],
        codes: NDArray[Any],
        allowed: Sequence[int],
        levels: int,
        parts: Ints | None = None,
    ) -> Self:
        """A choice among some of all levels, in the order given; the others are one.

        Examples
        --------
        >>> choice = Choice.among(("sex",), np.array([0, 2, 1]), allowed=[2, 0], levels=3)
        >>> choice.codes.tolist(), choice.size, choice.width
        ([1, 0, 2], 2, 1)
        """
        size = len(allowed)
        dtype = np.uint8 if size < 2**8 else np.uint16 if size < 2**16 else np.int32
        new = np.full(levels, size, dtype=dtype)
        new[list(allowed)] = np.arange(size, dtype=dtype)
        return cls(names, new[codes], size, np.asarray(allowed, dtype=np.int64), parts)


def choice_of(columns: Sequence[Levels], order: Ints, least: int, storage: Storage) -> Choice:
    """The choice of one category, or of linked ones together.

    Parameters
    ----------
    columns : with levels numbered alike whatever the order of the rows.
    order : (n,) int64, the row at each place.
    least : people who must hold a level that may be drawn.

    Raises
    ------
    InputError
        No level, or combination of levels, is held by so many.
    """
    names, parts = tuple(column.name for column in columns), None
    (column, *others) = columns
    codes: NDArray[Any] = column.codes
    labels: list[Labels] = [(label,) for label in column.labels]
    if others:
        codes, parts = _joint(columns)
        labels = [
            tuple(c.labels[i] for c, i in zip(columns, row, strict=True)) for row in parts.tolist()
        ]
    counts = tally(codes, len(labels))
    _check(names, labels, counts, least)
    allowed = np.flatnonzero(counts >= least).tolist()
    choice = Choice.among(names, codes, allowed, len(labels), parts)
    return replace(choice, codes=storage.keep(choice.codes[order]))


def _joint(columns: Sequence[Levels]) -> tuple[NDArray[Any], Ints]:
    """Codes of the combinations that occur, and the code of each column in them."""
    (first, *others) = columns
    held, codes = np.unique(first.codes, return_inverse=True)
    parts = held[:, None].astype(np.int64)
    for column in others:
        size = len(column.labels)
        held, codes = np.unique(codes * size + column.codes, return_inverse=True)
        parts = np.column_stack([parts[held // size], held % size])
    return codes, parts


def _check(names: tuple[Hashable, ...], labels: list[Labels], counts: Ints, least: int) -> None:
    named = counts[[any(label is not None for label in some) for some in labels]]
    if not len(named) or named.max() >= least:
        return
    if len(names) > 1:
        raise InputError(
            f"no combination of the linked columns {quoted(names)} is held by at least {least}"
            " people; coarsen them, or link fewer"
        )
    raise InputError(
        f"column {names[0]!r}: no value is held by at least {least} people, so none may be"
        " drawn; drop it (--drop), replace it by a surrogate (--id), coarsen it, or declare it"
        " --numeric or --date if it is one"
    )
