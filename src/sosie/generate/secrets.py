"""The secrets of avatars: the key of a table, and the seed of a release.

The key turns the axes along which groups are cut. It belongs to the table: releases of the same
table must have the same groups, so a further release takes the key of the first. The seed is
what avatars are drawn with, and is another one each time. Both stand in the private folder,
for its owner only, and nowhere else.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sosie.data.atomic import OWNER_FILE, atomic
from sosie.errors import InputError
from sosie.latent.content import mixed

__all__ = [
    "KEY_FILE",
    "SEED_FILE",
    "Secrets",
    "TableKey",
    "derived_key",
    "read_key",
    "read_seed",
    "table_fingerprint",
    "write_secrets",
]

KEY_FILE, SEED_FILE = "key", "seed"
"""Names in the private folder."""

BITS = 128
"""Of a secret from the operating system: nobody can try them all."""

WORD = 2**64


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


@dataclass(frozen=True)
class TableKey:
    """A key, and the fingerprint of the table that it belongs to."""

    key: int = field(repr=False)
    fingerprint: str

    def fits(self, fingerprint: str) -> bool:
        """Whether a table with this fingerprint (under this key) is the one it belongs to."""
        return hmac.compare_digest(self.fingerprint, fingerprint)


def derived_key(seed: int) -> int:
    """The key that goes with a seed: 128 bits that do not give the seed away.

    >>> derived_key(1) == derived_key(1) != derived_key(2)
    True
    """
    digest = hmac.digest(str(seed).encode(), b"sosie: key of the table", "sha256")
    return int.from_bytes(digest[: BITS // 8], "big")


def table_fingerprint(
    key: int, names: Sequence[Hashable], hashes: Iterable[NDArray[np.uint64]]
) -> str:
    """What tells a table to those who hold the key, and nothing to others; in hexadecimal.

    The rows count as a set of which some may be equal: their order, and the parts in which they
    come, change nothing. Another row, value, column or name does.

    Parameters
    ----------
    key : of the table.
    names : of the columns that took part, in order.
    hashes : of the content of all rows, in parts of any size, each ``(m,) uint64``.

    Examples
    --------
    >>> rows = np.arange(6, dtype=np.uint64)
    >>> one = table_fingerprint(7, ["age"], [rows])
    >>> one == table_fingerprint(7, ["age"], [rows[4:], rows[3::-1]])
    True
    >>> one == table_fingerprint(7, ["age"], [rows[:5]])
    False
    """
    words = [int.from_bytes(_keyed(key, b"%d" % i)[:8], "big") for i in range(2)]
    rows, sums = 0, [0, 0]
    for part in hashes:
        rows += len(part)
        for i, word in enumerate(words):  # whole numbers that wrap around: exact in any order
            total = int(mixed(part ^ np.uint64(word)).sum(dtype=np.uint64))
            sums[i] = (sums[i] + total) % WORD
    content = json.dumps([rows, sums, [repr(name) for name in names]])
    return _keyed(key, content.encode()).hex()


def write_secrets(folder: Path, kept: Secrets, fingerprint: str) -> None:
    """Write the key and the seed into a private folder, each in a file for its owner only.

    Parameters
    ----------
    folder : is there already.
    fingerprint : of the table, see `table_fingerprint`.

    Raises
    ------
    InputError
        A file can't be written.
    """
    _write(folder / SEED_FILE, f"{kept.seed}\n")
    _write(folder / KEY_FILE, f"key {kept.key}\ntable {fingerprint}\n")


def read_key(folder: Path) -> TableKey:
    """The key of a former run, from its private folder; never its seed.

    Raises
    ------
    InputError
        There is no key, or the file is not one of ours.
    """
    path = folder / KEY_FILE
    lines = dict(line.partition(" ")[::2] for line in _read(path).splitlines())
    key, fingerprint = lines.get("key", ""), lines.get("table", "")
    if not (_is_whole(key) and fingerprint and lines.keys() == {"key", "table"}):
        raise InputError(f"{path}: this is not the key of a run; take the file as the run wrote it")
    return TableKey(int(key), fingerprint)


def read_seed(folder: Path) -> int:
    """The seed of a run, from its private folder: with it and the originals, its avatars again.

    Raises
    ------
    InputError
        There is no seed, or the file is not one of ours.
    """
    text = _read(folder / SEED_FILE).strip()
    if not _is_whole(text):
        raise InputError(f"{folder / SEED_FILE}: this is not the seed of a run")
    return int(text)


def _keyed(key: int, content: bytes) -> bytes:
    return hmac.digest(str(key).encode(), content, "sha256")


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _write(path: Path, text: str) -> None:
    atomic(path, lambda file: file.write(text.encode()), OWNER_FILE)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: can't be read; give the folder private/ of a former run of this table"
            " (--secrets)"
        ) from error
