"""The command line: options in, library calls, words out. No arithmetic here."""

from __future__ import annotations

import csv
import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sosie._version import __version__
from sosie.errors import InputError

if TYPE_CHECKING:
    from sosie.audit import Audit
    from sosie.avatars import Avatarizer

__all__ = ["cli", "main"]

FILE = click.Path(path_type=Path)
LANGUAGE = click.option(
    "--lang",
    type=click.Choice(["en", "fr"]),
    default="en",
    show_default=True,
    help="Language of the report.",
)
SEPARATOR = click.option(
    "--sep", metavar="';'", help="Separator of the CSV; found by itself where not given."
)


@dataclass(frozen=True)
class Generation:
    """The options that say how avatars are made."""

    k: int
    components: int
    method: str
    decode: str
    seed: int | None
    keep: Sequence[str]
    drop: Sequence[str]
    id: Sequence[str]
    categorical: Sequence[str]
    numeric: Sequence[str]
    date: Sequence[str]
    linked: Sequence[str]
    weight: Sequence[str]
    min_level_count: int | None
    augment: int

    def avatarizer(self, **changes: Any) -> Avatarizer:
        """An avatarizer with these options, some of them changed."""
        from sosie.avatars import Avatarizer

        options: dict[str, Any] = {
            "k": self.k,
            "components": self.components,
            "method": self.method,
            "decode": self.decode,
            "seed": self.seed,
            "min_level_count": self.min_level_count,
            "augment": self.augment,
            "keep": self.keep,
            "drop": self.drop,
            "id": self.id,
            "categorical": self.categorical,
            "numeric": self.numeric,
            "date": dates(self.date),
            "linked": [cells(group) for group in self.linked],
            "weights": weights(self.weight),
        }
        return Avatarizer(**(options | changes))


def dates(options: Sequence[str]) -> dict[str, str | None]:
    """``COL`` or ``COL=FORMAT`` as column -> format.

    >>> dates(["born=%d/%m/%Y", "visit"])
    {'born': '%d/%m/%Y', 'visit': None}
    """
    pairs = (option.partition("=") for option in options)
    return {name: form or None for name, _, form in pairs}


def weights(options: Sequence[str]) -> dict[str, float]:
    """``COL=W`` as column -> weight.

    >>> weights(["age=2", "a=b=0.5"])
    {'age': 2.0, 'a=b': 0.5}
    """
    found = {}
    for option in options:
        name, _, weight = option.rpartition("=")
        try:
            found[name] = float(weight)
        except ValueError:
            raise InputError(f"--weight takes COLUMN=NUMBER, got {option!r}") from None
        if not name:
            raise InputError(f"--weight takes COLUMN=NUMBER, got {option!r}")
    return found


def cells(option: str) -> list[str]:
    """Names separated by commas; a name with a comma is put in double quotes.

    >>> cells('arm,"arm, label"')
    ['arm', 'arm, label']
    """
    return next(csv.reader([option]), [])


COLUMNS = (
    click.option(
        "--drop",
        multiple=True,
        metavar="COL",
        help="Leave a column out. Repeatable, as all that follow.",
    ),
    click.option(
        "--categorical", multiple=True, metavar="COL", help="Treat a column as categories."
    ),
    click.option(
        "--numeric", multiple=True, metavar="COL", help="Treat a column as numbers, to be averaged."
    ),
    click.option(
        "--date",
        multiple=True,
        metavar="COL[=FORMAT]",
        help="Treat a text column as dates, such as 'born=%d/%m/%Y'; without a format, ISO 8601.",
    ),
)
GENERATION = (
    click.option(
        "--k", default=5, show_default=True, help="Neighbours that each avatar is a mixture of."
    ),
    click.option(
        "--components",
        default=5,
        show_default=True,
        help="Dimensions in which neighbours are found.",
    ),
    click.option(
        "--method",
        type=click.Choice(["smoothed", "barycentre"]),
        default="smoothed",
        show_default=True,
        help="smoothed gives back the spread that averaging takes away, and nobody's extremes or rare levels"
        " appear; barycentre is the published method.",
    ),
    click.option(
        "--decode",
        type=click.Choice(["draw", "vote"]),
        default="draw",
        show_default=True,
        help="Categories: one neighbour's, drawn by weight, or the heaviest.",
    ),
    click.option(
        "--seed",
        type=int,
        metavar="N",
        help="A secret; by default a fresh one from the operating system.",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="COL",
        help="Keep a column as it is, row by row. Repeatable.",
    ),
    click.option(
        "--id",
        multiple=True,
        metavar="COL",
        help="Replace a column by a fresh surrogate. Repeatable.",
    ),
    *COLUMNS,
    click.option(
        "--linked",
        multiple=True,
        metavar="A,B",
        help="Draw categories together, so that they never contradict.",
    ),
    click.option(
        "--weight", multiple=True, metavar="COL=W", help="Weight of a column's squared distance."
    ),
    click.option(
        "--min-level-count",
        type=int,
        metavar="N",
        help="Levels that fewer people hold are never drawn; by default k (1 for barycentre).",
    ),
    click.option(
        "--augment", default=1, show_default=True, metavar="N", help="Avatars for each person."
    ),
)


