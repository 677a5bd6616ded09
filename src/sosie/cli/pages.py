"""Commands that write what is known already: report, completion."""

from __future__ import annotations

from pathlib import Path

import click

from sosie.cli.options import FILE, LANGUAGE, examples

__all__ = ["COMPLETE", "completion", "report"]

COMPLETE = "_SOSIE_COMPLETE"
"""What a shell sets to ask for completions."""


@click.command(epilog=examples("sosie report out --lang fr -o rapport.html"))
@click.argument("folder", type=FILE, metavar="DIR")
@click.option("-o", "--out", type=FILE, help="File to write; by default report.html in DIR.")
@LANGUAGE
def report(folder: Path, out: Path | None, lang: str) -> None:
    """Write the report of a run again.

    DIR is the folder of a run; only its JSON files are read.
    """
    from sosie import terminal
    from sosie.run import rebuild_report

    terminal.say(f"Wrote    {rebuild_report(folder, out, lang)}")


@click.command(
    epilog=examples(
        "sosie completion bash > ~/.local/share/bash-completion/completions/sosie",
        "sosie completion zsh > ~/.zfunc/_sosie",
        "sosie completion fish > ~/.config/fish/completions/sosie.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    if complete is not None:
        root = context.find_root().command
        click.echo(complete(root, {}, "sosie", COMPLETE).source())
