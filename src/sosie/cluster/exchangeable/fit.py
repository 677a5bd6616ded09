"""The law of exchangeable groups, fitted on a cluster: the same as on one machine, byte for byte.

Columns are encoded whole, one after the other: ranks and levels are facts about all of a column.
Rows move once, to pieces of the tree; what belongs to the table (slopes, tilt, covariance, the maps
of the marginals) comes from the same sample of groups and from exact sums over the pieces. The
program that asks holds sums, levels and the bounds of groups, never rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sosie.cluster.encoding import (
    cuts_of,
    encoded_columns,
    in_order,
    names_and_lengths,
    pieces_of,
    shown_of,
)
from sosie.cluster.exchangeable.columns import ENCODER, Known, cross_product_of
from sosie.cluster.exchangeable.groups import (
    SecretAxes,
    coordinates_of,
    grouping_of,
    groups_of,
    merged_samples,
    part_of,
    places_between,
    sample_of_part,
    sums_of,
)
from sosie.cluster.exchangeable.pieces import (
    Common,
    Piece,
    law_of_piece,
    level_sums_of,
    marginals_of,
    pieces_of_tree,
    products_of_spread,
    rows_between,
    sampled_law,
    sampled_rows,
    sampled_shares,
    shares_of,
    slopes_of,
    spread_of,
    tilt_of_sample,
)
from sosie.cluster.exchangeable.release import Fitted
from sosie.cluster.exchangeable.rows import Rows, frame_of_rows, in_layout, layout_of, rows_of_frame
from sosie.cluster.scheduling import TOGETHER, compute, delayed, merged, persist, shared
from sosie.cluster.shuffle import moved
from sosie.compute.arrays import Ints
from sosie.data.table import Roles
from sosie.errors import InputError, quoted
from sosie.generate.exchangeable.features import Layout
from sosie.generate.exchangeable.sample import sample_of
from sosie.generate.exchangeable.scores import Number
from sosie.generate.settings import Settings
from sosie.latent import famd as analysis
from sosie.latent import tree
from sosie.latent.famd import FAMD

__all__ = ["fit_of_groups"]

END = 2**63 - 1
"""Beyond any place."""


def fit_of_groups(data: Any, settings: Settings, roles: Roles, key: int) -> Fitted:
    """Cut a Dask dataframe, or Parquet files (a `Scan`), into groups, and fit their law.

    Parameters
    ----------
    key : the secret of the table.

    Raises
    ------
    InputError
        See `sosie.cluster.fit`.
    """
    names, lengths = names_and_lengths(data, roles)
    _check(sum(lengths), settings, roles)
    known, held, shown, groups, pieces, parts, layout = _in_pieces(
        data, names, lengths, settings, roles, key
    )
    laws, common = _laws(layout, known, groups, pieces, parts, settings.k)
    owners = persist(*(delayed(_owner)(part) for part in parts))
    names = [name for name in names if name not in roles.drop]
    sizes = np.diff(groups.bounds)
    return Fitted(
        roles,
        settings,
        known,
        held,
        tuple(names),
        shown,
        sizes,
        tuple(laws),
        tuple(owners),
        common,
    )


def _in_pieces(
    data: Any,
    names: Sequence[Hashable],
    lengths: Sequence[int],
    settings: Settings,
    roles: Roles,
    key: int,
) -> tuple[
    tuple[Known, ...],
    dict[Hashable, Any],
    dict[Hashable, Any],
    tree.Groups,
    list[Piece],
    list[Any],
    Layout,
]:
    """Encode the table, cut it into groups, and move its rows to the pieces of the tree.

    All that it held on the cluster on the way is let go at its end.
    """
    ends, sources = cuts_of(lengths)
    known, held, rows = encoded_columns(data, names, roles, settings, ends, ENCODER)
    of_parts = [[some[i] for some in rows] for i in range(len(sources))]
    there = shared(known)
    famd = _famd(known, there, of_parts, names, settings, roles)
    axes = tree.Axes.drawn(key, famd.components, tree.REACH * float(np.sqrt(famd.eigenvalues[0])))
    space, secret = shared(famd), shared(SecretAxes(axes, key))
    turned = persist(
        *(delayed(coordinates_of)(space, secret, there, part, names) for part in of_parts)
    )
    sums = compute(merged([delayed(sums_of)(part) for part in turned]))[0].arrays
    layout = layout_of(known, sums, settings.k)
    laid = shared(layout)
    kept = {name: pieces_of(data, name) for name in roles.keep}

    def located(where: Sequence[Any], with_points: bool) -> list[Any]:
        tasks = []
        for i, (partition, inside) in enumerate(sources):
            own = {name: pieces[partition] for name, pieces in kept.items()}
            source = (of_parts[i], own, inside, int(ends[i]))
            tasks.append(
                delayed(frame_of_rows)(turned[i], where[i], laid, there, *source, with_points)
            )
        return list(persist(*tasks))

    placed = _moved(turned, ends, located, layout, tuple(roles.keep), settings.k)
    return known, held, shown_of(kept), *placed, layout


def _check(total: int, settings: Settings, roles: Roles) -> None:
    if inside := [name for name in roles.keep if name not in roles.keep_anyway]:
        raise InputError(
            f"groups are not cut inside the levels of kept columns ({quoted(inside)}) on a"
            " cluster: keep them outside the groups (--keep-anyway), where nothing is guaranteed,"
            " drop them, make the avatars on one machine (--memory), or take a method without"
            " groups (--method smoothed)"
        )
    if total < settings.k:
        raise InputError(
            f"the table has {total} rows, and a group holds at least k = {settings.k}: take a"
            " smaller k"
        )


def _famd(
    known: Sequence[Known],
    there: Any,
    of_parts: Sequence[Any],
    names: Sequence[Hashable],
    settings: Settings,
    roles: Roles,
) -> FAMD:
    outlines = in_order([outline for group in known for outline in group.outlines], names)
    layout = shared(analysis.Layout.from_outlines(outlines, roles.weights))
    sums = [delayed(cross_product_of)(layout, there, part, names) for part in of_parts]
    return FAMD.solve(compute(merged(sums))[0], settings.components)


def _moved(
    turned: Sequence[Any],
    ends: Ints,
    located: Callable[[Sequence[Any], bool], list[Any]],
    layout: Layout,
    keep: tuple[Hashable, ...],
    k: int,
) -> tuple[tree.Groups, list[Piece], list[Any]]:
    """Cut the table into groups, and move its rows to the pieces of the tree.

    Parameters
    ----------
    located : from where the rows of each part belong, and whether their coordinates go along, to
        dataframes that can be moved.
    """
    rows_of, laid, total = delayed(rows_of_frame), shared(layout), int(ends[-1])
    if total <= tree.LARGE:
        (grouped,) = persist(delayed(grouping_of)(list(turned), k))
        groups = compute(delayed(groups_of)(grouped))[0]
        where = [delayed(places_between)(grouped, int(a), int(b)) for a, b in pairwise(ends)]
        pieces = pieces_of_tree(groups, k, len(layout.numbers))
        parts = moved(located(where, False), [*(piece.first for piece in pieces), END])
        return groups, pieces, list(persist(*(rows_of(part, laid, keep, k) for part in parts)))
    cuts = _cuts(turned, total)
    where = [delayed(part_of)(cuts, part) for part in turned]
    parts = moved(located(where, True), [*range(cuts.parts), END])
    whole = persist(*(rows_of(part, laid, keep, k) for part in parts))
    sizes = np.array(compute(*(delayed(len)(part) for part in whole)))
    groups = tree.Parts.of([cuts]).groups(np.empty(0, dtype=np.int64), sizes, k)
    pieces = pieces_of_tree(groups, k, len(layout.numbers))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return groups, pieces, list(persist(*(_gathered(piece, whole, starts) for piece in pieces)))


def _cuts(turned: Sequence[Any], total: int) -> tree.Cuts:
    """The top of the tree, from samples that are merged some at a time."""
    size = tree.sample_size(total)
    samples = [delayed(sample_of_part)(part, size) for part in turned]
    while len(samples) > 1:
        samples = [
            delayed(merged_samples)(samples[i : i + TOGETHER], size)
            for i in range(0, len(samples), TOGETHER)
        ]
    cuts: tree.Cuts = compute(delayed(tree.top_cuts)(samples[0], total))[0]
    return cuts


def _gathered(piece: Piece, parts: Sequence[Any], starts: Ints) -> Any:
    """The rows of a piece, delayed, from parts of the tree that begin at some places."""
    own = []
    for part in range(len(parts)):
        start, stop = (max(int(starts[part]), piece.first), int(starts[part + 1]))
        stop = min(stop, piece.first + len(piece))
        if start < stop:
            first = int(starts[part])
            own.append(delayed(rows_between)(parts[part], start - first, stop - first))
    return delayed(Rows.joined)(own)


def _laws(
    layout: Layout,
    known: Sequence[Known],
    groups: tree.Groups,
    pieces: Sequence[Piece],
    parts: Sequence[Any],
    k: int,
) -> tuple[list[Any], Common]:
    """The law of each piece, delayed, and what they have in common."""
    ends = sample_of(groups.bounds).ends
    totals = in_layout(layout, known, [group.counts for group in known])
    states = [counts for counts in totals[0] if counts is not None]
    laid, there = shared(layout), persist(*(delayed(_same)(piece) for piece in pieces))
    both = list(zip(parts, there, strict=True))
    sampled = list(persist(*(delayed(sampled_rows)(rows, piece) for rows, piece in both)))
    slopes = compute(delayed(slopes_of)(laid, sampled, ends))[0]
    counts = shared([*states, *totals[1][len(states) :]])
    shares = persist(*(delayed(shares_of)(laid, rows, piece, counts) for rows, piece in both))
    sums = [delayed(level_sums_of)(laid, slopes, rows, piece) for rows, piece in both]
    (levels,) = compute(merged(sums))[0].arrays
    spreads = persist(
        *(delayed(spread_of)(laid, slopes, levels, rows, piece, k) for rows, piece in both)
    )
    (of_table,) = compute(merged([delayed(products_of_spread)(one) for one in spreads]))[0].arrays
    chosen = [delayed(sampled_shares)(*some) for some in zip(shares, there, strict=True)]
    tilt = compute(delayed(tilt_of_sample)(laid, sampled, chosen, ends))[0]
    names = tuple(group.law.name for group in known if isinstance(group.law, Number))
    common = Common(layout, names, slopes, tilt)
    known_to_all = shared(common)
    laws = persist(
        *(
            delayed(law_of_piece)(known_to_all, rows, piece, shares[i], spreads[i], of_table)
            for i, (rows, piece) in enumerate(both)
        )
    )
    few = [
        delayed(sampled_law)(law, piece, layout.states)
        for law, piece in zip(laws, there, strict=True)
    ]
    marginals = compute(delayed(marginals_of)(known_to_all, few, ends))[0]
    return list(laws), replace(common, marginals=marginals)


def _same(piece: Piece) -> Piece:
    return piece


def _owner(rows: Rows) -> Rows:
    """Whose places they are, and what stays as it is: all that releases need of the rows."""
    return replace(rows, scores=(), codes=())
