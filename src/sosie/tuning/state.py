"""A sweep that was interrupted goes on where it stopped.

``tune.json`` is written after each setting, whole or not at all. It is the result itself:
aggregates only, and no seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sosie.atomic import atomic
from sosie.attack.sources import fingerprint
from sosie.errors import InputError
from sosie.table import Table
from sosie.tuning.results import SCHEMA, Tuning

__all__ = ["FILE", "digest_of", "load", "save"]

FILE = "tune.json"


def digest_of(table: Table, options: Mapping[str, Any]) -> str:
    """A digest of the data and of all that a measured setting depends on, the seed excepted."""
    text = repr((fingerprint(table), table.roles, sorted(options.items())))
    return hashlib.sha256(text.encode()).hexdigest()


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
            f"{path}: a sweep of other data or with other options; choose another folder"
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
