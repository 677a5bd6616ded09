"""How constraints are kept: a smaller table for the method, and all columns back from its avatars.

- A column that others give is left out and computed again. Where it is missing otherwise than with
  them, it stays in the table, and is overwritten where it can be computed.
- Of columns in order, the one with the least scale stays; each other is told as its distance from
  those already there, which is never negative: ``b = a + gap``, ``b = c - gap``, or the share of
  the way between two.
- One-hot columns become one category.
- Levels that never meet are drawn together (`Plan.linked`); where two meet all the same, one is
  drawn again given the other.

Columns are restored one after the other, each from those before it: there are no cycles.

What is published stays within the originals' closed range, from the mean of the k smallest to that
of the k greatest values, for columns in order; the order itself comes first. A computed column is a
function of published ones: it tells nothing more than they do, and may leave the originals' range
(a sum of parts that were large in different people).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from sosie.data import frames
from sosie.data.constraints.columns import Columns, Name
from sosie.data.constraints.discovery import find_constraints
from sosie.data.constraints.expressions import parse_derivation, parse_order
from sosie.data.constraints.graph import Graph, drawn_together, missing_together
from sosie.data.constraints.levels import Exclusion
from sosie.data.constraints.rule import Constraint, Rule
from sosie.data.constraints.steps import Computed, Joined, Mended, Placed, Restored, Step
from sosie.data.table import Roles, Table

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """What the method sees of a table, and the way back.

    Attributes
    ----------
    table : the originals.
    constraints : what is kept, or at least counted.
    steps : in the order in which columns are restored.
    linked : groups of categories to be drawn together.
    unkept : constraints that no step keeps. They follow from the others or are left to the method.
    together : groups of columns that are missing in the same rows: their presence is best drawn
        once.

    Examples
    --------
    >>> import polars as pl
    >>> low = [i % 17 for i in range(300)]
    >>> table = pl.DataFrame({"low": low, "high": [v + i % 12 for i, v in enumerate(low)]})
    >>> plan = Plan.of(Table.of(table))
    >>> plan.forward(table).row(20), table.row(20)
    ((3, 8), (3, 11))
    >>> plan.backward(plan.forward(table)).row(20)
    (3, 11)
    """

    table: Table
    constraints: tuple[Constraint, ...]
    steps: tuple[Step, ...]
    linked: tuple[tuple[Name, ...], ...] = ()
    unkept: tuple[Constraint, ...] = ()
    together: tuple[tuple[Name, ...], ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        k: int = 10,
        *,
        orders: Sequence[str] = (),
        derivations: Sequence[str] = (),
        found: bool = True,
        known: Collection[Constraint] | None = None,
        fixed: Collection[Name] = (),
    ) -> Self:
        """Plan a table.

        Parameters
        ----------
        k : people who must hold a level for it to count, and whose mean closes a range.
        orders, derivations : what the user says, as ``--order`` and ``--derive`` take it.
        found : whether constraints are also looked for (``--no-constraints`` says no).
        known : what was found of a table of which these are some rows, instead of looking again.
        fixed : columns that the method sees as they are: others are restored from them.

        Raises
        ------
        InputError
            An order or a formula can't be read.
        """
        columns = Columns.of(table)
        own: list[Rule] = [parse_derivation(text, columns) for text in derivations]
        own += [parse_order(text, columns) for text in orders]
        said = [Constraint(rule, found=False) for rule in own]
        outputs = {c.columns for c in said}
        if known is None:
            known = find_constraints(table, k) if found else ()
        constraints = (*said, *(c for c in known if c.columns not in outputs))
        return cls._planned(table, columns, constraints, k, fixed)

    @classmethod
    def _planned(
        cls,
        table: Table,
        columns: Columns,
        constraints: tuple[Constraint, ...],
        k: int,
        fixed: Collection[Name],
    ) -> Self:
        graph = Graph(table, columns, k, fixed)
        # One-hot columns first: they are one category, whatever else is known of one of them.
        for constraint in sorted(constraints, key=lambda c: (c.found, c.kind != "onehot")):
            graph.add(constraint.rule)
        steps = graph.steps()
        unkept = tuple(c for c in constraints if not graph.keeps(c.rule))
        exclusions = [c.rule for c in constraints if isinstance(c.rule, Exclusion)]
        linked = drawn_together(columns, exclusions, graph.taken, k)
        return cls(table, constraints, steps, linked, unkept, missing_together(columns))

    @cached_property
    def columns(self) -> Columns:
        """The originals, to be calculated with."""
        return Columns.of(self.table)

    @property
    def left_out(self) -> tuple[Name, ...]:
        """Columns that the method does not see."""
        names: list[Name] = []
        for step in self.steps:
            if isinstance(step, Computed) and step.left_out:
                names.append(step.output)
            elif isinstance(step, Joined):
                names.extend(step.columns[1:])
        return tuple(names)

    def roles(self) -> Roles:
        """The user's roles for the smaller table."""
        roles = self.table.roles
        gone = {*self.left_out}
        told = {step.told for step in self.steps if isinstance(step, Placed | Joined)}
        linked = tuple(
            group
            for whole in (*roles.linked, *self.linked)
            if len(group := tuple(name for name in whole if name not in gone)) > 1
        )
        return replace(
            roles,
            categorical=tuple(n for n in roles.categorical if n not in gone | told),
            numeric=tuple(n for n in roles.numeric if n not in gone | told),
            date={n: form for n, form in roles.date.items() if n not in gone | told},
            weights={n: weight for n, weight in roles.weights.items() if n not in gone},
            linked=linked,
        )

    # ------------------------------------------------------------ there

    def forward(self, frame: object | None = None) -> Any:
        """The table that the method sees, of the same kind.

        Parameters
        ----------
        frame : people encoded like the originals, such as a holdout; None for the originals.
        """
        table = self.table if frame is None else self.table.like(frame)
        columns = self.columns if frame is None else Columns.of(table)
        native: dict[Name, Any] = {
            name: frames.column(table.frame, name).to_native()
            for name in table.frame.columns
            if name not in self.left_out
        }
        for step in self.steps:
            if isinstance(step, Placed | Joined):
                native[step.told] = step.tell(table.frame, columns)
        return frames.assemble(table.frame, native)

    # ------------------------------------------------------------ and back

    def backward(self, avatars: object, seed: int = 0) -> Any:
        """All columns, from avatars of the smaller table.

        Parameters
        ----------
        avatars : of the kind of the originals, with the columns of `forward`.
        seed : of the few levels that are drawn again.

        Returns
        -------
        dataframe
            The columns of the originals in their order, with their dtypes.
        """
        told = {step.told for step in self.steps if isinstance(step, Placed | Joined)}
        restored = Restored(self.table, self.columns, frames.wrap(avatars), {*told, *self.left_out})
        draws = np.random.default_rng(seed)
        for step in self.steps:
            if isinstance(step, Mended):
                step.restore(restored, draws)
            else:
                step.restore(restored)
        return restored.frame()
