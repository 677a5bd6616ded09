"""Do the results of a study survive? Terms, forest plots, curves and pairs, every text ready."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sosie.report.figures.drawing import Figure
from sosie.report.figures.forest import ForestLine, Point, forest
from sosie.report.views.curves import CurveView, curves, log_rank
from sosie.report.views.lists import Cell, listed
from sosie.words import Words
from sosie.words.readings import Standing, reason

__all__ = ["AnalysesView", "PairView", "StudyView", "TermView", "analyses"]

Told = Mapping[str, Any]

STANDINGS = {
    "confirmed": Standing.CLEAR,
    "compatible": Standing.NARROW,
    "contradicted": Standing.MISSED,
}
"""How each verdict is marked."""

_NAMED = 6
"""Terms that a sentence names."""


@dataclass(frozen=True, slots=True)
class TermView:
    """One term; ``cells`` are those of the table, after its name and before its verdict.

    ``label`` is its name; ``note`` says why a side is blank.
    """

    label: str
    cells: tuple[tuple[Cell, str], ...]
    standing: Standing
    verdict: str
    note: str

    @property
    def texts(self) -> tuple[str, ...]:
        """The cells as texts, an interval below its estimate."""
        return tuple("\n".join(filter(None, (cell.text, note))) for cell, note in self.cells)


@dataclass(frozen=True, slots=True)
class StudyView:
    """One analysis; ``notes`` say what it was made on, or why it was not made."""

    id: str
    text: str
    about: str
    notes: tuple[str, ...]
    terms: tuple[TermView, ...]
    forest: Figure | None
    forest_title: str
    alt: str
    cell_headings: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    curves: tuple[CurveView, ...]
    log_rank: str


@dataclass(frozen=True, slots=True)
class PairView:
    """A figure of two columns that changed; ``texts`` are outcome, column and level."""

    texts: tuple[str, str, str]
    before: str
    after: str
    difference: Cell
    people: Cell
    slope: bool
    share: bool


@dataclass(frozen=True, slots=True)
class AnalysesView:
    """The whole section; ``summary`` and the pairs, ``worst`` first, stand on the first page."""

    intro: tuple[str, ...]
    summary: tuple[str, ...]
    worst_heading: str
    worst: tuple[str, ...]
    headings: tuple[str, ...]
    studies: tuple[StudyView, ...]
    screen: str
    pair_headings: tuple[str, ...]
    pairs: tuple[PairView, ...]

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures by identifier."""
        drawn = {study.id: study.forest for study in self.studies if study.forest is not None}
        return drawn | {curve.id: curve.figure for study in self.studies for curve in study.curves}


def analyses(words: Words, told: Told) -> AnalysesView:
    """Read ``analyses.json``."""
    releases = int(told["releases"])
    studies = tuple(
        _study(words, entry, f"analysis-{place}", releases)
        for place, entry in enumerate(told["analyses"], start=1)
    )
    screen = told.get("screen")
    pairs = () if screen is None else tuple(_pair(words, pair) for pair in screen["worst"])
    keys = ("originals", "avatars", "overlap", "difference", *(["inside"] * (releases > 1)))
    return AnalysesView(
        intro=tuple(_intro(words, told)),
        summary=tuple(_summary(words, told)),
        worst_heading="" if screen is None else _worst_heading(words, screen),
        worst=tuple(_sentence(words, pair) for pair in pairs),
        headings=tuple(words(f"analyses.{key}") for key in ("term", *keys, "verdict", "note")),
        studies=studies,
        screen="" if screen is None else _screen(words, screen),
        pair_headings=tuple(
            words(f"analyses.{key}")
            for key in ("outcome", "column", "level", "originals", "avatars", "change", "people")
        ),
        pairs=pairs,
    )


# ---------------------------------------------------------------- sentences


def _intro(words: Words, told: Told) -> Iterable[str]:
    if not told["analyses"]:
        yield words("analyses.none")
        return
    yield words("analyses.intro")
    key = "redrawn" if told["combination"] == "redrawn" else "fitted"
    yield words.count(f"analyses.trust_{key}", int(told["releases"]))


def _summary(words: Words, told: Told) -> Iterable[str]:
    """What agrees, what doesn't by name, and how many pairs changed."""
    found = [(entry, term) for entry in told["analyses"] for term in entry["terms"]]
    judged = [(entry, term) for entry, term in found if term["verdict"] is not None]
    if judged:
        inside = sum(bool(term["inside"]) for _, term in judged)
        yield words("analyses.agree", inside=words.number(inside), terms=words.number(len(judged)))
    for verdict in ("contradicted", "compatible"):
        names = [_in_study(words, *pair) for pair in judged if pair[1]["verdict"] == verdict]
        if names:
            yield words(f"analyses.those_{verdict}", names=listed(words, names, _NAMED))
    blank = [_in_study(words, *pair) for pair in found if _lost(pair[1])]
    if blank:
        yield words("analyses.those_blank", names=listed(words, blank, _NAMED))
    refused = [entry["text"] for entry in told["analyses"] if not entry["terms"]]
    if refused:
        yield words("analyses.those_refused", names=listed(words, refused, _NAMED))
    if told.get("screen") is not None:
        yield _screen(words, told["screen"])


