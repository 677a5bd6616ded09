"""Files and folders that stand under their final names only when they are whole.

What is being written has a hidden name of its own beside its final one, can be read by its
owner only, and is claimed by the process that writes it: what a killed process has left is
told apart from what another one is writing, and the next writer clears it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sosie.errors import InputError

__all__ = [
    "OWNER_FILE",
    "OWNER_FOLDER",
    "PRIVATE",
    "SWEEP_KEY",
    "atomic",
    "settle",
    "shown",
    "staged",
    "usual_mode",
]

OWNER_FILE = stat.S_IRUSR | stat.S_IWUSR
OWNER_FOLDER = stat.S_IRWXU
PRIVATE = "private"
"""Folder of what links avatars to people."""

SWEEP_KEY = "sweep.key"
"""Of the digest in ``tune.json``, in the private folder beside it."""

MARK = ".sosie-"
MANIFEST = ".made"


def atomic(path: Path, fill: Callable[[IO[bytes]], object], mode: int | None = None) -> None:
    """Fill a file under a temporary name beside its final one, then move it there.

    The temporary file can be read by its owner only and is gone afterwards; after a kill,
    the next write into the folder clears it.

    Parameters
    ----------
    mode : permissions of the file; by default those of any new file.

    Raises
    ------
    InputError
        It can't be written; the previous file is as it was.
    """
    try:
        _clear_files(path.parent)
        if path.is_dir():
            raise InputError(f"{path}: can't be written (it is a folder)")
        with _temporary(path.parent) as (temporary, file), file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(usual_mode() if mode is None else mode)
            if sys.platform == "win32":  # open files can't be moved there
                file.close()
            temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def staged(out: Path, names: Collection[str]) -> Iterator[Path]:
    """A temporary folder inside `out` whose content is moved there when all went well.

    Once the content is whole, a kill in the middle of moving it is made good by the next
    `staged` or `settle`.

    Parameters
    ----------
    out : made where it is not there.
    names : what belongs to results of this kind; what is not made this time is taken away.

    Raises
    ------
    InputError
        The folder can't be written, or another process writes there; what it held stays.
    """
    new: list[Path] = []
    try:
        with _writing(out):
            new += (folder for folder in (out, *out.parents) if not folder.exists())
            out.mkdir(parents=True, exist_ok=True)
        with _claimed(out):
            stage = out / f"{MARK}{secrets.token_hex(4)}.partial"
            ready = stage.with_suffix(".ready")
            try:
                with _writing(out):
                    _settle(out, names)
                    stage.mkdir(mode=OWNER_FOLDER)
                yield stage
                with _writing(out):
                    _commit(stage, ready, out)
                    _finish(ready, out, names)
            except KeyboardInterrupt:
                if ready.exists():  # the new results are whole: they go where they belong
                    _finish(ready, out, names)
                raise
            finally:
                shutil.rmtree(stage, ignore_errors=True)
    finally:
        for folder in new:
            with suppress(OSError):
                folder.rmdir()  # only where it is empty


def settle(out: Path, names: Collection[str]) -> None:
    """Finish the results that a killed process had made whole, and clear those that were not.

    Nothing is done in a folder where another process writes, or that can't be written.
    """
    with suppress(InputError, OSError), _claimed(out):
        _settle(out, names)


def _settle(out: Path, names: Collection[str]) -> None:
    for left in out.glob(f"{MARK}*.ready"):
        _finish(left, out, names)
    _clear_files(out)
    for left in out.glob(f"{MARK}*.partial"):
        if left.is_dir():
            shutil.rmtree(left)


def _commit(stage: Path, ready: Path, out: Path) -> None:
    made = sorted(item.name for item in stage.iterdir())
    for name in made:
        if (out / name).is_dir() != (stage / name).is_dir() and (out / name).exists():
            raise FileExistsError(None, f"{name} is in the way")
    (stage / MANIFEST).write_text(json.dumps(made), encoding="utf-8")
    stage.rename(ready)


def _made(ready: Path) -> list[str]:
    """What a folder of whole results holds, by its manifest: names, and no paths out of it."""
    try:
        made = json.loads((ready / MANIFEST).read_text(encoding="utf-8"))
    except ValueError:
        made = None
    if not isinstance(made, list) or not all(_is_name(name) for name in made):
        raise FileExistsError(None, f"{ready.name} is no folder of ours; take it away")
    return made


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name not in ("", "..") and Path(name).name == name


def _finish(ready: Path, out: Path, names: Collection[str]) -> None:
    """Move what is ready to its final names; what is done already is not done again."""
    made = _made(ready)
    for name in made:
        if not (ready / name).exists():
            continue
        if (out / name).is_dir():
            (out / name).rename(ready / f"{MARK}{secrets.token_hex(4)}")
        (ready / name).replace(out / name)
    for name in names:
        if name not in made:
            (out / name).unlink(missing_ok=True)
    done = ready.rename(ready.with_suffix(".partial"))
    shutil.rmtree(done)


# ---------------------------------------------------------------- temporary files and claims


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file of its owner's, claimed, and gone afterwards if it is still there."""
    while True:
        path = folder / f"{MARK}{secrets.token_hex(4)}.partial"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_FILE)
            if _claim(descriptor) and path.exists():
                yield path, os.fdopen(descriptor, "wb")
                return
            os.close(descriptor)  # another process took it for a leftover before it was claimed
        finally:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _clear_files(folder: Path) -> None:
    """Take away temporary files that no process claims."""
    for left in folder.glob(f"{MARK}*.partial"):
        with suppress(OSError):
            descriptor = os.open(left, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _claim(descriptor):
                    left.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Hold a folder against other processes; a claim ends with its process."""
    if sys.platform == "win32":  # folders can't be claimed there
        yield
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        if not _claim(descriptor):
            raise InputError(f"{folder}: another sosie is writing there; wait until it has ended")
        yield
    finally:
        os.close(descriptor)


def _claim(descriptor: int) -> bool:
    """Whether no other process claims the file; so that now this one does."""
    if sys.platform == "win32":  # files in use can't be removed there
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without claims
        return True
    return True


def usual_mode(*, folder: bool = False) -> int:
    """Permissions of any new file, or folder."""
    mask = os.umask(OWNER_FOLDER)
    os.umask(mask)
    return (0o777 if folder else 0o666) & ~mask


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{shown(path)}: can't be written ({error.strerror or error})")


def shown(path: Path) -> Path:
    """The final name of a file that is being written.

    >>> shown(Path("out/.sosie-0a1b2c3d.partial/avatars.csv")).as_posix()
    'out/avatars.csv'
    """
    return Path(*(part for part in path.parts if not part.startswith(MARK)))
