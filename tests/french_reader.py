"""A French page as a reader meets it, and what he would stumble over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from sosie.words import load

FRENCH, ENGLISH = load("fr"), load("en")
VOID = {"meta", "input", "br", "link", "img"}
SHOWN = ("aria-label", "title", "data-hint", "data-shown", "data-none")
"""Attributes that a reader meets."""


class Reader(HTMLParser):
    """Texts of a page that the catalogue wrote; what people wrote stands in ``bdi``."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._open: list[bool] = []
        """For each open element, whether its text is left aside."""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        aside = tag in {"bdi", "script", "style", "code"} or given.get("lang") == "en"
        if not (aside or any(self._open)):
            self.texts += [given[name] or "" for name in SHOWN if name in given]
        if tag not in VOID:
            self._open.append(aside)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and not any(self._open):
            self.texts.append(data)


def words_of(texts: Iterable[str]) -> set[str]:
    plain = (re.sub(r"\{\w+\}|\bsosie [a-z]+[^.,;]*|--[a-z-]+", " ", text) for text in texts)
    return {word for text in plain for word in re.findall(r"[^\W\d_]{3,}", text.lower())}


def catalogue(words: Any) -> set[str]:
    return words_of([*words.texts.values(), *(t for some in words.lists.values() for t in some)])


NAMES_IN_BRACKETS = re.compile(
    "|".join(
        re.escape(found[0])
        for key, name in FRENCH.texts.items()
        if key.startswith("metrics.") and (found := re.search(r"\([A-Z][A-Za-z ]+\)", name))
    )
)


def faults(html: str, known: Iterable[str] = ()) -> list[str]:
    """What a French reader would stumble over; `known` are words of the table itself."""
    texts = Reader(html).texts
    only_english = catalogue(ENGLISH) - catalogue(FRENCH) - {word.lower() for word in known}
    found = []
    for text in texts:
        own = NAMES_IN_BRACKETS.sub("", text)
        found += [f"English: {word}" for word in sorted(words_of([own]) & only_english)]
        # A colon of an hour or a name of a file has a sign on both sides.
        if re.search(r"[^\s\u00a0\u202f][;!?]|[^\s\u00a0\u202f]:(?=\s|$)", text):
            found.append(f"no space before a sign: {text}")
        if re.search(r" [;:!?%»]|« ", text):
            found.append(f"a space where the line may break: {text}")
        if re.search(r"\\(x|u|n|t)", text):
            found.append(f"an escaped sign: {text}")
    if any("'" in text for text in texts) and any("’" in text for text in texts):
        found += [f"a straight apostrophe: {text}" for text in texts if "'" in text]
    return found


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)
