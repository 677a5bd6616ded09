"""Mean and covariance of each person's avatars, accumulated release by release.

Nothing is stacked: a release is added and forgotten. FAMD coordinates are a linear map
of the encoded row, so where memory allows the moments are kept on the encoded columns
themselves, and the FAMD of any number of releases is applied afterwards: a whole curve
costs one pass. Where it does not, a first pass finds the FAMD of the whole stack and a
second one keeps the moments of its first coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sosie.attacks.sources import PART, Source
from sosie.attacks.store import Store
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.randomness import blocks
from sosie.compute.storage import MEMORY as IN_MEMORY
from sosie.compute.threads import each_part, one_blas_thread
from sosie.data.table import Numbers, Table
from sosie.latent.common_levels import CommonLevels
from sosie.latent.famd import FAMD, MOST_DENSE, CrossProduct, Layout

__all__ = [
    "CELLS",
    "MOMENTS",
    "MOST_COMPONENTS",
    "Cloud",
    "Expansion",
    "Moments",
    "Progress",
    "accumulate",
    "eigh",
    "is_bounded",
    "layout_of",
    "most_components",
    "pooled_columns",
    "rows_of",
    "space_of",
    "transformed",
]

MOMENTS = 250_000_000
"""Bytes that the covariances of all people may take in an attack, beyond two components."""

MOST_COMPONENTS = 40
"""Components of an attack where none are asked for. Later ones each stand for a rare level; on the
bundled cohort, with its 330 postcodes, every estimator finds fewer people with more than these."""

CELLS = 8_000_000
"""Numbers that a temporary array may hold."""

MEMORY = MOMENTS
"""Bytes that the covariances of all people may take."""

LASTING = 150_000_000
"""Bytes of everyone's covariances up to which what is worked out of them, a few times as much, is
kept: some 10,000 people in 40 components."""

T = TypeVar("T")
Progress = Callable[[int, int, str], None]


@dataclass
class Moments:
    """Running mean and scatter of each person's points (Welford).

    Attributes
    ----------
    count : points added for each person.
    mean : (n, q) float64.
    scatter : (n, q, q) float64, sum of the outer products of the deviations.
    """

    mean: Floats
    scatter: Floats
    count: int = 0

    @classmethod
    def empty(cls, people: int, width: int) -> Moments:
        """Nothing added yet."""
        return cls(np.zeros((people, width)), np.zeros((people, width, width)))

    def add(self, parts: Iterable[tuple[Ints, Floats]], threads: int = 1) -> None:
        """Add one point for each person.

        Parameters
        ----------
        parts : some people each, ``(m,)``, and their points, ``(m, q)``; together all people.
        """
        self.count += 1
        share = (self.count - 1) / self.count
        for people, points in parts:

            def work(some: slice, people: Ints = people, points: Floats = points) -> None:
                own = people[some]
                away = points[some] - self.mean[own]
                self.mean[own] += away / self.count
                self.scatter[own] += (away * share)[:, :, None] * away[:, None, :]

            each_part(work, len(people), 2048, threads)


class Expansion:
    """The encoded row as numbers: provisional scores, then indicators without each first level.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"sex": ["F", "M", "F"]}))
    >>> Expansion(Layout.of(table)).points(table).tolist()
    [[0.0], [1.0], [0.0]]
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return self.layout.width - 1 - len(self.layout.blocks)

    def points(self, table: Table) -> Floats:
        """Rows of a table, ``(n, width) float64``."""
        numbers = len(self.layout.names)
        points = np.zeros((len(table), self.width))
        for _, rows in blocks(len(table)):
            points[rows, :numbers] = self.layout.numbers(table, rows)
            at = numbers
            for block, codes in self.layout.codes(table, rows):
                for level in range(1, block.size):
                    points[rows, at] = codes == level
                    at += 1
        return points

    def onto(self, famd: FAMD) -> tuple[Floats, Floats]:
        """The map to FAMD coordinates: ``points @ slopes + constant``.

        Exact for rows without unseen levels.

        Returns
        -------
        slopes : (width, d) float64.
        constant : (d,) float64.
        """
        full = famd._slopes
        numbers = len(self.layout.names)
        parts, constant = [full[:numbers]], -famd.mean @ full
        for block in self.layout.blocks:
            levels = full[block.start - 1 : block.start - 1 + block.size]
            parts.append(levels[1:] - levels[0])
            constant = constant + levels[0]
        return np.vstack(parts), constant


