"""Intercepts of each group, such that the mean fitted probability is the level's share in it.

In a mixed group the log share is not the intercept that goes with what members differ in:
without this step effects are attenuated.
"""

from __future__ import annotations

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.ancestry import by_group
from sosie.generate.exchangeable.fixed_point import PROBABILITY

__all__ = ["CERTAIN", "FITTING", "NEWTON", "two_levels", "weights_of"]

NEWTON = 6
"""Newton passes for two levels: shares are met to 1e-9 in all but a few groups."""

FITTING = 12
"""Proportional fitting passes for more levels, which converge by a factor each."""

BOUND = 2.0
"""Of a Newton step: a farther one overshoots where members are all but decided."""

REACH = 40.0
"""Logits farther than this from their group's mean count as so far: exp must not overflow."""

CERTAIN = 1e4
"""Instead of an infinite intercept, where one of two levels has the whole share."""


def two_levels(logits: Floats, share: Floats, bounds: Ints, passes: int = NEWTON) -> Floats:
    """Intercepts of the second of two levels against the first.

    Parameters
    ----------
    logits : (m,) float64, ``b . u`` of the members of some groups, on a grid.
    share : (G,) float64, of the second level.
    bounds : (G + 1,) int64, where the members of each group begin.

    Returns
    -------
    (G,) float64: `a` such that the mean over members of ``1 / (1 + exp(-(a + b . u)))`` is
    the share.

    Examples
    --------
    >>> logits, share = np.array([-1.0, 0.0, 3.0]), np.array([1 / 3])
    >>> a = two_levels(logits, share, np.array([0, 3]))
    >>> round(float((1 / (1 + np.exp(-a - logits))).mean()), 9)
    0.333333333
    """
    a = np.where(share > 0, CERTAIN, -CERTAIN)
    mixed = (share > 0) & (share < 1)
    if not mixed.any():
        return a
    sizes, share = np.diff(bounds), share[mixed]
    if not mixed.all():
        logits, sizes = logits[np.repeat(mixed, sizes)], sizes[mixed]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    centre = by_group(logits, ends) / sizes
    odds = np.exp(np.clip(logits - np.repeat(centre, sizes), -REACH, REACH))
    step = np.log(share) - np.log1p(-share)
    own = step.copy()
    for _ in range(passes):
        fitted = odds * np.repeat(np.exp(own), sizes)
        fitted /= 1 + fitted
        mean = _mean(fitted, ends, sizes)
        fitted *= 1 - fitted
        slope = np.maximum(_mean(fitted, ends, sizes), np.finfo(np.float32).tiny)
        own += np.clip((share - mean) / slope, -BOUND, BOUND)
    a[mixed] = own - centre
    return a


def weights_of(
    logits: Floats, target: Floats, bounds: Ints, passes: int = FITTING
) -> tuple[Floats, Floats]:
    """Weights of any number of levels, by iterative proportional fitting.

    Parameters
    ----------
    logits : (levels, m) float64, ``b . u`` of the members of some groups, on a grid.
    target : (levels, G) float64, shares; levels without one never come.

    Returns
    -------
    a : (levels, G) float64, -inf where a level has no share.
    fitted : (levels, m) float64, probabilities.
    """
    sizes = np.diff(bounds)
    ends = bounds - bounds[0]
    present = target > 0
    centre = by_group(logits, ends) / sizes
    odds = np.repeat(np.where(present, -centre, -np.inf), sizes, axis=1)
    odds += logits
    odds -= odds.max(axis=0)
    np.exp(odds, out=odds)
    weight = target.copy()
    for _ in range(passes):
        fitted = _fitted(odds, weight, sizes)
        mean = _mean(fitted, ends, sizes)
        weight *= np.divide(target, mean, out=np.zeros_like(mean), where=mean > 0)
    with np.errstate(divide="ignore"):
        return np.log(weight) - np.where(present, centre, 0.0), _fitted(odds, weight, sizes)


def _fitted(odds: Floats, weight: Floats, sizes: Ints) -> Floats:
    fitted = odds * np.repeat(weight, sizes, axis=1)
    total = fitted[0].copy()
    for level in fitted[1:]:  # one by one: a sum over an axis depends on its length
        total += level
    fitted /= total
    return fitted


def _mean(probabilities: Floats, ends: Ints, sizes: Ints) -> Floats:
    """Means over groups, the same for any order of their members."""
    return by_group(np.rint(probabilities * PROBABILITY), ends) / (sizes * PROBABILITY)
