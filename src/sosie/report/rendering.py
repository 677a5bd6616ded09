"""A page from its template: words, figures, scripts and styles put into one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sosie.report.embedding import (
    content_policy,
    json_script,
    plotly,
    script_policy,
    template_text,
)
from sosie.report.figures import Figure, template
from sosie.words import Words

__all__ = ["render"]


def render(words: Words, name: str, views: Mapping[str, Any], figures: Mapping[str, Figure]) -> str:
    """One self-contained page from a template that extends ``layout.html``.

    ``figures`` are drawn where the template has a plot of the same name.
    """
    script = template_text("report.js")
    bundle = plotly()
    drawn = {"template": template(words), "locale": _locale(words), "figures": dict(figures)}
    page = (
        _environment(words)
        .get_template(name)
        .render(
            **views,
            words=words,
            policy=content_policy(script_policy(script.encode()), bundle.policy),
            style=Markup(template_text("report.css")),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            plotly=bundle.packed,
            figures=json_script(drawn),
        )
    )
    # A lone surrogate, which JSON can carry, has no place in a file.
    return page.lstrip().encode("utf-8", "replace").decode("utf-8")


def _environment(words: Words) -> Environment:
    environment = Environment(
        loader=PackageLoader("sosie.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["_"] = words
    return environment


def _locale(words: Words) -> dict[str, Any]:
    return {
        "name": words.language,
        "format": {
            "months": words.items("format.months"),
            "shortMonths": words.items("format.short_months"),
        },
    }
