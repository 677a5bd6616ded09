"""The measures that protect people: those of the run, then those that were stated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sosie.audits.account import Account
from sosie.report.views.account import planned_releases
from sosie.report.views.lists import listed
from sosie.words import Words

__all__ = ["Safeguard", "safeguards"]


class Safeguard(NamedTuple):
    """A measure: its title and what it does."""

    title: str
    text: str


def safeguards(
    words: Words, run: Mapping[str, Any], audit: Mapping[str, Any], account: Account
) -> tuple[Safeguard, ...]:
    """Read the parameters of ``run.json``; nothing is said of avatars that were given as a file."""
    parameters = run["parameters"]
    own = list(_of_run(words, parameters)) if parameters.get("k") is not None else []
    releases = planned_releases(audit)
    if releases is not None:
        text = words.count("measures.releases.text", releases)
        own.append(Safeguard(words("measures.releases.title"), text))
    stated = [Safeguard(text, words("measures.stated.text")) for text in account.measures]
    return (*own, *stated)


def _of_run(words: Words, parameters: Mapping[str, Any]) -> Iterable[Safeguard]:
    def measure(key: str, **values: object) -> Safeguard:
        return Safeguard(
            words(f"measures.{key}.title", **values), words(f"measures.{key}.text", **values)
        )

    k = words.number(parameters["k"])
    yield measure("groups" if parameters.get("method") == "exchangeable" else "mixture", k=k)
    if parameters.get("method") == "smoothed":
        yield measure("smoothing", k=k)
    least = parameters.get("min_level_count")
    if least is not None and least > 1:
        yield measure("rare", n=words.number(least))
    for key, names in (("columns", "drop"), ("surrogates", "id")):
        if parameters.get(names):
            yield measure(key, names=listed(words, parameters[names], most=20))
    yield measure("order")
    yield measure("seed")
