"""Every block of code in the pages is run, on part of the bundled cohort.

The blocks of a page share a folder and a namespace, in order. A comment before a block changes what
is expected of it: ``<!-- not run: WHY -->`` (its options are still read by the command line),
``<!-- refused: TEXT -->`` (the command ends with status 2 and a line that holds the text) and
``<!-- file: NAME -->`` (a part of a file: the worked examples have tests of their own).
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import ROOT

import sosie
from sosie.cli import cli, status_of
from sosie.data import cohort
from sosie.generate.methods import METHODS
from sosie.words import LANGUAGES, load

PEOPLE = 800
"""Rows of the bundled cohort that the blocks work on: enough for k = 20."""

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])

BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^>]*) -->\n)?^(?P<indent> *)```(?P<language>\w*)[^\n]*\n"
    r"(?P<text>.*?)\n(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)

SET_UP = ("cd", "git", "make", "mkdocs", "pip", "python3", "source")
"""What a reader types to set up; `make` targets are looked up, the rest is left to CI."""

ABSENT = re.compile(r"actg175|FOLDER|\bOLD\b")
"""Data that are no part of the project."""


@dataclass(frozen=True)
class Block:
    """A block of code of a page, and what stands before it."""

    page: Path
    line: int
    language: str
    text: str
    note: str = ""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return not self.note.startswith("not run") and not ABSENT.search(self.text)

    def commands(self) -> Iterator[list[str]]:
        """The words of each command, long lines joined, comments left out."""
        for line in self.text.replace("\\\n", " ").splitlines():
            if words := shlex.split(line, comments=True):
                yield words


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start("text")),
            found["language"],
            textwrap.dedent(found["text"]),
            found["note"] or "",
        )
        for found in BLOCK.finditer(text)
    ]


CODE = {
    page: [
        block for block in blocks_of(page) if block.language in ("console", "python", "toml", "")
    ]
    for page in PAGES
}

SLOW = (
    *("tutorial.md", "choose-k.md", "keep-columns.md", "read-the-report.md"),
    *("several-releases.md", "several-rows.md", "attacks.md", "other-generators.md", "analyses.md"),
)


def _cases() -> list[Any]:
    return [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=[pytest.mark.slow] if page.name in SLOW else [],
        )
        for page in PAGES
        if CODE[page]
    ]


@pytest.fixture(scope="session")
def people() -> pl.DataFrame:
    return pl.read_csv(
        cohort.path(), try_parse_dates=True, schema_overrides={"postcode": pl.String}
    )


@pytest.fixture
def desk(people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The files and the names that the pages start from."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    lines = cohort.path().read_text(encoding="utf-8").splitlines()
    Path("patients.csv").write_text("\n".join(lines[: PEOPLE + 1]) + "\n", encoding="utf-8")
    Path("visits.csv").write_bytes(cohort.visits().read_bytes())
    some = people.head(PEOPLE)
    some.write_parquet("patients.parquet")
    df = some.drop("patient_id", "postcode")
    avatarizer = sosie.Avatarizer(k=20, seed=1).fit(df)
    return {
        "sosie": sosie,
        "df": df,
        "people": df,
        "originals": df,
        "avatars": avatarizer.release(shuffle=False),
        "people_set_aside": people[PEOPLE : PEOPLE + 100].drop("patient_id", "postcode"),
        "tables": [avatarizer.release(r, shuffle=False) for r in range(25)],
    }


@pytest.mark.parametrize("page", _cases())
def test_the_blocks_of_a_page_run(
    page: Path, desk: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    for block in CODE[page]:
        if block.note.startswith("file: "):
            continue  # goes into a module: see the test of the worked examples
        if block.language == "python":
            if block.runs:
                exec(compile(block.text, block.place, "exec"), desk)  # noqa: S102 (the pages' own)
        elif block.language == "toml":
            Path("context.toml").write_text(block.text, encoding="utf-8")
            sosie.Context.of(file=Path("context.toml"))
        elif block.runs and block.language == "console":
            for words in block.commands():
                _run(words, block, capfd)
        else:
            _read(block)


def _run(words: list[str], block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    name, *rest = words
    if name == "sosie" and rest != ["demo"]:  # `make demo` and `make dist` run that one
        capfd.readouterr()
        status = status_of(rest)
        told = capfd.readouterr()
        refused = block.note.removeprefix("refused: ") if "refused" in block.note else None
        assert status == (0 if refused is None else 2), f"{block.place}: {words}\n{told.err}"
        assert (refused or "") in told.err
        _check_shown(block, told.out)
    elif name == "make":
        for target in (word for word in rest if word.isalpha()):
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target
    elif name in ("python", "ls", "head"):
        command = [sys.executable if name == "python" else name, *rest]
        subprocess.run(command, check=True, capture_output=True)
    else:
        assert name in (*SET_UP, "sosie"), f"{block.place}: {name} is no command that is run here"


def _check_shown(block: Block, printed: str) -> None:
    """The output that a page shows has the rows that are really printed."""
    page = blocks_of(block.page)
    following = page[page.index(block) + 1 :][:1]
    for shown in following:
        if shown.language == "text":
            rows = re.findall(r"^([A-Z][^\d\n]*?)  ", shown.text, re.MULTILINE)
            assert [row for row in rows if row not in printed] == [], shown.place


def _read(block: Block) -> None:
    """The command line knows every option of a block that is not run, and every file is there."""
    text = block.text.replace("\\\n", " ")
    for line in re.findall(r"^\s*sosie (.*)$", text, re.MULTILINE):
        command, *rest = shlex.split(line, comments=True)
        with cli.commands[command].make_context(command, rest, resilient_parsing=True) as context:
            cli.commands[command].make_parser(context).parse_args(rest)
    for script in re.findall(r"^python (\S+\.py)", text, re.MULTILINE):
        assert (ROOT / script).exists(), f"{block.place}: there is no {script}"


def _of_file(name: str) -> list[Block]:
    """Blocks of CONTRIBUTING.md that go into a file."""
    blocks = blocks_of(ROOT / "CONTRIBUTING.md")
    return [block for block in blocks if block.note.startswith(f"file: {name}")]


def test_the_worked_metric_works(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,), (test,) = (
        _of_file("src/sosie/audits/utility"),
        _of_file("tests/audits/utility/test_missing_difference"),
    )
    module = ModuleType("sosie.audits.utility.missing_difference")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code.text, code.place, "exec"), vars(module))  # noqa: S102 (the pages' own)
    assert doctest.testmod(module).failed == 0
    known: dict[str, Any] = {}
    exec(compile(test.text, test.place, "exec"), known)  # noqa: S102 (the pages' own)
    tests = [known[name] for name in known if name.startswith("test_")]
    assert len(tests) == 2
    for run in tests:
        run()


def test_the_worked_estimator_works(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,), (test,) = _of_file("src/sosie/attacks"), _of_file("tests/attacks/test_estimators")
    rng = np.random.default_rng(0)
    module = ModuleType("sosie.attacks.estimators.city_block")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code.text, code.place, "exec"), vars(module))  # noqa: S102 (the pages' own)
    known = {"np": np, "TARGETS": 4, "PEOPLE": 6, "Cloud": object}
    exec(compile(test.text, test.place, "exec"), known)  # noqa: S102 (the pages' own)
    means, points = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    known["test_city_block_is_distance"](SimpleNamespace(means=means), points)
    assert module.DECLARATION.variants(()) == (module.CityBlock(),)


def test_the_worked_method_works(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,), (test,) = _of_file("src/sosie/generate/methods"), _of_file("tests/generate")
    module = ModuleType("sosie.generate.methods.clipped")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code.text, code.place, "exec"), vars(module))  # noqa: S102 (the pages' own)
    monkeypatch.setitem(METHODS, "clipped", module.METHOD)
    known: dict[str, Any] = {}
    exec(compile(test.text, test.place, "exec"), known)  # noqa: S102 (the pages' own)
    tests = [known[name] for name in known if name.startswith("test_")]
    assert len(tests) == 2
    for run in tests:
        run()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_worked_words_have_the_keys_that_others_have(language: str) -> None:
    blocks = _of_file(f"src/sosie/words/{language}")
    words = load(language)
    inside = [block for block in blocks if " in: " in block.note]
    for block in inside:
        section = block.note.partition(" in: ")[2].strip("[]")
        (key,) = tomllib.loads(block.text)
        assert f"{section}.{key.replace('clipped', 'barycentre')}" in words
    assert len(inside) == 3
    tables = [block for block in blocks if block not in inside]
    told = dict(pair for block in tables for pair in tomllib.loads(block.text).items())
    (metric,) = told["metrics"].values()
    (estimator,) = told["attack"]["estimators"].values()
    assert all(f"metrics.hellinger_mean.{key}" in words for key in metric)
    assert all(f"attack.estimators.diagonal.{key}" in words for key in estimator)
    assert {*metric} == {"name", "unit", "definition", "direction", "means"}


def test_few_blocks_are_not_run() -> None:
    left = [block.place for blocks in CODE.values() for block in blocks if not block.runs]
    assert len(left) <= 10, left


def test_a_page_names_files_that_are_there() -> None:
    named = re.compile(
        r"`((?:src|tests|scripts|docs|examples|notebooks|benchmarks)/[\w/.-]+\.\w+)`"
    )
    gone = [
        f"{page.name}: {name}"
        for page in PAGES
        for name in named.findall(page.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
        and Path(name).stem != "city_block"  # what a worked example would make
    ]
    assert gone == []
