"""Categories along a person: the shares of the levels, what else is in the row, and persistence.

A person is told by the share of each level among their rows. The levels of an avatar's rows have
odds ``exp(a + b . x)``: x is the time and what was drawn in the row before, b is pooled, and a is
such that the mean probability over the avatar's rows is the drawn share (the intercepts of groups
of `sosie.generate.exchangeable`, with a person for a group). Which row gets which is drawn from
places in 0..1 that are spread evenly over the person's rows, in the order of an autoregression
whose coefficient makes a level follow itself as often as among the originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.generate.exchangeable.choices import MANY, Choice
from sosie.generate.exchangeable.fixed_point import PROBABILITY, SCORE, SLOPE, on_grid
from sosie.generate.exchangeable.intercepts import two_levels, weights_of
from sosie.generate.exchangeable.tilt import Centred, tilt_of
from sosie.generate.people.sequences import Sequences, autoregression

__all__ = ["ChoiceLaw", "Rare"]

COMMON = 0.03
"""Mean share from which a level counts by itself in a person's vector; the others are one."""

ROWS = 20_000
"""Of whole people, to whom tilt and persistence are fitted."""

HALVINGS = 9

LEAST_CHANGES = 20
"""From one level to another, without one back, from which levels only ever move on."""

STEEP = 4.0
"""How far a trend moves along a person, in standard deviations of the autoregression."""


