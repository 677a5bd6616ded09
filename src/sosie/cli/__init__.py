"""The command line: options in, library calls, words out. No arithmetic here.

One module for each command; `sosie.cli.options` has what they share.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

from sosie.cli.analyses import analyses
from sosie.cli.app_command import open_app
from sosie.cli.attack import attack
from sosie.cli.audit import audit
from sosie.cli.avatarize import avatarize
from sosie.cli.completion import COMPLETE, completion
from sosie.cli.context import write_context
from sosie.cli.demo import demo
from sosie.cli.options import examples
from sosie.cli.report import report
from sosie.cli.reproduce import reproduce
from sosie.cli.run import run
from sosie.cli.tune import tune
from sosie.errors import InputError

__all__ = ["cli", "main", "status_of"]


INTERRUPTED = 130
STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")


class InOrder(click.Group):
    """A group whose help lists commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """The names of the commands."""
        return list(self.commands)


@click.group(
    cls=InOrder,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("sosie demo", "sosie run patients.csv -o out --drop patient_id"),
)
@click.version_option(package_name="sosie")
@click.pass_context
def cli(context: click.Context) -> None:
    """Turn a table of people into avatars, measure how well they hide people, and report it.

    Everything runs on this machine; no data leave it.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    *(demo, run, avatarize, audit, analyses, attack, reproduce, tune, report),
    *(write_context, open_app, completion),
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Exit status: 0 done, 2 wrong arguments or unusable input, 1 a fault of sosie, 130 interrupted.
    """
    known = [getattr(signal, name) for name in STOPPING if hasattr(signal, name)]
    # What whoever started us has shut out (nohup) stays so.
    signals = [stop for stop in known if signal.getsignal(stop) != signal.SIG_IGN]
    for stop in signals:
        signal.signal(stop, _interrupt)
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(cli, {}, "sosie", COMPLETE, instruction))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal can't show is no fault
    try:
        status = status_of(arguments)
        for stop in signals:  # all is done: on the way out there is nothing left to stop
            signal.signal(stop, signal.SIG_IGN)
    except KeyboardInterrupt:
        status = _stopped()
    if status == INTERRUPTED:
        # What was interrupted may go on in a thread of a library: Python's own way out would pull
        # the ground from under it and could crash. Everything of ours is tidied up by now.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


_SEEN: list[int] = []
"""Signals that came: one that meets compiled code may come out of it as any error at all."""


def _interrupt(number: int, _: object) -> NoReturn:
    _SEEN.append(number)
    raise KeyboardInterrupt


def status_of(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and give back its exit status; what went wrong is one line of text."""
    # click's own `main` would end a closed pipe with status 1.
    words = list(sys.argv[1:] if arguments is None else arguments)
    _SEEN.clear()
    try:
        with cli.make_context("sosie", words) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _refused(error.format_message(), getattr(error, "ctx", None))
    except InputError as error:
        return _stopped() if _was_interrupted(error) else _refused(_way_on(error, words))
    except MemoryError:
        return _refused("there is not enough memory for this table; try fewer rows or columns")
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 (the last resort: say whose fault it is)
        return _stopped() if _was_interrupted(error) else _fault(error)
    return 0


def _way_on(error: InputError, words: Sequence[str]) -> str:
    """What an error says; of columns that identify people, the whole command to go on."""
    from sosie.data.identifiers import IdentifierError, refusal

    if isinstance(error, IdentifierError):
        return refusal(error.suspects, ["sosie", *words])
    return str(error)


def _stopped() -> int:
    click.echo("sosie: interrupted; nothing was left half written", err=True)
    return INTERRUPTED


def _fault(error: Exception) -> int:
    traceback.print_exception(error)
    click.echo("sosie: this is a fault of sosie, not of your data; please report it", err=True)
    return 1


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether an interruption is behind it: one that meets an import comes out as another error."""
    if _SEEN:
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _refused(message: str, context: click.Context | None = None) -> int:
    from sosie.cli.terminal import printable

    where = "sosie" if context is None else context.command_path
    hint = "" if context is None else f" (see {where} --help)"
    click.echo(f"{where}: {printable(' '.join(message.split()))}{hint}", err=True)
    return 2


if __name__ == "__main__":
    main()
