"""A page from its template: words, figures, scripts and styles put into one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sosie.report.figures.drawing import Figure
from sosie.report.policy import content_policy, script_policy, template_text
from sosie.words import Words

__all__ = ["render"]


def render(words: Words, name: str, views: Mapping[str, Any], figures: Mapping[str, Figure]) -> str:
    """One self-contained page from a template that extends ``layout.html``.

    ``figures`` stand where the template has a plot of the same name.
    """
    script = template_text("report.js")
    page = (
        _environment(words)
        .get_template(name)
        .render(
            **views,
            words=words,
            policy=content_policy(script_policy(script.encode())),
            style=Markup(template_text("report.css")),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            drawings={
                key: Markup(figure.svg)  # noqa: S704 - every text in it was escaped
                for key, figure in figures.items()
            },
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
