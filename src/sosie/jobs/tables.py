"""Tables of files that may be larger than memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sosie.compute.storage import MEMORY, Storage
from sosie.data.atomic import atomic
from sosie.data.csv_dialect import Dialect
from sosie.data.files import EXCEL, PARQUET, Reading, write
from sosie.data.parquet import Scan
from sosie.data.table import Table
from sosie.errors import InputError, Reason, SosieWarning
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.budget import Attack, Budget

if TYPE_CHECKING:
    import polars as pl

    from sosie.generate.release import Release
    from sosie.generate.settings import Settings

__all__ = [
    "Opened",
    "Progress",
    "alongside",
    "fitted",
    "is_parquet",
    "opened",
    "said_while",
    "save",
    "silent",
]

Progress = Callable[[str], None]
"""Called with the name of each step."""


def fitted(avatarizer: Avatarizer, table: Table) -> tuple[Reason, ...]:
    """Fit to a table; what was said meanwhile is given back, to be told in its place."""
    return said_while(lambda: avatarizer.fit(table))


def said_while(work: Callable[[], object]) -> tuple[Reason, ...]:
    """Do some work; what sosie said meanwhile is given back, other warnings go on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    for other in caught:
        if not issubclass(other.category, SosieWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    said = (w.message for w in caught if isinstance(w.message, SosieWarning))
    return tuple(one.reason or Reason("as_written", {"text": str(one)}) for one in said)


def silent(_: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class Opened:
    """A file or a folder of files, ready to be encoded.

    Attributes
    ----------
    frame : a dataframe, or what reads one column by column.
    storage : where encoded columns are to live.
    dialect : how the CSV was written; None for Parquet.
    sha256 : of the file, in hexadecimal.
    notes : what was noticed in the file.
    suffix : with which avatars are written in the same format.
    """

    frame: pl.DataFrame | Scan
    storage: Storage
    dialect: Dialect | None
    sha256: str
    notes: tuple[Reason, ...] = ()
    suffix: str = PARQUET[0]


def is_parquet(path: Path) -> bool:
    """Whether a path is a folder, or is named like a Parquet file."""
    return path.suffix.lower() in PARQUET or os.path.isdir(path)  # noqa: PTH112 (never raises)


def opened(
    path: Path,
    settings: Settings,
    whole: Sequence[Hashable] = (),
    *,
    scratch: Path,
    reading: Reading | None = None,
    memory: int | None = None,
    compared: bool = False,
    attack: Attack | None = None,
) -> Opened:
    """Read a file; Parquet that takes too much memory will be read a column at a time.

    Parameters
    ----------
    whole : columns that are carried over as they are, in memory.
    scratch : folder for the columns that are not held in memory.
    reading : how files are read, where it is not found.
    memory : bytes to keep to; by default half of what is free.
    compared : whether the avatars are measured too, not only made.
    attack : what is to be done with releases, where they are attacked.

    Raises
    ------
    InputError
        The file can't be read or used, or the memory is too little in any case.
    """
    if is_parquet(path):
        scan = Scan.of(path)
        budget = Budget.of(scan, settings, whole, compared=compared, attack=attack)
        storage = budget.storage(memory, scratch)
        if storage is not MEMORY:
            return Opened(scan, storage, None, scan.sha256)
    source = (reading or Reading()).read(path)
    suffix = ".csv" if source.dialect is not None else path.suffix.lower()
    suffix = suffix if suffix in (".csv", *EXCEL) else PARQUET[0]
    return Opened(source.frame, MEMORY, source.dialect, source.sha256, source.notes, suffix)


def alongside(path: Path, storage: Storage, reading: Reading | None = None) -> pl.DataFrame | Scan:
    """Another table, read in the way of a first one whose columns live in `storage`."""
    if storage is not MEMORY and is_parquet(path):
        return Scan.of(path)
    return (reading or Reading()).read(path).frame


def save(
    release: Release, path: Path, dialect: Dialect | None = None, mode: int | None = None
) -> None:
    """Write a release whole or not at all; columns that are on disk, a group of rows at a time.

    Parameters
    ----------
    dialect, mode : see `sosie.data.files.write`.
    """
    storage = release.table.storage
    if storage is MEMORY:
        write(release.frame(), path, dialect, mode)
        return
    if path.suffix.lower() in EXCEL:
        raise InputError(f"{path}: a table larger than memory is written as Parquet or CSV")

    def fill(file: IO[bytes]) -> None:
        if path.suffix.lower() in PARQUET:
            release.write_parquet(file, storage)
            return
        for number, batch in enumerate(release.batches(storage)):
            batch.write_csv(file, include_header=number == 0)

    atomic(path, fill, mode)
