"""What a release is gathered into, and which column of the table each array is."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints

__all__ = ["Gathered", "Layout", "Vote"]


class Vote(Protocol):
    """A category, or linked ones that are drawn together.

    Attributes
    ----------
    names : the columns that it decides.
    parts : for linked columns, ``(L, columns) int64``: the code of each; else None.
    """

    @property
    def names(self) -> tuple[Hashable, ...]: ...  # noqa: D102 (above)

    @property
    def parts(self) -> Ints | None: ...  # noqa: D102 (above)


@dataclass(frozen=True)
class Layout:
    """Which columns the arrays of `Gathered` are of, in their order."""

    votes: Sequence[Vote]
    numbers: Sequence[Hashable]


@dataclass(frozen=True)
class Gathered:
    """Avatars, place by place: codes of what was voted on, values of the numbers."""

    codes: list[NDArray[Any]]
    values: list[Floats]
