"""Parquet larger than memory: the same avatars, read and written a column at a time."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie import Avatarizer
from sosie.audits.comparison import Comparison
from sosie.audits.registry import ON_TWINS
from sosie.cli import status_of
from sosie.compute.memory import available, parsed
from sosie.compute.storage import MEMORY, Disk
from sosie.data.parquet import Scan
from sosie.data.table import Roles, Table
from sosie.errors import InputError
from sosie.generate.methods import METHODS
from sosie.jobs.budget import BASE, Budget
from sosie.jobs.tables import opened, save

ROWS = 40_000  # more than one block of draws


def people(rows: int = ROWS, seed: int = 0) -> pl.DataFrame:
    """Every kind of column, missing values and twins."""
    rng = np.random.default_rng(seed)
    born = np.datetime64("1960-01-01") + rng.integers(0, 9_000, rows)
    frame = pl.DataFrame(
        {
            "age": rng.normal(50, 10, rows).round(1),
            "weight": rng.lognormal(4, 0.3, rows).round(2),
            "visits": rng.integers(0, 300, rows),
            "spiky": np.where(rng.random(rows) < 0.4, 0, rng.exponential(size=rows).round(3)),
            "sex": rng.choice(["F", "M"], rows),
            "site": pl.Series(rng.choice(list("abcdef"), rows), dtype=pl.Categorical),
            "stage": pl.Series(rng.choice(["I", "II"], rows), dtype=pl.Enum(["I", "II", "III"])),
            "smoker": rng.random(rows) < 0.3,
            "born": born.astype("datetime64[D]"),
        }
    )
    missing = pl.Series(rng.random(rows) < 0.1)
    frame = frame.with_columns(weight=pl.when(~missing).then(pl.col("weight")))
    twins = rows // 80
    return pl.concat([frame[: rows - twins], frame[:twins]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The people in a folder of files of uneven lengths, one of them empty."""
    path = tmp_path_factory.mktemp("people")
    frame, ends = people(), [0, 5, 17_000, 17_000, 33_333, ROWS]
    for i, (a, b) in enumerate(pairwise(ends)):
        frame[a:b].write_parquet(path / f"part-{i}.parquet")
    (path / "_metadata.parquet").write_bytes(b"not data")
    return path


@pytest.mark.parametrize("method", METHODS)
def test_columns_on_disk_give_the_same_avatars(folder: Path, tmp_path: Path, method: Any) -> None:
    frame = people()
    here = Avatarizer(k=5, seed=3, method=method).fit(frame)
    table = Table.of(Scan.of(folder), Roles(), Disk(tmp_path))
    there = Avatarizer(k=5, seed=3, method=method, threads=1).fit(table)
    for release, shuffle in zip(there.both(1), (True, False), strict=True):
        path = tmp_path / "avatars.parquet"
        save(release, path)
        made = pl.read_parquet(path)
        assert made.equals(here.release(1, shuffle=shuffle))
        assert made.schema == here.release(1).schema


def test_roles_and_several_avatars_each(folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "k": 4,
        "seed": 2,
        "augment": 2,
        "drop": ["born"],
        "keep": ["visits", "site"],
        "linked": [("sex", "smoker")],
    }
    here = Avatarizer(**options).fit(people())
    there = Avatarizer(**options)
    there.fit(Table.of(Scan.of(folder), there.roles, Disk(tmp_path)))
    published, aligned = there.both()
    for release, shuffle in ((published, True), (aligned, False)):
        save(release, tmp_path / "a.parquet")
        assert pl.read_parquet(tmp_path / "a.parquet").equals(here.release(shuffle=shuffle))
    save(published, tmp_path / "a.csv")
    assert len(pl.read_csv(tmp_path / "a.csv")) == 2 * ROWS


def test_the_command_keeps_to_a_memory(folder: Path, tmp_path: Path) -> None:
    made = {}
    for name, memory in (("all", "8GB"), ("little", "300MB")):
        out = tmp_path / f"{name}.parquet"
        told = ["avatarize", str(folder), "-o", str(out), "--seed", "1", "--memory", memory]
        assert status_of(told) == 0
        made[name] = pl.read_parquet(out)
    assert made["all"].equals(made["little"])
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".parquet"]


