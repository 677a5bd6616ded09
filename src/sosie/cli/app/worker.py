"""The process that makes runs, one at a time: ``python -m sosie.cli.app.worker FOLDER PROGRAM…``.

It ends when nothing waits. It goes on when the page is closed or crashes, and stops a run when a
file named ``stop`` appears beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from sosie.cli.app.folder import Folder, Job, RunFolder, claimed
from sosie.cli.progress import PROGRESS

__all__ = ["main", "work"]

LOOK = 0.1
"""Seconds between two looks at the command: a stop is felt at once, and costs nothing."""

PATIENCE = 10.0
"""Seconds that a command has to tidy up before it is ended."""

LONGEST_MESSAGE = 2_000
"""Characters of what a command said last that are kept."""


def main(arguments: Sequence[str]) -> None:
    """Make all runs that wait, unless another process does."""
    folder = Folder(Path(arguments[0]))
    with claimed(folder.root) as claim:
        while claim is not None and (waiting := folder.queue()):
            run, job = waiting[0]
            work(run, job, arguments[1:], claim)


def work(run: RunFolder, job: Job, program: Sequence[str], claim: IO[bytes]) -> None:
    """Run the commands of a job; the first decides how it ended."""
    (run.path / "progress.jsonl").unlink(missing_ok=True)
    if run.is_asked_to_stop:
        run.save(replace(job, state="stopped", ended=time.time()))
        return
    job = replace(job, state="running", started=time.time())
    run.save(job)
    for i, command in enumerate(job.commands):
        if i:
            run.note("forms")
        status = _ended(run, [*program, *command], claim)
        if run.is_asked_to_stop:
            job = replace(job, state="stopped")
        elif status != 0 and i == 0:
            job = replace(job, state="failed", message=_message(run, status))
        if job.state != "running":
            break
    done = replace(job, state="done") if job.state == "running" else job
    run.save(replace(done, ended=time.time()))


def _ended(run: RunFolder, command: Sequence[str], claim: IO[bytes]) -> int:
    """Run a command to its end, or until it is to stop; its exit status."""
    environment = {**os.environ, PROGRESS: str(run.path / "progress.jsonl")}
    inherited = () if sys.platform == "win32" else (claim.fileno(),)
    with (
        (run.path / "output.txt").open("wb") as output,
        (run.path / "errors.txt").open("wb") as errors,
    ):
        process = subprocess.Popen(  # noqa: S603 (our own command line, no shell)
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=run.path,
            env=environment,
            pass_fds=inherited,
        )
        while process.poll() is None:
            time.sleep(LOOK)
            if run.is_asked_to_stop:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(PATIENCE)
                process.kill()
        return process.wait()


def _message(run: RunFolder, status: int) -> str:
    """The last line that a command wrote, or how it was ended."""
    text = (run.path / "errors.txt").read_text(encoding="utf-8", errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if status < 0 or not lines:
        return f"signal {-status}" if status < 0 else f"exit status {status}"
    return lines[-1].removeprefix("sosie run: ").removeprefix("sosie: ")[:LONGEST_MESSAGE]


if __name__ == "__main__":
    main(sys.argv[1:])
