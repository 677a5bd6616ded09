"""Shares of originals and avatars by bin or level, labelled: what a distribution shows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sosie.words import Words

__all__ = ["Gap", "Share", "Shares", "shares"]

LEVELS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Share:
    """One bin or level: shares in percent, None where hidden."""

    label: str
    originals: float | None
    avatars: float | None
    short: str | None = None
    """A shorter label for the figure."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The largest difference between originals and avatars, in points, and where."""

    points: float
    label: str


@dataclass(frozen=True, slots=True)
class Shares:
    """A column's distribution.

    ``rows`` are its bins or levels; ``apart`` those that have no place on the axis of a number
    (missing values). ``edges`` and ``widths`` (days for dates) are None for levels.
    """

    column: str
    rows: tuple[Share, ...]
    apart: tuple[Share, ...]
    edges: tuple[float | str, ...] | None = None
    widths: tuple[float, ...] | None = None
    dates: bool = False

    @property
    def gap(self) -> Gap | None:
        """Where originals and avatars differ most, among what is not hidden."""
        gaps = [
            Gap(abs(share.originals - share.avatars), share.label)
            for share in self.rows + self.apart
            if share.originals is not None and share.avatars is not None
        ]
        return max(gaps, key=lambda gap: gap.points, default=None)


def shares(words: Words, entry: Mapping[str, Any]) -> Shares:
    """Read an entry of ``figures.distributions`` of ``run.json``."""
    column = str(entry["column"])
    apart = _missing(words, entry)
    if entry.get("edges") is None:
        rows = _levels(words, entry)
        return Shares(column, (*rows, *apart), ())
    edges = tuple(entry["edges"])
    dates = entry.get("kind") == "date"
    labels = (
        _dates(words, edges) if dates else _numbers(words, edges, entry.get("kind") == "integer")
    )
    rows = tuple(
        Share(_bin(words, low, high), originals, avatars)
        for (low, high), originals, avatars in zip(
            labels, entry["originals"], entry["avatars"], strict=True
        )
    )
    widths = _widths(edges, dates)
    if min(widths, default=0) <= 0:  # a single value has no width to be drawn on
        return Shares(column, (*rows, *apart), ())
    return Shares(column, rows, apart, edges, widths, dates)


def _missing(words: Words, entry: Mapping[str, Any]) -> tuple[Share, ...]:
    missing = entry.get("missing")
    if not missing or not (missing.get("originals") or missing.get("avatars")):
        return ()
    return (Share(words("report.missing"), missing.get("originals"), missing.get("avatars")),)


def _levels(words: Words, entry: Mapping[str, Any]) -> tuple[Share, ...]:
    named = [
        Share(_level(words, level, entry.get("kind")), originals, avatars)
        for level, originals, avatars in zip(
            entry["levels"], entry["originals"], entry["avatars"], strict=True
        )
    ]
    rest: list[Share] = []
    if len(named) > LEVELS_SHOWN:
        ranked = sorted(named, key=lambda share: -(share.originals or 0))
        named, rest = ranked[:LEVELS_SHOWN], ranked[LEVELS_SHOWN:]
    if others := len(rest) + entry.get("other_levels", 0):
        label = words.count("report.distributions.others", others)
        named.append(_sum(label, [*rest, *_pool(entry, "other")]))
    for pool in ("rare", "new"):
        if n := entry.get(f"{pool}_levels"):
            label = words.count(f"report.distributions.{pool}", n)
            short = words.count(f"report.distributions.{pool}_short", n)
            named += [replace(share, label=label, short=short) for share in _pool(entry, pool)]
    return tuple(named)


def _level(words: Words, level: object, kind: object) -> str:
    if kind == "boolean" and str(level).lower() in {"true", "false"}:
        return words(f"format.{str(level).lower()}")
    return str(level) if str(level).strip() else words("format.blank")


def _pool(entry: Mapping[str, Any], pool: str) -> list[Share]:
    held = entry.get(pool)
    return [Share(pool, held.get("originals"), held.get("avatars"))] if held else []


def _sum(label: str, parts: Sequence[Share]) -> Share:
    return Share(
        label,
        sum(share.originals or 0 for share in parts),
        sum(share.avatars or 0 for share in parts),
    )


def _bin(words: Words, low: str, high: str) -> str:
    return low if low == high else words("report.distributions.bin", low=low, high=high)


def _numbers(words: Words, edges: Sequence[float], integer: bool) -> list[tuple[str, str]]:
    if integer and all(float(edge) % 1 == 0.5 for edge in edges):
        # Half edges of whole numbers: 17.5 to 22.5 holds 18 to 22.
        return [
            (words.number(low + 0.5), words.number(high - 0.5))
            for low, high in itertools.pairwise(edges)
        ]
    texts = _edge_texts(words, edges)
    return list(itertools.pairwise(texts))


def _edge_texts(words: Words, edges: Sequence[float]) -> list[str]:
    step = min((high - low for low, high in itertools.pairwise(edges)), default=1) or 1
    largest = max(map(abs, edges), default=0)
    for digits in range(7):
        if largest < 1e12 and all(abs(round(edge, digits) - edge) <= step / 50 for edge in edges):
            return [words.number(edge, digits) for edge in edges]
    decimal = words("format.decimal")
    return [f"{edge:.4g}".replace(".", decimal) for edge in edges]


def _dates(words: Words, edges: Sequence[str]) -> list[tuple[str, str]]:
    texts = [words.day(edge) for edge in edges]
    return list(itertools.pairwise(texts))


def _widths(edges: Sequence[Any], dates: bool) -> tuple[float, ...]:
    if not dates:
        return tuple(float(high - low) for low, high in itertools.pairwise(edges))
    instants = [datetime.fromisoformat(edge) for edge in edges]
    instants = [instant.replace(tzinfo=instant.tzinfo or UTC) for instant in instants]
    return tuple(
        (high - low).total_seconds() / 86_400 for low, high in itertools.pairwise(instants)
    )
