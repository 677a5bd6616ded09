"""``sosie analyses``: whether the results of a study survive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sosie.cli.options import (
    ANALYSES,
    CONTEXT,
    FILE,
    HTML,
    JSON,
    LANGUAGE,
    columns,
    examples,
)

if TYPE_CHECKING:
    from sosie.data.files import Reading
    from sosie.data.table import Roles

__all__ = ["analyses"]


@click.command(
    epilog=examples(
        "sosie analyses patients.csv avatars.csv --analysis 'mean stay by arm'",
        "sosie analyses trial.csv one.csv two.csv --analysis 'survival days, cens ~ arms + age'",
        "sosie analyses trial.csv avatars.csv --context study.toml --html analyses.html",
        "sosie analyses patients.csv avatars.csv",
    )
)
@click.argument("originals", type=FILE)
@click.argument("avatars", type=FILE, nargs=-1, required=True)
@ANALYSES
@CONTEXT
@click.option(
    "--screen",
    is_flag=True,
    help="Beside analyses, also look at all pairs of columns.",
)
@click.option(
    "--k",
    default=10,
    show_default=True,
    metavar="N",
    help="Cells of fewer originals stay blank, and models that would show them are refused.",
)
@click.option(
    "--combination",
    type=click.Choice(["fitted", "redrawn"]),
    default="fitted",
    show_default=True,
    help="How releases were drawn: from one law, as those of sosie, or each after the law's"
    " parameters were drawn anew (Raghunathan, Reiter and Rubin 2003).",
)
@columns
@JSON
@HTML
@LANGUAGE
def analyses(
    *,
    originals: Path,
    avatars: Sequence[Path],
    texts: Sequence[str],
    context: Path | None,
    screen: bool,
    k: int,
    combination: str,
    roles: Roles,
    how: Reading,
    json_: Path | None,
    html: Path | None,
    lang: str,
) -> None:
    """Say whether the results of a study survive.

    Originals and avatars are analysed alike.

    Each of AVATARS is one release; the estimates of several are combined. TEXT is one of:
    mean days by arms; share cens by arms; odds cens by treat; cens ~ age + cd40;
    survival days, cens ~ arms + age. Without any, all pairs of columns are looked at, and
    the ten that changed most are named.
    """
    from sosie.audits.context import Context
    from sosie.cli import terminal
    from sosie.jobs.analyses import Options, analyse_files
    from sosie.jobs.writing import as_json

    piped = json_ is not None and str(json_) == "-"
    listed = () if context is None else Context.of(file=context).analyses
    options = Options(
        texts=tuple(texts) or listed,
        screen=screen,
        k=k,
        combination="redrawn" if combination == "redrawn" else "fitted",
        roles=roles,
        reading=how,
        language=lang,
    )
    with terminal.steps() as step:
        found = analyse_files(
            originals,
            avatars,
            options,
            results=None if piped else json_,
            page=html,
            progress=step,
        )
    if piped:
        terminal.raw(as_json(found.to_dict()))
        return
    terminal.analyses_table(found.to_dict(), lang)
    for path in (json_, html):
        if path is not None:
            terminal.written("wrote", path, language=lang)
