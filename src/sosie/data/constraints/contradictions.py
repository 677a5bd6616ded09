"""How many avatars say what no original could: the computation behind the metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sosie.data.constraints.columns import Columns
from sosie.data.constraints.discovery import find_constraints
from sosie.data.constraints.rule import Constraint
from sosie.data.table import Table

__all__ = ["Contradictions", "contradictions"]


@dataclass(frozen=True)
class Contradictions:
    """What held for every original, and the avatars that break it.

    Attributes
    ----------
    value : share of avatars that break at least one, in percent; None where nothing was found to
        hold. Lower is better; the target is 0.
    constraints : what held for every original.
    shares : for each, the share of avatars that break it, in percent.
    """

    value: float | None
    constraints: tuple[Constraint, ...]
    shares: tuple[float, ...]


@np.errstate(over="ignore", invalid="ignore")
def contradictions(
    original: object, avatars: object, constraints: Sequence[Constraint] | None = None, k: int = 10
) -> Contradictions:
    """Share of avatars that break what held for all originals, ``100 mean_i [any broken]``.

    Parameters
    ----------
    original, avatars : dataframes of the same columns, or tables encoded alike.
    constraints : None finds them in the originals.
    k : people who must hold a level for it to count, where constraints are found.

    Examples
    --------
    >>> import polars as pl
    >>> low, high = [i % 50 for i in range(200)], [i % 50 + i // 20 for i in range(200)]
    >>> original = pl.DataFrame({"low": low, "high": high})
    >>> avatars = pl.DataFrame({"low": [1, 30, 40, 20], "high": [3, 29, 41, 22]})
    >>> contradictions(original, avatars).value
    25.0

    Raises
    ------
    InputError
        The tables have other columns.
    """
    table = original if isinstance(original, Table) else Table.of(original)
    held = find_constraints(table, k) if constraints is None else tuple(constraints)
    other = avatars if isinstance(avatars, Table) else table.like(avatars)
    if not held:
        return Contradictions(None, (), ())
    columns = Columns.of(other)
    broken = np.zeros(len(columns), dtype=bool)
    shares = []
    for constraint in held:
        rows = constraint.rule.broken(columns)
        shares.append(100 * float(rows.mean()))
        broken |= rows
    return Contradictions(100 * float(broken.mean()), held, tuple(shares))
