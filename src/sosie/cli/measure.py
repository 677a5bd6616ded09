"""Commands that measure avatars: audit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sosie.cli.options import (
    COLUMNS,
    COMPONENTS,
    CONTEXT,
    FILE,
    HOLDOUT,
    HTML,
    JSON,
    LANGUAGE,
    MEMORY,
    SEPARATOR,
    dates,
    examples,
    size,
    with_options,
)
from sosie.errors import InputError

__all__ = ["audit"]


@click.command(
    epilog=examples(
        "sosie audit patients.csv avatars.csv --drop patient_id --html audit.html",
        "sosie audit patients.csv aligned.csv --aligned --what-if-kept",
        "sosie audit patients.csv aligned.csv --aligned --json - | jq .privacy",
        "sosie audit stays/ aligned/ --aligned --scheduler tcp://scheduler:8786",
    )
)
@click.argument("originals", type=FILE)
@click.argument("avatars", type=FILE)
@click.option(
    "--aligned", is_flag=True, help="Row i of AVATARS is the avatar of row i of ORIGINALS."
)
@HOLDOUT
@with_options(COLUMNS)
@COMPONENTS
@CONTEXT
@click.option(
    "--what-if-kept",
    is_flag=True,
    help="Also what each column would reveal if it were kept unchanged (measured with --aligned,"
    " else by formula), and what to do instead.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Measure on a Dask cluster: its address, or local for workers on this machine. Both tables"
    " are then Parquet files or folders of them, and only what needs counts and neighbours is"
    " measured.",
)
@SEPARATOR
@MEMORY
@JSON
@HTML
@LANGUAGE
def audit(
    *,
    originals: Path,
    avatars: Path,
    aligned: bool,
    holdout: Path | None,
    drop: Sequence[str],
    categorical: Sequence[str],
    numeric: Sequence[str],
    date: Sequence[str],
    components: int,
    context: Path | None,
    what_if_kept: bool,
    scheduler: str | None,
    sep: str | None,
    memory: str | None,
    json_: Path | None,
    html: Path | None,
    lang: str,
) -> None:
    """Measure how well avatars hide the people behind them.

    AVATARS may be any synthetic table. Both are CSV or Parquet files with the same columns.
    Without --aligned, what needs to know whose avatar is whose has no value.
    """
    from sosie.audits.context import Context
    from sosie.cli import terminal
    from sosie.data.table import Roles
    from sosie.jobs.run import as_json, audit_files, audit_spread

    piped = json_ is not None and str(json_) == "-"
    roles = Roles(
        drop=tuple(drop),
        categorical=tuple(categorical),
        numeric=tuple(numeric),
        date=dates(date),
    )
    options: dict[str, Any] = {
        "aligned": aligned,
        "roles": roles,
        "components": components,
        "context": None if context is None else Context.of(file=context),
        "metrics": None if piped else json_,
    }
    with terminal.steps() as step:
        if scheduler is not None:
            _check_alone(
                holdout=holdout,
                html=html,
                what_if_kept=what_if_kept or None,
                sep=sep,
                memory=memory,
            )
            found = audit_spread(originals, avatars, scheduler=scheduler, progress=step, **options)
        else:
            found = audit_files(
                originals,
                avatars,
                holdout=holdout,
                guide=what_if_kept,
                separator=sep,
                page=html,
                memory=size(memory),
                language=lang,
                progress=step,
                **options,
            )
    terminal.notes(found.notes)
    if piped:
        terminal.raw(as_json(found.to_dict()))
        return
    terminal.audit_table(found, lang)
    if found.what_if_kept is not None:
        terminal.say("")
        terminal.kept_table(found.what_if_kept, lang)
    for path in (json_, html):
        if path is not None:
            terminal.say(f"Wrote    {path}")


def _check_alone(**given: object) -> None:
    """Raise InputError for options that need the rows on one machine."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"--{name.replace('_', '-')} is not for a cluster: leave it out, or measure a"
                " sample without --scheduler"
            )
