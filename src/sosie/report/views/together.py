"""Columns taken together: links, components, models; texts, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sosie.report.figures.bars import Pair, paired_bars
from sosie.report.figures.drawing import Figure, shortened
from sosie.report.figures.heat import contribution_map, link_map
from sosie.report.views.lists import Cell, listed
from sosie.words import Words

__all__ = ["Change", "Links", "TableView", "Together", "together"]

_MOST_CHANGES = 20
_MOST_DRAWN = 40
_NAMED = 3

Matrix = Sequence[Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Change:
    """A link that changed."""

    one: str
    other: str
    measure: str
    originals: Cell
    avatars: Cell
    change: Cell


@dataclass(frozen=True, slots=True)
class Links:
    """Links between columns: three pictures and the changes; ``only`` says what is left out."""

    maps: tuple[tuple[str, str, Figure], ...]
    """Identifier, caption and figure of each picture."""
    alt: str
    only: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """A figure and the table behind it: headings, then rows of a name and cells."""

    figure: Figure | None
    alt: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Together:
    """The parts of the utility section beyond single columns; None where the run has none."""

    links: Links | None
    contributions: TableView | None
    prediction: TableView | None

    @property
    def figures(self) -> dict[str, Figure]:
        """Figures by identifier."""
        found = {} if self.links is None else {key: drawn for key, _, drawn in self.links.maps}
        for key, view in (("contributions", self.contributions), ("prediction", self.prediction)):
            if view is not None and view.figure is not None:
                found[key] = view.figure
        return found


def together(words: Words, run: Mapping[str, Any], audit: Mapping[str, Any]) -> Together:
    """Read ``associations`` and ``contributions`` of ``run.json``, and the models."""
    figures = run["figures"]
    linked, shares = (figures.get(key) for key in ("associations", "contributions"))
    models = (audit["utility"].get("predictive_ratio") or {}).get("columns")
    return Together(
        links=_links(words, linked) if linked else None,
        contributions=_contributions(words, shares) if shares and shares["columns"] else None,
        prediction=_prediction(words, audit, models) if models else None,
    )


def _links(words: Words, told: Mapping[str, Any]) -> Links:
    names = [str(name) for name in told["columns"]]
    before, after = told["originals"], told["avatars"]
    moved = [
        [None if old is None else (new or 0.0) - old for old, new in zip(*rows, strict=True)]
        for rows in zip(before, after, strict=True)
    ]
    most = max((abs(value) for row in moved for value in row if value is not None), default=0.0)
    changes = list(_changes(words, names, told, moved))
    alt = words("report.associations.alt_plain", n=words.number(len(names)))
    if changes:
        first = changes[0]
        alt = words(
            "report.associations.alt",
            n=words.number(len(names)),
            one=first.one,
            other=first.other,
            before=first.originals.text,
            after=first.avatars.text,
        )
    total = told.get("total", len(names))
    drawn: tuple[tuple[str, Matrix, float], ...] = (
        ("originals", before, 1.0),
        ("avatars", after, 1.0),
        ("difference", moved, max(most, 0.1)),
    )
    return Links(
        maps=tuple(
            (
                f"links-{key}",
                words(f"report.associations.{key}"),
                link_map(words, names, matrix, reach),
            )
            for key, matrix, reach in drawn
        ),
        alt=alt,
        only=""
        if total <= len(names)
        else words(
            "report.associations.only", n=words.number(len(names)), total=words.number(total)
        ),
        changes=tuple(changes),
    )


def _changes(
    words: Words, names: Sequence[str], told: Mapping[str, Any], moved: Matrix
) -> Iterable[Change]:
    pairs = [
        (abs(value), i, j)
        for i, row in enumerate(moved)
        for j, value in enumerate(row[:i])
        if value is not None
    ]
    for _, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2]))[:_MOST_CHANGES]:
        measure = str(told["measures"][i][j])
        before, after = told["originals"][i][j], told["avatars"][i][j] or 0.0
        yield Change(
            one=names[j],
            other=names[i],
            measure=words.get(f"report.measures.{measure}", measure),
            originals=_cell(words, before),
            avatars=_cell(words, after),
            change=_cell(words, after - before),
        )


def _cell(words: Words, value: float | None, unit: str | None = None) -> Cell:
    return Cell(words.value(None if value is None else round(value, 3), unit), value)


def _contributions(words: Words, told: Mapping[str, Any]) -> TableView:
    names = [str(name) for name in told["columns"]]
    headings = [
        words("report.contributions.component", n=component) for component in told["components"]
    ]
    ranked = sorted(range(len(names)), key=lambda place: -told["percent"][place][0])
    first = [names[place] for place in ranked[:_NAMED]]
    return TableView(
        figure=contribution_map(
            words, names[:_MOST_DRAWN], headings, told["percent"][:_MOST_DRAWN]
        ),
        alt=words(
            "report.contributions.alt",
            n=words.number(min(len(names), _MOST_DRAWN)),
            d=words.number(len(headings)),
            first=listed(words, first),
        ),
        headings=tuple(headings),
        rows=tuple(
            (name, "", tuple(_cell(words, value, "%") for value in shares))
            for name, shares in zip(names, told["percent"], strict=True)
        ),
    )


def _prediction(
    words: Words, audit: Mapping[str, Any], models: Sequence[Mapping[str, Any]]
) -> TableView:
    ratio = audit["utility"]["predictive_ratio"]["value"]
    drawn = models[:_MOST_DRAWN]
    return TableView(
        figure=paired_bars(
            words, [_pair(words, model) for model in drawn], words("report.prediction.axis")
        ),
        alt=words(
            "report.prediction.alt", n=words.number(len(drawn)), ratio=words.value(ratio, "%")
        ),
        headings=tuple(
            words(key) for key in ("report.originals", "report.avatars", "report.prediction.ratio")
        ),
        rows=tuple(
            (
                str(model["column"]),
                words.get(f"report.prediction.{model.get('measure')}", ""),
                (
                    _cell(words, model["originals"]),
                    _cell(words, model["avatars"]),
                    _cell(words, model.get("ratio"), "%"),
                ),
            )
            for model in models
        ),
    )


def _pair(words: Words, model: Mapping[str, Any]) -> Pair:
    lines = [
        words("format.colon", label=words(f"report.{key}"), value=words.value(model[key]))
        for key in ("originals", "avatars")
    ]
    name = str(model["column"])
    hover = "\n".join([shortened(name, 60), *lines])
    return Pair(name, model["originals"], model["avatars"], hover)
