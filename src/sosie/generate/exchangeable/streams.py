"""Streams of draws, keyed by seed, release, part, block of places, purpose and column."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

__all__ = ["HALF", "Stream", "stream"]

HALF = 2.0**-25
"""Half a step of a uniform float32: a draw is never 0, and what has no share never comes."""


class Stream(IntEnum):
    """What a stream of draws is for; apart from those of `sosie.compute.randomness.Purpose`."""

    NOISE = 16
    LEVELS = 17
    PAIRING = 18
    PILOT_NOISE = 19
    PILOT_LEVELS = 20
    ROWS = 21
    PILOT_ROWS = 22


def stream(
    seed: int, release: int, part: int, block: int, purpose: Stream, column: int = 0
) -> np.random.Generator:
    """The generator of one block and column.

    >>> one, other = (stream(1, 0, 0, 0, Stream.NOISE, column).random() for column in (0, 1))
    >>> one != other
    True
    """
    key = np.random.SeedSequence(seed, spawn_key=(release, block, int(purpose), part, column))
    return np.random.Generator(np.random.Philox(key))
