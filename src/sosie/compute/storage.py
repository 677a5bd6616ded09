"""Where large arrays live: in memory, or in scratch files on disk.

Scratch files have no name: they are gone with the process, whatever ends it, and nobody
else can open them.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Protocol
from weakref import WeakSet

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sosie.errors import InputError

__all__ = ["FORGET", "MEMORY", "Disk", "Memory", "Storage"]

FORGET = 1 << 20
"""Rows worked on after which memory that is also on disk is let go."""


class Storage(Protocol):
    """Makes arrays, and lets go of the memory that they take."""

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """A new array; its content is not set."""
        ...

    def keep(self, array: NDArray[Any]) -> NDArray[Any]:
        """The same content in this storage."""
        ...

    def forget(self) -> None:
        """Let go of memory that can be read again from disk."""
        ...


class Memory:
    """Everything in memory."""

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """A NumPy array."""
        return np.empty(shape, dtype)

    def keep(self, array: NDArray[Any]) -> NDArray[Any]:
        """The array itself."""
        return array

    def forget(self) -> None:
        """Nothing to do."""


MEMORY = Memory()


class Disk:
    """Arrays in scratch files of a folder, mapped into memory.

    Parameters
    ----------
    folder : on the disk to use; best where the results are written.

    Examples
    --------
    >>> storage = Disk(Path("."))
    >>> kept = storage.keep(np.arange(3))
    >>> storage.forget()
    >>> kept.tolist(), type(kept).__name__
    ([0, 1, 2], 'memmap')
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._maps: WeakSet[Any] = WeakSet()
        self._listing = Lock()  # threads make arrays and let go side by side

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """A mapped array. Raises InputError where the disk has no room for it."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if not size:
            return np.empty(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                _reserve(file.fileno(), size)
                made = np.memmap(file, dtype=dtype, mode="r+", shape=shape)
        except OSError as error:
            raise InputError(
                f"{self.folder}: no room for {size / 1e9:.2f} GB of scratch files"
                f" ({error.strerror}); free some, or write to another disk"
            ) from error
        with self._listing:
            self._maps.add(made._mmap)  # type: ignore[attr-defined]
        return made

    def keep(self, array: NDArray[Any]) -> NDArray[Any]:
        """A copy on disk."""
        made = self.empty(array.shape, array.dtype)
        made[...] = array
        return made

    def forget(self) -> None:
        """Let the pages that were read or written leave this process; they stay on disk."""
        if hasattr(mmap, "MADV_DONTNEED"):
            with self._listing:
                maps = list(self._maps)
            for held in maps:
                held.madvise(mmap.MADV_DONTNEED)


def _reserve(file: int, size: int) -> None:
    """Take the room now: where a mapped file finds the disk full, the process is killed."""
    reserve: Callable[[int, int, int], None] | None = getattr(os, "posix_fallocate", None)
    if reserve is None:
        os.truncate(file, size)
    else:
        reserve(file, 0, size)
