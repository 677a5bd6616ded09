"""An attack on avatars of a file, and where its results go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sosie.attack.laboratory import attack
from sosie.attack.moments import Progress
from sosie.attack.results import AttackReport
from sosie.avatars import Avatarizer
from sosie.io import check_apart, read
from sosie.report import build_attacks
from sosie.run import write_json, write_text

__all__ = ["attack_file", "written"]


def attack_file(
    data: Path,
    avatarizer: Avatarizer,
    *,
    separator: str | None = None,
    results: Path | None = None,
    page: Path | None = None,
    language: str = "en",
    progress: Progress | None = None,
    **options: Any,
) -> AttackReport:
    """Attack avatars of a CSV or Parquet file.

    Parameters
    ----------
    avatarizer : what is attacked, not yet fitted.
    separator : of a CSV; None finds it.
    results, page : where to write the results (JSON) and the page (HTML), if anywhere.
    language : of the page.
    options : those of `attack`.

    Raises
    ------
    InputError
        The file or the options can't be used, or a file can't be written.
    """

    def work(frame: Any) -> AttackReport:
        return attack(frame, avatarizer, progress=progress, **options)

    return written(data, separator, work, results=results, page=page, language=language)


def written(
    data: Path,
    separator: str | None,
    work: Callable[[Any], AttackReport],
    *,
    results: Path | None,
    page: Path | None,
    language: str,
) -> AttackReport:
    """Read a file, work on its table, write what was found."""
    check_apart([data], [results, page])
    found = work(read(data, separator).frame)
    if results is not None:
        write_json(results, found.to_dict())
    if page is not None:
        write_text(page, build_attacks(found.to_dict(), data.name, language))
    return found
