"""What leaves with a run's folder: no seed, no link, nothing that fewer than k people share."""

from __future__ import annotations

import base64
import datetime as dt
import getpass
import hashlib
import hmac
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr

from sosie.audits.comparison import Comparison
from sosie.data.files import read, write
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.audit import audit_files
from sosie.jobs.avatarize import avatarize_file
from sosie.jobs.description import FEWEST_SHOWN
from sosie.jobs.run import Options, run

ROWS = 400
USER = "quillon_the_user"
RARE = "Wolfram syndrome"
RARE_ASIDE = "Fabry disease"
EXTREME = 987654.25
UNIQUE_AGE = 117
DAY = dt.date(1903, 5, 17)
LAST = dt.date(2019, 11, 23)


def people() -> pl.DataFrame:
    """Patients; a few hold what nobody else does."""
    rng = np.random.default_rng(11)
    age = rng.integers(30, 80, ROWS)
    age[17] = UNIQUE_AGE
    weight = rng.normal(80_000, 9_000, ROWS).round(2)
    weight[99] = EXTREME
    illness = rng.choice(["asthma", "diabetes", "gout"], ROWS).astype(object)
    illness[[5, 250]] = RARE
    born = [dt.date(1940, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 20_000, ROWS)]
    born[321], born[322] = DAY, LAST
    return pl.DataFrame(
        {
            "age": age,
            "weight": weight,
            "illness": illness.tolist(),
            "born": born,
            "marker": rng.lognormal(3, 1, ROWS).round(6),
            "group": rng.choice(["A", "B"], ROWS),
        }
    )


@dataclass(frozen=True)
class Done:
    """A run and what it must not tell."""

    folder: Path
    originals: pl.DataFrame
    aligned: pl.DataFrame
    published: pl.DataFrame
    seed: int

    @property
    def public(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if path.is_file()]

    def text(self) -> str:
        """All that stands outside ``private/``, as text."""
        return "\n".join(text_of(path) for path in self.public)

    def content(self) -> list[Any]:
        return [json.loads(p.read_text()) for p in self.public if p.suffix == ".json"]


def text_of(path: Path) -> str:
    """The file as text, without the drawing library that the report carries."""
    if path.suffix == ".parquet":
        return read(path).frame.write_csv()
    return re.sub(r"[A-Za-z0-9+/=]{100000,}", "", path.read_text())


@pytest.fixture(scope="module", params=["csv", "parquet"])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("place_of_work")
    data = folder / f"people.{request.param}"
    frame = people()
    write(frame, data)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
            patched.setenv(name, USER)
        assert getpass.getuser() == USER
        aside = None
        if request.param == "parquet":  # this one also has people who take no part
            aside = folder / "aside.parquet"
            others = frame[::-1].with_columns(pl.col("age", "weight").shuffle(seed=1))
            write(others.with_columns(pl.col("illness").replace(RARE, RARE_ASIDE)), aside)
        made = run(data, folder / "out", Avatarizer(), Options(holdout=aside))
    private = folder / "out" / "private"
    return Done(
        folder / "out",
        frame,
        pl.read_parquet(private / "aligned.parquet"),
        read(made.avatars).frame,
        int((private / "seed").read_text()),
    )


def numbers_in(content: Any) -> Iterator[float]:
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        for item in content:
            yield from numbers_in(item)
    elif isinstance(content, int | float):
        yield float(content)