@pytest.mark.slow
def test_a_run_keeps_to_a_memory(folder: Path, tmp_path: Path) -> None:
    audits = {}
    for name, memory in (("all", "8GB"), ("little", "300MB")):
        told = ["run", str(folder), "-o", str(tmp_path / name), "--seed", "1", "--releases", "0"]
        assert status_of([*told, "--memory", memory]) == 0
        audits[name] = json.loads((tmp_path / name / "audit.json").read_text())
    for metric, found in audits["all"]["privacy"].items():
        other = audits["little"]["privacy"][metric]
        if metric in ON_TWINS:  # there are none of a table on disk
            assert other["value"] is None
            assert other["reason"]["key"] == "not_on_disk"
        else:
            assert found["value"] == other["value"], metric
    made = [pl.read_parquet(tmp_path / name / "avatars.parquet") for name in audits]
    assert made[0].equals(made[1])


@pytest.mark.slow
def test_an_audit_keeps_to_a_memory(folder: Path, tmp_path: Path) -> None:
    Avatarizer(seed=1).fit(people()).release(shuffle=False).write_parquet(tmp_path / "made.parquet")
    found = []
    for memory in ("8GB", "300MB"):
        told = ["audit", str(folder), str(tmp_path / "made.parquet"), "--aligned"]
        assert status_of([*told, "--json", str(tmp_path / "a.json"), "--memory", memory]) == 0
        found.append(json.loads((tmp_path / "a.json").read_text()))
        # What holds between columns is not looked for in a table on disk.
        assert found[-1]["utility"].pop("contradictions")["value"] is None
    assert found[0] == found[1]


def test_too_little_memory_tells_the_least_that_works(folder: Path, tmp_path: Path) -> None:
    settings = Avatarizer().settings
    with pytest.raises(InputError, match=r"40,000 rows need 0\.26 GB of memory.*--memory"):
        opened(folder, settings, scratch=tmp_path, memory=200_000_000)
    least = Budget.of(Scan.of(folder), settings).apart
    assert isinstance(opened(folder, settings, scratch=tmp_path, memory=least).storage, Disk)
    assert opened(folder, settings, scratch=tmp_path, memory=10**10).storage is MEMORY


def test_what_a_table_takes_grows_with_what_is_asked() -> None:
    plain = Budget(1_000_000, 200.0, 110, 5, 1)
    assert BASE < plain.apart < plain.together
    assert Budget(1_000_000, 200.0, 446, 5, 1).apart > plain.apart
    assert Budget(1_000_000, 200.0, 110, 5, 3).together > plain.together
    assert Budget(1_000_000, 200.0, 110, 5, 1, compared=True).apart > plain.apart
    free = available()
    assert free is None or free > 10**6


def test_threads_make_arrays_and_let_go_side_by_side(tmp_path: Path) -> None:
    storage, before = Disk(tmp_path), sys.getswitchinterval()
    held = [storage.keep(np.full(3, i)) for i in range(60)]

    def work(number: int) -> None:
        for i in range(150):
            held[number] = storage.keep(np.full(3, i))
            storage.forget()

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
    finally:
        sys.setswitchinterval(before)
    assert [int(array[0]) for array in held] == [149] * 4 + list(range(4, 60))


