"""The page: every section's texts and figures put together, then rendered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sosie.report.attacks import attacks
from sosie.report.columns import columns
from sosie.report.conclusions import done, limits, next_steps, remains
from sosie.report.identity import identity
from sosie.report.metrics import criteria
from sosie.report.pictures import distributions, plane
from sosie.report.rendering import render
from sosie.report.sweeps import sweep
from sosie.words import Words, load

__all__ = ["build"]

CHAPTERS = (
    "identity",
    "summary",
    "metrics",
    "columns",
    "projection",
    "distributions",
    "attacks",
    "sensitivity",
    "limits",
    "next",
)


def build(
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None = None,
    tune: Mapping[str, Any] | None = None,
    lang: str = "en",
) -> str:
    """HTML text of the report on a run.

    Parameters
    ----------
    run, audit, attack, tune
        What ``run.json``, ``audit.json``, ``attack.json`` and ``tune.json`` say;
        :func:`read_folder` reads and checks them. Any of their texts may hold any character:
        all are shown as text.
    lang
        ``"en"`` or ``"fr"``.

    Returns
    -------
    str
        One self-contained page: it loads nothing and opens offline. The same arguments give the
        same text.

    Raises
    ------
    InputError
        There are no words for ``lang``.
    """
    words = load(lang)
    views = _views(words, run, audit, attack, tune)
    figures = {view.id: view.figure for view in views["distributions"] if view.figure is not None}
    if views["plane"] is not None:
        figures["projection"] = views["plane"].figure
    if views["attack"] is not None:
        figures |= {view.id: view.figure for view in views["attack"].curves}
    if views["sweep"] is not None:
        figures |= views["sweep"].figures
    return render(words, "page.html", views, figures)


def _views(
    words: Words,
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None,
    tune: Mapping[str, Any] | None,
) -> dict[str, Any]:
    by_criterion = criteria(words, audit, run["parameters"])
    ranking = columns(words, run, audit)
    laboratory = None if attack is None else attacks(words, attack)
    return {
        "title": words("report.title", name=run["data"]["name"]),
        "subtitle": words("report.subtitle"),
        "about": words("report.about.text", version=run["version"]),
        "version": run["version"],
        "k": run["parameters"].get("k"),
        "chapters": tuple(
            (key, words("tuning.heading" if key == "sensitivity" else f"report.{key}.heading"))
            for key in CHAPTERS
            if key != "attacks" or laboratory is not None
        ),
        "identity": identity(words, run, audit),
        "criteria": by_criterion,
        "context": _context(words, audit.get("context") or {}),
        "measured": any(criterion.metrics for criterion in by_criterion),
        "controlled": any(
            metric.controlled for criterion in by_criterion for metric in criterion.metrics
        ),
        "done": done(words, run, by_criterion, laboratory),
        "remains": remains(words, by_criterion, ranking, laboratory),
        "columns": ranking,
        "plane": plane(words, run),
        "distributions": distributions(words, run),
        "attack": laboratory,
        "sweep": None if tune is None else sweep(words, tune),
        "limits": limits(words, audit, by_criterion, laboratory),
        "next_steps": next_steps(words, audit, by_criterion, ranking, laboratory),
    }


def _context(words: Words, context: Mapping[str, Any]) -> str:
    if not {"name", "recipient", "sensitivity", "releases"} <= context.keys():
        return ""
    recipient, sensitivity = str(context["recipient"]), str(context["sensitivity"])
    return words(
        "report.metrics.context",
        name=context["name"],
        recipient=words.get(f"report.recipients.{recipient}", recipient),
        sensitivity=words.get(f"report.sensitivities.{sensitivity}", sensitivity),
        releases=words.value(context["releases"]),
    )
