"""``sosie audit``: how well avatars hide people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sosie.cli.options import (
    COMPONENTS,
    CONTEXT,
    FILE,
    HOLDOUT,
    HTML,
    JSON,
    LANGUAGE,
    MEMORY,
    columns,
    examples,
    size,
)
from sosie.errors import InputError

if TYPE_CHECKING:
    from sosie.data.files import Reading
    from sosie.data.table import Roles

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
@columns
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
    roles: Roles,
    components: int,
    context: Path | None,
    what_if_kept: bool,
    scheduler: str | None,
    how: Reading,
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
    from sosie.jobs.audit import Options, audit_files, audit_on_cluster
    from sosie.jobs.writing import as_json

    piped = json_ is not None and str(json_) == "-"
    options = Options(
        aligned=aligned,
        holdout=holdout,
        roles=roles,
        components=components,
        context=None if context is None else Context.of(file=context),
        guide=what_if_kept,
        reading=how,
        memory=size(memory),
        language=lang,
    )
    metrics = None if piped else json_
    with terminal.steps() as step:
        if scheduler is None:
            measures = audit_files(
                originals, avatars, options, metrics=metrics, page=html, progress=step
            )
        else:
            _check_no_page(html)
            measures = audit_on_cluster(
                originals, avatars, options, scheduler=scheduler, metrics=metrics, progress=step
            )
    terminal.notes(measures.notes, lang)
    if piped:
        terminal.raw(as_json(measures.to_dict()))
        return
    terminal.audit_table(measures, lang)
    if measures.what_if_kept is not None:
        terminal.say("")
        terminal.kept_table(measures.what_if_kept, lang)
    for path in (json_, html):
        if path is not None:
            terminal.written("wrote", path, language=lang)


def _check_no_page(html: Path | None) -> None:
    if html is not None:
        raise InputError(
            "--html is not for a cluster: leave it out, or measure a sample without --scheduler"
        )
