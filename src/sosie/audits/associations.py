"""Strength of the link between any two columns of a table, from one pass over its rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.compute.randomness import blocks as blocks_of
from sosie.data.table import Levels, Table
from sosie.latent.famd import CrossProduct, Layout

if TYPE_CHECKING:
    from sosie.audits.comparison import Comparison

__all__ = ["MEASURES", "Associations", "associations", "measures_of", "of_both"]


MEASURES = ("pearson", "correlation_ratio", "cramer_v")


SMALLEST = 1e-12
"""A variance below this, on the scale of 1, is that of a constant."""


@dataclass(frozen=True)
class Associations:
    """Strength of the link between any two columns.

    Attributes
    ----------
    names : the columns.
    matrix : (p, p) float64, symmetric: Pearson's correlation of two numbers (-1..1), the
        correlation ratio of a number and a category (0..1), Cramer's V of two categories
        (0..1); NaN where a column has one value only. 1 on the diagonal.
    """

    names: tuple[Hashable, ...]
    matrix: Floats


def associations(table: Table) -> Associations:
    """Every association of a table, from one pass over its rows.

    Pearson's correlation and the correlation ratio leave out rows where a number is
    missing; a missing category is a level.

    Notes
    -----
    Sources: Pearson 1895; Fisher 1925 (correlation ratio, the square root of the share of
    variance that lies between levels); Cramer 1946.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"x": [1, 2, 3] * 4, "y": ["a", "b", "c"] * 4}))
    >>> associations(table).matrix.round(6)
    array([[1., 1.],
           [1., 1.]])
    """
    layout = Layout.of(table)
    total = CrossProduct(layout).add(table).total
    blocks = {block.name: slice(block.start, block.start + block.size) for block in layout.blocks}
    numbers = {name: 1 + i for i, name in enumerate(layout.names)}
    pearson = _pearson(table)
    size = len(table.columns)
    matrix = np.eye(size)
    # Of a sparse product, whole columns are read far faster than their parts.
    by_column = total if isinstance(total, np.ndarray) else total.tocsc()
    everyone = _column(by_column, 0)
    for i, one in enumerate(table.names):
        if one in numbers:
            presence = blocks.get(one)
            counts = everyone if presence is None else _column(by_column, presence.start)
            sums, own = _column(by_column, numbers[one]), float(total[numbers[one], numbers[one]])
        for j, other in enumerate(table.names):
            if one in numbers and other in numbers:
                matrix[i, j] = pearson[numbers[one] - 1, numbers[other] - 1]
            elif one in numbers:
                levels = blocks[other]
                strength = _correlation_ratio(everyone[levels], counts[levels], sums[levels], own)
                matrix[i, j] = matrix[j, i] = strength
            elif other not in numbers and j <= i:
                strength = _cramer(total[blocks[one], blocks[other]])
                matrix[i, j] = matrix[j, i] = strength
    return Associations(table.names, matrix)


def of_both(comparison: Comparison) -> tuple[Associations, Associations]:
    """Associations of the originals and of the avatars, computed once."""
    shared = comparison.shared
    if "associations" not in shared:
        tables = comparison.originals, comparison.avatars
        shared["associations"] = tuple(map(associations, tables))
    before, after = shared["associations"]
    return before, after


def measures_of(table: Table) -> Ints:
    """Which of `MEASURES` serves each pair, ``(p, p) int64``."""
    is_level = np.array([isinstance(column, Levels) for column in table.columns], dtype=np.int64)
    return np.asarray(is_level[:, None] + is_level[None, :])


def _pearson(table: Table) -> Floats:
    """Correlations over the rows where both numbers are present, ``(p, p)``."""
    layout = Layout.of(table.select([column.name for column in table.numbers]))
    size = len(layout.names)
    count, cross, sums, squares = (np.zeros((size, size)) for _ in range(4))
    for _, rows in blocks_of(len(table)):
        scores = layout.numbers(table, rows)
        present = np.column_stack(
            [np.empty((len(scores), 0)), *(~column.missing[rows] for column in table.numbers)]
        ).astype(np.float64)
        cross += scores.T @ scores
        count += present.T @ present
        sums += scores.T @ present  # of each number where another is present
        squares += np.square(scores).T @ present
    with np.errstate(divide="ignore", invalid="ignore"):
        variation = squares - np.square(sums) / count
        variation[variation <= SMALLEST * count] = np.nan
        values = (cross - sums * sums.T / count) / np.sqrt(variation * variation.T)
    return np.clip(values, -1, 1)


def _correlation_ratio(people: Floats, counts: Floats, sums: Floats, squares: float) -> float:
    """Square root of the share of a number's variance that lies between levels.

    Parameters
    ----------
    people : (levels,) rows of each level.
    counts, sums : (levels,) of those in which the number is present, and the sum of its values.
    squares : sum of its squares.
    """
    present = counts > 0
    if present.sum() < 2 and (people > 0).sum() < 2:
        return np.nan
    grand = sums.sum() ** 2 / counts.sum() if present.any() else 0.0
    variation = squares - grand
    if variation <= SMALLEST * max(counts.sum(), 1):
        return np.nan
    between = float((np.square(sums[present]) / counts[present]).sum()) - grand
    return float(np.sqrt(np.clip(between / variation, 0, 1)))


def _cramer(table: Any) -> float:
    """Cramer's V of a contingency table, dense or sparse."""
    rows, columns = (np.asarray(table.sum(axis=axis)).ravel() for axis in (1, 0))
    degrees = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if degrees < 1:
        return np.nan
    if isinstance(table, np.ndarray):
        one, other = np.nonzero(table)
        counts = table[one, other]
    else:
        cells = table.tocoo()
        (one, other), counts = cells.coords, cells.data
    excess = float((np.square(counts) / (rows[one] * columns[other])).sum()) - 1
    return float(np.sqrt(np.clip(excess / degrees, 0, 1)))


def _column(total: Any, column: int) -> Floats:
    values = total[:, [column]]
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray()).ravel()
