"""Commands that measure avatars: audit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from sosie.cli.options import (
    COLUMNS,
    COMPONENTS,
    FILE,
    HOLDOUT,
    HTML,
    JSON,
    LANGUAGE,
    SEPARATOR,
    dates,
    examples,
    with_options,
)

__all__ = ["audit"]


@click.command(
    epilog=examples(
        "sosie audit patients.csv avatars.csv --drop patient_id --html audit.html",
        "sosie audit patients.csv aligned.csv --aligned --json - | jq .privacy",
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
@SEPARATOR
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
    sep: str | None,
    json_: Path | None,
    html: Path | None,
    lang: str,
) -> None:
    """Measure how well avatars hide the people behind them.

    AVATARS may be any synthetic table. Both are CSV or Parquet files with the same columns.
    Without --aligned, what needs to know whose avatar is whose has no value.
    """
    from sosie import terminal
    from sosie.run import as_json, audit_files
    from sosie.table import Roles

    piped = json_ is not None and str(json_) == "-"
    roles = Roles(
        drop=tuple(drop),
        categorical=tuple(categorical),
        numeric=tuple(numeric),
        date=dates(date),
    )
    with terminal.steps() as step:
        found = audit_files(
            originals,
            avatars,
            aligned=aligned,
            holdout=holdout,
            roles=roles,
            components=components,
            separator=sep,
            metrics=None if piped else json_,
            page=html,
            language=lang,
            progress=step,
        )
    terminal.notes(found.notes)
    if piped:
        terminal.raw(as_json(found.to_dict()))
        return
    terminal.audit_table(found, lang)
    for path in (json_, html):
        if path is not None:
            terminal.say(f"Wrote    {path}")
