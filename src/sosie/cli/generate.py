"""Commands that make avatars: demo, run, avatarize."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sosie.cli.options import (
    CONTEXT,
    FILE,
    HOLDOUT,
    LANGUAGE,
    MEMORY,
    SEPARATOR,
    Generation,
    examples,
    generation,
    size,
)

if TYPE_CHECKING:
    from sosie.jobs.run import Run

__all__ = ["avatarize", "demo", "run"]


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
    from sosie.jobs.run import identifier_kept
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
        done = run_file(data, out, avatarizer, releases=None, language=lang, progress=step)
    terminal.say(f"\nWith {identifier} dropped:")
    _told(done, lang)
    terminal.say(f"Next     sosie run your-table.csv -o out --drop {identifier}")


@click.command(
    epilog=examples(
        "sosie run patients.csv -o out --drop patient_id",
        "sosie run patients.csv -o out --drop patient_id --k 10 --date born=%d/%m/%Y",
        "sosie run patients.parquet -o out --id patient_id --holdout-share 0.2 --releases 20",
    )
)
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="Folder to write.")
@generation
@SEPARATOR
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
@LANGUAGE
def run(
    *,
    data: Path,
    out: Path,
    made: Generation,
    sep: str | None,
    holdout: Path | None,
    holdout_share: float,
    releases: int | None,
    memory: str | None,
    context: Path | None,
    lang: str,
) -> None:
    """Make avatars of a table, measure them, write a report.

    DATA is a CSV or Parquet file, or a folder of Parquet files, one row a person. What is
    written holds the avatars to publish, report.html to read, and private/, which says whose
    avatar is whose.
    """
    from sosie.audits.context import Context
    from sosie.cli import terminal
    from sosie.jobs.run import run as run_file

    stated = None if context is None else Context.of(file=context)
    with terminal.steps() as step:
        done = run_file(
            data,
            out,
            made.avatarizer(),
            separator=sep,
            holdout=holdout,
            holdout_share=holdout_share,
            context=stated,
            releases=releases,
            memory=size(memory),
            language=lang,
            progress=step,
        )
    _told(done, lang)


def _told(done: Run, lang: str) -> None:
    from sosie.cli import terminal
    from sosie.jobs.run import PRIVATE

    terminal.notes(done.notes)
    terminal.audit_table(done.audit, lang)
    terminal.say("")
    if done.attacks is not None:
        terminal.attack_table(done.attacks, lang)
        terminal.say("")
    terminal.say(f"Read     {done.report}")
    terminal.say(f"Publish  {done.avatars}  (only if the report convinces you)")
    terminal.say(
        f"Secret   {done.folder / PRIVATE}  (who is whose avatar, and the seed: never publish it)"
    )


@click.command(epilog=examples("sosie avatarize patients.csv -o avatars.csv --drop patient_id"))
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="File to write: .csv or .parquet.")
@generation
@SEPARATOR
@MEMORY
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Make them on a Dask cluster: its address, or local for workers on this machine. OUT and"
    " --aligned are then folders.",
)
@click.option(
    "--aligned",
    type=FILE,
    metavar="FILE",
    help="Also write the secret table where row i is the avatar of row i.",
)
def avatarize(
    *,
    data: Path,
    out: Path,
    made: Generation,
    sep: str | None,
    memory: str | None,
    scheduler: str | None,
    aligned: Path | None,
) -> None:
    """Make avatars of a table, and nothing else.

    DATA is a CSV or Parquet file, or a folder of Parquet files, one row a person. The avatars
    are shuffled.
    """
    from sosie.cli import terminal
    from sosie.jobs.run import avatarize_file

    if scheduler is not None:
        from sosie.cluster import avatarize_folder

        options: dict[str, Any] = {"scheduler": scheduler, "aligned": aligned}
        with terminal.steps() as step:
            avatarize_folder(data, out, made.avatarizer(), progress=step, **options)
        terminal.say(f"Wrote    {out}")
        return
    with terminal.steps() as step:
        notes = avatarize_file(
            data,
            out,
            made.avatarizer(),
            separator=sep,
            aligned=aligned,
            memory=size(memory),
            progress=step,
        )
    terminal.notes(notes)
    terminal.say(f"Wrote    {out}")
    if aligned is not None:
        terminal.say(f"Secret   {aligned}  (who is whose avatar: never publish it)")
    terminal.say(f"Next     {_next(data, out, made, aligned)}")


def _next(data: Path, out: Path, made: Generation, aligned: Path | None) -> str:
    """The command that measures what was made."""
    import shlex

    words = ["sosie", "audit", str(data), str(aligned or out)]
    words += ["--aligned"] * (aligned is not None)
    for name in (*made.drop, *made.id):
        words += ["--drop", name]
    return shlex.join(words)
