"""What people stated: the context, how a rate is read, the residual risk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sosie.audits.account import HOLDERS, LEVELS, Account
from sosie.report.actors import ActorView
from sosie.words import Words

__all__ = ["ContextRow", "LikelihoodView", "context", "likelihood", "stated"]


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A question about the publication; no answers: to be completed."""

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LikelihoodView:
    """The mapping that was stated and what it gives; ``gauge`` is 1 to 4, 0 where not set."""

    levels: tuple[tuple[str, str, bool], ...]
    """Name, rates, and whether it is the one that was read."""
    texts: tuple[str, ...]
    gauge: int
    severity: str
    severity_why: str
    severity_gauge: int
    mapping: str
    actor: ActorView | None


def stated(audit: Mapping[str, Any]) -> Account:
    """What stands in the context of ``audit.json``.

    Raises
    ------
    InputError
        It is not what a context file may hold.
    """
    told = (audit.get("context") or {}).get("stated") or {}
    return Account.of(told, "audit.json, context")


def context(words: Words, audit: Mapping[str, Any], account: Account) -> tuple[ContextRow, ...]:
    """Every question of the context, answered or not."""
    known = audit.get("context") or {}
    return tuple(_context(words, known, account))


def _context(words: Words, known: Mapping[str, Any], account: Account) -> Iterable[ContextRow]:
    def row(key: str, *answers: str) -> ContextRow:
        return ContextRow(words(f"report.context.{key}"), tuple(text for text in answers if text))

    yield row("purpose", account.purpose)
    yield row("controller", account.controller)
    yield row("recipients", *account.recipients)
    for key, group in (("recipient", "recipients"), ("sensitivity", "sensitivities")):
        value = str(known.get(key) or "")
        yield row(key, words.get(f"report.{group}.{value}", value))
    releases = known.get("releases")
    yield row("releases", "" if releases is None else words.value(releases))
    for holder in HOLDERS:
        question = words("report.context.holder", actor=words(f"actors.{holder}.name"))
        answer = account.holders.get(holder, "")
        yield ContextRow(question, (answer,) if answer else ())


def likelihood(words: Words, account: Account, actors: Sequence[ActorView]) -> LikelihoodView:
    """Apply the stated mapping to the stated holder's strongest rate."""
    severity = account.severity
    level = 0 if severity is None else 1 + LEVELS.index(severity.level)
    texts, levels, gauge, mapping, actor = _likelihood(words, account, actors)
    return LikelihoodView(
        levels=levels,
        texts=texts,
        gauge=gauge,
        severity=words("report.likelihood.severity_none")
        if severity is None
        else words("report.likelihood.severity", level=words(f"levels.{severity.level}")),
        severity_why="" if severity is None else severity.why,
        severity_gauge=level,
        mapping=mapping,
        actor=actor,
    )


def _likelihood(
    words: Words, account: Account, actors: Sequence[ActorView]
) -> tuple[tuple[str, ...], tuple[tuple[str, str, bool], ...], int, str, ActorView | None]:
    mapping = account.likelihood
    if mapping is None:
        return (words("report.likelihood.none"),), (), 0, "", None
    actor = next(actor for actor in actors if actor.key == mapping.holder)
    found = actor.strongest
    bounds = {key: words.value(getattr(mapping, key), "%") for key in LEVELS[:3]}
    texts = [words("report.likelihood.intro")]
    if mapping.source:
        texts.append(words("report.likelihood.source", source=mapping.source))
    texts.append(words("report.likelihood.applies", actor=actor.name))
    gauge = 0
    if found is None or found.rate.order is None:
        texts.append(words("report.likelihood.result_none"))
    else:
        gauge = mapping.level(found.rate.order)
        texts.append(
            words(
                "report.likelihood.result",
                rate=found.rate.text,
                interval=found.interval,
                chance=found.chance.text,
                level=words(f"levels.{LEVELS[gauge - 1]}"),
            )
        )
        if found.ends is not None and (reach := mapping.level(found.ends[1])) > gauge:
            level = words(f"levels.{LEVELS[reach - 1]}")
            texts.append(words("report.likelihood.result_reaches", level=level))
    ranges = (
        words("report.likelihood.up_to", most=bounds["negligible"]),
        words("report.likelihood.between", least=bounds["negligible"], most=bounds["limited"]),
        words("report.likelihood.between", least=bounds["limited"], most=bounds["important"]),
        words("report.likelihood.over", least=bounds["important"]),
    )
    levels = tuple(
        (words(f"levels.{level}"), rates, place == gauge)
        for place, (level, rates) in enumerate(zip(LEVELS, ranges, strict=True), start=1)
    )
    return tuple(texts), levels, gauge, words("report.likelihood.mapping", **bounds), actor
