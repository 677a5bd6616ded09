"""Avatars of a Dask dataframe: the same as on one machine, byte for byte.

Dask reads, schedules, spills, moves rows and starts again what a lost worker had done;
`sosie.cluster.regions` says what is done to each part. The program that asks holds sums,
levels and walls, never rows.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie.cluster import regions as cells
from sosie.cluster.regions import Cell, Group
from sosie.cluster.sizes import sized
from sosie.compute.arrays import Ints
from sosie.compute.randomness import BLOCK, Purpose, keys
from sosie.compute.storage import MEMORY
from sosie.data import frames
from sosie.data.atomic import usual_mode
from sosie.data.files import check_apart
from sosie.data.identifiers import IdentifierError, Suspect, suspect
from sosie.data.native import written
from sosie.data.parquet import Scan
from sosie.data.rows import values_of
from sosie.data.table import (
    Column,
    Levels,
    Numbers,
    Roles,
    Table,
    check_linked,
    encoded_column,
)
from sosie.errors import InputError, Reason, quoted
from sosie.generate.draw import gather, gathered_into
from sosie.generate.guarantee import Guarantee
from sosie.generate.local import LocalMethod, layout_of
from sosie.generate.methods import method_of
from sosie.generate.mixture import Mixture, prepared
from sosie.generate.noise import Noise, Sums
from sosie.generate.release import Release
from sosie.latent.famd import FAMD, CrossProduct, Layout
from sosie.latent.neighbours import curve, reach_of
from sosie.words.readings import warning_of

if TYPE_CHECKING:
    from sosie.generate.avatarizer import Avatarizer
    from sosie.generate.settings import Settings

__all__ = ["LOCAL", "Fitted", "avatarize_folder", "fit"]

LOCAL = "local"

SAMPLED = 100_000
"""Places looked at to set the walls between cells."""

CELL = 1 << 17
"""Rows of a cell: what is done to one takes some 200 MB."""

SIDE_BY_SIDE = 2
"""Columns encoded at the same time: each takes memory of one worker."""

TOGETHER = 8
"""Sums that are merged at a time, as a tree."""

PLACE, KEY, ROW = "__place__", "__key__", "__row__"


def delayed(function: Any) -> Any:
    """`dask.delayed`."""
    import dask

    return dask.delayed(function)  # type: ignore[attr-defined]


def compute(*tasks: Any) -> tuple[Any, ...]:
    """`dask.compute`: results here."""
    import dask

    with _losses_told():
        return tuple(dask.compute(*tasks))  # type: ignore[attr-defined,no-untyped-call]


def persist(*tasks: Any) -> tuple[Any, ...]:
    """`dask.persist`: results on the cluster."""
    import dask

    return tuple(dask.persist(*tasks))  # type: ignore[attr-defined,no-untyped-call]


def shared(value: Any) -> Any:
    """A value that many tasks take: it is sent to the cluster once, not with each of them."""
    (there,) = persist(delayed(_same)(value))
    return there


def _same(value: Any) -> Any:
    return value


@contextmanager
def _losses_told() -> Iterator[None]:
    """Where workers are lost again and again, what helps instead of what Dask says."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # known to Dask's scheduler only
            raise
        raise InputError(
            "workers of the cluster were lost, one after the other, at the same piece of work: most"
            " often they have too little memory (a column is encoded whole by one of them, which"
            " takes some 40 bytes for each row of the table, and 0.3 GB); give each one more, or"
            " see their logs"
        ) from error


