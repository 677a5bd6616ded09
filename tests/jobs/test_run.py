"""A run: what its folder holds, for every kind of file, option and place."""

from __future__ import annotations

import datetime as dt
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from spoken import spoken

import sosie
from sosie.data.files import read, write
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.audit import Options as AuditOptions
from sosie.jobs.audit import audit_files
from sosie.jobs.avatarize import avatarize_file
from sosie.jobs.description import FEWEST_SHOWN
from sosie.jobs.report import rebuild_report
from sosie.jobs.run import Options, run

ROWS = 120


def table(rows: int = ROWS, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 95, rows),
            "dose": rng.normal(50, 9, rows).round(1),
            "arm": rng.choice(["A", "B"], rows),
            "site": rng.choice(["x", "y", "z"], rows),
            "seen": [
                dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 700, rows)
            ],
        }
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    write(table(), path)
    return path


def told(out: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((out / "run.json").read_text())
    return content


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


PRIVATE = [
    "private",
    "private/README.txt",
    "private/aligned.parquet",
    "private/key",
    "private/seed",
    "private/source.txt",
]


# ---------------------------------------------------------------- the folder


@pytest.mark.parametrize(
    # Where the law of each person is known, attackers need no release.
    ("method", "counts"),
    [("exchangeable", {5}), ("smoothed", {0, 5}), ("barycentre", {0, 5})],
)
def test_attacks_are_part_of_the_folder(
    data: Path, tmp_path: Path, method: str, counts: set[int]
) -> None:
    steps: list[str] = []
    avatarizer = Avatarizer(seed=5, method=method)
    done = run(data, tmp_path, avatarizer, Options(releases=None), progress=steps.append)
    assert steps == ["read", "fit", "draw", "audit", "analyses", "attack", "report"]
    attacks = json.loads((tmp_path / "attack.json").read_text())
    assert attacks == done.attacks
    assert attacks["schema"] == "sosie/attack/1"
    assert {r["releases"] for r in attacks["results"] if r["scenario"] == "v1"} == counts
    run(data, tmp_path, Avatarizer(seed=5, method=method), Options(releases=0))
    assert not (tmp_path / "attack.json").exists()


def test_what_limited_the_attacks_is_told(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sosie.attacks.routine.MOST_PEOPLE", 100)
    done = run(data, tmp_path, Avatarizer(seed=5), Options(releases=None))
    note = next(note for note in done.notes if note.key.startswith("only"))
    assert note.key == "only_one_profile"
    assert note.to_dict() in told(tmp_path)["warnings"]


def test_a_table_that_can_not_be_attacked_is_told(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise InputError("no two people differ")

    monkeypatch.setattr("sosie.attacks.routine.routine", refused)
    done = run(data, tmp_path, Avatarizer(seed=5), Options(releases=None))
    assert done.attacks is None
    assert "run_not_attacked" in [note.key for note in done.notes]
    with pytest.raises(InputError, match="no two people differ"):
        run(data, tmp_path / "asked", Avatarizer(seed=5), Options(releases=3))


def test_the_folder(data: Path, tmp_path: Path) -> None:
    steps: list[str] = []
    done = run(data, tmp_path / "out", Avatarizer(seed=5), progress=steps.append)
    assert files(tmp_path / "out") == [
        "analyses.json",
        "audit.json",
        "avatars.csv",
        *PRIVATE,
        "report.html",
        "run.json",
    ]
    assert steps == ["read", "fit", "draw", "audit", "analyses", "report"]
    assert done.avatars.read_text().startswith("age,dose,arm,site,seen\n")
    assert (done.folder / "private" / "seed").read_text() == "5\n"
    found = told(done.folder)
    assert found["schema"] == "sosie/run/1"
    assert found["version"] == sosie.__version__
    assert found["data"]["name"] == "people.csv"
    assert (found["data"]["rows"], found["data"]["columns"]) == (ROWS, 5)
    assert [column["kind"] for column in found["columns"]] == [
        "integer",
        "number",
        "category",
        "category",
        "date",
    ]
    assert [entry["column"] for entry in found["figures"]["distributions"]] == table().columns
    assert json.loads((done.folder / "audit.json").read_text()) == json.loads(
        json.dumps(done.audit.to_dict())
    )


def test_aligned_and_published_are_the_same_people_in_another_order(
    data: Path, tmp_path: Path
) -> None:
    avatarizer = Avatarizer(seed=5)
    done = run(data, tmp_path / "out", avatarizer)
    published = read(done.avatars).frame
    aligned = pl.read_parquet(done.folder / "private" / "aligned.parquet")
    assert aligned.equals(avatarizer.release(shuffle=False))
    assert not published.equals(aligned)
    assert published.sort(published.columns).equals(aligned.sort(published.columns))


@pytest.mark.parametrize("name", ["x.csv", "x"])
def test_avatars_have_the_format_of_the_data(tmp_path: Path, name: str) -> None:
    source = tmp_path / ("x.parquet" if name == "x" else name)
    write(table(), source)
    source.rename(tmp_path / name)
    done = run(tmp_path / name, tmp_path / "out", Avatarizer())
    assert done.avatars.name == ("avatars.csv" if name == "x.csv" else "avatars.parquet")
    assert read(done.avatars).frame.schema == table().schema


def test_avatars_are_written_as_the_data_were(tmp_path: Path) -> None:
    frame = table().with_columns(
        dose=pl.col("dose").cast(pl.String).str.replace(".", ",", literal=True)
    )
    frame = frame.with_columns(site=pl.when(pl.col("age") < 40).then(None).otherwise("site"))
    text = frame.write_csv(separator=";", null_value="NA", line_terminator="\r\n")
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    raw = run(tmp_path / "x.csv", tmp_path / "out", Avatarizer()).avatars.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfage;dose;arm;site;seen\r\n")
    cells = [line.split(b";") for line in raw.splitlines()[1:]]
    assert {row[3] for row in cells} == {b"NA", b"x", b"y", b"z"}
    assert all(b"," in row[1] or row[1].isdigit() for row in cells)


def test_results_of_another_kind_are_taken_away(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("avatars.parquet", "attack.json", "mine.txt"):
        (out / name).write_text("of an earlier run")
    (out / "private").mkdir()
    (out / "private" / "old.txt").write_text("of an earlier run")
    run(data, out, Avatarizer())
    assert files(out) == [
        "analyses.json",
        "audit.json",
        "avatars.csv",
        "mine.txt",
        *PRIVATE,
        "report.html",
        "run.json",
    ]


def test_several_avatars_a_person(data: Path, tmp_path: Path) -> None:
    done = run(data, tmp_path / "out", Avatarizer(augment=2))
    assert len(read(done.avatars).frame) == 2 * ROWS
    assert len(pl.read_parquet(done.folder / "private" / "aligned.parquet")) == 2 * ROWS
    assert done.audit.avatars == 2 * ROWS


def test_kept_dropped_and_replaced_columns(tmp_path: Path) -> None:
    frame = table().with_columns(
        code=pl.int_range(1000, 1000 + ROWS), name=pl.lit("n") + pl.col("site")
    )
    write(frame, tmp_path / "x.csv")
    done = run(
        tmp_path / "x.csv",
        tmp_path / "out",
        Avatarizer(keep=["site"], drop=["name"], id=["code"], weights={"age": 2.0}),
    )
    roles = {column["name"]: column["role"] for column in told(done.folder)["columns"]}
    assert roles == {
        **dict.fromkeys(["age", "dose", "arm", "seen"], "avatar"),
        "site": "keep",
        "code": "id",
        "name": "drop",
    }
    published = read(done.avatars).frame
    assert published.columns == ["age", "dose", "arm", "site", "seen", "code"]
    assert not set(published["code"]) & set(frame["code"])
    aligned = pl.read_parquet(done.folder / "private" / "aligned.parquet")
    assert aligned["site"].equals(frame["site"])
    shown = {entry["column"] for entry in told(done.folder)["figures"]["distributions"]}
    assert shown == {"age", "dose", "arm", "site", "seen"}


def test_people_who_take_no_part(data: Path, tmp_path: Path) -> None:
    write(table(seed=9), tmp_path / "aside.csv")
    done = run(data, tmp_path / "out", Avatarizer(), Options(holdout=tmp_path / "aside.csv"))
    assert done.audit.holdout == ROWS
    assert done.audit.privacy.distance_to_closest.control is not None


def test_the_people_themselves_are_not_set_aside(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is the table itself"):
        run(data, tmp_path / "out", Avatarizer(), Options(holdout=data))
    with pytest.raises(InputError, match="this is the table itself"):
        audit_files(
            data, data, AuditOptions(holdout=tmp_path / ".." / tmp_path.name / "people.csv")
        )


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_report_can_be_made_again(data: Path, tmp_path: Path, language: str) -> None:
    done = run(data, tmp_path / "out", Avatarizer(), Options(language=language))
    before = done.report.read_bytes()
    done.report.unlink()
    assert rebuild_report(done.folder, None, language) == done.report
    assert done.report.read_bytes() == before


@pytest.mark.parametrize(("method", "k"), [("exchangeable", 2), ("smoothed", 1)])
def test_what_fewer_than_five_share_is_not_shown_even_with_a_small_k(
    data: Path, tmp_path: Path, method: str, k: int
) -> None:
    done = run(data, tmp_path / "out", Avatarizer(k=k, method=method))
    shown = told(done.folder)["figures"]["distributions"]
    for entry in shown:
        assert all(share * ROWS / 100 > FEWEST_SHOWN - 1e-6 for share in entry["originals"])


def test_notes_are_kept(tmp_path: Path) -> None:
    frame = table().with_columns(seen=pl.col("seen").dt.strftime("%m/%Y"), nothing=None)
    (tmp_path / "x.csv").write_bytes(frame.write_csv().encode("cp1252").replace(b"x", b"\xe9"))
    done = run(tmp_path / "x.csv", tmp_path / "out", Avatarizer())
    written = [note.to_dict() for note in done.notes]
    assert "Windows-1252" in spoken(done.notes)[0]
    assert "column 'nothing' has no value at all" in spoken(done.notes)[1]
    assert told(done.folder)["warnings"] == written


# ---------------------------------------------------------------- names and places


NAMES = ["-x [1]*;.csv", "é 🩺\n.csv", " .csv.txt", "x" * 250]


@pytest.mark.parametrize("name", NAMES)
def test_files_of_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(table().write_csv())
    done = run(tmp_path / name, tmp_path / "out", Avatarizer())
    assert told(done.folder)["data"]["name"] == name


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no text are of Linux")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xe9.csv")
    (tmp_path / name).write_text(table().write_csv())
    done = run(tmp_path / name, tmp_path / os.fsdecode(b"out\xff"), Avatarizer())
    assert told(done.folder)["data"]["name"] == "\ufffd\ufffd.csv"


HOSTILE = ["<b>&\"'</script>", "🩺", "a\nb", "class", "x;y", "{{ 7 * 7 }}", "$&", "%s", "é"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_any_name(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.normal(size=ROWS) for name in HOSTILE})
    frame = frame.with_columns(**{HOSTILE[0]: rng.choice([f"{name} " for name in HOSTILE], ROWS)})
    write(frame, tmp_path / f"x.{suffix}")
    done = run(tmp_path / f"x.{suffix}", tmp_path / "out", Avatarizer(keep_anyway=["🩺"]))
    assert read(done.avatars).frame.columns == HOSTILE
    shown = told(done.folder)["figures"]["distributions"]
    assert {entry["column"] for entry in shown} == set(HOSTILE)
    page = done.report.read_text()
    assert "<b>&\"'</script>" not in page
    assert "7 * 7" in page
    assert "49" not in page.partition("{{ 7")[0][-20:]


def test_the_folder_may_hold_the_data(tmp_path: Path) -> None:
    write(table(), tmp_path / "people.csv")
    run(tmp_path / "people.csv", tmp_path, Avatarizer())
    assert read(tmp_path / "people.csv").frame.equals(table())


@pytest.mark.parametrize("name", ["avatars.csv", "run.json", "private/aligned.parquet"])
def test_the_data_are_not_overwritten(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(table().write_csv())
    for inputs in ((path, None), (tmp_path / "other.csv", path)):
        with pytest.raises(InputError, match=r"would (overwrite|replace)"):
            run(inputs[0], tmp_path, Avatarizer(), Options(holdout=inputs[1]))
    assert path.read_text() == table().write_csv()


def test_a_link_to_the_data_is_the_data(tmp_path: Path) -> None:
    write(table(), tmp_path / "people.csv")
    (tmp_path / "avatars.csv").symlink_to(tmp_path / "people.csv")
    with pytest.raises(InputError, match="would overwrite a file that is read"):
        run(tmp_path / "people.csv", tmp_path, Avatarizer())


@pytest.fixture
def mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("bits", [0o000, 0o027])
def test_private_is_its_owner_s_only(data: Path, tmp_path: Path, mask: None, bits: int) -> None:
    os.umask(bits)
    done = run(data, tmp_path / "out", Avatarizer())
    modes = {
        path.relative_to(done.folder).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in done.folder.rglob("*")
    }
    assert modes.pop("private") == 0o700
    for name, mode in modes.items():
        assert mode == (0o600 if name.startswith("private/") else 0o666 & ~bits)


# ---------------------------------------------------------------- tables of every shape


def shapes() -> dict[str, tuple[pl.DataFrame, dict[str, Any]]]:
    rng = np.random.default_rng(0)
    number, letter = rng.normal(size=ROWS), rng.choice(["x", "y", "z"], ROWS)
    tiny: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
        f"{rows} rows": (table(rows).select("dose", "age"), {"k": 2, "numeric": ["dose", "age"]})
        for rows in (3, 5, 9, 20)
    }
    return tiny | {
        "one number": (pl.DataFrame({"a": number}), {"components": 9}),
        "one component": (pl.DataFrame({"a": number, "b": letter}), {"components": 1}),
        "a constant number": (pl.DataFrame({"a": number, "b": [1.5] * ROWS}), {"numeric": ["b"]}),
        "nothing": (pl.DataFrame({"a": number, "b": [None] * ROWS}), {}),
        "nearly nothing": (
            pl.DataFrame({"a": number, "b": [None] * (ROWS - 3) + [1.0, 2.0, 3.0]}),
            {"numeric": ["b"]},
        ),
        "large whole numbers": (
            pl.DataFrame({"a": 2**60 + rng.integers(0, 10**6, ROWS), "b": number}),
            {},
        ),
        "very large and small": (
            pl.DataFrame({"a": number * 1e300, "b": number * 1e-300, "c": 1e6 + number * 1e-12}),
            {},
        ),
        "dates of no end": (
            pl.DataFrame(
                {"a": [dt.date(9999, 12, 31)] * 60 + table()["seen"].to_list()[60:], "b": number}
            ),
            {},
        ),
        "twins": (pl.DataFrame({"a": [1.0, 2.0, 3.0] * 40, "b": ["x", "y", "z"] * 40}), {}),
        "a level that all but two hold": (
            pl.DataFrame({"a": ["x"] * (ROWS - 2) + ["y", "z"], "b": number}),
            {},
        ),
        "k as large as can be": (table(), {"k": ROWS - 1, "min_level_count": 5}),
    }


@pytest.mark.parametrize("shape", shapes())
def test_any_shape_has_a_report(tmp_path: Path, shape: str) -> None:
    frame, options = shapes()[shape]
    write(frame, tmp_path / "x.parquet")
    done = run(tmp_path / "x.parquet", tmp_path / "out", Avatarizer(**options))
    assert read(done.avatars).frame.shape == frame.shape


def test_a_column_of_which_no_value_is_drawn_is_told(tmp_path: Path) -> None:
    frame, options = shapes()["nearly nothing"]
    write(frame, tmp_path / "x.parquet")
    done = run(tmp_path / "x.parquet", tmp_path / "out", Avatarizer(**options))
    assert any("'b': only 3 people have a value" in note for note in spoken(done.notes))
    assert read(done.avatars).frame["b"].null_count() == ROWS


def test_many_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {f"c{i}": rng.normal(size=60) if i % 3 else rng.choice(["x", "y"], 60) for i in range(100)}
    )
    write(frame, tmp_path / "x.csv")
    done = run(tmp_path / "x.csv", tmp_path / "out", Avatarizer())
    assert read(done.avatars).frame.shape == frame.shape


# ---------------------------------------------------------------- single files


def test_avatarize_leaves_the_link_to_its_owner(data: Path, tmp_path: Path) -> None:
    out, link = tmp_path / "a.csv", tmp_path / "l.parquet"
    notes = avatarize_file(data, out, Avatarizer(), aligned=link)
    assert {note.kind for note in notes} <= {"levels_lost", "share_moved"}
    assert sys.platform == "win32" or stat.S_IMODE(link.stat().st_mode) == 0o600
    assert read(out).frame.shape == read(link).frame.shape == table().shape


def test_audit_of_files_in_two_formats(data: Path, tmp_path: Path) -> None:
    write(table(), tmp_path / "same.parquet")
    found = audit_files(
        data,
        tmp_path / "same.parquet",
        AuditOptions(aligned=True),
        metrics=tmp_path / "a.json",
        page=tmp_path / "a.html",
    )
    assert found.privacy.hidden_rate.value == 0
    assert json.loads((tmp_path / "a.json").read_text())["rows"] == ROWS
    assert "people.csv" in (tmp_path / "a.html").read_text()
