"""Options that a user gave, checked for their type: a clear error, never a traceback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from sosie.errors import InputError

__all__ = ["check_mapping", "check_names", "check_number", "check_whole"]

LONGEST = 80


def check_whole(name: str, value: object, least: int = 0) -> int:
    """A whole number that a user gave.

    Parameters
    ----------
    name : of the option.
    least : the smallest that it may be.

    Raises
    ------
    InputError
        It is of another type (5.0, "5" and True are), or too small.

    Examples
    --------
    >>> check_whole("k", 5, 1)
    5
    >>> check_whole("k", 5.0, 1)
    Traceback (most recent call last):
    sosie.errors.InputError: k must be a whole number, got 5.0 (float): write 5
    """
    if not isinstance(value, Integral) or _is_truth(value):
        raise InputError(f"{name} must be a whole number, got {_typed(value)}{_hint(value)}")
    if value < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    return int(value)


def check_number(name: str, value: object) -> float:
    """A number that a user gave, whole or not.

    Raises
    ------
    InputError
        It is of another type, or no finite number.
    """
    if not isinstance(value, Real) or _is_truth(value) or not abs(float(value)) < float("inf"):
        raise InputError(f"{name} must be a number, got {_typed(value)}")
    return float(value)


def check_names(name: str, value: object) -> tuple[Any, ...]:
    """Several columns that a user gave.

    A lone text is refused: it would be read letter by letter.

    Raises
    ------
    InputError
        It is a text, or nothing that can be listed.

    Examples
    --------
    >>> check_names("keep", ["age", "sex"])
    ('age', 'sex')
    >>> check_names("keep", "age")
    Traceback (most recent call last):
    sosie.errors.InputError: keep must be a list of columns, got 'age': write ['age']
    """
    if isinstance(value, str | bytes):
        raise InputError(f"{name} must be a list of columns, got {value!r}: write [{value!r}]")
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list of columns, got {_typed(value)}")
    return tuple(value)


def check_mapping(name: str, value: object, example: str) -> dict[Any, Any]:
    """What a user gave column by column; nothing for None.

    Parameters
    ----------
    example : a right one, for the message.

    Raises
    ------
    InputError
        It is no mapping.

    Examples
    --------
    >>> check_mapping("date", "born", "{'born': '%d/%m/%Y'}")
    Traceback (most recent call last):
    sosie.errors.InputError: date must be a mapping such as {'born': '%d/%m/%Y'}, got 'born' (str)
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping such as {example}, got {_typed(value)}")
    return dict(value)


def _is_truth(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")


def _typed(value: object) -> str:
    shown = repr(value)
    short = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
    return f"{short} ({type(value).__name__})"


def _hint(value: object) -> str:
    """The whole number that was meant, where one was."""
    if _is_truth(value):
        return ""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    return f": write {int(number)}" if number.is_integer() else ""