def lists_in(content: Any) -> Iterator[list[float]]:
    """Lists of numbers as long as the table."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        if len(content) >= ROWS and all(isinstance(item, int | float) for item in content):
            yield content
        for item in content:
            yield from lists_in(item)


# ---------------------------------------------------------------- the seed


def test_the_seed_is_in_private_and_nowhere_else(done: Done) -> None:
    assert done.seed.bit_length() > 64
    width = (done.seed.bit_length() + 7) // 8
    forms = {
        str(done.seed),
        f"{done.seed:x}",
        *(
            base64.b64encode(done.seed.to_bytes(width, order)).decode()
            for order in ("big", "little")
        ),  # type: ignore[arg-type]
    }
    text = done.text().lower()
    assert not [form for form in forms if form.lower() in text]
    for path in done.public:
        raw = path.read_bytes()
        assert done.seed.to_bytes(width, "big") not in raw
        assert done.seed.to_bytes(width, "little") not in raw
    assert "seed" not in json.dumps(done.content())


def test_a_given_seed_is_not_told(tmp_path: Path) -> None:
    write(people(), tmp_path / "x.csv")
    run(tmp_path / "x.csv", tmp_path / "out", Avatarizer(seed=918273645564738291))
    for path in (tmp_path / "out").iterdir():
        if path.is_file():
            assert "918273645564738291" not in path.read_text()
            assert "cbe61cf1fed7b33" not in path.read_text().lower()


def test_runs_without_a_seed_differ(tmp_path: Path) -> None:
    write(people(), tmp_path / "x.csv")
    made = [Avatarizer(), Avatarizer()]
    for avatarizer, name in zip(made, ("one.csv", "two.csv"), strict=True):
        avatarize_file(tmp_path / "x.csv", tmp_path / name, avatarizer)
    assert (tmp_path / "one.csv").read_text() != (tmp_path / "two.csv").read_text()
    assert made[0].secrets.seed != made[1].secrets.seed


# ---------------------------------------------------------------- what few people hold


def test_nothing_that_fewer_than_k_hold_is_told(done: Done) -> None:
    text = done.text()
    for value in (
        RARE,
        "Wolfram",
        "Fabry",
        EXTREME,
        "987,654",
        "987654",
        DAY.isoformat(),
        LAST.isoformat(),
    ):
        assert str(value) not in text
    assert not re.search(r"\b1903-|/1903\b", text)
    ages = re.findall(rf"(?<![0-9.]){UNIQUE_AGE}(?![0-9.])", json.dumps(done.content()))
    assert not ages
    assert UNIQUE_AGE not in done.published["age"]


def test_no_value_of_one_person_is_told(done: Done) -> None:
    """Each marker is one person's own, to six decimals.

    The k-th from either end bounds the smoothed avatars, as the method says; no other appears.
    """
    shown = set(re.findall(r"[0-9]+[.][0-9]{4,6}(?![0-9])", done.text()))
    markers = sorted(done.originals["marker"])
    bounds = {markers[FEWEST_SHOWN - 1], markers[-FEWEST_SHOWN]}
    assert not shown & {str(value) for value in markers if value not in bounds}


def test_no_coordinate_of_an_original_is_told(done: Done) -> None:
    points = Comparison.of(done.originals, done.aligned, aligned=True).original_points
    told = np.array(sorted({x for content in done.content() for x in numbers_in(content)}))
    own = np.abs(points).ravel()
    place = np.searchsorted(told, own).clip(1, len(told) - 1)
    away = np.minimum(np.abs(told[place] - own), np.abs(told[place - 1] - own))
    assert away.min() > 1e-9


def test_every_bin_and_level_holds_k_people(done: Done) -> None:
    told = next(c for c in done.content() if c["schema"].startswith("sosie/run"))
    for entry in told["figures"]["distributions"]:
        assert entry["originals"]
        for share in entry["originals"]:
            assert share * ROWS / 100 >= FEWEST_SHOWN - 1e-6
        column = done.originals[entry["column"]]
        if "edges" in entry:
            shown = {str(edge) for edge in entry["edges"]}
            assert not shown & {str(value) for value in column.to_list()}
            assert str(entry["edges"][0]) != str(column.min())
        else:
            assert RARE not in entry["levels"]
    counts = [c for row in told["figures"]["projection"]["originals"]["counts"] for c in row]
    assert all(count is None or count >= FEWEST_SHOWN for count in counts)
    illness = next(e for e in told["figures"]["distributions"] if e["column"] == "illness")
    assert (illness["rare_levels"], illness["rare"]["originals"]) == (1, None)


def test_the_file_of_avatars_holds_only_their_values(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No category, statistic or note of Parquet keeps what the originals held."""
    plain = partialmethod(pl.DataFrame.write_parquet, compression="uncompressed")
    monkeypatch.setattr(pl.DataFrame, "write_parquet", plain)
    frame = done.originals.with_columns(
        illness=pl.col("illness").cast(pl.Categorical),
        group=pl.col("group").cast(pl.Enum(["A", "B", "declared"])),
        more=pl.col("illness").cast(pl.Enum([RARE, "asthma", "diabetes", "gout"])),
    )
    for made in (Avatarizer().fit(frame).release(), Avatarizer().fit(frame.to_arrow()).release()):
        write(pl.DataFrame(made), tmp_path / "x.parquet")
        raw = (tmp_path / "x.parquet").read_bytes()
        decoded = b"".join(
            base64.b64decode(part)
            for part in re.findall(rb"[A-Za-z0-9+/]{80,}={0,2}", raw)
            if len(part) % 4 == 0
        )
        for word in (RARE, str(DAY), USER, str(done.folder.parent)):
            assert word.encode() not in raw + decoded
        assert b"asthma" in raw
        days = (DAY - dt.date(1970, 1, 1)).days
        assert days.to_bytes(4, "little", signed=True) not in raw
        assert np.float64(EXTREME).tobytes() not in raw


# ---------------------------------------------------------------- whose is whose


def chance(rows: int) -> float:
    """Rank correlations of shuffled rows are smaller, but for one in a million."""
    return 5 / math.sqrt(rows)


