"""Search in many components: seconds for 50 neighbours of each of a million rows.

``python benchmarks/components.py``: the kd-tree asked along the curve, and blocks (distances as
matrix products); sosie takes the one that is marked. Both are exact. Beside them an approximate
index where hnswlib is installed, with the share of the true neighbours that it finds. Some rows
are asked, the time is for all.
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

from sosie.data.table import Table
from sosie.latent import brute_force as blocks
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex

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
    index.__dict__["_in_blocks"] = False
    index.nearest(points[:1], 1)
    return index


def in_blocks(index: NeighbourIndex, queries: Any) -> Any:
    return blocks.nearest(index.distinct, queries, NEAREST, index.order[index.starts], -1)


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
    grid = Grid("points", "components", "kd-tree", "blocks", "taken", "hnsw", "recall", box=None)
    for kind in ("mixed", "continuous"):
        for components in (5, 12, 26):
            points = points_of(kind, rows, components)
            index, built = timed(searchable, points)
            middle = slice(len(points) // 2, len(points) // 2 + ASKED)
            queries, scale = index.placed[middle], len(points) / ASKED
            found, asked = timed(index.nearest, queries, NEAREST)
            again, by_blocks = timed(in_blocks, index, queries)
            if not np.array_equal(again[0], found.distances):
                raise SystemExit("the kd-tree and blocks differ")
            near = approximate(points, queries, found.rows)
            grid.add_row(
                kind,
                str(components),
                f"{built + asked * scale:,.0f} s",
                f"{by_blocks * scale:,.0f} s",
                "blocks" if blocks.pay(index.distinct) else "kd-tree",
                "" if near is None else f"{near[0] + near[1] * scale:,.0f} s",
                "" if near is None else f"{near[2]:.3f}",
            )
    Console(width=100).print(grid)


if __name__ == "__main__":
    main(sys.argv[1:])
