"""Pieces of the tree: whole groups, with all nodes over which anything of them is pooled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sosie.cluster.exchangeable.groups import ArraySums
from sosie.cluster.exchangeable.rows import Rows
from sosie.cluster.sizes import sized
from sosie.compute.arrays import Floats, Ints
from sosie.compute.threads import one_blas_thread
from sosie.generate.exchangeable import ExchangeableLaw, Pooled
from sosie.generate.exchangeable.ancestry import Ancestors
from sosie.generate.exchangeable.features import Layout
from sosie.generate.exchangeable.fit import POOLED, intercepts_of, level_shares, tilts
from sosie.generate.exchangeable.marginals import Marginal
from sosie.generate.exchangeable.moments import (
    Moments,
    level_sums,
    moments_of,
    pooled_roots,
    products_of,
    state_slopes,
)
from sosie.generate.exchangeable.pilot import pilot
from sosie.generate.exchangeable.sample import Sample, sample_of
from sosie.generate.exchangeable.targets import Slots
from sosie.latent import tree

__all__ = [
    "PIECE",
    "Common",
    "Piece",
    "PieceLaw",
    "law_of_piece",
    "level_sums_of",
    "marginals_of",
    "pieces_of_tree",
    "products_of_spread",
    "rows_between",
    "sampled_law",
    "sampled_rows",
    "sampled_shares",
    "shares_of",
    "slopes_of",
    "spread_of",
    "tilt_of_sample",
]

PIECE = 1 << 16
"""Rows of a piece of the tree, at least: what is done to one takes some 200 MB."""


@sized
@dataclass(frozen=True)
class Piece:
    """Groups that follow each other, with all nodes over which anything of them is pooled.

    Attributes
    ----------
    first : the place of their first row in the whole table.
    bounds : (G + 1,) int64, where each begins, from 0.
    near, wide : nodes above them, for shares and means, and for covariances.
    chosen : (g,) int64, groups of the sample, among these.
    """

    first: int
    bounds: Ints
    near: Ancestors
    wide: Ancestors
    chosen: Ints

    def __len__(self) -> int:
        return int(self.bounds[-1])

    @property
    def places(self) -> Ints:
        """(m,) int64, of the rows of the sample, from 0."""
        sizes = np.diff(self.bounds)[self.chosen]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        return np.repeat(self.bounds[self.chosen] - ends[:-1], sizes) + np.arange(ends[-1])


def pieces_of_tree(groups: tree.Groups, k: int, numbers: int) -> list[Piece]:
    """The tree cut at its smallest nodes that have enough rows."""
    sample = sample_of(groups.bounds)
    people, wanted = POOLED * k, max(POOLED * k, numbers)
    near, wide = Ancestors.of(groups, people), Ancestors.of(groups, wanted)
    nodes = groups.above(max(wanted, PIECE))
    # A node may be within that of a group beside it: then that one is the piece.
    far = np.maximum.accumulate(nodes[:, 1])
    begins = np.append(True, nodes[1:, 0] >= far[:-1])
    bounds = groups.bounds
    walls = np.append(np.flatnonzero(begins), len(groups))
    made = []
    for start, stop in pairwise(walls.tolist()):
        own = slice(start, stop)
        inside = (sample.groups >= start) & (sample.groups < stop)
        made.append(
            Piece(
                int(bounds[start]),
                bounds[start : stop + 1] - bounds[start],
                near.some(own),
                wide.some(own),
                sample.groups[inside] - start,
            )
        )
    return made


def sampled_rows(rows: Rows, piece: Piece) -> Rows:
    """Rows of the groups of the sample."""
    return replace(rows, kept={}).take(piece.places)


def rows_between(rows: Rows, start: int, stop: int) -> Rows:
    """Rows that follow each other."""
    return rows.take(np.arange(start, stop))


@sized
@dataclass(frozen=True)
class _Shares:
    """See `level_shares`."""

    targets: tuple[Floats, ...]
    slots: tuple[Slots | None, ...]


def shares_of(layout: Layout, rows: Rows, piece: Piece, totals: Sequence[Ints | None]) -> _Shares:
    """Shares of the levels in the groups of a piece."""
    own = rows.within(layout)
    targets, slots = level_shares(own, piece.bounds, piece.near, 1, totals)
    return _Shares(tuple(targets), slots)


def sampled_shares(shares: _Shares, piece: Piece) -> _Shares:
    """Those of the groups of the sample."""
    slots = tuple(own and own.taken(piece.chosen) for own in shares.slots)
    targets = tuple(
        target[:, piece.chosen] if own is None else own.target
        for target, own in zip(shares.targets, slots, strict=True)
    )
    return _Shares(targets, slots)


def slopes_of(layout: Layout, sampled: Sequence[Rows], ends: Ints) -> Floats:
    """Effects of states on numbers, from the sample."""
    own, places = Rows.joined(sampled).within(layout), np.arange(ends[-1])
    with one_blas_thread():
        return state_slopes(own, own.originals(places), places, ends)


def tilt_of_sample(
    layout: Layout, sampled: Sequence[Rows], of_pieces: Sequence[_Shares], ends: Ints
) -> Floats:
    """Coefficients of all choices, from the sample."""
    own, places = Rows.joined(sampled).within(layout), np.arange(ends[-1])
    slots = [
        None if some[0] is None else Slots.joined(some)
        for some in zip(*(one.slots for one in of_pieces), strict=True)
    ]
    targets = [
        np.concatenate(some, axis=-1)
        for some in zip(*(one.targets for one in of_pieces), strict=True)
    ]
    sample = Sample(np.arange(len(ends) - 1), places, ends)
    with one_blas_thread():
        return tilts(own, own.originals(places), sample, targets, slots, 1)


def level_sums_of(layout: Layout, slopes: Floats, rows: Rows, piece: Piece) -> ArraySums:
    """Sums of scores for each level, to be added over pieces."""
    return ArraySums((level_sums(rows.within(layout), slopes, piece.bounds),))


@sized
@dataclass(frozen=True)
class _Spread:
    """Where the numbers of a piece lie, and the sums that covariances come from."""

    moments: Moments
    products: Floats


def spread_of(
    layout: Layout, slopes: Floats, totals: Floats, rows: Rows, piece: Piece, k: int
) -> _Spread:
    """Group means and products of deviations of a piece."""
    own = rows.within(layout)
    moments, centres = moments_of(own, slopes, piece.bounds, piece.near, k, totals)
    products = products_of(own, slopes, centres, piece.bounds, piece.wide, 1)
    return _Spread(moments, products)


def products_of_spread(spread: _Spread) -> ArraySums:
    """The products, to be added."""
    return ArraySums((spread.products[:, -1].copy(),))


@sized
@dataclass(frozen=True)
class Common:
    """What all pieces have in common; see `ExchangeableLaw` and `Pooled`."""

    layout: Layout
    names: tuple[Hashable, ...]
    slopes: Floats
    tilt: Floats
    marginals: tuple[Marginal, ...] = ()


@sized
@dataclass(frozen=True)
class PieceLaw:
    """What the law of a piece is beside that; see `ExchangeableLaw`."""

    bounds: Ints
    node: Ints
    roots: NDArray[np.float32]
    moments: Moments
    intercepts: tuple[Floats, ...]
    slots: tuple[Slots | None, ...]

    def whole(self, common: Common) -> ExchangeableLaw:
        """The law, ready to be drawn from."""
        pooled = Pooled(common.slopes, self.node, self.roots, common.tilt, common.marginals)
        return ExchangeableLaw(
            self.bounds,
            common.layout,
            common.names,
            pooled,
            self.moments,
            self.intercepts,
            self.slots,
        )


def law_of_piece(
    common: Common, rows: Rows, piece: Piece, shares: _Shares, spread: _Spread, of_table: Floats
) -> PieceLaw:
    """The law of the groups of a piece."""
    own = rows.within(common.layout)
    with one_blas_thread():
        intercepts = intercepts_of(own, common.tilt, shares.targets, shares.slots, piece.bounds, 1)
    roots = pooled_roots(spread.products[:, :-1], of_table)
    return PieceLaw(
        piece.first + piece.bounds,
        piece.wide.of_group,
        roots,
        spread.moments,
        intercepts,
        shares.slots,
    )


def sampled_law(law: PieceLaw, piece: Piece, states: int) -> PieceLaw:
    """Of the groups of the sample; of categories nothing, which the pilot does not draw."""
    which, none = piece.chosen, np.empty(0)
    return PieceLaw(
        law.bounds[:0],
        which,
        law.roots[law.node[which]],
        Moments(law.moments.base[:, which], law.moments.scale[:, which]),
        tuple(own[..., which] if i < states else none for i, own in enumerate(law.intercepts)),
        (),
    )


def marginals_of(common: Common, laws: Sequence[PieceLaw], ends: Ints) -> tuple[Marginal, ...]:
    """The maps of the marginals, from the laws of the sampled groups."""
    groups = np.arange(len(ends) - 1)
    joined = PieceLaw(
        ends,
        groups,
        np.concatenate([law.roots for law in laws]),
        Moments(
            np.concatenate([law.moments.base for law in laws], axis=1),
            np.concatenate([law.moments.scale for law in laws], axis=1),
        ),
        tuple(
            np.concatenate(some, axis=-1)
            for some in zip(*(law.intercepts for law in laws), strict=True)
        ),
        (None,) * len(common.layout.choices),
    )
    with one_blas_thread():
        return pilot(joined.whole(common), Sample(groups, np.arange(ends[-1]), ends))
