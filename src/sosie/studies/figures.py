"""What the figures of a report draw of an analysis: numbers only, no words, aggregates only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sosie.compute.arrays import Floats
from sosie.studies.agreement import Estimate, Verdict
from sosie.studies.results import Analysis

__all__ = ["CurveLines", "Forest", "ForestLine", "Point", "curve_lines", "forest"]


@dataclass(frozen=True)
class Point:
    """A value with its interval, as it is drawn.

    Attributes
    ----------
    value, low, high : ratios where the model has logarithms of ratios.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ForestLine:
    """One term of a forest plot; a side is None where it is blank."""

    label: str
    original: Point | None
    avatars: Point | None
    verdict: Verdict | None


@dataclass(frozen=True)
class Forest:
    """A forest plot.

    Attributes
    ----------
    lines : from top to bottom.
    logarithmic : whether the axis is.
    nothing : where an effect would be none: 1 for ratios, 0 for differences, None for means and
        shares.
    """

    lines: tuple[ForestLine, ...]
    logarithmic: bool
    nothing: float | None


def forest(analysis: Analysis) -> Forest:
    """The forest plot of an analysis.

    Examples
    --------
    >>> import polars as pl
    >>> from sosie.studies.analyses import analyses
    >>> people = pl.DataFrame({"arm": ["a", "b"] * 40, "ill": ["n", "n", "n", "y", "y"] * 16})
    >>> plot = forest(analyses(people, people, "odds ill by arm").analyses[0])
    >>> plot.lines[0].label, plot.lines[0].original.value, plot.nothing
    ('arm[b]', 1.0, 1.0)
    """
    lines = tuple(
        ForestLine(
            term.term.label,
            _point(term.original, analysis.ratio),
            _point(term.avatars, analysis.ratio),
            term.verdict,
        )
        for term in analysis.terms
    )
    nothing = 1.0 if analysis.ratio else 0.0 if analysis.model == "linear" else None
    return Forest(lines, analysis.ratio, nothing)


def _point(estimate: Estimate, ratio: bool) -> Point | None:
    if estimate.value is None or estimate.interval is None:
        return None
    values = (estimate.value, *estimate.interval)
    return Point(*(map(_exponential, values) if ratio else values))


def _exponential(value: float) -> float:
    """Infinite where a float holds no more.

    >>> _exponential(0.0), _exponential(1e6)
    (1.0, inf)
    """
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class CurveLines:
    """Two curves laid over each other, as steps.

    Attributes
    ----------
    group : the level.
    times : (t,) float64; a value holds from its time to the next.
    original, avatars : (t,) float64, survival; NaN where the curve has ended.
    original_band, avatars_band : lower and upper ends, (t,) float64 each.
    """

    group: str
    times: Floats
    original: Floats
    avatars: Floats
    original_band: tuple[Floats, Floats]
    avatars_band: tuple[Floats, Floats]


def curve_lines(analysis: Analysis) -> tuple[CurveLines, ...]:
    """The curves of an analysis; none where it has none."""
    return tuple(
        CurveLines(
            curve.group,
            curve.times,
            curve.original,
            curve.avatars,
            (curve.original_low, curve.original_high),
            (curve.avatars_low, curve.avatars_high),
        )
        for curve in analysis.curves
    )
