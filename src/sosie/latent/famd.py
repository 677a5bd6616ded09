"""Factor analysis of mixed data (FAMD), from additive sufficient statistics.

Source: Pages, J. (2004), Analyse factorielle de données mixtes, Revue de statistique
appliquée 52(4). A number becomes ``(x - mean) / sd`` (ddof 0); the indicator of a level
with share p becomes ``(d - p) / sqrt(p)``; a column of weight w is multiplied by
``sqrt(w)``. Coordinates are projections on the eigenvectors of the covariance of the
result. All-numeric tables give a principal component analysis, all-categorical ones a
multiple correspondence analysis.

A missing number is imputed by the mean and carries a missing/present indicator; a
missing category is a level of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import MEMORY, Storage
from sosie.compute.sums import WholeSum, mean_of
from sosie.compute.threads import each_part, one_blas_thread
from sosie.data.table import Column, Levels, Table
from sosie.errors import InputError, Reason
from sosie.latent.common_levels import MOST_LEVELS, CommonLevels

__all__ = ["FAMD", "MOST_DENSE", "CrossProduct", "Layout", "Outline", "Reconstruction"]

MOST_DENSE = 1_500
"""Above so many indicators the cross-product is kept sparse and solved by iteration."""

FORGET = 1 << 18
"""Rows after which memory that is also on disk is let go."""

MOST_ITERATIONS = 40
MOST_ITERATED = 30

MOST_NARROW = 48
"""Columns of more levels are multiplied by sparse indicators."""

COARSE, FINE = 2.0**18, 2.0**20
"""A number is two whole ones: 18 bits of its column's reach, and 20 bits of what is left."""


@dataclass(frozen=True)
class Block:
    """The indicators of one column: its levels, or present/missing for a number."""

    name: Hashable
    start: int
    size: int
    presence: bool
    weight: float
    code: Ints | None = field(default=None, compare=False, repr=False)
    """Which indicator stands for each code of the column, and last for those of unseen levels;
    None where each level has its own."""


@dataclass(frozen=True)
class Layout:
    """Which column of the expanded table comes from where.

    The expanded row is ``[1, numbers, indicators]``. Numbers are put on a provisional
    scale (mean and sd of the table the layout was made from), so that sums of
    cross-products keep their precision whatever the units.

    Attributes
    ----------
    names : the numeric columns.
    centre, scale : (p,) float64, provisional mean and sd; scale is 1 for a constant column.
    reach : (p,) float64, powers of two that no provisional score of that table exceeds.
    weights : (p,) float64.
    blocks : indicators, in order.
    """

    names: tuple[Hashable, ...]
    centre: Floats
    scale: Floats
    reach: Floats
    weights: Floats
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, table: Table, weights: Mapping[Hashable, float] | None = None) -> Self:
        """The layout of a table: one pass for the moments of its numbers."""
        return cls.from_outlines(list(_outlines(table)), weights)

    @classmethod
    def from_outlines(
        cls, outlines: Sequence[Outline], weights: Mapping[Hashable, float] | None = None
    ) -> Self:
        """The layout of columns that are not held."""
        weights = weights or {}
        numbers = [outline for outline in outlines if outline.levels is None]
        start, indicators = 1 + len(numbers), []
        for outline in outlines:
            presence = outline.levels is None
            if presence and not outline.missing:
                continue
            size = outline.levels or 2
            weight = weights.get(outline.name, 1.0)
            indicators.append(Block(outline.name, start, size, presence, weight))
            start += size
        return cls(
            names=tuple(outline.name for outline in numbers),
            centre=np.array([outline.mean for outline in numbers]),
            scale=np.array([outline.sd or 1.0 for outline in numbers]),
            reach=np.array([outline.reach for outline in numbers]),
            weights=np.array([weights.get(outline.name, 1.0) for outline in numbers]),
            blocks=tuple(indicators),
        )

    def of_common(self, levels: CommonLevels) -> Self:
        """The same, but of a column of many levels all that are rare have one indicator."""
        start, blocks = 1 + len(self.names), []
        for block in self.blocks:
            code = None if block.presence else levels.codes.get(block.name)
            size = block.size if code is None else MOST_LEVELS
            blocks.append(replace(block, start=start, size=size, code=code))
            start += size
        return replace(self, blocks=tuple(blocks))

    @property
    def width(self) -> int:
        """Columns of the expanded table, the leading 1 included."""
        return 1 + len(self.names) + sum(block.size for block in self.blocks)

    def numbers(self, table: Table, rows: slice) -> Floats:
        """Provisional scores of the numbers, ``(m, p) float64``; 0 where missing."""
        scores = np.empty((rows.stop - rows.start, len(self.names)))
        for i, name in enumerate(self.names):
            values = table.number(name).values[rows]
            # Divided before subtracting: the difference of two values of 1e308 overflows.
            scores[:, i] = values / self.scale[i] - self.centre[i] / self.scale[i]
        return np.nan_to_num(scores, copy=False, nan=0.0)

    def codes(self, table: Table, rows: slice) -> Iterator[tuple[Block, NDArray[Any]]]:
        """Codes of each block for some rows, ``(m,)``; from the block's size on, unseen levels."""
        for block in self.blocks:
            column = table.column(block.name)
            if isinstance(column, Levels):
                codes = column.codes[rows]
                yield block, codes if block.code is None else block.code.take(codes, mode="clip")
            else:
                yield block, np.isnan(column.values[rows]).view(np.uint8)


