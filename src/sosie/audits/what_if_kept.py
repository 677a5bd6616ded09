"""Keeping columns: what leaving some as they are would do, and what to do instead."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from sosie.audits.comparison import Comparison, compared, encoded
from sosie.audits.definition import Definition
from sosie.audits.privacy.column_direct_match_protection import (
    column_direct_match_protection,
    column_record,
    distinct_values,
)
from sosie.audits.privacy.hidden_rate import hidden_rate
from sosie.audits.privacy.local_cloaking import local_cloaking
from sosie.audits.privacy.row_direct_match_protection import row_direct_match_protection
from sosie.audits.results import Metric
from sosie.data.table import Column, Numbers, Roles, Table
from sosie.errors import InputError

__all__ = ["Advice", "what_if_kept"]

Advice = Literal["keep", "include", "coarsen", "drop"]

KEPT = Definition("what_if_kept", "%", "higher", "singling_out", 50.0, needs=("aligned",))

MEASURES = (
    column_direct_match_protection,
    hidden_rate,
    local_cloaking,
    row_direct_match_protection,
)

UNIQUE = 0.9
"""A column with so many distinct values a person is an identifier in all but name."""


def what_if_kept(
    originals: object,
    avatars: object | None = None,
    *,
    columns: Sequence[Hashable] | None = None,
    roles: Roles | None = None,
    target: float | None = KEPT.target,
    components: int = 5,
) -> Metric:
    """What columns would reveal if they were kept unchanged, and what to do instead.

    From the originals alone, before anything is made: a column kept row by row matches
    everywhere, so its `column_direct_match_protection` is ``100 (1 - u_c / n)``, `u_c`
    being its number of distinct values, missing included.

    With aligned avatars the other metrics are measured as well, with the column put back
    into them: ``hidden_rate``, ``local_cloaking`` and ``row_direct_match_protection``. (A
    column that is kept from the start takes no part in choosing the neighbours, so that
    other avatars come out; how far people can be found hardly changes.)

    Parameters
    ----------
    originals : any dataframe, or a `Table`; or a `Comparison`, declared aligned.
    avatars : aligned; None for the formula alone.
    columns : a set to keep, measured one by one and together; by default each alone.
    roles : columns to leave out (``drop``, ``id``) and types that are forced.
    target : of the protection, below which columns are flagged; None for no target.
    components : dimensions of the latent space.

    Returns
    -------
    Metric
        The value is the protection of the column that would reveal most. ``columns`` ranks
        them, as in `column_direct_match_protection`, with an ``advice``: ``drop`` (an
        identifier), ``coarsen`` (too many distinct values), ``include`` (the column would
        take another metric below its target: make avatars of it) or ``keep``. With
        avatars, ``now`` and, where `columns` are given, ``together`` hold the metrics
        without and with all of them.

    Raises
    ------
    InputError
        A column is absent, or the tables can't be compared.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"name": ["a", "b", "c", "d"], "sex": ["F", "M", "F", "M"]})
    >>> [(c["column"], c["protection"], c["advice"]) for c in what_if_kept(people).columns]
    [('name', 0.0, 'drop'), ('sex', 50.0, 'keep')]
    """
    if avatars is None and not isinstance(originals, Comparison):
        table = encoded(originals, roles)
        return _ranked(
            [_record(c, len(table), target, {}) for c in _chosen(table, columns)], target
        )
    comparison = compared(originals, avatars, aligned=True, roles=roles, components=components)
    if (reason := comparison.lacks(*KEPT.needs)) is not None:
        return KEPT.unavailable(reason, target=target)
    rows, chosen = len(comparison), _chosen(comparison.originals, columns)
    now = _measured(comparison, target)
    records = []
    for column in chosen:
        kept = _measured(comparison.with_avatars(_put_back(comparison, [column.name])), target)
        below = any(_fell(now[key], kept[key]) for key in now)
        records.append(_record(column, rows, target, _values(kept), below=below))
    detail: dict[str, Any] = {"now": _values(now)}
    if columns is not None:
        names = [column.name for column in chosen]
        together = comparison.with_avatars(_put_back(comparison, names))
        detail["together"] = _values(_measured(together, target))
    return _ranked(records, target, detail)


def _chosen(table: Table, columns: Sequence[Hashable] | None) -> list[Column]:
    for name in columns or ():
        if name not in table.names:
            raise InputError(f"there is no column {name!r} to keep")
    return [column for column in table.columns if columns is None or column.name in columns]


def _record(
    column: Column,
    rows: int,
    target: float | None,
    measured: Mapping[str, float | None],
    *,
    below: bool = False,
) -> dict[str, Any]:
    record = column_record(column.name, rows, distinct_values(column), rows, target)
    advice: Advice = "include" if below else "keep"
    if record["below_target"]:
        unique = record["distinct"] >= UNIQUE * rows and not _continuous(column)
        advice = "drop" if unique else "coarsen"
    others = {
        key: value for key, value in measured.items() if key != "column_direct_match_protection"
    }
    return record | others | {"advice": advice}


def _continuous(column: Column) -> bool:
    """Whether all values may differ without being anyone's name: measures do."""
    return isinstance(column, Numbers) and column.kind == "number"


def _measured(comparison: Comparison, target: float | None) -> dict[str, Metric]:
    goals = {"target": target}
    return {
        measure.__name__: measure(comparison, **(goals if i == 0 else {}))
        for i, measure in enumerate(MEASURES)
    }


def _values(metrics: Mapping[str, Metric]) -> dict[str, float | None]:
    return {key: metric.value for key, metric in metrics.items()}


def _fell(now: Metric, kept: Metric) -> bool:
    """Whether a metric misses its target and did not, or is worse than its interval allows."""
    if kept.met is not False or now.value is None or kept.value is None:
        return False
    return now.met is True or (now.ci is not None and kept.value < now.ci[0])


def _put_back(comparison: Comparison, names: Sequence[Hashable]) -> Table:
    """The avatars with some columns as they are in the originals, row by row."""
    columns: list[Column] = []
    for before, after in zip(comparison.originals.columns, comparison.avatars.columns, strict=True):
        if after.name not in names:
            columns.append(after)
        elif isinstance(before, Numbers):
            columns.append(replace(before, values=np.tile(before.values, comparison.parts)))
        else:
            columns.append(replace(before, codes=np.tile(before.codes, comparison.parts)))
    return replace(comparison.avatars, columns=tuple(columns))


def _ranked(
    records: Sequence[dict[str, Any]], target: float | None, detail: Mapping[str, Any] | None = None
) -> Metric:
    """Columns by falling risk: protection where it matters, then the hidden rate."""
    columns = tuple(sorted(records, key=lambda record: float(record["protection"])))
    return KEPT.result(
        columns[0]["protection"], target=target, columns=columns, detail=detail or {}
    )
