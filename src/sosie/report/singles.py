"""Pages about one thing: a sweep of settings, a set of attacks, the analyses of a study."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from sosie.report.figures.drawing import Figure
from sosie.report.rendering import render
from sosie.report.views.analyses import analyses
from sosie.report.views.attacks import attacks
from sosie.report.views.sweeps import sweep
from sosie.words import Words, load

__all__ = ["build_analyses", "build_attacks", "build_sweep"]


def build_sweep(told: Mapping[str, Any], name: str, lang: str = "en") -> str:
    """HTML text of the page on a sweep.

    Parameters
    ----------
    told : what ``tune.json`` says.
    name : of the data.
    lang : ``"en"`` or ``"fr"``.
    """
    words = load(lang)
    view = sweep(words, told)
    return _page(words, "tuning", name, "sensitivity", {"sweep": view}, view.figures)


def build_attacks(told: Mapping[str, Any], name: str, lang: str = "en") -> str:
    """HTML text of the page on attacks.

    Parameters
    ----------
    told : what ``attack.json`` says.
    name : of the data.
    lang : ``"en"`` or ``"fr"``.
    """
    words = load(lang)
    view = attacks(words, told)
    figures = {curve.id: curve.figure for curve in view.curves}
    return _page(words, "attack", name, "attacks", {"attack": view}, figures)


def build_analyses(told: Mapping[str, Any], name: str, lang: str = "en") -> str:
    """HTML text of the page on the analyses of a study.

    Parameters
    ----------
    told : what ``analyses.json`` says.
    name : of the data.
    lang : ``"en"`` or ``"fr"``.
    """
    words = load(lang)
    view = analyses(words, told)
    return _page(words, "analyses", name, "analyses", {"survival": view}, view.figures)


def _page(
    words: Words,
    key: str,
    name: str,
    chapter: str,
    views: Mapping[str, Any],
    figures: Mapping[str, Figure],
) -> str:
    heading = words("report.attacks.heading" if key == "attack" else f"{key}.heading")
    common = {
        "title": words(f"{key}.title", name=name),
        "subtitle": words(f"{key}.subtitle"),
        "about": words("report.about.page", version=version("sosie")),
        "version": version("sosie"),
        "chapters": ((chapter, heading),),
    }
    return render(words, "page.html", common | dict(views), figures)
