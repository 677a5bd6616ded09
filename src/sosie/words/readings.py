"""From a measured value to what it means: the standing against a target, its reading, the advice.

Metrics are the entries of ``audit.json``: mappings with ``value``, ``unit``, ``direction``,
``target``, ``met``, ``reason`` and ``ci``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any

from sosie.words import Words, load

__all__ = [
    "ADVICE",
    "Standing",
    "advice",
    "example",
    "meaning",
    "reading",
    "reason",
    "standing",
    "told",
]

#: What improves each metric, most effective first; texts are under ``advice`` in the catalogues.
ADVICE: Mapping[str, tuple[str, ...]] = {
    "column_direct_match_protection": ("drop_identifier", "unkeep", "coarsen"),
    "hidden_rate": ("smoothed", "raise_k", "fewer_columns", "rare_profiles"),
    "local_cloaking": ("smoothed", "raise_k", "rare_profiles"),
    "distance_to_closest": ("smoothed", "raise_k", "rare_profiles"),
    "closest_distances_ratio": ("smoothed", "raise_k", "rare_profiles"),
    "closest_rate": ("smoothed", "raise_k", "rare_profiles"),
    "row_direct_match_protection": ("unkeep", "as_numbers", "raise_k"),
    "categorical_hidden_rate": ("unkeep", "raise_k", "coarsen"),
    "rare_values": ("min_level_count", "group_levels", "smoothed"),
    "correlation_protection_rate": ("smoothed", "raise_k", "fewer_columns"),
    "linkability": ("smoothed", "raise_k", "fewer_columns"),
    "inference": ("sensitive", "raise_k", "fewer_columns"),
    "membership": ("smoothed", "raise_k", "rare_profiles", "fewer_releases"),
    "hellinger_mean": ("smoothed_utility", "draw", "lower_k", "group_levels"),
    "association_difference": ("smoothed_utility", "more_components", "weight"),
    "hellinger_projection": ("smoothed_utility", "lower_k", "more_components"),
    "predictive_ratio": ("weight", "more_components", "lower_k"),
}

_SHOWN = 3
_CHANCE = 0.5  # the area under the curve of an attacker who guesses


class Standing(StrEnum):
    """Where a value stands against its target."""

    CLEAR = "clear"
    NARROW = "narrow"
    MISSED = "missed"
    MISSING = "missing"
    UNTARGETED = "untargeted"


def standing(metric: Mapping[str, Any]) -> Standing:
    """Where a metric stands against its target.

    A target is met narrowly when the interval reaches it or, without an interval, when the
    value is within a twentieth of it, unless it can't be bettered: 0 where lower is better.

    >>> metric = {"value": 91.0, "target": 90, "direction": "higher", "met": True}
    >>> standing(metric | {"ci": [89.7, 92.2]}), standing(metric | {"ci": [90.1, 91.8]})
    (<Standing.NARROW: 'narrow'>, <Standing.CLEAR: 'clear'>)
    >>> standing({"value": None, "target": 90})
    <Standing.MISSING: 'missing'>
    """
    value, target = metric.get("value"), metric.get("target")
    if value is None:
        return Standing.MISSING
    if target is None:
        return Standing.UNTARGETED
    sign = -1 if metric.get("direction") == "lower" else 1
    room = sign * (value - target)
    met = metric.get("met")
    if not (room >= 0 if met is None else met):
        return Standing.MISSED
    if interval := metric.get("ci"):
        clear = min(sign * (bound - target) for bound in interval) > 0
    else:
        clear = room > abs(target) / 20 or (sign < 0 and value == target == 0)
    return Standing.CLEAR if clear else Standing.NARROW


def meaning(words: Words, key: str, metric: Mapping[str, Any]) -> str:
    """What the value says, in a sentence; empty where there is no value or no such metric.

    >>> meaning(load("en"), "local_cloaking", {"value": 12})
    'For at least half of the people, 12 or more avatars of others lie closer than their own.'
    """
    value, unit, target = metric.get("value"), metric.get("unit"), metric.get("target")
    if value is None or f"metrics.{key}.means" not in words:
        return ""
    complement = words.value(100 - value, unit, None if target is None else 100 - target)
    text = words(
        f"metrics.{key}.{_means(words, key, metric)}",
        value=words.value(value, unit, target),
        complement=complement,
    )
    return text[0].upper() + text[1:]


def example(words: Words, key: str, metric: Mapping[str, Any], people: int | None) -> str:
    """The same in numbers of the table's people; empty where that says nothing more.

    >>> example(load("en"), "hidden_rate", {"value": 87.45}, 2000)
    'Of 2,000 people, 251 have their own avatar as the nearest.'
    """
    value = metric.get("value")
    if value is None or not people or f"metrics.{key}.example" not in words or value == 100:
        return ""
    count = round(people * (100 - value) / 100)
    return words(f"metrics.{key}.example", people=words.number(people), count=words.number(count))


def _means(words: Words, key: str, metric: Mapping[str, Any]) -> str:
    """Which sentence fits: none, all, worse than chance, or the usual one."""
    value, interval = metric["value"], metric.get("ci")
    fits = {
        "means_none": value == 0,
        "means_all": value == 100 and metric.get("unit") == "%",
        "means_below": interval is not None and interval[1] < _CHANCE,
    }
    there = (name for name, fit in fits.items() if fit and f"metrics.{key}.{name}" in words)
    return next(there, "means")


def reading(words: Words, metric: Mapping[str, Any]) -> str:
    """How the value stands against its target, in a sentence that fits it.

    >>> reading(load("fr"), {"value": 0.31, "target": 0.1, "direction": "lower", "met": False})
    'La cible (au plus 0,1) n’est pas atteinte.'
    """
    unit, interval = metric.get("unit"), metric.get("ci")
    key = f"reading.{standing(metric)}"
    if standing(metric) is Standing.CLEAR and metric["value"] == metric["target"] == 0:
        key += "_zero"
    if standing(metric) is Standing.MISSING and not metric.get("reason"):
        key += "_unexplained"
    if standing(metric) is Standing.NARROW and interval:
        key += "_interval"
    return words(
        key,
        reason=reason(words, metric),
        target=words.target(metric.get("target"), metric.get("direction"), unit),
        interval=words.interval(interval, unit),
    )


def reason(words: Words, metric: Mapping[str, Any]) -> str:
    """Why a metric has no value.

    >>> reason(load("fr"), {"reason": load("en")("reasons.not_run")})
    'il n’a pas été demandé.'
    """
    return told(words, str(metric.get("reason") or ""))


def told(words: Words, text: str) -> str:
    """A reason, or a note of a run, in ``words``' language.

    Results carry them in English; one that the catalogue does not know is given as it is.

    >>> told(load("fr"), "none of the drawn columns varies")
    'aucune des colonnes tirées ne varie'
    """
    for key, known in _sentences():
        if found := known.fullmatch(text):
            values = found.groupdict()
            if "note" in values:
                values["note"] = told(words, values["note"])
            return words(key, **values)
    parts = text.split("; ")
    return words.joined(told(words, part) for part in parts) if len(parts) > 1 else text


@cache
def _sentences() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """English reasons and notes as patterns, whose groups are the placeholders."""
    return tuple(
        (key, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(text))))
        for key, text in load("en").texts.items()
        if key.startswith(("reasons.", "notes.", "format.attack_note"))
    )


def advice(key: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of what would improve a metric, most effective first, without what is already done.

    >>> advice("hidden_rate", {"method": "smoothed"})
    ('raise_k', 'fewer_columns', 'rare_profiles')
    """
    done = {
        "smoothed": parameters.get("method") == "smoothed",
        "smoothed_utility": parameters.get("method") == "smoothed",
        "draw": parameters.get("decode") == "draw",
        "unkeep": parameters.get("keep") == [],
    }
    return tuple(name for name in ADVICE.get(key, ()) if not done.get(name, False))[:_SHOWN]
