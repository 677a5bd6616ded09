"""``sosie completion``: completions for a shell."""

from __future__ import annotations

import click

from sosie.cli.options import examples

__all__ = ["COMPLETE", "completion"]


COMPLETE = "_SOSIE_COMPLETE"
"""What a shell sets to ask for completions."""


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
