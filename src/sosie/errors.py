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


def quoted(names: Iterable[object]) -> str:
    """Names as they appear in messages.

    >>> quoted(["age", 3])
    "'age', 3"
    """
    return ", ".join(repr(name) for name in names)
