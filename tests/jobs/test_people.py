"""People with several rows from files to files: what is published, kept private, and said."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from visit_tables import two_tables, visits

from sosie.cli import status_of
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.people import Several, avatarize_people, run_people
from sosie.jobs.run import Options


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people, children = two_tables()
    visits().write_csv(tmp_path / "visits.csv")
    people.write_csv(tmp_path / "people.csv")
    for name, table in children.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    visits().write_csv(folder / "visits.csv")
    run_people(
        folder / "visits.csv",
        folder / "out",
        Avatarizer(seed=1),
        Several("patient"),
        Options(releases=2),
    )
    return folder / "out"


def test_a_run_holds_what_any_run_does(done: Path) -> None:
    assert {path.name for path in done.iterdir()} == {
        *("avatars.csv", "report.html", "audit.json", "attack.json", "run.json", "private"),
    }
    avatars = pl.read_csv(done / "avatars.csv")
    assert avatars.columns == visits().columns
    private = pl.read_parquet(done / "private" / "aligned.parquet")
    assert len(private) == 160  # a row a person, in the order in which they appear
    assert set(avatars["patient"]) <= set(private["patient"])


def test_people_and_rows_are_not_confused(done: Path) -> None:
    run, audit, attack = (
        json.loads((done / f"{name}.json").read_text()) for name in ("run", "audit", "attack")
    )
    assert run["guarantee"]["people"] == audit["rows"] == attack["rows"] == 160
    assert run["data"]["rows"] == len(visits())
    assert audit["children"]["rows"]["rows"] == len(visits())
    assert audit["children"]["rows"]["mean_rows"][0] == pytest.approx(len(visits()) / 160)
    assert "contradictions" not in audit["utility"]
    kept = [told for told in run["constraints"] if told["text"] == "low <= high"]
    assert [(told["kept"], told["avatars"]) for told in kept] == [(True, 0.0)]
    for result in attack["results"]:
        if result.get("bound") and result["rate"] is not None and result["scenario"] == "v1":
            assert result["ci"][0] <= 100 * run["guarantee"]["bound"]


@pytest.mark.parametrize(("lang", "heading"), [("en", "Rows of people"), ("fr", "Lignes des")])
def test_the_report_tells_of_rows(done: Path, tmp_path: Path, lang: str, heading: str) -> None:
    assert status_of(["report", str(done), "-o", str(tmp_path / "r.html"), "--lang", lang]) == 0
    page = (tmp_path / "r.html").read_text()
    assert heading in page
    assert "trajectory-0" in page


def test_tables_are_written_beside_each_other(folder: Path) -> None:
    options = ["--person", "patient", "--seed", "1", "--time", "measures=day"]
    for name in ("measures", "stays"):
        options += ["--child", f"{name}={folder / name}.parquet"]
    out = folder / "made" / "avatars.parquet"
    out.parent.mkdir()
    assert status_of(["avatarize", str(folder / "people.csv"), "-o", str(out), *options]) == 0
    made = {path.stem: pl.read_parquet(path) for path in out.parent.iterdir()}
    assert set(made) == {"avatars", "measures", "stays"}
    for name in ("measures", "stays"):
        assert set(made[name]["patient"]) <= set(made["avatars"]["patient"])


def test_the_message_about_rows_shows_the_way(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    visits = str(folder / "visits.csv")
    out = str(folder / "out.csv")
    assert status_of(["avatarize", visits, "-o", out, "--id", "patient"]) == 2
    assert "--person patient" in capsys.readouterr().err
    assert status_of(["avatarize", visits, "-o", out, "--person", "patient"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--child", "x=people.csv"], "--person COL"),
        (["--person", "patient", "--child", "x"], "NAME=FILE"),
        (["--person", "patient", "--child", "x=stays.csv:people"], "rows of rows"),
        (["--person", "patient", "--memory", "1G"], "--memory is for tables of one row"),
        (["--person", "patient", "--scheduler", "local"], "--scheduler is for tables"),
        (["--person", "nobody"], "no column 'nobody'"),
        (["--person", "patient", "--time", "when"], "no column 'when'"),
    ],
)
def test_options_that_do_not_go_together(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    command = ["avatarize", str(folder / "visits.csv"), "-o", str(folder / "o.csv"), *options]
    assert status_of(command) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "o.csv").exists()


def test_a_file_that_is_read_is_not_written_over(folder: Path) -> None:
    several = Several("patient", {"stays": folder / "stays.parquet"})
    with pytest.raises(InputError, match="stays"):
        avatarize_people(folder / "people.csv", folder / "out.parquet", Avatarizer(seed=1), several)


def test_what_a_run_of_people_refuses(folder: Path) -> None:
    with pytest.raises(InputError, match="--holdout-share is for tables of one row"):
        run_people(
            folder / "visits.csv",
            folder / "out",
            Avatarizer(seed=1),
            Several("patient"),
            Options(holdout_share=0.2),
        )
    assert not (folder / "out").exists()
