"""How the numbers of a column are written: thousands, decimals, a currency or a percent sign.

A mark before a group of three digits may stand for thousands or for decimals. The other
numbers of the column, then those of the file, say which; where nothing does, a column is
`Ambiguous`, and never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Literal

__all__ = ["LIMIT", "Ambiguous", "Decimal", "Notation", "is_number_like", "limit_of", "notation_of"]

Decimal = Literal[".", ","]

SPACES = " \u00a0\u202f\u2009"
"""Plain, no-break, narrow no-break and thin."""

GROUPS = (*SPACES, "'", "’", ".", ",")
_CURRENCY = "(?:[€$£¥]|EUR|USD|GBP|CHF)"
_SIGN = "(?:[<>]=?|[≤≥])"
LIMIT = rf"{_SIGN}[{SPACES}]*[+-]?[0-9][0-9.,'’{SPACES}]*"
"""Pattern of a value that is known by a limit only: <0.5, ≥ 1 000."""

_CELL = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{_CURRENCY}[{SPACES}]?)?"
    rf"[+-]?(?:[0-9]|[.,][0-9])[0-9.,'’{SPACES}]*(?<![{SPACES}])(?:[eE][+-]?[0-9]+)?"
    rf"(?P<after>[{SPACES}]?(?:%|‰|{_CURRENCY}))?"
)
SHORTEST_CODE = 9
"""Digits from which numbers that are all equally long, in groups, are codes: SIREN, telephones."""


@dataclass(frozen=True)
class Notation:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : what stands before decimals.
    group : what stands between groups of three digits; empty for nothing.
    before, after : what stands around each number: ``$``, `` €``, ``%``.

    Examples
    --------
    >>> french = Notation(",", " ", after=" €")
    >>> french.plain("1 232,50 €"), french.written("-1232.5")
    ('1232.50', '-1 232,5 €')
    """

    decimal: Decimal = "."
    group: str = ""
    before: str = ""
    after: str = ""

    @cached_property
    def pattern(self) -> str:
        """Of a whole cell, for Python and Polars alike."""
        whole = "(?:0|[1-9][0-9]*)"
        if self.group:
            whole = f"(?:[1-9][0-9]{{0,2}}(?:{re.escape(self.group)}[0-9]{{3}})+|{whole})"
        decimal = re.escape(self.decimal)
        number = f"(?:{whole}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:e[+-]?[0-9]+|E[+-][0-9]+)?"
        before, after = (re.escape(text) for text in (self.before, self.after))
        return f"(?:{before}[+-]?|[+-]{before}){number}{after}"

    def plain(self, cell: str) -> str:
        """A cell that matches `pattern`, as programs write numbers."""
        sign = "-" if "-" in cell[: 1 + len(self.before)] else ""
        number = cell.lstrip("+-").removeprefix(self.before).lstrip("+-").removesuffix(self.after)
        if self.group:
            number = number.replace(self.group, "")
        return sign + number.replace(self.decimal, ".")

    def written(self, plain: str) -> str:
        """A number as programs write it, in this notation."""
        sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
        whole, point, rest = digits.partition(".")
        if self.group and whole.isdigit():
            whole = f"{int(whole):,}".replace(",", self.group)
        return f"{sign}{self.before}{whole}{point and self.decimal}{rest}{self.after}"


@dataclass(frozen=True)
class Ambiguous:
    """Numbers whose mark stands for decimals or for thousands.

    Attributes
    ----------
    cell : one of them.
    as_decimal, as_group : the two ways to read them.
    """

    cell: str
    as_decimal: Notation = field(default_factory=Notation)
    as_group: Notation = field(default_factory=Notation)

    def resolved(self, decimal: Decimal) -> Notation:
        """The way to read them where a mark is known to be that of decimals."""
        return self.as_decimal if self.as_decimal.decimal == decimal else self.as_group


def is_number_like(cell: str) -> bool:
    """Whether a cell may be a number or a limit, in some notation."""
    return _CELL.fullmatch(cell) is not None or re.fullmatch(LIMIT, cell) is not None


def notation_of(
    cells: Sequence[str], decimal: Decimal | None = None
) -> Notation | Ambiguous | None:
    """How numbers are written; None where some cell is not a number, or they disagree.

    Parameters
    ----------
    cells : distinct cells without spaces around them.
    decimal : the mark that the file has before decimals; None where that is not known.

    Examples
    --------
    >>> notation_of(["1,232.5", "685"])
    Notation(decimal='.', group=',', before='', after='')
    >>> notation_of(["1,232", "685"]).cell
    '1,232'
    >>> notation_of(["1,232", "685"], ".").group
    ','
    """
    ends = _ends(cells)
    if ends is None:
        return None
    text = "".join(cells)
    marks = ("", *(mark for mark in GROUPS if mark in text))
    ways: dict[tuple[bool, str], Notation] = {}
    for mark, group in product((decimal,) if decimal else (".", ","), marks):
        way = Notation(mark, group, *ends)
        if mark == group or not all(re.fullmatch(way.pattern, cell) for cell in cells):
            continue
        cores = [cell.removesuffix(way.after) for cell in cells]
        if group and not any(group in core for core in cores):
            continue
        ways.setdefault((any(mark in core for core in cores), group), way)
    return _of_ways(ways, cells)


def _ends(cells: Sequence[str]) -> tuple[str, str] | None:
    """What stands around every number."""
    known: set[tuple[str, str]] = set()
    for cell in cells:
        match = _CELL.fullmatch(cell)
        if match is None:
            return None
        known.add((match["before"] or "", match["after"] or ""))
        if len(known) > 1:
            return None
    return known.pop() if known else None


def _of_ways(
    ways: dict[tuple[bool, str], Notation], cells: Sequence[str]
) -> Notation | Ambiguous | None:
    for mark in (".", ","):
        as_group = ways.get((False, mark))
        as_decimal = ways.get((True, ""))
        if as_group and as_decimal and as_decimal.decimal == mark:
            shown = [cell for cell in cells if mark in cell]
            # Numbers that all have three decimals are read so: nothing is lost either way.
            mixed = len(shown) < len(cells)
            return Ambiguous(shown[0], as_decimal, as_group) if mixed else as_decimal
    if len(ways) != 1:
        return None
    (way,) = ways.values()
    return None if _are_codes(way, cells) else way


def _are_codes(way: Notation, cells: Sequence[str]) -> bool:
    digits = {sum(sign.isdigit() for sign in cell) for cell in cells}
    grouped = way.group and all(cell.count(way.group) > 1 for cell in cells)
    return bool(grouped and len(digits) == 1 and digits.pop() >= SHORTEST_CODE and len(cells) > 1)


def limit_of(cell: str, decimal: Decimal = ".") -> float | None:
    """The limit of a value that is known by one only; None for any other cell.

    Parameters
    ----------
    decimal : the mark before decimals, where both readings are possible.

    Examples
    --------
    >>> limit_of("<0,5"), limit_of("≥ 1,000"), limit_of("0.5")
    (0.5, 1000.0, None)
    """
    if not re.fullmatch(LIMIT, cell.strip()):
        return None
    number = re.sub(rf"{_SIGN}[{SPACES}]*", "", cell.strip()).strip()
    marks: tuple[Decimal, ...] = (".", ",") if decimal == "." else (",", ".")
    for mark in marks:
        way = notation_of([number], mark)
        if isinstance(way, Notation):
            return float(way.plain(number))
    return None
