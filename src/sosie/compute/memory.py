"""How much memory there is, and sizes as people write them."""

from __future__ import annotations

import re
from pathlib import Path

from sosie.errors import InputError

__all__ = ["available", "parsed"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parsed(text: str) -> int:
    """Bytes of a size such as ``2GB``, ``512MB`` or ``1.5g``.

    Raises
    ------
    InputError
        It is not a size.

    Examples
    --------
    >>> parsed("2GB"), parsed("1.5 g"), parsed("800MiB")
    (2000000000, 1500000000, 800000000)
    """
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    if found is None or float(found[1]) <= 0:
        raise InputError(f"{text!r} is not an amount of memory; write it like 2GB or 800MB")
    return round(float(found[1]) * _UNITS[found[2].lower()])


def available() -> int | None:
    """Bytes of memory that are free, for this process; None where the system does not tell."""
    free = [_linux_free(), _cgroup_free()]
    known = [some for some in free if some is not None]
    return min(known, default=None)


def _linux_free() -> int | None:
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return None
    found = re.search(r"MemAvailable:\s+(\d+) kB", text)
    return None if found is None else int(found[1]) * 1024


def _cgroup_free() -> int | None:
    """What a container's limit leaves."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            return max(int(Path(limit).read_text()) - int(Path(used).read_text()), 0)
        except (OSError, ValueError):  # no such limit, or "max"
            continue
    return None