@dataclass(frozen=True)
class Outline:
    """What the layout needs to know of a column.

    Attributes
    ----------
    levels : how many, or None for a number.
    missing : whether a number has missing values.
    mean, sd : of what is present.
    reach : a power of two above the largest absolute score.
    """

    name: Hashable
    levels: int | None
    missing: bool = False
    mean: float = 0.0
    sd: float = 0.0
    reach: float = 1.0

    @classmethod
    def of(cls, column: Column) -> Self:
        """The outline of a whole column."""
        if isinstance(column, Levels):
            return cls(column.name, len(column.labels))
        return cls(column.name, None, bool(column.missing.any()), *_moments(column.values))


def _outlines(table: Table) -> Iterator[Outline]:
    for column in table.columns:
        yield Outline.of(column)
        table.storage.forget()


def _moments(values: Floats) -> tuple[float, float, float]:
    """Mean and sd of what is present, and a power of two above its largest absolute score."""
    present = values[~np.isnan(values)]
    low, high = float(present.min(initial=np.inf)), float(present.max(initial=-np.inf))
    largest = max(-low, high)
    if low >= high or largest == 0:
        return (low if len(present) else 0.0), 0.0, 1.0
    present /= largest  # squares of 1e300 overflow, of 1e-300 vanish
    mean = mean_of(present)  # groups follow from it, and must not from the order of rows
    present -= mean
    farthest = float(max(present.max(), -present.min()))
    present /= farthest or 1.0
    sd = farthest * float(np.sqrt(mean_of(np.square(present, out=present))))
    reach = max(high / largest - mean, mean - low / largest) / sd if sd else 1.0
    return mean * largest, sd * largest, 2.0 ** int(np.frexp(reach)[1])


