"""Run every notebook of notebooks/ from top to bottom; the files are not changed.

``python scripts/notebooks.py`` (needs the extra `docs`). A cell that fails stops it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
SECONDS = 600


def run(path: Path) -> None:
    """Run one notebook in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        ).execute()


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        started = time.monotonic()
        run(path)
        sys.stdout.write(f"{path.name}: every cell ran ({time.monotonic() - started:.0f} s)\n")
