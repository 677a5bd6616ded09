"""A command line in a process that starts at once, so that many can be stopped in little time."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import multiprocessing.context
import os
from collections.abc import Sequence
from pathlib import Path

LOADED = [
    "sosie.jobs.attack",
    "sosie.cli",
    "sosie.jobs.run",
    "sosie.jobs.tune",
    "sosie.cli.terminal",
    "plotly.offline",
    "polars",
    "scipy.linalg",
    "scipy.spatial",
    "scipy.special",
]
"""What a run needs, loaded once; nothing of it has run, so that the process can be copied."""


def context() -> multiprocessing.context.ForkServerContext:
    """Where processes come from."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(LOADED)
    return server


def command(words: Sequence[str], told: Path, ready: multiprocessing.connection.Connection) -> None:
    """Run a command line whose standard output and error go to a file."""
    file = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    from sosie.cli import main

    ready.send("ready")
    main(words)
