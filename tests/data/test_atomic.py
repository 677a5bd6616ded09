"""Files and folders appear whole or not at all, whatever stops their making."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import sosie.data.atomic
from sosie.data.atomic import atomic, settle, staged
from sosie.errors import InputError

posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions and claims of POSIX")
NAMES = ("a.txt", "b.txt", "old.txt")


class Killed(BaseException):
    """Stands for a kill: nothing may be tidied up after it."""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# ---------------------------------------------------------------- one file


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    for text in (b"one", b"two"):
        atomic(tmp_path / "x", lambda file, text=text: file.write(text))
        assert contents(tmp_path) == {"x": text.decode()}


@posix
@pytest.mark.parametrize(("mask", "wanted"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_has_the_permissions_of_any_new_file(
    tmp_path: Path, usual_mask: None, mask: int, wanted: int
) -> None:
    os.umask(mask)
    atomic(tmp_path / "x", lambda file: file.write(b"x"))
    atomic(tmp_path / "secret", lambda file: file.write(b"x"), stat.S_IRUSR | stat.S_IWUSR)
    assert mode(tmp_path / "x") == wanted
    assert mode(tmp_path / "secret") == 0o600


@posix
def test_what_is_being_written_is_its_owner_s_only(tmp_path: Path, usual_mask: None) -> None:
    os.umask(0)
    seen: list[int] = []
    atomic(tmp_path / "x", lambda _: seen.extend(map(mode, tmp_path.iterdir())), 0o666)
    assert seen == [0o600]


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fill", "fsync", "replace"])
def test_a_fault_leaves_the_previous_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, step: str
) -> None:
    (tmp_path / "x").write_text("before")

    def fails(*_: object) -> None:
        raise fault

    def fill(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        if step == "fill":
            fails()

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fails)
    elif step == "replace":
        monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(InputError if isinstance(fault, OSError) else KeyboardInterrupt) as raised:
        atomic(tmp_path / "x", fill)
    if isinstance(fault, OSError):
        assert str(raised.value) == f"{tmp_path / 'x'}: can't be written (No space left on device)"
    assert contents(tmp_path) == {"x": "before"}


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "no" / "x", tmp_path / "file" / "x", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match="can't be written"):
            atomic(path, lambda file: file.write(b"x"))
    assert contents(tmp_path) == {"file": ""}


def test_the_longest_name_there_can_be(tmp_path: Path) -> None:
    atomic(tmp_path / ("x" * 255), lambda file: file.write(b"x"))
    assert contents(tmp_path) == {"x" * 255: "x"}


def test_what_a_kill_has_left_is_cleared_by_the_next_write(tmp_path: Path) -> None:
    (tmp_path / ".sosie-0a1b2c3d.partial").write_text("half")
    (tmp_path / ".other").write_text("not ours")
    atomic(tmp_path / "x", lambda file: file.write(b"x"))
    assert contents(tmp_path) == {".other": "not ours", "x": "x"}


@posix
def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    def meanwhile(file: object) -> None:
        atomic(tmp_path / "y", lambda other: other.write(b"y"))
        file.write(b"x")  # type: ignore[attr-defined]

    atomic(tmp_path / "x", meanwhile)
    assert contents(tmp_path) == {"x": "x", "y": "y"}


# ---------------------------------------------------------------- a folder


def fill_stage(stage: Path, text: str) -> None:
    for name in ("a.txt", "b.txt"):
        (stage / name).write_text(text)
    (stage / "private").mkdir(mode=0o700)
    (stage / "private" / "link.txt").write_text(text)


WHOLE = ("a.txt", "b.txt", "private/link.txt")


def results(text: str) -> dict[str, str]:
    return dict.fromkeys(WHOLE, text)


def test_a_folder_is_made_and_replaced(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    for text in ("one", "two"):
        with staged(out, NAMES) as stage:
            fill_stage(stage, text)
        assert contents(tmp_path / "deep" / "out") == results(text)
    (out / "old.txt").write_text("of another kind of run")
    (out / "mine.txt").write_text("not ours")
    with staged(out, NAMES) as stage:
        fill_stage(stage, "three")
    assert contents(out) == results("three") | {"mine.txt": "not ours"}


@posix
def test_the_temporary_folder_is_its_owner_s_only(tmp_path: Path, usual_mask: None) -> None:
    os.umask(0)
    with staged(tmp_path / "out", NAMES) as stage:
        assert stage.parent == tmp_path / "out"
        assert mode(stage) == 0o700


@pytest.mark.parametrize("fault", [ValueError, InputError, KeyboardInterrupt])
def test_a_fault_leaves_the_previous_results(tmp_path: Path, fault: type[BaseException]) -> None:
    def fails(out: Path) -> None:
        with staged(out, NAMES) as stage:
            fill_stage(stage, "half")
            raise fault

    with pytest.raises(fault):
        fails(tmp_path / "deep" / "out")
    assert list(tmp_path.iterdir()) == []
    with staged(tmp_path / "out", NAMES) as stage:
        fill_stage(stage, "one")
    with pytest.raises(fault):
        fails(tmp_path / "out")
    assert contents(tmp_path / "out") == results("one")


def test_a_folder_in_the_way_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "b.txt").mkdir()
    (tmp_path / "a.txt").write_text("before")
    with pytest.raises(InputError, match=r"b\.txt is in the way"), staged(tmp_path, NAMES) as stage:
        fill_stage(stage, "one")
    assert contents(tmp_path) == {"a.txt": "before"}


@posix
def test_two_writers_of_one_folder(tmp_path: Path) -> None:
    with staged(tmp_path, NAMES) as stage:
        refused = pytest.raises(InputError, match="another sosie is writing there")
        with refused, staged(tmp_path, NAMES):
            pass
        settle(tmp_path, NAMES)  # keeps off
        fill_stage(stage, "one")
    assert contents(tmp_path) == results("one")


CHANGES = (
    *((Path, name) for name in ("rename", "replace", "unlink", "mkdir", "rmdir")),
    (shutil, "rmtree"),
)


class Stop:
    """Lets so many changes of the disk pass, then stops; a kill lets nothing happen after it."""

    def __init__(self, patched: pytest.MonkeyPatch, after: int, fault: type[BaseException]) -> None:
        self.left, self.fault = after, fault
        for owner, name in CHANGES:
            patched.setattr(owner, name, self.counted(getattr(owner, name)))

    def counted(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            self.left -= 1
            if self.left == -1 or (self.left < 0 and self.fault is Killed):
                raise self.fault
            return real(*arguments, **options)

        return call


@pytest.mark.parametrize("fault", [Killed, KeyboardInterrupt])
@pytest.mark.parametrize("old", [{}, results("one") | {"old.txt": "of another kind of run"}])
def test_stopped_at_any_step_the_results_are_all_old_or_all_new(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[BaseException],
    old: dict[str, str],
) -> None:
    stop = None
    for after in itertools.count():
        out = tmp_path / str(after)
        for name, text in old.items():
            (out / name).parent.mkdir(exist_ok=True, parents=True)
            (out / name).write_text(text)
        with monkeypatch.context() as patched, suppress(fault):
            stop = Stop(patched, after, fault)
            with staged(out, NAMES) as stage:
                fill_stage(stage, "two")
        if stop.left >= 0:
            break
        if fault is Killed and out.exists():
            settle(out, NAMES)
        assert (contents(out) if out.exists() else {}) in (old, results("two")), after
        with staged(out, NAMES) as stage:
            fill_stage(stage, "three")
        assert contents(out) == results("three")
    assert after > 8


@pytest.mark.parametrize(
    "manifest", ['["../x.txt"]', '["/x.txt"]', '[".."]', "[1]", "{}", "not JSON", '["a/b"]']
)
def test_a_folder_from_a_stranger_moves_nothing(tmp_path: Path, manifest: str) -> None:
    out = tmp_path / "out"
    ready = out / ".sosie-0a1b2c3d.ready"
    ready.mkdir(parents=True)
    (ready / ".made").write_text(manifest)
    (out / "x.txt").write_text("theirs")
    (tmp_path / "x.txt").write_text("mine")
    settle(out, NAMES)
    with pytest.raises(InputError, match="is no folder of ours"), staged(out, NAMES):
        pass
    assert (tmp_path / "x.txt").read_text() == "mine"
    assert (out / "x.txt").read_text() == "theirs"


@posix
def test_a_killed_process_holds_no_claim(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom sosie.data.atomic import staged\n"
        f"with staged(Path({str(tmp_path)!r}), ()) as stage:\n"
        "    (stage / 'a.txt').write_text('half')\n    os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert list(contents(tmp_path).values()) == ["half"]
    with staged(tmp_path, NAMES) as stage:
        fill_stage(stage, "one")
    assert contents(tmp_path) == results("one")


def test_file_systems_without_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def fails(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", fails)
    with staged(tmp_path, NAMES) as stage:
        fill_stage(stage, "one")
    assert contents(tmp_path) == results("one")
    assert sosie.data.atomic.shown(tmp_path / ".sosie-x.partial" / "a") == tmp_path / "a"