def ranks_of(published: pl.DataFrame, aligned: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Where each published avatar stands in the aligned table."""
    names = published.columns
    keyed = aligned.with_row_index("row").unique(names, keep="none")
    return published.join(keyed, on=names, how="inner", maintain_order="left")["row"].to_numpy()


def test_the_order_of_the_avatars_says_nothing(done: Done) -> None:
    rows = ranks_of(done.published, done.aligned)
    assert len(rows) > 0.9 * ROWS
    assert abs(spearmanr(rows, np.arange(len(rows))).statistic) < chance(len(rows))
    apart = np.abs(np.diff(rows))
    assert (apart == 1).sum() < 10  # neighbours in one order are not neighbours in the other
    for name in ("age", "weight", "marker"):
        found = spearmanr(done.published[name], done.originals[name]).statistic
        assert abs(found) < chance(ROWS), name


def test_the_avatars_drawn_in_the_report_stand_in_yet_another_order(done: Done) -> None:
    compared = Comparison.of(done.originals, done.aligned, aligned=True)
    told = next(c for c in done.content() if c["schema"].startswith("sosie/run"))
    points = told["figures"]["projection"]["avatars"]
    for axis, name in enumerate("xy"):
        assert sorted(points[name]) == sorted(compared.avatar_points[:, axis].round(3))
        for order in (compared.avatar_points[:, axis], compared.original_points[:, axis]):
            assert abs(spearmanr(points[name], order).statistic) < chance(ROWS)


def test_no_list_is_in_the_order_of_the_originals(done: Done) -> None:
    for content in done.content():
        for found in lists_in(content):
            for name in ("age", "weight", "marker"):
                rho = spearmanr(found[:ROWS], done.originals[name]).statistic
                assert not abs(rho) > chance(ROWS)


def test_a_release_is_in_the_order_of_none_of_the_others(tmp_path: Path) -> None:
    avatarizer = Avatarizer(augment=2, id=("code",)).fit(
        people().with_columns(code=pl.int_range(5000, 5000 + ROWS))
    )
    first, second = (avatarizer.release(r) for r in (0, 1))
    for release in (first, second):
        assert len(release) == 2 * ROWS
        assert not set(release["code"]) & set(range(5000, 5000 + ROWS))
        order = np.arange(2 * ROWS)
        assert abs(spearmanr(release["code"], order).statistic) < chance(2 * ROWS)
    rho = spearmanr(first["weight"], second["weight"]).statistic
    assert abs(rho) < chance(2 * ROWS)
    aligned = avatarizer.release(shuffle=False)
    assert abs(spearmanr(aligned["code"], np.arange(2 * ROWS)).statistic) < chance(2 * ROWS)


# ---------------------------------------------------------------- whose machine


def test_no_path_and_no_user_is_told(done: Done) -> None:
    text = done.text()
    for word in (USER, str(done.folder), done.folder.parent.name, str(Path.home())):
        if len(word) > 5:  # "/root" is a word of style sheets
            assert word not in text
    for path in done.public:
        raw = path.read_bytes()
        assert USER.encode() not in raw
        assert done.folder.parent.name.encode() not in raw


def test_an_audit_tells_no_more(tmp_path: Path) -> None:
    frame = people()
    write(frame, tmp_path / "people.csv")
    write(Avatarizer().fit(frame).release(), tmp_path / "avatars.csv")
    audit_files(
        tmp_path / "people.csv",
        tmp_path / "avatars.csv",
        metrics=tmp_path / "a.json",
        page=tmp_path / "a.html",
    )
    text = text_of(tmp_path / "a.json") + text_of(tmp_path / "a.html")
    for word in (RARE, str(EXTREME), DAY.isoformat(), "1903-", str(tmp_path)):
        assert word not in text


WATCHED = """
import json, sys
from pathlib import Path

written, sent = set(), []

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str | bytes | Path):
        mode, flags = arguments[1], arguments[2]
        if (mode and set(mode) & set("wax+")) or flags & 3:
            written.add(str(arguments[0]))
    elif event in ("os.mkdir", "os.rename", "os.link", "os.symlink"):
        written.update(str(path) for path in arguments[:2] if isinstance(path, str | Path))
    elif event.startswith(("socket.", "urllib", "http", "ftplib", "smtplib")):
        sent.append(event)
        raise OSError("the network is closed")

