"""What was measured and how: the data, the version, the parameters. Never the seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sosie.report.views.lists import listed
from sosie.words import Words
from sosie.words.readings import sentence

__all__ = ["IdentityView", "Warned", "identity"]

_NUMBERS = ("k", "components", "min_level_count", "augment", "releases")
_NAMES = ("keep", "drop", "id")
_WAYS = ("method", "decode")


class Warned(NamedTuple):
    """A warning, and its language where that is not the page's."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class IdentityView:
    """Facts and parameters as labels and texts; ``warnings`` are texts of the run and audit.

    ``fingerprint`` is of the file, and empty where there is none.
    """

    facts: tuple[tuple[str, str, str], ...]
    fingerprint: str
    parameters: tuple[tuple[str, str], ...]
    warnings: tuple[Warned, ...]


def identity(words: Words, run: Mapping[str, Any], audit: Mapping[str, Any]) -> IdentityView:
    """Read ``run.json`` and the notes of ``audit.json``; unknown parameters are left out."""
    data = run["data"]
    facts = (
        ("data", data["name"]),
        ("rows", words.number(data["rows"])),
        ("columns", words.number(data["columns"])),
        ("version", run["version"]),
        ("created", words.date(run["created"])),
    )
    return IdentityView(
        facts=tuple((key, words(f"report.identity.{key}"), text) for key, text in facts),
        fingerprint=str(data.get("fingerprint", "")),
        parameters=tuple(
            (_label(words, key, run["parameters"]), text)
            for key, text in _parameters(words, run["parameters"])
        ),
        warnings=tuple(
            _warned(words, note) for note in _different([*run["warnings"], *audit.get("notes", ())])
        ),
    )


def _different(notes: Iterable[Any]) -> Iterable[Any]:
    """Each once, in order; of notes as objects too, which have no hash."""
    return {str(note): note for note in notes}.values()


def _warned(words: Words, note: Any) -> Warned:
    """A note as an object in the page's language; one that is a text as it was written."""
    free = not isinstance(note, Mapping)
    return Warned(sentence(words, note), "en" if free and words.language != "en" else "")


def _label(words: Words, key: str, parameters: Mapping[str, Any]) -> str:
    """A parameter's name, which for some depends on the method."""
    usual = f"report.parameters.{key}"
    return words.get(f"{usual}_{parameters.get('method')}", words(usual))


def _parameters(words: Words, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for key in _WAYS:
        if parameters.get(key) is not None:
            yield key, words.get(f"report.methods.{parameters[key]}", str(parameters[key]))
    for key in _NUMBERS:
        if parameters.get(key) is not None:
            yield key, words.value(parameters[key])
    for key in _NAMES:
        if parameters.get(key):
            yield key, listed(words, parameters[key], most=20)
    if parameters.get("linked"):
        groups = (listed(words, group, most=20) for group in parameters["linked"])
        yield "linked", words.joined(groups)
    if parameters.get("weights"):
        weights = parameters["weights"].items()
        yield "weights", ", ".join(f"{name} × {words.value(weight)}" for name, weight in weights)
