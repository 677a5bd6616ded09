"""The page: every section's texts and figures put together, then rendered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sosie.report.figures.drawing import Figure
from sosie.report.rendering import render
from sosie.report.views.account import context, likelihood, stated
from sosie.report.views.actors import actors
from sosie.report.views.analyses import analyses as survival
from sosie.report.views.attacks import attacks
from sosie.report.views.children import children
from sosie.report.views.columns import columns
from sosie.report.views.conclusions import (
    attackers,
    done,
    judged,
    limits,
    next_steps,
    remains,
)
from sosie.report.views.constraints import constraints
from sosie.report.views.glossary import glossary
from sosie.report.views.guarantee import guarantee
from sosie.report.views.identity import identity
from sosie.report.views.metrics import criteria
from sosie.report.views.pictures import distributions, plane
from sosie.report.views.safeguards import safeguards
from sosie.report.views.sweeps import sweep
from sosie.report.views.together import together
from sosie.report.views.worst_off import worst_off
from sosie.words import Words, load

__all__ = ["CHAPTERS", "build", "figures_of", "read_views"]

CHAPTERS = (
    "identity",
    "summary",
    "context",
    "actors",
    "metrics",
    "columns",
    "attacks",
    "utility",
    "analyses",
    "sensitivity",
    "likelihood",
    "limits",
    "next",
    "glossary",
)

HEADINGS = {
    "actors": "actors.heading",
    "analyses": "analyses.heading",
    "sensitivity": "tuning.heading",
}


def build(
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None = None,
    tune: Mapping[str, Any] | None = None,
    analyses: Mapping[str, Any] | None = None,
    *,
    lang: str = "en",
) -> str:
    """HTML text of the report on a run.

    Parameters
    ----------
    run, audit, attack, tune, analyses
        What ``run.json``, ``audit.json`` and the others say;
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
    views = read_views(words, run, audit, attack, tune, analyses)
    return render(words, "page.html", views, figures_of(views))


def figures_of(views: Mapping[str, Any]) -> dict[str, Figure]:
    """Every figure of the report, by identifier."""
    figures = {view.id: view.figure for view in views["distributions"] if view.figure is not None}
    if views["plane"] is not None:
        figures["projection"] = views["plane"].figure
    if views["attack"] is not None:
        figures |= {view.id: view.figure for view in views["attack"].curves}
    if views["sweep"] is not None:
        figures |= views["sweep"].figures
    figures |= views["together"].figures
    figures |= {curve.id: curve.figure for child in views["children"] for curve in child.curves}
    if views["survival"] is not None:
        figures |= views["survival"].figures
    return figures


def read_views(
    words: Words,
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None,
    tune: Mapping[str, Any] | None,
    analyses: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Every section's texts, tables and figures, by name."""
    ranking = columns(words, run, audit)
    laboratory = None if attack is None else attacks(words, attack)
    account = stated(audit)
    people = actors(words, audit, attack, run.get("guarantee"))
    by_criterion = criteria(words, audit, run["parameters"], judged(words, people))
    return {
        "title": words("report.title", name=run["data"]["name"]),
        "subtitle": words("report.subtitle"),
        "about": words("report.about.text", version=run["version"]),
        "version": run["version"],
        "k": run["parameters"].get("k"),
        "chapters": tuple(
            (key, words(HEADINGS.get(key, f"report.{key}.heading"))) for key in CHAPTERS
        ),
        "identity": identity(words, run, audit),
        "guarantee": guarantee(words, run),
        "constraints": constraints(words, run),
        "children": children(words, audit),
        "criteria": by_criterion,
        "targets_from": _context(words, audit.get("context") or {}),
        "context": context(words, audit, account),
        "account": account,
        "actors": people,
        "worst_off": worst_off(words, run),
        "attackers": attackers(words, people),
        "likelihood": likelihood(words, account, people),
        "safeguards": safeguards(words, run, audit, account),
        "together": together(words, run, audit),
        "measured": any(criterion.metrics for criterion in by_criterion),
        "controlled": any(
            metric.controlled for criterion in by_criterion for metric in criterion.metrics
        ),
        "done": done(words, run, audit, by_criterion, laboratory),
        "remains": remains(words, by_criterion, ranking, people),
        "columns": ranking,
        "plane": plane(words, run),
        "distributions": distributions(words, run),
        "attack": laboratory,
        "glossary": glossary(words),
        "survival": None if analyses is None else survival(words, analyses),
        "sweep": None if tune is None else sweep(words, tune),
        "limits": limits(words, audit, by_criterion, laboratory),
        "next_steps": next_steps(words, audit, by_criterion, ranking, laboratory),
    }


def _context(words: Words, context: Mapping[str, Any]) -> str:
    if not {"name", "recipient", "sensitivity"} <= context.keys():
        return ""
    if context["name"] == "default":
        return words("report.metrics.context_default")
    recipient, sensitivity = str(context["recipient"]), str(context["sensitivity"])
    return words(
        "report.metrics.context",
        name=context["name"],
        recipient=words.get(f"report.recipients.{recipient}", recipient),
        sensitivity=words.get(f"report.sensitivities.{sensitivity}", sensitivity),
    )