class CrossProduct:
    """Sum of the outer products of expanded rows: all that FAMD needs to know of the data.

    Additive: tables can be added one after the other (the releases of an attack, the
    parts of a file) and are never held together. Numbers are rounded to 2^-39 of their
    column's reach and added as whole numbers, so a sum is exact and does not depend on
    the order of adding: any partition of the same rows gives the same bits. Columns of
    few levels are multiplied densely; those of many (postcodes) by their sparse
    indicators, so that time does not grow with the square of the number of levels.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        wide = [block for block in layout.blocks if block.size > MOST_NARROW]
        taken = np.ones(layout.width, dtype=bool)
        for block in wide:
            taken[block.start : block.start + block.size] = False
        self._wide = tuple(wide)
        self._places = np.flatnonzero(taken)
        # Among the narrow columns, of which each number is two.
        self._local = np.cumsum(taken) - 1 + len(layout.names)
        self._width = len(self._places) + len(layout.names)
        self._adding = Lock()
        self.restore(None)

    def restore(self, total: Any) -> Self:
        """Start again from the `total` of an earlier cross-product of the same layout."""
        self._narrow = WholeSum((self._width, self._width))
        self._mixed = [np.zeros((block.size, self._width)) for block in self._wide]
        self._pairs: dict[tuple[int, int], Any] = {}
        self._before = total
        return self

    @property
    def dense(self) -> bool:
        """Whether `total` is a dense array."""
        return self.layout.width <= MOST_DENSE

    def add(self, table: Table, threads: int = 1) -> Self:
        """Add the rows of a table, in blocks of 16,384."""

        def block(rows: slice) -> None:
            expanded, wide = self._expand(table, rows)
            product = expanded.T @ expanded
            mixed = [indicators.T @ expanded for indicators in wide]
            pairs = {(i, j): wide[i].T @ wide[j] for i in range(len(wide)) for j in range(i)}
            self._narrow.add(product)
            with self._adding:
                self._add_wide(mixed, pairs)

        with one_blas_thread():
            each_part(block, len(table), BLOCK, threads, FORGET, table.storage.forget)
        return self

    def merge(self, other: CrossProduct) -> Self:
        """Add what another one of the same layout holds."""
        self._narrow.merge(other._narrow)
        self._add_wide(other._mixed, other._pairs)
        return self

    def _add_wide(self, mixed: list[Any], pairs: Mapping[tuple[int, int], Any]) -> None:
        for held, more in zip(self._mixed, mixed, strict=True):
            np.add(held, more, out=held)
        for key, pair in pairs.items():
            before = self._pairs.get(key)
            self._pairs[key] = pair if before is None else before + pair

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_adding"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _adding=Lock())

    def _expand(self, table: Table, rows: slice) -> tuple[Floats, list[Any]]:
        """The narrow part of some expanded rows, and the sparse indicators of each wide column.

        Every entry is a whole number: each number is two, in units of its column's reach.
        """
        count, numbers = rows.stop - rows.start, len(self.layout.names)
        expanded = np.zeros((count, self._width))
        expanded[:, 0] = 1
        scores = self.layout.numbers(table, rows)
        scores *= COARSE / self.layout.reach
        coarse = expanded[:, 1 : 1 + numbers]
        np.rint(scores, out=coarse)
        scores -= coarse
        scores *= FINE
        np.rint(scores, out=expanded[:, 1 + numbers : 1 + 2 * numbers])
        flat, offset, wide = expanded.reshape(-1), np.arange(count) * self._width, []
        for block, codes in self.layout.codes(table, rows):
            seen = codes < block.size
            if block in self._wide:
                wide.append(_indicators(codes, seen, block.size))
            else:
                flat[(offset + self._local[block.start] + codes)[seen]] = 1
        return expanded, wide

    def _scores(self, whole: Floats) -> Floats:
        """From whole numbers back to scores, along the last axis."""
        numbers = len(self.layout.names)
        coarse = whole[..., 1 : 1 + numbers]
        fine = whole[..., 1 + numbers : 1 + 2 * numbers]
        scores = (coarse + fine / FINE) * (self.layout.reach / COARSE)
        return np.concatenate([whole[..., :1], scores, whole[..., 1 + 2 * numbers :]], axis=-1)

    @property
    def total(self) -> Any:
        """(width, width) float64, a dense array or a scipy sparse one."""
        own = self._assembled()
        return own if self._before is None else own + self._before

    def _assembled(self) -> Any:
        narrow = self._scores(self._scores(self._narrow.total).T)
        mixed_scores = [self._scores(mixed) for mixed in self._mixed]
        starts = [slice(block.start, block.start + block.size) for block in self._wide]
        counts = [mixed[:, 0] for mixed in self._mixed]  # the product with the leading 1
        if self.dense:
            total = np.zeros((self.layout.width, self.layout.width))
            total[np.ix_(self._places, self._places)] = narrow
            for rows, mixed, count in zip(starts, mixed_scores, counts, strict=True):
                total[rows, self._places] = mixed
                total[self._places, rows] = mixed.T
                total[rows, rows] = np.diag(count)
            for (i, j), pair in self._pairs.items():
                total[starts[i], starts[j]] = pair.toarray()
                total[starts[j], starts[i]] = pair.toarray().T
            return total
        from scipy import sparse

        grid: list[list[Any]] = [[None] * (len(starts) + 1) for _ in range(len(starts) + 1)]
        grid[0][0] = sparse.csr_array(narrow)
        for i, (mixed, count) in enumerate(zip(mixed_scores, counts, strict=True), start=1):
            grid[i][0], grid[0][i] = sparse.csr_array(mixed), sparse.csr_array(mixed.T)
            grid[i][i] = sparse.diags_array(count)
        for (i, j), pair in self._pairs.items():
            grid[i + 1][j + 1], grid[j + 1][i + 1] = pair, pair.T
        order = np.concatenate([self._places, *(np.arange(s.start, s.stop) for s in starts)])
        back = np.argsort(order)
        return sparse.block_array(grid, format="csr")[back][:, back]


def _indicators(codes: NDArray[Any], seen: Mask, size: int) -> Any:
    """One row a person, a single 1 at their level; nothing where it is unseen."""
    from scipy import sparse

    ends = np.concatenate([[0], np.cumsum(seen)])
    return sparse.csr_array(
        (np.ones(ends[-1]), codes[seen].astype(np.int32), ends), shape=(len(codes), size)
    )


@dataclass(frozen=True)
class Reconstruction:
    """What a latent point stands for.

    Attributes
    ----------
    numbers : column -> (m,) float64, in units of the column's grid.
    shares : column -> (m, L) float64, the share of each level (for a number with missing
        values: present, missing); rows sum to 1 when all components are used.
    """

    numbers: Mapping[Hashable, Floats]
    shares: Mapping[Hashable, Floats]


@dataclass(frozen=True)
class FAMD:
    """A fitted factor analysis of mixed data.

    Attributes
    ----------
    layout : where each expanded column comes from.
    mean, scale : (width - 1,) float64, of the expanded columns on the provisional scale;
        scale is sqrt(p) for an indicator and infinite for a column that does not vary.
    loadings : (width - 1, d) float64, orthonormal; the sign makes the largest entry positive.
    eigenvalues : (d,) float64, variances of the coordinates, falling.
    inertia : total variance.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"x": [float(i) for i in range(20)]}))
    >>> famd = FAMD.fit(table, components=5)
    >>> famd.transform(table).shape, round(float(famd.eigenvalues[0]), 6)
    ((20, 1), 1.0)
    """

    layout: Layout
    mean: Floats
    scale: Floats
    loadings: Floats
    eigenvalues: Floats
    inertia: float

    @classmethod
    def fit(
        cls,
        table: Table,
        components: int | None = 5,
        weights: Mapping[Hashable, float] | None = None,
        threads: int = 1,
    ) -> FAMD:
        """Fit on one table; `components` None asks for all (at most the rank are kept).

        Raises
        ------
        InputError
            No column varies, or `components` is below 1.
        """
        layout = Layout.of(table, weights)
        return cls.solve(CrossProduct(layout).add(table, threads), components)

    @classmethod
    def solve(cls, product: CrossProduct, components: int | None = 5) -> FAMD:
        """Fit from accumulated statistics."""
        if components is not None and components < 1:
            raise InputError(f"components must be at least 1, got {components}")
        layout, total = product.layout, product.total
        count = float(total[0, 0])
        first = total[[0], :]
        mean = np.asarray(first if product.dense else first.toarray()).ravel()[1:] / count
        scale = _scale(layout, total, mean, count)
        factor = np.sqrt(_weights(layout)) / scale
        varies = factor > 0
        if not varies.any():
            raise InputError(
                "no column varies, so there is no distance between people and nothing to avatarize",
                reason=Reason("nothing_varies"),
            )
        if product.dense:
            covariance = (total[1:, 1:] / count - np.outer(mean, mean)) * np.outer(factor, factor)
            values, vectors = _leading(covariance, components)
            inertia = float(np.trace(covariance))
        else:
            values, vectors, inertia = _iterated(total[1:, 1:], count, mean, factor, components)
        order = np.argsort(-values, kind="stable")[
            : len(values) if components is None else components
        ]
        order = order[values[order] > 1e-10 * values.max()]
        vectors = vectors[:, order]
        # Rounded: of entries that are equal but for roundoff, the first decides the sign.
        largest = np.argmax(np.abs(vectors).round(9), axis=0)
        vectors = vectors * np.sign(vectors[largest, np.arange(len(order))])
        return cls(layout, mean, scale, vectors, values[order], inertia)

    @property
    def components(self) -> int:
        """Number of components kept."""
        return int(self.loadings.shape[1])

    @property
    def explained(self) -> Floats:
        """Share of the total inertia of each component, ``(d,)``, in 0..1."""
        return self.eigenvalues / self.inertia

    def first(self, components: int) -> FAMD:
        """The same analysis with fewer components."""
        return FAMD(
            self.layout,
            self.mean,
            self.scale,
            self.loadings[:, :components],
            self.eigenvalues[:components],
            self.inertia,
        )

    @cached_property
    def _slopes(self) -> Floats:
        """(width - 1, d): what one unit of an expanded column adds to the coordinates."""
        return (np.sqrt(_weights(self.layout)) / self.scale)[:, None] * self.loadings

    @cached_property
    def _constant(self) -> Floats:
        """(d,): the coordinates of a row of zeros."""
        return np.asarray(-(self.mean[:, None] * self._slopes).sum(axis=0))

    def transform(self, table: Table, threads: int = 1, storage: Storage = MEMORY) -> Floats:
        """Coordinates of the rows of a table, ``(n, d) float64``.

        Each row is computed alone, by the same operations in the same order, so equal
        rows have equal coordinates to the last bit, wherever they stand.
        """
        coordinates = storage.empty((len(table), self.components), np.float64)
        unseen = np.zeros((1, self.components))
        lookups = {
            block: np.vstack([self._slopes[block.start - 1 : block.start - 1 + block.size], unseen])
            for block in self.layout.blocks
        }

        def project(rows: slice) -> None:
            part = np.tile(self._constant, (rows.stop - rows.start, 1))
            scores = self.layout.numbers(table, rows)
            for i, slope in enumerate(self._slopes[: scores.shape[1]]):
                part += scores[:, i, None] * slope
            for block, codes in self.layout.codes(table, rows):
                part += lookups[block].take(codes, axis=0, mode="clip")
            coordinates[rows] = part

        each_part(project, len(table), BLOCK, threads, FORGET, table.storage.forget)
        return coordinates

    def inverse_transform(self, coordinates: Floats) -> Reconstruction:
        """What points of the latent space stand for; exact with all components.

        Parameters
        ----------
        coordinates : (m, d) float64.
        """
        factor = np.sqrt(_weights(self.layout)) / self.scale
        stretch = np.divide(1.0, factor, out=np.zeros_like(factor), where=factor > 0)
        expanded = coordinates @ self.loadings.T * stretch + self.mean
        numbers = {
            name: expanded[:, i] * self.layout.scale[i] + self.layout.centre[i]
            for i, name in enumerate(self.layout.names)
        }
        shares = {
            block.name: expanded[:, block.start - 1 : block.start - 1 + block.size]
            for block in self.layout.blocks
        }
        return Reconstruction(numbers, shares)

    def contributions(self) -> Mapping[Hashable, Floats]:
        """Share of each component that comes from each column, ``column -> (d,)``; sums to 1."""
        squares = np.square(self.loadings)
        shares: dict[Hashable, Floats] = {
            name: squares[i].copy() for i, name in enumerate(self.layout.names)
        }
        for block in self.layout.blocks:
            part = squares[block.start - 1 : block.start - 1 + block.size].sum(axis=0)
            shares[block.name] = shares.get(block.name, 0.0) + part
        return shares


def _leading(covariance: Floats, components: int | None) -> tuple[Floats, Floats]:
    """Eigenpairs of the largest eigenvalues; a few of many are found in a third of the time."""
    size = len(covariance)
    if components is not None and 4 * components <= size:
        from scipy.linalg import eigh

        values, vectors = eigh(covariance, subset_by_index=(size - components, size - 1))
        if len(values) == components:  # of many that are equal, LAPACK may lose those asked for
            return np.asarray(values), np.asarray(vectors)
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(values), np.asarray(vectors)


def _weights(layout: Layout) -> Floats:
    """Weight of every expanded column but the leading 1."""
    return np.concatenate(
        [layout.weights, *(np.full(block.size, block.weight) for block in layout.blocks)]
    )


def _scale(layout: Layout, total: Any, mean: Floats, count: float) -> Floats:
    """Standard deviation of the numbers' present values, sqrt(p) of the indicators."""
    squares = np.asarray(total.diagonal())[1:] / count
    scale = np.sqrt(np.maximum(mean, 0.0))  # of an indicator with share p
    numbers = len(layout.names)
    variance = squares[:numbers] - np.square(mean[:numbers])
    present = np.ones(numbers)
    for block in layout.blocks:
        if block.presence:
            present[layout.names.index(block.name)] = mean[block.start - 1]
    scale[:numbers] = np.sqrt(np.maximum(variance, 0.0) / np.maximum(present, 1 / count))
    # A column that does not vary has no direction: an infinite scale takes it out.
    varies = np.concatenate([variance > 1e-20, (mean[numbers:] > 0) & (mean[numbers:] < 1)])
    return np.where(varies, scale, np.inf)


