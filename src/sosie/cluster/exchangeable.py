"""Exchangeable avatars of a Dask dataframe: the same as on one machine, byte for byte.

Columns are encoded whole, one after the other: ranks and levels are facts about all of a column.
Each part of the table gives its rows' coordinates along the secret axes, 28 bytes a row. A table
of at most `sosie.latent.tree.LARGE` rows is cut into groups from these by one worker; a larger
one by thresholds from a keyed sample, and each part by itself. Rows then move once, to pieces of
the tree that hold whole groups and all nodes over which anything is pooled; what belongs to the
table (slopes, tilt, covariance, the maps of the marginals) comes from the same sample of groups
and from exact sums over the pieces. The program that asks holds sums, levels and the bounds of
groups, never rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.cluster import regions
from sosie.cluster.dask import (
    KEY,
    PLACE,
    ROW,
    TOGETHER,
    Encoder,
    Shared,
    compute,
    cuts_of,
    delayed,
    encoded_columns,
    in_order,
    in_order_of_keys,
    merged,
    moved,
    names_and_lengths,
    native_frame,
    persist,
    pieces_of,
    shared,
    shown_of,
)
from sosie.cluster.sizes import sized
from sosie.compute.arrays import Floats, Ints
from sosie.compute.randomness import Purpose, keys
from sosie.compute.storage import MEMORY
from sosie.compute.sums import tally
from sosie.compute.threads import one_blas_thread
from sosie.data.rows import values_of
from sosie.data.table import Column, Levels, Numbers, Roles, Table
from sosie.errors import InputError, Reason, quoted
from sosie.generate.exchangeable import ExchangeableLaw, Pooled, draw, pairing
from sosie.generate.exchangeable.ancestry import Ancestors
from sosie.generate.exchangeable.choices import MANY, Choice, choice_of
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
from sosie.generate.exchangeable.scores import Number, number_of
from sosie.generate.exchangeable.targets import Slots
from sosie.generate.gathered import Layout as DrawnLayout
from sosie.generate.guarantee import Guarantee
from sosie.generate.methods.exchangeable import in_canonical_codes, in_space
from sosie.generate.release import Release
from sosie.generate.settings import Settings
from sosie.latent import famd as analysis
from sosie.latent import tree
from sosie.latent.content import content_hashes
from sosie.latent.famd import FAMD, CrossProduct, Outline

__all__ = ["Fitted", "fit_of_groups"]

PIECE = 1 << 16
"""Rows of a piece of the tree, at least: what is done to one takes some 200 MB."""

END = 2**63 - 1
"""Beyond any place."""

TAG = "__tag__"


# ---------------------------------------------------------------- columns


@dataclass(frozen=True)
class Known:
    """What is known of a column, or of a group of linked ones, without its rows.

    Attributes
    ----------
    columns : encoded, in canonical codes.
    placed : the same as they enter the latent space.
    outlines : of these.
    law : as the law sees it.
    counts : (size,) int64, people who hold each level of the choice, or of the number's state;
        None where there is no choice.
    """

    columns: tuple[Column, ...]
    placed: tuple[Column, ...]
    outlines: tuple[Outline, ...]
    law: Number | Choice
    counts: Ints | None

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Of its columns."""
        return tuple(column.name for column in self.columns)

    def drawable(self, name: Hashable) -> Ints | None:
        """Levels of a category that may be drawn; None where all may."""
        if isinstance(self.law, Number):
            return None
        levels, parts = self.law.original, self.law.parts
        return levels if parts is None else parts[levels, self.names.index(name)]


def _canonical(column: Column) -> Column:
    return in_canonical_codes(regions.table_of([column], Roles())).columns[0]


