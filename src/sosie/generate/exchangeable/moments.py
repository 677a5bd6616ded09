"""Where the numbers of each group lie, and how they spread around it.

Spread is pooled: ``S_a = (D_a + (p + 1) S_0) / (f_a + p + 1)``, D_a the sums of products of
deviations within the groups under a node that has at least 8k people, f_a their degrees of
freedom, S_0 the covariance pooled over all groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import MEMORY, Storage
from sosie.compute.threads import each_part, one_blas_thread
from sosie.generate.exchangeable.ancestry import Ancestors, blocks_of, by_group, every_so_many
from sosie.generate.exchangeable.features import Layout
from sosie.generate.exchangeable.fixed_point import SCORE, SLOPE, on_grid

__all__ = [
    "Moments",
    "level_sums",
    "moments_of",
    "pooled_roots",
    "products_of",
    "roots",
    "state_slopes",
]

RIDGE = 3.0
"""Penalty of the regression on states: that of the tilt."""

ROOT = 2.0**16
"""Steps of a unit for roots of covariances: float32 holds them."""

PRODUCTS = 1 << 22
"""Entries of the products of the groups of a block, were each of one person."""

NEGLIGIBLE = 1e-6
"""A share of a variance below which nothing is left to draw: the rest follows from the others."""


@dataclass(frozen=True)
class Moments:
    """Numbers of each group, in the order of the layout.

    Attributes
    ----------
    base : (p, G) float64, what noise and the effects of states are added to.
    scale : (p, G) float32, what noise is multiplied by.
    """

    base: Floats
    scale: NDArray[np.float32]


def state_rows(layout: Layout) -> slice:
    """The features of states: they follow those of plain numbers."""
    start = layout.of_numbers[layout.plain - 1].stop if layout.plain else 0
    ends = [layout.of_choices[i].stop for i in range(layout.states)]
    return slice(start, max([start, *ends]))


def state_slopes(layout: Layout, features: Floats, places: Ints, ends: Ints) -> Floats:
    """Effects of being in a state of one number on another number, ``(p, s) float64``.

    Within-group deviations of the scores, among those that have one, are regressed on those
    of the other numbers' states and of the plain numbers.

    Parameters
    ----------
    features : (width, m) float64, of the people of some whole groups.
    places : (m,) int64, theirs.
    ends : (groups + 1,) int64, where the members of each group begin among them.
    """
    states = state_rows(layout)
    slopes = np.zeros((len(layout.numbers), states.stop - states.start))
    plain = [part.start for part in layout.of_numbers[: layout.plain]]
    for i, number in enumerate(layout.numbers[layout.plain :]):
        own = layout.of_choices[i]
        others = [
            row for row in range(states.start, states.stop) if not own.start <= row < own.stop
        ]
        has = number.has_score(places)
        if not others or not has.any():
            continue
        counts = by_group(has, ends).astype(np.int64)
        counts = counts[counts > 0]
        inner = np.concatenate([[0], np.cumsum(counts)])
        x = features[[*others, *plain]][:, has]
        y = features[layout.of_numbers[layout.plain + i].start, has]
        x -= np.repeat(by_group(x, inner) / counts, counts, axis=1)
        y -= np.repeat(by_group(y, inner) / counts, counts)
        found = np.linalg.solve(x @ x.T + RIDGE * np.eye(len(x)), x @ y)
        slopes[layout.plain + i, np.array(others) - states.start] = found[: len(others)]
    return on_grid(slopes, SLOPE)


def moments_of(
    layout: Layout,
    slopes: Floats,
    bounds: Ints,
    ancestors: Ancestors,
    k: int,
    totals: Floats | None = None,
) -> tuple[Moments, Floats]:
    """Means of each group, and what deviations are measured from.

    Parameters
    ----------
    slopes : see `state_slopes`.
    ancestors : nodes to whose means the few who have a score are shrunk.
    totals : see `level_sums`, of the table, where the groups are not all of it.

    Returns
    -------
    moments : see `Moments`.
    centres : (p, G) float64, the mean of what is left of the scores of the members.
    """
    sizes, count = np.diff(bounds), len(layout.numbers)
    base, centres = np.empty((count, len(sizes))), np.empty((count, len(sizes)))
    scale = np.empty((count, len(sizes)), dtype=np.float32)
    for i, number in enumerate(layout.numbers):
        if number.plain:
            base[i] = centres[i] = by_group(number.scores, bounds) / sizes
            scale[i] = np.sqrt(1 - 1 / sizes)
    for i, scored, centres[i], shift in _centres(layout, slopes, bounds):
        level = on_grid(centres[i] + shift, SLOPE)
        people, total = (scored.sum(), (scored * level).sum()) if totals is None else totals[i]
        table = total / max(people, 1)
        counts, sums = ancestors.sums(scored), ancestors.sums(scored * level)
        # A node of few scores is itself shrunk to the table: its mean may be one person's.
        above = ((sums + k * table) / (counts + k))[ancestors.of_group]
        base[i] = (scored * level + k * above) / (scored + k) - shift
        scale[i] = np.sqrt(1 - 1 / np.maximum(scored, 2))
    return Moments(on_grid(base, SLOPE), scale), centres


def level_sums(layout: Layout, slopes: Floats, bounds: Ints) -> Floats:
    """Of numbers with states, how many have a score and the sum of their levels, ``(p, 2)``.

    On a grid: sums of parts of a table can be added.
    """
    sums = np.zeros((len(layout.numbers), 2))
    for i, scored, centre, shift in _centres(layout, slopes, bounds):
        sums[i] = scored.sum(), (scored * on_grid(centre + shift, SLOPE)).sum()
    return sums


def _centres(
    layout: Layout, slopes: Floats, bounds: Ints
) -> Iterator[tuple[int, Floats, Floats, Floats]]:
    """Of each number with states, its place, and of each group three arrays.

    How many have a score, the mean of what is left of it, and what states add to that.
    """
    if not layout.states:
        return
    sizes, everyone = np.diff(bounds), slice(0, int(bounds[-1]))
    state_shares = [
        by_group(row, bounds) / sizes
        for choice in layout.choices[: layout.states]
        for row in choice.features[:, choice.codes]
    ]
    for i in range(layout.plain, len(layout.numbers)):
        scored = by_group(layout.numbers[i].has_score(everyone), bounds)
        left = by_group(_left(layout, slopes, i, everyone), bounds)
        centre = np.divide(left, scored, out=np.zeros(len(sizes)), where=scored > 0)
        shift = np.zeros(len(sizes))
        for slope, share in zip(slopes[i], state_shares, strict=True):
            shift += slope * share
        yield i, scored, centre, shift


def _left(layout: Layout, slopes: Floats, i: int, part: slice) -> Floats:
    """Scores of a number less the effects of states; 0 where there is no score."""
    number = layout.numbers[i]
    left = number.scores[part].astype(np.float64)
    if number.plain:
        return left
    start = state_rows(layout).start
    for choice, own in zip(layout.choices, layout.of_choices[: layout.states], strict=False):
        effects = slopes[i, own.start - start : own.stop - start] @ choice.features
        if effects.any():
            left -= effects[choice.codes[part]]
    left *= number.has_score(part)
    return left


def products_of(
    layout: Layout,
    slopes: Floats,
    centres: Floats,
    bounds: Ints,
    ancestors: Ancestors,
    threads: int,
    storage: Storage = MEMORY,
) -> Floats:
    """Sums of products of deviations and their degrees of freedom, ``(2, A + 1, p, p) float64``.

    Of each node, and of all groups; on a grid: those of parts of a table can be added.
    """
    count, nodes = len(layout.numbers), len(ancestors)
    products = np.zeros((nodes + 1, count, count))
    pairs = np.zeros((nodes + 1, count, count))
    # So many groups that their products take some 8 MB.
    blocks = blocks_of(bounds, min(BLOCK, PRODUCTS // max(count, 1) ** 2 + 1))
    adding = Lock()

    def work(part: slice) -> None:
        for groups in blocks[part]:
            some = _products(layout, slopes, centres, bounds, groups)
            with adding:
                _into_nodes(products, some[0], groups, ancestors)
                _into_nodes(pairs, some[1], groups, ancestors)

    with one_blas_thread():
        each_part(work, len(blocks), 1, threads, every_so_many(blocks, bounds), storage.forget)
    return np.stack([products, pairs])


def pooled_roots(of_nodes: Floats, of_table: Floats) -> NDArray[np.float32]:
    """Lower triangular roots of the covariance of each node, ``(A, p, p) float32``, on a grid.

    Parameters
    ----------
    of_nodes, of_table : (2, A, p, p) and (2, p, p) float64, see `products_of`.
    """
    (products, pairs), (product, pair) = of_nodes, of_table
    count = len(product)
    pooled = np.divide(product, pair, out=np.eye(count), where=pair > 0)
    covariance = (products + (count + 1) * pooled) / (pairs + count + 1)
    return on_grid(roots(covariance), ROOT).astype(np.float32)


def _products(
    layout: Layout, slopes: Floats, centres: Floats, bounds: Ints, groups: slice
) -> tuple[Floats, Floats]:
    """Sums of products of deviations within each group, and degrees of freedom."""
    part = slice(int(bounds[groups.start]), int(bounds[groups.stop]))
    sizes = np.diff(bounds[groups.start : groups.stop + 1])
    starts = bounds[groups.start : groups.stop] - part.start
    widest = int(sizes.max())
    at = starts[:, None] + np.arange(widest)
    beyond = np.arange(widest) >= sizes[:, None]
    at[beyond] = 0
    count = len(layout.numbers)
    deviations = np.empty((len(sizes), count, widest))
    has = np.ones((len(sizes), count, widest)) if layout.states else None
    for i, number in enumerate(layout.numbers):
        own = _left(layout, slopes, i, part)
        own -= np.repeat(centres[i, groups], sizes)
        own = on_grid(own, SCORE)
        if has is not None and not number.plain:
            scored = number.has_score(part)
            own *= scored
            has[:, i] = scored[at]
        deviations[:, i] = own[at]
    deviations *= ~beyond[:, None]
    products = deviations @ deviations.transpose(0, 2, 1)
    if has is None:
        pairs = np.broadcast_to((sizes - 1.0)[:, None, None], products.shape)
    else:
        has *= ~beyond[:, None]
        pairs = np.maximum(has @ has.transpose(0, 2, 1) - 1, 0)
    return products, pairs


def _into_nodes(totals: Floats, of_groups: Floats, groups: slice, ancestors: Ancestors) -> None:
    """Add what some groups have to the nodes above them, and to the last: that of the table."""
    running = np.zeros((len(of_groups) + 1, *of_groups.shape[1:]))
    np.cumsum(of_groups, axis=0, out=running[1:])
    totals[-1] += running[-1]
    over = np.flatnonzero((ancestors.first < groups.stop) & (ancestors.last > groups.start))
    first = np.maximum(ancestors.first[over], groups.start) - groups.start
    last = np.minimum(ancestors.last[over], groups.stop) - groups.start
    totals[over] += running[last] - running[first]


def roots(covariances: Floats) -> Floats:
    """Lower triangular roots ``L L' = S``, of many at once.

    Parameters
    ----------
    covariances : (A, p, p) float64, symmetric. Where one is not positive, since pairs of
        numbers were counted over different people, what can't be is left out.

    Examples
    --------
    >>> roots(np.array([[[4.0, 2.0], [2.0, 2.0]]])).tolist()
    [[[2.0, 0.0], [1.0, 1.0]]]
    """
    made = np.zeros_like(covariances)
    for i in range(covariances.shape[1]):
        left = covariances[:, i:, i] - np.einsum(
            "aij,aj->ai", made[:, i:, :i], made[:, i, :i], optimize=False
        )
        usable = left[:, 0] > NEGLIGIBLE * covariances[:, i, i]
        pivot = np.sqrt(np.where(usable, left[:, 0], 1.0))
        made[:, i:, i] = np.where(usable[:, None], left / pivot[:, None], 0.0)
    return made
