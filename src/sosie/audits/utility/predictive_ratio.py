"""Predictive ratio: whether models trained on avatars hold for real people."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from sosie.audits.comparison import Comparison, compared
from sosie.audits.definition import Definition, Swept
from sosie.audits.histograms import quantile_edges
from sosie.audits.intervals import jackknife_interval
from sosie.audits.ranking import area_under_curve
from sosie.audits.reasons import NO_HOLDOUT, TOO_FEW_COLUMNS, TOO_FEW_PEOPLE
from sosie.audits.results import Metric, json_name
from sosie.audits.twins import Fold
from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Column, Levels, Numbers, Table
from sosie.errors import InputError, Reason
from sosie.latent.famd import CrossProduct, Layout

__all__ = ["DEFINITION", "on_twins", "predictive_ratio"]

DEFINITION = Definition(
    "predictive_ratio",
    "%",
    "higher",
    "utility",
    place=40,
    needs=("holdout", "two_columns"),
    options=("outcomes",),
    advice=("weight", "more_components", "lower_k"),
    swept=Swept(best=100.0, allowed=10.0),
)

FEWEST = 20
"""Fewer people can't test a model."""

MOST_LEVELS = 50
"""Columns of more levels neither predict nor are predicted."""

STEPS = 10
"""Bins of a number, beside the number itself: what it does need not be linear."""

MOST_BINNED = 100
"""Of more numbers only the numbers themselves: time grows with the cube of what a model sees."""

PENALTY = 1e-3
"""Of the ridge, as a share of the rows: too small to be seen, large enough to invert by."""

LEAST_QUALITY = 0.02
"""Whatever the people: a model of less than this is of no use to anybody."""


def weakest(people: int) -> float:
    """Quality below which a column has nothing to lose: what chance reaches among so many.

    >>> weakest(400), weakest(1_000_000)
    (0.1, 0.02)
    """
    return max(LEAST_QUALITY, 2 / sqrt(people))


def predictive_ratio(
    originals: object,
    avatars: object | None = None,
    *,
    holdout: object | None = None,
    outcomes: Sequence[Hashable] | None = None,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Quality of models trained on avatars, against that of models trained on originals.

    Each column is predicted from all others by ridge regression on numbers, their deciles
    and the levels of categories, trained once on avatars and once on originals, and
    tested on people set aside before the avatars were made. The quality of a number is
    R^2, that of a category the mean of ``2 AUC - 1`` over its levels, weighted by their
    shares: both are 0 by chance. The metric is 100 times the sum of the qualities with
    avatars over the sum with originals, each counted as 0 where it is negative.

    In percent; higher is better; 100 means that nothing was lost; no published target.
    Of more than 100 numbers no deciles are taken.
    Columns of more than 50 levels are left out, and so are outcomes that even originals
    predict no better than chance could among those set aside (0.02, or 2 / sqrt(people)).

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars, holdout : the same columns. Without 20 people set aside there is no value.
    outcomes : columns to predict; by default each in turn.
    target : None for no target.

    Returns
    -------
    Metric
        ``columns`` holds ``column``, ``measure`` (``r2`` or ``gini``), ``originals``,
        ``avatars`` (the two qualities) and ``ratio`` in percent; greatest loss first.

    Raises
    ------
    InputError
        A column of `outcomes` is absent.

    Notes
    -----
    Source: Esteban, Hyland and Ratsch, arXiv 1706.02633 (2017), for training on synthetic
    and testing on real data.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(60)]}).with_columns(y=2 * pl.col("x"))
    >>> strangers = people.select(pl.all() + 0.5)
    >>> round(predictive_ratio(people, people, holdout=strangers).value, 6)
    100.0
    """
    comparison = compared(originals, avatars, aligned=False, holdout=holdout)
    if comparison.holdout is None:
        return DEFINITION.unavailable(NO_HOLDOUT, target=target)
    if len(comparison.holdout) < FEWEST:
        return DEFINITION.unavailable(TOO_FEW_PEOPLE, target=target)
    usable = [column.name for column in comparison.originals.columns if _usable(column)]
    for name in outcomes or ():
        if name not in comparison.originals.names:
            raise InputError(f"there is no column {name!r} to predict")
    if len(usable) < 2:
        return DEFINITION.unavailable(TOO_FEW_COLUMNS, target=target)
    models = _Models.of(comparison, comparison.holdout, usable)
    records = [
        record
        for name in usable
        if outcomes is None or name in outcomes
        if (record := models.record(name)) is not None
    ]
    if not records:
        return DEFINITION.unavailable(Reason("nothing_predicted"), target=target)
    kept, whole = (sum(record[key] for record in records) for key in ("avatars", "originals"))
    ranked = sorted(records, key=lambda record: float(record["avatars"] - record["originals"]))
    return DEFINITION.result(100 * kept / whole, target=target, columns=tuple(ranked))


def on_twins(
    folds: Sequence[Fold],
    *,
    outcomes: Sequence[Hashable] | None = None,
    target: float | None = DEFINITION.target,
) -> Metric:
    """The same where everyone's avatars are published: see `sosie.audits.twins`.

    Qualities are means over the five folds; the interval is that of the jackknife, each fold
    left out in turn, with Student's law of four degrees of freedom.
    """
    each = [predictive_ratio(fold.comparison, outcomes=outcomes) for fold in folds]
    if (lacking := next((one for one in each if one.value is None), None)) is not None:
        return replace(lacking, target=target)
    sums = np.array([[sum(r[key] for r in one.columns) for key in _QUALITIES] for one in each])
    left_out = sums.sum(axis=0) - sums
    ratio = float(100 * sums[:, 0].sum() / sums[:, 1].sum())
    ci = jackknife_interval(ratio, 100 * left_out[:, 0] / left_out[:, 1])
    records = [
        _together([r for one in each for r in one.columns if r["column"] == name])
        for name in dict.fromkeys(r["column"] for one in each for r in one.columns)
    ]
    ranked = sorted(records, key=lambda record: float(record["avatars"] - record["originals"]))
    return DEFINITION.result(ratio, target=target, ci=ci, columns=tuple(ranked))


_QUALITIES = ("avatars", "originals")


def _together(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One record of those of several folds."""
    kept, whole = (float(np.mean([record[key] for record in records])) for key in _QUALITIES)
    means = {"originals": whole, "avatars": kept, "ratio": 100 * kept / whole}
    return {**records[0], **means}


