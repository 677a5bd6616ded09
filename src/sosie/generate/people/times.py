"""When rows are: how many, the first, and the gaps between them.

A person is told by the time of the first row, the span from it to the last (as a share of the way
to an end that no time exceeds, where there is one), and the pace: how many more rows than is usual
for the span. Gaps are drawn from the order statistics of their place in the sequence; of several
sequences the one whose sum is nearest to the span is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Numbers
from sosie.generate.exchangeable.tails import Back
from sosie.generate.people.sequences import Sequences, closed

__all__ = ["TimeLaw", "Visits", "in_units_of"]

MOST_BINS = 20
"""Spans for which the usual number of rows is told apart."""

PER_BIN = 2
"""Times k people in each of them: means over so many are nobody's own."""

PER_PLACE = 4
"""Times k people of whom the gaps at one place of the sequence are told apart."""

CANDIDATES = 48
"""Sequences of gaps of which the nearest to the span is taken: sums come within a few percent."""


@dataclass(frozen=True)
class Visits:
    """What is told of the times of some people, ``(m,) float64`` each.

    Attributes
    ----------
    first : of the first row.
    span : from the first row to the last; with an end, its share of what is left to the end.
    pace : rows beyond what is usual for the span.
    """

    first: Floats
    span: Floats
    pace: Floats


