"""The secrets of avatars: the key of a table, and the seed of a release.

The key turns the axes along which groups are cut. It belongs to the table: releases of the same
table must have the same groups, so a further release takes the key of the first. The seed is
what avatars are drawn with, and is another one each time. Both stand in the private folder,
for its owner only, and nowhere else.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import Self

from sosie.errors import InputError

__all__ = ["Secrets", "derived_key"]

BITS = 128
"""Of a secret from the operating system: nobody can try them all."""


@dataclass(frozen=True)
class Secrets:
    """What avatars are drawn with; neither is shown when this is printed.

    Attributes
    ----------
    key : of the table, at least 0.
    seed : of the release, at least 0.
    """

    key: int = field(repr=False)
    seed: int = field(repr=False)

    @classmethod
    def of(cls, seed: int | None = None, key: int | None = None) -> Self:
        """What is given, and for the rest: a key derived from the seed, or fresh entropy.

        Parameters
        ----------
        seed : None for a fresh one.
        key : that of a former release of the same table; None derives it from a given seed, so
            that what is repeated with the seed alone is the same, or takes a fresh one.

        Raises
        ------
        InputError
            A negative number.

        Examples
        --------
        >>> Secrets.of(seed=1) == Secrets.of(seed=1), Secrets.of() == Secrets.of()
        (True, False)
        >>> Secrets.of(key=5).key, Secrets.of(key=5).seed == Secrets.of(key=5).seed
        (5, False)
        """
        for name, number in (("seed", seed), ("key", key)):
            if number is not None and number < 0:
                raise InputError(f"the {name} must be at least 0")
        if key is None:
            key = secrets.randbits(BITS) if seed is None else derived_key(seed)
        return cls(key, secrets.randbits(BITS) if seed is None else seed)


def derived_key(seed: int) -> int:
    """The key that goes with a seed: 128 bits that do not give the seed away.

    >>> derived_key(1) == derived_key(1) != derived_key(2)
    True
    """
    digest = hmac.digest(str(seed).encode(), b"sosie: key of the table", "sha256")
    return int.from_bytes(digest[: BITS // 8], "big")
