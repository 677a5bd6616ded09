"""What held for every original: found by one rule, kind by kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from sosie.data.constraints.columns import Columns, Name
from sosie.data.constraints.formulas import Formula, find_formulas, find_intervals
from sosie.data.constraints.labels import find_bands, find_labels
from sosie.data.constraints.levels import find_exclusions, find_one_hot
from sosie.data.constraints.orders import find_orders
from sosie.data.constraints.rule import FEWEST_BROKEN, Constraint
from sosie.data.constraints.sums import Sum, find_sums
from sosie.data.table import Table

__all__ = ["MOST_COLUMNS", "find_constraints"]

MOST_COLUMNS = 300
"""Columns of the widest table that is looked at: pairs and triples of more take longer than all
else."""


@np.errstate(over="ignore", invalid="ignore")  # squares of 1e300: nothing is found there
def find_constraints(table: object, k: int = 10) -> tuple[Constraint, ...]:
    """Statements that hold in every row and that chance would break in twenty.

    A statement is tried on 2,048 rows, and what they don't contradict on all: what is found does
    not hang on which rows these are. Memory is linear in the rows, one column at a time.

    Parameters
    ----------
    table : a dataframe, or a `Table`.
    k : people who must hold a level for it to count.

    Returns
    -------
    tuple of Constraint
        Labels first, then one-hot groups, sums, formulas, orders, and pairs of levels that never
        meet; what others imply is left out. None of a table of more than `MOST_COLUMNS`.

    Examples
    --------
    >>> import polars as pl
    >>> price, count = [2.5 + i % 7 for i in range(60)], [1 + i % 11 for i in range(60)]
    >>> paid = [p * c for p, c in zip(price, count)]
    >>> table = pl.DataFrame({"price": price, "count": count, "paid": paid})
    >>> [constraint.text for constraint in find_constraints(table)]
    ['paid = price * count']
    """
    encoded = table if isinstance(table, Table) else Table.of(table)
    columns = Columns.of(encoded)
    if len(columns) < FEWEST_BROKEN or len(encoded.columns) > MOST_COLUMNS:
        return ()
    sample = columns.sample()
    bands = list(find_bands(columns, sample, k))
    ranged = {constraint.columns for constraint in bands}
    labels = [c for c in find_labels(columns, sample, k) if c.columns not in ranged]
    labels, copies = _one_way([*bands, *labels])
    groups = list(find_one_hot(columns, sample))
    sums = list(find_sums(columns, sample))
    formulas = [*find_intervals(columns, sample), *find_formulas(columns, sample)]
    more_known = _parts_of(columns, sums) | {
        pair for c in formulas if isinstance(c.rule, Formula) for pair in permutations(c.columns, 2)
    }
    orders = list(_direct(columns, find_orders(columns, sample, more_known)))
    known = {frozenset(constraint.columns) for constraint in labels}
    known |= {frozenset(pair) for group in groups for pair in combinations(group.columns, 2)}
    exclusions = find_exclusions(columns, k, known, copies)
    return (*labels, *groups, *sums, *formulas, *orders, *exclusions)


def _one_way(labels: Sequence[Constraint]) -> tuple[list[Constraint], set[Name]]:
    """Of a code and a label that imply each other, the first as the code, and those labels.

    Nothing more is told of a label that says its code again.
    """
    every = {constraint.columns for constraint in labels}
    copies: set[Name] = set()
    for code, label in (constraint.columns for constraint in labels):
        if (label, code) in every and code not in copies:
            copies.add(label)
    return [constraint for constraint in labels if constraint.columns[0] not in copies], copies


def _parts_of(columns: Columns, sums: Iterable[Constraint]) -> set[tuple[Name, Name]]:
    """Parts and their totals: a part is under its total where none is negative."""
    return {
        (part, constraint.rule.total)
        for constraint in sums
        if isinstance(constraint.rule, Sum)
        and not any((columns.numbers(name) < 0).any() for name in constraint.rule.parts)
        for part in constraint.rule.parts
    }


def _direct(columns: Columns, orders: Iterable[Constraint]) -> Iterator[Constraint]:
    """Orders that no others imply: a <= c follows from a <= b <= c where b is never missing."""
    held = {constraint.columns: constraint for constraint in orders}
    for (low, high), constraint in held.items():
        through = [n for n in columns.encoded if (low, n) in held and (n, high) in held]
        if all(columns.missing(name).any() for name in through):
            yield constraint
