"""A run's folder is written out from its JSON files, each form where it is wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import report_fixture as fixture

from sosie.cli import status_of
from sosie.errors import InputError
from sosie.jobs.export import Exports, export, with_context
from sosie.report import read_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run = fixture.run()
    run["figures"]["distributions"] = run["figures"]["distributions"][:1]
    audit = fixture.audit() | {"context": fixture.context() | {"targets": {"hidden_rate": 50.0}}}
    contents = {"run": run, "audit": audit, "attack": fixture.attack(), "tune": fixture.tune()}
    contents["analyses"] = fixture.analyses()
    out = tmp_path / "out"
    out.mkdir()
    for name, content in contents.items():
        (out / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return out


@pytest.mark.slow
def test_everything_at_once(folder: Path, tmp_path: Path) -> None:
    wanted = Exports(*(tmp_path / name for name in ("a.html", "b.docx", "c.json", "d.json")))
    export(folder, wanted, language="fr")
    assert '<html lang="fr">' in (tmp_path / "a.html").read_text()
    assert (tmp_path / "b.docx").read_bytes().startswith(b"PK")
    assert json.loads((tmp_path / "c.json").read_text())["answers"]
    told = json.loads((tmp_path / "d.json").read_text())
    assert list(told) == ["schema", "run", "audit", "attack", "tune", "analyses"]
    assert told["schema"] == "sosie/report/1"
    for name in ("run", "audit", "attack", "tune", "analyses"):
        assert told[name] == json.loads((folder / f"{name}.json").read_text())


def test_a_context_file_stands_in_for_what_was_stated(folder: Path, tmp_path: Path) -> None:
    context = tmp_path / "context.toml"
    context.write_text("recipient = 'inside'\npurpose = 'Another purpose'\n")
    found = with_context(read_folder(folder), context).audit["context"]
    assert found["stated"] == {"purpose": "Another purpose"}
    assert found["recipient"] == "contract"  # what set the targets is not rewritten
    assert found["targets"] == {"hidden_rate": 50.0}


def test_a_context_where_there_was_none(folder: Path, tmp_path: Path) -> None:
    (folder / "audit.json").write_text(json.dumps(fixture.audit()))
    context = tmp_path / "context.toml"
    context.write_text("purpose = '<script>alert(1)</script>'\nreleases = 4\n")
    page = tmp_path / "page.html"
    export(folder, Exports(page=page), context=context)
    text = page.read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert(1)" not in text


def test_a_file_of_the_run_is_not_replaced(folder: Path) -> None:
    before = (folder / "run.json").read_bytes()
    with pytest.raises(InputError, match=r"run\.json"):
        export(folder, Exports(everything=folder / "run.json"))
    assert (folder / "run.json").read_bytes() == before


@pytest.mark.parametrize("name", ["run.json", "audit.json", "attack.json", "tune.json"])
def test_a_damaged_file_writes_nothing(folder: Path, tmp_path: Path, name: str) -> None:
    path = folder / name
    path.write_text(path.read_text()[:100])
    with pytest.raises(InputError, match=name):
        export(folder, Exports(page=tmp_path / "page.html"))
    assert not (tmp_path / "page.html").exists()


def test_the_command(
    folder: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    pia = tmp_path / "pia.json"
    assert status_of(["report", str(folder), "--pia", str(pia)]) == 0
    assert (folder / "report.html").exists()
    assert pia.exists()
    capfdbinary.readouterr()
    assert status_of(["report", str(folder), "--json", "-"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["schema"] == "sosie/report/1"


def test_the_command_with_a_context_that_is_wrong(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = tmp_path / "context.toml"
    context.write_text("purposes = 'x'\n")
    assert status_of(["report", str(folder), "--context", str(context)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