def _known(
    columns: Sequence[Column], settings: Settings, notes: list[Reason]
) -> tuple[Known, tuple[Any, ...]]:
    """A group, whole; arrays: its codes or values, those in the space, scores, codes to draw."""
    placed = in_space(regions.table_of(columns, Roles())).columns
    whole = np.arange(len(values_of(columns[0])))
    k, least = settings.k, settings.min_level_count
    law: Number | Choice
    if isinstance(columns[0], Numbers):
        law = number_of(columns[0], whole, k, least, MEMORY, notes)
        scores, choice = law.scores, law.state
    else:
        levels = [column for column in columns if isinstance(column, Levels)]
        law = choice_of(levels, whole, least, MEMORY)
        scores, choice = None, law
    coarse = tuple(
        None if there is here else values_of(there)
        for here, there in zip(columns, placed, strict=True)
    )
    known = Known(
        tuple(map(_without_rows, columns)),
        tuple(map(_without_rows, placed)),
        tuple(map(Outline.of, placed)),
        law.slim(),
        None if choice is None else tally(choice.codes, choice.size + 1)[:-1],
    )
    codes = None if choice is None else choice.codes
    return known, (tuple(map(values_of, columns)), coarse, scores, codes)


def _without_rows(column: Column) -> Column:
    return regions.with_rows(column, regions.no_rows(values_of(column)))


_ENCODER = Encoder(_canonical, _known)


def _table(
    known: Sequence[Known], rows: Sequence[Any], names: Sequence[Hashable], *, placed: bool
) -> Table:
    """The rows of one part, encoded; as they are, or as they enter the latent space."""
    columns = []
    for group, (plain, coarse, *_) in zip(known, rows, strict=True):
        for i, own in enumerate(plain):
            column = (group.placed if placed else group.columns)[i]
            there = coarse[i] if placed and coarse[i] is not None else own
            columns.append(regions.with_rows(column, there))
    return regions.table_of(in_order(columns, names), Roles())


def _cross_product(
    layout: analysis.Layout, known: Sequence[Known], rows: Sequence[Any], names: Sequence[Hashable]
) -> CrossProduct:
    return CrossProduct(layout).add(_table(known, rows, names, placed=True))


# ---------------------------------------------------------------- coordinates and groups


@dataclass(frozen=True)
class _Axes:
    """The secret axes, and the key that tags rows."""

    axes: tree.Axes = field(repr=False)
    key: int = field(repr=False)


@sized
@dataclass(frozen=True)
class _Turned:
    """The rows of one part along the secret axes.

    Attributes
    ----------
    whole, tags : see `sosie.latent.tree.cut`.
    sums : of each choice of many levels, see `Choice.sums`.
    """

    whole: NDArray[np.int16]
    tags: NDArray[np.uint64]
    sums: tuple[Floats, ...]


def _turned(
    famd: FAMD, axes: _Axes, known: Sequence[Known], rows: Sequence[Any], names: Sequence[Hashable]
) -> _Turned:
    points = famd.transform(_table(known, rows, names, placed=True))
    hashes = content_hashes(_table(known, rows, names, placed=False))
    sums = [
        replace(group.law, codes=codes).sums(points)
        for group, (*_, codes) in zip(known, rows, strict=True)
        if isinstance(group.law, Choice) and group.law.size > MANY
    ]
    return _Turned(axes.axes.whole(points), tree.tags(hashes, axes.key), tuple(sums))


def _sums_of(turned: _Turned) -> _Sums:
    return _Sums(turned.sums)


@dataclass
class _Sums:
    """Arrays that are added, one by one: exact, since all are on a grid (see `merged`)."""

    arrays: tuple[Floats, ...]

    def merge(self, other: Self) -> None:
        """Add those of another part."""
        self.arrays = tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True))


@sized
@dataclass(frozen=True)
class _Grouped:
    """The groups of a table, and the place of each of its rows, ``(n,) int64``."""

    groups: tree.Groups
    place: Ints


def _grouped(turned: Sequence[_Turned], k: int) -> _Grouped:
    whole = np.concatenate([one.whole for one in turned])
    made = tree.cut(whole, np.concatenate([one.tags for one in turned]), k)
    place = np.empty(len(whole), dtype=np.int64)
    place[made.order] = np.arange(len(whole))
    return _Grouped(replace(made, order=made.order[:0].copy()), place)


