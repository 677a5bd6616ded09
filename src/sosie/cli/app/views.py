"""Pages from templates, in the reader's language."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from sosie.words import LANGUAGES, load
from sosie.words.readings import reason

__all__ = ["STEPS", "language", "rendered"]

STEPS = ("file", "columns", "context", "privacy", "report")
"""The way through, in order."""

YEAR = 365 * 86_400

OWN_NAMES = {"en": "English", "fr": "Français"}
"""Of languages, in themselves: a catalogue takes longer to read than a page to write."""


def language(request: Request) -> str:
    """The language asked for by a link, else by an earlier link, else by the browser."""
    asked = request.query_params.get("lang", request.cookies.get("sosie-lang", ""))
    return asked if asked in LANGUAGES else _preferred(request.headers.get("accept-language", ""))


def _preferred(header: str) -> str:
    """The first of our languages in an Accept-Language header, by weight.

    >>> _preferred("de, fr-CH;q=0.9, en;q=0.8"), _preferred("")
    ('fr', 'en')
    """
    weighed = []
    for part in header.split(","):
        tag, _, weight = part.partition(";q=")
        try:
            weighed.append((-float(weight or 1), tag.strip()[:2].lower()))
        except ValueError:
            continue
    ordered = [tag for _, tag in sorted(weighed, key=lambda pair: pair[0])]
    return next((tag for tag in ordered if tag in LANGUAGES), LANGUAGES[0])


def rendered(request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A page; a language asked for by a link is remembered."""
    lang = language(request)
    query = "".join(
        f"&{key}={int(value)}"
        for key, value in request.query_params.items()
        if key == "page" and value.isdecimal()
    )
    values = {"step": None, "run": None, "error": None, "refresh": None, "stay": None} | values
    page = (
        _environment(lang)
        .get_template(template)
        .render(**values, path=request.url.path, query=query, steps=STEPS)
    )
    response = HTMLResponse(page.encode("utf-8", "replace"), status)
    if "lang" in request.query_params:
        response.set_cookie("sosie-lang", lang, YEAR, httponly=True, samesite="strict")
    return response


@cache
def _environment(lang: str) -> Environment:
    words = load(lang)
    environment = Environment(
        loader=PackageLoader("sosie.cli.app"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    other = next(name for name in LANGUAGES if name != lang)
    names = {"other": other, "other_name": OWN_NAMES[other]}
    environment.globals |= {"_": words, "lang": lang, **names}
    environment.filters["reason"] = partial(reason, words)
    return environment
