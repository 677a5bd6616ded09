"""The cells of a CSV file: what the text of a column says, and how it is written again.

Text is read as whole numbers, numbers, true/false, dates or moments only where every value
of the column is one and little is lost in writing it back. Digits with leading zeros
(postcodes), with a leading plus (telephones) or in groups of three, and words like 1E5 stay
text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MISSING_WORDS", "Style", "typed", "written"]

MISSING_WORDS = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL")
"""Cells that say that there is no value, as empty ones do; among numbers, a lone dot too."""

_WORDS = ("", ".", *MISSING_WORDS)
MOST_DECIMALS = 12
FEW = 10
"""Columns of so few values are categories, whatever they are."""

TRIAL = 100
"""Values looked at first: they settle what most columns are not."""

# Patterns of whole cells, of a kind that Python and Polars read alike.
_WHOLE = r"-?(?:0|[1-9][0-9]*)"
_REAL = (
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:[.][0-9]*)?|[.][0-9]+)(?:e[+-]?[0-9]+|E[+-][0-9]+)?"
    r"|[+-]?[Ii]nf(?:inity)?"
)
_GROUPED = r"[+-]?[1-9][0-9]{0,2}(?:[.,][0-9]{3})+"
_GROUPED_MORE = r"[+-]?[0-9]{1,3}(?:[ .,'’][0-9]{3})+.*"
_NUMBER_LIKE = "[<>=~ ]*[+-]?[0-9][0-9 .,'’\u00a0\u202f]*[%€$]?"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCKS = {
    _DAY + r"T[0-9]{2}:[0-9]{2}:[0-9]{2}": "%Y-%m-%dT%H:%M:%S",
    _DAY + r" [0-9]{2}:[0-9]{2}:[0-9]{2}": "%Y-%m-%d %H:%M:%S",
    _DAY + r"T[0-9]{2}:[0-9]{2}": "%Y-%m-%dT%H:%M",
    _DAY + r" [0-9]{2}:[0-9]{2}": "%Y-%m-%d %H:%M",
}


@dataclass(frozen=True)
class Style:
    """What a column writes in its own way; None where it does as the others.

    Attributes
    ----------
    missing : its word for a missing value.
    decimals : always so many (1.50); with 0, as few as needed (70, not 70.0).
    clock : format of its dates with a time.
    """

    missing: str | None = None
    decimals: int | None = None
    clock: str | None = None


@dataclass(frozen=True)
class _Text:
    """A column as text: the distinct values that are present, and the words for missing."""

    column: pl.Series
    distinct: pl.Series
    lost: Mapping[str, int]

    @cached_property
    def trial(self) -> list[str]:
        """The first distinct values."""
        return list(self.distinct[:TRIAL].to_list())

    def all_match(self, pattern: str) -> bool:
        """Whether every value as a whole matches; there must be one."""
        return (
            bool(self.trial)
            and all(re.fullmatch(pattern, value) for value in self.trial)
            and (len(self.distinct) <= TRIAL or bool(_matches(self.distinct, pattern).all()))
        )

    def any_match(self, pattern: str) -> bool:
        """Whether any value as a whole matches."""
        return any(re.fullmatch(pattern, value) for value in self.trial) or (
            len(self.distinct) > TRIAL and bool(_matches(self.distinct, pattern).any())
        )

    def changed(self, change: Callable[[pl.Series], pl.Series]) -> _Text:
        """Another writing of the same values."""
        return _Text(change(self.column), change(self.distinct), self.lost)


def _matches(values: pl.Series, pattern: str) -> pl.Series:
    return values.str.contains(f"^(?:{pattern})$")


def typed(
    frame: pl.DataFrame, separator: str, notes: list[str]
) -> tuple[pl.DataFrame, bool, str, dict[str, Style]]:
    """Give text columns the types that their values show.

    Parameters
    ----------
    frame : text, null where a cell is empty.
    separator : where it is a comma, no comma is decimal.
    notes : what was noticed is added.

    Returns
    -------
    frame, decimal_comma, missing, styles
        The word for missing is the file's; a column that has another has it in its style.
    """
    import polars as pl

    texts = [_cleaned(column) for column in frame]
    marks = [_decimal_mark(text, separator) for text in texts]
    comma = "comma" in marks
    if comma and "point" in marks:
        # Only one of them marks decimals; the other one, in groups of three, marks thousands.
        points = [text for text, mark in zip(texts, marks, strict=True) if mark == "point"]
        comma = all(text.all_match(f"{_GROUPED}|[0-9]{{1,3}}") for text in points)
    columns, styles = [], {}
    for text, mark in zip(texts, marks, strict=True):
        decimal = mark if mark is None or (mark == "comma") == comma else None
        column, style = _read(text, decimal, whole=mark is None)
        if column.dtype == pl.String and (decimal != mark or _number_like(text)):
            notes.append(
                f"column {text.column.name!r} holds numbers written in a way that is not read "
                "(thousands, units, signs or some text); it is treated as text"
            )
        columns.append(column)
        styles[text.column.name] = style
    missing, own = _missing_words(texts)
    for name, word in own.items():
        styles[name] = Style(word, styles[name].decimals, styles[name].clock)
    told = {name: style for name, style in styles.items() if style != Style()}
    return pl.DataFrame(columns), comma, missing, told


def _cleaned(column: pl.Series) -> _Text:
    """The column with its words for missing taken out, and how often each of them stood there."""
    distinct = column.drop_nulls().unique()
    counts = Counter({"": column.null_count()})
    words = distinct.filter(distinct.is_in(_WORDS)).to_list()
    if not words:
        return _Text(column, distinct, counts)
    present = distinct.filter(~distinct.is_in(words))
    if "." in words and not _Text(column, present, counts).all_match(r".*[0-9]"):
        words.remove(".")
        present = distinct.filter(~distinct.is_in(words))
    lost = column.is_in(words).fill_null(value=False)
    for word, count in column.filter(lost).value_counts().iter_rows():
        counts[word] += count
    return _Text(column.set(lost, None), present, counts)


def _missing_words(texts: Sequence[_Text]) -> tuple[str, dict[str, str]]:
    """The word that the file uses most, and the columns that use another one."""
    words = {text.column.name: max(text.lost, key=lambda w: text.lost[w]) for text in texts}
    used = Counter(dict.fromkeys(words.values(), 0))
    for text in texts:
        used[words[text.column.name]] += sum(text.lost.values())
    used = +used
    # An empty cell can be written without quotes only where it is the word of the file.
    missing = "" if "" in used or not used else used.most_common(1)[0][0]
    lost = {text.column.name for text in texts if sum(text.lost.values())}
    return missing, {name: w for name, w in words.items() if name in lost and w != missing}


def _number_like(text: _Text) -> bool:
    """Whether most values are numbers, and some are written as no program would read them."""
    some = text.distinct[:1000]
    if len(some) <= FEW or text.any_match(r"0[0-9].*"):
        return False
    grouped, alike, plain = (
        int(_matches(some, pattern).sum()) for pattern in (_GROUPED_MORE, _NUMBER_LIKE, _REAL)
    )
    return (grouped > 0 and alike == len(some)) or len(some) / 2 <= plain < len(some)


# ---------------------------------------------------------------- reading


def _decimal_mark(text: _Text, separator: str) -> Literal["point", "comma"] | None:
    """What marks the decimals of a column of numbers; None where there are none."""
    text = _stripped(text)
    if text.all_match(_REAL):
        return "point" if text.any_match(r".*[.].*") else None
    if separator == "," or text.any_match(r".*[.].*"):
        return None
    if not text.all_match("[^,]*(?:,[^,]*)?") or not text.changed(_pointed).all_match(_REAL):
        return None
    thousands = text.any_match("[^,]*") and text.all_match(rf"{_GROUPED}|[+-]?[0-9]+")
    return None if thousands else "comma"


def _stripped(text: _Text) -> _Text:
    if not any(value != value.strip() for value in text.trial):
        return text
    return text.changed(lambda values: values.str.strip_chars())


def _pointed(values: pl.Series) -> pl.Series:
    return values.str.replace(",", ".", literal=True)


def _read(
    text: _Text, decimal: Literal["point", "comma"] | None, *, whole: bool
) -> tuple[pl.Series, Style]:
    """The column as what all its values are, and its style; text where they are nothing else."""
    import polars as pl

    if not len(text.distinct):
        return text.column, Style()
    bare = _stripped(text)
    if decimal is not None:
        bare = bare.changed(_pointed) if decimal == "comma" else bare
        return bare.column.cast(pl.Float64), Style(decimals=_decimals(bare))
    if whole and bare.all_match(_WHOLE):
        for dtype in (pl.Int64, pl.UInt64):
            with suppress(pl.exceptions.PolarsError):
                return bare.column.cast(dtype), Style()
        return text.column, Style()  # beyond 64 bits: names, not quantities
    if whole and bare.any_match(".*[en].*") and bare.all_match(_REAL):  # 1e-5, Inf
        return bare.column.cast(pl.Float64), Style()
    return _named(text)


def _decimals(text: _Text) -> int | None:
    """How many decimals every value has; 0 where they have as few as needed; None by default."""
    import polars as pl

    if text.any_match(_WHOLE):
        return None if text.any_match(r".*[.]0*") else 0
    decimals = len(text.trial[0].partition(".")[2])
    if not 1 < decimals <= MOST_DECIMALS or not text.all_match(rf"-?[0-9]+[.][0-9]{{{decimals}}}"):
        return None
    try:
        again = text.distinct.cast(pl.Float64).cast(pl.Decimal(38, decimals)).cast(pl.String)
    except pl.exceptions.PolarsError:
        return None
    return decimals if (again == text.distinct).all() else None


def _named(text: _Text) -> tuple[pl.Series, Style]:
    """True/false, dates, moments, or text."""
    import polars as pl

    column = text.column
    if text.all_match("true|false"):
        return column == "true", Style()
    with suppress(pl.exceptions.PolarsError):  # the 31st of June
        if text.all_match(_DAY):
            return column.str.to_date("%Y-%m-%d"), Style()
        for pattern, clock in _CLOCKS.items():
            if text.all_match(pattern):
                return column.str.to_datetime(clock, time_unit="us"), Style(clock=clock)
    return column, Style()


# ---------------------------------------------------------------- writing


def written(
    frame: pl.DataFrame, styles: Mapping[str, Style], *, decimal_comma: bool
) -> pl.DataFrame:
    """The columns as text or decimals where the usual way of writing them is not theirs."""
    import polars as pl

    return pl.DataFrame(
        [_in_style(column, styles.get(column.name, Style()), decimal_comma) for column in frame]
    )


def _in_style(column: pl.Series, style: Style, decimal_comma: bool) -> pl.Series:
    import polars as pl

    if column.dtype.is_float():
        column = _number_in_style(column, style.decimals, decimal_comma)
    elif column.dtype == pl.Datetime and column.dtype.time_zone is None:  # type: ignore[attr-defined]
        whole = (column.dt.microsecond().fill_null(0) == 0).all()
        clock = style.clock or ("%Y-%m-%dT%H:%M:%S" if whole else "%Y-%m-%dT%H:%M:%S%.6f")
        column = column.dt.strftime(clock)
    if style.missing is not None and column.null_count():
        column = column.cast(pl.String).fill_null(style.missing)
    return column


def _number_in_style(column: pl.Series, decimals: int | None, decimal_comma: bool) -> pl.Series:
    import polars as pl

    if decimals:
        try:
            column = column.cast(pl.Decimal(38, decimals))
        except pl.exceptions.PolarsError:
            decimals = None  # too large a number
    elif decimals == 0:
        column = column.cast(pl.String).str.strip_suffix(".0")
    if decimal_comma:
        column = column.cast(pl.String).str.replace(".", ",", literal=True)
    return column