def _groups(grouped: _Grouped) -> tree.Groups:
    return grouped.groups


def _places(grouped: _Grouped, start: int, stop: int) -> Ints:
    return grouped.place[start:stop].copy()


def _sampled(turned: _Turned, size: int) -> tree.Sample:
    return tree.Sample.of(turned.whole, turned.tags, size)


def _samples(samples: Sequence[tree.Sample], size: int) -> tree.Sample:
    return tree.Sample.merged(samples, size)


def _part_of(cuts: tree.Cuts, turned: _Turned) -> Ints:
    return cuts.part_of(turned.whole, turned.tags)


# ---------------------------------------------------------------- rows


@sized
@dataclass(frozen=True)
class Rows:
    """Rows as the law sees them.

    Attributes
    ----------
    order : (m,) int64, their numbers in the whole table.
    scores : of each number of the layout, (m,) float32.
    codes : of each choice of the layout, (m,).
    kept : (m,) columns that stay as they are.
    """

    order: Ints
    scores: tuple[NDArray[Any], ...]
    codes: tuple[NDArray[Any], ...]
    kept: Mapping[Hashable, Any]

    def __len__(self) -> int:
        return len(self.order)

    def take(self, which: Ints) -> Self:
        """Some of them."""
        return replace(
            self,
            order=self.order[which],
            scores=tuple(one[which] for one in self.scores),
            codes=tuple(one[which] for one in self.codes),
            kept={name: one.iloc[which] for name, one in self.kept.items()},
        )

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Rows that follow each other."""
        import pandas as pd

        (first, *others) = parts
        if not others:
            return first
        return cls(
            np.concatenate([one.order for one in parts]),
            tuple(map(np.concatenate, zip(*(one.scores for one in parts), strict=True))),
            tuple(map(np.concatenate, zip(*(one.codes for one in parts), strict=True))),
            {name: pd.concat([one.kept[name] for one in parts]) for name in first.kept},
        )

    def within(self, layout: Layout) -> Layout:
        """The layout with these rows."""
        choices = tuple(
            replace(choice, codes=codes)
            for choice, codes in zip(layout.choices, self.codes, strict=True)
        )
        numbers = tuple(
            replace(
                number,
                scores=scores,
                state=None if number.plain else choices[i - layout.plain],
            )
            for i, (number, scores) in enumerate(zip(layout.numbers, self.scores, strict=True))
        )
        return replace(layout, numbers=numbers, choices=choices)


def _layout(known: Sequence[Known], sums: Sequence[Floats], k: int) -> Layout:
    """Columns in the order in which they are drawn, without rows."""
    many = iter(sums)
    choices = [
        group.law.placed(next(many), POOLED * k) if group.law.size > MANY else group.law
        for group in known
        if isinstance(group.law, Choice)
    ]
    return Layout.of([group.law for group in known if isinstance(group.law, Number)], choices)


def _in_layout(layout: Layout, known: Sequence[Known], of_groups: Sequence[Any]) -> tuple[Any, Any]:
    """Something of each group, of the numbers and of the choices of a layout."""
    by_name = {group.names: one for group, one in zip(known, of_groups, strict=True)}
    numbers = [by_name[(number.name,)] for number in layout.numbers]
    return numbers, [by_name[choice.names] for choice in layout.choices]


def _located(
    turned: _Turned,
    where: Ints,
    layout: Layout,
    known: Sequence[Known],
    rows: Sequence[Any],
    kept: Mapping[Hashable, Any],
    inside: int,
    start: int,
    with_points: bool,
) -> Any:
    """The rows of one part as a dataframe that can be moved to where they belong."""
    import pandas as pd

    numbers, choices = _in_layout(layout, known, rows)
    columns: dict[str, Any] = {PLACE: where, ROW: np.arange(start, start + len(where))}
    columns |= {f"s{i}": scores for i, (_, _, scores, _) in enumerate(numbers)}
    columns |= {f"c{i}": codes for i, (*_, codes) in enumerate(choices)}
    if with_points:
        columns |= {f"w{i}": axis for i, axis in enumerate(turned.whole.T)} | {TAG: turned.tags}
    for i, (name, piece) in enumerate(kept.items()):
        column = piece[name].iloc[inside : inside + len(where)]
        columns[f"k{i}"] = column.reset_index(drop=True)
    return pd.DataFrame(columns)


def _rows_of(part: Any, layout: Layout, keep: Sequence[Hashable], k: int) -> Rows:
    """Rows that came in any order, in the order of their places or, of a part, of the tree."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()  # what moving the rows took
    order = part[ROW].to_numpy()
    rows = Rows(
        order,
        tuple(part[f"s{i}"].to_numpy() for i in range(len(layout.numbers))),
        tuple(part[f"c{i}"].to_numpy() for i in range(len(layout.choices))),
        {name: part[f"k{i}"] for i, name in enumerate(keep)},
    )
    if TAG not in part.columns:
        return rows.take(np.argsort(part.index.to_numpy()))
    first = np.argsort(order)  # as they stand in the table
    width = sum(str(name).startswith("w") for name in part.columns)
    whole = np.stack([part[f"w{i}"].to_numpy() for i in range(width)], axis=1)
    return rows.take(first[tree.tree_order(whole[first], part[TAG].to_numpy()[first], k)])


