"""Texts and JSON files, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sosie.data.atomic import atomic

__all__ = ["as_json", "write_json", "write_text"]


def as_json(content: Mapping[str, Any]) -> str:
    """JSON text; NaN and infinity are faults and raise ValueError."""
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, as_json(content))


def write_text(path: Path, text: str, mode: int | None = None) -> None:
    """Write a text in UTF-8 whole or not at all."""
    atomic(path, lambda file: file.write(text.encode()), mode)
