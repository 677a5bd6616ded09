"""``sosie demo``: everything on a bundled cohort."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sosie.cli.options import (
    FILE,
    LANGUAGE,
    examples,
)

if TYPE_CHECKING:
    pass

from sosie.cli.run import results

__all__ = ["demo"]


@click.command(epilog=examples("sosie demo", "sosie demo -o somewhere --lang fr"))
@click.option(
    "-o", "--out", type=FILE, default=Path("sosie-demo"), show_default=True, help="Folder to write."
)
@LANGUAGE
def demo(out: Path, lang: str) -> None:
    """Make and measure avatars of a bundled, simulated cohort."""
    from sosie.cli import terminal
    from sosie.data import cohort
    from sosie.generate.avatarizer import Avatarizer
    from sosie.jobs.demo import identifier_kept
    from sosie.jobs.run import Options
    from sosie.jobs.run import run as run_file

    data, identifier = cohort.path(), cohort.DROP[0]
    options: dict[str, Any] = {"linked": cohort.LINKED, "categorical": cohort.CATEGORICAL}
    terminal.say(f"A simulated trial, {data.name}, with a forgotten identifier, {identifier}.\n")
    with terminal.steps() as step:
        kept = identifier_kept(data, cohort.DROP, options, progress=step)
    terminal.say(f"If {identifier} were kept, the columns that would reveal most:")
    terminal.column_table(kept, 4, lang)
    with terminal.steps() as step:
        avatarizer = Avatarizer(drop=cohort.DROP, **options)
        done = run_file(data, out, avatarizer, Options(releases=None, language=lang), progress=step)
    terminal.say(f"\nWith {identifier} dropped:")
    results(done, lang)
    terminal.say(f"Next     sosie run your-table.csv -o out --drop {identifier}")
