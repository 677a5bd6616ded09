"""Labels: a code that implies a column, or a number whose ranges do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.constraints.columns import Columns, Name
from sosie.data.constraints.rule import FEWEST_BROKEN, Constraint, Derivation, Kind, said
from sosie.data.table import Levels, Numbers, label_of

__all__ = ["Bands", "Label", "find_bands", "find_labels"]

MISSING, UNSEEN = -2, -1

MOST_BANDS = 100
"""Ranges of one number: age groups, years of a date. More say the number again."""


@dataclass(frozen=True)
class Vocabulary:
    """The distinct values of a column, and where the originals hold each.

    Attributes
    ----------
    labels : text -> place, of a category; None for numbers.
    values : (L,) float64 in rising order, of numbers.
    rows : (L,) int64, a row that holds each.
    """

    labels: dict[str, int] | None
    values: Floats
    rows: Ints

    @classmethod
    def of(cls, columns: Columns, name: Name) -> tuple[Vocabulary, Ints]:
        """The vocabulary of a column, and the place of each row's value (-2: missing)."""
        column = columns.encoded[name]
        if isinstance(column, Levels):
            present = [label for label in column.labels if label is not None]
            labels = {label: place for place, label in enumerate(present)}
            first = np.array(
                [row for row, label in zip(column.first, column.labels, strict=True)
                 if label is not None],
                dtype=np.int64,
            )  # fmt: skip
            found = cls(labels, np.empty(0), first)
        else:
            values = columns.numbers(name)
            distinct = np.unique(values)
            found = cls(None, distinct[~np.isnan(distinct)], np.empty(0, dtype=np.int64))
            places = found.places(columns, name)
            rows = np.flatnonzero(places >= 0)[::-1]
            first = np.empty(len(found.values), dtype=np.int64)
            first[places[rows]] = rows  # the last write, so the first row, stays
            return replace(found, rows=first), places
        return found, found.places(columns, name)

    def places(self, columns: Columns, name: Name, *, nearest: bool = False) -> Ints:
        """(n,) int64, the place of each row's value: -2 where missing, -1 where it is not known."""
        column = columns.encoded[name]
        if self.labels is not None and isinstance(column, Levels):
            known = [
                MISSING if label is None else self.labels.get(label, UNSEEN)
                for label in column.labels
            ]
            return np.asarray(np.array(known, dtype=np.int64)[column.codes])
        values = columns.numbers(name)
        if self.labels is not None:  # a category that was computed as a number
            distinct, back = np.unique(values, return_inverse=True)
            texts = [label_of(float(value)) for value in distinct]
            places = [self.labels.get(text, UNSEEN) for text in texts]
            return np.where(np.isnan(values), MISSING, np.array(places, dtype=np.int64)[back])
        size = len(self.values)
        at = np.minimum(np.searchsorted(self.values, values), size - 1)
        if nearest:
            before = np.maximum(at - 1, 0)
            closer = np.abs(values - self.values[before]) < np.abs(values - self.values[at])
            at = np.where(closer, before, at)
        else:
            at = np.where(self.values[at] == values, at, UNSEEN)
        return np.where(np.isnan(values), MISSING, at)


@dataclass(frozen=True)
class Label:
    """Each value of `code` goes with one value of `label`.

    Attributes
    ----------
    code, label : columns.
    goes_with : (L,) int64, for each value of the code the place of its label.
    """

    code: Name
    label: Name
    goes_with: Ints = field(compare=False, repr=False)
    codes: Vocabulary = field(compare=False, repr=False)
    labels: Vocabulary = field(compare=False, repr=False)
    kind: Kind = "label"

    @property
    def columns(self) -> tuple[Name, ...]:
        """The code, its label."""
        return (self.code, self.label)

    @property
    def text(self) -> str:
        """The statement."""
        return f"{said(self.code)} gives {said(self.label)}"

    def broken(self, columns: Columns) -> Mask:
        """Where a known code has another label; of unknown codes nothing is said."""
        at = self.codes.places(columns, self.code)
        label = self.labels.places(columns, self.label)
        return np.asarray((at >= 0) & (label != MISSING) & (self.goes_with[at] != label))

    def derivations(self) -> Sequence[Derivation]:
        """The label of the code."""
        return [Derivation(self.label, (self.code,))]

    def computed(self, columns: Columns, _output: Name, /) -> NDArray[Any]:
        """The label of each code; of a number that no original had, that of the nearest."""
        at = self.codes.places(columns, self.code, nearest=True)
        return _labels_at(self.labels, np.where(at >= 0, self.goes_with[at], MISSING))


def _labels_at(labels: Vocabulary, places: Ints) -> NDArray[Any]:
    if labels.labels is None:
        return np.where(places >= 0, labels.values[places], np.nan)
    return np.where(places >= 0, labels.rows[places], -1)


def find_labels(columns: Columns, sample: Columns, k: int) -> Iterator[Constraint]:
    """Columns that another one implies.

    Only values of the code that k rows hold count: a person's number implies everything, and that
    means nothing. Shuffling the label would break ``sum n_a (1 - p_f(a))`` rows, over those.
    """
    names = [name for name in sample.encoded if sample.units[name] != "moment"]
    looked = {name: sample.codes(name) for name in names}
    known = {name: ~sample.missing(name) for name in names}
    for code in names:
        column = columns.encoded[code]
        if isinstance(column, Numbers) and column.kind != "integer":
            continue
        labels = [
            label
            for label in names
            if label != code and _implies(looked[code], looked[label], known[code] & known[label])
        ]
        if labels:
            yield from _labels(columns, code, labels, k)


