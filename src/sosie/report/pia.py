"""The CNIL PIA file: what was measured, under the questions it answers; the rest is left empty.

The form is that of the PIA software's exports. Opinions, evaluation and validation belong to
people and stay empty; severity and likelihood are filled only from what people stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from sosie.audits.account import LEVELS, Account
from sosie.report.account import LikelihoodView, likelihood, stated
from sosie.report.actors import ROWS, ActorView, actors
from sosie.report.lists import listed
from sosie.report.metrics import CriterionView, criteria
from sosie.report.safeguards import Safeguard, safeguards
from sosie.words import Words, load

__all__ = ["QUESTIONS", "build_pia"]

QUESTIONS = (
    *(111, 112, 113, 121, 122, 123),
    *(211, 212, 213, 214, 215, 221, 222, 223, 224, 225, 226, 227),
    *(321, 322, 323, 324, 325, 326),
    *(331, 332, 333, 334, 335, 336),
    *(341, 342, 343, 344, 345, 346),
)
"""Every question of the form; those from 321 on are the risks."""

_PIA = 1
_BLANK = (
    *("author_name", "evaluator_name", "validator_name", "category", "dpo_opinion"),
    *("dpos_names", "people_names", "concerned_people_opinion"),
    *("concerned_people_searched_content", "rejection_reason", "applied_adjustments"),
)
_UNSET = ("dpo_status", "concerned_people_status", "concerned_people_searched_opinion")


def build_pia(
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None = None,
    lang: str = "en",
) -> dict[str, Any]:
    """One impact assessment in the form that the PIA software imports.

    Parameters
    ----------
    run, audit, attack
        What ``run.json``, ``audit.json`` and ``attack.json`` say.
    lang
        ``"en"`` or ``"fr"``.

    Returns
    -------
    dict
        ``pia``, ``answers`` (questions 111, 121, 122, 213, 321 to 324; 325 and 326 only where
        the context states a severity and a mapping), ``measures``, ``evaluations`` and
        ``comments`` (both empty).
    """
    words = load(lang)
    account = stated(audit)
    people = actors(words, audit, attack)
    taken = safeguards(words, run, audit, account)
    verdicts = criteria(words, audit, run["parameters"])
    level = likelihood(words, account, people)
    created = str(run["created"])
    answers = [
        (111, _processing(words, run, account), 0, []),
        (121, _data(words, run), 0, []),
        (122, _life(words, run["parameters"]), 0, []),
        (213, _minimisation(words, run), 0, []),
        (321, "", 0, list(words.items("pia.impacts"))),
        (322, _access(words, verdicts), 0, list(_threats(words, people))),
        (323, _sources(words, people), 0, [actor.name for actor in people]),
        (324, _measures(words, taken), 0, [measure.title for measure in taken]),
        *_levels(words, level),
    ]
    return {
        "pia": _head(words, run, created),
        "answers": [
            {
                "id": place,
                "pia_id": _PIA,
                "reference_to": question,
                "data": {"text": text, "gauge": gauge, "list": items},
                "created_at": created,
                "updated_at": created,
            }
            for place, (question, text, gauge, items) in enumerate(answers, start=1)
        ],
        "measures": [
            {
                "id": place,
                "pia_id": _PIA,
                "title": measure.title,
                "content": _paragraphs(measure.text),
                "placeholder": "",
                "created_at": created,
            }
            for place, measure in enumerate(taken, start=1)
        ],
        "evaluations": [],
        "comments": [],
    }


def _head(words: Words, run: Mapping[str, Any], created: str) -> dict[str, Any]:
    return {
        "id": _PIA,
        "name": words("pia.name", name=run["data"]["name"]),
        **dict.fromkeys(_BLANK, ""),
        **dict.fromkeys(_UNSET),
        "status": 0,
        "created_at": created,
        "updated_at": created,
    }


def _processing(words: Words, run: Mapping[str, Any], account: Account) -> str:
    data = run["data"]
    texts = [
        words(
            "pia.processing",
            name=data["name"],
            rows=words.number(data["rows"]),
            columns=words.number(data["columns"]),
        )
    ]
    if account.purpose:
        texts.append(words("pia.purpose", purpose=account.purpose))
    if account.controller:
        texts.append(words("pia.controller", name=account.controller))
    if account.recipients:
        names = listed(words, account.recipients, most=len(account.recipients))
        texts.append(words("pia.recipients", names=names))
    if not account.purpose or not account.recipients:
        texts.append(words("pia.to_complete", what=words("pia.what_purpose")))
    return _paragraphs(*texts)


def _data(words: Words, run: Mapping[str, Any]) -> str:
    items = [_column(words, column) for column in run["columns"]]
    told = run["data"].get("fingerprint")
    text = [words("pia.data_fingerprint", fingerprint=told)] if told else []
    return _paragraphs(words("pia.data")) + _items(items) + _paragraphs(*text)


def _column(words: Words, column: Mapping[str, Any]) -> str:
    kind, role = (str(column.get(key) or "") for key in ("kind", "role"))
    nature = [words.get(f"kinds.{kind}", kind), words.get(f"roles.{role}", role)]
    value = ", ".join(text for text in nature if text)
    name = str(column["name"])
    return words("format.colon", label=name, value=value) if value else name


def _life(words: Words, parameters: Mapping[str, Any]) -> str:
    if parameters.get("k") is None:
        return _paragraphs(words("report.identity.unknown_parameters"))
    shown = {
        "k": words.number(parameters["k"]),
        "components": words.value(parameters.get("components")),
        "method": _way(words, parameters.get("method")),
        "decode": _way(words, parameters.get("decode")),
    }
    steps = ("read", "space", "make", "shuffle", "measure", "private")
    texts = [words(f"pia.life_{step}", **shown) for step in steps]
    return _paragraphs(words("pia.life")) + _items(texts)


def _way(words: Words, key: object) -> str:
    return words.get(f"report.methods.{key}", str(key))


def _minimisation(words: Words, run: Mapping[str, Any]) -> str:
    parameters = run["parameters"]
    texts = [
        words(f"pia.minimisation_{key}", names=listed(words, parameters[key], most=50))
        for key in ("drop", "id", "keep")
        if parameters.get(key)
    ]
    if not parameters.get("drop"):
        texts.insert(0, words("pia.minimisation_none"))
    least = parameters.get("min_level_count")
    if least is not None and least > 1:
        texts.append(words("pia.minimisation_rare", n=words.number(least)))
    if revealing := [row["column"] for row in run["what_if_kept"] if row.get("below_target")]:
        texts.append(words("pia.minimisation_kept", names=listed(words, revealing, most=20)))
    return _paragraphs(*texts)


def _access(words: Words, verdicts: Sequence[CriterionView]) -> str:
    lines = [
        words(
            "format.colon",
            label=metric.name,
            value=f"{metric.value} ({words('report.metrics.target').lower()} {metric.target};"
            f" {metric.result.lower()})",
        )
        for criterion in verdicts
        if criterion.key != "utility"
        for metric in criterion.metrics
    ]
    return _paragraphs(words("pia.access")) + _items(lines)


def _threats(words: Words, people: Iterable[ActorView]) -> Iterable[str]:
    told = False
    for actor in people:
        for row in actor.rows:
            found = row.strongest
            if found is not None:
                told = True
                yield words(
                    "pia.threat_rows" if row.key in ROWS else "pia.threat",
                    actor=actor.name,
                    scenario=row.scenario,
                    rate=found.rate.text,
                    interval=found.interval,
                    chance=found.chance.text,
                )
    if not told:
        yield words("pia.threat_none")


def _sources(words: Words, people: Iterable[ActorView]) -> str:
    items = []
    for actor in people:
        text = words("format.colon", label=actor.name, value=actor.holds)
        items.append(f"{text} {actor.stated}".strip())
    return _paragraphs(words("pia.sources_note")) + _items(items)


def _measures(words: Words, taken: Iterable[Safeguard]) -> str:
    texts = [words("format.colon", label=title, value=text) for title, text in taken]
    return _paragraphs(words("pia.measures_note")) + _items(texts)


def _levels(words: Words, view: LikelihoodView) -> Iterable[tuple[int, str, int, list[str]]]:
    """Questions 325 and 326, where people stated what to answer."""
    if view.severity_gauge:
        level = words(f"levels.{LEVELS[view.severity_gauge - 1]}")
        text = words("pia.severity", level=level, why=view.severity_why).strip()
        yield 325, _paragraphs(text), view.severity_gauge, []
    found = None if view.actor is None else view.actor.strongest
    if view.gauge and view.actor is not None and found is not None:
        text = words(
            "pia.likelihood",
            mapping=view.mapping,
            actor=view.actor.name,
            rate=found.rate.text,
            interval=found.interval,
            chance=found.chance.text,
            level=words(f"levels.{LEVELS[view.gauge - 1]}"),
        )
        yield 326, _paragraphs(text), view.gauge, []


def _paragraphs(*texts: str) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _items(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"
