"""Results of analyses, and the JSON that holds them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from sosie.audits.intervals import wilson
from sosie.audits.results import plain
from sosie.errors import Reason
from sosie.studies.agreement import Agreement
from sosie.studies.combining import Rule
from sosie.studies.curves import Curve, LogRank
from sosie.studies.plan import Kind
from sosie.studies.screen import Screen

__all__ = ["RATIOS", "SCHEMA", "Analyses", "Analysis", "Cell"]

SCHEMA = "sosie/analyses/1"

RATIOS = ("odds", "logistic", "cox")
"""Models whose estimates are logarithms of ratios."""

DIGITS = 6
"""Of floats in JSON: more than any table prints, too few to tell one person's value."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table by groups.

    Attributes
    ----------
    group, value : of the group and of the outcome.
    original : people; None where they are fewer than k.
    avatars : rows, one number for each release.
    """

    group: str
    value: str
    original: int | None
    avatars: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "group": self.group,
            "value": self.value,
            "original": self.original,
            "avatars": self.avatars,
        }


@dataclass(frozen=True)
class Analysis:
    """One analysis on originals and avatars.

    Attributes
    ----------
    text : as it was written.
    model : ``mean``, ``share``, ``odds``, ``linear``, ``logistic`` or ``cox``.
    outcome, event : its columns.
    rows, dropped : complete originals, and those left out for a missing value.
    avatar_rows, avatar_dropped : of all releases together.
    references : category -> the level that others are compared with.
    terms : the coefficients, () where the originals can't be analysed or shown.
    small_groups : groups of fewer than k originals, which are left out and not named.
    cells : of ``odds``, the tables.
    curves, log_rank : of ``cox`` with one category alone.
    reason : why there is nothing to compare, else None.
    """

    text: str
    model: Kind
    outcome: Hashable
    event: Hashable | None
    rows: int
    dropped: int
    avatar_rows: int
    avatar_dropped: int
    references: Mapping[Hashable, str]
    terms: tuple[Agreement, ...] = ()
    small_groups: int = 0
    cells: tuple[Cell, ...] = ()
    curves: tuple[Curve, ...] = ()
    log_rank: LogRank | None = None
    reason: Reason | None = None

    @property
    def ratio(self) -> bool:
        """Whether estimates are logarithms of ratios, which readers know better."""
        return self.model in RATIOS

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found: dict[str, Any] = {
            "text": self.text,
            "model": self.model,
            "outcome": self.outcome,
            "event": self.event,
            "scale": "log_ratio" if self.ratio else "value",
            "rows": {"originals": self.rows, "avatars": self.avatar_rows},
            "dropped": {"originals": self.dropped, "avatars": self.avatar_dropped},
            "references": {str(name): level for name, level in self.references.items()},
            "small_groups": self.small_groups,
            "reason": None if self.reason is None else self.reason.to_dict(),
            "terms": [term.to_dict() for term in self.terms],
        }
        if self.cells:
            found["cells"] = [cell.to_dict() for cell in self.cells]
        if self.curves:
            found["curves"] = [curve.to_dict() for curve in self.curves]
        if self.log_rank is not None:
            found["log_rank"] = self.log_rank.to_dict()
        return found


@dataclass(frozen=True)
class Analyses:
    """Every analysis of a study on originals and avatars.

    Attributes
    ----------
    analyses : in the order of the texts.
    screen : all pairs of columns, where asked for.
    rows, avatars : rows of the originals, and of the first release.
    releases : how many were combined.
    combination : the rule (see `sosie.studies.combining`).
    k : people a cell must hold to be shown.
    """

    analyses: tuple[Analysis, ...]
    screen: Screen | None
    rows: int
    avatars: int
    releases: int
    combination: Rule
    k: int

    @property
    def terms(self) -> tuple[Agreement, ...]:
        """The coefficients of all analyses that have a verdict."""
        every = [term for analysis in self.analyses for term in analysis.terms]
        return tuple(term for term in every if term.verdict is not None)

    @property
    def agreeing(self) -> float | None:
        """Share of terms whose avatar estimate lies in the originals' interval, in 0..1."""
        inside = [bool(term.inside) for term in self.terms]
        return sum(inside) / len(inside) if inside else None

    def to_dict(self) -> dict[str, Any]:
        """What ``analyses.json`` holds: no NaN, no infinity, nothing about one person."""
        terms = self.terms
        inside = sum(bool(term.inside) for term in terms)
        verdicts = ("confirmed", "compatible", "contradicted")
        share = self.agreeing
        found = {
            "schema": SCHEMA,
            "rows": self.rows,
            "avatars": self.avatars,
            "releases": self.releases,
            "combination": self.combination,
            "k": self.k,
            "level": 95,
            "agreement": {
                "terms": len(terms),
                "inside": inside,
                "share": None if share is None else 100 * share,
                "ci": None if share is None else [100 * end for end in wilson(inside, len(terms))],
                "verdicts": {v: sum(term.verdict == v for term in terms) for v in verdicts},
            },
            "analyses": [analysis.to_dict() for analysis in self.analyses],
            "screen": None if self.screen is None else self.screen.to_dict(),
        }
        told: dict[str, Any] = plain(found, DIGITS)
        return told
