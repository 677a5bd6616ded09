"""The figures of a run with their captions, alternative texts and the tables behind them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sosie.report.figures.bars import distribution
from sosie.report.figures.drawing import Figure
from sosie.report.figures.projection import axis_titles, projection
from sosie.report.figures.shares import Gap, shares
from sosie.words import Words

__all__ = ["DistributionView", "ProjectionView", "distributions", "plane"]


@dataclass(frozen=True, slots=True)
class ProjectionView:
    """Originals and avatars on two components; ``header`` and ``rows`` are the tiles as texts."""

    figure: Figure
    alt: str
    notes: tuple[str, ...]
    axes: tuple[str, str]
    header: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class DistributionView:
    """One column's distribution; ``rows`` are (label, originals, avatars) as texts.

    ``figure`` is None where there is nothing that may be shown.
    """

    id: str
    name: str
    figure: Figure | None
    alt: str
    gap: str
    label: str
    rows: tuple[tuple[str, str, str], ...]


def plane(words: Words, run: Mapping[str, Any]) -> ProjectionView | None:
    """Read ``figures.projection`` of ``run.json``; None where it has none."""
    entry = run["figures"].get("projection")
    if not entry:
        return None
    originals, avatars = entry["originals"], entry["avatars"]
    n = words.number(len(avatars["x"]))
    k = run["parameters"].get("k")
    note = "report.projection.note_plain" if k is None else "report.projection.note"
    x_bins = _bins(words, originals["x_edges"])
    y_bins = _bins(words, originals["y_edges"])
    return ProjectionView(
        figure=projection(words, entry),
        alt=words("report.projection.alt", n=n),
        notes=(words(note, k=k), words("report.projection.sampled", n=n)),
        axes=axis_titles(words, entry),
        header=x_bins,
        rows=tuple(
            (label, tuple("" if count is None else words.number(count) for count in counts))
            for label, counts in reversed(list(zip(y_bins, originals["counts"], strict=True)))
        ),
    )


def _bins(words: Words, edges: list[float]) -> tuple[str, ...]:
    texts = [words.number(edge, 1) for edge in edges]
    return tuple(
        words("report.distributions.bin", low=low, high=high)
        for low, high in itertools.pairwise(texts)
    )


def distributions(words: Words, run: Mapping[str, Any]) -> tuple[DistributionView, ...]:
    """Read ``figures.distributions`` of ``run.json``."""
    return tuple(
        _distribution(words, f"distribution-{place}", entry)
        for place, entry in enumerate(run["figures"]["distributions"], start=1)
    )


def _distribution(words: Words, identifier: str, entry: Mapping[str, Any]) -> DistributionView:
    known = shares(words, entry)
    figure = distribution(words, known) if known.rows else None
    gap = _gap(words, known.gap)
    return DistributionView(
        id=identifier,
        name=known.column,
        figure=figure,
        alt=words("report.distributions.alt", column=known.column, gap=gap),
        gap=gap,
        label=words(
            "report.distributions.level" if known.edges is None else "report.distributions.range"
        ),
        rows=tuple(
            (share.label, _percent(words, share.originals), _percent(words, share.avatars))
            for share in known.rows + known.apart
        ),
    )


def _percent(words: Words, value: float | None) -> str:
    return words("report.distributions.hidden") if value is None else words.value(value, "%")


def _gap(words: Words, gap: Gap | None) -> str:
    if gap is None:
        return words("report.distributions.gap_none")
    if round(gap.points, 1) == 0:  # as it would be shown
        return words("report.distributions.gap_zero")
    points = words.count("format.points", gap.points, digits=1)
    return words("report.distributions.gap", gap=points, where=gap.label)