def generation(command: Callable[..., None]) -> Callable[..., None]:
    """Add the generation options to a command, which gets them as one `Generation`."""
    names = Generation.__dataclass_fields__

    def gathered(**options: Any) -> None:
        made = Generation(**{name: options.pop(name) for name in names})
        command(made=made, **options)

    gathered.__doc__ = command.__doc__
    gathered.__name__ = command.__name__
    return with_options(GENERATION)(gathered)


def with_options(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Add several options to a command, in order."""

    def added(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return added


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: sosie demo. Then: sosie run patients.csv -o out --drop patient_id",
)
@click.version_option(__version__, prog_name="sosie")
def cli() -> None:
    """Turn a table of people into avatars, measure how well they hide people, and report it.

    Everything runs on this machine; no data leave it.
    """


@cli.command()
@click.option(
    "-o", "--out", type=FILE, default=Path("sosie-demo"), show_default=True, help="Folder to write."
)
@LANGUAGE
def demo(out: Path, lang: str) -> None:
    """Make and measure avatars of a bundled cohort of simulated patients."""
    from sosie import cohort, terminal
    from sosie.run import identifier_kept, run

    data = cohort.path()
    options: dict[str, Any] = {"linked": cohort.LINKED, "categorical": cohort.CATEGORICAL}
    terminal.say(
        f"A simulated trial: {data.name}, with a forgotten identifier, {cohort.DROP[0]}.\n"
    )
    terminal.say(f"If {cohort.DROP[0]} were kept, the columns that would reveal most:")
    with terminal.steps() as step:
        kept = identifier_kept(data, cohort.DROP, options, progress=step)
    terminal.column_table(kept, 4, lang)
    terminal.say(f"\nWith {cohort.DROP[0]} dropped:")
    from sosie.avatars import Avatarizer

    with terminal.steps() as step:
        done = run(data, out, Avatarizer(drop=cohort.DROP, **options), language=lang, progress=step)
    _told(done, lang)


@cli.command(
    "run", epilog="Example: sosie run patients.csv -o out --drop patient_id --linked arm,arm_label"
)
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="Folder to write.")
@generation
@SEPARATOR
@click.option(
    "--holdout", type=FILE, metavar="FILE", help="People who take no part, for the controls."
)
@LANGUAGE
def run_command(
    data: Path, out: Path, made: Generation, sep: str | None, holdout: Path | None, lang: str
) -> None:
    """Make avatars of DATA (CSV or Parquet), measure them, and write a folder with a report."""
    from sosie import terminal
    from sosie.run import run

    with terminal.steps() as step:
        done = run(
            data,
            out,
            made.avatarizer(),
            separator=sep,
            holdout=holdout,
            language=lang,
            progress=step,
        )
    _told(done, lang)


def _told(done: Any, lang: str) -> None:
    from sosie import terminal
    from sosie.run import PRIVATE

    terminal.notes(done.notes)
    terminal.audit_table(done.audit, lang)
    terminal.say("")
    terminal.say(f"Read     {done.report}")
    terminal.say(f"Publish  {done.avatars}  (only if the report convinces you)")
    terminal.say(
        f"Secret   {done.folder / PRIVATE}  (who is whose avatar, and the seed: never publish it)"
    )


@cli.command(epilog="Example: sosie avatarize patients.csv -o avatars.csv --drop patient_id")
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="File to write: .csv or .parquet.")
@generation
@SEPARATOR
@click.option(
    "--aligned",
    type=FILE,
    metavar="FILE",
    help="Also write the secret table where row i is the avatar of row i.",
)
def avatarize(
    data: Path, out: Path, made: Generation, sep: str | None, aligned: Path | None
) -> None:
    """Make avatars of DATA (CSV or Parquet), shuffled, to a file."""
    from sosie import terminal
    from sosie.run import avatarize_file

    with terminal.steps() as step:
        notes = avatarize_file(
            data, out, made.avatarizer(), separator=sep, aligned=aligned, progress=step
        )
    terminal.notes(notes)
    terminal.say(f"Wrote {out}")
    if aligned is not None:
        terminal.say(f"Secret {aligned}  (who is whose avatar: never publish it)")
    terminal.say(f"Next: sosie audit {data} {aligned or out}{' --aligned' if aligned else ''}")


@cli.command(
    epilog="Example: sosie audit patients.csv avatars.csv --drop patient_id --html audit.html"
)
@click.argument("originals", type=FILE)
@click.argument("avatars", type=FILE)
@click.option(
    "--aligned", is_flag=True, help="Row i of AVATARS is the avatar of row i of ORIGINALS."
)
@click.option(
    "--holdout", type=FILE, metavar="FILE", help="People who took no part, for the controls."
)
@with_options(COLUMNS)
@click.option("--components", default=5, show_default=True, help="Dimensions of the latent space.")
@SEPARATOR
@click.option(
    "--json",
    "json_",
    type=click.Path(allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write the metrics; - for standard output.",
)
@click.option("--html", type=FILE, metavar="FILE", help="Write the report.")
@LANGUAGE
def audit(
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
    """Measure how well AVATARS, or any synthetic table, hide the people of ORIGINALS."""
    from sosie import terminal
    from sosie.run import audit_files
    from sosie.table import Roles

    roles = Roles(
        drop=tuple(drop), categorical=tuple(categorical), numeric=tuple(numeric), date=dates(date)
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
            page=html,
            language=lang,
            progress=step,
        )
    if json_ is not None and str(json_) == "-":
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
        return
    if json_ is not None:
        _write_json(json_, found.to_dict())
    terminal.notes(found.notes)
    terminal.audit_table(found, lang)
    for path in (json_, html):
        if path is not None:
            terminal.say(f"Wrote {path}")


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    from sosie.run import write_json

    write_json(path, content)


@cli.command()
@click.argument("folder", type=FILE)
@click.option("-o", "--out", type=FILE, help="File to write; by default report.html in the folder.")
@LANGUAGE
def report(folder: Path, out: Path | None, lang: str) -> None:
    """Write the report of a run's FOLDER again, from its JSON files alone."""
    from sosie import terminal
    from sosie.run import write_report

    target = out or folder / "report.html"
    write_report(folder, target, lang)
    terminal.say(f"Wrote {target}")


@cli.command(
    epilog="Example: sosie completion bash > ~/.local/share/bash-completion/completions/sosie"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a SHELL."""
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    if complete is None:
        raise InputError(f"there is no completion for {shell}")
    click.echo(complete(cli, {}, "sosie", "_SOSIE_COMPLETE").source())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line.

    Exit status: 0 done, 2 wrong arguments or unusable input, 1 a fault of sosie, 130 interrupted.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(_run(arguments))


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _run(arguments: Sequence[str] | None) -> int:
    try:
        cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="sosie",
            standalone_mode=False,
        )
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except InputError as error:
        click.echo(f"sosie: {' '.join(str(error).split())}", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("sosie: interrupted; nothing was left half written", err=True)
        return 130
    except BrokenPipeError:
        return 1
    return 0


if __name__ == "__main__":
    main()
