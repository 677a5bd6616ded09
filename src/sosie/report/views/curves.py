"""Survival curves of a study with their captions, alternative texts and the tables behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from sosie.report.figures.drawing import Figure
from sosie.report.figures.survival import Steps, survival
from sosie.words import Words

__all__ = ["CurveView", "curves", "log_rank"]

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CurveView:
    """The curves of one group; ``rows`` are (time, originals, avatars) as texts."""

    id: str
    group: str
    figure: Figure
    alt: str
    gap: str
    rows: tuple[tuple[str, str, str], ...]


def curves(words: Words, entry: Told, identifier: str) -> tuple[CurveView, ...]:
    """The curves of an analysis, one figure a group, on the same axes; none where it has none."""
    every = [curve for curve in entry.get("curves", []) if len(curve["times"]) > 1]
    if not every:
        return ()
    lowest = [v for curve in every for side in ("original", "avatars")
              for v in curve[side]["low"] if v is not None]  # fmt: skip
    least = max(math.floor(10 * min(lowest, default=0.0) - 1e-9) / 10, 0.0)
    last = max(curve["times"][-1] for curve in every)
    name = str(entry["references"] and next(iter(entry["references"])))
    return tuple(
        _curve(words, entry, curve, f"{identifier}-curve-{place}", name, least, last)
        for place, curve in enumerate(every, start=1)
    )


def _curve(
    words: Words, entry: Told, curve: Told, identifier: str, name: str, least: float, last: float
) -> CurveView:
    sides = [_steps(curve, side) for side in ("original", "avatars")]
    group = f"{name}\u00a0=\u00a0{curve['group']}"
    known = [
        (abs(ours - theirs), time)
        for time, ours, theirs in zip(*sides[0][:2], sides[1].values, strict=True)
        if ours is not None and theirs is not None
    ]
    widest, where = max(known, default=(0.0, 0.0))
    gap = words(
        "analyses.gap",
        points=words.count("format.points", 100 * widest, digits=1),
        time=words.value(float(where)),
    )
    return CurveView(
        id=identifier,
        group=group,
        figure=survival(words, *sides, least=least, last=last, title=str(entry["outcome"])),
        alt=words("analyses.curve_alt", group=group, gap=gap),
        gap=gap,
        rows=tuple(
            (words.value(float(time)), _share(words, ours), _share(words, theirs))
            for time, ours, theirs in zip(*sides[0][:2], sides[1].values, strict=True)
        ),
    )


def _steps(curve: Told, side: str) -> Steps:
    ends = zip(curve[side]["low"], curve[side]["high"], strict=True)
    return Steps(
        curve["times"],
        curve[side]["survival"],
        [None if None in pair else pair for pair in ends],
    )


def _share(words: Words, value: float | None) -> str:
    return words.value(None if value is None else 100 * value, "%")


def log_rank(words: Words, told: Told | None) -> str:
    """The log-rank test in a sentence; of several releases, the medians."""
    if told is None:
        return ""
    ours, theirs = told["original"], told["avatars"]
    values = _test(words, "own", ours["statistic"], ours["p_value"])
    known = [
        (statistic, p_value)
        for statistic, p_value in zip(theirs["statistics"], theirs["p_values"], strict=True)
        if statistic is not None and p_value is not None
    ]
    if not known:
        return words("analyses.log_rank_own", **values)
    statistics, p_values = zip(*known, strict=True)
    values |= _test(words, "their", median(statistics), median(p_values))
    key = "one" if len(known) == 1 else "many"
    return words(f"analyses.log_rank_{key}", n=words.number(len(known)), **values)


def _test(words: Words, side: str, statistic: float, p_value: float) -> dict[str, str]:
    return {f"{side}_statistic": words.number(statistic, 1), f"{side}_p": _p(words, p_value)}


def _p(words: Words, value: float) -> str:
    """A p-value as journals print it."""
    if value < 0.001:
        return words("analyses.p_under", value=words.number(0.001, 3))
    return words("analyses.p", value=words.number(value, 3))