def layout_of(originals: Table) -> Layout:
    """What an attacker's latent space is made of.

    Of a table of more than `MOST_DENSE` levels the rare ones of each column count as one: each
    would span an axis of few people, and avatars hardly have them.
    """
    layout = Layout.of(originals)
    if layout.width <= MOST_DENSE:
        return layout
    return layout.of_common(CommonLevels.of(originals))


def pooled_columns(originals: Table) -> list[Hashable]:
    """The columns whose rare levels count as one, see `layout_of`."""
    return [block.name for block in layout_of(originals).blocks if block.code is not None]


def space_of(originals: Table, components: int) -> FAMD:
    """An attacker's latent space, fitted on the originals."""
    return FAMD.solve(CrossProduct(layout_of(originals)).add(originals), components)


def rows_of(table: Table, rows: Ints) -> Table:
    """The encoded columns of some rows, in memory."""
    columns = tuple(
        replace(c, values=c.values[rows])
        if isinstance(c, Numbers)
        else replace(c, codes=c.codes[rows])
        for c in table.columns
    )
    table.storage.forget()
    return replace(table, columns=columns, storage=IN_MEMORY)


def transformed(famd: FAMD, table: Table, order: Ints, threads: int = 1) -> Floats:
    """Coordinates of all rows in some order, ``(n, d)``; they are never held twice."""
    place = _places(order)
    points = np.empty((len(order), famd.components))
    for start in range(0, len(order), PART):
        rows = np.arange(start, min(start + PART, len(order)))
        points[place[rows]] = famd.transform(rows_of(table, rows), threads)
    return points


