"""``sosie avatarize``: only the avatars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sosie.cli.options import (
    FILE,
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

__all__ = ["avatarize"]


@click.command(epilog=examples("sosie avatarize patients.csv -o avatars.csv --drop patient_id"))
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="File to write: .csv or .parquet.")
@generation
@several
@reading
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
    people: Several | None,
    how: Reading,
    memory: str | None,
    scheduler: str | None,
    aligned: Path | None,
) -> None:
    """Make avatars of a table, and nothing else.

    DATA is a CSV or Parquet file, or a folder of Parquet files, one row a person. The avatars
    are shuffled. With --person, DATA may have several rows a person, or stand beside tables of
    their rows (--child), which are written beside OUT.
    """
    from sosie.cli import terminal
    from sosie.jobs.avatarize import avatarize_file

    if people is not None:
        _people(data, out, made, people, how, (memory, scheduler, aligned))
        return

    if scheduler is not None:
        from sosie.cluster import avatarize_folder

        options: dict[str, Any] = {"scheduler": scheduler, "aligned": aligned}
        with terminal.steps() as step:
            avatarize_folder(data, out, made.avatarizer(na=how.na), progress=step, **options)
        terminal.written("wrote", out)
        return
    avatarizer = made.avatarizer(na=how.na)
    with terminal.steps() as step:
        notes = avatarize_file(
            data,
            out,
            avatarizer,
            reading=how,
            aligned=aligned,
            memory=size(memory),
            progress=step,
        )
    terminal.notes(notes)
    terminal.constraints(avatarizer.plan)
    terminal.written("wrote", out)
    if aligned is not None:
        terminal.written("secret", aligned, "secret_note")
    terminal.written("next", _next(data, out, made, aligned))


def _people(
    data: Path,
    out: Path,
    made: Generation,
    people: Several,
    how: Reading,
    others: tuple[object, ...],
) -> None:
    """Avatars of people with several rows."""
    from sosie.cli import terminal
    from sosie.errors import InputError
    from sosie.jobs.people import avatarize_people

    for given, name in zip(others, ("--memory", "--scheduler", "--aligned"), strict=True):
        if given is not None:
            raise InputError(f"{name} is for tables of one row a person: leave it out (--person)")
    with terminal.steps() as step:
        notes = avatarize_people(
            data, out, made.avatarizer(na=how.na), people, reading=how, progress=step
        )
    terminal.notes(notes)
    terminal.written("wrote", out)
    for name in people.children:
        terminal.written("wrote", out.with_name(f"{name}{out.suffix}"))


def _next(data: Path, out: Path, made: Generation, aligned: Path | None) -> str:
    """The command that measures what was made."""
    import shlex

    words = ["sosie", "audit", str(data), str(aligned or out)]
    words += ["--aligned"] * (aligned is not None)
    for name in (*made.drop, *made.id):
        words += ["--drop", name]
    return shlex.join(words)
