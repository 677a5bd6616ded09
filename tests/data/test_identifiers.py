"""Columns that may identify people."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import Backend
from identifier_tables import Known, tables

from sosie.data.identifiers import (
    Suspect,
    is_iban,
    is_social_security,
    refusal,
    suspects,
    words_of,
)
from sosie.data.parquet import Scan

KNOWN = list(tables())


def _columns(frame: object, **options: Any) -> dict[Any, str]:
    return {suspect.column: suspect.kind for suspect in suspects(frame, **options)}


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_what_identifies_is_found_and_nothing_else(known: Known) -> None:
    assert {*_columns(known.frame)} == {*known.identifying}


@pytest.mark.parametrize("known", KNOWN[:5], ids=lambda known: known.name)
def test_the_order_of_rows_changes_nothing_but_for_sorted_files(known: Known) -> None:
    shuffled = known.frame.sample(fraction=1, shuffle=True, seed=3)
    assert {*_columns(shuffled)} == {*known.identifying}


def test_every_kind_of_dataframe(backend: Backend) -> None:
    cells = {
        "Prénom": [f"Anna{i % 40}" if i % 9 else None for i in range(80)],
        "mail2": [f"p{i}@clinic.org" for i in range(80)],
        "number": [2 * i + 7 for i in range(80)],
        "dose": [i % 13 / 4 for i in range(80)],
        "seen": [i % 3 == 0 for i in range(80)],
    }
    assert _columns(backend.frame(cells)) == {
        "Prénom": "name",
        "mail2": "email",
        "number": "distinct",
    }


def test_a_parquet_folder_is_read_a_column_at_a_time(tmp_path: Path) -> None:
    frame = pl.DataFrame({"ipp": [f"{i:06d}" for i in range(60)], "dose": [1.5, 2.5] * 30})
    frame[:30].write_parquet(tmp_path / "a.parquet")
    frame[30:].write_parquet(tmp_path / "b.parquet")
    assert _columns(Scan.of(tmp_path)) == {"ipp": "name"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nomNaissance", ("nom", "naissance")),
        ("N°_TÉLÉPHONE", ("n", "telephone")),
        ("e-mail", ("email",)),
        ("patientID", ("patient", "id")),
        (3, ("3",)),
    ],
)
def test_names_are_cut_into_words(name: object, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize("name", ["genome", "phoneme_score", "surname_length", "prenominal"])
def test_words_inside_words_are_no_alarm(name: str) -> None:
    frame = pl.DataFrame({name: [f"v{i % 30}" for i in range(200)]})
    assert not suspects(frame)


def test_social_security_numbers_have_a_key() -> None:
    # 2 69 05 49 588 157: 97 - 2690549588157 % 97 = 80, the example of the French administration.
    assert is_social_security("2 69 05 49 588 157 80")
    assert not is_social_security("2 69 05 49 588 157 81")
    # Corsica: 2A is read as 19.
    body = "184072A001002"
    key = 97 - int(body.replace("2A", "19")) % 97
    assert is_social_security(f"{body}{key:02d}")


def test_accounts_have_check_digits() -> None:
    assert is_iban("GB82 WEST 1234 5698 7654 32")  # the example of ISO 13616
    assert not is_iban("GB82 WEST 1234 5698 7654 33")


def test_telephone_numbers_that_lost_their_zero() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(600_000_000, 799_999_999, 60)
    assert _columns(pl.DataFrame({"x": numbers})) == {"x": "telephone"}
    sums = rng.integers(100_000_000, 999_999_999, 60)
    assert not suspects(pl.DataFrame({"x": sums}))


def test_public_tables(test_data: Path, actg175: pl.DataFrame) -> None:
    trial = pl.read_csv(test_data / "actg175.csv", separator=";", null_values="NA")
    assert _columns(trial) == {"pidnum": "distinct"}
    assert _columns(actg175) == {}
    # 645 numbers on 699 rows: some people came twice.
    cells = pl.read_csv(test_data / "wbcd.csv", infer_schema_length=None)
    assert _columns(cells) == {"Sample_code_number": "distinct"}


def test_rows_of_a_person_are_counted() -> None:
    visits = next(known for known in KNOWN if known.name == "visits")
    (suspect,) = suspects(visits.frame)
    assert suspect.kind == "repeated"
    assert suspect.distinct == visits.frame["dossier"].n_unique()
    assert suspect.rows_each == len(visits.frame) / 300


def test_an_alarm_is_answered_once() -> None:
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(30)], "line": range(30)})
    assert _columns(frame) == {"name": "name"}
    assert not suspects(frame, answered=["name"])
    assert not suspects(frame, outside=["name"])


def test_one_line_names_them_all_and_gives_the_whole_command() -> None:
    found = [
        Suspect("nom", "name", 10, 20),
        Suspect("a b", "email", 10, 20, 0.4),
        Suspect("x,y", "distinct", 60, 60, numeric=True),
    ]
    line = refusal(found, ["sosie", "run", "my file.csv", "-o", "out"])
    assert "\n" not in line
    assert all(f"{suspect.column!r}" in line for suspect in found)
    assert "e-mail addresses in 40 % of its rows" in line
    command = line.split("go on without them: ")[1].split("; if one")[0]
    assert shlex.split(command) == [
        *("sosie", "run", "my file.csv", "-o", "out"),
        *("--drop", 'nom,a b,"x,y"'),
    ]
    assert "--categorical COL, or --numeric COL" in line


def test_the_page_holds_the_measured_table() -> None:
    from conftest import ROOT
    from identifier_tables import report

    assert report() in (ROOT / "docs" / "identifiers.md").read_text(encoding="utf-8")
