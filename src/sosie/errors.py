"""What can go wrong, in words a user can act on."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["InputError", "SosieError", "SosieWarning", "quoted"]


class SosieError(Exception):
    """Base of every error that sosie raises on purpose."""


class InputError(SosieError):
    """The data or the options can't be used; the message names what and where, and the way out."""


class SosieWarning(UserWarning):
    """Something in the data deserves a look, and the work goes on."""


MOST_NAMED = 20
LONGEST_NAME = 80


def quoted(names: Iterable[object]) -> str:
    """Names as they appear in messages: the first twenty, and of long ones the beginning.

    >>> quoted(["age", 3])
    "'age', 3"
    >>> quoted(range(1_000))[-15:]
    '19 and 980 more'
    """
    every = [repr(name) for name in names]
    more = f" and {len(every) - MOST_NAMED:,} more" if len(every) > MOST_NAMED else ""
    return ", ".join(map(_short, every[:MOST_NAMED])) + more


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
