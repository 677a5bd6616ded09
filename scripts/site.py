"""Check that the built site is whole by itself: no page fetches anything from elsewhere.

``python scripts/site.py`` after ``mkdocs build``. Links that a reader may follow are not checked.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parent.parent / "site"

FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?![^>]*rel=[\"']?canonical)[^>]*\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)"
)


def fetched(text: str) -> list[str]:
    """Addresses elsewhere that a browser would fetch by itself.

    >>> fetched('<a href="https://example.org">x</a><script src="https://example.org/a.js">')
    ['https://example.org/a.js']
    """
    return [next(filter(None, found)) for found in FETCHED.findall(text)]


if __name__ == "__main__":
    pages = [*SITE.rglob("*.html"), *SITE.rglob("*.css")]
    elsewhere = [
        f"{path.relative_to(SITE)}: {address}"
        for path in pages
        for address in fetched(path.read_text(encoding="utf-8"))
    ]
    if elsewhere or not pages:
        sys.exit("\n".join(elsewhere) or f"there is no site in {SITE}")
    sys.stdout.write(f"{len(pages)} pages and styles, nothing fetched from elsewhere\n")
