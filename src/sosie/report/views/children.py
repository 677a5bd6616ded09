"""Rows of people, originals beside avatars: a table for each table of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sosie.report.figures.drawing import Figure
from sosie.report.figures.trajectories import trajectories
from sosie.words import Words

__all__ = ["ChildView", "CurveView", "children"]

MEASURES = ("gaps", "lag", "lag_within", "between", "transitions", "curves_inside")


FEWEST_POINTS = 3
"""Of a curve that is drawn."""


class CurveView(NamedTuple):
    """Means of one number over time: an identifier, what it is of, in words, and the figure."""

    id: str
    name: str
    alt: str
    figure: Figure


class ChildView(NamedTuple):
    """One table of rows.

    Attributes
    ----------
    heading : its name.
    measures : for each measure its name and its value.
    numbers : for each number its name, and the autocorrelation and share between people of
        originals and of avatars.
    curves : means over time.
    """

    heading: str
    measures: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, ...], ...]
    curves: tuple[CurveView, ...]


def children(words: Words, audit: Mapping[str, Any]) -> tuple[ChildView, ...]:
    """The rows that ``audit.json`` tells of; none where people have one row each."""
    every = (audit.get("children") or {}).items()
    return tuple(_child(words, i, name, told) for i, (name, told) in enumerate(every))


def _child(words: Words, place: int, name: str, told: Mapping[str, Any]) -> ChildView:
    before, after = told["mean_rows"]
    rows = words("children.of", originals=words.number(before, 2), avatars=words.number(after, 2))
    measures = [(words("children.mean_rows"), rows)]
    for key in MEASURES:
        value = told["summary"].get(key)
        measures.append((words(f"children.{key}"), _shown(words, key, value)))
    return ChildView(
        words("children.table", name=name),
        tuple(measures),
        tuple(
            (
                str(number["name"]),
                *(_two(words, value) for what in ("lag", "between") for value in number[what]),
            )
            for number in told["numbers"]
        ),
        tuple(_curves(words, place, told["numbers"])),
    )


def _curves(words: Words, place: int, numbers: Sequence[Mapping[str, Any]]) -> Iterator[CurveView]:
    for i, number in enumerate(numbers):
        points = (number["curve"] or {"points": ()})["points"]
        if len(points) >= FEWEST_POINTS:
            name = str(number["name"])
            inside = words.value(100 * number["curve"]["inside"], "%")
            yield CurveView(
                f"trajectory-{place}-{i}",
                name,
                words("children.curve", name=name, inside=inside),
                trajectories(words, points, words("children.since")),
            )


def _two(words: Words, value: float | None) -> str:
    return words.value(value) if value is None else words.number(value, 2)


def _shown(words: Words, key: str, value: float | None) -> str:
    if value is not None and key == "curves_inside":
        return words.value(100 * value, "%")
    return words.value(value)
