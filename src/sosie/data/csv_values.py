"""The cells of a CSV file: what the text of a column says, and how it is written again.

Text is read as whole numbers, numbers, true/false, dates or moments only where every value
of the column is one and little is lost in writing it back. Digits with leading zeros
(postcodes) or with a leading plus (telephones), and words like 1E5 stay text.

A column of numbers but for some codes and limits (ND, <0.5) stays text as well, its numbers
written the way programs do: `sosie.table` reads it as numbers with kinds of missing values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from sosie.data.missing import states_among
from sosie.data.moments import Clock, clock_of
from sosie.data.notation import Ambiguous, Decimal, Notation, is_number_like, notation_of
from sosie.errors import InputError, Reason

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
_GROUP_OF_POINTS = r"[1-9][0-9]{0,2}[.][0-9]{3}"
_GROUPED_MORE = r"[+-]?[0-9]{1,3}(?:[ .,'’][0-9]{3})+.*"
_NUMBER_LIKE = "[<>=~ ]*[+-]?[0-9][0-9 .,'’\u00a0\u202f]*[%€$]?"
_PLAIN = r"-?[0-9]+(?:[.][0-9]+)?(?:e[+-]?[0-9]+)?"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


@dataclass(frozen=True)
class Style:
    """What a column writes in its own way; None where it does as the others.

    Attributes
    ----------
    missing : its word for a missing value.
    decimals : always so many (1.50); with 0, as few as needed (70, not 70.0).
    clock : format of its dates with a time.
    notation : thousands and units of its numbers, which may stand among codes and limits.
    """

    missing: str | None = None
    decimals: int | None = None
    clock: str | None = None
    notation: Notation | None = None


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
    frame: pl.DataFrame,
    separator: str,
    notes: list[Reason],
    decimal: Decimal | None = None,
    na: Sequence[str] = (),
) -> tuple[pl.DataFrame, bool, str, dict[str, Style]]:
    """Give text columns the types that their values show.

    Parameters
    ----------
    frame : text, null where a cell is empty.
    separator : where it is a comma, no comma is decimal.
    notes : what was noticed is added.
    decimal : the mark before decimals; None takes the one that the file shows.
    na : texts that stand for a missing value in columns of numbers.

    Returns
    -------
    frame, decimal_comma, missing, styles
        The word for missing is the file's; a column that has another has it in its style.

    Raises
    ------
    InputError
        A mark before groups of three digits may be that of decimals or of thousands.
    """
    import polars as pl

    texts = [_cleaned(column) for column in frame]
    marks = [_decimal_mark(text, separator) for text in texts]
    known = decimal or ("." if separator == "," else None)
    marked = [
        None if mark or text.all_match(_REAL) else _Marked.of(text, known, na)
        for text, mark in zip(texts, marks, strict=True)
    ]
    if known is None:
        shown = {mark for mark in marks if mark in (".", ",")}
        shown |= {column.shows for column in marked if column and column.shows}
        known = "." if "." in shown else "," if shown else None
    columns, styles = [], {}
    for text, mark, told in zip(texts, marks, marked, strict=True):
        plain = mark in (None, known)
        own = told if plain or told else _Marked.of(text, known, na)
        if own is not None:
            column, style = own.read(known)
        else:
            column, style = _read(text, mark if plain else None, notes, whole=mark is None)
        if column.dtype == pl.String and own is None and (mark or _number_like(text)):
            notes.append(Reason("numbers_not_read", {"column": text.column.name}))
        columns.append(column)
        styles[text.column.name] = style
    _read_without_words(texts, columns, styles, notes)
    missing, own_words = _missing_words(texts)
    for name, word in own_words.items():
        styles[name] = replace(styles[name], missing=word)
    other = {name: style for name, style in styles.items() if style != Style()}
    return pl.DataFrame(columns), known == ",", missing, other


@dataclass(frozen=True)
class _Marked:
    """Numbers with marks for thousands, units, or texts among them.

    Attributes
    ----------
    numbers : the distinct ones, as they are written.
    among : whether there are codes or limits beside them.
    """

    text: _Text
    numbers: Sequence[str]
    among: bool
    way: Notation | Ambiguous

    @classmethod
    def of(cls, text: _Text, decimal: Decimal | None, na: Sequence[str]) -> _Marked | None:
        """The column as numbers; None where it is none of them."""
        if not any(re.search("[0-9]", cell) for cell in text.trial) or text.any_match("0[0-9].*"):
            return None
        bare = [cell.strip() for cell in text.trial]
        if not all(is_number_like(c) or re.fullmatch("[^0-9]*", c) or c in na for c in bare):
            return None
        counts = dict(text.column.drop_nulls().value_counts(sort=False).iter_rows())
        parted = states_among(counts, na)
        if parted is None:
            if not all(re.search("[0-9]", cell) for cell in counts):
                return None
            parted = list(counts), []
        numbers = sorted(parted[0])
        way = notation_of([number.strip() for number in numbers], decimal)
        return None if way is None else cls(text, numbers, bool(parted[1]), way)

    @property
    def shows(self) -> Decimal | None:
        """The mark before decimals, where the column says which it is."""
        if isinstance(self.way, Ambiguous):
            return None
        if self.way.group in (".", ","):
            return "," if self.way.group == "." else "."
        used = any(self.way.decimal in number for number in self.numbers)
        return self.way.decimal if used else None

    def read(self, decimal: Decimal | None) -> tuple[pl.Series, Style]:
        """Numbers; or text, where there are codes among them, with numbers as programs write them.

        Raises
        ------
        InputError
            There are two ways to read them, and none is known.
        """
        import polars as pl

        column, way = self.text.column, self.way
        if isinstance(way, Ambiguous):
            if decimal is None:
                row = column.to_list().index(way.cell) + 1
                raise InputError(
                    f"column {column.name!r}, row {row}: {way.cell!r} may be "
                    f"{way.as_group.plain(way.cell)} or {way.as_decimal.plain(way.cell)}; say which"
                    " mark stands before decimals (--decimal . or --decimal ,)"
                )
            way = way.resolved(decimal)
        plain = [way.plain(number.strip()) for number in self.numbers]
        column = column.replace(list(self.numbers), plain)
        distinct = pl.Series(plain)
        decimals = _decimals(_Text(distinct, distinct, {}))
        style = Style(decimals=decimals, notation=way)
        if self.among:
            return column, style
        if all(re.fullmatch(_WHOLE, number) for number in plain):
            with suppress(pl.exceptions.PolarsError):
                return column.cast(pl.Int64), style
        return column.cast(pl.Float64), style


def _cleaned(column: pl.Series) -> _Text:
    """The column with its word for missing taken out, and how often it stood there.

    An empty cell is that word where there are any; others stay texts of their own (Namibia).
    """
    distinct = column.drop_nulls().unique()
    words = distinct.filter(distinct.is_in(_WORDS)).to_list()
    if column.null_count() or not words:
        return _Text(column, distinct, {"": column.null_count()})
    if "." in words:
        present = distinct.filter(~distinct.is_in(words))
        if not _Text(column, present, {}).all_match(r".*[0-9]"):
            words.remove(".")
    return _without(column, distinct, words[:1] if len(words) == 1 else _commonest(column, words))


def _commonest(column: pl.Series, words: Sequence[str]) -> list[str]:
    counts = dict(column.filter(column.is_in(words)).value_counts().iter_rows())
    return sorted(words, key=lambda word: (-counts[word], word))[:1]


def _without(column: pl.Series, distinct: pl.Series, words: Sequence[str]) -> _Text:
    """The column with some words taken out."""
    lost = column.is_in(words).fill_null(value=False)
    counts = Counter({"": column.null_count()})
    counts.update(dict(column.filter(lost).value_counts().iter_rows()))
    return _Text(column.set(lost, None), distinct.filter(~distinct.is_in(words)), counts)


def _read_without_words(
    texts: list[_Text], columns: list[pl.Series], styles: dict[str, Style], notes: list[Reason]
) -> None:
    """Read columns of dates as such, whatever words for missing stand among them."""
    import polars as pl

    for place, (text, column) in enumerate(zip(texts, columns, strict=True)):
        if column.dtype != pl.String or styles[column.name].notation is not None:
            continue
        words = text.distinct.filter(text.distinct.is_in(_WORDS)).to_list()
        if not words:
            continue
        bare = _without(text.column, text.distinct, words)
        again, style = _named(bare, notes)
        if again.dtype.is_temporal():
            main = max(text.lost, key=lambda word: text.lost[word])
            texts[place] = _Text(bare.column, bare.distinct, {main: again.null_count()})
            columns[place], styles[column.name] = again, style
            notes.append(Reason("missing_dates_are_one", {"column": column.name}))


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


def _decimal_mark(text: _Text, separator: str) -> Decimal | Literal["ambiguous"] | None:
    """What marks the decimals of a column of numbers; None where there are none."""
    text = _stripped(text)
    if text.all_match(_REAL):
        if not text.any_match(r".*[.].*"):
            return None
        grouped = separator != "," and text.all_match(rf"[+-]?{_GROUP_OF_POINTS}|{_WHOLE}")
        return "ambiguous" if grouped else "."
    if separator == "," or text.any_match(r".*[.].*"):
        return None
    if not text.all_match("[^,]*(?:,[^,]*)?") or not text.changed(_pointed).all_match(_REAL):
        return None
    grouped = text.all_match(rf"{_GROUPED}|{_WHOLE}")
    return "ambiguous" if grouped else ","


def _stripped(text: _Text) -> _Text:
    if not any(value != value.strip() for value in text.trial):
        return text
    return text.changed(lambda values: values.str.strip_chars())


def _pointed(values: pl.Series) -> pl.Series:
    return values.str.replace(",", ".", literal=True)


def _read(
    text: _Text, decimal: str | None, notes: list[Reason], *, whole: bool
) -> tuple[pl.Series, Style]:
    """The column as what all its values are, and its style; text where they are nothing else."""
    import polars as pl

    if not len(text.distinct):
        return text.column, Style()
    bare = _stripped(text)
    if decimal is not None:
        bare = bare.changed(_pointed) if decimal == "," else bare
        return bare.column.cast(pl.Float64), Style(decimals=_decimals(bare))
    if whole and bare.all_match(_WHOLE):
        for dtype in (pl.Int64, pl.UInt64):
            with suppress(pl.exceptions.PolarsError):
                return bare.column.cast(dtype), Style()
        return text.column, Style()  # beyond 64 bits: names, not quantities
    if whole and bare.any_match(".*[en].*") and bare.all_match(_REAL):  # 1e-5, Inf
        return bare.column.cast(pl.Float64), Style()
    return _named(text, notes)


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


def _named(text: _Text, notes: list[Reason]) -> tuple[pl.Series, Style]:
    """True/false, dates, moments, or text."""
    import polars as pl

    column = text.column
    if text.all_match("true|false"):
        return column == "true", Style()
    with suppress(pl.exceptions.PolarsError):  # the 31st of June
        if text.all_match(_DAY):
            return column.str.to_date("%Y-%m-%d"), Style()
        if text.all_match(Clock.PATTERN):
            clock = clock_of(text.distinct)
            if clock is not None:
                if clock.mixed:
                    notes.append(Reason("times_in_utc", {"column": column.name}))
                return clock.read(column), Style(clock=clock.form)
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

    if style.notation is not None and (column.dtype.is_numeric() or column.dtype == pl.String):
        column = _in_notation(column, style.notation, style.decimals)
    elif column.dtype.is_float():
        column = _number_in_style(column, style.decimals, decimal_comma)
    elif column.dtype == pl.Datetime and (
        style.clock is not None or column.dtype.time_zone is None  # type: ignore[attr-defined]
    ):
        whole = (column.dt.microsecond().fill_null(0) == 0).all()
        clock = style.clock or ("%Y-%m-%dT%H:%M:%S" if whole else "%Y-%m-%dT%H:%M:%S%.6f")
        column = column.dt.strftime(clock)
    if style.missing is not None and column.null_count():
        column = column.cast(pl.String).fill_null(style.missing)
    return column


def _in_notation(column: pl.Series, way: Notation, decimals: int | None) -> pl.Series:
    """Numbers written in a notation; other texts stay."""
    import polars as pl

    if column.dtype.is_float():
        column = _number_in_style(column, decimals, decimal_comma=False)
    column = column.cast(pl.String)
    distinct = column.drop_nulls().unique()
    plain = distinct.filter(_matches(distinct, _PLAIN))
    exact = _with_decimals(plain, decimals)
    return column.replace(plain, pl.Series([way.written(cell) for cell in exact], dtype=pl.String))


def _with_decimals(plain: pl.Series, decimals: int | None) -> pl.Series:
    if decimals == 0:
        return plain.str.strip_suffix(".0")
    import polars as pl

    if decimals is not None:
        with suppress(pl.exceptions.PolarsError):  # too large a number
            return plain.cast(pl.Decimal(38, decimals)).cast(pl.String)
    return plain


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