def _lost(term: Told) -> bool:
    """Whether the originals have an estimate that the avatars lack."""
    return term["original"]["interval"] is not None and term["avatars"]["estimate"] is None


def _in_study(words: Words, entry: Told, term: Told) -> str:
    return words("analyses.in_study", term=_label(term), text=entry["text"])


def _label(term: Told) -> str:
    r"""A term as a reader writes it.

    >>> _label({"term": "", "factors": [{"column": "arm", "level": "2"},
    ...                                 {"column": "age", "level": None}]})
    'arm\xa0=\xa02 × age'
    """
    names = [_valued(factor["column"], factor["level"]) for factor in term["factors"]]
    return " × ".join(names) or str(term["term"])


def _valued(column: object, level: object) -> str:
    """A column and its level, on one line; the column alone where it has none."""
    return str(column) if level is None else f"{column}\u00a0=\u00a0{level}"


def _screen(words: Words, screen: Told) -> str:
    if not screen["worst"]:
        return words("analyses.screen_none")
    key = "screen" if screen["changed"] else "screen_chance"
    return words(
        f"analyses.{key}",
        figures=words.number(screen["figures"]),
        changed=words.number(screen["changed"]),
    )


def _worst_heading(words: Words, screen: Told) -> str:
    if not screen["worst"]:
        return ""
    return words("analyses.worst" if screen["changed"] else "analyses.worst_chance")


def _pair(words: Words, told: Told) -> PairView:
    outcome, level = str(told["outcome"]), told["level"]
    share = told["value"] is not None
    if share:
        outcome = _valued(outcome, told["value"])
    before, after = told["original"], told["avatars"]
    if share and level is not None:
        texts = [words.value(100 * value, "%") for value in (before, after)]
    else:
        digits = _digits(abs(after - before) or max(abs(before), abs(after)) / 10)
        texts = [words.number(value, digits) for value in (before, after)]
    return PairView(
        texts=(outcome, str(told["column"]), words("analyses.slope") if level is None else level),
        before=texts[0],
        after=texts[1],
        difference=Cell(_signed(words, told["difference"]), told["difference"]),
        people=Cell(words.number(told["people"]), told["people"]),
        slope=level is None,
        share=share,
    )


def _sentence(words: Words, pair: PairView) -> str:
    kind = "slope" if pair.slope else "share" if pair.share else "mean"
    return words(
        f"analyses.pair_{kind}",
        outcome=pair.texts[0],
        column=pair.texts[1],
        level=pair.texts[2],
        before=pair.before,
        after=pair.after,
        difference=pair.difference.text,
        people=pair.people.text,
    )


def _signed(words: Words, value: float, digits: int = 2) -> str:
    text = words.number(value, digits)
    return f"+{text}" if value > 0 else text


# ---------------------------------------------------------------- one analysis


def _study(words: Words, entry: Told, identifier: str, releases: int) -> StudyView:
    ratio = entry["scale"] == "log_ratio"
    terms = tuple(_term(words, term, ratio, releases) for term in entry["terms"])
    drawn = [term for term in entry["terms"] if term["original"]["interval"] is not None]
    contradicted = [_label(term) for term in drawn if term["verdict"] == "contradicted"]
    names = listed(words, contradicted, _NAMED) if contradicted else words("format.none")
    cells = entry.get("cells", [])
    return StudyView(
        id=identifier,
        text=entry["text"],
        about=words(f"analyses.models.{entry['model']}"),
        notes=tuple(_notes(words, entry)),
        terms=terms,
        forest=_forest(words, entry, drawn) if drawn else None,
        forest_title=words("analyses.forest", text=entry["text"]),
        alt=words("analyses.forest_alt", n=words.number(len(drawn)), names=names),
        cell_headings=tuple(
            words(f"analyses.{key}") for key in ("group", "value", "originals", "avatars")
        ),
        cells=tuple(_cells(words, entry, cell) for cell in cells),
        curves=curves(words, entry, identifier),
        log_rank=log_rank(words, entry.get("log_rank")),
    )


