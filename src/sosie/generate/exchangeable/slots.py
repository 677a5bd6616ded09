"""Logits of the levels of each group, of a choice that has many levels.

``b_l . u = c_l . (B' u)``: one product a person and level that can come in the group.
"""

from __future__ import annotations

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.choices import Choice
from sosie.generate.exchangeable.fixed_point import SLOPE, on_grid

__all__ = ["padded_logits", "pieces", "places_of"]

MOST_LOGITS = 1 << 20
"""Levels times people worked on together: 8 MB."""


def pieces(starts: Ints, bounds: Ints) -> list[slice]:
    """Consecutive groups of which so few are worked on together that memory is bounded.

    Parameters
    ----------
    starts, bounds : (groups + 1,) int64, where levels and members of each group begin.
    """
    levels = int(np.diff(starts).max())
    groups = len(bounds) - 1
    step = max(MOST_LOGITS // (levels * int(np.diff(bounds).max())), 1)
    return [slice(i, min(i + step, groups)) for i in range(0, groups, step)]


def places_of(choice: Choice, levels: Ints | None, groups: int) -> Floats:
    """What each level of each group is, ``(width, levels, groups) float64``."""
    if levels is None or choice.places is None:
        return np.broadcast_to(np.eye(choice.size)[:, :, None], (choice.size,) * 2 + (groups,))
    return np.ascontiguousarray(choice.places[levels].transpose(2, 0, 1))


def padded_logits(axes: Floats, choice: Choice, levels: Ints, bounds: Ints) -> Floats:
    """Logits of the levels of some groups for each member, ``(levels, m) float64``.

    Parameters
    ----------
    axes : (d, m) float64, ``B' u``.
    levels : (levels, groups) int64.
    bounds : (groups + 1,) int64, where the members of each group begin.
    """
    sizes = np.diff(bounds)
    starts = bounds[:-1] - bounds[0]
    inside = np.arange(int(sizes.max()))
    beyond = inside >= sizes[:, None]
    at = np.where(beyond, 0, starts[:, None] + inside)
    of_groups = on_grid(axes, SLOPE)[:, at].transpose(1, 0, 2)
    products = places_of(choice, levels, len(sizes)).transpose(2, 1, 0) @ of_groups
    return np.ascontiguousarray(products.transpose(1, 0, 2)[:, ~beyond])