@dataclass(frozen=True)
class Rare:
    """Levels that few rows hold: which of them a row has.

    Attributes
    ----------
    starts : (G + 1,) int64, where those of each group begin.
    codes : (m,) int64, levels that somebody of the group holds.
    running : (m,) float64, running sums of their mean shares within the group.
    otherwise : (l,) int64 and its running sums of the table, for a group without any.
    again : how often a row repeats the last rare level of its person.
    """

    starts: Ints
    codes: Ints
    running: Floats
    otherwise: Ints
    running_otherwise: Floats
    again: float

    @classmethod
    def of(cls, codes: Ints, allowed: Mask, group: Ints, sequences: Sequences, groups: int) -> Rare:
        """Shares of each group, in which its people enter alike.

        Parameters
        ----------
        codes : (N,) int64, the level of each row; -1 where it is not rare.
        allowed : (levels,) bool, those that may be drawn.
        group : (m,) int64, of each person.
        """
        levels = len(allowed)
        at = np.flatnonzero(codes >= 0)
        at = at[allowed[codes[at]]]
        weight = on_grid(1 / sequences.counts, PROBABILITY)[sequences.owner[at]]
        keys, back = np.unique(group[sequences.owner[at]] * levels + codes[at], return_inverse=True)
        shares: Floats = np.bincount(back, weight, minlength=len(keys)).astype(np.float64)
        own = keys % levels
        starts = np.searchsorted(keys, np.arange(groups + 1) * levels)
        running = np.cumsum(shares) if len(shares) else shares
        total = np.bincount(own, shares, minlength=levels)
        otherwise = np.flatnonzero(total)
        made = cls(starts, own, running, otherwise, np.cumsum(total[otherwise]), 0.0)
        rare = np.flatnonzero(codes >= 0)
        same_person = np.diff(sequences.owner[rare]) == 0
        if not same_person.any():
            return made
        repeated = float((np.diff(codes[rare]) == 0)[same_person].mean())
        before = np.concatenate([[0.0], running])
        whole = (before[starts[1:]] - before[starts[:-1]])[keys // levels]
        by_chance = float((shares * (shares / whole)).sum() / max(shares.sum(), 1e-300))
        again = (repeated - by_chance) / max(1 - by_chance, 1e-9)
        return replace(made, again=float(np.clip(again, 0.0, 1.0)))

    def draw(self, at: Ints, group: Ints, sequences: Sequences, rng: np.random.Generator) -> Ints:
        """The level of some rows.

        Parameters
        ----------
        at : (r,) int64, rising places of rows.
        group : (m,) int64, of each avatar.
        """
        if not len(at):
            return np.empty(0, dtype=np.int64)
        own, chance = group[sequences.owner[at]], rng.random(len(at))
        before = np.concatenate([[0.0], self.running])
        low, high = before[self.starts[own]], before[self.starts[own + 1]]
        place = np.searchsorted(self.running, low + chance * (high - low), "right")
        place = np.clip(place, self.starts[own], np.maximum(self.starts[own + 1] - 1, 0))
        drawn = self.codes[np.minimum(place, max(len(self.codes) - 1, 0))]
        none = high <= low
        if none.any():
            aim = chance[none] * self.running_otherwise[-1]
            drawn[none] = self.otherwise[np.searchsorted(self.running_otherwise, aim, "right")]
        # A copy looks back to the last row of the person that was drawn afresh.
        fresh = rng.random(len(at)) >= self.again
        fresh[np.concatenate([[True], np.diff(sequences.owner[at]) > 0])] = True
        return np.asarray(drawn[np.maximum.accumulate(np.where(fresh, np.arange(len(at)), 0))])


@dataclass(frozen=True)
class ChoiceLaw:
    """The law of a category, of linked ones, or of whether a number is there.

    Attributes
    ----------
    choice : the levels; a rare one counts as the last, where there are any.
    names : of the shares that a person is told by, one a level, or of two the second alone.
    rare : which rare level a row has; None where there are none.
    endings : levels that only ever come last.
    seen : how many features come before it.
    tilt : (width, seen) float64.
    persistence : from -1/2 (never twice) to 1 (one change at most).
    line : (size,) int64, levels in the order in which the places in 0..1 are given to them.
    rank : (size,) int64, where levels only ever move on, their order; else None.
    """

    choice: Choice
    names: tuple[str, ...]
    rare: Rare | None
    endings: tuple[int, ...]
    seen: int
    tilt: Floats
    persistence: float
    line: Ints
    rank: Ints | None

    @property
    def size(self) -> int:
        """How many levels there are, the rare ones as one."""
        return self.choice.size

    @classmethod
    def of(
        cls,
        choice: Choice,
        labels: Sequence[str],
        least: int,
        sequences: Sequences,
        *,
        states: bool = False,
    ) -> tuple[ChoiceLaw, Ints | None, Floats]:
        """Which levels count, and how people are told: all but what depends on groups and rows.

        Parameters
        ----------
        choice : of all levels, `codes` by place.
        labels : of each level.
        least : people who must hold a level that may be drawn.
        states : whether the levels are states of a number, the first that it has a value: a rare
            kind of missing value counts as the commonest kind.

        Returns
        -------
        law : without tilt and persistence, see `fitted`.
        rare : (N,) int64, the level of rows that hold a rare one, else -1; None without any.
        shares : (names, m) float64.
        """
        codes, count = choice.codes.astype(np.int64), choice.size
        pairs = np.unique(sequences.owner * count + codes)
        allowed = np.bincount(pairs % count, minlength=count) >= least
        weights = 1 / sequences.counts[sequences.owner]
        mean = np.bincount(codes, weights, minlength=count) / len(sequences)
        common = allowed & ((mean >= COMMON) | states)
        common[0] |= states
        few = np.flatnonzero(~common)
        rare = np.where(common[codes], -1, codes) if allowed[few].any() else None
        kept = np.flatnonzero(common)
        size = len(kept) + (rare is not None)
        new = np.full(count, len(kept), dtype=np.int64)
        new[kept] = np.arange(len(kept))
        if states and size > 1:
            new[few] = 1 + int(np.argmax(mean[kept[1:]]))
        own = new[codes]
        made = replace(choice, codes=own, size=size, original=kept, places=None)
        counts = np.array([sequences.sums(own == level) for level in range(size)])
        total = counts.sum(axis=0)
        table = counts.sum(axis=1) / max(total.sum(), 1)
        shares = np.divide(
            counts, total, out=np.tile(table[:, None], (1, len(total))), where=total > 0
        )
        told = [labels[level] for level in kept.tolist()] + (["others"] if rare is not None else [])
        endings = _endings(own, size, sequences, least)
        rank = _rank(own, size, sequences) if not endings else None
        law = cls(
            made, (), None, endings, 0, np.zeros((0, 0)), 0.0, _line(own, size, sequences), rank
        )
        first = 0 if size > 2 else 1
        names = tuple(f"share of {name}" for name in told[first:])
        return replace(law, names=names), rare, shares[first:]

    def fitted(self, features: Floats, targets: Floats, sequences: Sequences) -> ChoiceLaw:
        """The law with tilt and persistence, and without rows.

        Parameters
        ----------
        features : (seen, N) float64, by place.
        targets : (size, m) float64, shares of the levels.
        """
        part, rows = sequences.some(ROWS)
        tilt = np.zeros((self.choice.width, len(features)))
        codes = self.choice.codes[rows]
        if 1 < self.size <= MANY and len(features):
            centred = Centred.of(on_grid(features[:, rows], SCORE), part.bounds)
            tilt = tilt_of(
                self.choice, len(features), centred, codes, targets[:, : len(part)], None
            )
        made = replace(self, seen=len(features), tilt=tilt)
        if self.size > 1:
            made = replace(
                made,
                persistence=made._persistence(
                    features[:, rows], targets[:, : len(part)], codes, part
                ),
            )
        return replace(made, choice=self.choice.slim())

    def _persistence(
        self, features: Floats, targets: Floats, codes: Ints, sequences: Sequences
    ) -> float:
        """The one with which a level follows itself as often as observed, by halving."""
        at = sequences.follows
        if not len(at):
            return 0.0
        wanted = float((codes[at] == codes[at - 1]).mean())
        probabilities = self._probabilities(features, targets, sequences)
        low, high = -0.45, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            rng = np.random.Generator(np.random.Philox(0))
            drawn = self._levels(probabilities, middle, sequences, rng)
            if float((drawn[at] == drawn[at - 1]).mean()) < wanted:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def targets(self, drawn: Floats) -> Floats:
        """Shares of all levels from those that people are told by, ``(size, m) float64``."""
        if self.size == 1:
            return np.ones((1, drawn.shape[1]))
        shares = np.clip(drawn, 0.0, 1.0)
        if self.size == 2:
            shares = np.concatenate([1 - shares, shares])
        total = shares.sum(axis=0)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / self.size)

    def draw(
        self,
        targets: Floats,
        features: Floats,
        sequences: Sequences,
        rng: np.random.Generator,
        endings: Mask | None = None,
    ) -> Ints:
        """The level of each row, ``(N,) int64``, the rare ones as one.

        Parameters
        ----------
        targets : (size, m) float64.
        features : (seen, N) float64.
        endings : (endings, m) bool, whether each avatar ends with each of `endings`.
        """
        if self.size == 1:
            return np.zeros(sequences.rows, dtype=np.int64)
        if self.endings:
            targets = targets.copy()
            targets[list(self.endings)] = 0.0
            total = targets.sum(axis=0)
            spare = np.array([level not in self.endings for level in range(self.size)])
            targets = np.where(total > 0, targets / np.where(total > 0, total, 1), 0.0)
            targets[:, total <= 0] = (spare / spare.sum())[:, None]
        probabilities = self._probabilities(features, targets, sequences)
        drawn = self._levels(probabilities, self.persistence, sequences, rng)
        if self.rank is not None:
            back = np.argsort(self.rank)
            drawn = back[sequences.sorted(self.rank[drawn])]
        if endings is not None:
            for level, ends in zip(self.endings, endings, strict=True):
                drawn[sequences.bounds[1:][ends] - 1] = level
        return drawn

    def _probabilities(self, features: Floats, targets: Floats, sequences: Sequences) -> Floats:
        """(size, N) float64, running sums in the order of `line`."""
        logits = on_grid(self.tilt @ on_grid(features[: self.seen], SCORE), SLOPE)
        if self.size == 2:
            share = targets[1]
            a = two_levels(logits[0], share, sequences.bounds)
            second = 1 / (1 + np.exp(-np.clip(logits[0] + sequences.spread(a), -60, 60)))
            fitted = np.stack([1 - second, second])
        elif not self.tilt.any():
            fitted = sequences.spread(targets)
        else:
            _, fitted = weights_of(logits, targets, sequences.bounds)
        return np.cumsum(fitted[self.line], axis=0)

    def _levels(
        self,
        running: Floats,
        persistence: float,
        sequences: Sequences,
        rng: np.random.Generator,
    ) -> Ints:
        """Levels from places in 0..1 that are spread evenly over the rows of each person."""
        rho = np.array([np.clip(2 * persistence, -0.9, 0.98)])
        noise = rng.standard_normal((1, sequences.rows))
        latent = autoregression(noise, rho, sequences)[0]
        trend = max(2 * persistence - 1, 0.0)
        if trend:
            sign = sequences.spread(rng.choice([-STEEP, STEEP], len(sequences)))
            along = (sequences.position + 0.5) / sequences.spread(sequences.counts) - 0.5
            latent = (1 - trend) * latent + trend * sign * along
        place = sequences.ranks(latent) + rng.random(sequences.rows)
        place /= sequences.spread(sequences.counts)
        drawn = np.zeros(sequences.rows, dtype=np.int64)
        for end in running[:-1]:
            drawn += place * running[-1] >= end
        return np.asarray(self.line[drawn])


