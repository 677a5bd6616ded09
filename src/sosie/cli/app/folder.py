"""What the page keeps on disk: one folder a run, its settings, its job, its results.

::

    sosie-app/                       0700
        queue.lock                   claimed by the process that makes runs
        runs/20261201-101500-0a1b2c3d/
            settings.json            what was chosen
            inspection.json          what was read, aggregated
            context.toml             who receives the avatars
            data/                    the file, where it was uploaded
            job.json                 queued, running, done, failed or stopped
            progress.jsonl errors.txt output.txt
            result/                  the folder of `sosie run`
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

from sosie.data.atomic import OWNER_FILE, OWNER_FOLDER, atomic
from sosie.errors import InputError, SosieError

__all__ = ["FILES", "Folder", "Job", "NotFoundError", "RunFolder", "State"]

State = Literal["draft", "queued", "running", "done", "failed", "stopped", "interrupted"]

FILES: Mapping[str, tuple[str, ...]] = {
    "avatars": ("result/avatars.csv", "result/avatars.xlsx", "result/avatars.parquet"),
    "report": ("result/report.html",),
    "document": ("report.docx",),
    "assessment": ("assessment.json",),
}
"""All that is ever served of a run, by the name in its address: the first that is there."""

_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
_DELETED = ".deleted-"


class NotFoundError(SosieError):
    """There is no such run, or no such file of it."""


@dataclass(frozen=True)
class Job:
    """Where the making of a run stands.

    Attributes
    ----------
    state : see `State`.
    commands : arguments of each command of sosie that it runs, in order.
    queued, started, ended : seconds since 1970, None before.
    message : what the command said where it failed.
    """

    state: State
    commands: tuple[tuple[str, ...], ...] = ()
    queued: float | None = None
    started: float | None = None
    ended: float | None = None
    message: str = ""

    @property
    def is_active(self) -> bool:
        """Whether it waits or works."""
        return self.state in ("queued", "running")


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def id(self) -> str:
        """Its name in addresses."""
        return self.path.name

    @property
    def created(self) -> str:
        """ISO 8601 instant, in UTC."""
        return datetime.strptime(self.id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).isoformat()

    @property
    def result(self) -> Path:
        """The folder that `sosie run` writes."""
        return self.path / "result"

    def read(self, name: str) -> dict[str, Any] | None:
        """A JSON file of the run; None where there is none, or it is not JSON."""
        try:
            found = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def write(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a JSON file of the run, whole or not at all."""
        self.write_text(name, json.dumps(content, ensure_ascii=True, indent=1))

    def write_text(self, name: str, text: str) -> None:
        """Write a text file of the run, whole or not at all."""
        whole = text.encode("utf-8", "replace")
        atomic(self.path / name, lambda file: file.write(whole), OWNER_FILE)

    def job(self) -> Job:
        """Where it stands; one that claims to run while no process does was interrupted."""
        told = self.read("job.json")
        if told is None:
            return Job("draft")
        commands = tuple(map(tuple, told.pop("commands", ())))
        try:
            job = Job(**told, commands=commands)
        except TypeError:  # of another version
            return Job("draft")
        if job.state != "running" or queue_is_claimed(self.path.parents[1]):
            return job
        told = self.read("job.json") or told  # it may have ended in between
        whole = (self.result / "report.html").is_file()  # a run is written whole or not at all
        state: State = "done" if whole else "interrupted"
        state = state if told["state"] == "running" else told["state"]
        return Job(**{**told, "state": state, "commands": commands})

    def save(self, job: Job) -> None:
        """Write where it stands."""
        self.write("job.json", {**job.__dict__})

    def progress(self) -> list[str]:
        """Steps that have begun, in order."""
        with suppress(OSError, ValueError, KeyError):
            lines = (self.path / "progress.jsonl").read_text(encoding="utf-8").splitlines()
            return [json.loads(line)["step"] for line in lines]
        return []

    def note(self, step: str) -> None:
        """Add a step that begins."""
        with (self.path / "progress.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps({'step': step})}\n")

    def ask_to_stop(self) -> None:
        """Leave word that the job is to stop."""
        self.write_text("stop", "")

    @property
    def is_asked_to_stop(self) -> bool:
        """Whether word was left."""
        return (self.path / "stop").exists()

    def file(self, key: str) -> Path:
        """The file behind one of `FILES`, which no link leads out of the run.

        Raises
        ------
        NotFoundError
            It is not one of them, it is not there, or it is not a plain file inside the run.
        """
        for name in FILES.get(key, ()):
            path = self.path / name
            inside = path.resolve() == self.path.resolve() / name  # no part of it is a link
            if inside and path.is_file():
                return path
        raise NotFoundError(key)

    def delete(self) -> None:
        """Take the run away for good; what is half deleted is not seen, and goes next time."""
        gone = self.path.with_name(f"{_DELETED}{self.id}")
        self.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


@dataclass(frozen=True)
class Folder:
    """The folder of the page; all that it writes is in there.

    Attributes
    ----------
    root : absolute.
    """

    root: Path

    @classmethod
    def of(cls, root: Path) -> Folder:
        """The folder, made where it is not there yet, for its owner alone.

        Raises
        ------
        InputError
            It can't be made, or is not a folder.
        """
        root = root.absolute()
        try:
            root.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            (root / "runs").mkdir(mode=OWNER_FOLDER, exist_ok=True)
        except OSError as error:
            raise InputError(f"{root}: can't be used ({error.strerror or error})") from error
        for left in (root / "runs").glob(f"{_DELETED}*"):
            shutil.rmtree(left, ignore_errors=True)
        return cls(root)

    def create(self) -> RunFolder:
        """The folder of a new run."""
        name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        path = self.root / "runs" / name
        path.mkdir(mode=OWNER_FOLDER)
        return RunFolder(path)

    def find(self, name: str) -> RunFolder:
        """The run of that name.

        Raises
        ------
        NotFoundError
            There is none.
        """
        path = self.root / "runs" / name
        if not _ID.fullmatch(name) or path.is_symlink() or not path.is_dir():
            raise NotFoundError(name)
        return RunFolder(path)

    def runs(self) -> list[RunFolder]:
        """All runs, the newest first."""
        names = sorted((p.name for p in (self.root / "runs").iterdir()), reverse=True)
        found = []
        for name in names:
            with suppress(NotFoundError):
                found.append(self.find(name))
        return found

    def queue(self) -> list[tuple[RunFolder, Job]]:
        """Runs that wait, the first first."""
        every = ((run, run.job()) for run in self.runs())
        waiting = [(run, job) for run, job in every if job.state == "queued"]
        return sorted(waiting, key=lambda pair: pair[1].queued or 0)


# ---------------------------------------------------------------- who makes runs


def queue_is_claimed(root: Path) -> bool:
    """Whether a process, or one that it has started, makes runs of this folder."""
    with claimed(root) as claim:
        return claim is None


@contextmanager
def claimed(root: Path) -> Iterator[IO[bytes] | None]:
    """Claim the queue for this process and those that inherit the file; None where another has it.

    A claim ends with its processes, however they end.
    """
    descriptor = os.open(root / "queue.lock", os.O_RDWR | os.O_CREAT, OWNER_FILE)
    with os.fdopen(descriptor, "r+b") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        yield file