def _iterated(
    product: Any, count: float, mean: Floats, factor: Floats, components: int | None
) -> tuple[Floats, Floats, float]:
    """Leading eigenpairs of the scaled covariance without forming it (LOBPCG).

    Thousands of near-equal eigenvalues are the rule here (each level that one person
    holds has one), which a Lanczos iteration resolves slowly and a block one passes by.
    """
    from scipy.sparse.linalg import LinearOperator, lobpcg

    def multiply(vectors: Floats) -> Floats:
        scaled = factor[:, None] * vectors.reshape(len(factor), -1)
        centred = product @ scaled / count - np.outer(mean, mean @ scaled)
        return np.asarray(factor[:, None] * centred)

    size = len(mean)
    wanted = min(components or MOST_ITERATED, size // 5)
    operator = LinearOperator((size, size), matvec=multiply, matmat=multiply, dtype=np.float64)
    # Fixed, so that the answer does not vary; one more than wanted, so that the last converges.
    start = np.random.default_rng(0).standard_normal((size, min(wanted + 1, size // 5)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # near-equal eigenvalues need not settle
        values, vectors = lobpcg(operator, start, tol=1e-6, maxiter=MOST_ITERATIONS, largest=True)
    diagonal = np.asarray(product.diagonal()) / count - np.square(mean)
    inertia = float((diagonal * np.square(factor)).sum())
    return np.asarray(values[:wanted]), np.real(vectors[:, :wanted]), inertia
