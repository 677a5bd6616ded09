"""Avatars of a file, and nothing else."""

from __future__ import annotations

from pathlib import Path

from sosie.data.atomic import OWNER_FILE
from sosie.data.files import Reading, check_apart, check_format
from sosie.data.table import Table
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.notices import Notice
from sosie.jobs.tables import Progress, fitted, opened, save, silent

__all__ = ["avatarize_file"]


def avatarize_file(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    *,
    reading: Reading | None = None,
    aligned: Path | None = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> tuple[Reason | Notice, ...]:
    """Make avatars of a file, shuffled, to a file; what deserves a look is returned.

    Parameters
    ----------
    data : a CSV or Parquet file, or a folder of Parquet files.
    memory : bytes to keep to, by default half of what is free; a Parquet table that takes more
        is read and written a column at a time.
    aligned : where to write the secret table, row i the avatar of row i, for its owner only.

    Raises
    ------
    InputError
        The file or the options can't be used, or a file can't be written.
    """
    check_apart([data], [out, aligned])
    for path in (out, aligned):
        if path is not None:
            check_format(path)
    progress("read")
    source = opened(
        data,
        avatarizer.settings,
        (*avatarizer.roles.keep, *avatarizer.roles.id),
        scratch=out.parent,
        reading=reading,
        memory=memory,
    )
    progress("fit")
    table = Table.of(source.frame, avatarizer.roles, source.storage, avatarizer.threads)
    said = fitted(avatarizer, table)
    progress("draw")
    published, linked = avatarizer.both()
    if aligned is not None:
        save(linked, aligned, source.dialect, OWNER_FILE)
    save(published, out, source.dialect)
    return (*source.notes, *table.notes, *said, *avatarizer.warnings)