@dataclass(frozen=True)
class TimeLaw:
    """The law of numbers of rows and of gaps, pooled over all people.

    Attributes
    ----------
    column : the column that tells the time; without values.
    spans, usual : (bins,) float64, rising spans and the mean number of rows.
    fewest, most : rows of a person, the ends being means over k people.
    gaps : the way back of each place in the sequence; the last serves all that follow.
    least : the least gap that is drawn.
    room : mean time from the first row to the end; NaN where there is no end.
    """

    column: Numbers
    spans: Floats
    usual: Floats
    fewest: float
    most: float
    gaps: tuple[Back, ...]
    least: float
    room: float

    @classmethod
    def of(
        cls, column: Numbers, times: Floats, sequences: Sequences, end: Floats | None, k: int
    ) -> tuple[TimeLaw, Visits]:
        """Fit the law, and tell what people are told by.

        Parameters
        ----------
        times : (N,) float64 by place.
        end : (m,) float64 of each person, in the units of the times; NaN where missing.
        """
        first, last = times[sequences.bounds[:-1]], times[sequences.bounds[1:] - 1]
        span, counts = last - first, sequences.counts.astype(np.float64)
        bins = int(np.clip(len(span) // (PER_BIN * k), 1, MOST_BINS))
        order = np.argsort(span, kind="stable")
        parts = np.array_split(order, bins)
        spans = np.array([span[part].mean() for part in parts])
        usual = np.array([counts[part].mean() for part in parts])
        spans, at = np.unique(spans, return_index=True)
        usual = usual[at]
        own = closed(counts, np.arange(len(counts)), min(k, len(counts)))
        assert own is not None  # noqa: S101 (min above)
        gaps, ways = np.diff(times)[sequences.follows - 1], []
        place = sequences.position[sequences.follows] - 1
        owner = sequences.owner[sequences.follows]
        for here in _merged(place, PER_PLACE * k):
            some = np.isin(place, here)
            way = closed(gaps[some], owner[some], min(k, len(np.unique(owner[some]))))
            ways += [] if way is None else [way] * len(here)
        room, told = np.nan, span
        if end is not None:
            left = end - first
            room = float(np.nanmean(left)) if not np.isnan(left).all() else 0.0
            left = np.where(np.isnan(left), room, left)
            told = np.divide(span, left, out=np.zeros(len(span)), where=left > 0)
        law = cls(
            replace(column, values=np.empty(0)),
            spans,
            usual,
            float(np.ceil(own.ordered[0])),
            float(np.floor(own.ordered[-1])),
            tuple(ways),
            min((float(way.ordered[0]) for way in ways), default=0.0),
            room,
        )
        pace = counts - np.interp(span, spans, usual)
        return law, Visits(first, told, pace)

    def draw(
        self, visits: Visits, end: Floats | None, rng: np.random.Generator
    ) -> tuple[Sequences, Floats]:
        """Numbers of rows and times.

        Parameters
        ----------
        visits : of some avatars, none of them without rows.
        end : of each, NaN where missing; None where there is none.

        Returns
        -------
        sequences : of these avatars.
        times : (N,) float64, never falling along a person, nor beyond the end.
        """
        first, span = visits.first, np.maximum(visits.span, 0.0)
        limit = np.full(len(first), np.inf)
        if end is not None:
            first = np.where(np.isnan(end), first, np.minimum(first, end))
            span = np.minimum(span, 1.0) * np.where(np.isnan(end), self.room, end - first)
            limit = np.where(np.isnan(end), np.inf, end - first)
        counts = np.rint(np.interp(span, self.spans, self.usual) + visits.pace)
        counts = np.clip(counts, self.fewest, self.most)
        if not self.gaps:
            counts = np.ones(len(counts))
        if self.least > 0:
            counts = np.minimum(counts, 1 + np.floor(np.minimum(span, limit) / self.least + 1e-9))
        sequences = Sequences.of_counts(np.maximum(counts, 1).astype(np.int64))
        steps = self._gaps(sequences, span, limit, rng)
        times = np.zeros(sequences.rows)
        times[sequences.follows] = steps
        running = np.cumsum(times)
        running -= sequences.spread(running[sequences.bounds[:-1]])
        return sequences, self.column.rounded(running + sequences.spread(first))

    def _gaps(
        self, sequences: Sequences, span: Floats, limit: Floats, rng: np.random.Generator
    ) -> Floats:
        """(rows that follow another,) float64."""
        follows = sequences.follows
        if not len(follows):
            return np.empty(0)
        place = np.minimum(sequences.position[follows] - 1, len(self.gaps) - 1)
        owner, best = sequences.owner[follows], np.empty(len(follows))
        nearest = np.full(len(sequences), np.inf)
        by_place = [np.flatnonzero(place == p) for p in range(len(self.gaps))]
        for _ in range(CANDIDATES):
            drawn = np.empty(len(follows))
            for way, at in zip(self.gaps, by_place, strict=True):
                drawn[at] = self.column.rounded(way(rng.random(len(at))))
            total = np.bincount(owner, drawn, minlength=len(sequences))
            away = np.abs(total - span) + np.where(total > limit, limit + span, 0.0)
            better = away < nearest
            nearest[better] = away[better]
            best[better[owner]] = drawn[better[owner]]
        total = np.bincount(owner, best, minlength=len(sequences))
        over = total > limit
        shrink = np.divide(limit, total, out=np.ones(len(total)), where=over)[owner]
        step = self.column.grid.spacing
        short = best * shrink
        short = np.floor(short / step) * step if step else short
        return np.where(over[owner], short, best)


def _merged(place: Ints, people: int) -> list[list[int]]:
    """Places of a sequence one by one as long as so many people have them, the rest together."""
    counts = np.bincount(place) if len(place) else np.empty(0, dtype=np.int64)
    enough = int((np.minimum.accumulate(counts) >= people).sum()) if len(counts) else 0
    rest = [*range(max(enough - 1, 0), len(counts))]
    if enough and counts[enough:].sum() >= people:
        rest = [*range(enough, len(counts))]
    head = [[p] for p in range(rest[0] if rest else 0)]
    return [*head, rest] if rest else head


def in_units_of(column: Numbers, time: Numbers) -> Floats:
    """The values of a date or number in the units of another.

    >>> from sosie.data.table import Grid
    >>> day = Numbers("a", "date", np.array([3.0]), Grid(origin=10, step=1, per_day=1))
    >>> hour = Numbers("b", "date", np.array([0.0]), Grid(origin=240, step=12, per_day=24))
    >>> in_units_of(day, hour).tolist()
    [6.0]
    """
    own, grid = column.grid, time.grid
    ratio = grid.per_day / own.per_day
    values = column.values * (own.step or 1) * ratio + (own.origin * ratio - grid.origin)
    return np.asarray(values / (grid.step or 1))
