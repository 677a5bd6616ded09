"""Context: who receives the avatars, and which targets follow from that.

The defaults are those used in print for avatars. A TOML file sets stricter or looser
ones by recipient, sensitivity and number of releases::

    name = "our registry"
    recipient = "contract"     # public, contract or inside
    sensitivity = "high"       # ordinary or high
    releases = 3               # how many will ever be published

    known = ["age", "sex"]     # columns that someone with a part of a profile knows; or a table
                               # [known], a line for each actor: colleague = ["age", "sex"]

    analyses = [               # of the study, for `run` and `tune`: see docs/analyses.md
      "survival days, event ~ arm",
    ]

    [[targets]]                # always
    column_direct_match_protection = 60
    closest_rate = false       # no target

    [[targets]]
    when = { recipient = "inside" }
    hidden_rate = 50

    [[targets]]
    when = { sensitivity = "high", releases = 2 }    # two releases or more
    membership = 0.55

Each group counts if all it names under ``when`` holds; later groups win. What people state
about the publication stands in the same file: see `sosie.audits.account`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from sosie.audits.account import LISTS, TABLES, TEXTS, Account
from sosie.errors import InputError, quoted

__all__ = ["RECIPIENTS", "SENSITIVITIES", "Context", "Known", "known_to"]

Targets = Mapping[str, float | None]

Known = Mapping[str, tuple[str, ...]]
"""Actor -> the columns that they know; an actor without a name where only columns were named."""

RECIPIENTS = ("public", "contract", "inside")
SENSITIVITIES = ("ordinary", "high")

LARGEST = 1e12
"""No target is farther from 0; nor is what is not a number nearer."""

ATTACKERS = "strongest_attack"
"""The target of attackers among ``[[targets]]``, in percent."""

SENSITIVE = {"recipient": "public", "sensitivity": "high"}

BUILT_IN: tuple[Mapping[str, Any], ...] = (
    {ATTACKERS: 10},
    {"when": SENSITIVE, "hidden_rate": 95, ATTACKERS: 5},
)
"""One person in ten at most is found by whoever holds the file or a profile: half as strict as the
5 % that the study of the method calls negligible, about the 9 % that EMA and Health Canada take as
a ceiling. Where anyone gets sensitive data, one in twenty. No recipient loosens either: a contract
binds who signs it, not who finds the file. The hidden rate is the same target for one attacker, the
one with a profile."""


@dataclass(frozen=True)
class Context:
    """What judged the metrics.

    Attributes
    ----------
    name : as the file names it; ``default`` without a file.
    recipient : ``public``, ``contract`` (a third party bound by contract) or ``inside``.
    sensitivity : ``ordinary`` or ``high``.
    releases : how many will ever be published.
    targets : metric -> target that differs from the default; None for no target.
    attack_target : the highest rate, in percent, of an attacker who holds the file or a profile,
        and the highest bound of a guarantee against who holds everything; None for no target.
    account : what is stated about purpose, recipients, measures and how a rate is read.
    known : for each actor who holds a part of a profile, the columns that they know.
    analyses : of the study, that are to come out alike (see `sosie.studies.grammar`).

    Examples
    --------
    >>> Context.of().attack_target, Context.of("public", "high").attack_target
    (10.0, 5.0)
    >>> Context.of("public", "high").target("hidden_rate", 90.0)
    95.0
    """

    name: str = "default"
    recipient: str = "public"
    sensitivity: str = "ordinary"
    releases: int = 1
    targets: Targets = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    analyses: tuple[str, ...] = ()
    attack_target: float | None = 10.0
    known: Known = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        recipient: str | None = None,
        sensitivity: str | None = None,
        releases: int | None = None,
        *,
        file: str | Path | None = None,
        targets: Targets | None = None,
    ) -> Self:
        """A context from options and a file; options win.

        Parameters
        ----------
        recipient, sensitivity, releases : see the attributes; None takes the file's.
        file : TOML, laid out as this module says.
        targets : metric -> target, above all others.

        Raises
        ------
        InputError
            The file can't be read, or holds something unknown or out of range.
        """
        source = "the context" if file is None else str(file)
        entries: dict[str, Any] = {} if file is None else _read(Path(file))
        given = {"recipient": recipient, "sensitivity": sensitivity, "releases": releases}
        facts: dict[str, Any] = {"recipient": "public", "sensitivity": "ordinary", "releases": 1}
        facts |= {key: entries[key] for key in facts if key in entries}
        facts |= {key: value for key, value in given.items() if value is not None}
        _check_facts(facts, source)
        chosen: dict[str, float | None] = {}
        for group in [*BUILT_IN, *_groups(entries, source)]:
            if _holds(group.get("when", {}), facts, source):
                chosen |= {key: _target(key, group[key], source) for key in group if key != "when"}
        chosen |= targets or {}
        attack_target = chosen.pop(ATTACKERS)
        name = entries.get("name", "default" if file is None else Path(file).stem)
        return cls(
            name=str(name),
            targets=MappingProxyType(chosen),
            account=Account.of(entries, source),
            analyses=_texts(entries, source, "analyses", "mean days by arms"),
            known=MappingProxyType(_known(entries, source)),
            attack_target=attack_target,
            **facts,
        )

    def target(self, key: str, default: float | None) -> float | None:
        """The target of a metric here."""
        return self.targets.get(key, default)

    def to_dict(self) -> dict[str, Any]:
        """What ``audit.json`` says of it."""
        fields: dict[str, Any] = {
            "name": self.name,
            "recipient": self.recipient,
            "sensitivity": self.sensitivity,
            "releases": self.releases,
            "targets": dict(self.targets),
            "attack_target": self.attack_target,
        }
        if self.known:
            by_actor = {actor: list(columns) for actor, columns in self.known.items()}
            fields["known"] = by_actor[""] if set(by_actor) == {""} else by_actor
        stated = self.account.to_dict()
        return fields | ({"stated": stated} if stated else {})


def _read(file: Path) -> dict[str, Any]:
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or 'it can not be read'}") from error
    except (ValueError, RecursionError) as error:  # what TOML does not allow, or too deep
        raise InputError(f"{file}: not a TOML file ({error})") from error
    known = (
        *("name", "recipient", "sensitivity", "releases", "targets", "analyses", "known"),
        *(*TEXTS, *LISTS, *TABLES),
    )
    unknown = [key for key in entries if key not in known]
    if unknown:
        raise InputError(f"{file}: unknown {quoted(unknown)}; there are {', '.join(known)}")
    return entries


def _check_facts(facts: Mapping[str, Any], source: str) -> None:
    for key, known in (("recipient", RECIPIENTS), ("sensitivity", SENSITIVITIES)):
        if key in facts and facts[key] not in known:
            raise InputError(f"{source}: {key} is {facts[key]!r}; choose one of {', '.join(known)}")
    releases = facts.get("releases", 1)
    if isinstance(releases, bool) or not isinstance(releases, int) or releases < 1:
        raise InputError(f"{source}: releases must be a whole number of at least 1: {releases!r}")


def _texts(entries: Mapping[str, Any], source: str, key: str, such: str) -> tuple[str, ...]:
    texts = entries.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{source}: write {key} as a list of texts, such as ['{such}']")
    return tuple(texts)


def _known(entries: Mapping[str, Any], source: str) -> Known:
    """What each actor knows: a list, of one without a name, or a list for each."""
    told = entries.get("known", [])
    if not isinstance(told, dict):
        return known_to(_texts(entries, source, "known", "age"))
    return {str(actor): _texts(told, source, actor, "age") for actor in told if told[actor] != []}


def known_to(columns: Sequence[str]) -> Known:
    """Columns that an actor without a name knows; nobody where there are none.

    >>> known_to(["age", "sex"]), known_to([])
    ({'': ('age', 'sex')}, {})
    """
    return {"": tuple(columns)} if columns else {}


def _groups(entries: Mapping[str, Any], source: str) -> list[Mapping[str, Any]]:
    groups = entries.get("targets", [])
    groups = [groups] if isinstance(groups, dict) else groups
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise InputError(f"{source}: write targets as [[targets]] and one metric a line")
    return groups


def _holds(when: object, facts: Mapping[str, Any], source: str) -> bool:
    if not isinstance(when, Mapping) or not when.keys() <= facts.keys():
        raise InputError(f"{source}: when takes {', '.join(facts)}, not {when!r}")
    _check_facts(when, source)
    return all(
        facts[key] >= value if key == "releases" else facts[key] == value
        for key, value in when.items()
    )


def _target(key: str, value: object, source: str) -> float | None:
    if value is False:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise InputError(f"{source}: the target of {key} must be a number, or false for none")
    return float(value)
