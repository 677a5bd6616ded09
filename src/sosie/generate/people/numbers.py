"""Numbers along a person: a level, a slope, and an autoregression around the line.

On normal scores over all rows, a person is told by the mean and by the slope over their own span
of time. A row is ``level + change (u - mean u) + r``, u the place in the span from 0 to 1, r an
autoregression correlated over the numbers, whose standard deviation follows the line's height, and
of which mean and line are taken out. So is what is observed around the line: the coefficient is
the one whose residuals, treated alike, have the autocorrelation that is observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Mask
from sosie.generate.people.sequences import Sequences, autoregression

__all__ = ["Lines", "NumberLaw", "lines_of", "normal_scores"]

BINS = 8
"""Of the line's height, for the standard deviation around it."""

ROWS = 20_000
"""Of whole people, to whom the autoregression is fitted."""

HALVINGS = 10
"""Of the interval of coefficients: it is known to a few thousandths."""

LEAST, MOST = -0.9, 0.98
"""Coefficients of an autoregression."""


def normal_scores(values: Floats) -> Floats:
    """``Phi^-1((rank - 1/2) / m)`` with mean ranks on ties; NaN where missing.

    >>> normal_scores(np.array([3.0, np.nan, 1.0])).round(3).tolist()
    [0.674, nan, -0.674]
    """
    from scipy.special import ndtri

    made = np.full(len(values), np.nan)
    present = ~np.isnan(values)
    _, run, counts = np.unique(values[present], return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2  # the mean rank of a run, less one half
    made[present] = ndtri(middle / max(present.sum(), 1))[run]
    return made


@dataclass(frozen=True)
class Lines:
    """Level and slope of some numbers of some people, ``(p, m) float64`` each.

    Attributes
    ----------
    level : the mean; 0 where a person has no value.
    change : the slope over the person's own span; 0 where there are fewer than two values, or
        one time.
    """

    level: Floats
    change: Floats

    def at(self, place: Floats, present: Mask, sequences: Sequences) -> Floats:
        """``level + change (u - mean u)``, ``(p, N) float64``.

        Parameters
        ----------
        place : (N,) float64, u.
        present : (p, N) bool, rows that count for the mean of u.
        """
        made = np.empty(present.shape)
        for i, has in enumerate(present):
            middle = _means(place, has, sequences)
            made[i] = sequences.spread(self.level[i])
            made[i] += sequences.spread(self.change[i]) * (place - sequences.spread(middle))
        return made


def lines_of(scores: Floats, place: Floats, sequences: Sequences) -> Lines:
    """Means and slopes by least squares of each person.

    Parameters
    ----------
    scores : (p, N) float64, NaN where missing.
    place : (N,) float64.
    """
    level, change = (np.zeros((len(scores), len(sequences))) for _ in range(2))
    for i, own in enumerate(scores):
        has = ~np.isnan(own)
        level[i] = _means(np.where(has, own, 0.0), has, sequences)
        away = np.where(has, place - sequences.spread(_means(place, has, sequences)), 0.0)
        square = sequences.sums(np.square(away))
        product = sequences.sums(away * np.where(has, own, 0.0))
        np.divide(product, square, out=change[i], where=square > np.finfo(np.float32).eps)
    return Lines(level, change)


def _means(values: Floats, has: Mask, sequences: Sequences) -> Floats:
    counts = sequences.sums(has)
    total = sequences.sums(np.where(has, values, 0.0))
    return np.divide(total, counts, out=np.zeros(len(sequences)), where=counts > 0)


@dataclass(frozen=True)
class NumberLaw:
    """What is around the lines, pooled over all people.

    Attributes
    ----------
    heights, deviations : (p, BINS) float64, heights of the line and the standard deviation of
        the autoregression there.
    coefficients : (p,) float64.
    root : (p, p) float64, what independent noise is multiplied by.
    """

    heights: Floats
    deviations: Floats
    coefficients: Floats
    root: Floats

    @classmethod
    def of(cls, scores: Floats, lines: Lines, place: Floats, sequences: Sequences) -> NumberLaw:
        """Fit the law.

        Parameters
        ----------
        scores : (p, N) float64, NaN where missing.
        """
        present = ~np.isnan(scores)
        line = lines.at(place, present, sequences)
        left = np.where(present, scores - line, 0.0)
        heights, deviations = _deviations(line, left, present)
        part, rows = sequences.some(ROWS)
        some = present[:, rows]
        around = _interpolated(heights, deviations, line[:, rows])
        noise = np.random.Generator(np.random.Philox(0)).standard_normal(some.shape)
        observed = _lag(left[:, rows], part)
        coefficients = _coefficients(observed, around, noise, place[rows], some, part)
        simulated = _around(noise, coefficients, around, place[rows], some, part)
        wanted, got = np.square(left[:, rows]).sum(axis=1), np.square(simulated).sum(axis=1)
        scale = np.sqrt(np.divide(wanted, got, out=np.ones(len(got)), where=got > 0))
        standard = np.divide(left[:, rows], around, out=np.zeros_like(around), where=around > 0)
        root = _root(standard, coefficients)
        return cls(heights, deviations * scale[:, None], coefficients, root)

    def draw(
        self,
        lines: Lines,
        place: Floats,
        present: Mask,
        sequences: Sequences,
        rng: np.random.Generator,
    ) -> Floats:
        """Scores of all rows, ``(p, N) float64``; 0 where not present."""
        line = lines.at(place, present, sequences)
        noise = self.root @ rng.standard_normal(present.shape)
        around = _interpolated(self.heights, self.deviations, line)
        drawn = _around(noise, self.coefficients, around, place, present, sequences)
        return np.where(present, line + drawn, 0.0)


def _deviations(line: Floats, left: Floats, present: Mask) -> tuple[Floats, Floats]:
    """Standard deviations around the line, by its height."""
    shape = (len(line), BINS)
    heights, deviations = np.tile(np.arange(BINS, dtype=np.float64), (shape[0], 1)), np.zeros(shape)
    for i, has in enumerate(present):
        order = np.flatnonzero(has)[np.argsort(line[i, has], kind="stable")]
        if len(order) < BINS**2:  # too few to tell heights apart
            deviations[i] = np.sqrt(np.square(left[i, order]).mean()) if len(order) else 0.0
            continue
        for b, part in enumerate(np.array_split(order, BINS)):
            heights[i, b] = line[i, part].mean()
            deviations[i, b] = np.sqrt(np.square(left[i, part]).mean())
    return heights, deviations


def _interpolated(heights: Floats, deviations: Floats, line: Floats) -> Floats:
    rows = zip(line, heights, deviations, strict=True)
    return np.array([np.interp(own, x, y) for own, x, y in rows]).reshape(line.shape)


def _around(
    noise: Floats,
    coefficients: Floats,
    around: Floats,
    place: Floats,
    present: Mask,
    sequences: Sequences,
) -> Floats:
    """An autoregression times its standard deviation, without mean and line."""
    drawn = autoregression(noise, coefficients, sequences) * around
    own = np.where(present, drawn, np.nan)
    line = lines_of(own, place, sequences).at(place, present, sequences)
    return np.where(present, drawn - line, 0.0)


def _lag(left: Floats, sequences: Sequences) -> Floats:
    """Autocorrelation from row to row around the lines, ``(p,) float64``."""
    at = sequences.follows
    products = (left[:, at] * left[:, at - 1]).sum(axis=1)
    squares = np.square(left).sum(axis=1)
    return np.asarray(np.divide(products, squares, out=np.zeros(len(left)), where=squares > 0))


def _coefficients(
    observed: Floats,
    around: Floats,
    noise: Floats,
    place: Floats,
    present: Mask,
    sequences: Sequences,
) -> Floats:
    """Those whose autocorrelation around the lines is the observed one, by halving."""
    low, high = np.full(len(observed), LEAST), np.full(len(observed), MOST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        drawn = _around(noise, middle, around, place, present, sequences)
        short = _lag(drawn, sequences) < observed
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray((low + high) / 2)


def _root(standard: Floats, coefficients: Floats) -> Floats:
    """A root of the covariance of the noise that gives the observed correlations."""
    count = len(standard)
    if not count:
        return np.zeros((0, 0))
    norm = np.sqrt(np.square(standard).sum(axis=1))
    scaled = np.divide(
        standard, norm[:, None], out=np.zeros_like(standard), where=norm[:, None] > 0
    )
    correlation = scaled @ scaled.T
    rho, other = coefficients[:, None], coefficients[None, :]
    # Of two autoregressions whose noise correlates c: c sqrt(1-r^2) sqrt(1-s^2) / (1 - r s).
    wanted = correlation * (1 - rho * other) / np.sqrt((1 - rho**2) * (1 - other**2))
    wanted = np.clip(wanted, -1.0, 1.0)
    np.fill_diagonal(wanted, 1.0)
    values, axes = np.linalg.eigh(wanted)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    length: NDArray[Any] = np.sqrt(np.square(root).sum(axis=1))
    return np.asarray(root / length[:, None])
