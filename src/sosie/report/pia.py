"""The CNIL PIA file: what was measured, under the questions it answers; the rest is left empty.

The form is that of the PIA software's exports. Opinions, evaluation and validation belong to
people and stay empty; severity and likelihood are filled only from what people stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from sosie.audits.account import LEVELS, Account
from sosie.report.views.account import LikelihoodView, likelihood, stated
from sosie.report.views.actors import ActorView, actors
from sosie.report.views.conclusions import attackers
from sosie.report.views.lists import listed
from sosie.report.views.metrics import criteria
from sosie.report.views.safeguards import safeguards
from sosie.words import Words, load
from sosie.words.readings import Standing

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
_LONGEST = 45  # characters of a label before the tool cuts it
_BLANK = (
    *("category", "dpo_opinion", "dpos_names", "people_names", "concerned_people_opinion"),
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
        ``pia``, ``answers`` (questions 111, 121 to 123, 213, 321 to 326, 335 and 345; 112 and
        211 where the context states the controller and the purpose; a level at 325 and 326 only
        where it states a severity and a mapping), ``measures``, ``evaluations`` and ``comments``
        (both empty).
    """
    words = load(lang)
    account = stated(audit)
    people = actors(words, audit, attack, run.get("guarantee"))
    taken = [(_label(measure.title), measure) for measure in safeguards(words, run, audit, account)]
    level = likelihood(words, account, people)
    created = str(run["created"])
    left = _paragraphs(words("pia.others_risk"))
    answers = [
        (111, _processing(words, run, audit, account), 0, []),
        (112, _controller(words, account), 0, []),
        (121, _data(words, run, account), 0, []),
        (122, _life(words, run["parameters"]), 0, []),
        (123, _files(words), 0, []),
        (211, _purpose(words, account), 0, []),
        (213, _minimisation(words, run), 0, []),
        (321, "", 0, list(words.items("pia.impacts"))),
        (322, "", 0, _threats(words, people)),
        (323, "", 0, [words(f"pia.sources.{actor.key}") for actor in people]),
        (324, "", 0, [title for title, _ in taken]),
        (325, _severity(words, level), level.severity_gauge, []),
        (326, _access(words, run, audit, people, level, account), level.gauge, []),
        (335, left, 0, []),
        (345, left, 0, []),
    ]
    return {
        "pia": _head(words, run, account, created),
        "answers": [
            {
                "id": place,
                "pia_id": _PIA,
                "reference_to": question,
                "data": {"text": text, "gauge": gauge, "list": items},
                "created_at": created,
                "updated_at": created,
            }
            for place, (question, text, gauge, items) in enumerate(
                (answer for answer in answers if answer[1] or answer[3]), start=1
            )
        ],
        "measures": [
            {
                "id": place,
                "pia_id": _PIA,
                "title": title,
                "content": _paragraphs(*dict.fromkeys((measure.title, measure.text))),
                "placeholder": "",
                "created_at": created,
            }
            for place, (title, measure) in enumerate(taken, start=1)
        ],
        "evaluations": [],
        "comments": [],
    }


def _head(words: Words, run: Mapping[str, Any], account: Account, created: str) -> dict[str, Any]:
    names = {f"{who}_name": getattr(account, who) for who in ("author", "evaluator", "validator")}
    return {
        "id": _PIA,
        "name": words("pia.name", name=run["data"]["name"]),
        **dict.fromkeys(_BLANK, ""),
        **names,
        **dict.fromkeys(_UNSET),
        "status": 0,
        "created_at": created,
        "updated_at": created,
    }


def _processing(
    words: Words, run: Mapping[str, Any], audit: Mapping[str, Any], account: Account
) -> str:
    data, context = run["data"], audit.get("context") or {}
    texts = [
        words(
            _of_method(words, "pia.processing", run["parameters"].get("method")),
            name=data["name"],
            rows=words.number(data["rows"]),
            columns=words.number(data["columns"]),
        ),
        _purpose_text(words, account) or words("pia.purpose_missing"),
    ]
    if context.get("name") not in (None, "default"):
        recipient, sensitivity = (str(context.get(key)) for key in ("recipient", "sensitivity"))
        texts.append(
            words(
                "pia.context",
                name=context["name"],
                recipient=words.get(f"report.recipients.{recipient}", recipient),
                sensitivity=words.get(f"report.sensitivities.{sensitivity}", sensitivity),
            )
        )
    return _paragraphs(*texts)


def _purpose_text(words: Words, account: Account) -> str:
    return words("pia.purpose", purpose=account.purpose) if account.purpose else ""


