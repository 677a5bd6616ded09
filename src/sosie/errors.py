"""What can go wrong, in words a user can act on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = ["InputError", "Reason", "SosieError", "SosieWarning", "quoted"]


class SosieError(Exception):
    """Base of every error that sosie raises on purpose."""


class InputError(SosieError):
    """The data or the options can't be used; the message names what and where, and the way out.

    Attributes
    ----------
    reason : where only one figure of several can't be had, why, as a key.
    """

    def __init__(self, *message: object, reason: Reason | None = None) -> None:
        super().__init__(*message)
        self.reason = reason


class SosieWarning(UserWarning):
    """Something in the data deserves a look, and the work goes on.

    Attributes
    ----------
    reason : what it is, as a key; None where only the message says it.
    """

    def __init__(self, *message: object, reason: Reason | None = None) -> None:
        super().__init__(*message)
        self.reason = reason


@dataclass(frozen=True)
class Reason:
    """Why there is no figure, or why something does not hold: a key, and the values it speaks of.

    Words are made of it at the edge, in the reader's language: ``reasons.<key>`` of the catalogue.

    >>> Reason("too_few_people", {"people": 3}).to_dict()
    {'key': 'too_few_people', 'values': {'people': 3}}
    """

    key: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.key)

    def to_dict(self) -> dict[str, object]:
        """As JSON files hold it."""
        values = {name: _plain(value) for name, value in self.values.items()}
        return {"key": self.key, "values": values}


def _plain(value: object) -> object:
    """A value as JSON has it; a reason may rest on another."""
    if isinstance(value, Reason):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if isinstance(value, int | float | str | None) else str(value)


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
