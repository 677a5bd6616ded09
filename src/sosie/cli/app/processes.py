"""The processes that the page starts: one that looks at a file, one that makes runs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sosie.cli.app.folder import Folder, Job, RunFolder, queue_is_claimed

__all__ = ["PROGRAM", "Inspections", "Looks", "Queue"]

PROGRAM = (sys.executable, "-m", "sosie")

INSPECTION = "inspection.json"


@dataclass
class Inspections:
    """Files being looked at, a process each.

    Attributes
    ----------
    program : what looks: its arguments, and last the JSON file that it writes.
    processes : by that file.
    """

    program: Sequence[str]
    processes: dict[Path, subprocess.Popen[bytes]] = field(default_factory=dict)

    def of(self, run: RunFolder, *arguments: str, out: str = INSPECTION) -> dict[str, Any] | None:
        """What was found, from the file of a run; None while it is being looked at."""
        path = run.path / out
        process = self.processes.get(path)
        ended = process is not None and process.poll() is not None
        found = run.read(out)
        if process is not None and ended:
            self.processes.pop(path).wait()
        if found is None and ended:  # it wrote nothing: it was killed
            found = {"error": None}
        if found is None and process is None:
            self._start(run, arguments, path)
        return found

    def is_looking(self, run: RunFolder, out: str = INSPECTION) -> bool:
        """Whether more may be found."""
        process = self.processes.get(run.path / out)
        return process is not None and process.poll() is None

    def _start(self, run: RunFolder, arguments: Sequence[str], path: Path) -> None:
        command = [*self.program, *arguments, str(path)]
        with (run.path / "inspection-errors.txt").open("ab") as errors:
            self.processes[path] = subprocess.Popen(  # noqa: S603 (our own command line, no shell)
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def forget(self, run: RunFolder | None = None) -> None:
        """End the looks at a run that is deleted or begins, or all of them."""
        for path in [path for path in self.processes if run is None or path.parent == run.path]:
            process = self.processes.pop(path)
            process.kill()
            process.wait()


@dataclass
class Looks:
    """What looks at files beside the page, and ends with it.

    Attributes
    ----------
    files : what a file holds.
    costs : what each k costs.
    """

    files: Inspections = field(default_factory=lambda: Inspections(looking("inspection")))
    costs: Inspections = field(default_factory=lambda: Inspections(looking("cost")))

    def forget(self, run: RunFolder | None = None) -> None:
        """End the looks at a run, or all of them."""
        self.files.forget(run)
        self.costs.forget(run)


def looking(module: str) -> tuple[str, ...]:
    """The command of a module of the page."""
    return (sys.executable, "-m", f"sosie.cli.app.{module}")


@dataclass
class Queue:
    """Runs that wait, and the process that makes them one after the other.

    Attributes
    ----------
    folder : where they are.
    program : the command line of sosie.
    """

    folder: Folder
    program: Sequence[str] = PROGRAM
    _workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def submit(self, run: RunFolder, commands: Sequence[Sequence[str]]) -> None:
        """Put a run at the end."""
        (run.path / "stop").unlink(missing_ok=True)
        run.save(Job("queued", tuple(map(tuple, commands)), queued=time.time()))
        self.attend()

    def attend(self) -> None:
        """See to it that a process makes the runs that wait."""
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        root = self.folder.root
        if self._workers or not self.folder.queue() or queue_is_claimed(root):
            return
        command = [sys.executable, "-m", "sosie.cli.app.worker", str(root), *self.program]
        with (root / "worker.txt").open("ab") as log:
            worker = subprocess.Popen(  # noqa: S603 (our own command line, no shell)
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # it outlives the page, and Ctrl-C is not for it
            )
        self._workers.append(worker)

    def wait(self) -> None:
        """Wait until the process that makes runs has ended."""
        for worker in self._workers:
            worker.wait()

    def stop(self, run: RunFolder) -> None:
        """Stop a run that waits or works; what is made of it so far is not kept."""
        run.ask_to_stop()
        job = run.job()
        if job.state == "queued":
            run.save(Job("stopped", job.commands, job.queued, ended=time.time()))

    def stop_all(self) -> None:
        """Stop all that waits or works."""
        for run in self.folder.runs():
            if run.job().is_active:
                self.stop(run)
