"""Attacks on avatars of a file, and where their results go."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from sosie.attacks.laboratory import attack
from sosie.attacks.moments import Progress
from sosie.attacks.reproduce import Reproduction, reproduce
from sosie.attacks.results import AttackReport
from sosie.attacks.unaided import UNAIDED
from sosie.data.files import Reading, check_apart
from sosie.data.table import Table
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.audit import check_aside
from sosie.jobs.budget import Attack
from sosie.jobs.tables import alongside, opened
from sosie.jobs.writing import write_json, write_text
from sosie.report import build_attacks
from sosie.words.readings import warning_of

__all__ = ["attack_file", "fetched", "reproduce_file"]

ACTG175 = 890
"""Number of the table in the UCI repository."""


def attack_file(
    data: Path,
    avatarizer: Avatarizer,
    *,
    reading: Reading | None = None,
    results: Path | None = None,
    page: Path | None = None,
    holdout: Path | None = None,
    memory: int | None = None,
    language: str = "en",
    progress: Progress | None = None,
    **options: Any,
) -> AttackReport:
    """Attack avatars of a CSV or Parquet file, or of a folder of Parquet files.

    Parameters
    ----------
    avatarizer : what is attacked, not yet fitted.
    reading : how files are read, where it is not found.
    results, page : where to write the results (JSON) and the page (HTML), if anywhere.
    holdout : file of people who took no part, for the control of ``reconstruct``.
    memory : bytes to keep to, by default half of what is free; the columns of a Parquet table
        that takes more are kept on disk while it is attacked.
    language : of the page.
    options : those of `attack`.

    Raises
    ------
    InputError
        The file or the options can't be used, or a file can't be written.
    """
    check_apart([data, holdout], [results, page])
    check_aside(data, holdout)
    source = opened(
        data,
        avatarizer.settings,
        scratch=(page or results or Path("-")).parent,
        reading=reading,
        memory=memory,
        attack=_planned(avatarizer.settings.components, **options),
    )
    table = Table.of(source.frame, avatarizer.roles, source.storage, avatarizer.threads)
    for note in table.notes:
        warnings.warn(warning_of(note), stacklevel=2)
    avatarizer.fit(table)
    apart = None if holdout is None else alongside(holdout, source.storage, reading)
    found = attack(table, avatarizer, holdout=apart, progress=progress, **options)
    _write(found.to_dict(), data.name, results, page, language)
    return found


def reproduce_file(
    data: Path | None,
    *,
    seed: int = 1,
    releases: int = 100,
    reading: Reading | None = None,
    results: Path | None = None,
    page: Path | None = None,
    language: str = "en",
    progress: Progress | None = None,
) -> Reproduction:
    """Reproduce the article's table and curve on ACTG 175.

    Parameters
    ----------
    data : its file; None fetches it from the UCI repository.
    seed, releases, progress : see `reproduce`.

    Raises
    ------
    InputError
        The table is another one or can't be had, or a file can't be written.
    """
    check_apart([data], [results, page])
    frame = fetched() if data is None else (reading or Reading()).read(data).frame
    found = reproduce(frame, seed=seed, releases=releases, progress=progress)
    _write(found.to_dict(), "ACTG 175", results, page, language)
    return found


def fetched() -> Any:
    """ACTG 175 from the UCI repository, through the package ``ucimlrepo``.

    Raises
    ------
    InputError
        The package or the network is not there.
    """
    try:
        from ucimlrepo import fetch_ucirepo
    except ImportError:
        raise InputError(
            "--fetch needs the package ucimlrepo (pip install ucimlrepo); or give the file"
        ) from None
    try:
        return fetch_ucirepo(id=ACTG175).data.original
    except (OSError, ValueError) as error:
        raise InputError(
            f"ACTG 175 can't be fetched ({error}); give its file instead: UCI repository, table"
            f" {ACTG175}"
        ) from error


def _planned(
    own: int,
    scenario: str = "v1",
    estimator: str = "all",
    components: int | None = None,
    **_: Any,
) -> Attack:
    """What an attack is to hold (see `attack`); `own` are the components of the generator."""
    every = scenario == "all"
    return Attack(
        releases=every or (scenario in ("v1", "v2", "insert") and estimator not in UNAIDED),
        refit=every or scenario in ("v2", "insert"),
        profile=scenario in ("all", "nearest", "partial"),
        components=components or (own if scenario == "partial" else None),
    )


def _write(
    told: dict[str, Any], name: str, results: Path | None, page: Path | None, language: str
) -> None:
    if results is not None:
        write_json(results, told)
    if page is not None:
        write_text(page, build_attacks(told, name, language))
