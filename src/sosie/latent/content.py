"""A hash of what each row holds, whatever the order in which its levels were met.

Codes of levels follow the order of the rows; what decides anything about avatars must not.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sosie.data.missing import tagged, tags
from sosie.data.rows import FIRST, MIXING
from sosie.data.table import Column, Numbers, Table

__all__ = ["content_hashes", "mixed"]

DAY = 86_400 * 10**9
"""Nanoseconds: dates of any unit are whole numbers of them."""

WHOLE = 2.0**63
"""Whole numbers below it fit 64 bits; others count as the bits of a float."""


def content_hashes(table: Table, *, names: bool = True) -> NDArray[np.uint64]:
    """64 bits for each row, equal for equal rows, in any order of the rows, ``(n,) uint64``.

    Of the encoded columns, in their order; a missing value is a value like any other. Whole
    numbers and dates count as they are, wherever the grid of the column begins.

    Parameters
    ----------
    names : whether a level counts by its name; otherwise by how many people hold it.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": ["x", "y", "x"] * 4, "b": [1.5, 2.5, 1.5] * 4})
    >>> here, there = content_hashes(Table.of(frame)), content_hashes(Table.of(frame[::-1]))
    >>> bool((here == there[::-1]).all()), bool(here[0] == here[2] != here[1])
    (True, True)
    """
    total = np.full(len(table), FIRST, dtype=np.uint64)
    for column in table.columns:
        total ^= _bits(column, names)
        total = mixed(total)
        table.storage.forget()
    return total


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each bit of a number changes half of those of the result, which is another for each number.

    SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

    >>> len(np.unique(mixed(np.arange(1000, dtype=np.uint64))))
    1000
    """
    for shift, factor in MIXING:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


def _bits(column: Column, names: bool) -> NDArray[np.uint64]:
    if isinstance(column, Numbers):
        kinds = tagged(tags(column.values))  # one NaN for each kind of missing value
        return np.where(column.missing, kinds.view(np.uint64), _numbers(column))
    if not names:
        return np.asarray(column.counts().astype(np.uint64).take(column.codes))
    labels = np.array([_label_hash(label) for label in column.labels], dtype=np.uint64)
    return np.asarray(labels.take(column.codes))


def _numbers(column: Numbers) -> NDArray[np.uint64]:
    """Numbers, however they are stored: whole ones modulo 2^64, dates in nanoseconds."""
    grid, values = column.grid, np.where(column.missing, 0.0, column.values)
    if grid.step:
        tick = DAY // grid.per_day if column.kind == "date" else 1
        step, origin = np.uint64(grid.step * tick % 2**64), np.uint64(grid.origin * tick % 2**64)
        return values.astype(np.int64).view(np.uint64) * step + origin
    whole = (np.rint(values) == values) & (np.abs(values) < WHOLE)
    return np.where(
        whole, np.where(whole, values, 0.0).astype(np.int64).view(np.uint64), values.view(np.uint64)
    )


def _label_hash(label: str | None) -> int:
    """Of a level; a missing one has a byte that no text has."""
    text = b"\xff" if label is None else label.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
