"""What stands where a column of numbers has none: codes for missing values, and limits.

The kind is carried in the NaN itself, in bits that say nothing otherwise, so it goes wherever
the value goes: gathered, sorted, kept on disk. (R and haven's ``tagged_na`` do the same.)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.data.notation import limit_of

__all__ = ["States", "sentinels", "states_among", "tagged", "tags"]

MOST_KINDS = 32
"""Kinds of a column, limits among them; a column of more is text."""

MOST_CODES = 8
FEWEST_NUMBERS = 10
"""Distinct numbers that a column must exceed: with fewer, each of its texts is a category."""

RECURRING = 2
"""Rows that hold a text which is a code, where it is none of the known ones."""

FEWEST_SENTINELS = 3
NAMED = 5
"""Rows that hold a kind before a note names it."""

KNOWN = frozenset(
    (
        *("", ".", "-", "--", "?", "??", "na", "n/a", "#n/a", "n.a.", "nan", "null", "none", "nil"),
        *("nc", "nd", "nr", "ne", "nsp", "so", "s.o.", "inconnu", "inconnue", "non connu"),
        *("manquant", "manquante", "non fait", "non disponible", "non renseigné", "unknown"),
        *("missing", "not done", "not available", "<na>", "refus"),
    )
)
_QUIET = np.uint64(0x7FF8_0000_0000_0000)
_TAG = np.uint64(0xFF)
_NAN: NDArray[np.float64] = (_QUIET | np.arange(256, dtype=np.uint64)).view(np.float64)
"""A NaN of each tag; the first one is NumPy's own."""


@dataclass(frozen=True)
class States:
    """The kinds of a column; a plain missing value is none of them and has tag 0.

    Attributes
    ----------
    labels : as they are written; the first one has tag 1.
    limits : of each, the number beyond which the value lies; None for a code.

    Examples
    --------
    >>> states = States.of(["ND", "<0.5"])
    >>> states.limits
    (None, 0.5)
    >>> values = np.where([True, False, False], 2.0, tagged(np.array([0, 1, 2])))
    >>> states.codes(values).tolist(), states.texts(values)
    ([0, 2, 3], [None, 'ND', '<0.5'])
    """

    labels: tuple[str, ...]
    limits: tuple[float | None, ...]

    @classmethod
    def of(cls, labels: Sequence[str]) -> States:
        """The kinds of these labels."""
        return cls(tuple(labels), tuple(map(limit_of, labels)))

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        """(n,) uint8: 0 for a value, 1 for a plain missing one, then the kinds in order."""
        return np.where(np.isnan(values), tags(values) + np.uint8(1), np.uint8(0))

    def texts(self, values: NDArray[np.float64]) -> list[str | None]:
        """The label of each row; None for a value and for a plain missing one."""
        known = (None, *self.labels)
        return [known[tag] for tag in tags(values)]

    def numbers(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values, with the number that stood for a missing one in its place."""
        known = np.array([np.nan, *map(float, self.labels)])
        return np.where(np.isnan(values), known[tags(values)], values)

    def shares(self, values: NDArray[np.float64]) -> Mapping[str, float]:
        """Share of the rows that are of each kind, in 0..1."""
        counts = np.bincount(tags(values), minlength=len(self.labels) + 1)[1:]
        return dict(zip(self.labels, (counts / len(values)).tolist(), strict=True))

    def extended(self, labels: Collection[str]) -> States:
        """The same with more labels, whose tags follow."""
        return States.of([*self.labels, *(label for label in labels if label not in self.labels)])


def tags(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Tags of NaN, ``(n,) uint8``; 0 for numbers."""
    bits = np.ascontiguousarray(values).view(np.uint64) & _TAG
    return np.where(np.isnan(values), bits, 0).astype(np.uint8)


def tagged(tag: NDArray[Any]) -> NDArray[np.float64]:
    """NaN of each tag, ``(n,) float64``."""
    nan: NDArray[np.float64] = _NAN[tag]
    return nan


def states_among(
    counts: Mapping[str, int], na: Collection[str] = (), fewest: int = FEWEST_NUMBERS
) -> tuple[list[str], list[str]] | None:
    """Part texts into numbers and kinds; None where the column is not one of numbers.

    Kinds are limits, the texts in `na`, and texts without a digit that are known for missing
    values or recur; those with a digit are numbers if anything.

    Parameters
    ----------
    counts : distinct text -> rows that hold it.
    fewest : distinct numbers that there must be more than.

    Examples
    --------
    >>> counts = {str(x): 1 for x in range(20)} | {"ND": 3, "<1": 2}
    >>> states_among(counts)[1]
    ['ND', '<1']
    >>> states_among(counts | {"see note": 1}) is None
    True
    """
    numbers, kinds, codes = [], [], 0
    for text, count in counts.items():
        bare = text.strip()
        if bare in na or limit_of(bare) is not None:
            kinds.append(text)
        elif any(sign.isdigit() for sign in bare):
            numbers.append(text)
        elif bare.lower() in KNOWN or count >= RECURRING:
            kinds.append(text)
            codes += 1
        else:
            return None
        if len(kinds) > MOST_KINDS or codes > MOST_CODES:
            return None
    return (numbers, kinds) if len(numbers) > fewest else None


def sentinels(values: NDArray[np.float64], na: Collection[str] = ()) -> list[float]:
    """Numbers that stand for a missing value: those in `na`, and nines far from all others.

    Far is farther from its nearest other value than these are from one another; three rows
    or more hold it.

    Parameters
    ----------
    values : (n,) float64 without missing ones.

    Examples
    --------
    >>> sentinels(np.array([*range(20, 90), 999, 999, 999.0]))
    [999.0]
    """
    said = [float(text) for text in na if _is_number(text)]
    chosen = [number for number in said if (values == number).any()]
    for number in (float(values.max(initial=0)), float(values.min(initial=0))):
        digits = f"{abs(number):g}".replace(".", "")
        if number in chosen or set(digits) != {"9"} or len(digits) < 2:
            continue
        held = values == number
        others = values[~held & ~np.isin(values, chosen)]
        if held.sum() < FEWEST_SENTINELS or not len(others):
            continue
        low, high = float(others.min()), float(others.max())
        away = number - high if number > high else low - number
        if away > high - low > 0:
            chosen.append(number)
    return chosen


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
