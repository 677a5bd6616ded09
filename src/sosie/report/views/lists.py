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
    >>> listed(load("en"), ["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    texts = [str(name) if str(name).strip() else words("format.blank") for name in names]
    # A single one more takes no more room than saying so.
    if len(texts) <= most + 1:
        return ", ".join(texts)
    text = ", ".join(texts[:most])
    return words("report.columns.more", names=text, n=words.number(len(texts) - most))
