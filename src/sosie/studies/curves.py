"""Kaplan-Meier curves that show nobody's time, and the log-rank test.

A curve of single steps is a list of people's times. Here the survival is read at round times, the
same for both tables, between which at least k originals of the group leave (with the event or
censored); the curve ends where fewer than k would be left to leave. Avatars are read at the
originals' times.

Sources: Kaplan, E. L. and Meier, P. (1958), JASA 53; Mantel, N. (1966), Cancer Chemotherapy
Reports 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.studies.design import Sample
from sosie.studies.extra import library

__all__ = ["Curve", "LogRank", "aggregated_times", "log_rank", "survival"]

STEPS = 100
"""Round times that a curve may be read at: what an eye tells apart on a page."""

Z = 1.959963984540054
"""The normal quantile of a 95 % interval."""


@dataclass(frozen=True)
class Curve:
    """Survival in one group at round times.

    Attributes
    ----------
    group : the level.
    times : (t,) float64, rising from 0.
    original, original_low, original_high : (t,) float64, survival among the originals in 0..1 and
        its pointwise 95 % interval (Greenwood).
    avatars : (t,) float64, the mean over releases.
    avatars_low, avatars_high : (t,) float64, of one release its interval, of several the least
        and the greatest among them; NaN beyond the avatars' last time.
    """

    group: str
    times: Floats
    original: Floats
    original_low: Floats
    original_high: Floats
    avatars: Floats
    avatars_low: Floats
    avatars_high: Floats

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "group": self.group,
            "times": self.times,
            "original": {
                "survival": self.original,
                "low": self.original_low,
                "high": self.original_high,
            },
            "avatars": {
                "survival": self.avatars,
                "low": self.avatars_low,
                "high": self.avatars_high,
            },
        }


@dataclass(frozen=True)
class LogRank:
    """Whether survival differs between groups.

    Attributes
    ----------
    statistic, p_value : of the originals.
    degrees : groups less one.
    avatars_statistics, avatars_p_values : one for each release, which is taken for people; None
        where a release lacks a group.
    """

    statistic: float
    p_value: float
    degrees: int
    avatars_statistics: tuple[float | None, ...]
    avatars_p_values: tuple[float | None, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "degrees": self.degrees,
            "original": {"statistic": self.statistic, "p_value": self.p_value},
            "avatars": {
                "statistics": self.avatars_statistics,
                "p_values": self.avatars_p_values,
            },
        }


def aggregated_times(time: Floats, k: int) -> Floats:
    """Round times, from 0, between any two of which at least k of the given times lie.

    Examples
    --------
    >>> aggregated_times(np.arange(1.0, 41.0), 10)
    array([ 0., 10., 20., 30., 40.])
    """
    top = float(time.max(initial=0.0))
    if top <= 0 or len(time) < k:
        return np.zeros(1)
    step = _round_up(top / STEPS)
    edges = step * np.arange(1, int(np.ceil(top / step * (1 - 1e-12))) + 1)
    count = np.bincount(np.searchsorted(edges, time).clip(0, len(edges) - 1), minlength=len(edges))
    kept, waiting = [0.0], 0
    for edge, leaving in zip(edges.tolist(), count.tolist(), strict=True):
        waiting += leaving
        if waiting >= k:
            kept.append(edge)
            waiting = 0
    return np.array(kept)


def _round_up(value: float) -> float:
    """The next number 1, 2 or 5 times a power of ten.

    >>> [_round_up(value) for value in (0.3, 1.0, 7.1)]
    [0.5, 1.0, 10.0]
    """
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= value * (1 - 1e-9)))


def survival(time: Floats, event: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Survival and its standard error at some times, ``(t,) float64``; NaN beyond the last.

    Examples
    --------
    >>> survival(np.array([1.0, 2.0, 3.0]), np.ones(3), np.array([0.0, 2.0]))[0].round(4)
    array([1.    , 0.3333])
    """
    duration = library("statsmodels.duration.survfunc")
    if not event.any():
        values, errors = np.ones(len(at)), np.zeros(len(at))
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            curve = duration.SurvfuncRight(time, event)
        steps = np.searchsorted(curve.surv_times, at, side="right")
        # Where everyone has the event, Greenwood's formula multiplies 0 by infinity: 0.
        values = np.append(1.0, curve.surv_prob)[steps]
        errors = np.append(0.0, np.where(curve.surv_prob > 0, curve.surv_prob_se, 0.0))[steps]
    beyond = at > time.max(initial=0.0)
    beyond &= values > 0  # a curve that has reached 0 stays there
    values[beyond] = errors[beyond] = np.nan
    return values, errors


def curve(
    group: str, place: int, column: object, originals: Sample, avatars: Sequence[Sample], k: int
) -> Curve:
    """The curve of one group among originals and avatars.

    Parameters
    ----------
    place : of the group among the levels of the column.
    """

    def part(sample: Sample) -> tuple[Floats, Floats]:
        rows = sample.values[column] == place
        event = sample.event
        return sample.outcome[rows], np.zeros(0) if event is None else event[rows]

    time, event = part(originals)
    times = aggregated_times(time, k)
    # The last round time lies at or beyond the last person: the curve is read up to there.
    value, error = survival(time, event, np.minimum(times, time.max(initial=0.0)))
    release = [part(sample) for sample in avatars]
    drawn = [survival(*one, times) if len(one[0]) else _nothing(times) for one in release]
    values = np.array([one for one, _ in drawn])
    if len(drawn) > 1:
        low, high, middle = _least(values), -_least(-values), _mean(values)
    else:
        middle, spread = drawn[0]
        low, high = middle - Z * spread, middle + Z * spread
    bounds = [array.clip(0, 1) for array in (value - Z * error, value + Z * error, low, high)]
    return Curve(group, times, value, bounds[0], bounds[1], middle, bounds[2], bounds[3])


def _nothing(times: Floats) -> tuple[Floats, Floats]:
    return np.full(len(times), np.nan), np.full(len(times), np.nan)


def _least(values: Floats) -> Floats:
    lowest = np.where(np.isnan(values), np.inf, values).min(axis=0)
    return np.where(np.isinf(lowest), np.nan, lowest)


def _mean(values: Floats) -> Floats:
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0.0).sum(axis=0) / there.sum(axis=0))


def log_rank(time: Floats, event: Floats, group: Ints) -> tuple[float, float] | None:
    """Statistic and p-value of the log-rank test; None without two groups or any event."""
    if not event.any() or len(np.unique(group)) < 2:
        return None
    duration = library("statsmodels.duration.survfunc")
    try:
        statistic, p_value = duration.survdiff(time, event, group)
    except np.linalg.LinAlgError:
        return None
    return float(statistic), float(p_value)
