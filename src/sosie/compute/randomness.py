"""Random draws keyed by place: the same for any chunk size, thread count or partitioning.

Rows are numbered along a curve through the latent space and grouped in blocks of 16,384.
Each (seed, release, block, purpose) has a counter-based generator of its own (Philox), so
a block can be drawn anywhere, alone, in any order.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "Purpose", "blocks", "fresh_seed", "generator", "keys"]

BLOCK = 16_384


class Purpose(IntEnum):
    """What a stream is for; streams of different purposes are independent."""

    WEIGHTS = 0
    LEVELS = 1
    NOISE = 3
    ORDER = 4
    SURROGATE = 5
    MENDED = 6


def fresh_seed() -> int:
    """A secret seed of 128 bits from the operating system."""
    return secrets.randbits(128)


def generator(seed: int, release: int, block: int, purpose: Purpose) -> np.random.Generator:
    """The generator of one block of rows.

    >>> draws = [generator(1, 0, block, Purpose.NOISE).random() for block in (0, 0, 1)]
    >>> first, again, other = draws
    >>> first == again != other
    True
    """
    key = np.random.SeedSequence(seed, spawn_key=(release, block, int(purpose)))
    return np.random.Generator(np.random.Philox(key))


def keys(
    seed: int, number: int, purpose: Purpose, start: int, count: int, total: int
) -> NDArray[np.int64]:
    """Random numbers of some of all places, ``(count,) int64``: their order is one of chance.

    >>> whole = keys(1, 0, Purpose.ORDER, 0, 20_000, 20_000)
    >>> np.array_equal(keys(1, 0, Purpose.ORDER, 15_000, 3_000, 20_000), whole[15_000:18_000])
    True
    """
    held = []
    for block in range(start // BLOCK, -(-(start + count) // BLOCK)):
        first, last = block * BLOCK, min((block + 1) * BLOCK, total)
        drawn = generator(seed, number, block, purpose).integers(2**63, size=last - first)
        held.append(drawn[max(start - first, 0) : start + count - first])
    return np.concatenate(held)


def blocks(rows: int) -> Iterator[tuple[int, slice]]:
    """Number and rows of each block of a table of so many rows.

    >>> [(number, rows.stop) for number, rows in blocks(20_000)]
    [(0, 16384), (1, 20000)]
    """
    for number, start in enumerate(range(0, rows, BLOCK)):
        yield number, slice(start, min(start + BLOCK, rows))
