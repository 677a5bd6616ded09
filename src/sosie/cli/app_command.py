"""``sosie app``: the local web page."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from sosie.cli.options import FILE, examples
from sosie.errors import InputError

__all__ = ["open_app"]

NEEDED = ("starlette", "uvicorn", "python_multipart")


@click.command("app", epilog=examples("sosie app", "sosie app --port 8000 --no-browser"))
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="N",
    help="Port to listen on; by default any that is free.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--folder",
    type=FILE,
    default=Path("sosie-app"),
    show_default=True,
    help="Where runs are kept; nothing is written elsewhere.",
)
def open_app(*, port: int, no_browser: bool, folder: Path) -> None:
    """Open the local web page, for people who do not program.

    It listens on this machine alone, and opens in your browser. The address that is printed
    is the key: whoever has it, on this machine, can see your runs. Ctrl-C closes the page; a run
    under way goes on, and is there when you come back.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(f"the web page needs {', '.join(missing)}: pip install 'sosie[app]'")
    from sosie.cli.app.folder import Folder
    from sosie.cli.app.guard import Keys
    from sosie.cli.app.pages import application
    from sosie.cli.app.processes import Looks, Queue
    from sosie.cli.app.server import Server, opened, sockets

    kept = Folder.of(folder)
    bound = sockets(port)
    keys = Keys.of(bound[0].getsockname()[1])

    def listening() -> None:
        click.echo(keys.address)
        if not no_browser:
            opened(keys.address)

    server: Server
    looks = Looks()

    def leave() -> None:
        server.should_exit = True

    server = Server(application(kept, keys, Queue(kept), looks, leave=leave), listening)
    try:
        server.run(bound)
    finally:
        looks.forget()
        if any(run.job().is_active for run in kept.runs()):
            click.echo("A run goes on; sosie app shows it again, and can stop it.", err=True)
