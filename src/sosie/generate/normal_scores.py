"""Normal scores: a number on the scale where its distribution is Gaussian, and back.

``z = Phi^-1((rank - 1/2) / m)`` with mean ranks on ties, among the m values that are
present and off the spike. Back by interpolation between the order statistics (65,536 of
them at most), of which the ``least - 1`` smallest and largest are replaced by the
``least``-th.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.sums import tally

__all__ = ["SPIKE_SHARE", "NormalScores", "Runs", "runs_of"]

MOST_KNOTS = 1 << 16
"""Order statistics kept for the way back: of more, so many evenly spaced ones."""

PART = 1 << 16

SPIKE_SHARE = 0.1
"""A value held by at least this share of the rows is a spike and is voted on, not averaged."""


class Runs(ABC):
    """Values in order of size, where equal ones make a run.

    A run goes from the rank of its first value to the rank after its last one; ranks count
    from 0.
    """

    @abstractmethod
    def __len__(self) -> int:
        """How many values there are."""

    @abstractmethod
    def parts(self) -> Iterator[Ints]:
        """Bounds of runs that follow each other, ``(runs + 1,) int64``, then of the next ones."""

    @abstractmethod
    def at(self, ranks: Ints) -> Floats:
        """The values of some ranks."""

    @abstractmethod
    def give(self, of_runs: Callable[[Ints], NDArray[Any]], into: NDArray[Any]) -> None:
        """Give each value what is made of its run, in the order in which the values came.

        Parameters
        ----------
        of_runs : takes the bounds of some runs, returns one item a run.
        """

    def longest(self) -> tuple[int, int]:
        """Bounds of the longest run, the first of equally long ones."""
        begin, end = 0, 0
        for bounds in self.parts():
            at = int(np.argmax(np.diff(bounds)))
            if bounds[at + 1] - bounds[at] > end - begin:
                begin, end = int(bounds[at]), int(bounds[at + 1])
        return begin, end


@dataclass(frozen=True)
class _Counted(Runs):
    """Whole numbers of a small range, counted: ten times faster than sorting.

    Attributes
    ----------
    bounds : (runs + 1,) int64, see `Runs`.
    found : (runs,) float64, the value of each run.
    place : (n,) int32, how far each value is from the lowest.
    run : the run of each place, int64.
    """

    bounds: Ints
    found: Floats
    place: NDArray[np.int32]
    run: Ints

    def __len__(self) -> int:
        return len(self.place)

    def parts(self) -> Iterator[Ints]:
        yield self.bounds

    def at(self, ranks: Ints) -> Floats:
        return self.found[np.searchsorted(self.bounds[1:], ranks, side="right")]

    def give(self, of_runs: Callable[[Ints], NDArray[Any]], into: NDArray[Any]) -> None:
        table = of_runs(self.bounds)[self.run]
        for start in range(0, len(into), PART):
            into[start : start + PART] = table[self.place[start : start + PART]]


@dataclass(frozen=True)
class _Sorted(Runs):
    """Any values, sorted.

    Attributes
    ----------
    values : (n,) float64.
    order : (n,) int64, which value has each rank.
    new : (n + 1,) bool, ranks at which a run begins, and the end.
    """

    values: Floats
    order: Ints
    new: Mask

    def __len__(self) -> int:
        return len(self.values)

    def parts(self) -> Iterator[Ints]:
        start = 0
        while start < len(self):
            stop = min(start + PART, len(self))
            stop += int(np.argmax(self.new[stop:]))  # not within a run
            yield start + np.flatnonzero(self.new[start : stop + 1])
            start = stop

    def at(self, ranks: Ints) -> Floats:
        return self.values[self.order[ranks]]

    def give(self, of_runs: Callable[[Ints], NDArray[Any]], into: NDArray[Any]) -> None:
        for bounds in self.parts():
            made = np.repeat(of_runs(bounds), np.diff(bounds))
            into[self.order[bounds[0] : bounds[-1]]] = made


def runs_of(values: Floats) -> Runs:
    """Runs of values that are all present.

    Nothing that it holds or makes takes more than 8 bytes a value.

    >>> runs = runs_of(np.array([3.0, 1.0, 3.0]))
    >>> [bounds.tolist() for bounds in runs.parts()], runs.at(np.arange(3)).tolist()
    ([[0, 1, 3]], [1.0, 3.0, 3.0])
    """
    counted = _counted(values) if len(values) else None
    if counted is not None:
        return counted
    order = np.argsort(values)
    new = np.ones(len(values) + 1, dtype=bool)
    for start in range(1, len(values), PART):
        part = values[order[start - 1 : start + PART]]
        np.not_equal(part[1:], part[:-1], out=new[start : start + len(part) - 1])
    return _Sorted(values, order, new)


def _counted(values: Floats) -> Runs | None:
    low, high = float(values.min()), float(values.max())
    if high - low >= max(len(values), 1 << 16):
        return None
    place = np.empty(len(values), dtype=np.int32)
    for start in range(0, len(values), PART):
        part = slice(start, start + PART)
        np.subtract(values[part], low, out=place[part], casting="unsafe")
        if not np.array_equal(place[part] + low, values[part]):
            return None  # not whole numbers from the lowest
    counts = tally(place, int(high - low) + 1)
    held = counts > 0
    bounds = np.zeros(int(held.sum()) + 1, dtype=np.int64)
    np.cumsum(counts[held], out=bounds[1:])
    found = np.flatnonzero(held).astype(np.float64) + low
    return _Counted(bounds, found, place, np.cumsum(held) - 1)


@dataclass(frozen=True)
class NormalScores:
    """The scores of one column.

    Attributes
    ----------
    scores : (n,) float32, 0 where the row has none (missing, or on the spike).
    scored : (n,) bool, rows that have a score.
    spike : the value held by at least a tenth of the rows and by `least` of them, or None.
    ordered : (knots,) float64, order statistics, the extremes of the fewest replaced.
    count : m, how many values they are the order statistics of.
    """

    scores: NDArray[np.float32]
    scored: Mask
    spike: float | None
    ordered: Floats
    count: int

    @classmethod
    def of(cls, values: Floats, least: int) -> NormalScores:
        """Score a column; `least` is how many people must share an extreme.

        Parameters
        ----------
        values : (n,) float64, NaN where missing.

        Examples
        --------
        >>> made = NormalScores.of(np.array([0.0, 0.0, 1.0, 2.0, np.nan]), least=2)
        >>> made.spike, made.scores.astype(float).round(3).tolist()
        (0.0, [0.0, 0.0, -0.674, 0.674, 0.0])
        """
        present = ~np.isnan(values)
        everyone = bool(present.all())
        runs = runs_of(values if everyone else values[present])
        spike, (begin, end) = None, runs.longest()
        if end - begin >= max(SPIKE_SHARE * len(values), least, 2):
            spike = float(runs.at(np.array([begin]))[0])
        else:
            end = begin
        scores, scored = _scored(runs, begin, end)
        if not everyone:
            scores, scored = _among(present, scores), _among(present, scored)
        total = len(runs) - (end - begin)
        return cls(scores, scored, spike, _knots(runs, begin, end, least), total)

    def slim(self) -> Self:
        """Without the scores: all that the way back needs."""
        none = np.empty(0, dtype=np.float32)
        return replace(self, scores=none, scored=np.empty(0, dtype=bool))

    def back(self, scores: Floats) -> Floats:
        """Values of some scores, ``(m,) float64``, within the clipped order statistics."""
        from scipy.special import ndtr

        if not len(self.ordered):
            return np.full(len(scores), np.nan if self.spike is None else self.spike)
        last = len(self.ordered) - 1
        position = (ndtr(scores) * self.count - 0.5) * (last / max(self.count - 1, 1))
        position = np.clip(position, 0, last)
        low = position.astype(np.int64)
        high = np.minimum(low + 1, last)
        share = position - low
        return self.ordered[low] * (1 - share) + self.ordered[high] * share

    def located(self, seen: Floats, half: float) -> tuple[Floats, Floats]:
        """Mean and variance of the normal scores of rounded values.

        A value says that the score lay in an interval: of the values that round to it, or, at
        the ends, of all that were clipped to it. Over that interval the score is a truncated
        standard Gaussian.
        """
        from scipy.special import ndtr, ndtri

        size = len(self.ordered)
        known = np.nan_to_num(seen, nan=float(self.ordered[0]))
        low = _position(self.ordered, known - half, "left")
        high = _position(self.ordered, known + half, "right")
        above = np.where(low <= 0, -np.inf, ndtri((low + 0.5) / size))
        below = np.where(high >= size - 1, np.inf, ndtri((high + 0.5) / size))
        mass = ndtr(below) - ndtr(above)
        narrow = mass < 1e-3
        safe = np.where(narrow, 1.0, mass)
        edges = [np.exp(-0.5 * np.square(end)) / np.sqrt(2 * np.pi) for end in (above, below)]
        finite = np.nan_to_num(above, neginf=0.0), np.nan_to_num(below, posinf=0.0)
        mean = (edges[0] - edges[1]) / safe
        variance = 1 + (finite[0] * edges[0] - finite[1] * edges[1]) / safe - np.square(mean)
        middle = ndtri((np.clip((low + high) / 2, 0, size - 1) + 0.5) / size)
        width = np.where(narrow & np.isfinite(below - above), below - above, 0.0)
        return np.where(narrow, middle, mean), np.where(narrow, width**2 / 12, variance)


def _scored(runs: Runs, begin: int, end: int) -> tuple[NDArray[np.float32], Mask]:
    """Scores of the values, and which have one: all but the run of the spike."""
    from scipy.special import ndtri

    total = max(len(runs) - (end - begin), 1)

    def is_spike(bounds: Ints) -> Mask:
        return np.asarray((bounds[:-1] == begin) & (begin < end))

    def of_runs(bounds: Ints) -> NDArray[Any]:
        middle = bounds[1:] - np.diff(bounds) / 2  # mean ranks minus one half
        middle[bounds[:-1] > begin] -= end - begin
        found = ndtri(middle / total).astype(np.float32)
        found[is_spike(bounds)] = 0
        return found

    scores, scored = np.empty(len(runs), dtype=np.float32), np.ones(len(runs), dtype=bool)
    runs.give(of_runs, scores)
    if begin < end:
        runs.give(lambda bounds: ~is_spike(bounds), scored)
    return scores, scored


def _among(present: Mask, made: NDArray[Any]) -> NDArray[Any]:
    whole = np.zeros(len(present), dtype=made.dtype)
    whole[present] = made
    return whole


def _knots(runs: Runs, begin: int, end: int, least: int) -> Floats:
    """Order statistics of what is off the spike, within the `least`-th from either end."""
    total = len(runs) - (end - begin)
    if not total:
        return np.empty(0)

    def at(ranks: Ints) -> Floats:
        return runs.at(ranks + (end - begin) * (ranks >= begin))

    # In a column of fewer than 2 least values all order statistics are the middle one.
    cut = max(min(least, (total + 1) // 2) - 1, 0)
    low, high = at(np.array([cut, total - 1 - cut]))
    knots = np.linspace(0, total - 1, min(total, MOST_KNOTS)).round().astype(np.int64)
    return np.clip(at(knots), low, high)


def _position(ordered: Floats, values: Floats, side: str) -> Floats:
    """Where values stand among order statistics: the first or last place of equal ones."""
    last = len(ordered) - 1
    if side == "left":
        after = np.searchsorted(ordered, values, "left").clip(0, last)
        before = np.maximum(after - 1, 0)
    else:
        before = (np.searchsorted(ordered, values, "right") - 1).clip(0, last)
        after = np.minimum(before + 1, last)
    gap = ordered[after] - ordered[before]
    share = np.divide(values - ordered[before], gap, out=np.zeros(len(values)), where=gap > 0)
    exact = after if side == "left" else before
    inside = (share > 0) & (share < 1) & (gap > 0)
    return np.where(inside, before + share, exact)
