"""Rows of people, originals beside avatars: a table for each table of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sosie.words import Words

__all__ = ["ChildView", "children"]

MEASURES = ("gaps", "lag", "lag_within", "between", "transitions", "curves_inside")


class ChildView(NamedTuple):
    """One table of rows.

    Attributes
    ----------
    heading : its name.
    measures : for each measure its name and its value.
    numbers : for each number its name, and the autocorrelation and share between people of
        originals and of avatars.
    """

    heading: str
    measures: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, ...], ...]


def children(words: Words, audit: Mapping[str, Any]) -> tuple[ChildView, ...]:
    """The rows that ``audit.json`` tells of; none where people have one row each."""
    return tuple(_child(words, name, told) for name, told in (audit.get("children") or {}).items())


def _child(words: Words, name: str, told: Mapping[str, Any]) -> ChildView:
    before, after = told["mean_rows"]
    rows = words("children.of", originals=words.number(before, 2), avatars=words.number(after, 2))
    measures = [(words("children.mean_rows"), rows)]
    for key in MEASURES:
        value = told["summary"].get(key)
        measures.append((words(f"children.{key}"), _shown(words, key, value)))
    return ChildView(
        words("children.table", name=name),
        tuple(measures),
        tuple(
            (
                str(number["name"]),
                *(words.value(value) for what in ("lag", "between") for value in number[what]),
            )
            for number in told["numbers"]
        ),
    )


def _shown(words: Words, key: str, value: float | None) -> str:
    if value is not None and key == "curves_inside":
        return words.value(100 * value, "%")
    return words.value(value)
