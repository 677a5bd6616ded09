"""Notes as a reader of English sees them."""

from __future__ import annotations

from collections.abc import Iterable

from sosie.errors import Reason
from sosie.words import load
from sosie.words.readings import reason


def spoken(notes: Iterable[Reason]) -> list[str]:
    """Each note in words."""
    return [reason(load("en"), note.to_dict()) for note in notes]