def _places(order: Ints) -> Ints:
    """Where in an order each row is, ``(n,) int64``."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def eigh(matrices: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of many symmetric matrices.

    >>> values, _ = eigh(np.array([[[2.0, 0.0], [0.0, 1.0]]]))
    >>> values.tolist()
    [[1.0, 2.0]]
    """
    values, vectors = np.empty(matrices.shape[:2]), np.empty(matrices.shape)

    def work(part: slice) -> None:
        values[part], vectors[part] = np.linalg.eigh(matrices[part])

    with one_blas_thread():
        each_part(work, len(matrices), max(CELLS // (20 * matrices.shape[1] ** 2), 1), 0)
    return values, vectors


class Whitened(NamedTuple):
    """Covariances in whitened coordinates.

    Attributes
    ----------
    root : see `Cloud.root`.
    values : (n, w) float64, eigenvalues of each person's covariance there.
    vectors : (n, w, w) float64, their eigenvectors.
    """

    root: Floats
    values: Floats
    vectors: Floats


@dataclass(frozen=True)
class Cloud:
    """What t releases tell of each person, in the shared latent space.

    Attributes
    ----------
    releases : t.
    famd : fitted on the originals and the t releases stacked.
    means : (n, d) float64.
    covariances : (n, d, d) float64, unbiased.
    bounded : whether fewer components were kept than were asked for and the stack has.
    shared : (d, d) float64, the mean covariance of everyone, where these are some of the people.
    """

    releases: int
    famd: FAMD
    means: Floats
    covariances: Floats
    bounded: bool = False
    shared: Floats | None = None
    _kept: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def components(self) -> int:
        """Dimensions of the latent space, d."""
        return int(self.means.shape[1])

    @property
    def pooled(self) -> Floats:
        """(d, d) float64, the mean covariance of everyone."""
        if self.shared is not None:
            return self.shared
        return self._once("pooled", lambda: np.asarray(self.covariances.mean(axis=0)), small=True)

    @property
    def lasting(self) -> bool:
        """Whether what is worked out of everyone's covariances takes little memory to keep."""
        return self.covariances.nbytes <= LASTING

    def some(self, people: Ints) -> Cloud:
        """The same with some of the people only."""
        return replace(
            self,
            means=self.means[people],
            covariances=self.covariances[people],
            shared=self.pooled,
            _kept={},
        )

    @property
    def root(self) -> Floats:
        """(d, w) float64: ``points @ root`` has the identity as mean within-person covariance."""

        def make() -> Floats:
            values, vectors = np.linalg.eigh(self.pooled)
            # A direction in which nobody's avatars vary tells people apart: kept, floored.
            floor = 1e-6 * values[-1] if values[-1] > 0 else 1.0
            return np.asarray(vectors / np.sqrt(np.maximum(values, floor)))

        return self._once("root", make, small=True)

    @property
    def whitened(self) -> Whitened:
        """Covariances seen from where the mean within-person covariance is the identity.

        There, drawing a covariance towards the mean one only moves its eigenvalues, so
        one decomposition serves every amount of shrinkage.
        """
        root = self.root
        return self._once(
            "whitened", lambda: Whitened(root, *eigh(root.T @ (self.covariances @ root)))
        )

    @property
    def spectrum(self) -> tuple[Floats, Floats]:
        """Eigenvalues ``(n, d)``, rising, and eigenvectors ``(n, d, d)`` of the covariances."""
        return self._once("spectrum", lambda: eigh(self.covariances))

    @property
    def equal(self) -> Mask:
        """(n,) bool, people whose avatars are all equal: a covariance of rank 0."""
        spread = np.trace(self.covariances, axis1=1, axis2=2)
        return np.asarray(spread <= 1e-18 * (1 + np.square(self.means).max(axis=1)))

    def first(self, components: int) -> Cloud:
        """The same with fewer components."""
        if components >= self.components:
            return self
        few = self.covariances[:, :components, :components]
        return self._once(
            components,
            lambda: Cloud(
                self.releases,
                self.famd.first(components),
                np.ascontiguousarray(self.means[:, :components]),
                np.ascontiguousarray(few) if self.lasting else few,
                self.bounded,
                None if self.shared is None else self.shared[:components, :components],
            ),
        )

    def _once(self, name: object, make: Callable[[], T], *, small: bool = False) -> T:
        """Compute once, where keeping it takes little memory."""
        if not (small or self.lasting):
            return make()
        if name not in self._kept:
            self._kept[name] = make()
        found: T = self._kept[name]
        return found


def accumulate(
    source: Source,
    counts: Sequence[int],
    components: int | None,
    *,
    order: Ints,
    start: int = 0,
    store: Store | None = None,
    progress: Progress | None = None,
    memory: int = MEMORY,
) -> Iterator[Cloud]:
    """What an attacker knows after each of some numbers of releases.

    Parameters
    ----------
    counts : numbers of releases at which to stop and look, rising, each at least 2.
    components : coordinates to keep, as many as memory allows; None for all, up to 40.
    order : (n,) people in the order in which they appear in the cloud.
    start : number of the first release to draw.
    store : where to keep the moments after each release.
    progress : called with releases done, releases in all, and what is being done.
    memory : bytes that the covariances may take.

    Yields
    ------
    Cloud
        One for each count. Where memory allows, each with the FAMD of its own stack;
        else all with the FAMD of the stack of the last count.
    """
    layout = layout_of(source.originals)
    expansion = Expansion(layout)
    fits = len(order) * expansion.width**2 * 8 <= memory
    steps = counts[-1] * (1 if fits else 2)

    def tell(done: int) -> None:
        if progress:
            progress(done, steps, "releases")

    if fits:
        product = CrossProduct(layout).add(source.originals, source.threads)
        for moments in _each(source, counts, order, start, store, tell, expansion, product):
            famd = FAMD.solve(product, components or MOST_COMPONENTS)
            yield _projected(moments, expansion, famd, components)
        return
    product = _stack(source, counts[-1], start, store, tell)
    most = most_components(len(order), memory)
    famd = FAMD.solve(product, min(components or MOST_COMPONENTS, most))

    def tell_second(done: int) -> None:
        tell(counts[-1] + done)

    for moments in _each(source, counts, order, start, store, tell_second, famd, None):
        # The last time nothing is added any more, and nothing is copied.
        into = moments.scatter if moments.count == counts[-1] else None
        covariances = np.divide(moments.scatter, moments.count - 1, out=into)
        means = moments.mean.copy() if into is None else moments.mean
        yield Cloud(moments.count, famd, means, covariances, is_bounded(famd, components))


def is_bounded(famd: FAMD, components: int | None) -> bool:
    """Whether a FAMD has fewer components than were asked for (None: all), and leaves some out."""
    complete = famd.eigenvalues.sum() >= famd.inertia * (1 - 1e-9)
    return not complete and (components is None or famd.components < components)


def _each(
    source: Source,
    counts: Sequence[int],
    order: Ints,
    start: int,
    store: Store | None,
    tell: Callable[[int], None],
    onto: Expansion | FAMD,
    product: CrossProduct | None,
) -> Iterator[Moments]:
    """Add releases one by one, and stop at each count."""
    width = onto.width if isinstance(onto, Expansion) else onto.components
    place = _places(order)

    moments = Moments.empty(len(order), width)
    kept: Mapping[str, Any] = (store.load("moments") if store else None) or {"count": np.array(0)}
    reached = int(kept["count"])
    for count in (c for c in counts if c <= reached):
        at = store.load(f"moments-{count}") if store else None
        if at is None:  # a curve asked for a stop that the earlier run did not make
            reached = 0
            break
        _restore(at, moments, product)
        yield moments
    if reached:
        _restore(kept, moments, product)
    for t in range(reached, counts[-1]):
        moments.add(_points(source, start + t, place, onto, product), source.threads)
        stop = t + 1 in counts
        if store:
            arrays = _arrays(moments, product)
            store.save("moments", arrays, soon=not stop)
            if stop:
                store.save(f"moments-{t + 1}", arrays, soon=False)
        tell(t + 1)
        if stop:
            yield moments


def _points(
    source: Source,
    release: int,
    place: Ints,
    onto: Expansion | FAMD,
    product: CrossProduct | None,
) -> Iterator[tuple[Ints, Floats]]:
    """Some people at a time and their points of one release, which is added to the product."""
    for rows, table in source.parts(release):
        if product:
            product.add(table, source.threads)
        if isinstance(onto, Expansion):
            yield place[rows], onto.points(table)
        else:
            yield place[rows], onto.transform(table, source.threads)


def _arrays(moments: Moments, product: CrossProduct | None) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "count": moments.count,
        "mean": moments.mean,
        "scatter": moments.scatter,
    }
    return arrays if product is None else {**arrays, **_product_arrays(product)}


def _restore(arrays: Mapping[str, Any], moments: Moments, product: CrossProduct | None) -> None:
    moments.count = int(arrays["count"])
    moments.mean, moments.scatter = arrays["mean"].copy(), arrays["scatter"].copy()
    if product is not None:
        _restore_product(arrays, product)


def _stack(
    source: Source, last: int, start: int, store: Store | None, tell: Callable[[int], None]
) -> CrossProduct:
    """The cross-product of the originals and all releases."""
    product = CrossProduct(layout_of(source.originals)).add(source.originals, source.threads)
    kept: Mapping[str, Any] = (store.load("stack") if store else None) or {"count": np.array(0)}
    reached = int(kept["count"])
    if reached:
        _restore_product(kept, product)
    for t in range(reached, last):
        for _, table in source.parts(start + t):
            product.add(table, source.threads)
        if store:
            arrays: dict[str, Any] = {"count": t + 1, **_product_arrays(product)}
            store.save("stack", arrays, soon=t + 1 < last)
        tell(t + 1)
    return product


def _product_arrays(product: CrossProduct) -> dict[str, Any]:
    """A cross-product as arrays that can be saved."""
    total = product.total
    if product.dense:
        return {"total": total}
    coo = total.tocoo()
    return {"total": coo.data, "row": coo.coords[0], "column": coo.coords[1]}


def _restore_product(arrays: Mapping[str, Any], product: CrossProduct) -> None:
    """Put saved arrays back into a cross-product of the same layout."""
    if product.dense:
        product.restore(arrays["total"])
        return
    from scipy import sparse

    cells = (arrays["total"], (arrays["row"], arrays["column"]))
    width = product.layout.width
    product.restore(sparse.csr_array(cells, shape=(width, width)))


def _projected(moments: Moments, expansion: Expansion, famd: FAMD, components: int | None) -> Cloud:
    slopes, constant = expansion.onto(famd)
    means = moments.mean @ slopes + constant
    covariances = slopes.T @ (moments.scatter @ slopes) / (moments.count - 1)
    return Cloud(moments.count, famd, means, covariances, is_bounded(famd, components))


def most_components(rows: int, memory: int = MOMENTS) -> int:
    """Components whose covariances, of so many people, take so many bytes; at least 2.

    >>> most_components(200_000), most_components(1_000_000)
    (12, 5)
    """
    return max(int((memory / 8 / rows) ** 0.5), 2)
