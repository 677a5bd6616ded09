"""Avatars of some groups on the way: one column after the other, each given those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.generate.exchangeable.choices import Choice
from sosie.generate.exchangeable.features import number_features
from sosie.generate.exchangeable.fixed_point import SCORE, on_grid
from sosie.generate.exchangeable.law import ExchangeableLaw
from sosie.generate.exchangeable.marginals import Marginal
from sosie.generate.exchangeable.moments import state_rows
from sosie.generate.exchangeable.slots import padded_logits, pieces
from sosie.generate.exchangeable.targets import Slots

__all__ = ["Draft"]

DECIDED = 60.0
"""Logits beyond which no draw goes the other way: exp(-60) is far below half a step of one."""

Chance = Callable[[int], Floats]


class Draft:
    """Avatars of some groups, as many as members, in the order of the groups.

    Call `plain`, `states`, `spiky` and `categories` in this order.

    Parameters
    ----------
    groups : (g,) int64, rising.
    noise : (p, m) float64, independent standard normal draws, on a grid.
    states_only : categories are not wanted; their logits are not computed.
    """

    def __init__(
        self, law: ExchangeableLaw, groups: Ints, noise: Floats, *, states_only: bool = False
    ) -> None:
        self.law, self.groups, self.layout = law, groups, law.layout
        self.sizes = law.bounds[groups + 1] - law.bounds[groups]
        self.ends = np.concatenate([[0], np.cumsum(self.sizes)])
        self.raw = self._correlated(noise)
        self.shares = np.empty_like(self.raw)
        last = self.layout.states if states_only else len(self.layout.choices)
        self.height = self.layout.logits[last - 1].stop if last else 0
        self.logits = np.zeros((self.height, int(self.ends[-1])))
        self.codes: list[NDArray[Any]] = []

    def _correlated(self, noise: Floats) -> Floats:
        """Group means and noise with the covariance of the node above, ``(p, m)``."""
        if not len(noise):
            return noise
        inside = np.arange(int(self.sizes.max()))
        beyond = inside >= self.sizes[:, None]
        at = np.where(beyond, 0, self.ends[:-1, None] + inside)
        pooled = self.law.pooled
        roots = pooled.roots[pooled.node[self.groups]].astype(np.float64)
        raw = (roots @ noise[:, at].transpose(1, 0, 2)).transpose(1, 0, 2)[:, ~beyond]
        moments = self.law.moments
        raw *= self._rows(moments.scale[:, self.groups])
        raw += self._rows(moments.base[:, self.groups])
        return np.asarray(raw)

    def _rows(self, of_groups: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(of_groups, self.sizes, axis=-1)

    def plain(self, marginals: Sequence[Marginal]) -> None:
        """Finish the numbers without states."""
        self._numbers(range(self.layout.plain), marginals)

    def states(self, chance: Chance) -> None:
        """Draw the states of the others, and shift what is drawn of these by them."""
        self._choose(range(self.layout.states), chance)
        start = state_rows(self.layout).start
        slopes = self.law.pooled.slopes
        for i in range(self.layout.plain, len(self.layout.numbers)):
            for j in range(self.layout.states):
                own = self.layout.of_choices[j]
                effects = slopes[i, own.start - start : own.stop - start]
                if effects.any():
                    self.raw[i] += (effects @ self.layout.choices[j].features)[self.codes[j]]

    def spiky(self, marginals: Sequence[Marginal]) -> None:
        """Finish the numbers that have states."""
        self._numbers(range(self.layout.plain, len(self.layout.numbers)), marginals)

    def categories(self, chance: Chance) -> None:
        """Draw the categories."""
        self._choose(range(self.layout.states, len(self.layout.choices)), chance)

    def has_score(self, number: int) -> Mask | None:
        """(m,) bool; None where all have one."""
        if number < self.layout.plain:
            return None
        return np.asarray(
            self.codes[number - self.layout.plain] == self.layout.numbers[number].scored
        )

    def _numbers(self, which: range, marginals: Sequence[Marginal]) -> None:
        if not len(which):
            return
        of = self.layout.of_numbers
        rows = slice(of[which.start].start, of[which.stop - 1].stop)
        features = np.empty((rows.stop - rows.start, self.raw.shape[1]))
        for i in which:
            scores, self.shares[i] = marginals[i](self.raw[i])
            own = slice(of[i].start - rows.start, of[i].stop - rows.start)
            number_features(on_grid(scores, SCORE), self.has_score(i), features[own])
        if self.height:
            self.logits += self.law.pooled.tilt[: self.height, rows] @ features

    def _choose(self, which: range, chance: Chance) -> None:
        for i in which:
            choice, rows = self.layout.choices[i], self.layout.logits[i]
            if not choice.width:
                self.codes.append(np.zeros(self.raw.shape[1], dtype=np.intp))
                continue
            codes = self._drawn(i, choice, self.logits[rows], chance(i))
            self.codes.append(codes)
            if rows.stop < self.height:
                effects = (
                    self.law.pooled.tilt[rows.stop : self.height, self.layout.of_choices[i]]
                    @ choice.features
                )
                told = np.flatnonzero(effects.any(axis=1))  # of very many features each sees some
                if len(told) == len(effects):
                    self.logits[rows.stop :] += effects.take(codes, axis=1)
                else:
                    self.logits[rows.stop + told] += effects[told].take(codes, axis=1)

    def _drawn(self, i: int, choice: Choice, logits: Floats, chance: Floats) -> NDArray[Any]:
        intercepts, slots = self.law.intercepts[i], self.law.slots[i]
        if choice.width == 1:
            decided = logits[0] + self._rows(intercepts[self.groups])
            np.clip(decided, -DECIDED, DECIDED, out=decided)
            np.exp(np.negative(decided, out=decided), out=decided)
            decided += 1
            decided *= chance
            return np.asarray(decided < 1).view(np.uint8)
        if slots is None:
            return _level(logits + self._rows(intercepts[:, self.groups]), chance)
        return self._of_many(choice, slots, intercepts, logits, chance)

    def _of_many(
        self, choice: Choice, slots: Slots, intercepts: Floats, axes: Floats, chance: Floats
    ) -> NDArray[Any]:
        codes = np.empty(len(chance), dtype=np.intp)
        counts = slots.starts[self.groups + 1] - slots.starts[self.groups]
        starts = np.concatenate([[0], np.cumsum(counts)])
        for some in pieces(starts, self.ends):
            levels, a = slots.padded(self.groups[some], intercepts, -np.inf)
            bounds = self.ends[some.start : some.stop + 1]
            part, sizes = slice(int(bounds[0]), int(bounds[-1])), np.diff(bounds)
            logits = padded_logits(axes[:, part], choice, levels, bounds)
            drawn = _level(logits + np.repeat(a, sizes, axis=1), chance[part])
            codes[part] = levels[drawn, np.repeat(np.arange(len(sizes)), sizes)]
        return codes


def _level(logits: Floats, chance: Floats) -> NDArray[Any]:
    """Levels drawn with probabilities in proportion to ``exp(logits)``, ``(m,) intp``."""
    logits -= logits.max(axis=0)
    np.exp(logits, out=logits)
    for i in range(1, len(logits)):
        logits[i] += logits[i - 1]  # one by one: NumPy's sums depend on the shape
    aim = logits[-1] * chance
    drawn = np.zeros(len(chance), dtype=np.intp)
    for end in logits[:-1]:
        drawn += aim >= end
    return drawn
