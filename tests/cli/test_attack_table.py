"""The table of attacks: rows of one scenario are told apart by the columns that they concern."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sosie.attacks.results import AttackReport, AttackResult
from sosie.cli import terminal
from sosie.errors import Reason

RIGHT = np.array([True, False, False, True])


def _result(**more: object) -> AttackResult:
    known = {"scenario": "groups", "decision": "value", "estimator": "one-value", "chance": 5.0}
    return AttackResult.share(RIGHT, **(known | more))  # type: ignore[arg-type]


def _printed(capsys: pytest.CaptureFixture[str], *results: AttackResult) -> list[list[str]]:
    report = AttackReport(rows=4, parameters={}, results=results)
    terminal.attack_table(report.to_dict())
    lines = capsys.readouterr().out.splitlines()
    return [re.split(r"\s{2,}", line.strip()) for line in lines]


def test_what_is_learnt_and_how_much_is_known_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    results = (
        _result(column="cens"),
        _result(column="a[b]"),
        _result(scenario="partial", estimator="nearest", decision="row", known=1),
        _result(scenario="partial", estimator="nearest", decision="row", known=12),
        AttackResult.none("v1", "published", Reason("two_releases")),
    )
    head, *rows = _printed(capsys, *results)
    assert head[2] == "Columns"
    shown = [row[2] for row in rows[:4]]
    assert shown == ["cens", "a[b]", "one column known", "12 columns known"]


def test_without_such_rows_there_is_no_such_column(capsys: pytest.CaptureFixture[str]) -> None:
    head, _ = _printed(capsys, _result(scenario="contributor", estimator="nearest"))
    assert "Columns" not in head
