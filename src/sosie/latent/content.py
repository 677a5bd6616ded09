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


def content_hashes(table: Table) -> NDArray[np.uint64]:
    """64 bits for each row, equal for equal rows, in any order of the rows, ``(n,) uint64``.

    Of the encoded columns, in their order; a missing value is a value like any other.

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
        total ^= _bits(column)
        total = mixed(total)
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


def _bits(column: Column) -> NDArray[np.uint64]:
    if isinstance(column, Numbers):
        kinds = tagged(tags(column.values))  # one NaN for each kind of missing value
        plain = np.where(np.isnan(column.values), kinds, column.values + 0.0)  # one zero
        return plain.view(np.uint64)
    labels = np.array([_label_hash(label) for label in column.labels], dtype=np.uint64)
    return np.asarray(labels.take(column.codes))


def _label_hash(label: str | None) -> int:
    """Of a level; a missing one has a byte that no text has."""
    text = b"\xff" if label is None else label.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