# ---------------------------------------------------------------- pieces


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


def _pieces(groups: tree.Groups, k: int, numbers: int) -> list[Piece]:
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


def _chosen(rows: Rows, piece: Piece) -> Rows:
    return replace(rows, kept={}).take(piece.places)


def _slice(rows: Rows, start: int, stop: int) -> Rows:
    return rows.take(np.arange(start, stop))


@sized
@dataclass(frozen=True)
class _Shares:
    """See `level_shares`."""

    targets: tuple[Floats, ...]
    slots: tuple[Slots | None, ...]


def _shares(layout: Layout, rows: Rows, piece: Piece, totals: Sequence[Ints | None]) -> _Shares:
    own = rows.within(layout)
    targets, slots = level_shares(own, piece.bounds, piece.near, 1, totals)
    return _Shares(tuple(targets), slots)


def _chosen_shares(shares: _Shares, piece: Piece) -> _Shares:
    slots = tuple(own and own.taken(piece.chosen) for own in shares.slots)
    targets = tuple(
        target[:, piece.chosen] if own is None else own.target
        for target, own in zip(shares.targets, slots, strict=True)
    )
    return _Shares(targets, slots)


def _slopes(layout: Layout, sampled: Sequence[Rows], ends: Ints) -> Floats:
    own, places = Rows.joined(sampled).within(layout), np.arange(ends[-1])
    with one_blas_thread():
        return state_slopes(own, own.originals(places), places, ends)


def _tilt(
    layout: Layout, sampled: Sequence[Rows], of_pieces: Sequence[_Shares], ends: Ints
) -> Floats:
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


def _level_sums(layout: Layout, slopes: Floats, rows: Rows, piece: Piece) -> _Sums:
    return _Sums((level_sums(rows.within(layout), slopes, piece.bounds),))


@sized
@dataclass(frozen=True)
class _Spread:
    """Where the numbers of a piece lie, and the sums that covariances come from."""

    moments: Moments
    products: Floats


def _spread(
    layout: Layout, slopes: Floats, totals: Floats, rows: Rows, piece: Piece, k: int
) -> _Spread:
    own = rows.within(layout)
    moments, centres = moments_of(own, slopes, piece.bounds, piece.near, k, totals)
    products = products_of(own, slopes, centres, piece.bounds, piece.wide, 1)
    return _Spread(moments, products)


def _products(spread: _Spread) -> _Sums:
    return _Sums((spread.products[:, -1].copy(),))


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


def _law(
    common: Common, rows: Rows, piece: Piece, shares: _Shares, spread: _Spread, of_table: Floats
) -> PieceLaw:
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


def _chosen_law(law: PieceLaw, piece: Piece, states: int) -> PieceLaw:
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


