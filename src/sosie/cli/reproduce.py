"""``sosie reproduce``: the published study, beside its figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sosie.cli.options import (
    FILE,
    HTML,
    JSON,
    LANGUAGE,
    examples,
    reading,
)
from sosie.errors import InputError

if TYPE_CHECKING:
    from sosie.data.files import Reading

__all__ = ["reproduce"]


@click.command(
    epilog=examples("sosie reproduce actg175.csv --html reproduced.html", "sosie reproduce --fetch")
)
@click.argument("data", type=FILE, required=False)
@click.option(
    "--fetch",
    is_flag=True,
    help="Get the table from the UCI repository instead, with the package ucimlrepo.",
)
@click.option("--seed", default=1, show_default=True, metavar="N", help="Of the avatars.")
@click.option(
    "--releases", default=100, show_default=True, metavar="T", help="Releases; the article has 100."
)
@reading
@JSON
@HTML
@LANGUAGE
def reproduce(
    *,
    data: Path | None,
    fetch: bool,
    seed: int,
    releases: int,
    how: Reading,
    json_: Path | None,
    html: Path | None,
    lang: str,
) -> None:
    """Reproduce the published attacks, then attack harder.

    DATA is the table of the ACTG 175 trial. The article's table and curves are printed beside
    what is measured here, then what stronger attackers find.
    """
    from sosie.cli import terminal
    from sosie.jobs.attack import reproduce_file

    if fetch == (data is not None):
        raise InputError("give the file of ACTG 175, or --fetch")
    piped = json_ is not None and str(json_) == "-"
    with terminal.bar() as progress:
        found = reproduce_file(
            data,
            seed=seed,
            releases=releases,
            reading=how,
            results=None if piped else json_,
            page=html,
            language=lang,
            progress=progress,
        )
    terminal.told(found.to_dict(), lambda: terminal.say(found.text()), json_, html)
