"""Avatars drawn around neighbours, of a Dask dataframe: the same as on one machine, byte for byte.

`sosie.cluster.regions` says what is done to each part.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import getitem
from typing import Any

import numpy as np

from sosie.cluster import regions
from sosie.cluster.encoding import (
    REGION,
    Encoder,
    cuts_of,
    encoded_columns,
    in_order,
    names_and_lengths,
    pieces_of,
    shown_of,
)
from sosie.cluster.regions import Group, Region
from sosie.cluster.release import Shared, in_order_of_keys, native_frame
from sosie.cluster.scheduling import compute, delayed, merged, persist, shared
from sosie.cluster.shuffle import KEY, PLACE, ROW, moved, walls_between
from sosie.compute.arrays import Ints
from sosie.compute.randomness import BLOCK, Purpose, keys
from sosie.compute.storage import MEMORY
from sosie.data.rows import values_of
from sosie.data.table import Column, Numbers, Roles, Table
from sosie.errors import InputError, Reason
from sosie.generate.draw import gather, gathered_into
from sosie.generate.guarantee import Guarantee
from sosie.generate.local import LocalMethod, layout_of
from sosie.generate.methods import method_of
from sosie.generate.mixture import Mixture, prepared
from sosie.generate.noise import Noise
from sosie.generate.release import Release
from sosie.generate.settings import Settings
from sosie.latent.famd import FAMD, Layout
from sosie.latent.neighbours import curve, reach_of

__all__ = ["Fitted", "fit_of_neighbours", "region_of_part"]


@dataclass(frozen=True)
class Fitted:
    """What `fit` left on the cluster.

    Attributes
    ----------
    groups : what is known of the columns.
    held : column -> native values of its levels, or one that shows dtype and missing style.
    shown : column that is kept -> an empty one of its dtype.
    noise : of all mixtures.
    mixtures, kept : one of each a region, delayed.
    firsts : the first place of each region, and the number of rows.
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


def fit_of_neighbours(
    data: Any, settings: Settings, roles: Roles, regions_wanted: int | None = None
) -> Fitted:
    """Find each person's neighbours.

    Parameters
    ----------
    regions_wanted : how many regions to make; by default as many as there are partitions, and so
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
    sums = [delayed(regions.cross_product)(laid, table) for table in tables]
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
    wanted = regions_wanted or max(len(lengths), -(-total // REGION))
    shifted = moved(located, walls_between(located, wanted, total))
    shape = (sum(g.prepared.voted is not None for g in groups), width)
    found = list(
        persist(*(delayed(region_of_part)(part, shape, list(roles.keep)) for part in shifted))
    )
    del located, shifted
    sizes = compute(*(delayed(len)(region) for region in found))
    found = [region for region, size in zip(found, sizes, strict=True) if size]
    keeping = persist(*(delayed(_kept_of)(region) for region in found))
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
    return regions.without_rows(columns, made), arrays


def _same_column(column: Column) -> Column:
    return column


_OF_NEIGHBOURS = Encoder(_same_column, _prepared)


def _part_table(
    groups: Sequence[Group], rows: Sequence[Any], names: Sequence[Hashable], roles: Roles
) -> Table:
    columns = [
        regions.with_rows(column, held)
        for group, (arrays, *_) in zip(groups, rows, strict=True)
        for column, held in zip(group.columns, arrays, strict=True)
    ]
    return regions.table_of(in_order(columns, names), roles)


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


def region_of_part(part: Any, shape: tuple[int, int], keep: Sequence[Hashable]) -> Region:
    """A region from the rows that came to it."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()  # what moving the rows took
    votes, width = shape
    values = sum(str(name).startswith("v") for name in part.columns)
    return regions.region_of(
        part.index.to_numpy().astype(np.uint64),
        np.ascontiguousarray(part[[f"p{i}" for i in range(width)]].to_numpy()),
        part[ROW].to_numpy(),
        [part[f"c{i}"].to_numpy() for i in range(votes)],
        [part[f"v{i}"].to_numpy() for i in range(values)],
        {name: part[f"k{i}"] for i, name in enumerate(keep)},
    )


def _mixtures(found: list[Any], firsts: Ints, groups: Any, settings: Settings) -> list[Any]:
    """One of each region; `found` is emptied, so that the cluster can let the regions go.

    Parameters
    ----------
    groups : see `Fitted`, on the cluster.
    """
    k, count = settings.k, len(found)
    # What is searched and what is mixed are read from disk apart.
    rows = persist(*(delayed(_without_points)(region) for region in found))
    there = persist(*(delayed(_only_points)(region) for region in found))
    found.clear()
    (outlines,) = persist(delayed(list)([delayed(regions.outline_of)(region) for region in there]))
    own = persist(*(delayed(regions.search)(region, k) for region in there))
    asked = persist(
        *(
            delayed(regions.asks)(region, near, outlines, i, k)
            for i, (region, near) in enumerate(zip(there, own, strict=True))
        )
    )
    pairs = compute(*(delayed(sorted)(some) for some in asked))
    answered = [
        delayed(regions.answers)(
            there[j],
            int(firsts[j]),
            {i: delayed(getitem)(asked[i], j) for i in range(count) if j in pairs[i]},
            k,
        )
        for j in range(count)
    ]
    near = persist(
        *(
            delayed(regions.settled)(
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


def _without_points(region: Region) -> Region:
    return replace(region, points=regions.no_rows(region.points))


def _only_points(region: Region) -> Region:
    return replace(region, codes=(), values=(), kept={})


def _wanted(near: tuple[Any, Ints], walls: Ints, me: int) -> dict[int, Ints]:
    return regions.wanted(near[1], walls, me)


def _halo(region: Region, wants: Mapping[int, Ints], other: int, first: int) -> regions.Halo:
    return regions.halo(region, wants[other], first)


def _mixed(
    region: Region,
    near: tuple[Any, Ints],
    halos: Sequence[regions.Halo],
    groups: Sequence[Group],
    first: int,
    total: int,
) -> Mixture:
    return regions.mixture_of_region(region, *near, halos, groups, first=first, total=total)


def _kept_of(region: Region) -> Mapping[Hashable, Any]:
    return region.kept


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
    """The avatars of one region, with the number in whose order they are published."""
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
    table = regions.table_of(columns, shared.roles)
    drawn = Release(table, layout_of(mixture), made, every, mixture.order, none)
    frame = native_frame(shared, drawn, kept)
    start, count = mixture.first, len(mixture.order)
    if draw.shuffle:
        frame[KEY] = keys(draw.order_seed, draw.number, Purpose.ORDER, start, count, mixture.total)
    else:
        frame[KEY] = mixture.order + part * mixture.total
    return frame
