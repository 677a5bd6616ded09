"""What is guaranteed, under which conditions, and what is not: one paragraph, and a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sosie.words import Words
from sosie.words.readings import reason

__all__ = ["GuaranteeView", "guarantee"]

CONDITIONS = ("secrets", "rows", "releases")
NOT_COVERED = ("attributes", "membership", "differencing", "file")


@dataclass(frozen=True)
class GuaranteeView:
    """The guarantee, as a reader sees it.

    Attributes
    ----------
    holds : whether something is guaranteed.
    statement : what, or why nothing is.
    conditions, not_covered : where it holds; empty where it does not.
    """

    holds: bool
    statement: str
    conditions: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()


def guarantee(words: Words, run: Mapping[str, Any]) -> GuaranteeView | None:
    """The guarantee of a run; None where its file says nothing of one."""
    told = run.get("guarantee")
    if not isinstance(told, Mapping):
        return None
    if not told.get("holds"):
        why = reason(words, told.get("reason"))
        return GuaranteeView(False, words("guarantee.broken", reason=why))
    statement = words(
        "guarantee.statement",
        bound=words.value(100 * told["bound"], "%"),
        smallest=words.number(told["smallest_group"]),
        groups=words.number(told["groups"]),
        people=words.number(told["people"]),
    )
    return GuaranteeView(
        True,
        statement,
        tuple(words(f"guarantee.conditions.{key}") for key in CONDITIONS),
        tuple(words(f"guarantee.not_covered.{key}") for key in NOT_COVERED),
    )