def _notes(words: Words, entry: Told) -> Iterable[str]:
    if entry["reason"] is not None:
        yield words("analyses.refused", reason=reason(words, entry["reason"]))
    rows, dropped = entry["rows"], entry["dropped"]
    yield words(
        "analyses.rows",
        originals=words.number(rows["originals"]),
        avatars=words.number(rows["avatars"]),
    )
    if dropped["originals"] or dropped["avatars"]:
        yield words(
            "analyses.dropped",
            originals=words.number(dropped["originals"]),
            avatars=words.number(dropped["avatars"]),
        )
    if entry["references"]:
        names = [_valued(name, level) for name, level in entry["references"].items()]
        yield words("analyses.references", names=listed(words, names))
    if entry["small_groups"]:
        yield words.count("analyses.small_groups", entry["small_groups"])


def _term(words: Words, term: Told, ratio: bool, releases: int) -> TermView:
    ours, theirs = term["original"], term["avatars"]
    overlap, apart = term["overlap"], term["standardised_difference"]
    none = words("format.none")
    cells = [
        _estimate(words, ours, ratio),
        _estimate(words, theirs, ratio),
        (Cell(none if overlap is None else words.value(100 * overlap, "%"), overlap), ""),
        (Cell(none if apart is None else _signed(words, apart), apart), ""),
    ]
    if releases > 1:
        inside = theirs.get("releases_inside")
        text = none if inside is None else words("analyses.of", n=inside, all=releases)
        cells.append((Cell(text, inside), ""))
    reasons = (reason(words, side["reason"]) for side in (ours, theirs))
    return TermView(
        label=_label(term),
        cells=tuple(cells),
        standing=STANDINGS.get(term["verdict"], Standing.MISSING),
        verdict=words(f"analyses.verdicts.{term['verdict'] or 'blank'}"),
        note=" ".join(text[0].upper() + text[1:] for text in dict.fromkeys(reasons) if text),
    )


def _estimate(words: Words, side: Told, ratio: bool) -> tuple[Cell, str]:
    """An estimate and its interval, with two digits of the interval's half."""
    point = _point(side, ratio)
    if point is None:
        return Cell(words("format.none"), None), ""
    if not all(map(math.isfinite, point)):
        return Cell(words("format.none"), None), ""
    digits = _digits((point.high - point.low) / 2)
    value, low, high = (words.number(number, digits) for number in point)
    return Cell(value, point.value), words("format.interval", low=low, high=high)


def _digits(size: float) -> int:
    """Decimals that show two digits of a number of this size.

    >>> _digits(0.013), _digits(4.0), _digits(250.0)
    (3, 1, 0)
    """
    if not (math.isfinite(size) and size > 0):
        return 2
    return min(max(1 - math.floor(math.log10(size)), 0), 6)


def _point(side: Told, ratio: bool, scale: float = 1.0) -> Point | None:
    if side["estimate"] is None or side["interval"] is None:
        return None
    values = (side["estimate"], *side["interval"])
    return Point(*(_exponential(value) if ratio else value / scale for value in values))


def _exponential(value: float) -> float:
    """Infinite where a float holds no more.

    >>> _exponential(0.0), _exponential(1e6)
    (1.0, inf)
    """
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _forest(words: Words, entry: Told, terms: Sequence[Told]) -> Figure:
    """Slopes, whose units differ, are drawn in standard errors of the originals."""
    model = entry["model"]
    ratio, linear = entry["scale"] == "log_ratio", model == "linear"
    lines = []
    for term in terms:
        scale = (term["original"]["standard_error"] or 1.0) if linear else 1.0
        verdict = words(f"analyses.verdicts.{term['verdict'] or 'blank'}")
        own, theirs = (_point(term[side], ratio, scale) for side in ("original", "avatars"))
        lines.append(ForestLine(_label(term), own, theirs, verdict, _hover(words, term, ratio)))
    nothing = 1.0 if ratio else 0.0 if linear else None
    title = words(f"analyses.axes.{model}", outcome=str(entry["outcome"]))
    return forest(words, lines, log=ratio, nothing=nothing, title=title)


def _hover(words: Words, term: Told, ratio: bool) -> str:
    lines = [_label(term)]
    for key, side in (("originals", "original"), ("avatars", "avatars")):
        cell, interval = _estimate(words, term[side], ratio)
        value = f"{cell.text} ({interval})" if interval else cell.text
        lines.append(words("format.colon", label=words(f"report.{key}"), value=value))
    return "\n".join(lines)


def _cells(words: Words, entry: Told, cell: Told) -> tuple[str, ...]:
    """A cell of a 2 x 2 table; of several releases, the mean."""
    counts = cell["avatars"]
    mean = sum(counts) / len(counts)
    few = words("report.distributions.hidden")
    return (
        str(cell["group"]),
        _valued(entry["outcome"], cell["value"]),
        few if cell["original"] is None else words.number(cell["original"]),
        words.number(mean, 0 if mean.is_integer() else 1),
    )