def _implies(code: NDArray[Any], label: NDArray[Any], rows: Mask) -> bool:
    code, label = code[rows], label[rows]
    if not len(code):
        return False
    seen = np.zeros(int(code.max()) + 1, dtype=np.int64)
    seen[code] = label
    return bool((seen[code] == label).all())


def _labels(columns: Columns, code: Name, labels: Sequence[Name], k: int) -> Iterator[Constraint]:
    codes, at = Vocabulary.of(columns, code)
    counts = np.bincount(at[at >= 0], minlength=len(codes.rows))
    if not (counts >= k).any() or (counts > 0).sum() < 2:
        return
    for label in labels:
        vocabulary, to = Vocabulary.of(columns, label)
        rows = (at >= 0) & (to >= 0)
        goes_with = np.full(len(codes.rows), MISSING, dtype=np.int64)
        goes_with[at[rows]] = to[rows]
        if (goes_with[at[rows]] != to[rows]).any():
            continue
        held = np.bincount(at[rows], minlength=len(codes.rows))
        shares = np.bincount(to[rows], minlength=len(vocabulary.rows)) / max(rows.sum(), 1)
        often = held >= k
        expected = float((held[often] * (1 - shares[goes_with[often]])).sum())
        if expected >= FEWEST_BROKEN:
            yield Constraint(Label(code, label, goes_with, codes, vocabulary), expected=expected)


# ---------------------------------------------------------------- ranges


@dataclass(frozen=True)
class Bands:
    """The values of `label` are ranges of `number`: an age group, the year of a date.

    Attributes
    ----------
    lows, highs : (L,) float64, the range of each label in rising order.
    order : (L,) int64, the place of each label in the vocabulary.
    """

    number: Name
    label: Name
    lows: Floats = field(compare=False, repr=False)
    highs: Floats = field(compare=False, repr=False)
    order: Ints = field(compare=False, repr=False)
    labels: Vocabulary = field(compare=False, repr=False)
    kind: Kind = "label"

    @property
    def columns(self) -> tuple[Name, ...]:
        """The number, its label."""
        return (self.number, self.label)

    @property
    def text(self) -> str:
        """The statement."""
        return f"ranges of {said(self.number)} give {said(self.label)}"

    def broken(self, columns: Columns) -> Mask:
        """Where a number lies in another label's range, or beyond it."""
        values = columns.numbers(self.number)
        place = self.labels.places(columns, self.label)
        rank = np.argsort(self.order)[np.maximum(place, 0)]
        under = np.concatenate([[-np.inf], self.highs[:-1]])[rank]
        above = np.concatenate([self.lows[1:], [np.inf]])[rank]
        return np.asarray((place >= 0) & ((values <= under) | (values >= above)))

    def derivations(self) -> Sequence[Derivation]:
        """The label of the number."""
        return [Derivation(self.label, (self.number,))]

    def computed(self, columns: Columns, _output: Name, /) -> NDArray[Any]:
        """The label of each number; between two ranges, that of the nearer."""
        values = columns.numbers(self.number)
        cuts = (self.highs[:-1] + self.lows[1:]) / 2
        rank = np.searchsorted(cuts, values)
        return _labels_at(self.labels, np.where(np.isnan(values), MISSING, self.order[rank]))


def find_bands(columns: Columns, sample: Columns, k: int) -> Iterator[Constraint]:
    """Categories, and whole numbers of few values, that are ranges of a number or a date."""
    numbers = [name for name in sample.named("number", "moment") if sample.is_counted(name)]
    labels = {
        name: codes
        for name in sample.encoded
        if 1 < len(np.unique(codes := sample.codes(name))) <= MOST_BANDS
    }
    for number in numbers:
        values = sample.numbers(number)
        order = np.argsort(values, kind="stable")
        order = order[~np.isnan(values[order])]
        for label, codes in labels.items():
            column = columns.encoded[label]
            if label == number or (isinstance(column, Numbers) and column.kind != "integer"):
                continue
            rows = order[~sample.missing(label)[order]]
            changes = np.count_nonzero(np.diff(codes[rows].astype(np.int64)))
            if not len(rows) or changes + 1 != len(np.unique(codes[rows])):
                continue
            # Each value its own range: the columns say the same, and neither is a class.
            if changes + 1 < np.count_nonzero(np.diff(values[rows])) + 1:
                yield from _bands(columns, number, label, k)


def _bands(columns: Columns, number: Name, label: Name, k: int) -> Iterator[Constraint]:
    values = columns.numbers(number)
    labels, place = Vocabulary.of(columns, label)
    rows = (place >= 0) & ~np.isnan(values)
    values, place = values[rows], place[rows]
    counts = np.bincount(place, minlength=len(labels.rows))
    used = np.flatnonzero(counts)
    # More ranges than that are the number itself; two of them at least are held by k people.
    if len(used) > MOST_BANDS or np.sum(counts >= k) < 2 or len(used) > len(values) / k:
        return
    by_level = values[np.argsort(place.astype(np.int16), kind="stable")]
    starts = np.cumsum(counts[used]) - counts[used]
    lows, highs = (end.reduceat(by_level, starts) for end in (np.minimum, np.maximum))
    order = np.argsort(lows)
    lows, highs, used = lows[order], highs[order], used[order]
    expected = float(len(values) - (counts.astype(float) ** 2).sum() / len(values))
    if (highs[:-1] < lows[1:]).all() and expected >= FEWEST_BROKEN:
        yield Constraint(Bands(number, label, lows, highs, used, labels), expected=expected)
