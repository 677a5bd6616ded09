"""A run stopped at any moment: previous results stand, nothing half made, the next run is whole."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import interrupted_run
import numpy as np
import polars as pl
import pytest

from sosie.data.atomic import PRIVATE
from sosie.data.files import write
from sosie.errors import InputError
from sosie.jobs.report import OURS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

ROWS = 400


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "people.csv"
    columns = {f"c{i}": rng.normal(size=ROWS).round(3) for i in range(6)}
    frame = pl.DataFrame({"patient_id": [f"P{i}" for i in range(ROWS)]} | columns)
    write(frame.with_columns(arm=pl.Series(rng.choice(["A", "B"], ROWS))), path)
    return path


def begun(data: Path, out: Path, k: int) -> ForkServerProcess:
    """A run that is about to read its file."""
    words = ["run", str(data), "-o", str(out), "--drop", "patient_id", "--k", str(k)]
    return started(words, out.with_suffix(".txt"))


def started(words: list[str], told: Path) -> ForkServerProcess:
    """A command line that is about to begin; what it says goes to a file."""
    context = interrupted_run.context()
    heard, ready = context.Pipe(duplex=False)
    process = context.Process(target=interrupted_run.command, args=(words, told, ready))
    process.start()
    assert heard.poll(60)
    heard.recv()
    heard.close()
    ready.close()
    return process


def ended(process: ForkServerProcess) -> int | None:
    process.join(60)
    code = process.exitcode
    process.kill()
    process.close()
    return code


@dataclass(frozen=True)
class Whole:
    """A run that nothing stopped."""

    out: Path
    seconds: float

    def moment(self, turn: int) -> float:
        """Somewhere in a run, another one each time."""
        return random.Random(turn).uniform(0, self.seconds)  # noqa: S311 (no secret)


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    out = tmp_path_factory.mktemp("whole") / "out"
    for _ in range(2):  # the first one waits until everything is loaded
        start = time.monotonic()
        assert ended(begun(data, out, 6)) == 0
    return Whole(out, time.monotonic() - start)


def k_of(out: Path) -> int:
    """Which run the folder holds; all of it must be of the same one, and whole."""
    told = json.loads((out / "run.json").read_text())
    audit = json.loads((out / "audit.json").read_text())
    assert audit["rows"] == told["data"]["rows"] == ROWS
    published = pl.read_csv(out / "avatars.csv")
    aligned = pl.read_parquet(out / PRIVATE / "aligned.parquet")
    assert published.sort(published.columns).equals(aligned.sort(published.columns))
    assert (out / "report.html").read_text().rstrip().endswith("</html>")
    assert int((out / PRIVATE / "seed").read_text()) > 0
    return int(told["parameters"]["k"])


def left_over(out: Path) -> list[str]:
    return [path.name for path in out.iterdir() if path.name not in {*OURS, PRIVATE}]


def stop_with_a_signal(data: Path, tmp_path: Path, whole: Whole, turn: int) -> int | None:
    out = tmp_path / "out"
    process = begun(data, out, 7)
    time.sleep(whole.moment(turn))
    assert process.pid is not None
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGTERM if turn % 2 else signal.SIGINT)
    code = ended(process)
    said = out.with_suffix(".txt").read_text()
    if code == 0:  # it had ended already
        assert k_of(out) == 7
    else:
        line = "sosie: interrupted; nothing was left half written\n"
        assert code == 130
        assert said.endswith(line)
        # Stopped while it tells what it has made, it has made it.
        assert k_of(out) == 7 if said != line else not out.exists() or k_of(out) == 7
    assert not out.exists() or left_over(out) == []
    return code


def kill(data: Path, tmp_path: Path, whole: Whole, turn: int) -> int | None:
    out = tmp_path / "out"
    shutil.copytree(whole.out, out)
    process = begun(data, out, 7)
    time.sleep(whole.moment(turn))
    process.kill()
    code = ended(process)
    if not [name for name in left_over(out) if name.endswith(".ready")]:
        assert k_of(out) in (6, 7)
    for path in out.glob(".sosie-*"):
        assert path.stat().st_mode & 0o077 == 0
    assert ended(begun(data, out, 8)) == 0
    assert k_of(out) == 8
    assert left_over(out) == []
    return code


@pytest.mark.parametrize("turn", range(6))
def test_case_30_a_signal_leaves_nothing(
    data: Path, tmp_path: Path, whole: Whole, turn: int
) -> None:
    stop_with_a_signal(data, tmp_path, whole, turn)


@pytest.mark.parametrize("turn", range(4))
def test_case_30_a_kill_leaves_the_previous_results_and_the_next_run_is_whole(
    data: Path, tmp_path: Path, whole: Whole, turn: int
) -> None:
    kill(data, tmp_path, whole, turn)


@pytest.mark.slow
def test_case_30_a_run_twenty_times(data: Path, tmp_path: Path, whole: Whole) -> None:
    codes: list[int | None] = []
    for turn in range(100):
        stop = kill if turn % 3 == 2 else stop_with_a_signal
        (tmp_path / str(turn)).mkdir()
        codes.append(stop(data, tmp_path / str(turn), whole, 100 + turn))
        if sum(code != 0 for code in codes) == 20:
            break
    assert codes.count(130)
    assert codes.count(-9)


# ---------------------------------------------------------------- attack and tune

STATEFUL = {
    "attack": ("--releases", "30", "--estimator", "published", "--candidates", "20"),
    "tune": ("--k", "3,6", "--method", "smoothed", "--components", "3"),
}
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Job:
    """A command that keeps what it has done in a folder, and what it comes to."""

    name: str
    data: Path
    seconds: float
    result: dict[str, Any]

    def started(self, folder: Path) -> ForkServerProcess:
        return started(words_of(self.name, self.data, folder), folder / "said.txt")


def words_of(name: str, data: Path, folder: Path) -> list[str]:
    state, result = str(folder / "state"), str(folder / "result.json")
    common = ["--drop", "patient_id", "--seed", "5", "--resume", state, "--json", result]
    return [name, str(data), *common, *STATEFUL[name]]


def result_of(folder: Path) -> dict[str, Any]:
    """What was found, without what no two runs share."""
    told: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return {key: value for key, value in told.items() if key not in ("created", "digest")}


@pytest.fixture(scope="module", params=STATEFUL)
def job(
    request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Job:
    for _ in range(2):  # the first one waits until everything is loaded
        folder = tmp_path_factory.mktemp("whole")
        start = time.monotonic()
        process = started(words_of(request.param, data, folder), folder / "said.txt")
        assert ended(process) == 0, (folder / "said.txt").read_text()
    return Job(request.param, data, time.monotonic() - start, result_of(folder))


def temporary(folder: Path) -> list[Path]:
    """Files that are not results."""
    return [p for p in folder.rglob("*") if p.suffix in (".partial", ".ready", ".part", ".tmp")]


def stop_and_go_on(job: Job, folder: Path, turn: int) -> int | None:
    """Stop the command at a random moment, look, and let the same command end."""
    (folder / "result.json").write_text(before := '{"of": "an earlier one"}\n')
    process = job.started(folder)
    time.sleep(random.Random(turn).uniform(0, job.seconds))  # noqa: S311 (no secret)
    assert process.pid is not None
    with suppress(ProcessLookupError):
        os.kill(process.pid, SIGNALS[turn % len(SIGNALS)])
    code = ended(process)
    assert code in (0, 130, -signal.SIGKILL), (folder / "said.txt").read_text()
    if code == 0:  # it had ended already
        assert result_of(folder) == job.result
    else:
        assert (folder / "result.json").read_text() in (before, json_of(job, folder))
    for path in temporary(folder):
        assert code == -signal.SIGKILL, path
        assert path.stat().st_mode & 0o077 == 0
    assert ended(job.started(folder)) == 0, (folder / "said.txt").read_text()
    assert result_of(folder) == job.result
    assert temporary(folder) == []
    return code


def json_of(job: Job, folder: Path) -> str | None:
    """The text of the result, if it is the whole one: a kill may come right after it."""
    text = (folder / "result.json").read_text()
    with suppress(ValueError):
        if result_of(folder) == job.result:
            return text
    return None


@pytest.mark.parametrize("turn", range(3))
def test_case_30_an_attack_and_a_sweep_go_on_where_they_stopped(
    job: Job, tmp_path: Path, turn: int
) -> None:
    stop_and_go_on(job, tmp_path, turn)


@pytest.mark.slow
def test_case_30_twenty_times(job: Job, tmp_path: Path) -> None:
    """Twenty times stopped before its end, however quick the machine is by then."""
    codes: list[int | None] = []
    for turn in range(100):
        folder = tmp_path / str(turn)
        folder.mkdir()
        codes.append(stop_and_go_on(job, folder, 100 + turn))
        if sum(code != 0 for code in codes) == 20:
            break
    assert codes.count(130)
    assert codes.count(-signal.SIGKILL)


@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="only root mounts a small disk"
)
@pytest.mark.parametrize("name", STATEFUL)
def test_case_30_a_disk_that_is_full(data: Path, tmp_path: Path, name: str) -> None:
    """The results of an attack and of a sweep: one line, and what was there stays."""
    disk = tmp_path / "disk"
    disk.mkdir()
    small = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(small, check=False, capture_output=True).returncode:
        pytest.skip("a small disk can't be mounted here")
    try:
        (disk / "result.json").write_text("of an earlier one")
        with suppress(OSError):
            (disk / "filler").write_bytes(bytes(2 << 20))
        words = [word for word in words_of(name, data, disk) if word not in ("--resume",)]
        words.remove(str(disk / "state"))
        process = started(words, tmp_path / "said.txt")
        assert ended(process) == 2
        said = (tmp_path / "said.txt").read_text()
        assert said == (
            f"sosie: {disk / 'result.json'}: can't be written (No space left on device)\n"
        )
        assert sorted(path.name for path in disk.iterdir()) == ["filler", "result.json"]
        assert (disk / "result.json").read_text() == "of an earlier one"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="only root mounts a small disk"
)
def test_case_30_a_disk_that_fills_up_in_the_middle(data: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    small = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)]
    if subprocess.run(small, check=False, capture_output=True).returncode:
        pytest.skip("a small disk can't be mounted here")
    try:
        out = disk / "out"
        out.mkdir()
        (out / "run.json").write_text("of an earlier run")
        process = begun(data, out, 7)
        assert ended(process) == 2
        said = out.with_suffix(".txt").read_text()
        assert said == f"sosie: {out / 'report.html'}: can't be written (No space left on device)\n"
        assert [path.name for path in out.iterdir()] == ["run.json"]
        assert (out / "run.json").read_text() == "of an earlier run"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_signal_that_compiled_code_turns_into_another_error_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Polars swallowed it and complained of a type: not a fault of ours, nor of the table."""
    from sosie import cli
    from sosie.data import files as io

    table = tmp_path / "people.csv"
    table.write_text("a,b\n1,2\n")
    for error in (TypeError("not a Polars data type"), InputError("not a table")):

        def read(*_: object, error: Exception = error, **__: object) -> None:
            with suppress(KeyboardInterrupt):
                cli._interrupt(signal.SIGINT, None)
            raise error

        monkeypatch.setattr(io, "parse", read)
        assert cli.status_of(["avatarize", str(table), "-o", str(tmp_path / "out.csv")]) == 130
        assert "interrupted" in capsys.readouterr().err
    monkeypatch.undo()
    assert cli.status_of(["avatarize", str(table), "-o", str(tmp_path / "out.csv")]) == 2
