"""What lets one HTML file carry its script and style: no request, a strict content policy."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

__all__ = ["content_policy", "script_policy", "template_text"]


def script_policy(source: bytes) -> str:
    """Source expression that lets one inline script run.

    >>> script_policy(b"")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(source).digest()).decode()}'"


def content_policy(*scripts: str) -> str:
    """Content-Security-Policy of a report: these inline scripts, styles; no network.

    ``scripts`` are source expressions made by :func:`script_policy`.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(scripts)}",
            "style-src 'unsafe-inline'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def template_text(name: str) -> str:
    """Text of a file of ``templates/``, with Unix line ends, as a browser hashes it."""
    path = files("sosie.report") / "templates" / name
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")
