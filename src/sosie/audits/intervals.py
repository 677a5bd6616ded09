"""Intervals of a rate seen in n trials, of a rate above a control, of a median, of an area.

Shares in 0..1 everywhere, in and out, but for `hidden_interval`, which is in percent.
Wilson for display, Clopper-Pearson for the bound that a risk is compared with.

Sources: Wilson, E. B. (1927), JASA 22(158); Clopper, C. and Pearson, E. (1934),
Biometrika 26(4).
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.errors import InputError

__all__ = [
    "above_control",
    "area_interval",
    "clopper_pearson_upper",
    "hidden_interval",
    "jackknife_interval",
    "median_interval",
    "paired_risk",
    "wilson",
]


def wilson(successes: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Two-sided Wilson interval of a share, ``(low, high)`` in 0..1.

    ``(p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)``, ``p = successes / n`` and z
    the normal quantile at ``(1 + level) / 2``.

    Parameters
    ----------
    successes : at least 0, at most n; a fraction where hits are shared among ties.
    n : trials, at least 1.
    level : confidence, between 0 and 1.

    Raises
    ------
    InputError
        Arguments out of range.

    Examples
    --------
    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    _check(successes, n, level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = share + z * z / (2 * n)
    half = z * sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    # At the ends the bound is exact; roundoff must not leave 0..1.
    low = 0.0 if successes == 0 else max(0.0, (middle - half) / scale)
    high = 1.0 if successes == n else min(1.0, (middle + half) / scale)
    return low, high


def clopper_pearson_upper(successes: float, n: int, level: float = 0.95) -> float:
    """One-sided exact upper bound of a share, in 0..1.

    The share at which so few successes or fewer have probability ``1 - level``: the
    quantile of a beta law with parameters ``successes + 1`` and ``n - successes``.

    Parameters
    ----------
    successes : at least 0, at most n; a fraction where hits are shared among ties.
    n : trials, at least 1.
    level : confidence, between 0 and 1.

    Raises
    ------
    InputError
        Arguments out of range.

    Examples
    --------
    >>> round(clopper_pearson_upper(0, 100), 4)  # the rule of three
    0.0295
    """
    from scipy.special import betaincinv

    _check(successes, n, level)
    return 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, level))


def above_control(
    successes: float, n: int, control: float, m: int, level: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Risk above a control, ``r = (a - c) / (1 - c)``, and its interval ``(low, high)``.

    `a` is the attack's success rate and `c` the control's. ``1 - r`` is the ratio of two
    shares, ``(1 - a) / (1 - c)``, whose interval is put together from their two Wilson
    intervals (MOVER-R). Negative where the control does better.

    Parameters
    ----------
    successes, control : hits of the attack and of the control; may be fractions.
    n, m : their trials, at least 1.
    level : confidence, between 0 and 1.

    Raises
    ------
    InputError
        Arguments out of range, or a control that is always right, above which nothing is.

    Examples
    --------
    >>> risk, (low, high) = above_control(300, 1000, 100, 1000)
    >>> round(risk, 4), round(low, 4), round(high, 4)
    (0.2222, 0.1866, 0.2575)

    Notes
    -----
    Sources: Giomi et al., PETS 2023, for the risk; Newcombe, R. G. (2016), Statistical
    Methods in Medical Research 25(5), for the interval.
    """
    low, high = wilson(successes, n, level)
    control_low, control_high = wilson(control, m, level)
    if control == m:
        raise InputError("the control is always right, so that nothing can be above it")
    p, q = 1 - successes / n, 1 - control / m
    p_low, p_high = 1 - high, 1 - low
    q_low, q_high = 1 - control_high, 1 - control_low
    down = sqrt(max(0.0, (p * q) ** 2 - p_low * q_high * (2 * p - p_low) * (2 * q - q_high)))
    up = sqrt(max(0.0, (p * q) ** 2 - p_high * q_low * (2 * p - p_high) * (2 * q - q_low)))
    least = (p * q - down) / (q_high * (2 * q - q_high))
    most = (p * q + up) / (q_low * (2 * q - q_low))
    return 1 - p / q, (1 - most, 1 - least)


