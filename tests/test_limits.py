"""What is too large, too wide or too deep is refused early, in one line with a way out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import report_fixture

import sosie.compute.memory
import sosie.jobs.budget
from sosie.cli import status_of
from sosie.data.csv_dialect import MOST_COLUMNS, parse
from sosie.data.files import check_room, read, write
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.run import CELL, run

ROWS = 2_000


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Says how much memory is free."""

    def says(amount: int | None) -> None:
        monkeypatch.setattr(sosie.jobs.budget, "available", lambda: amount)
        monkeypatch.setattr(sosie.compute.memory, "available", lambda: amount)

    return says


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "x.csv"
    write(pl.DataFrame({"x": [i / 7 for i in range(ROWS)], "g": ["a", "b"] * (ROWS // 2)}), path)
    return path


def test_a_csv_that_does_not_fit_is_not_read(
    table: Path, free: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    free(table.stat().st_size)

    def fails(_: Path) -> bytes:
        raise AssertionError

    monkeypatch.setattr(Path, "read_bytes", fails)
    with pytest.raises(InputError, match=r"x\.csv needs at least 0\.\d GB of memory, .* is free"):
        read(table)


def test_few_bytes_of_parquet_may_stand_for_many(
    tmp_path: Path, free: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A constant takes a few bytes, whatever the number of rows."""
    rows = 2_000_000
    file = io.BytesIO()
    pq.write_table(pa.table({"x": pa.array([1] * rows)}), file, compression="zstd")
    (tmp_path / "x.parquet").write_bytes(file.getvalue())
    assert (tmp_path / "x.parquet").stat().st_size < rows / 100

    def fails(*_: object, **__: object) -> pl.DataFrame:
        raise AssertionError

    free(rows // 2)
    monkeypatch.setattr(pl, "read_parquet", fails)
    with pytest.raises(InputError, match=r"x\.parquet: as a table, it needs at least 0\.0 GB"):
        read(tmp_path / "x.parquet")


def test_a_run_that_does_not_fit_is_refused_before_it_begins(
    table: Path, tmp_path: Path, free: Callable[[int | None], None]
) -> None:
    free(ROWS * 2 * CELL - 1)
    with pytest.raises(InputError, match=r"a run on .*x\.csv needs at least .* avatarize --memory"):
        run(table, tmp_path / "out", Avatarizer())
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_where_the_system_does_not_tell_all_is_tried(
    table: Path, free: Callable[[int | None], None]
) -> None:
    free(None)
    check_room(1e30, "anything")
    assert len(read(table).frame) == ROWS


def test_a_million_columns_are_refused_by_their_header() -> None:
    wide = ",".join(f"c{i}" for i in range(1_000_000)).encode()
    with pytest.raises(InputError, match=f"1000000 columns are more than {MOST_COLUMNS}"):
        parse(wide + b"\n" + b"1," * 999_999 + b"1\n")


def test_errors_about_many_or_long_names_stay_short() -> None:
    twice = ",".join([f"c{i}" for i in range(9_000)] * 2)
    with pytest.raises(InputError, match=r"'c19' and 8,980 more$") as refused:
        parse(twice.encode() + b"\n" + b"1," * 17_999 + b"1\n")
    assert len(str(refused.value)) < 300
    with pytest.raises(InputError, match="same name") as refused:
        parse(b"x" * 9_000 + b"," + b"x" * 9_000 + b"\n1,2\n")
    assert len(str(refused.value)) < 300


def test_a_million_cells_below_a_short_header() -> None:
    with pytest.raises(InputError, match="line 2 has 1000000 cells where the header has 2"):
        parse(b"a,b\n" + b"1," * 999_999 + b"1\n")


def test_one_line_of_megabytes_is_no_table() -> None:
    with pytest.raises(InputError, match=r"there is a header and no row below it|can't be read"):
        parse(b"x" * 20_000_000)


@pytest.mark.parametrize(
    "raw", [b"\x1f\x8b\x08" + bytes(60), b"PK\x03\x04" + bytes(60), b"\x28\xb5\x2f\xfd" + bytes(9)]
)
def test_nothing_is_unpacked(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(raw)
    with pytest.raises(InputError, match="not a CSV file"):
        read(tmp_path / "x.csv")


DEEP = {"array": "[" * 100_000, "object": '{"a":' * 100_000, "closed": "[" * 9_000 + "]" * 9_000}


@pytest.mark.parametrize("name", DEEP)
def test_deep_json_is_one_line(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(report_fixture.run()))
    (tmp_path / "audit.json").write_text(DEEP[name])
    assert status_of(["report", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "audit.json" in said


def test_deep_json_in_what_the_report_copies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = report_fixture.audit()
    told["notes"] = "HERE"
    deep = json.dumps(told).replace('"HERE"', "[" * 400 + "]" * 400)
    (tmp_path / "run.json").write_text(json.dumps(report_fixture.run()))
    (tmp_path / "audit.json").write_text(deep)
    assert status_of(["report", str(tmp_path), "--json", str(tmp_path / "all.json")]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
