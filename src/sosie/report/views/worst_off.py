"""Who fares worst: one row a level, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sosie.words import Words

__all__ = ["LevelRow", "WorstOffView", "worst_off"]


class LevelRow(NamedTuple):
    """A level, its people, and how far they are hidden."""

    level: str
    people: str
    rate: str
    interval: str
    cloaking: str


class WorstOffView(NamedTuple):
    """What was looked at, and the worst."""

    intro: str
    rows: tuple[LevelRow, ...]


def worst_off(words: Words, run: Mapping[str, Any]) -> WorstOffView | None:
    """Read ``figures.worst_off`` of ``run.json``; None where the file has none."""
    told = (run.get("figures") or {}).get("worst_off")
    if not told or not told["worst"]:
        return None
    intro = words.count(
        "worst_off.intro",
        told["levels"],
        least=words.number(told["least"]),
        rate=words.value(told["hidden_rate"], "%"),
    )
    rows = tuple(
        LevelRow(
            words("format.colon", label=row["column"], value=row["level"]),
            words.number(row["people"]),
            words.value(row["hidden_rate"], "%"),
            words.interval(row["ci"], "%"),
            words.value(row["local_cloaking"]),
        )
        for row in told["worst"]
    )
    return WorstOffView(intro, rows)
