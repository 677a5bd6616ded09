"""The words of the report for who meets them for the first time, in the language's order."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from sosie.words import Words

__all__ = ["Term", "glossary"]

_SECTION = "glossary."


class Term(NamedTuple):
    """A word and what it means here."""

    name: str
    text: str


def glossary(words: Words) -> tuple[Term, ...]:
    """Every term of the catalogue, sorted without regard to accents.

    >>> from sosie.words import load
    >>> [term.name for term in glossary(load("fr"))][:3]
    ['Attaquant', 'Avatar', 'Cible']
    """
    keys = [key for key in words.texts if key.startswith(_SECTION) and key.endswith(".name")]
    terms = (Term(words(key), words(f"{key.removesuffix('.name')}.text")) for key in keys)
    return tuple(sorted(terms, key=lambda term: _plain(term.name)))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode().lower()
