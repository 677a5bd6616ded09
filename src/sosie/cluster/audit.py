"""Metrics of tables on a Dask cluster: the same figures as on one machine.

Columns are encoded and counted whole, one at a time. Rows then move into regions of the
latent space, originals and avatars into the same ones, and `sosie.cluster.nearest` says
what they ask each other. What was found (one number a row) is gathered by one worker, where
the function of the metric runs; here come sums, levels, walls and metrics, never rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import getitem
from typing import Any

import numpy as np

from sosie.audits.comparison import Found, check_aligned
from sosie.audits.distances import NEAREST, Crowd, own_distances
from sosie.audits.privacy.local_cloaking import people_to_count
from sosie.audits.reasons import NOT_ON_CLUSTER
from sosie.audits.registry import definition_of
from sosie.audits.results import Metric
from sosie.cluster import nearest as between
from sosie.cluster import regions
from sosie.cluster.columns import both_tables, encoded_alike, names_of, row_counts_of, table_of_part
from sosie.cluster.encoding import REGION, cuts_of
from sosie.cluster.local import region_of_part
from sosie.cluster.regions import Region
from sosie.cluster.scheduling import compute, delayed, merged, persist, shared
from sosie.cluster.shuffle import PLACE, ROW, moved, walls_between
from sosie.compute.arrays import Floats, Ints
from sosie.data.rows import SECOND, hashes
from sosie.data.table import Roles, Table
from sosie.errors import InputError
from sosie.latent.famd import FAMD, Layout
from sosie.latent.neighbours import curve, reach_of

__all__ = ["Spread", "spread"]


@dataclass(frozen=True)
class Spread(Found):
    """A comparison whose rows are on a cluster.

    Attributes
    ----------
    columns : what was counted of each column, by function, delayed.
    people, made : originals and avatars in the same regions, delayed.
    """

    columns: tuple[Any, ...] = ()
    people: tuple[Any, ...] = ()
    made: tuple[Any, ...] = ()

    def measure(self, metric: Callable[..., Metric], **options: Any) -> Metric:
        """A metric, on the worker that gathered what it needs.

        Raises
        ------
        InputError
            It is not computed on a cluster.
        """
        gathered = self._gathered(metric.__name__)
        measured: Metric = compute(delayed(_measured)(metric, self._shell, gathered, options))[0]
        return measured

    @property
    def _shell(self) -> Found:
        return Found(
            self.originals,
            self.avatars,
            aligned=self.aligned,
            components=self.components,
            rows=self.rows,
            avatar_rows=self.avatar_rows,
            no_space=self.no_space,
        )

    def _gathered(self, key: str) -> dict[str, Any]:
        """What a metric is computed from, as it declares: attributes of `Found`."""
        definition = definition_of(key)
        what = None if definition is None else definition.gathered
        if definition is None or what is None:
            raise InputError(f"{key} is not computed on a cluster", reason=NOT_ON_CLUSTER)
        if definition.count is not None:
            name = definition.count.__name__
            return {"counted": {name: [delayed(getitem)(column, name) for column in self.columns]}}
        if what == "repeated":
            repeated = map(delayed(between.repeated), self.people, self.made)
            return {"known": {"repeated": delayed(np.concatenate)(list(repeated))}}
        if self.no_space is not None or self.lacks(*definition.needs) is not None:
            return {}
        if what in ("closest", "two_closest"):
            width = 1 if what == "closest" else 2
            away = [delayed(_first)(part, width) for part in self._closest]
            return {"known": {"closest_originals": delayed(np.concatenate)(away)}}
        if what == "hit":
            return {"known": {"crowd": self._crowd("hit")}}
        (around,) = persist(self._crowd("closer"))
        return {"known": {"crowd": around}, "closer_avatars": self._counted(around)}

    @cached_property
    def _outlines(self) -> tuple[Any, Any]:
        """Boxes of originals, and of avatars."""
        boxes = delayed(regions.outline_of)
        people, made = ([boxes(region) for region in some] for some in (self.people, self.made))
        return persist(delayed(list)(people), delayed(list)(made))

    @cached_property
    def _closest(self) -> list[Any]:
        """By region, distances from avatars to their two nearest originals."""
        found = _nearest(self.made, self.people, self._outlines[0], min(2, self.rows))
        return list(persist(*map(delayed(between.closest), self.made, found)))

    @cached_property
    def _crowds(self) -> list[Any]:
        """By region, what stands between originals and their own avatars."""
        outlines, total = self._outlines[1], self.avatar_rows
        found = _nearest(self.people, self.made, outlines, min(NEAREST, total))
        full = persist(
            *(
                delayed(between.asks_ties)(region, near, outlines, total)
                for region, near in zip(self.people, found, strict=True)
            )
        )
        tied = map(delayed(between.summed), full, _answered(full, self.made, between.counts))
        crowds = delayed(between.crowd_of)
        return list(
            persist(
                *(
                    crowds(region, near, total, some, count)
                    for region, near, some, count in zip(
                        self.people, found, full, tied, strict=True
                    )
                )
            )
        )

    def _crowd(self, name: str) -> Any:
        """One attribute of the crowd of the whole table, in row order."""
        orders = [delayed(_order)(region) for region in self.people]
        parts = [delayed(getattr)(crowd, name) for crowd in self._crowds]
        return delayed(_whole_crowd)(name, orders, parts, self.rows, min(NEAREST, self.avatar_rows))

    def _counted(self, around: Any) -> Any:
        """Avatars closer than their own to those around whom more than `NEAREST` are."""
        (rows,) = persist(delayed(people_to_count)(around))
        outlines = self._outlines[1]
        asking = persist(
            *(
                delayed(between.asks_closer)(region, crowd, rows, outlines)
                for region, crowd in zip(self.people, self._crowds, strict=True)
            )
        )
        counted = map(delayed(between.summed), asking, _answered(asking, self.made, between.counts))
        # What was persisted lives as long as it is referred to here, not only in a graph.
        (closer,) = persist(delayed(_closer)(around, rows, list(asking), list(counted)))
        return closer


def _closer(
    around: Crowd, rows: Ints, asking: Sequence[between.Asking], counted: Sequence[Ints]
) -> Ints:
    closer = around.closer.copy()
    for some, found in zip(asking, counted, strict=True):
        closer[some.rows] = found
    return np.asarray(closer[rows])


def _measured(
    metric: Callable[..., Metric],
    shell: Found,
    found: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Metric:
    """The metric without what concerns single rows."""
    return replace(metric(replace(shell, **found), **options), by_person={})


def _order(region: Region) -> Ints:
    return region.order


def _first(distances: Floats, columns: int) -> Floats:
    return distances[:, :columns]


def _whole_crowd(
    name: str, orders: Sequence[Ints], parts: Sequence[Any], rows: int, limit: int
) -> Crowd:
    whole = np.empty(rows, dtype=parts[0].dtype)
    for order, part in zip(orders, parts, strict=True):
        whole[order] = part
    none: Any = np.empty(0)
    known = {"own": none, "nearest": none, "hit": none, "closer": none}
    return Crowd(**(known | {name: whole}), limit=limit)


# ---------------------------------------------------------------- questions between regions


def _nearest(asking: Sequence[Any], held: Sequence[Any], outlines: Any, k: int) -> list[Any]:
    """By region, distances from its distinct points to the k nearest rows of the other table."""
    found = persist(*(delayed(between.near)(*both, k) for both in zip(asking, held, strict=True)))
    asked = persist(
        *(
            delayed(between.asks)(region, near, outlines, i)
            for i, (region, near) in enumerate(zip(asking, found, strict=True))
        )
    )
    answered = _answered(asked, held, between.answers, k)
    return list(persist(*map(delayed(between.nearest), found, asked, answered)))


def _answered(
    asking: Sequence[Any], held: Sequence[Any], answer: Callable[..., Any], *options: Any
) -> list[dict[int, Any]]:
    """By asker, what each region that it asks answers."""
    whom = compute(*(delayed(_whom)(some) for some in asking))
    answers = [
        delayed(answer)(
            region,
            {i: delayed(_asked)(asking[i], j) for i in range(len(held)) if j in whom[i]},
            *options,
        )
        for j, region in enumerate(held)
    ]
    return [{j: delayed(getitem)(answers[j], i) for j in others} for i, others in enumerate(whom)]


def _whom(asking: between.Asking) -> list[int]:
    return sorted(asking.asked)


def _asked(asking: between.Asking, one: int) -> regions.Asked:
    return asking.asked[one]


# ---------------------------------------------------------------- from tables to regions


def spread(
    originals: Any,
    avatars: Any,
    *,
    aligned: bool = False,
    roles: Roles | None = None,
    components: int = 5,
    k: int = 5,
) -> Spread:
    """Two Dask dataframes, or two `Scan`, in the same regions of one latent space.

    Parameters
    ----------
    aligned : row i of the avatars is the avatar of row i; with N avatars a person, N whole
        tables one after the other.
    roles : as for `Comparison.of`.
    k : a level carried by fewer people is rare.

    Raises
    ------
    InputError
        As `Comparison.of`; or partitions of a table differ in their columns or types.
    """
    roles = replace(roles or Roles(), keep=(), linked=())
    names = names_of(originals, avatars, roles)
    lengths = [row_counts_of(table, what) for table, what in both_tables(originals, avatars)]
    rows, made = (sum(some) for some in lengths)
    if not rows:
        raise InputError("the table has no rows")
    if not made:
        raise InputError("the avatars have no rows")
    ends = [list(pairwise(cuts_of(some)[0].tolist())) for some in lengths]
    if aligned:
        check_aligned(rows, made)  # row i with row i: both are cut at the same rows
        ends[1] = [(p * rows + a, p * rows + b) for p in range(made // rows) for a, b in ends[0]]
    columns, held = [], []
    for name in names:
        column, cut = encoded_alike(name, originals, avatars, roles, ends, aligned=aligned, k=k)
        columns.append(column)
        held.append(cut)
    before = tuple(column.before for column in columns)
    after = tuple(column.after for column in columns)
    tables = [
        [
            delayed(table_of_part)(own, [some[which][i] for some in held], roles)
            for i in range(len(cut))
        ]
        for which, (own, cut) in enumerate(zip((shared(before), shared(after)), ends, strict=True))
    ]
    layout = shared(Layout.from_outlines([column.outline for column in columns], roles.weights))
    famd, no_space = None, None
    try:
        sums = [delayed(regions.cross_product)(layout, table) for table in tables[0]]
        famd = FAMD.solve(compute(merged(sums))[0], components)
    except InputError as error:
        if error.reason is None:
            raise
        no_space = error.reason
    wanted = max(*(len(some) for some in lengths), -(-(rows + made) // REGION))
    located = _placed(tables, ends, famd, aligned=aligned)
    del tables, held
    walls = walls_between([part for some in located for part in some], wanted, rows + made)
    shape = (2, 0 if famd is None else famd.components)
    people, avatars_there = _in_cells(located, walls, shape)
    return Spread(
        regions.table_of(before, roles),
        regions.table_of(after, roles),
        aligned=aligned,
        components=components,
        notes=tuple(dict.fromkeys(note for i in range(3) for c in columns for note in c.notes[i])),
        rows=rows,
        avatar_rows=made,
        columns=tuple(column.counted for column in columns),
        people=people,
        made=avatars_there,
        no_space=no_space,
    )


def _placed(
    tables: Sequence[Sequence[Any]],
    ends: Sequence[Sequence[tuple[int, int]]],
    famd: FAMD | None,
    *,
    aligned: bool,
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Parts of originals and of avatars, with their places."""
    space = shared(famd)
    points = [[delayed(_points)(space, table) for table in some] for some in tables]
    people, count = [], len(tables[0])
    for i, (start, _) in enumerate(ends[0]):
        own = points[1][i::count] if aligned and famd is not None else []
        people.append(delayed(_located)(space, tables[0][i], points[0][i], own, start))
    made = [
        delayed(_located)(space, table, there, [], start)
        for table, there, (start, _) in zip(tables[1], points[1], ends[1], strict=True)
    ]
    located = persist(*people, *made)
    return located[:count], located[count:]


