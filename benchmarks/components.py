"""Search in many components: seconds for 50 neighbours of each of a million rows.

``python benchmarks/components.py``: exact search (the kd-tree asked along the curve), exact search
by blocks (all distances as matrix products), and an approximate index where hnswlib is installed,
with the share of the true neighbours that it finds. Some rows are asked, the time is for all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from tables import jittered

from sosie.famd import FAMD
from sosie.neighbours import NeighbourIndex
from sosie.table import Table

ROWS, ASKED, NEAREST = 1_000_000, 512, 50


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    found = work(*arguments)
    return found, time.perf_counter() - start


def points_of(kind: str, rows: int, components: int) -> Any:
    if kind == "continuous":
        return np.random.default_rng(0).normal(size=(rows, components))
    table = Table.of(jittered(rows))
    return FAMD.fit(table, components).transform(table)


def searchable(points: Any) -> NeighbourIndex:
    """With its tree, which is made at the first question."""
    index = NeighbourIndex(points)
    index.nearest(points[:1], 1)
    return index


def blocked(points: Any, queries: Any) -> Any:
    near = np.empty((len(queries), NEAREST), dtype=np.int64)
    squares = np.square(points).sum(axis=1)
    for start in range(0, len(queries), 64):
        some = queries[start : start + 64]
        away = squares - 2 * some @ points.T
        near[start : start + 64] = np.argpartition(away, NEAREST, axis=1)[:, :NEAREST]
    return near


def approximate(points: Any, queries: Any, exact: Any) -> tuple[float, float, float] | None:
    try:
        hnswlib = import_module("hnswlib")
    except ImportError:
        return None
    index = hnswlib.Index(space="l2", dim=points.shape[1])
    index.init_index(max_elements=len(points), ef_construction=100, M=16)
    _, built = timed(index.add_items, points)
    index.set_ef(200)
    (found, _), asked = timed(index.knn_query, queries, NEAREST)
    shared = [len({*a} & {*b}) for a, b in zip(found.tolist(), exact.tolist(), strict=True)]
    return built, asked, float(np.mean(shared)) / NEAREST


def main(arguments: list[str]) -> None:
    rows = int(arguments[0]) if arguments else ROWS
    grid = Grid("points", "components", "kd-tree", "blocks", "hnsw", "its recall", box=None)
    for kind in ("mixed", "continuous"):
        for components in (5, 12, 26):
            points = points_of(kind, rows, components)
            index, built = timed(searchable, points)
            middle = slice(len(points) // 2, len(points) // 2 + ASKED)
            queries, scale = index.placed[middle], len(points) / ASKED
            found, asked = timed(index.nearest, queries, NEAREST)
            few = queries[:64]
            _, by_blocks = timed(blocked, points, few)
            near = approximate(points, queries, found.rows)
            grid.add_row(
                kind,
                str(components),
                f"{built + asked * scale:,.0f} s",
                f"{by_blocks * len(points) / len(few):,.0f} s",
                "" if near is None else f"{near[0] + near[1] * scale:,.0f} s",
                "" if near is None else f"{near[2]:.3f}",
            )
    Console(width=100).print(grid)


if __name__ == "__main__":
    main(sys.argv[1:])