sys.addaudithook(watch)
from sosie.cli import status_of
status = status_of(sys.argv[1:])
print(json.dumps([status, sorted(written), sent]))
"""


SLOW = ("demo", "audit", "tune", "report")

OUTPUTS = {
    "run": "run x.csv -o out",
    "avatarize": "avatarize x.csv -o out/y.parquet --aligned out/z.csv",
    "audit": "audit x.csv y.csv --json out/a.json --html out/a.html",
    "attack": "attack x.csv --releases 3 --estimator published --resume out/kept --seed 3"
    " --json out/a.json --html out/a.html",
    "tune": "tune x.csv --k 3 --method smoothed --components 3 --resume out --json out/t.json"
    " --html out/t.html",
    "report": "report made -o out/r.html --pia out/p.json --json out/j.json",
    "demo": "demo -o out",
}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people, avatars of them, and a run."""
    folder = tmp_path_factory.mktemp("workplace")
    write(people(), folder / "x.csv")
    avatarize_file(folder / "x.csv", folder / "y.csv", Avatarizer())
    run(folder / "x.csv", folder / "made", Avatarizer())
    return folder


@pytest.mark.parametrize(
    "command",
    [pytest.param(c, marks=[pytest.mark.slow] * (c in SLOW)) for c in OUTPUTS],
)
def test_everything_is_written_inside_the_folder_and_nothing_is_sent(
    workplace: Path, tmp_path: Path, command: str
) -> None:
    """Any use of the network would end the command."""
    for source in workplace.iterdir():
        (tmp_path / source.name).symlink_to(source)
    (tmp_path / "out").mkdir()
    (tmp_path / "empty").mkdir()
    words = [
        str(tmp_path / word)
        if word.partition("/")[0] in ("out", "made", "x.csv", "y.csv")
        else word
        for word in OUTPUTS[command].split()
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED, *words],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path / "empty",
    )
    status, written, sent = json.loads(done.stdout.splitlines()[-1])
    assert (status, sent) == (0, []), done.stderr
    assert written
    for path in map(Path, written):
        assert path.is_relative_to(tmp_path / "out"), path
    assert list((tmp_path / "empty").iterdir()) == []
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".sosie-")]


# ---------------------------------------------------------------- which table it was


def digests(raw: bytes) -> set[str]:
    """What anyone could compute of a guessed file."""
    found = set()
    for name in ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s", "sha3_256"):
        digest = hashlib.new(name, raw).digest()
        found |= {digest.hex(), base64.b64encode(digest).decode()}
    return found


def test_a_guess_at_one_person_can_not_be_confirmed(done: Done) -> None:
    """Whoever knows all people but one, and the file's layout, learns nothing from a digest."""
    data = next(path for path in done.folder.parent.iterdir() if path.stem == "people")
    text = done.text().lower()
    assert not [found for found in digests(data.read_bytes()) if found.lower() in text]
    told = json.loads((done.folder / "run.json").read_text())["data"]["fingerprint"]
    source = dict(
        line.split() for line in (done.folder / "private" / "source.txt").read_text().splitlines()
    )
    assert source["sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
    keyed = hmac.new(source["key"].encode(), source["sha256"].encode(), "sha256")
    assert told == keyed.hexdigest()
    assert source["key"] not in text
    assert source["sha256"] not in text


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_private_is_its_owner_s(done: Done) -> None:
    private = done.folder / "private"
    assert private.stat().st_mode & 0o777 == 0o700
    for path in private.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path


# ---------------------------------------------------------------- dataframes


def test_no_index_and_no_category_of_the_originals_comes_back() -> None:
    frame = people().to_pandas().set_index(pd.Index([f"person {i}" for i in range(ROWS)]))
    frame["illness"] = frame["illness"].astype("category")
    made = Avatarizer().fit(frame).release()
    assert made.index.equals(pd.RangeIndex(ROWS))
    assert set(made["illness"].cat.categories) == {"asthma", "diabetes", "gout"}
    assert not made.attrs
    levels = people().with_columns(pl.col("illness").cast(pl.Categorical))
    arrow = levels.to_arrow().replace_schema_metadata({"author": USER})
    for published in (
        Avatarizer().fit(levels).release().to_arrow(),
        Avatarizer().fit(arrow).release(),
    ):
        buffer = pa.BufferOutputStream()
        with pa.ipc.new_stream(buffer, published.schema) as stream:
            stream.write_table(published)
        raw = buffer.getvalue().to_pybytes()
        assert b"gout" in raw
        for word in (RARE, USER):
            assert word.encode() not in raw, word


def test_what_a_file_of_parquet_says_of_itself(done: Done) -> None:
    """Who wrote it, and the least and greatest of each column: of the avatars alone."""
    files = [path for path in done.public if path.suffix == ".parquet"]
    for path in files:
        told = pq.read_metadata(path)
        assert "Polars" in told.created_by
        assert USER not in str(told.metadata)
        for group in range(told.num_row_groups):
            for place in range(told.num_columns):
                column = told.row_group(group).column(place)
                if column.statistics is not None and column.statistics.has_min_max:
                    held = done.published[column.path_in_schema]
                    assert column.statistics.min >= held.min()  # type: ignore[operator]
                    assert column.statistics.max <= held.max()  # type: ignore[operator]
    assert files or done.folder.parent.joinpath("people.csv").exists()
