"""Analyses of a study on a file of people and on files of avatars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sosie.data.files import Reading, check_apart
from sosie.data.table import Roles
from sosie.jobs.tables import Progress, silent
from sosie.jobs.writing import write_json, write_text
from sosie.report import build_analyses
from sosie.studies.analyses import analyses, check
from sosie.studies.combining import Rule
from sosie.studies.results import Analyses

__all__ = ["Options", "analyse_files"]


@dataclass(frozen=True)
class Options:
    """How the results of a study are compared.

    Attributes
    ----------
    texts : the analyses; without any, all pairs of columns are looked at.
    screen : whether pairs are looked at beside analyses too.
    k : people that a cell must hold to be shown.
    combination : how the releases were drawn (see `sosie.studies.combining`).
    roles : what is said about columns.
    reading : how the files are read.
    language : of the page, ``en`` or ``fr``.
    """

    texts: tuple[str, ...] = ()
    screen: bool = False
    k: int = 10
    combination: Rule = "fitted"
    roles: Roles = field(default_factory=Roles)
    reading: Reading = field(default_factory=Reading)
    language: str = "en"


def analyse_files(
    originals: Path,
    releases: Sequence[Path],
    options: Options | None = None,
    *,
    results: Path | None = None,
    page: Path | None = None,
    progress: Progress = silent,
) -> Analyses:
    """Analyse a file of people and one file of avatars or more, and compare.

    Parameters
    ----------
    originals : CSV, Excel or Parquet.
    releases : files of avatars, each a release; their estimates are combined.
    results, page : where to write the results (JSON) and the page (HTML), if anywhere.
    progress : called with the name of each step.

    Raises
    ------
    InputError
        A file can't be used or written, or an analysis does not fit the originals.
    """
    options = options or Options()
    check_apart([originals, *releases], [results, page])
    progress("read")
    people = options.reading.read(originals).frame
    check(people, options.texts, options.roles)
    avatars = [options.reading.read(path).frame for path in releases]
    progress("analyses")
    found = analyses(
        people,
        avatars,
        options.texts,
        k=options.k,
        combination=options.combination,
        screen=options.screen,
        roles=options.roles,
    )
    if results is not None:
        write_json(results, found.to_dict())
    if page is not None:
        progress("report")
        write_text(page, build_analyses(found.to_dict(), originals.name, options.language))
    return found
