"""A sweep from a file, and where its results go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sosie.data.files import Reading, check_apart
from sosie.data.table import Roles
from sosie.jobs.writing import write_json, write_text
from sosie.report import build_sweep
from sosie.tuning.results import Tuning
from sosie.tuning.state import FILE
from sosie.tuning.sweep import Progress, tune

__all__ = ["tune_file"]


def tune_file(
    data: Path,
    *,
    reading: Reading | None = None,
    roles: Roles | None = None,
    options: Mapping[str, Any],
    folder: Path | None = None,
    results: Path | None = None,
    page: Path | None = None,
    language: str = "en",
    progress: Progress | None = None,
) -> Tuning:
    """Sweep settings over a CSV or Parquet file.

    Parameters
    ----------
    reading : how files are read, where it is not found.
    roles : what each column is for.
    options : those of `tune`.
    folder : where ``tune.json`` is written after each setting, and found again.
    results, page : where to write the results (JSON) and the page (HTML), if anywhere.
    language : of the page.

    Raises
    ------
    InputError
        The file or the options can't be used, or a file can't be written.
    """
    state = None if folder is None else folder / FILE
    check_apart([data], [results, page, state])
    source = (reading or Reading()).read(data)
    found = tune(source.frame, roles=roles, folder=folder, progress=progress, **options)
    if results is not None:
        write_json(results, found.to_dict())
    if page is not None:
        write_text(page, build_sweep(found.to_dict(), data.name, language))
    return found
