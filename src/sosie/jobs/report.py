"""The report of a run, from its JSON files."""

from __future__ import annotations

from pathlib import Path

from sosie.data.atomic import settle
from sosie.data.files import check_apart
from sosie.jobs.writing import write_text
from sosie.report import build, read_folder

__all__ = ["OURS", "rebuild_report", "write_report"]

OURS = (
    *("avatars.csv", "avatars.parquet", "avatars.xlsx", "report.html"),
    *("audit.json", "attack.json", "analyses.json", "run.json"),
)
"""The files of a run's folder, beside the private ones."""


def write_report(folder: Path, path: Path, language: str) -> None:
    """Build the report of a folder's JSON files."""
    write_text(path, build(*read_folder(folder), lang=language))


def rebuild_report(folder: Path, path: Path | None, language: str) -> Path:
    """Write the report of a run's folder again, by default in the folder; say where it is."""
    target = path or folder / "report.html"
    check_apart([folder / name for name in OURS if name != "report.html"], [target])
    settle(folder, OURS)
    write_report(folder, target, language)
    return target
