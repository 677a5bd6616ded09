"""What lets one HTML file carry its scripts and data: no request, a strict content policy."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from markupsafe import Markup

__all__ = ["Plotly", "content_policy", "json_script", "plotly", "template_text"]


class Plotly(NamedTuple):
    """plotly.js, to be inflated by the browser."""

    packed: str
    policy: str


@cache
def plotly() -> Plotly:
    """plotly.js of the installed plotly: gzip in base64, and its hash for the content policy."""
    from plotly.offline import get_plotlyjs

    source = get_plotlyjs().encode()
    packed = base64.b64encode(gzip.compress(source, 9, mtime=0)).decode()
    return Plotly(packed, script_policy(source))


def script_policy(source: bytes) -> str:
    """Source expression that lets one inline script run.

    >>> script_policy(b"")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(source).digest()).decode()}'"


def content_policy(*scripts: str) -> str:
    """Content-Security-Policy of a report: these inline scripts, styles, drawn images; no network.

    ``scripts`` are source expressions made by :func:`script_policy`.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(scripts)}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def json_script(content: Any) -> Markup:
    r"""JSON that is safe inside a ``<script>`` element, whatever the texts in it.

    >>> json_script({"name": "</script><script>"})
    Markup('{"name":"\\u003c/script\\u003e\\u003cscript\\u003e"}')
    """
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - nothing in it can end the element


def template_text(name: str) -> str:
    """Text of a file of ``templates/``, with Unix line ends, as a browser hashes it."""
    path = files("sosie.report") / "templates" / name
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")
