"""The context file, asked for question by question."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path

import pytest
from french_reader import faults

from sosie.audits.context import Context
from sosie.cli import status_of

ANSWERS = {
    "name": 'cours "A"',
    "recipient": "2",
    "sensitivity": "2",
    "releases": "3",
    "purpose": "Enseignement",
    "controller": "",
    "recipients": "Étudiants; Enseignants",
    "retention": "",
    "author": "Le service des données",
    "evaluator": "",
    "validator": "",
    "measures": "",
    "residual_risk": "",
    "analyses": "mean days by arms",
    "controller_holds": "L'équipe",
    "profile_holds": "",
    "columns_holds": "",
    "file_holds": "",
    "likelihood": "5; 9; 33",
    "source": "Notre règle",
    "severity": "2",
    "why": "",
}


def asked(monkeypatch: pytest.MonkeyPatch, out: Path, lines: list[str], lang: str = "fr") -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return status_of(["context", "-o", str(out), "--lang", lang])


def test_answers_become_a_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "contexte.toml"
    assert asked(monkeypatch, out, list(ANSWERS.values())) == 0
    assert tomllib.loads(out.read_text("utf-8")) == {
        "name": 'cours "A"',
        "recipient": "contract",
        "sensitivity": "high",
        "releases": 3,
        "purpose": "Enseignement",
        "recipients": ["Étudiants", "Enseignants"],
        "author": "Le service des données",
        "analyses": ["mean days by arms"],
        "holders": {"controller": "L'équipe"},
        "likelihood": {"negligible": 5, "limited": 9, "important": 33, "source": "Notre règle"},
        "severity": {"level": "limited"},
    }
    context = Context.of(file=out)
    assert (context.recipient, context.sensitivity, context.releases) == ("contract", "high", 3)
    said = capsys.readouterr().out.replace(str(out), "")
    assert said.count("Ce que cela change") == len(ANSWERS)
    assert faults(f"<pre>{said}</pre>", {"mean", "days", "arms"}) == []


def test_what_can_not_be_read_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["x", "7", "two", "1", *[""] * (len(ANSWERS) - 4)]  # two questions fewer: no follow-ups
    assert asked(monkeypatch, tmp_path / "c.toml", lines, "en") == 0
    assert tomllib.loads((tmp_path / "c.toml").read_text()) == {"name": "x", "recipient": "public"}
    assert capsys.readouterr().out.count("Answer with a number from 1 to 3") == 2


def test_nothing_is_replaced_or_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "c.toml"
    assert asked(monkeypatch, out, ["a", "1"]) == 2
    assert not out.exists()
    out.write_text('name = "mine"\n')
    assert asked(monkeypatch, out, list(ANSWERS.values())) == 2
    assert out.read_text() == 'name = "mine"\n'
    assert "is there already" in capsys.readouterr().err
