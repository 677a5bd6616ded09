"""Real files through the command line: read as they are meant, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from sosie.cli import status_of

ROWS = 120


class Said(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


Called = Callable[..., Said]


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Called:
    def call(*words: object) -> Said:
        capsys.readouterr()
        return Said(status_of([str(word) for word in words]), *capsys.readouterr())

    return call


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rows(cell: Callable[[int], str] = str) -> list[str]:
    return [f"{20 + i % 60},{'FM'[i % 2]},{cell(i)}" for i in range(ROWS)]


def test_case_32_a_file_without_a_header(tmp_path: Path, called: Called) -> None:
    data = written(tmp_path / "x.csv", *rows(lambda i: f"{i % 37}.5"))
    refused = called("avatarize", data, "-o", tmp_path / "y.csv")
    assert refused.status == 2
    assert "--no-header" in refused.err
    assert called("avatarize", data, "-o", tmp_path / "y.csv", "--no-header").status == 0
    made = (tmp_path / "y.csv").read_text("utf-8").splitlines()
    assert len(made) == ROWS
    assert {line.split(",")[1] for line in made} == {"F", "M"}


def test_case_33_a_total_row_is_named(tmp_path: Path, called: Called) -> None:
    data = written(tmp_path / "x.csv", "age,sex,cost", *rows(lambda i: f"{i % 37}.5"), "Total,,99")
    said = called("avatarize", data, "-o", tmp_path / "y.csv")
    assert said.status == 2
    assert "row 121, the last, holds 'Total'" in said.err


def test_case_36_na_beside_empty_cells(tmp_path: Path, called: Called) -> None:
    land = ("NA", "FR", "DE", "")
    data = written(tmp_path / "x.csv", "age,sex,land", *rows(lambda i: land[i // 2 % 4]))
    assert called("avatarize", data, "-o", tmp_path / "y.csv", "--seed", "1").status == 0
    cells = {line.split(",")[2] for line in (tmp_path / "y.csv").read_text("utf-8").splitlines()}
    assert cells == {"land", *land}


def test_case_37_the_column_of_a_partitioned_folder_is_there(
    tmp_path: Path, called: Called
) -> None:
    frame = pl.DataFrame(
        {"site": ["a", "b"] * 60, "age": [20 + i % 57 for i in range(ROWS)], "x": [0.5, 1.5] * 60}
    )
    for (site,), part in frame.partition_by("site", as_dict=True, include_key=False).items():
        (tmp_path / "in" / f"site={site}").mkdir(parents=True)
        part.write_parquet(tmp_path / "in" / f"site={site}" / "0.parquet")
    out = tmp_path / "y.parquet"
    assert called("avatarize", tmp_path / "in", "-o", out).status == 0
    assert {*pl.read_parquet(out).columns} == {"site", "age", "x"}


def test_case_38_two_digit_years_are_said(tmp_path: Path, called: Called) -> None:
    born = rows(lambda i: f"{1 + i % 28:02d}/{1 + i % 12:02d}/{30 + i % 60}")
    data = written(tmp_path / "x.csv", "age,sex,born", *born)
    told = called(
        *("avatarize", data, "-o", tmp_path / "y.csv"),
        *("--date", "born=%d/%m/%y", "--pivot", "2020"),
    )
    assert told.status == 0
    assert "1921 to 2020" in told.err


def test_case_44_rows_that_are_not_people(tmp_path: Path, called: Called) -> None:
    data = written(tmp_path / "x.csv", "age,sex,patient_id", *rows(lambda i: f"P{i // 2:03d}"))
    command = ("avatarize", data, "-o", tmp_path / "y.csv", "--drop", "patient_id")
    refused = called(*command)
    assert refused.status == 2
    assert "60 people on 120 rows" in refused.err
    assert called(*command, "--rows-are-people").status == 0


def test_case_45_booleans_written_otherwise(tmp_path: Path, called: Called) -> None:
    one = written(tmp_path / "x.csv", "age,sex,ill", *rows(lambda i: ["yes", "no"][i % 3 // 2]))
    other = written(
        tmp_path / "y.csv", "age,sex,ill", *rows(lambda i: ["TRUE", "FALSE"][i % 3 // 2])
    )
    told = tmp_path / "audit.json"
    assert called("audit", one, other, "--aligned", "--json", told).status == 0
    measured = pl.read_json(told)["privacy"].struct.field("row_direct_match_protection")
    assert measured.struct.field("value")[0] == pytest.approx(0)
