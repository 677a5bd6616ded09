"""What holds between columns: one protocol for every kind, and what all kinds count with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Mask
from sosie.data.constraints.columns import Columns, Name
from sosie.data.table import Table

__all__ = [
    "FEWEST_BROKEN",
    "Constraint",
    "Derivation",
    "Kind",
    "Rule",
    "expected_distinct",
    "known",
    "off_grid",
    "said",
]

Kind = Literal["order", "sum", "formula", "label", "onehot", "exclusion"]

FEWEST_BROKEN = 20.0
"""Rows that shuffling a column would have to break: by chance none of them would be whole with a
probability of about exp(-20)."""

SHUFFLE_SEED = 20
"""Of the shuffle by which a formula's parts are tried; what is found does not hang on it."""


@dataclass(frozen=True)
class Derivation:
    """A column that can be computed from others."""

    output: Name
    inputs: tuple[Name, ...]


class Rule(Protocol):
    """A statement on a row. It says nothing on rows in which one of its columns is missing."""

    @property
    def kind(self) -> Kind:
        """What kind of statement."""

    @property
    def columns(self) -> tuple[Name, ...]:
        """The columns that it is about."""

    @property
    def text(self) -> str:
        """The statement, as a user would write it."""

    def broken(self, columns: Columns) -> Mask:
        """(n,) bool, the rows that contradict it."""

    def derivations(self) -> Sequence[Derivation]:
        """The columns that it gives when the others are known, best first; none for some kinds."""

    def computed(self, columns: Columns, output: Name, /) -> NDArray[Any]:
        """(n,) float64 in the units of `Columns.numbers`, NaN where missing.

        Where the output is a level: rows of the originals that hold it, int64, -1 where missing.
        """


@dataclass(frozen=True)
class Constraint:
    """What held for every original.

    Attributes
    ----------
    rule : the statement.
    found : whether it was found in the originals; otherwise the user said it.
    expected : rows that shuffling one of its columns would break, on average.

    Examples
    --------
    >>> import polars as pl
    >>> from sosie.data.constraints import Order
    >>> stays = pl.DataFrame({"admitted": [11, 12, 15], "discharged": [12, 11, 20]})
    >>> order = Constraint(Order("admitted", "discharged"))
    >>> order.text, order.broken(stays).tolist()
    ('admitted <= discharged', [False, True, False])
    """

    rule: Rule
    found: bool = True
    expected: float = 0.0

    @property
    def kind(self) -> Kind:
        """``order``, ``sum``, ``formula``, ``label``, ``onehot`` or ``exclusion``."""
        return self.rule.kind

    @property
    def columns(self) -> tuple[Name, ...]:
        """The columns that it is about."""
        return self.rule.columns

    @property
    def text(self) -> str:
        """The statement in one line."""
        return self.rule.text

    def broken(self, table: object) -> Mask:
        """The rows of a table that contradict it.

        Parameters
        ----------
        table : a dataframe, or a `Table` encoded like the originals.

        Returns
        -------
        (n,) bool
        """
        encoded = table if isinstance(table, Table) else Table.of(table)
        return self.rule.broken(Columns.of(encoded))

    def share(self, table: object) -> float:
        """The share of rows that contradict it, from 0 to 1."""
        return float(np.mean(self.broken(table)))

    def to_dict(self, *, kept: bool, originals: float, avatars: float) -> dict[str, Any]:
        """What ``run.json`` holds."""
        return {
            "kind": self.kind,
            "columns": [str(name) for name in self.columns],
            "text": self.text,
            "found": self.found,
            "kept": kept,
            "originals": originals,
            "avatars": avatars,
        }


def said(name: Name) -> str:
    """A column's name in a statement: in quotes where it is no plain word.

    >>> said("age"), said("age at entry"), said(3)
    ('age', '"age at entry"', '"3"')
    """
    text = str(name)
    return text if text.isidentifier() else f'"{text}"'


def known(*values: Floats) -> Mask:
    """Where no value is missing."""
    mask = ~np.isnan(values[0])
    for others in values[1:]:
        mask &= ~np.isnan(others)
    return mask


def off_grid(values: Floats, computed: Floats, grain: float) -> Mask:
    """Where a value is not what was computed, written in its own unit.

    Half a unit is what writing loses; a millionth of it, and some 1e-9 of the value, are lost in
    floating point. Missing values are never off.
    """
    slack = 0.5 * grain * (1 + 1e-6) + 1e-9 * np.abs(computed)
    return np.asarray(np.abs(values - computed) > slack)


def expected_distinct(codes: NDArray[Any]) -> float:
    """Rows that hold another value after a shuffle, on average: ``n (1 - sum p^2)``.

    >>> expected_distinct(np.array([0, 0, 1, 1]))
    2.0
    """
    size = len(codes)
    if not size:
        return 0.0
    counts = np.unique(codes, return_counts=True)[1].astype(np.float64)
    return float(size - (counts**2).sum() / size)


def shuffled(values: Floats) -> Floats:
    """The same values in another order."""
    return np.random.default_rng(SHUFFLE_SEED).permutation(values)
