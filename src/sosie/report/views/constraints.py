"""What holds between columns, and whether avatars keep it: one row a statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sosie.words import Words
from sosie.words.readings import reason

__all__ = ["ConstraintRow", "constraints"]


class ConstraintRow(NamedTuple):
    """A statement, its kind, where it comes from, and the avatars that contradict it."""

    text: str
    kind: str
    origin: str
    avatars: str
    kept: bool


def constraints(words: Words, run: Mapping[str, Any]) -> tuple[ConstraintRow, ...]:
    """The constraints of ``run.json``; none where the file says nothing of them."""
    return tuple(
        ConstraintRow(
            reason(words, told.get("phrase")) or str(told["text"]),
            words.get(f"constraints.kinds.{told['kind']}", str(told["kind"])),
            ", ".join(
                words(f"constraints.{key}")
                for key in (
                    "found" if told["found"] else "said",
                    "kept" if told["kept"] else "unkept",
                )
            ),
            words.value(100 * told["avatars"], "%"),
            bool(told["kept"]),
        )
        for told in run.get("constraints", ())
    )