@dataclass(frozen=True)
class _Trained:
    """All ridge regressions of one table: of any columns on all the others.

    Attributes
    ----------
    mean : (w,) float64, of the expanded columns.
    precision : (w, w) float64, inverse of their covariance plus the penalty.
    """

    mean: Floats
    precision: Floats

    @classmethod
    def of(cls, layout: Layout, table: Table) -> _Trained:
        total = CrossProduct(layout).add(table).total
        total = total if isinstance(total, np.ndarray) else total.toarray()
        mean = total[0] / total[0, 0]
        covariance = total / total[0, 0] - np.outer(mean, mean)
        return cls(mean, np.linalg.inv(covariance + PENALTY * np.eye(len(mean))))

    def predicted(self, rows: Floats, own: Ints) -> Floats:
        """Expanded columns `own` of some rows from all their others, ``(n, len(own))``.

        With P the inverse of the penalised covariance, split into the columns S to predict
        and the others F, the slopes are ``-P_FS P_SS^-1``: one inverse serves all.
        """
        slopes = -np.linalg.solve(self.precision[np.ix_(own, own)], self.precision[own]).T
        slopes[own] = 0
        return np.asarray((rows - self.mean) @ slopes + self.mean[own])


@dataclass(frozen=True)
class _Models:
    """Models of every column, trained on originals and on avatars.

    Attributes
    ----------
    layout : the expanded columns, of the originals.
    tables, trained : originals and avatars, enriched, and their models.
    test, rows : people set aside, enriched, and their expanded rows.
    """

    layout: Layout
    tables: tuple[Table, Table]
    trained: tuple[_Trained, _Trained]
    test: Table
    rows: Floats

    @classmethod
    def of(cls, comparison: Comparison, holdout: Table, usable: Sequence[Hashable]) -> _Models:
        numbers = comparison.originals.select(usable).numbers
        edges = {
            column.name: quantile_edges(column.values[~column.missing], STEPS)
            for column in (numbers if len(numbers) <= MOST_BINNED else ())
        }
        originals, avatars, test = (
            _enriched(table.select(usable), edges)
            for table in (comparison.originals, comparison.avatars, holdout)
        )
        layout = Layout.of(originals)
        trained = _Trained.of(layout, originals), _Trained.of(layout, avatars)
        return cls(layout, (originals, avatars), trained, test, _expanded(layout, test))

    def record(self, name: Hashable) -> dict[str, Any] | None:
        """Qualities of the two models of one column; None where there is nothing to lose."""
        whole, kept = (self._quality(name, which) for which in (0, 1))
        if whole is None or whole < weakest(len(self.rows)):
            return None
        kept = max(0.0, kept or 0.0)
        return {
            "column": json_name(name),
            "measure": "r2" if isinstance(self.test.column(name), Numbers) else "gini",
            "originals": whole,
            "avatars": kept,
            "ratio": 100 * kept / whole,
        }

    def _quality(self, name: Hashable, which: int) -> float | None:
        """Quality of the model of a column trained on one of the tables."""
        trained, column = self.trained[which], self.tables[which].column(name)
        if isinstance(column, Numbers) and column.missing.any():
            present = np.flatnonzero(~column.missing)
            if not len(present):
                return 0.0
            # Rows without the outcome have nothing to teach.
            trained = _Trained.of(self.layout, self.tables[which].encoded_rows(present))
        outcome = self.test.column(name)
        if isinstance(outcome, Numbers):
            own = [1 + self.layout.names.index(name)]
            hidden = [*own, *self._indicators(name), *self._indicators((name, "bin"))]
            predicted = trained.predicted(self.rows, np.array(hidden))
            return _r_squared(self.rows[:, own[0]], predicted[:, 0], ~outcome.missing)
        return _gini(outcome, trained.predicted(self.rows, np.array(self._indicators(name))))

    def _indicators(self, name: Hashable) -> list[int]:
        """Expanded columns of the levels of a category, or of what is missing."""
        blocks = [block for block in self.layout.blocks if block.name == name]
        return [i for block in blocks for i in range(block.start, block.start + block.size)]


