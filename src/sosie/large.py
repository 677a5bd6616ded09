"""Tables of files that may be larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sosie.atomic import atomic
from sosie.budget import Budget
from sosie.dialect import Dialect
from sosie.io import PARQUET, read, write
from sosie.scan import Scan
from sosie.space import MEMORY
from sosie.table import Table

if TYPE_CHECKING:
    from sosie.avatars import Settings
    from sosie.release import Release
    from sosie.table import Roles

__all__ = ["Opened", "is_parquet", "opened", "save"]


@dataclass(frozen=True)
class Opened:
    """A table from a file or a folder of files.

    Attributes
    ----------
    table : encoded.
    dialect : how the CSV was written; None for Parquet.
    notes : what was noticed in the file.
    """

    table: Table
    dialect: Dialect | None
    notes: Sequence[str]


def is_parquet(path: Path) -> bool:
    """Whether a path is a folder, or is named like a Parquet file."""
    return path.is_dir() or path.suffix.lower() in PARQUET


def opened(
    path: Path,
    roles: Roles,
    settings: Settings,
    *,
    scratch: Path,
    separator: str | None = None,
    memory: int | None = None,
) -> Opened:
    """Read and encode a file; Parquet that takes too much memory, a column at a time.

    Parameters
    ----------
    scratch : folder for the columns that are not held in memory.
    separator : of a CSV; None finds it.
    memory : bytes to keep to; by default half of what is free.

    Raises
    ------
    InputError
        The file can't be read or used, or the memory is too little in any case.
    """
    if is_parquet(path):
        scan = Scan.of(path)
        space = Budget.of(scan, settings).space(memory, scratch)
        if space is not MEMORY:
            return Opened(Table.of(scan, roles, space), None, ())
        if path.is_dir():
            return Opened(Table.of(scan.frame(), roles), None, ())
    source = read(path, separator)
    return Opened(Table.of(source.frame, roles), source.dialect, source.notes)


def save(
    release: Release, path: Path, dialect: Dialect | None = None, mode: int | None = None
) -> None:
    """Write a release whole or not at all; columns that are on disk, a group of rows at a time.

    Parameters
    ----------
    dialect, mode : see `sosie.io.write`.
    """
    space = release.table.space
    if space is MEMORY:
        write(release.frame(), path, dialect, mode)
        return

    def fill(file: IO[bytes]) -> None:
        if path.suffix.lower() in PARQUET:
            release.write_parquet(file, space)
            return
        for number, batch in enumerate(release.batches(space)):
            batch.write_csv(file, include_header=number == 0)

    atomic(path, fill, mode)