@pytest.mark.parametrize("text", ["", "2 GB or so", "-1GB", "0", "GB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(InputError, match="is not an amount of memory"):
        parsed(text)


# ---------------------------------------------------------------- files


def test_a_broken_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people(100).write_parquet(tmp_path / "a.parquet")
    raw = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(InputError, match=r"b\.parquet: not a readable Parquet file"):
        Scan.of(tmp_path)
    assert status_of(["avatarize", str(tmp_path), "-o", str(tmp_path / "o.parquet")]) == 2
    assert "b.parquet: not a readable Parquet file" in capsys.readouterr().err


def test_files_of_different_columns_are_named(tmp_path: Path) -> None:
    people(100).write_parquet(tmp_path / "a.parquet")
    people(100).drop("age").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: column 'age' is missing here"):
        Scan.of(tmp_path)
    people(100).with_columns(pl.col("age").cast(pl.String)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: column 'age' is String here and Float64"):
        Scan.of(tmp_path)
    (tmp_path / "b.parquet").unlink()
    people(100).with_columns(new=1).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: column 'new' is missing here"):
        Scan.of(tmp_path)


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Parquet file in this folder"):
        Scan.of(tmp_path)
    people(100)[:0].write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no rows"):
        Scan.of(tmp_path)


def test_a_part_that_holds_nothing_but_missing_values_fits(tmp_path: Path) -> None:
    frame = people(200)
    frame[:100].write_parquet(tmp_path / "a.parquet")
    frame[100:].with_columns(weight=pl.lit(None)).write_parquet(tmp_path / "b.parquet")
    scan = Scan.of(tmp_path)
    assert scan.schema["weight"] == pl.Float64
    assert scan.column("weight")[100:].null_count() == 100


def test_a_category_seen_only_in_the_last_file(tmp_path: Path) -> None:
    frame = people(400).with_columns(late=pl.Series(["x"] * 360 + ["z"] * 40))
    for i in range(4):
        frame[100 * i : 100 * (i + 1)].write_parquet(tmp_path / f"{i}.parquet")
    table = Table.of(Scan.of(tmp_path), Roles(), Disk(tmp_path))
    assert table.level("late").labels == ("x", "z")
    assert table.level("late").codes.tolist() == [0] * 360 + [1] * 40


# ---------------------------------------------------------------- storage


def test_a_full_disk_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sosie.compute.storage.os.posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match=r"no room for 0\.00 GB of scratch files"):
        Disk(tmp_path).empty(1_000, np.float64)


def test_scratch_files_have_no_name(tmp_path: Path) -> None:
    storage = Disk(tmp_path)
    held = storage.keep(np.arange(1_000.0))
    assert not list(tmp_path.iterdir())
    storage.forget()
    assert held.sum() == 499_500
    assert storage.keep(np.empty(0)).shape == (0,)


def test_comparisons_live_on_disk_too(folder: Path, tmp_path: Path) -> None:
    scan, frame = Scan.of(folder), people()
    made = Avatarizer(seed=1).fit(frame).release(shuffle=False)
    made.write_parquet(tmp_path / "made.parquet")
    there = Comparison.of(
        scan, Scan.of(tmp_path / "made.parquet"), aligned=True, storage=Disk(tmp_path)
    )
    here = Comparison.of(frame, made, aligned=True)
    assert np.array_equal(there.avatar_points, here.avatar_points)
    assert np.array_equal(there.crowd.hit, here.crowd.hit)


def test_columns_that_are_kept_count(tmp_path: Path) -> None:
    frame = people(2_000).with_columns(note=pl.lit("x" * 200))
    frame.write_parquet(tmp_path / "a.parquet")
    scan, settings = Scan.of(tmp_path / "a.parquet"), Avatarizer().settings
    more = Budget.of(scan, settings, ["note"]).apart - Budget.of(scan, settings).apart
    assert more > 200 * 2_000


def test_numbers_written_as_an_enum_are_whole(tmp_path: Path) -> None:
    values = [str(value) for value in np.random.default_rng(0).integers(0, 50, 3_000)]
    frame = people(3_000).with_columns(
        dose=pl.Series(values, dtype=pl.Enum(sorted({*values}))), born=pl.lit(None)
    )
    frame.write_parquet(tmp_path / "a.parquet")
    options: dict[str, Any] = {"seed": 1, "numeric": ["dose"], "drop": ["born"]}
    here = Avatarizer(**options).fit(frame).release()
    there = Avatarizer(**options)
    there.fit(Table.of(Scan.of(tmp_path / "a.parquet"), there.roles, Disk(tmp_path)))
    save(there.both()[0], tmp_path / "b.parquet")
    made = pl.read_parquet(tmp_path / "b.parquet")
    assert made.equals(here)
    assert made.schema == here.schema
