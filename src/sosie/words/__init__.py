"""Every word a person reads, in English and in French, and how numbers are written in each.

The catalogues ``en.toml`` and ``fr.toml`` have the same keys and the same placeholders.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from sosie.errors import InputError

__all__ = ["LANGUAGES", "Words", "load"]

LANGUAGES = ("en", "fr")

_NO_BREAK = "\u00a0"
_THIN = "\u202f"  # narrow no-break space


@dataclass(frozen=True, slots=True)
class Words:
    """One language's words, looked up by dotted key.

    Calling it gives the text of a key with its placeholders filled; a key that does not exist is a
    fault of the caller and raises ``KeyError``.

    >>> words = load("en")
    >>> words("metrics.hidden_rate.name")
    'Hidden Rate'
    >>> words("report.projection.axis", n=1, share=words.value(8.13, "%"))
    'Component 1 (8.1% of inertia)'
    """

    language: str
    texts: Mapping[str, str] = field(repr=False)
    lists: Mapping[str, tuple[str, ...]] = field(repr=False)

    def __call__(self, key: str, /, **values: object) -> str:
        """Text of ``key`` with each ``{placeholder}`` replaced."""
        return self.texts[key].format(**values)

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def get(self, key: str, default: str) -> str:
        """Text of ``key``, or ``default`` for what the catalogue does not know."""
        return self.texts.get(key, default)

    def items(self, key: str) -> tuple[str, ...]:
        """List of texts under ``key``."""
        return self.lists[key]

    def count(self, key: str, n: float, /, digits: int = 0, **values: object) -> str:
        """Text of ``key_one`` or ``key_many`` according to ``n``, which also fills ``{n}``.

        French counts as one whatever is under two.

        >>> load("fr").count("report.distributions.rare", 3)
        '3 modalités portées par trop peu de personnes pour être nommées'
        """
        one = abs(n) < 2 if self.language == "fr" else n == 1
        return self(f"{key}_{'one' if one else 'many'}", n=self.number(n, digits), **values)

    def joined(self, parts: Iterable[str]) -> str:
        """Parts of a sentence with semicolons between them; empty ones are left out.

        >>> load("en").joined(["a", "", "b"])
        'a; b'
        """
        first, *others = [part for part in parts if part] or [""]
        for part in others:
            first = self("format.semicolon", first=first, second=part)
        return first

    def number(self, number: float, digits: int = 0) -> str:
        """Write a number with ``digits`` decimals, as the language does.

        >>> load("en").number(2139.25, 1), load("fr").number(-0.5, 1)
        ('2,139.2', '−0,5')
        """
        # Adding zero takes the sign of what rounds to nothing.
        text = f"{round(number, digits) + 0:,.{digits}f}".replace("-", "−")
        signs = {",": self.texts["format.thousands"], ".": self.texts["format.decimal"]}
        return "".join(signs.get(character, character) for character in text)

    def value(
        self, number: float | None, unit: str | None = None, target: float | None = None
    ) -> str:
        """Write a measured value with as many decimals as it needs.

        It needs one for percents, two otherwise (one more under 0.1), none if whole, and more where
        rounding would show it on the other side of its ``target``, or show 0 % or 100 % for what
        is only near.

        >>> words = load("en")
        >>> words.value(89.96, "%", target=90), words.value(99.98, "%"), words.value(7.0)
        ('89.96%', '99.98%', '7')
        >>> words.value(91, "%"), words.value(100, "%")
        ('91.0%', '100%')
        >>> words.value(None)
        '–'
        """
        if number is None:
            return self("format.none")
        digits = _digits(float(number), unit, target)
        text = self.number(number, digits)
        return self("format.percent", number=text) if unit == "%" else text

    def interval(self, bounds: Iterable[float] | None, unit: str | None = None) -> str:
        """Write an interval, or a dash where there is none.

        >>> load("fr").interval([79.8, 83.1], "%")
        '79,8\u202f% à 83,1\u202f%'
        """
        if bounds is None:
            return self("format.none")
        low, high = (self.value(bound, unit) for bound in bounds)
        return self("format.interval", low=low, high=high)

    def target(self, target: float | None, direction: str | None, unit: str | None = None) -> str:
        """Write a target: 'at least' where higher is better, else 'at most'.

        >>> load("fr").target(0.1, "lower")
        'au plus 0,1'
        """
        if target is None:
            return self("format.none")
        key = "format.at_most" if direction == "lower" else "format.at_least"
        if unit == "%" and float(target).is_integer():
            return self(key, value=self("format.percent", number=self.number(target)))
        return self(key, value=self.value(target, unit))

    def date(self, iso: str) -> str:
        """Write an ISO 8601 instant in words, in UTC; any other text is given back as it is.

        >>> load("fr").date("2026-11-30T11:05:00+01:00")
        '30 novembre 2026, 10 h 05 UTC'
        """
        try:
            instant = datetime.fromisoformat(iso)
        except ValueError:
            return iso
        instant = instant.replace(tzinfo=instant.tzinfo or UTC).astimezone(UTC)
        return self(
            "format.date",
            day=instant.day,
            month=self.lists["format.months"][instant.month - 1],
            year=instant.year,
            hour=f"{instant:%H}",
            minute=f"{instant:%M}",
        )

    def day(self, iso: str) -> str:
        """Write the day of an ISO 8601 text in figures; with an hour, or any other text, as it is.

        >>> load("fr").day("2026-11-30"), load("fr").day("2026-11-30T08:30:00")
        ('30/11/2026', '2026-11-30T08:30:00')
        """
        try:
            instant = datetime.fromisoformat(iso)
        except ValueError:
            return iso
        if instant.timetz().replace(tzinfo=None) != time.min:
            return iso
        return self("format.day", year=instant.year, month=f"{instant:%m}", day=f"{instant:%d}")


@cache
def load(language: str) -> Words:
    """Words of a language, ``"en"`` or ``"fr"``.

    Raises
    ------
    InputError
        The language has no catalogue.
    """
    if language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise InputError(f"no words for the language {language!r}: choose one of {known}")
    source = files("sosie.words").joinpath(f"{language}.toml").read_text(encoding="utf-8")
    flat = dict(_flatten(tomllib.loads(source), ""))
    spaced = _french_signs if language == "fr" else str
    texts = {key: spaced(text) for key, text in flat.items() if isinstance(text, str)}
    lists = {
        key: tuple(spaced(text) for text in texts_of_key)
        for key, texts_of_key in flat.items()
        if isinstance(texts_of_key, list)
    }
    return Words(language, MappingProxyType(texts), MappingProxyType(lists))


def _flatten(tree: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, str | list[str]]]:
    for key, branch in tree.items():
        if isinstance(branch, dict):
            yield from _flatten(branch, f"{prefix}{key}.")
        else:
            yield prefix + key, branch


def _french_signs(text: str) -> str:
    """Put no-break spaces and apostrophes as French typography wants; the catalogue stays legible.

    >>> _french_signs("l'un")
    'l’un'
    """
    if text == " ":
        return _THIN
    text = re.sub(r" (?=[;!?%])|(?<=\d) (?=\d{3})", _THIN, text)
    return (
        text.replace("'", "’")
        .replace(" :", f"{_NO_BREAK}:")
        .replace("« ", f"«{_NO_BREAK}")
        .replace(" »", f"{_NO_BREAK}»")
    )


def _digits(number: float, unit: str | None, target: float | None) -> int:
    if number.is_integer() and (unit != "%" or number in {0, 100}):
        return 0
    digits = (1 if unit == "%" else 2) + (abs(number) < 0.1)
    while digits < 5 and _misleads(number, round(number, digits), unit, target):
        digits += 1
    while digits and round(number, digits) == round(number, digits - 1):
        digits -= 1
    return digits if unit != "%" else max(digits, 1)


def _misleads(number: float, shown: float, unit: str | None, target: float | None) -> bool:
    if target is not None and ((number < target) != (shown < target) or number > target >= shown):
        return True
    if shown == 0:
        return True
    return unit == "%" and shown == 100
