"""The law of all groups: fitted once, then only drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.choices import Choice
from sosie.generate.exchangeable.features import Layout
from sosie.generate.exchangeable.marginals import Marginal
from sosie.generate.exchangeable.moments import Moments
from sosie.generate.exchangeable.targets import Slots

__all__ = ["ExchangeableLaw", "Pooled"]


@dataclass(frozen=True)
class Pooled:
    """What belongs to many groups: each part is of 8k people at least.

    Attributes
    ----------
    slopes : (p, s) float64, effects of states on numbers (see `state_slopes`).
    node : (G,) int64, which covariance each group has.
    roots : (A, p, p) float32, lower triangular roots of the covariances.
    tilt : (logits, features) float64, coefficients of all choices.
    marginals : of each number, in the order of the layout.
    """

    slopes: Floats
    node: Ints
    roots: NDArray[np.float32]
    tilt: Floats
    marginals: tuple[Marginal, ...] = ()


@dataclass(frozen=True)
class ExchangeableLaw:
    """Everything that avatars are drawn from; no row of the table.

    Attributes
    ----------
    bounds : (G + 1,) int64, the place where each group begins, and the end.
    layout : columns in the order in which they are drawn.
    names : the numeric columns in the order of the table.
    pooled : what belongs to many groups.
    moments : where the numbers of each group lie.
    intercepts : of each choice: (G,) for two levels, (levels, G), or one for each of the `slots`.
    slots : of each choice that has many levels, those that can come in each group; else None.
    """

    bounds: Ints
    layout: Layout
    names: tuple[Any, ...]
    pooled: Pooled
    moments: Moments
    intercepts: tuple[Floats, ...]
    slots: tuple[Slots | None, ...]

    @property
    def voted(self) -> tuple[Choice, ...]:
        """What the codes of a draw are of, in order: categories, linked ones together."""
        return self.layout.choices[self.layout.states :]

    def some(self, groups: slice) -> ExchangeableLaw:
        """The law of consecutive groups; `bounds` still count places of the whole table."""
        slots = tuple(own and own.some(groups) for own in self.slots)
        intercepts = tuple(
            a[..., groups] if own is None else a[own.starts[groups.start] : own.starts[groups.stop]]
            for a, own in zip(self.intercepts, self.slots, strict=True)
        )
        base, scale = self.moments.base[:, groups], self.moments.scale[:, groups]
        return replace(
            self,
            bounds=self.bounds[groups.start : groups.stop + 1],
            pooled=replace(self.pooled, node=self.pooled.node[groups]),
            moments=Moments(base, scale),
            intercepts=intercepts,
            slots=slots,
        )
