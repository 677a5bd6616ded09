"""An interrupted attack goes on where it stopped.

What was accumulated is written after each release, atomically and for the owner alone:
moments of one person's avatars are as private as the table of originals. File names are
digests of the data and the parameters; no seed is written.
"""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.data.atomic import OWNER_FILE, atomic
from sosie.data.table import Column, Numbers, Table
from sosie.errors import InputError

__all__ = ["Store"]

PAUSE = 1.0
"""Seconds between two saves: an interruption loses no more work than that."""


@dataclass
class Store:
    """A private folder with what one attack has accumulated.

    Parameters
    ----------
    folder : made if need be, with owner-only permissions.
    key : digest of the data and the parameters (see `Store.of`).
    pause : seconds between two saves.
    """

    folder: Path
    key: str
    pause: float = PAUSE
    _saved: float = 0.0

    @classmethod
    def of(cls, folder: Path | str, *parts: object) -> Store:
        """A store whose key is the digest of some parts.

        >>> Store.of("somewhere", 1, "a").key == Store.of("somewhere", 1, "a").key
        True
        """
        return cls(Path(folder), hashlib.sha256(repr(parts).encode()).hexdigest()[:32])

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """What was saved under a name, or None; a damaged file counts as none."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                return dict(saved)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None

    def save(self, name: str, arrays: Mapping[str, Any], *, soon: bool = True) -> None:
        """Write under a name; with `soon`, only where the last save is a while ago."""
        if soon and time.monotonic() - self._saved < self.pause:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.folder}: no folder can be made here ({error.strerror})"
            ) from error
        atomic(self._path(name), lambda file: np.savez(file, **arrays), OWNER_FILE)
        self._saved = time.monotonic()

    def table(self, name: str, make: Callable[[], Table]) -> Table:
        """A table that must be the same when the attack goes on: saved the first time."""
        made = make()
        saved = self.load(name)
        if saved is None or len(saved) != len(made.columns):
            cells = {f"c{i}": _cells(column) for i, column in enumerate(made.columns)}
            self.save(name, cells, soon=False)
            return made
        columns = tuple(_with(c, saved[f"c{i}"]) for i, c in enumerate(made.columns))
        return replace(made, columns=columns)

    def clear(self) -> None:
        """Delete what this attack saved: it is done."""
        for path in self.folder.glob(f"{self.key}-*.npz"):
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{self.key}-{name}.npz"


def _cells(column: Column) -> NDArray[Any]:
    return column.values if isinstance(column, Numbers) else column.codes


def _with(column: Column, cells: NDArray[Any]) -> Column:
    if isinstance(column, Numbers):
        return replace(column, values=cells)
    return replace(column, codes=cells)