def _marginals(common: Common, laws: Sequence[PieceLaw], ends: Ints) -> tuple[Marginal, ...]:
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


# ---------------------------------------------------------------- the whole way


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
    known, held, rows = encoded_columns(data, names, roles, settings, ends, _ENCODER)
    of_parts = [[some[i] for some in rows] for i in range(len(sources))]
    there = shared(known)
    famd = _famd(known, there, of_parts, names, settings, roles)
    axes = tree.Axes.drawn(key, famd.components, tree.REACH * float(np.sqrt(famd.eigenvalues[0])))
    space, secret = shared(famd), shared(_Axes(axes, key))
    turned = persist(*(delayed(_turned)(space, secret, there, part, names) for part in of_parts))
    sums = compute(merged([delayed(_sums_of)(part) for part in turned]))[0].arrays
    layout = _layout(known, sums, settings.k)
    laid = shared(layout)
    kept = {name: pieces_of(data, name) for name in roles.keep}

    def located(where: Sequence[Any], with_points: bool) -> list[Any]:
        tasks = []
        for i, (partition, inside) in enumerate(sources):
            own = {name: pieces[partition] for name, pieces in kept.items()}
            source = (of_parts[i], own, inside, int(ends[i]))
            tasks.append(delayed(_located)(turned[i], where[i], laid, there, *source, with_points))
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
    sums = [delayed(_cross_product)(layout, there, part, names) for part in of_parts]
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
    rows_of, laid, total = delayed(_rows_of), shared(layout), int(ends[-1])
    if total <= tree.LARGE:
        (grouped,) = persist(delayed(_grouped)(list(turned), k))
        groups = compute(delayed(_groups)(grouped))[0]
        where = [delayed(_places)(grouped, int(a), int(b)) for a, b in pairwise(ends)]
        pieces = _pieces(groups, k, len(layout.numbers))
        parts = moved(located(where, False), [*(piece.first for piece in pieces), END])
        return groups, pieces, list(persist(*(rows_of(part, laid, keep, k) for part in parts)))
    cuts = _cuts(turned, total)
    where = [delayed(_part_of)(cuts, part) for part in turned]
    parts = moved(located(where, True), [*range(cuts.parts), END])
    whole = persist(*(rows_of(part, laid, keep, k) for part in parts))
    sizes = np.array(compute(*(delayed(len)(part) for part in whole)))
    groups = tree.Parts.of([cuts]).groups(np.empty(0, dtype=np.int64), sizes, k)
    pieces = _pieces(groups, k, len(layout.numbers))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return groups, pieces, list(persist(*(_gathered(piece, whole, starts) for piece in pieces)))


