"""One estimate and its variance from the estimates on one or several releases.

A release is a table drawn from a law that was fitted to the originals. An interval computed on it
as if its rows were people holds only the chance of its own draw; the originals too were a draw
from a population, and that chance, which the law inherits, counts on top. With `m` releases of
``r = n_release / n`` times as many rows as the originals, estimates `q_i`, their mean `q`, their
variance ``b = sum (q_i - q)^2 / (m - 1)``, and the mean `v` of the variances computed on each:

``fitted`` (every method of sosie: one law, from which each release draws)
    ``T = r v + b / m``; with one release ``b`` is unknown and at most about `v`: ``T = (r + 1) v``.
    ``r v`` is the variance of the estimate on the originals, ``b / m`` what is left of the
    chance of the draws. Raab, Nowok and Dibben 2016 write `v` for `b`, since rows drawn one by
    one have it; groups of a fixed size give a smaller one, so that it is measured where it can be.

``redrawn`` (a synthesiser that draws the law's parameters anew for each release)
    ``T = (1 + 1/m) b - v`` with Student's law of ``(m - 1) (1 - v / ((1 + 1/m) b))^2`` degrees of
    freedom (Raghunathan, Reiter and Rubin 2003); where it is not above 0, ``T = r v`` (the
    non-negative variant of Reiter 2002). With one release ``T = (2 r + 1) v`` (Raab, Nowok and
    Dibben 2016).

The published rule of 2003 needs redrawn parameters: of fitted releases `b` is about `v`, so that
its ``T`` is near ``v / m``, below 0 as often as not, and no number of releases brings back the
chance of the originals. For redrawn releases it is conservative (95 % intervals hold the truth in
97 to 100 % of repetitions), while ``r v + b / m`` is right for several of them too: given the
originals, their mean varies by ``b / m`` whatever it is that varies. The tests measure all this.

Sources: Raghunathan, T. E., Reiter, J. P. and Rubin, D. B. (2003), Journal of Official Statistics
19(1); Reiter, J. P. (2002), ibid. 18(4); Raab, G. M., Nowok, B. and Dibben, C. (2016), Journal of
Privacy and Confidentiality 7(3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sosie.compute.arrays import Floats

__all__ = ["Combined", "Rule", "combined", "interval"]

Rule = Literal["fitted", "redrawn"]

COPIES = 1e-12
"""Estimates that vary less than this, as a share of their variance, come from one release given
several times; it counts as one."""


@dataclass(frozen=True)
class Combined:
    """Estimates with the standard errors that inference about the population needs.

    Attributes
    ----------
    estimates, errors : (p,) float64, NaN where no release has an estimate.
    naive : (p,) float64, the standard errors of one release, its rows taken for people.
    degrees : (p,) float64, degrees of freedom of Student's law; infinite for the normal law.
    releases : (p,) int64, releases that have an estimate.
    """

    estimates: Floats
    errors: Floats
    naive: Floats
    degrees: Floats
    releases: Floats


def combined(
    estimates: Floats, errors: Floats, degrees: Floats, ratio: Floats, rule: Rule = "fitted"
) -> Combined:
    """Combine releases, coefficient by coefficient.

    Parameters
    ----------
    estimates, errors, degrees : (m, p) float64 of each release; NaN where there is none.
    ratio : (m,) float64, rows of each release over rows of the originals.
    rule : how the releases were drawn.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> combined(one, one, np.inf * one, np.ones(1)).errors.round(4)
    array([1.4142])
    """
    there = np.isfinite(estimates) & np.isfinite(errors)
    m = there.sum(axis=0).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        q = np.where(there, estimates, 0.0).sum(axis=0) / m
        v = np.where(there, np.square(errors), 0.0).sum(axis=0) / m
        b = np.where(there, np.square(estimates - q), 0.0).sum(axis=0) / (m - 1)
        r = np.where(there, ratio[:, None], 0.0).sum(axis=0) / m
        own = np.where(there, degrees, np.inf).min(axis=0, initial=np.inf)
        several = (m > 1) & (b > COPIES * v)
        if rule == "fitted":
            variance = r * v + np.where(several, b / m, v)
            freedom = own
        else:
            whole = (1 + 1 / m) * b
            positive = several & (whole > v)
            variance = np.where(positive, whole - v, np.where(several, r, 2 * r + 1) * v)
            freedom = np.where(positive, (m - 1) * np.square(1 - v / whole), own)
    return Combined(q, np.sqrt(variance), np.sqrt(v), freedom, m)


def interval(
    estimates: Floats, errors: Floats, degrees: Floats, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Intervals from Student's law, the normal where degrees of freedom are infinite.

    Examples
    --------
    >>> low, high = interval(np.zeros(2), np.ones(2), np.array([np.inf, 10.0]))
    >>> high.round(3)
    array([1.96 , 2.228])
    """
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    finite = np.isfinite(degrees)
    quantile = np.where(finite, stdtrit(np.where(finite, degrees, 1.0), tail), ndtri(tail))
    return estimates - quantile * errors, estimates + quantile * errors
