"""The ranking of columns by direct match protection, and what each would score if kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sosie.report.views.lists import Cell, listed
from sosie.words import Words

__all__ = ["ColumnRow", "ColumnsView", "columns"]


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """One column of the data. ``below`` and ``kept_below`` are None where it isn't known."""

    rank: Cell
    name: str
    nature: str
    matches: Cell
    distinct: Cell
    protection: Cell
    below: bool | None
    kept: Cell
    kept_below: bool | None


@dataclass(frozen=True, slots=True)
class ColumnsView:
    """All columns, riskiest first, and what to notice about them."""

    rows: tuple[ColumnRow, ...]
    below: tuple[str, ...]
    remarks: tuple[str, ...]


def columns(words: Words, run: Mapping[str, Any], audit: Mapping[str, Any]) -> ColumnsView:
    """Ranked columns of the audit, then those that only appear in ``what_if_kept``."""
    metric = audit["privacy"].get("column_direct_match_protection") or {}
    target = metric.get("target")
    ranked = {str(entry["column"]): entry for entry in metric.get("columns") or ()}
    kept = {str(entry["column"]): entry for entry in run["what_if_kept"]}
    described = {str(entry["name"]): entry for entry in run["columns"]}
    rest = sorted((name for name in kept if name not in ranked), key=lambda name: _risk(kept[name]))
    rows = tuple(
        _row(words, name, rank, ranked.get(name), kept.get(name), described.get(name, {}), target)
        for rank, name in enumerate([*ranked, *rest], start=1)
    )
    below = tuple(row.name for row in rows if row.below)
    return ColumnsView(rows, below, tuple(_remarks(words, rows, below, target)))


def _risk(entry: Mapping[str, Any]) -> float:
    protection = entry["protection"]
    return 101.0 if protection is None else float(protection)


def _row(
    words: Words,
    name: str,
    rank: int,
    ranked: Mapping[str, Any] | None,
    kept: Mapping[str, Any] | None,
    described: Mapping[str, Any],
    target: float | None,
) -> ColumnRow:
    def count(entry: Mapping[str, Any] | None, key: str) -> Cell:
        number = None if entry is None else entry.get(key)
        return Cell(words("format.none") if number is None else words.number(number), number)

    def protection(entry: Mapping[str, Any] | None) -> Cell:
        number = None if entry is None else entry.get("protection")
        return Cell(words.value(number, "%", target), number)

    kind, role = (str(described.get(key) or "") for key in ("kind", "role"))
    usual = "" if role == "avatar" else role
    nature = (words.get(f"kinds.{kind}", kind), words.get(f"roles.{role}", role) if usual else "")
    return ColumnRow(
        rank=Cell(words.number(rank), rank) if ranked else Cell(words("format.none"), None),
        name=name,
        nature=", ".join(text for text in nature if text),
        matches=count(ranked, "matches"),
        distinct=count(ranked, "distinct"),
        protection=protection(ranked),
        below=None if ranked is None else ranked.get("below_target"),
        kept=protection(kept),
        kept_below=None if kept is None else kept.get("below_target"),
    )


def _remarks(
    words: Words, rows: tuple[ColumnRow, ...], below: tuple[str, ...], target: float | None
) -> list[str]:
    remarks = []
    if target is not None:
        shown = words.target(target, "higher", "%")
        remarks.append(words("report.columns.target", target=shown))
    if below:
        remarks.append(words.count("report.columns.below", len(below), names=listed(words, below)))
    elif any(row.below is not None for row in rows):
        remarks.append(words("report.columns.all_ok"))
    kept_below = [row.name for row in rows if row.kept_below]
    if kept_below:
        names = listed(words, kept_below)
        remarks.append(words("report.columns.kept_below", names=names))
    elif any(row.kept_below is not None for row in rows):
        remarks.append(words("report.columns.kept_ok"))
    return remarks