@dataclass(frozen=True)
class Fitted:
    """What `fit` left on the cluster.

    Attributes
    ----------
    groups : what is known of the columns.
    held : column -> native values of its levels, or one that shows dtype and missing style.
    shown : column that is kept -> an empty one of its dtype.
    noise : of all mixtures.
    mixtures, kept : one of each a cell, delayed.
    firsts : the first place of each cell, and the number of rows.
    names : columns of the avatars, in order.
    """

    roles: Roles
    settings: Settings
    groups: tuple[Group, ...]
    held: Mapping[Hashable, Any]
    mixtures: tuple[Any, ...]
    kept: tuple[Any, ...]
    firsts: Ints
    famd: FAMD
    names: tuple[Hashable, ...]
    shown: Mapping[Hashable, Any]
    noise: Noise

    @property
    def guarantee(self) -> Guarantee:
        """What holds for the avatars, or why nothing does."""
        return Guarantee.of_method(self.settings.method, int(self.firsts[-1]))

    def release(self, r: int, *, seed: int, order_seed: int, shuffle: bool) -> Any:
        """One release, a Dask dataframe.

        Until it is computed or written it holds the seeds: it is not to be given away.
        """
        if r < 0:
            raise InputError(f"releases are numbered from 0, got {r}")
        settings = self.settings
        parts = range(r * settings.augment, (r + 1) * settings.augment)
        known = Shared(self.groups, self.held, self.names, self.roles, settings)
        common = shared(known)
        make, made = delayed(_avatars), []
        for part, number in enumerate(parts):
            draw = _Draw(seed, order_seed, number, shuffle)
            for mixture, kept in zip(self.mixtures, self.kept, strict=True):
                made.append(make(common, mixture, kept, self.noise, draw, part))
        rows = None if shuffle else int(self.firsts[-1]) * settings.augment
        return in_order_of_keys(made, known, self.shown, rows)


def fit(data: Any, settings: Settings, roles: Roles, key: int = 0) -> Any:
    """Fit the method of the settings to a Dask dataframe, or to Parquet files (a `Scan`).

    Parameters
    ----------
    key : the secret of the table.

    Raises
    ------
    InputError
        The table can't be used, or partitions differ in their columns or types.
    """
    if isinstance(method_of(settings.method), LocalMethod):
        return fit_of_neighbours(data, settings, roles)
    from sosie.cluster.exchangeable import fit_of_groups

    return fit_of_groups(data, settings, roles, key)


