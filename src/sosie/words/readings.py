"""From a measured value to what it means: the standing against a target, its reading, the advice.

Metrics are the entries of ``audit.json``: mappings with ``value``, ``unit``, ``direction``,
``target``, ``met``, ``reason`` and ``ci``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from sosie.errors import Reason, SosieWarning
from sosie.words import Words, load

__all__ = [
    "Standing",
    "advice",
    "example",
    "meaning",
    "notice",
    "reading",
    "reason",
    "reasons",
    "sentence",
    "standing",
    "warning_of",
]

_SHOWN = 3
"""Advice listed: more than three is not followed."""

_CHANCE = 0.5
"""The area under the curve of an attacker who guesses."""


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

    >>> from sosie.words import load
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

    >>> from sosie.words import load
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

    >>> from sosie.words import load
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
        reason=reason(words, metric.get("reason")),
        target=words.target(metric.get("target"), metric.get("direction"), unit),
        interval=words.interval(interval, unit),
    )


def reason(words: Words, told: object) -> str:
    """Why there is no figure, in words.

    Parameters
    ----------
    told : a key with its values, as JSON files hold a reason (``errors.Reason.to_dict``). Texts, as
        files of earlier versions hold them, are given back as they are; so is a key that the
        catalogue does not have.

    >>> from sosie.words import load
    >>> reason(load("fr"), {"key": "no_rare_level", "values": {"k": 5}})
    'aucune modalité n’est portée par moins de 5 personnes.'
    >>> reason(load("fr"), "there are too few people."), reason(load("fr"), None)
    ('there are too few people.', '')
    """
    if not isinstance(told, Mapping):
        return str(told or "")
    if f"notices.{told.get('kind')}" in words:
        return notice(words, told)
    key, values = _key(words, str(told.get("key"))), told.get("values")
    values = {name: _written(words, value, name) for name, value in dict(values or {}).items()}
    if f"{key}_one" in words:
        number = told["values"].get("n", 0)
        return words.count(key, number, **{name: v for name, v in values.items() if name != "n"})
    return words(key, **values) if key in words else str(told.get("key") or "")


def _key(words: Words, key: str) -> str:
    """Where the words of a reason stand; a text of the program's own errors is in English only."""
    if key == "as_written" and words.language != "en":
        return "reasons.cause_in_json"
    remark = f"remarks.{key}"
    return remark if remark in words or f"{remark}_one" in words else f"reasons.{key}"


def _written(words: Words, value: object, name: str) -> object:
    """A value in a sentence: numbers as the language writes them, reasons in words."""
    if isinstance(value, Mapping):
        return reason(words, value).rstrip(".")
    if isinstance(value, list | tuple):
        return ", ".join(
            reason(words, one) if isinstance(one, Mapping) else str(one) for one in value
        )
    if isinstance(value, float):
        return words.value(value, "%" if name == "percent" else None)
    return words.number(value) if isinstance(value, int) else value


def sentence(words: Words, told: object) -> str:
    """A note or a reason that stands by itself: a capital at its beginning, a period at its end.

    >>> from sosie.words import load
    >>> sentence(load("en"), {"key": "no_value_in_column", "values": {"column": "age"}})
    "Column 'age' has no value at all; it stays so."
    >>> sentence(load("en"), None)
    ''
    """
    text = reason(words, told)
    ends = not text or text.endswith((".", "!", "?"))
    return text[:1].upper() + text[1:] + ("" if ends else ".")


def warning_of(told: Reason) -> SosieWarning:
    """A note as a Python warning: in English, with its key for other languages.

    >>> str(warning_of(Reason("no_value_in_column", {"column": "age"})))
    "column 'age' has no value at all; it stays so"
    """
    return SosieWarning(reason(load("en"), told.to_dict()), reason=told)


def notice(words: Words, told: Mapping[str, Any]) -> str:
    """A notice, as JSON files hold it, in words.

    >>> from sosie.words import load
    >>> told = {"kind": "constant", "column": "death", "people": 24, "values": {"share": 0.02}}
    >>> notice(load("en"), told)[:62]
    "column 'death' has a single value in the avatars; 24 people (2"
    """
    values = {
        name: value if isinstance(value, str) else words.number(value)
        for name, value in told["values"].items()
    }
    if "share" in told["values"]:
        values["share"] = words.value(100 * told["values"]["share"], "%")
    if "points" in told["values"]:
        values["points"] = words.number(told["values"]["points"], 1)
    if told["people"] is not None:
        values["people"] = words.number(told["people"])
    name = told["column"]
    return words(f"notices.{told['kind']}", name=name, coarsened=shlex.quote(f"{name}=N"), **values)


def reasons(words: Words, told: Mapping[str, Any]) -> str:
    """Why there is no figure, or what to know about it, in as many sentences as there are reasons.

    Parameters
    ----------
    told : an entry with ``reasons``, or a single ``reason``.

    >>> from sosie.words import load
    >>> reasons(load("en"), {"reasons": [{"key": "too_few_people"}, {"key": "two_releases"}]})
    'There are too few people. A mean and a covariance need at least 2 releases.'
    """
    several = told.get("reasons") or [told.get("reason")]
    return " ".join(text for one in several if (text := sentence(words, one)))


def advice(names: Iterable[str], parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """What would improve a metric, most effective first, without what is already done.

    Parameters
    ----------
    names : what the metric declares: keys under ``advice`` in the catalogues.

    >>> advice(("smoothed", "raise_k", "fewer_columns"), {"method": "smoothed"})
    ('raise_k', 'fewer_columns')
    """
    done = {
        "smoothed": parameters.get("method") in ("smoothed", "exchangeable"),
        "smoothed_utility": parameters.get("method") in ("smoothed", "exchangeable"),
        "draw": parameters.get("decode") == "draw" or parameters.get("method") == "exchangeable",
        "unkeep": parameters.get("keep") == [],
    }
    return tuple(name for name in names if not done.get(name, False))[:_SHOWN]