def _transitions(codes: Ints, size: int, sequences: Sequences) -> Ints:
    """How often each level is followed by each, ``(size, size) int64``; few levels only."""
    at = sequences.follows
    at = at[(codes[at] < size) & (codes[at - 1] < size)]
    pairs = codes[at - 1] * size + codes[at]
    return np.bincount(pairs, minlength=size**2).reshape(size, size)


def _line(codes: Ints, size: int, sequences: Sequences) -> Ints:
    """Levels so that those which follow each other often stand side by side.

    By the second eigenvector of the Laplacian of how often they do (Fiedler 1973).
    """
    if not 2 < size <= MANY:
        return np.arange(size)
    counts = _transitions(codes, size, sequences).astype(np.float64)
    counts += counts.T
    np.fill_diagonal(counts, 0.0)
    _, axes = np.linalg.eigh(np.diag(counts.sum(axis=0)) - counts)
    axis = np.round(axes[:, 1] * (1 if axes[np.argmax(np.abs(axes[:, 1])), 1] > 0 else -1), 9)
    return np.argsort(axis, kind="stable")


def _rank(codes: Ints, size: int, sequences: Sequences) -> Ints | None:
    """The order of levels that nobody ever goes back in; None where there is none."""
    if not 1 < size <= MANY or (codes >= size).any():
        return None
    moves = _transitions(codes, size, sequences)
    np.fill_diagonal(moves, 0)
    if moves.sum() < LEAST_CHANGES or (np.minimum(moves, moves.T) > 0).any():
        return None
    order: list[int] = []
    left = [*range(size)]
    while left:
        sources = [level for level in left if not moves[left][:, level].any()]
        if not sources:
            return None
        order.append(sources[0])
        left.remove(sources[0])
    return np.argsort(np.array(order))


def _endings(codes: Ints, size: int, sequences: Sequences, least: int) -> tuple[int, ...]:
    """Levels that only ever come last, and in enough people who had another before."""
    last = np.zeros(sequences.rows, dtype=bool)
    last[sequences.bounds[1:] - 1] = True
    several = last & (sequences.position > 0)
    found = []
    for level in range(size) if size <= MANY else ():
        own = codes == level
        if own.any() and not own[~last].any() and own[several].sum() >= max(least, LEAST_CHANGES):
            found.append(level)
    return tuple(found) if len(found) < size else ()
