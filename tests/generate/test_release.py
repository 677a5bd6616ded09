"""One version everywhere; notebooks are kept without what they printed."""

from __future__ import annotations

import doctest
import json
import re
import runpy
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import sosie

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_the_version_is_the_same_everywhere() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "sosie", "--version"], capture_output=True, text=True, check=True
    )
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert told.stdout.split()[-1] == sosie.__version__ == cited[1] == metadata.version("sosie")


def test_the_version_is_written_once() -> None:
    written = [
        path.name
        for path in [ROOT / "pyproject.toml", *(ROOT / "src").rglob("*.py")]
        if f'"{sosie.__version__}"' in path.read_text(encoding="utf-8")
    ]
    assert written == ["pyproject.toml"]


def test_the_changelog_has_a_place_for_what_comes() -> None:
    assert "\n## [Unreleased]\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> Any:
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 2


def test_a_notebook_keeps_no_outputs(notebook: Any) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


def test_a_notebook_names_no_machine(notebook: Any) -> None:
    text = json.dumps(notebook)
    assert not re.search(r"/(?:home|root|tmp|work|Users)/|\\\\Users", text)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["language_info"] == {"name": "python"}


def test_the_cells_of_a_notebook_are_python(notebook: Any) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            compile("".join(cell["source"]), "cell", "exec")


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    shown = {line.rsplit(".", 1)[-1] for line in page.splitlines() if line.startswith("::: ")}
    assert {name for name in sosie.__all__ if name != "__version__"} - shown == set()


def test_every_page_is_in_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = set(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert named <= pages
    assert pages - named <= {"performance.md"}


def test_links_of_the_readme_lead_somewhere() -> None:
    text = Path(ROOT / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert link.startswith("https://") or (ROOT / link).exists(), link


@pytest.mark.parametrize("name", ["dist", "site"])
def test_the_examples_of_scripts_are_right(name: str) -> None:
    known = runpy.run_path(str(ROOT / "scripts" / f"{name}.py"))
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for function in ("lacking", "fetched"):
        for example in finder.find(known.get(function), function, globs=known):
            assert runner.run(example).failed == 0
    assert runner.tries > 0