def _purpose(words: Words, account: Account) -> str:
    return _paragraphs(_purpose_text(words, account))


def _controller(words: Words, account: Account) -> str:
    return _paragraphs(
        words("pia.controller", name=account.controller) if account.controller else ""
    )


def _data(words: Words, run: Mapping[str, Any], account: Account) -> str:
    items = [_column(words, column) for column in run["columns"]]
    fingerprint = run["data"].get("fingerprint")
    names = listed(words, account.recipients, most=len(account.recipients))
    texts = [
        words("pia.data_fingerprint", fingerprint=fingerprint) if fingerprint else "",
        words("pia.recipients", names=names) if names else words("pia.recipients_missing"),
        words("pia.retention", text=account.retention) if account.retention else "",
    ]
    return _paragraphs(words("pia.data")) + _items(items) + _paragraphs(*texts)


def _files(words: Words) -> str:
    texts = [words(f"pia.files_{key}") for key in ("published", "report", "private")]
    return _paragraphs(words("pia.files")) + _items(texts)


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
    without = [*parameters.get("drop", ()), *parameters.get("id", ())]
    read = (
        words("pia.life_read_without", names=listed(words, without, most=20))
        if without
        else words("pia.life_read")
    )
    steps = ("space", "make", "shuffle", "measure", "private")
    method = parameters.get("method")
    texts = [read, *(words(_of_method(words, f"pia.life_{s}", method), **shown) for s in steps)]
    return _paragraphs(words("pia.life")) + _items(texts)


def _of_method(words: Words, key: str, method: object) -> str:
    """The key of a method's own words, where it has some."""
    own = f"{key}_{method}"
    return own if own in words else key


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


def _threats(words: Words, people: Iterable[ActorView]) -> list[str]:
    """Names of the attacks run; their figures stand under 326, where text has a place."""
    run = [row.key for actor in people for row in actor.rows if row.strongest is not None]
    names = (words.get(f"pia.threats.{key}", _label(key)) for key in run)
    return list(dict.fromkeys(names)) or [words("pia.threat_none")]


def _severity(words: Words, view: LikelihoodView) -> str:
    if not view.severity_gauge:
        return _paragraphs(words("pia.severity_unset"))
    level = words(f"levels.{LEVELS[view.severity_gauge - 1]}")
    return _paragraphs(words("pia.severity", level=level, why=view.severity_why).strip())


def _access(
    words: Words,
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    people: Sequence[ActorView],
    view: LikelihoodView,
    account: Account,
) -> str:
    """Every rate with its chance, every metric with its target, then how they are read."""
    metrics = [
        words(
            "format.colon",
            label=metric.name,
            value=words(
                "pia.metric",
                value=metric.value,
                target=metric.target,
                result=metric.result.lower(),
            ),
        )
        for criterion in criteria(words, audit, run["parameters"])
        if criterion.key != "utility"
        for metric in criterion.metrics
        if metric.standing not in (Standing.MISSING, Standing.UNTARGETED)
    ]
    text = _paragraphs(words("pia.rates")) + _items(attackers(words, people))
    if metrics:
        text += _paragraphs(words("pia.metrics")) + _items(metrics)
    residual = account.residual_risk
    return text + _paragraphs(
        _level(words, view), words("pia.residual", text=residual) if residual else ""
    )


def _level(words: Words, view: LikelihoodView) -> str:
    found = None if view.actor is None else view.actor.strongest
    if not view.gauge or view.actor is None or found is None:
        return words("pia.likelihood_unset")
    return words(
        "pia.likelihood",
        mapping=view.mapping,
        actor=view.actor.name,
        rate=found.rate.text,
        interval=found.interval,
        chance=found.chance.text,
        level=words(f"levels.{LEVELS[view.gauge - 1]}"),
    )


def _label(text: str) -> str:
    """A text as the tool shows labels: cut beyond 45 characters, and joined by commas.

    >>> _label("Accounts by name, one for each member of the course")
    'Accounts by name / one for each member of…'
    """
    whole = " ".join(text.replace(",", " /").split())
    if len(whole) <= _LONGEST:
        return whole
    return whole[: _LONGEST - 1].rsplit(" ", 1)[0].rstrip(" /") + "…"


# The tool's PDF strips tags and decodes nothing but &amp;: quotes stay as they are, and line ends
# keep paragraphs and items apart.


def _paragraphs(*texts: str) -> str:
    return "".join(f"<p>{escape(text, quote=False)}</p>\n" for text in texts if text)


def _items(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(text, quote=False)}</li>\n" for text in texts)
    return f"<ul>\n{items}</ul>\n"
