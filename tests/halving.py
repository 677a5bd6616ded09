"""A plain halving of points, for tests of what is done with groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from sosie.compute.arrays import Floats, Ints


@dataclass(frozen=True)
class Halving:
    """Nodes are halved at their median, along the axes in turn; parents come before children."""

    order: Ints
    bounds: Ints
    nodes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, points: Floats, k: int) -> Self:
        order = np.arange(len(points))

        def halves(low: int, high: int, depth: int) -> Iterator[tuple[int, int]]:
            yield low, high
            middle = low + (high - low) // 2
            if middle - low < k:
                return
            values = points[order[low:high], depth % points.shape[1]]
            order[low:high] = order[low:high][np.argsort(values, kind="stable")]
            yield from halves(low, middle, depth + 1)
            yield from halves(middle, high, depth + 1)

        nodes = tuple(halves(0, len(points), 0))
        ends = {0, *(high for _, high in nodes)}
        return cls(order, np.array(sorted(ends)), nodes)

    def above(self, size: int) -> Ints:
        made = np.tile(np.array([0, len(self.order)]), (len(self.bounds) - 1, 1))
        for low, high in self.nodes:
            if high - low >= size:
                made[np.searchsorted(self.bounds, low) : np.searchsorted(self.bounds, high)] = (
                    low,
                    high,
                )
        return made
