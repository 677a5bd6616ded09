"""``sosie run``: a file in, a folder out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sosie.cli.options import (
    ANALYSES,
    CONTEXT,
    FILE,
    HOLDOUT,
    LANGUAGE,
    MEMORY,
    Generation,
    examples,
    generation,
    reading,
    several,
    size,
)

if TYPE_CHECKING:
    from sosie.data.files import Reading
    from sosie.jobs.people import Several
    from sosie.jobs.run import Run

__all__ = ["results", "run"]


@click.command(
    epilog=examples(
        "sosie run patients.csv -o out --drop patient_id",
        "sosie run patients.csv -o out --drop patient_id --k 10 --date born=%d/%m/%Y",
        "sosie run patients.parquet -o out --id patient_id --holdout-share 0.2 --releases 20",
        "sosie run visits.csv -o out --person patient_id",
    )
)
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="Folder to write.")
@generation
@several
@reading
@HOLDOUT
@click.option(
    "--holdout-share",
    type=float,
    default=0.0,
    metavar="SHARE",
    help="Or set aside this share of the people of DATA, such as 0.2, before making avatars.",
)
@click.option(
    "--releases",
    type=int,
    metavar="T",
    help="Further releases in the hands of those who attack the avatars; 0: no attack. By default"
    " 5, and above 20,000 people only the attacker with one profile.",
)
@MEMORY
@CONTEXT
@ANALYSES
@LANGUAGE
def run(
    *,
    data: Path,
    out: Path,
    made: Generation,
    people: Several | None,
    how: Reading,
    holdout: Path | None,
    holdout_share: float,
    releases: int | None,
    memory: str | None,
    context: Path | None,
    texts: Sequence[str],
    lang: str,
) -> None:
    """Make avatars of a table, measure them, write a report.

    DATA is a CSV or Parquet file, or a folder of Parquet files, one row a person. What is
    written holds the avatars to publish, report.html to read, and private/, which says whose
    avatar is whose. With --person, DATA may have several rows a person, or stand beside tables
    of their rows (--child).
    """
    from sosie.audits.context import Context
    from sosie.cli import terminal
    from sosie.jobs.run import Options
    from sosie.jobs.run import run as run_file

    options = Options(
        reading=how,
        holdout=holdout,
        holdout_share=holdout_share,
        context=None if context is None else Context.of(file=context),
        releases=releases,
        analyses=tuple(texts),
        memory=size(memory),
        language=lang,
    )
    with terminal.steps() as step:
        avatarizer = made.avatarizer(na=how.na)
        if people is None:
            done = run_file(data, out, avatarizer, options, progress=step)
        else:
            from sosie.jobs.people import run_people

            done = run_people(data, out, avatarizer, people, options, progress=step)
    results(done, lang)


def results(done: Run, lang: str) -> None:
    """Say what was made, what it measures, and what to do with it."""
    from sosie.cli import terminal
    from sosie.data.atomic import PRIVATE

    terminal.notes(done.notes, lang)
    terminal.constraints(done.plan, lang)
    terminal.audit_table(done.audit, lang)
    terminal.say("")
    terminal.guarantee(done.guarantee.to_json(), lang)
    if done.attacks is not None:
        terminal.attack_table(done.attacks, lang)
        terminal.say("")
    terminal.written("read", done.report, language=lang)
    terminal.written("publish", done.avatars, "publish_note", lang)
    terminal.written("secret", done.folder / PRIVATE, "secret_note", lang)
