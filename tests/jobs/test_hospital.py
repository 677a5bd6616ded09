"""A hospital's export, from the raw file to avatars to publish, in two commands."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from french_reader import Reader, faults, strings, words_of
from hospital_export import IDENTIFIERS, MISSING, ROWS, write

from sosie import contradictions
from sosie.cli import status_of
from sosie.data.files import read


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hospital")


@pytest.fixture(scope="module")
def data(folder: Path) -> Path:
    return write(folder / "hospital.csv")


@pytest.fixture(scope="module")
def out(folder: Path, data: Path) -> Path:
    """The folder of the run whose options the first command printed."""
    command = ["run", str(data), "-o", str(folder / "out"), "--seed", "5", "--releases", "0"]
    assert status_of([*command, "--drop", ",".join(IDENTIFIERS)]) == 0
    return folder / "out"


def cells(path: Path) -> pl.DataFrame:
    """All as text, as it stands in the file."""
    text = path.read_bytes().decode("cp1252")
    return pl.read_csv(text.encode(), separator=";", infer_schema=False)


def test_case_43_the_first_command_says_the_second(
    data: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = folder / "refused"
    assert status_of(["run", str(data), "-o", str(refused)]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert f"sosie run {data} -o {refused} --drop {','.join(IDENTIFIERS)};" in line
    assert not refused.exists()


def test_case_43_no_identifier_is_published(out: Path, data: Path) -> None:
    published = cells(out / "avatars.csv")
    assert published.columns == [n for n in cells(data).columns if n not in IDENTIFIERS]
    assert len(published) == ROWS
    theirs = {value for name in IDENTIFIERS for value in cells(data)[name]}
    assert not theirs & {value for name in published.columns for value in published[name]}


def test_case_47_no_avatar_contradicts(out: Path, data: Path) -> None:
    told = json.loads((out / "run.json").read_text("utf-8"))["constraints"]
    kinds = Counter(one["kind"] for one in told)
    assert {*kinds} >= {"order", "sum", "formula", "label", "onehot", "exclusion"}
    assert all(one["kept"] and one["avatars"] == one["originals"] == 0 for one in told)
    people = read(data).frame.drop(IDENTIFIERS)
    assert contradictions(people, read(out / "avatars.csv").frame).value == 0
    audit = json.loads((out / "audit.json").read_text("utf-8"))
    assert audit["utility"]["contradictions"]["value"] == 0


def test_case_47_what_holds_is_counted_in_the_file_itself(out: Path) -> None:
    avatars = cells(out / "avatars.csv")
    days = avatars.select(pl.col("admission", "sortie").str.to_date())
    stay = (days["sortie"] - days["admission"]).dt.total_days()
    assert stay.min() >= 0  # type: ignore[operator]
    assert stay.to_list() == avatars["sejour"].cast(pl.Int64).to_list()
    low, high = (avatars[f"pression_{end}"].cast(pl.Int64) for end in ("min", "max"))
    assert (low <= high).all()
    wards = avatars.select(pl.col("^service_.*$").cast(pl.Int64))
    assert wards.sum_horizontal().to_list() == [1] * ROWS
    assert not avatars.filter((pl.col("sexe") == "M") & (pl.col("diagnostic") == "O80")).height
    costs = [avatars[f"cout_{part}"].str.replace(",", ".").cast(pl.Float64) for part in PARTS]
    assert np.allclose(sum(costs[1:]), costs[0], atol=0.006)


PARTS = ("total", "lit", "produits", "examens")


def test_case_42_deaths_are_within_sampling_error(out: Path, data: Path) -> None:
    before, after = (
        cells(path)["deces"].cast(pl.Int64).mean() for path in (data, out / "avatars.csv")
    )
    error = np.sqrt(before * (1 - before) / ROWS)
    assert abs(after - before) < 3 * error


def test_cases_34_and_35_codes_and_limits_keep_their_shares(out: Path, data: Path) -> None:
    before, after = cells(data), cells(out / "avatars.csv")
    for column, code in (*(("creatinine", code) for code in MISSING), ("troponine", "<0,5")):
        shares = [(table[column] == code).mean() for table in (before, after)]
        assert shares[1] == pytest.approx(shares[0], abs=0.03)


def test_case_31_numbers_are_written_as_they_were(out: Path) -> None:
    avatars = cells(out / "avatars.csv")
    for column, form in (
        ("plaquettes", r"[0-9]{1,3}[\s\u00a0\u202f][0-9]{3}"),
        ("saturation", r"[0-9]{2,3},[0-9]%"),
        ("poids", r"[0-9]{2,3},[0-9]"),
        ("cout_total", r"[0-9]+,[0-9]{2}"),
    ):
        assert all(re.fullmatch(form, cell) for cell in avatars[column]), column


def test_case_41_what_is_lost_is_said(out: Path) -> None:
    warnings = json.loads((out / "run.json").read_text("utf-8"))["warnings"]
    lost = {w["column"]: w for w in warnings if "column" in w}
    assert lost["code_postal"]["kind"] == "levels_lost"
    assert lost["code_postal"]["people"] > 0.05 * ROWS


def test_the_french_page_of_the_export_reads_as_french(out: Path, data: Path) -> None:
    assert status_of(["report", str(out), "--lang", "fr", "-o", str(out / "rapport.html")]) == 0
    told = json.loads((out / "run.json").read_text("utf-8"))
    names = strings([told["columns"], told["figures"]])
    # A picture cuts the long name service_cardiologie; formulas are written as --derive takes them.
    known = words_of([*cells(data).columns, *names]) | {"card", "years", "days"}
    html = (out / "rapport.html").read_text("utf-8")
    assert faults(html, known) == []
    for text in ("lu en Windows-1252", "<0,5", "--coarsen code_postal=N", "jamais avec"):
        assert text in " ".join(Reader(html).texts), text


def test_what_holds_between_columns_is_listed_on_the_terminal(
    data: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["avatarize", str(data), "-o", str(folder / "avatars.csv")]
    assert status_of([*command, "--drop", ",".join(IDENTIFIERS)]) == 0
    said = capsys.readouterr().out
    assert "Kept between columns" in said
    assert "admission <= sortie" in said