def paired_risk(attack: NDArray[Any], control: NDArray[Any]) -> tuple[float, tuple[float, float]]:
    """Risk above the control, ``(a - c) / (1 - c)``, where both are about the same people.

    Its interval is that of a ratio of means, by the delta method: with ``r`` the risk, the
    mean of ``(attack - (1 - r) control) / (1 - c)`` over people has the variance of `r`.

    Parameters
    ----------
    attack, control : (n,) float64, chance of success about each person as a member and as a
        stranger; the mean of `control` is below 1.

    Examples
    --------
    >>> risk, (low, high) = paired_risk(np.array([1.0, 1, 0, 1]), np.array([1.0, 0, 0, 0]))
    >>> round(risk, 4), round(high - low, 4)
    (0.6667, 0.9493)
    """
    a, c = float(attack.mean()), float(control.mean())
    risk = (a - c) / (1 - c)
    shares = (attack - (1 - risk) * control) / (1 - c)
    half = 1.96 * float(shares.std(ddof=1)) / sqrt(len(shares))
    return risk, (risk - half, min(risk + half, 1.0))


def jackknife_interval(value: float, left_out: NDArray[Any]) -> tuple[float, float]:
    """95 % interval of a figure from what it is with each part of the data left out.

    ``value +- t sqrt((m - 1) / m sum (v_j - mean v)^2)``, t of Student's law with m - 1 degrees
    of freedom.

    Parameters
    ----------
    left_out : (m,) float64, the figure without each part in turn, m at least 2.

    Examples
    --------
    The figure is a mean, whose interval is the usual one:

    >>> low, high = jackknife_interval(2.0, np.array([2.5, 2.0, 1.5]))
    >>> round(high - 2.0, 4) == round(4.302653 * (1 / 3) ** 0.5, 4)
    True

    Notes
    -----
    Source: Efron and Stein, Annals of Statistics 9(3) (1981).
    """
    from scipy.special import stdtrit

    parts = len(left_out)
    spread = sqrt((parts - 1) / parts * float(np.square(left_out - left_out.mean()).sum()))
    half = float(stdtrit(parts - 1, 0.975)) * spread
    return value - half, value + half


def median_interval(values: NDArray[Any], level: float = 0.95) -> tuple[float, float] | None:
    """Interval of the median between two order statistics, whatever the law.

    The values of rank l and n + 1 - l, l the greatest with ``P(Binomial(n, 1/2) < l)`` at most
    ``(1 - level) / 2``. None where no such rank exists: at 95 %, under six values.

    Parameters
    ----------
    values : (n,) numbers, in any order.
    level : confidence, between 0 and 1.

    Raises
    ------
    InputError
        The level is out of range.

    Examples
    --------
    >>> median_interval(np.arange(1, 11))
    (2.0, 9.0)

    Notes
    -----
    Source: Conover, W. J. (1999), Practical Nonparametric Statistics, 3.2.
    """
    from scipy.special import bdtr

    if not 0 < level < 1:
        raise InputError(f"the confidence level must be between 0 and 1, got {level}")
    count = len(values)
    below = np.asarray(bdtr(np.arange(count // 2), count, 0.5))
    rank = int((below <= (1 - level) / 2).sum())
    if not rank:
        return None
    ranked = np.partition(values, (rank - 1, count - rank))
    return float(ranked[rank - 1]), float(ranked[count - rank])


def hidden_interval(hits: float, n: int) -> tuple[float, float]:
    """Wilson's interval of the share that was not hit, in percent.

    Examples
    --------
    >>> low, high = hidden_interval(2, 10)
    >>> round(low, 2), round(high, 2)
    (49.02, 94.33)
    """
    low, high = wilson(hits, n)
    return 100 * (1 - high), 100 * (1 - low)


def area_interval(area: float, positives: int, negatives: int) -> tuple[float, float]:
    """95 % interval of an area under the curve, within 0..1.

    Parameters
    ----------
    area : of ``positives`` ranked against ``negatives``, in 0..1.

    Examples
    --------
    >>> low, high = area_interval(0.8, 50, 50)
    >>> round(low, 3), round(high, 3)
    (0.713, 0.887)

    Notes
    -----
    Source: Hanley and McNeil, Radiology 143 (1982).
    """
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (
        area * (1 - area) + (positives - 1) * (one - area**2) + (negatives - 1) * (two - area**2)
    ) / (positives * negatives)
    half = 1.96 * sqrt(max(0.0, variance))
    return max(0.0, area - half), min(1.0, area + half)


def _check(successes: float, n: int, level: float) -> None:
    if n < 1:
        raise InputError(f"an interval needs at least one trial, got {n}")
    if not 0 <= successes <= n:
        raise InputError(f"successes must be between 0 and {n}, got {successes}")
    if not 0 < level < 1:
        raise InputError(f"the confidence level must be between 0 and 1, got {level}")
