"""Steps of a command, noted in a file for whoever follows it from outside."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

__all__ = ["PROGRESS", "noted"]

PROGRESS = "SOSIE_PROGRESS"
"""Environment variable that names the file; without it nothing is noted."""


def noted(step: str, done: int | None = None, total: int | None = None) -> None:
    """Add a step that begins as a line of JSON; a file that can't be written stops nothing.

    Parameters
    ----------
    done, total : how far it is, where that is known.
    """
    if path := os.environ.get(PROGRESS):
        line = json.dumps({"step": step, "done": done, "total": total})
        with suppress(OSError), Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