def _usable(column: Column) -> bool:
    if isinstance(column, Levels):
        return 2 <= len(column.labels) <= MOST_LEVELS
    return bool(np.unique(column.values[~column.missing]).size > 1)


def _enriched(table: Table, edges: dict[Hashable, Floats]) -> Table:
    """The same table with the bin of each number as one more category."""
    binned = tuple(
        Levels(
            name=(column.name, "bin"),
            kind="category",
            codes=np.where(
                column.missing,
                len(edges[column.name]) + 1,
                np.searchsorted(edges[column.name], column.values, side="left"),
            ).astype(np.uint8),
            labels=tuple(str(i) for i in range(len(edges[column.name]) + 2)),
            first=np.empty(0, dtype=np.int64),
        )
        for column in table.numbers
        if column.name in edges
    )
    return replace(table, columns=(*table.columns, *binned))


def _expanded(layout: Layout, table: Table) -> Floats:
    """Rows as the cross-product sees them, ``(n, width)``."""
    everyone = slice(0, len(table))
    rows = np.zeros((len(table), layout.width))
    rows[:, 0] = 1
    rows[:, 1 : 1 + len(layout.names)] = layout.numbers(table, everyone)
    for block, codes in layout.codes(table, everyone):
        seen = np.flatnonzero(codes < block.size)
        rows[seen, block.start + codes[seen].astype(np.int64)] = 1
    return rows


def _r_squared(actual: Floats, predicted: Floats, present: Any) -> float | None:
    """1 - squared error / variance, of those who have a value; None where it does not vary."""
    actual, predicted = actual[present], predicted[present]
    total = np.square(actual - actual.mean()).sum() if len(actual) else 0.0
    if total <= 0:
        return None
    return float(1 - np.square(actual - predicted).sum() / total)


def _gini(outcome: Levels, predicted: Floats) -> float | None:
    """Mean of 2 AUC - 1 over levels, by share; None where everyone has the same."""
    scores, shares = [], []
    for code in range(predicted.shape[1]):
        own = outcome.codes == code
        if 0 < own.sum() < len(own):
            score = predicted[:, code]
            scores.append(2 * area_under_curve(score[own], score[~own]) - 1)
            shares.append(own.sum())
    return float(np.average(scores, weights=shares)) if scores else None
