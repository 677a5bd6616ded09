"""A sweep that was interrupted goes on where it stopped.

``tune.json`` is written after each setting, whole or not at all. It is the result itself:
aggregates only, and no seed. What tells the same data again is a digest under a key that
stays in ``private/``: a plain one would let whoever knows all people but one try who that is.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sosie.attacks.sources import fingerprint
from sosie.data.atomic import OWNER_FILE, OWNER_FOLDER, PRIVATE, SWEEP_KEY, atomic
from sosie.data.table import Table
from sosie.errors import InputError
from sosie.tuning.results import SCHEMA, Tuning

__all__ = ["FILE", "digest_of", "key_of", "load", "save"]

FILE = "tune.json"


def digest_of(table: Table, options: Mapping[str, Any], key: bytes) -> str:
    """A digest of the data and of all that a measured setting depends on, the seed excepted."""
    text = repr((fingerprint(table), table.roles, sorted(options.items())))
    return hmac.digest(key, text.encode(), "sha256").hex()


def key_of(folder: Path | None) -> bytes:
    """The key of a folder's digests, made and kept in it for its owner; a fresh one for none.

    Raises
    ------
    InputError
        It can't be read or written.
    """
    fresh = secrets.token_hex(32).encode()
    if folder is None:
        return fresh
    path = folder / PRIVATE / SWEEP_KEY
    try:
        path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        if not path.exists():
            atomic(path, lambda file: file.write(fresh), OWNER_FILE)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: can't be used ({error.strerror})") from None


def load(folder: Path, digest: str) -> Tuning | None:
    """What an earlier sweep of the same data and options has measured; None without one.

    Raises
    ------
    InputError
        What is there can't be read, or is about other data or options.
    """
    path = folder / FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{path}: not valid JSON; remove it to begin again") from None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        raise InputError(f"{path}: not a sweep of this version of sosie; choose another folder")
    if told.get("digest") != digest:
        raise InputError(
            f"{path}: a sweep of other data or with other options (or the key in {PRIVATE}/ that"
            " tells them is another one); choose another folder"
        )
    try:
        return Tuning.from_dict(told)
    except (KeyError, TypeError, IndexError, AttributeError):
        raise InputError(f"{path}: damaged; remove it to begin again") from None


def save(folder: Path, tuning: Tuning) -> None:
    """Write what was measured so far.

    Raises
    ------
    InputError
        The folder can't be written.
    """
    text = json.dumps(tuning.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: can't be written ({error.strerror})") from None
    atomic(folder / FILE, lambda file: file.write(text.encode()))


def known(tuning: Tuning | None, wanted: Sequence[object]) -> tuple[Any, ...]:
    """Trials of the settings that are wanted now."""
    return () if tuning is None else tuple(t for t in tuning.trials if t.setting in wanted)