def fit_of_neighbours(
    data: Any, settings: Settings, roles: Roles, cells_wanted: int | None = None
) -> Fitted:
    """Find each person's neighbours.

    Parameters
    ----------
    cells_wanted : how many cells to make; by default as many as there are partitions, and so
        many that they have 131,072 rows on average. No result depends on it.

    Raises
    ------
    InputError
        See `fit`.
    """
    method = _local(settings)
    names, lengths = names_and_lengths(data, roles)
    total = sum(lengths)
    if settings.k > total - 1:
        raise InputError(
            f"k is {settings.k}, and in a table of {total} rows the largest k is {total - 1}"
        )
    ends, sources = cuts_of(lengths)
    groups, held, rows = encoded_columns(data, names, roles, settings, ends, _OF_NEIGHBOURS)
    layout = Layout.from_outlines(
        in_order([o for group in groups for o in group.outlines], names), roles.weights
    )
    parts = len(sources)
    known = shared(groups)
    build, laid = delayed(_part_table), shared(layout)
    tables = [build(known, [some[i] for some in rows], names, roles) for i in range(parts)]
    sums = [delayed(cells.cross_product)(laid, table) for table in tables]
    famd = FAMD.solve(compute(merged(sums))[0], settings.components)

    reach = reach_of(famd.eigenvalues)
    space = shared(famd)
    kept = {name: pieces_of(data, name) for name in roles.keep}
    located = persist(
        *(
            delayed(_located)(
                space,
                reach,
                tables[i],
                [some[i] for some in rows],
                {name: pieces[sources[i][0]] for name, pieces in kept.items()},
                sources[i][1],
                int(ends[i]),
            )
            for i in range(parts)
        )
    )
    del rows, tables
    width = famd.components
    wanted = cells_wanted or max(len(lengths), -(-total // CELL))
    shifted = moved(located, walls_between(located, wanted, total))
    shape = (sum(g.prepared.voted is not None for g in groups), width)
    found = list(
        persist(*(delayed(cell_of_part)(part, shape, list(roles.keep)) for part in shifted))
    )
    del located, shifted
    sizes = compute(*(delayed(len)(cell) for cell in found))
    found = [cell for cell, size in zip(found, sizes, strict=True) if size]
    keeping = persist(*(delayed(_kept_of)(cell) for cell in found))
    firsts = np.cumsum([0, *(size for size in sizes if size)])
    mixtures = _mixtures(found, firsts, known, settings)
    summed = [delayed(method.noise_sums)(mixture, 1) for mixture in mixtures]
    noise = compute(merged(summed))[0].noise()
    left_out = {*roles.drop}
    return Fitted(
        roles,
        settings,
        groups,
        held,
        tuple(mixtures),
        tuple(keeping),
        firsts,
        famd,
        tuple(name for name in names if name not in left_out),
        shown_of(kept),
        noise,
    )


def _local(settings: Settings) -> LocalMethod:
    method = method_of(settings.method)
    if not isinstance(method, LocalMethod):
        raise TypeError(f"method {settings.method} has no neighbours")
    return method


def names_and_lengths(data: Any, roles: Roles) -> tuple[list[Hashable], list[int]]:
    """The columns of a table, and how many rows each partition has.

    Raises
    ------
    InputError
        There is nothing to make avatars from, or a role can't be had on a cluster.
    """
    names = list(data.columns)
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise InputError(f"several columns have the same name: {quoted(repeated)}")
    if not names:
        raise InputError("the table has no columns")
    roles.check(names)
    if roles.id:
        raise InputError(
            f"surrogates for {quoted(roles.id)} are not made on a cluster: leave the column out"
            " (--drop), and number the avatars afterwards"
        )
    lengths = lengths_of(data, names[0])
    if not sum(lengths):
        raise InputError("the table has no rows")
    return names, lengths


# ---------------------------------------------------------------- columns


def cuts_of(lengths: Sequence[int]) -> tuple[Ints, list[tuple[int, int]]]:
    """Parts of at most `CELL` rows: where they end, and where each is in the partitions.

    Returns
    -------
    ends : (parts + 1,) int64, numbers of rows.
    sources : the partition of each part, and its first row there.

    >>> ends, sources = cuts_of([0, 3])
    >>> ends.tolist(), sources
    ([0, 0, 3], [(0, 0), (1, 0)])
    """
    sizes, sources = [], []
    for partition, length in enumerate(lengths):
        for start in range(0, max(length, 1), CELL):
            sizes.append(min(CELL, length - start))
            sources.append((partition, start))
    return np.cumsum([0, *sizes]), sources


def pieces_of(data: Any, name: Hashable) -> list[Any]:
    """One column of each partition; where data come from Parquet, nothing else is read."""
    if isinstance(data, Scan):
        return [delayed(_read)(data, part, name) for part in range(len(data.files))]
    return list(data[[name]].to_delayed())


def _read(scan: Scan, part: int, name: str) -> Any:
    """One column of one file, in Arrow's types, which hold missing values of every type."""
    return frames.in_pandas(scan.part(part, [name]).to_series()).to_frame(name)


def lengths_of(data: Any, name: Hashable) -> list[int]:
    if isinstance(data, Scan):
        return list(data.counts)
    return list(compute(*(delayed(len)(piece) for piece in pieces_of(data, name))))


@dataclass(frozen=True)
class Encoder:
    """What a method makes of a column, or of a group of linked ones, whole.

    Attributes
    ----------
    column : puts a column first in the form that the method wants.
    made : what is known of the group without its rows (its `columns` and `outlines`, and which
        levels are `drawable`), and arrays of its rows; what deserves a look is added to the list.
    """

    column: Callable[[Column], Column]
    made: Callable[[Sequence[Column], Settings, list[Reason]], tuple[Any, tuple[Any, ...]]]


def encoded_columns(
    data: Any,
    names: Sequence[Hashable],
    roles: Roles,
    settings: Settings,
    ends: Ints,
    encoder: Encoder,
) -> tuple[tuple[Any, ...], dict[Hashable, Any], list[list[Any]]]:
    """Encode each column or linked group whole, and cut it into parts.

    Returns
    -------
    groups : what is known of them.
    held : native values that writing avatars needs.
    rows : for each group, its encoded rows in each part, on the cluster.
    """
    import warnings

    outside = {*roles.keep, *roles.drop, *roles.id}
    linked = {name: group for group in roles.linked for name in group}
    asked = [linked.get(name, (name,)) for name in names if name not in outside]
    groups: list[Any] = []
    rows: list[list[Any]] = []
    held: dict[Hashable, Any] = {}
    suspects: list[Suspect] = []

    def begin(own: Sequence[Hashable]) -> tuple[Any, ...]:
        # Files are read by the task itself, which so never holds a column twice.
        pieces = data if isinstance(data, Scan) else [pieces_of(data, name) for name in own]
        whole = delayed(_encoded)(own, pieces, roles, settings, encoder)
        cut = [delayed(_cut)(whole, int(a), int(b)) for a, b in pairwise(ends)]
        return persist(delayed(_facts)(whole), *cut)

    begun = map(begin, dict.fromkeys(asked))
    waiting = deque(islice(begun, SIDE_BY_SIDE))
    while waiting:
        facts, *cut = waiting.popleft()
        group, natives, notes, identifiers = compute(facts)[0]
        for note in notes:
            warnings.warn(warning_of(note), stacklevel=4)
        groups.append(group)
        held |= natives
        suspects += identifiers
        rows.append(cut)
        del facts
        waiting.extend(islice(begun, 1))
    if suspects:
        raise IdentifierError(suspects)
    if not groups:
        raise InputError(
            "no column is left to make avatars from: all are kept, dropped or identifiers"
        )
    # Categories first, then numbers, as on one machine.
    order = sorted(range(len(groups)), key=lambda i: isinstance(groups[i].columns[0], Numbers))
    return tuple(groups[i] for i in order), held, [rows[i] for i in order]


@sized
@dataclass(frozen=True)
class _Encoded:
    group: Any
    natives: dict[Hashable, Any]
    notes: list[Reason]
    identifiers: list[Suspect]
    arrays: tuple[Any, ...]


def _encoded(
    names: Sequence[Hashable],
    pieces: Scan | Sequence[Sequence[Any]],
    roles: Roles,
    settings: Settings,
    encoder: Encoder,
) -> _Encoded:
    """A column or a linked group, whole, with arrays of its rows."""
    notes: list[Reason] = []
    columns: list[Column] = []
    natives: dict[Hashable, Any] = {}
    suspects: list[Suspect] = []
    for i, name in enumerate(names):
        series = (
            pieces.get_column(name) if isinstance(pieces, Scan) else whole_column(name, pieces[i])
        )
        column = encoder.column(encoded_column(name, series, roles, notes))
        columns.append(column)
        natives[name] = _shown(column, series)
        answered = name in (*roles.categorical, *roles.numeric, *roles.date)
        found = None if answered else suspect(name, series)
        suspects += [] if found is None else [found]
        del series
    for column in columns if len(columns) > 1 else ():
        check_linked(column)
    group, arrays = (None, ()) if suspects else encoder.made(columns, settings, notes)
    return _Encoded(group, natives, notes, suspects, arrays)


def _prepared(
    columns: Sequence[Column], settings: Settings, notes: list[Reason]
) -> tuple[Group, tuple[Any, ...]]:
    """A group as methods by neighbours know it; arrays: codes or values, votes, averages."""
    del notes
    made = prepared(
        columns, _local(settings).scaled, k=settings.k, min_level_count=settings.min_level_count
    )
    votes = None if made.voted is None else made.voted.codes
    arrays = (tuple(map(values_of, columns)), votes, made.values)
    return cells.without_rows(columns, made), arrays


def _same_column(column: Column) -> Column:
    return column


_OF_NEIGHBOURS = Encoder(_same_column, _prepared)


def _shown(column: Column, series: frames.Series) -> Any:
    """Native values of the levels of a column, or of numbers some that show dtype and style."""
    if isinstance(column, Levels):
        native: Any = frames.take(series, column.first)
    else:
        native = frames.like(series).to_native()
    if type(native).__module__.startswith("polars"):
        native = frames.in_pandas(native)
    return native


def whole_column(name: Hashable, parts: Sequence[Any]) -> frames.Series:
    """One column of all partitions. Raises InputError where their types do not go together."""
    import pandas as pd

    held = [part[name] for part in parts if len(part)]
    first = held[0].dtype
    for i, part in enumerate(parts):
        if len(part) and _kind(part[name].dtype) != _kind(first):
            raise InputError(
                f"partition {i}: column {name!r} is {first} in the first partition with rows and"
                f" {part[name].dtype} here; give all partitions one type"
            )
    if isinstance(first, pd.CategoricalDtype):
        from pandas.api.types import union_categoricals

        same = all(series.dtype == first for series in held)
        joined = pd.Series(union_categoricals(held, ignore_order=not same))
    else:
        joined = pd.concat(held, ignore_index=True)
    return frames.column(frames.wrap(joined.to_frame("x")), "x")


def _kind(dtype: Any) -> str:
    """What must be the same in all partitions; numbers may be whole in some and not in others."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return f"category of {_kind(dtype.categories.dtype)}"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if isinstance(dtype, pd.StringDtype) or pd.api.types.is_object_dtype(dtype):
        return "text"
    return str(dtype)


def _facts(whole: _Encoded) -> tuple[Any, dict[Hashable, Any], list[Reason], list[Suspect]]:
    return whole.group, whole.natives, whole.notes, whole.identifiers


def _cut(whole: _Encoded, start: int, stop: int) -> tuple[Any, ...]:
    part = slice(start, stop)
    return tuple(_some(array, part) for array in whole.arrays)


def _some(arrays: Any, part: slice) -> Any:
    """Some rows of an array, or of each of several; None stays None."""
    if isinstance(arrays, tuple):
        return tuple(_some(array, part) for array in arrays)
    return None if arrays is None else arrays[part].copy()


# ---------------------------------------------------------------- parts of the table


def in_order(outlines: Sequence[Any], names: Sequence[Hashable]) -> list[Any]:
    place = {name: i for i, name in enumerate(names)}
    return sorted(outlines, key=lambda outline: place[outline.name])


def _part_table(
    groups: Sequence[Group], rows: Sequence[Any], names: Sequence[Hashable], roles: Roles
) -> Table:
    columns = [
        cells.with_rows(column, held)
        for group, (arrays, *_) in zip(groups, rows, strict=True)
        for column, held in zip(group.columns, arrays, strict=True)
    ]
    return cells.table_of(in_order(columns, names), roles)


def merged(sums: Sequence[Any]) -> Any:
    """One sum of many, as a tree."""
    while len(sums) > 1:
        sums = [delayed(_sum)(sums[i : i + TOGETHER]) for i in range(0, len(sums), TOGETHER)]
    return sums[0]


def _sum(parts: Sequence[CrossProduct | Sums]) -> Any:
    import copy

    # What a task was given is not changed: it may be asked for again.
    first: Any = copy.deepcopy(parts[0])
    for part in parts[1:]:
        first.merge(part)
    return first


def _located(
    famd: FAMD,
    reach: float,
    table: Table,
    rows: Sequence[Any],
    kept: Mapping[Hashable, Any],
    inside: int,
    start: int,
) -> Any:
    """The rows of one part with their coordinates, as a dataframe that can be moved."""
    import pandas as pd

    points = famd.transform(table)
    columns: dict[str, Any] = {
        PLACE: curve(points, reach).astype(np.int64),
        ROW: np.arange(start, start + len(points)),
    }
    columns |= {f"p{i}": points[:, i] for i in range(points.shape[1])}
    votes = [held for _, held, _ in rows if held is not None]
    values = [held for *_, held in rows if held is not None]
    columns |= {f"c{i}": held for i, held in enumerate(votes)}
    columns |= {f"v{i}": held for i, held in enumerate(values)}
    for i, (name, piece) in enumerate(kept.items()):
        held = piece[name].iloc[inside : inside + len(points)]
        columns[f"k{i}"] = held.reset_index(drop=True)
    return pd.DataFrame(columns)


def walls_between(located: Sequence[Any], wanted: int, total: int) -> list[int]:
    """Between which places of the curve cells lie, so that each has as many rows."""
    step = max(total // SAMPLED, 1)
    samples = compute(*(delayed(_sampled)(part, step) for part in located))
    seen = np.sort(np.concatenate(samples))
    shares = np.arange(1, wanted) / wanted
    inner = np.unique(seen[(shares * len(seen)).astype(np.int64)]) if wanted > 1 else seen[:0]
    return [0, *(int(wall) for wall in inner if wall > 0), 2**63 - 1]


def moved(located: Sequence[Any], walls: Sequence[int]) -> list[Any]:
    """Rows in cells along the curve, by Dask's own shuffle."""
    import dask.dataframe as dd

    meta = compute(delayed(_meta_of)(located[0]))[0]
    frame = dd.from_delayed(list(located), meta=meta, verify_meta=False)
    return list(frame.set_index(PLACE, divisions=list(walls)).to_delayed())


def shown_of(kept: Mapping[Hashable, Sequence[Any]]) -> dict[Hashable, Any]:
    """An empty column of the dtype of each that is kept."""
    empty = compute(*(delayed(_meta_of)(pieces[0]) for pieces in kept.values()))
    return {name: one[name] for name, one in zip(kept, empty, strict=True)}


def _meta_of(part: Any) -> Any:
    return part.iloc[:0]


def _sampled(part: Any, step: int) -> Ints:
    return np.asarray(np.sort(part[PLACE].to_numpy())[step // 2 :: step])


def cell_of_part(part: Any, shape: tuple[int, int], keep: Sequence[Hashable]) -> Cell:
    import pyarrow as pa

    pa.default_memory_pool().release_unused()  # what moving the rows took
    votes, width = shape
    values = sum(str(name).startswith("v") for name in part.columns)
    return cells.cell_of(
        part.index.to_numpy().astype(np.uint64),
        np.ascontiguousarray(part[[f"p{i}" for i in range(width)]].to_numpy()),
        part[ROW].to_numpy(),
        [part[f"c{i}"].to_numpy() for i in range(votes)],
        [part[f"v{i}"].to_numpy() for i in range(values)],
        {name: part[f"k{i}"] for i, name in enumerate(keep)},
    )


# ---------------------------------------------------------------- neighbours


def _mixtures(found: list[Any], firsts: Ints, groups: Any, settings: Settings) -> list[Any]:
    """One of each cell; `found` is emptied, so that the cluster can let the cells go.

    Parameters
    ----------
    groups : see `Fitted`, on the cluster.
    """
    k, count = settings.k, len(found)
    # What is searched and what is mixed are read from disk apart.
    rows = persist(*(delayed(_without_points)(cell) for cell in found))
    there = persist(*(delayed(_only_points)(cell) for cell in found))
    found.clear()
    (outlines,) = persist(delayed(list)([delayed(cells.outline_of)(cell) for cell in there]))
    own = persist(*(delayed(cells.search)(cell, k) for cell in there))
    asked = persist(
        *(
            delayed(cells.asks)(cell, near, outlines, i, k)
            for i, (cell, near) in enumerate(zip(there, own, strict=True))
        )
    )
    pairs = compute(*(delayed(sorted)(some) for some in asked))
    answered = [
        delayed(cells.answers)(
            there[j],
            int(firsts[j]),
            {i: delayed(getitem)(asked[i], j) for i in range(count) if j in pairs[i]},
            k,
        )
        for j in range(count)
    ]
    near = persist(
        *(
            delayed(cells.settled)(
                there[i],
                own[i],
                int(firsts[i]),
                asked[i],
                {j: delayed(getitem)(answered[j], i) for j in pairs[i]},
                k,
            )
            for i in range(count)
        )
    )
    del there, own, asked, answered
    walls = firsts[:-1]
    wants = persist(*(delayed(_wanted)(near[i], walls, i) for i in range(count)))
    pairs = compute(*(delayed(sorted)(some) for some in wants))
    made = []
    for i, others in enumerate(pairs):
        halos = [delayed(_halo)(rows[j], wants[i], j, int(firsts[j])) for j in others]
        made.append(
            delayed(_mixed)(
                rows[i],
                near[i],
                halos,
                groups,
                int(firsts[i]),
                int(firsts[-1]),
            )
        )
    return list(persist(*made))


def _without_points(cell: Cell) -> Cell:
    return replace(cell, points=cells.no_rows(cell.points))


def _only_points(cell: Cell) -> Cell:
    return replace(cell, codes=(), values=(), kept={})


def _wanted(near: tuple[Any, Ints], walls: Ints, me: int) -> dict[int, Ints]:
    return cells.wanted(near[1], walls, me)


def _halo(cell: Cell, wants: Mapping[int, Ints], other: int, first: int) -> cells.Halo:
    return cells.halo(cell, wants[other], first)


def _mixed(
    cell: Cell,
    near: tuple[Any, Ints],
    halos: Sequence[cells.Halo],
    groups: Sequence[Group],
    first: int,
    total: int,
) -> Mixture:
    return cells.mixture_of_cell(cell, *near, halos, groups, first=first, total=total)


def _kept_of(cell: Cell) -> Mapping[Hashable, Any]:
    return cell.kept


# ---------------------------------------------------------------- avatars


@dataclass(frozen=True)
class Shared:
    """What every part of a release needs."""

    groups: tuple[Any, ...]
    held: Mapping[Hashable, Any]
    names: tuple[Hashable, ...]
    roles: Roles
    settings: Settings


@dataclass(frozen=True)
class _Draw:
    """Which avatars to draw."""

    seed: int = field(repr=False)
    order_seed: int = field(repr=False)
    number: int
    shuffle: bool


def _avatars(
    shared: Shared,
    mixture: Mixture,
    kept: Mapping[Hashable, Any],
    noise: Noise,
    draw: _Draw,
    part: int,
) -> Any:
    """The avatars of one cell, with the number in whose order they are published."""
    mixture = replace(mixture, noise=noise)
    columns = [column for group in shared.groups for column in group.columns]
    numbers = [column for column in columns if isinstance(column, Numbers)]
    made = gathered_into(mixture, 1, MEMORY)
    settings = shared.settings
    gather(
        mixture,
        numbers,
        draw.seed,
        draw.number,
        made,
        decode=settings.decode,
        chunk=BLOCK,
        threads=1,
    )
    none = np.empty(0, dtype=np.int64)
    every = np.arange(len(mixture.order))
    table = cells.table_of(columns, shared.roles)
    drawn = Release(table, layout_of(mixture), made, every, mixture.order, none)
    frame = native_frame(shared, drawn, kept)
    start, count = mixture.first, len(mixture.order)
    if draw.shuffle:
        frame[KEY] = keys(draw.order_seed, draw.number, Purpose.ORDER, start, count, mixture.total)
    else:
        frame[KEY] = mixture.order + part * mixture.total
    return frame


def native_frame(shared: Shared, drawn: Release, kept: Mapping[Hashable, Any]) -> Any:
    """Avatars as the table has them, in columns that are numbered.

    Parameters
    ----------
    kept : columns that stay as they are, in the order of the avatars.
    """
    import pandas as pd

    natives: dict[Hashable, Any] = {}
    for name in shared.names:
        if name in kept:
            natives[name] = kept[name].reset_index(drop=True)
            continue
        column, series = drawn.column(name), _series(shared.held[name])
        if isinstance(column, Levels):
            column = replace(column, first=np.arange(len(column.labels)))
        natives[name] = _alike(pd.Series(written(column, series)), name, shared)
    frame = pd.concat(natives.values(), axis=1)
    frame.columns = pd.Index(_numbered(natives))
    return frame


def _series(native: Any) -> frames.Series:
    import pandas as pd

    return frames.column(frames.wrap(pd.Series(native).to_frame("x")), "x")


def _alike(series: Any, name: Hashable, known: Shared) -> Any:
    """Categories are the same in all parts: those that may be drawn, and no others."""
    import pandas as pd

    if not isinstance(series.dtype, pd.CategoricalDtype):
        return series
    held: Any = known.held[name]
    group = next(g for g in known.groups if any(c.name == name for c in g.columns))
    if isinstance(group.columns[0], Numbers):  # each part has categories of its own
        return series.astype(series.cat.categories.dtype)
    levels = group.drawable(name)
    drawn = {*(range(len(held)) if levels is None else levels.tolist())}
    names = {value for i, value in enumerate(held) if i in drawn}
    return series.cat.set_categories([c for c in held.cat.categories if c in names])


def _avatars_meta(known: Shared, shown: Mapping[Hashable, Any]) -> Any:
    """An empty dataframe with the dtypes of a release."""
    import pandas as pd

    columns = {}
    for name in known.names:
        if name in known.held:
            columns[name] = _alike(pd.Series(known.held[name])[:0], name, known)
        else:
            columns[name] = shown[name]
    frame = pd.concat(columns.values(), axis=1)
    frame.columns = pd.Index(_numbered(columns))
    frame[KEY] = np.empty(0, dtype=np.int64)
    return frame


def _numbered(names: Iterable[Hashable]) -> list[str]:
    """Names that Dask can work with, whatever those of the table are."""
    return [str(number) for number, _ in enumerate(names)]


def in_order_of_keys(
    made: Sequence[Any], known: Shared, shown: Mapping[Hashable, Any], rows: int | None
) -> Any:
    """A Dask dataframe of avatars, delayed, that have a number each.

    Parameters
    ----------
    shown : column that is kept -> an empty one of its dtype.
    rows : numbers are below it; None where they are any of 63 bits.
    """
    import dask.dataframe as dd

    meta = _avatars_meta(known, shown)
    frame = dd.from_delayed(list(made), meta=meta, verify_meta=False)
    last = 2**63 - 1 if rows is None else max(rows - 1, 1)
    inner = {last * i // len(made) for i in range(1, len(made))}
    ordered = frame.set_index(KEY, divisions=sorted({0, *inner, last}))
    named = _named(meta.drop(columns=KEY), known.names)
    return ordered.map_partitions(_named, known.names, meta=named).clear_divisions()


def _named(part: Any, names: Sequence[Hashable]) -> Any:
    """A part of a release with the table's own names, and an index of its own."""
    import pandas as pd

    part = part.reset_index(drop=True)
    part.columns = pd.Index(list(names), tupleize_cols=False)
    return part


# ---------------------------------------------------------------- files


def avatarize_folder(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    *,
    scheduler: str = LOCAL,
    aligned: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Make avatars of Parquet files on a cluster, into a folder of Parquet files.

    Parameters
    ----------
    data : a Parquet file, or a folder of them, that all workers can read.
    out : a folder that is not there yet, where all workers can write.
    scheduler : address of a Dask scheduler; ``local`` starts workers on this machine.
    aligned : also the secret table, row i the avatar of row i, in a folder of its own.

    Raises
    ------
    InputError
        Dask is not installed, the cluster can't be reached, the files can't be used, or a
        folder is there already; nothing is left behind.
    """
    check_apart([data], [out, aligned])
    for folder in (out, aligned):
        if folder is not None and folder.exists():
            raise InputError(f"{folder}: is there already; choose a folder that is not")
        if folder is not None and data.resolve() in folder.resolve().parents:
            raise InputError(f"{folder}: is inside the folder that is read; choose another one")
    scan = Scan.of(data.resolve())
    progress("read")
    with connected(scheduler):
        progress("fit")
        avatarizer.fit(scan, engine=sys.modules["sosie.cluster"])
        progress("draw")
        with ExitStack() as stages:
            staged = {
                folder: stages.enter_context(_stage(folder))
                for folder in (out, aligned)
                if folder is not None
            }
            for folder, stage in staged.items():
                release = avatarizer.release(shuffle=folder is out)
                with _losses_told():
                    dtypes = _pandas_dtypes(scan, list(release.columns))
                    compute(
                        *(
                            delayed(_written)(part, stage / _file_name(number), dtypes)
                            for number, part in enumerate(release.to_delayed())
                        )
                    )
            staged[out].chmod(usual_mode(folder=True))
            for folder, stage in staged.items():
                stage.rename(folder)


def connected(scheduler: str) -> Any:
    """A client of a cluster, for `with`. Raises InputError where there is none."""
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise InputError(f"{error.name} is not installed: pip install 'sosie[dask]'") from error
    options: dict[str, Any] = {"address": scheduler}
    if scheduler == LOCAL:  # no page about it that others on the network could open
        options = {"dashboard_address": None}
    try:
        return Client(**options, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"{scheduler}: no Dask scheduler answers there ({error})") from error


def _pandas_dtypes(scan: Scan, names: Sequence[str]) -> bytes | None:
    """What the first file says to pandas of some columns, in JSON; None where it says nothing.

    An index is left out: it is a column like any other.
    """
    from pyarrow import parquet

    known = (parquet.read_schema(scan.files[0]).metadata or {}).get(b"pandas")
    if known is None:
        return None
    said = json.loads(known)
    kept = [column for column in said.get("columns", []) if column.get("name") in names]
    return json.dumps({**said, "columns": kept, "index_columns": []}).encode()


def _written(part: Any, path: Path, dtypes: bytes | None) -> None:
    """Write a partition; pandas reads it in the dtypes that it reads the originals in."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.Table.from_pandas(part, preserve_index=False)
    parquet.write_table(table.replace_schema_metadata(dtypes and {"pandas": dtypes}), path)


def _file_name(part: int) -> str:
    return f"part-{part:06d}.parquet"  # in the order of their names they are in order


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A folder of its owner's beside the final one; it is gone at the end, renamed or not."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left in folder.parent.glob(f".sosie-{folder.name}-*.partial"):
            shutil.rmtree(left, ignore_errors=True)  # of an earlier try that was killed
        stage = Path(
            tempfile.mkdtemp(
                prefix=f".sosie-{folder.name}-", suffix=".partial", dir=folder.parent.resolve()
            )
        )
        try:
            yield stage
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{folder}: can't be written ({error.strerror or error})") from error
