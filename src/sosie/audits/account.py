"""What people state about a publication, to stand in the report as they wrote it.

It is part of the context file (see `sosie.audits.context`); all of it is optional::

    purpose = "Teaching biostatistics"
    controller = "The hospital"
    recipients = ["Students of the 2027 course", "Their teachers"]
    measures = ["Accounts by name", "Deletion after the course"]
    retention = "Until the end of the course"
    author = "The data team"   # of the impact assessment; the PIA software asks for all three
    evaluator = "The data protection officer"
    validator = "The head of the hospital"
    residual_risk = "A teacher who treated a patient may recognise an unusual profile."

    [holders]                  # who could hold what
    controller = "The data team of the hospital: all originals, the generator, its parameters"
    profile = "A relative who knows one patient's whole record"
    columns = "A colleague who knows age, sex and town"
    file = "Anyone who downloads the file"

    [likelihood]               # how you read a rate, in percent: at most so much is ...
    holder = "profile"         # the rate is that of the strongest attacker of this holder
    negligible = 5
    limited = 9
    important = 33             # more is maximal
    source = "Our policy of 2026"

    [severity]
    level = "limited"          # negligible, limited, important or maximal
    why = "The data are three years old and hold no address."
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Self

from sosie.errors import InputError, quoted

__all__ = ["HOLDERS", "LEVELS", "Account", "Likelihood", "Severity"]

HOLDERS = ("controller", "profile", "columns", "file")
"""Everything; one known profile; some columns of a profile; the published file only."""

LEVELS = ("negligible", "limited", "important", "maximal")

TEXTS = (
    *("purpose", "controller", "retention", "residual_risk"),
    *("author", "evaluator", "validator"),
)
LISTS = ("recipients", "measures")
TABLES = ("holders", "likelihood", "severity")


@dataclass(frozen=True)
class Likelihood:
    """How a rate is read as a level of likelihood; nothing published says so.

    Attributes
    ----------
    negligible, limited, important : greatest rate of each level, in percent.
    holder : whose strongest attacker's rate is read, one of `HOLDERS`.
    source : where the mapping comes from.

    Examples
    --------
    >>> mapping = Likelihood(5, 9, 33)
    >>> [mapping.level(rate) for rate in (5, 5.1, 33, 33.1)]
    [1, 2, 3, 4]
    """

    negligible: float
    limited: float
    important: float
    holder: str = "profile"
    source: str = ""

    def level(self, rate: float) -> int:
        """1 (negligible) to 4 (maximal) of a rate in percent."""
        return 1 + sum(rate > most for most in (self.negligible, self.limited, self.important))


@dataclass(frozen=True)
class Severity:
    """How severe the consequences would be, as people judge it: one of `LEVELS`, and why."""

    level: str
    why: str = ""


@dataclass(frozen=True)
class Account:
    """What was stated; empty where nothing was.

    Attributes
    ----------
    purpose, controller, retention, residual_risk : texts.
    author, evaluator, validator : who they are, of the impact assessment.
    recipients, measures : lists of texts.
    holders : who could hold what, by `HOLDERS`.
    likelihood, severity : None where not stated.
    """

    purpose: str = ""
    controller: str = ""
    recipients: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    residual_risk: str = ""
    retention: str = ""
    author: str = ""
    evaluator: str = ""
    validator: str = ""
    holders: Mapping[str, str] = field(default_factory=dict)
    likelihood: Likelihood | None = None
    severity: Severity | None = None

    @classmethod
    def of(cls, entries: Mapping[str, Any], source: str) -> Self:
        """Read and check the entries of a context file, or of ``audit.json``.

        Raises
        ------
        InputError
            An entry is of the wrong kind, unknown or out of range; `source` names the file.
        """
        holders = _table(entries, "holders", HOLDERS, source)
        return cls(
            **{key: _text(entries, key, source) for key in TEXTS},
            recipients=_list(entries, "recipients", source),
            measures=_list(entries, "measures", source),
            holders=MappingProxyType({key: _text(holders, key, source) for key in holders}),
            likelihood=_likelihood(entries, source),
            severity=_severity(entries, source),
        )

    def to_dict(self) -> dict[str, Any]:
        """What was stated, as JSON; nothing where nothing was."""
        fields: dict[str, Any] = {key: getattr(self, key) for key in TEXTS}
        fields |= {key: list(getattr(self, key)) for key in LISTS}
        fields["holders"] = dict(self.holders)
        for key in ("likelihood", "severity"):
            stated = getattr(self, key)
            fields[key] = None if stated is None else asdict(stated)
        return {key: value for key, value in fields.items() if value}


def _text(entries: Mapping[str, Any], key: str, source: str) -> str:
    value = entries.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{source}: {key} must be a text, got {value!r}")
    return value


def _list(entries: Mapping[str, Any], key: str, source: str) -> tuple[str, ...]:
    value = entries.get(key, [])
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{source}: {key} must be a list of texts, got {value!r}")
    return tuple(value)


def _table(
    entries: Mapping[str, Any], key: str, known: tuple[str, ...], source: str
) -> Mapping[str, Any]:
    value = entries.get(key) or {}
    if not isinstance(value, Mapping):
        raise InputError(f"{source}: write {key} as a table, [{key}], one entry a line")
    unknown = [name for name in value if name not in known]
    if unknown:
        raise InputError(
            f"{source}: [{key}] has no entry {quoted(unknown)}; there are {', '.join(known)}"
        )
    return value


def _likelihood(entries: Mapping[str, Any], source: str) -> Likelihood | None:
    known = ("negligible", "limited", "important", "holder", "source")
    stated = _table(entries, "likelihood", known, source)
    if not stated:
        return None
    bounds = [stated.get(level) for level in LEVELS[:3]]
    numbers = [b for b in bounds if isinstance(b, int | float) and not isinstance(b, bool)]
    if len(numbers) < len(bounds) or not 0 <= numbers[0] < numbers[1] < numbers[2] <= 100:
        raise InputError(
            f"{source}: [likelihood] needs negligible, limited and important, the greatest rate of"
            f" each in percent, rising; got {bounds!r}"
        )
    holder = stated.get("holder", "profile")
    if holder not in HOLDERS:
        raise InputError(f"{source}: holder is {holder!r}; choose one of {', '.join(HOLDERS)}")
    negligible, limited, important = map(float, numbers)
    return Likelihood(negligible, limited, important, holder, _text(stated, "source", source))


def _severity(entries: Mapping[str, Any], source: str) -> Severity | None:
    stated = _table(entries, "severity", ("level", "why"), source)
    if not stated:
        return None
    if stated.get("level") not in LEVELS:
        raise InputError(
            f"{source}: severity is {stated.get('level')!r}; choose one of {', '.join(LEVELS)}"
        )
    return Severity(stated["level"], _text(stated, "why", source))
