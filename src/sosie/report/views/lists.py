"""Names in a sentence, numbers in a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sosie.words import Words

__all__ = ["Cell", "listed"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table: its text, and what it sorts by (None: last)."""

    text: str
    order: float | None


def listed(words: Words, names: Iterable[object], most: int = 6) -> str:
    """Names separated by commas, and how many more there are beyond ``most``.

    >>> from sosie.words import load
    >>> listed(load("en"), ["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    texts = [str(name) if str(name).strip() else words("format.blank") for name in names]
    text = ", ".join(texts[:most])
    if len(texts) <= most:
        return text
    return words("report.columns.more", names=text, n=words.number(len(texts) - most))