def _in_cells(
    located: Sequence[Sequence[Any]], walls: Sequence[int], shape: tuple[int, int]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Originals and avatars, moved into the same regions."""
    people, made = (moved(some, walls) for some in located)
    found = persist(*(delayed(region_of_part)(part, shape, []) for part in (*people, *made)))
    return tuple(found[: len(people)]), tuple(found[len(people) :])


def _points(famd: FAMD | None, table: Table) -> Floats:
    return np.empty((len(table), 0)) if famd is None else famd.transform(table)


def _located(
    famd: FAMD | None, table: Table, points: Floats, own: Sequence[Floats], start: int
) -> Any:
    """The rows of one part as a dataframe that can be moved.

    Place, number, coordinates (p), hashes of the whole row (c), distances to their own (v).
    """
    import pandas as pd

    told = [hashes(table), hashes(table, SECOND)]
    # Without a space, any place will do at which equal rows meet.
    place = told[0] >> np.uint64(1) if famd is None else curve(points, reach_of(famd.eigenvalues))
    columns: dict[str, Any] = {
        PLACE: place.astype(np.int64),
        ROW: np.arange(start, start + len(table)),
    }
    columns |= {f"p{i}": points[:, i] for i in range(points.shape[1])}
    columns |= {f"c{i}": some for i, some in enumerate(told)}
    columns |= {f"v{i}": own_distances(points, some) for i, some in enumerate(own)}
    return pd.DataFrame(columns)