def _cuts(turned: Sequence[Any], total: int) -> tree.Cuts:
    """The top of the tree, from samples that are merged some at a time."""
    size = tree.sample_size(total)
    samples = [delayed(_sampled)(part, size) for part in turned]
    while len(samples) > 1:
        samples = [
            delayed(_samples)(samples[i : i + TOGETHER], size)
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
            own.append(delayed(_slice)(parts[part], start - first, stop - first))
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
    totals = _in_layout(layout, known, [group.counts for group in known])
    states = [counts for counts in totals[0] if counts is not None]
    laid, there = shared(layout), persist(*(delayed(_same)(piece) for piece in pieces))
    both = list(zip(parts, there, strict=True))
    sampled = list(persist(*(delayed(_chosen)(rows, piece) for rows, piece in both)))
    slopes = compute(delayed(_slopes)(laid, sampled, ends))[0]
    counts = shared([*states, *totals[1][len(states) :]])
    shares = persist(*(delayed(_shares)(laid, rows, piece, counts) for rows, piece in both))
    sums = [delayed(_level_sums)(laid, slopes, rows, piece) for rows, piece in both]
    (levels,) = compute(merged(sums))[0].arrays
    spreads = persist(
        *(delayed(_spread)(laid, slopes, levels, rows, piece, k) for rows, piece in both)
    )
    (of_table,) = compute(merged([delayed(_products)(one) for one in spreads]))[0].arrays
    chosen = [delayed(_chosen_shares)(*some) for some in zip(shares, there, strict=True)]
    tilt = compute(delayed(_tilt)(laid, sampled, chosen, ends))[0]
    names = tuple(group.law.name for group in known if isinstance(group.law, Number))
    common = Common(layout, names, slopes, tilt)
    known_to_all = shared(common)
    laws = persist(
        *(
            delayed(_law)(known_to_all, rows, piece, shares[i], spreads[i], of_table)
            for i, (rows, piece) in enumerate(both)
        )
    )
    few = [
        delayed(_chosen_law)(law, piece, layout.states)
        for law, piece in zip(laws, there, strict=True)
    ]
    marginals = compute(delayed(_marginals)(known_to_all, few, ends))[0]
    return list(laws), replace(common, marginals=marginals)


def _same(piece: Piece) -> Piece:
    return piece


def _owner(rows: Rows) -> Rows:
    """Whose places they are, and what stays as it is: all that releases need of the rows."""
    return replace(rows, scores=(), codes=())


# ---------------------------------------------------------------- avatars


@dataclass(frozen=True)
class Fitted:
    """What `fit_of_groups` left on the cluster.

    Attributes
    ----------
    known : what is known of the columns.
    held : column -> native values of its levels, or one that shows dtype and missing style.
    names : columns of the avatars, in order.
    shown : column that is kept -> an empty one of its dtype.
    sizes : (G,) int64, of the groups.
    laws, owners : of each piece, delayed.
    common : what all laws have in common.
    """

    roles: Roles
    settings: Settings
    known: tuple[Known, ...]
    held: Mapping[Hashable, Any]
    names: tuple[Hashable, ...]
    shown: Mapping[Hashable, Any]
    sizes: Ints
    laws: tuple[Any, ...]
    owners: tuple[Any, ...]
    common: Common

    @property
    def guarantee(self) -> Guarantee:
        """One in the size of the smallest group."""
        return Guarantee.of_groups(self.sizes)

    def release(self, r: int, *, seed: int, order_seed: int, shuffle: bool) -> Any:
        """One release, a Dask dataframe.

        Until it is computed or written it holds the seeds: it is not to be given away.
        """
        if r < 0:
            raise InputError(f"releases are numbered from 0, got {r}")
        table = Shared(self.known, self.held, self.names, self.roles, self.settings)
        there, common, made = shared(table), shared(self.common), []
        total, augment = int(self.sizes.sum()), self.settings.augment
        for part in range(augment):
            what = _Draw(seed, order_seed, r, part, r * augment + part, shuffle, total)
            for law, owner in zip(self.laws, self.owners, strict=True):
                made.append(delayed(_avatars)(there, common, law, owner, what))
        return in_order_of_keys(made, table, self.shown, None if shuffle else total * augment)


@dataclass(frozen=True)
class _Draw:
    """Which avatars to draw."""

    seed: int = field(repr=False)
    order_seed: int = field(repr=False)
    release: int
    part: int
    number: int
    shuffle: bool
    total: int


def _avatars(table: Shared, common: Common, law: PieceLaw, owner: Rows, what: _Draw) -> Any:
    """The avatars of a piece, with the number in whose order they are published."""
    whole, count, start = law.whole(common), len(owner), int(law.bounds[0])
    made = draw(whole, what.seed, what.release, what.part)
    own = np.arange(count)
    rows = pairing(own, law.bounds, what.seed, what.release, what.part)
    columns = [column for group in table.groups for column in group.columns]
    layout = DrawnLayout(whole.voted, whole.names)
    encoded = regions.table_of(columns, table.roles)
    drawn = Release(encoded, layout, made, own, rows, np.empty(0, dtype=np.int64))
    frame = native_frame(table, drawn, owner.take(rows).kept)
    if what.shuffle:
        frame[KEY] = keys(what.order_seed, what.number, Purpose.ORDER, start, count, what.total)
    else:
        frame[KEY] = owner.order[rows] + what.part * what.total
    return frame
