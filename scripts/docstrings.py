"""Docstrings as the site shows them: a paragraph that ends with two colons introduces a block."""

from __future__ import annotations

import re
from typing import Any

import griffe


class LiteralBlocks(griffe.Extension):  # type: ignore[misc]
    """``text::`` and an indented block become ``text:`` and a block of code in Markdown."""

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"::(?=\n\n    )", ":", obj.docstring.value)
