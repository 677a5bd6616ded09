"""Metrics of Dask dataframes: the same figures as on one machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import cluster_sizes
import numpy as np
import pandas as pd
import polars as pl
import pytest

from sosie import Avatarizer, audit
from sosie.audits.audit import AuditOptions
from sosie.audits.privacy import local_cloaking
from sosie.audits.reasons import NOT_ALIGNED, NOT_ON_CLUSTER
from sosie.audits.registry import DEFINITIONS
from sosie.audits.results import Audit
from sosie.cli import status_of
from sosie.data.table import Roles
from sosie.errors import InputError, Reason

dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::sosie.errors.SosieWarning")

ON_CLUSTER = tuple(d.key for d in DEFINITIONS if d.gathered is not None)


@pytest.fixture(autouse=True)
def scheduler() -> Iterator[None]:
    import dask

    with dask.config.set(scheduler="threads"):
        yield


def people(rows: int = 500) -> pd.DataFrame:
    """Every kind of column, missing values, rare levels, ties and twins."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, rows).round(1),
            "weight": np.where(
                rng.random(rows) < 0.1, np.nan, rng.lognormal(4, 0.3, rows).round(1)
            ),
            "visits": rng.integers(0, 30, rows),
            "sex": pd.Series(rng.choice(["F", "M"], rows), dtype="string[pyarrow]"),
            "site": pd.Series(rng.choice(list("abcdef"), rows), dtype="category"),
            "town": pd.Series(["here", None, "there"] * rows, dtype="string[pyarrow]")[:rows],
            "smoker": rng.random(rows) < 0.3,
            "born": pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(0, 9_000, rows), "D"),
        }
    )
    frame.loc[[3, 12], "town"] = "nowhere"
    return pd.concat([frame, frame.iloc[:80], frame.iloc[:40]], ignore_index=True)


def avatars_of(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
    made: pd.DataFrame = Avatarizer(**options, seed=1).fit(frame).release(shuffle=False)
    return made


def odd(frame: pd.DataFrame) -> pd.DataFrame:
    """Avatars with new levels, missing values of their own, other types, and copies of people."""
    made = avatars_of(frame, min_level_count=1).copy()
    made["town"] = made["town"].astype(object)
    made.loc[5:20, "town"] = "elsewhere"
    made.loc[30:60, "age"] = np.nan
    made.loc[70:130, made.columns] = frame.loc[70:130].astype({"town": object})
    made["visits"] = made["visits"].astype(float)
    return made[[*made.columns[::-1]]]


def lattice(rows: int = 400) -> pd.DataFrame:
    """Few distinct people: more than 32 avatars are tied at every distance."""
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.choice(["a", "b"], rows) for name in "uvwx"}).astype(
        "string[pyarrow]"
    )


def mixed_up(frame: pd.DataFrame) -> pd.DataFrame:
    """Everyone's avatar is somebody else: far more than 32 stand closer."""
    return frame.sample(frac=1, random_state=2).reset_index(drop=True)


def islands() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Avatars where there is nobody, so that regions hold the ones or the others."""
    rng = np.random.default_rng(4)
    one, other = rng.normal(0, 1, (300, 3)), rng.normal(9, 1, (300, 3))
    return pd.DataFrame(one, columns=list("abc")), pd.DataFrame(other, columns=list("abc"))


PAIRS = {
    "people": (people(), avatars_of(people())),
    "odd": (people(), odd(people())),
    "lattice": (lattice(), avatars_of(lattice())),
    "mixed up": (people(), mixed_up(people())),
    "islands": islands(),
    "augmented": (people(300), avatars_of(people(300), augment=3)),
    "few": (people(20).iloc[:9], people(20).iloc[1:10]),
}


def cut(frame: pd.DataFrame, parts: int) -> Any:
    """A Dask dataframe of uneven partitions, one of them empty."""
    rng = np.random.default_rng(parts)
    ends = sorted([0, *rng.integers(0, len(frame), parts - 1), len(frame)])
    pieces = [frame.iloc[a:b] for a, b in pairwise(ends)]
    pieces.insert(len(pieces) // 2, frame.iloc[:0])
    return of_pieces(pieces)


def of_pieces(pieces: list[pd.DataFrame]) -> Any:
    from dask import delayed

    made = [delayed(piece) for piece in pieces]
    return dd.from_delayed(made, meta=pieces[0].iloc[:0], verify_meta=False)


def measured_here(originals: pd.DataFrame, avatars: pd.DataFrame, **options: Any) -> Audit:
    return audit(originals, avatars, **{"metrics": ON_CLUSTER, **options})


def check_the_same(there: Audit, here: Audit) -> None:
    assert (there.rows, there.columns, there.avatars) == (here.rows, here.columns, here.avatars)
    assert (there.aligned, there.components) == (here.aligned, here.components)
    assert there.notes == here.notes
    found, expected = ({**told.privacy, **told.utility} for told in (there, here))
    assert expected.keys() <= found.keys()
    for key, metric in found.items():
        if key not in ON_CLUSTER:
            assert (metric.value, metric.reason) == (None, NOT_ON_CLUSTER), key
            continue
        for name in ("value", "ci", "met", "target", "reason", "control", "detail", "columns"):
            assert getattr(metric, name) == getattr(expected[key], name), (key, name)
        assert not metric.by_person, key


@pytest.fixture(scope="module", params=PAIRS)
def pair(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, pd.DataFrame, Audit]:
    originals, avatars = PAIRS[request.param]
    return originals, avatars, measured_here(originals, avatars, aligned=True)


def test_the_same_figures_as_on_one_machine(
    pair: tuple[pd.DataFrame, pd.DataFrame, Audit],
) -> None:
    originals, avatars, here = pair
    check_the_same(audit(cut(originals, 7), cut(avatars, 5), aligned=True), here)


def test_the_same_figures_for_any_partition() -> None:
    originals, avatars = PAIRS["odd"]
    here = measured_here(originals, avatars, aligned=True)
    for parts in (1, 2):
        check_the_same(audit(cut(originals, parts), cut(avatars, 3 - parts), aligned=True), here)


def test_tables_that_are_not_aligned() -> None:
    originals, avatars = people(), odd(people()).iloc[:333]
    options: dict[str, Any] = {
        "roles": Roles(drop=("visits",), categorical=("age",)),
        "options": AuditOptions(components=2),
    }
    here = measured_here(originals, avatars, **options)
    there = audit(cut(originals, 3), cut(avatars, 2), **options)
    check_the_same(there, here)
    for key in ("column_direct_match_protection", "hidden_rate", "local_cloaking"):
        assert there.privacy[key].reason == NOT_ALIGNED


@pytest.mark.parametrize("sample", [150, 5_000])
def test_farther_avatars_are_counted_for_the_same_sample(
    monkeypatch: pytest.MonkeyPatch, sample: int
) -> None:
    monkeypatch.setattr(local_cloaking, "MOST_COUNTED", sample)
    monkeypatch.setattr(local_cloaking, "SAMPLE", sample)
    originals, avatars = people(), mixed_up(people())
    here = measured_here(originals, avatars, aligned=True, metrics=["local_cloaking"])
    there = audit(cut(originals, 4), cut(avatars, 5), aligned=True, metrics=["local_cloaking"])
    assert here.privacy.local_cloaking.value > 32
    assert ("sample" in here.privacy.local_cloaking.detail) == (sample == 150)
    check_the_same(there, here)


def test_people_who_are_all_alike() -> None:
    """There is no space: what needs none is measured."""
    originals = pd.DataFrame({"a": ["x"] * 40, "b": [1.5] * 40}).astype({"a": "string[pyarrow]"})
    avatars = originals.assign(b=[1.5] * 20 + [2.5] * 20)
    for made in (originals, avatars, avatars.iloc[20:]):
        here = measured_here(originals, made)
        check_the_same(audit(cut(originals, 3), cut(made, 2)), here)
    one, other = originals.iloc[:1], avatars.iloc[20:21]
    check_the_same(audit(cut(one, 1), cut(other, 1)), measured_here(one, other))
    assert here.privacy.row_direct_match_protection.value == 100
    assert here.privacy.distance_to_closest.reason == Reason("nothing_varies")


def test_what_can_not_be_compared_is_named() -> None:
    originals, avatars = people(100), people(100)
    one, other = cut(originals, 2), cut(avatars, 3)
    with pytest.raises(InputError, match="220 originals and 219 avatars"):
        audit(one, cut(avatars.iloc[1:], 2), aligned=True)
    with pytest.raises(InputError, match="the second table lacks column 'age'"):
        audit(one, cut(avatars.drop(columns="age"), 2))
    with pytest.raises(InputError, match="has column 'more' that the first lacks"):
        audit(one, cut(avatars.assign(more=1), 2))
    with pytest.raises(InputError, match="no column 'agee'; did you mean 'age'"):
        audit(one, other, drop=["agee"])
    with pytest.raises(InputError, match="no column is left to compare"):
        audit(one, other, drop=list(originals.columns))
    with pytest.raises(InputError, match="the avatars have no rows"):
        audit(one, cut(avatars.iloc[:0], 1))
    with pytest.raises(InputError, match="one table is a Dask dataframe and the other is not"):
        audit(one, avatars)
    with pytest.raises(InputError, match="set aside are not compared on a cluster"):
        audit(one, other, holdout=avatars)
    with pytest.raises(InputError, match="second table, column 'age', row 1: 'old'"):
        audit(one, cut(avatars.assign(age="old"), 2))
    with pytest.raises(InputError, match="there is no column 'agee' to compare"):
        audit(one, other, options=AuditOptions(known=["agee"]))


def test_partitions_that_differ_are_named() -> None:
    frame = people(100)
    text = frame.assign(age=frame["age"].astype(str))
    lacks = frame.drop(columns="age")
    for pieces, told in (([frame, text], "partition 1: column 'age'"), ([frame, lacks], "'age'")):
        with pytest.raises(InputError, match=f"originals.*{told}"):
            audit(of_pieces(pieces), cut(pd.concat([frame, frame]), 2))
        with pytest.raises(InputError, match=f"avatars.*{told}"):
            audit(cut(pd.concat([frame, frame]), 2), of_pieces(pieces))


def test_names_that_are_no_text() -> None:
    originals = people(150)[["age", "visits", "sex"]]
    for names in ([0, 1, 2], ["a b", "c0", "__place__"]):
        one, other = originals.copy(), avatars_of(originals)
        one.columns = other.columns = pd.Index(names, tupleize_cols=False)
        here = measured_here(one, other, aligned=True)
        check_the_same(audit(cut(one, 2), cut(other, 2), aligned=True), here)


def test_dask_knows_the_size_of_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    from sosie.cluster import audit as engine
    from sosie.cluster import columns as alike

    sizes = cluster_sizes.noted(monkeypatch, engine, alike)
    rows = 5_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(3)})
    audit(cut(frame, 3), cut(frame + 1e-3, 3), aligned=True, metrics=ON_CLUSTER)
    floats = 8 * rows
    least = {
        "_cut": 6 * floats,  # three columns of two tables
        "_located": 15 * floats,  # place, number, three coordinates, two hashes; one to their own
        "region_of_part": 13 * floats,
        "near": 34 * floats,  # to 32 avatars, and to two originals
        "asks": floats,
        "crowd_of": 4 * floats,
        "closest": 2 * floats,
    }
    assert {name: sizes.get(name, 0) >= size for name, size in least.items()} == dict.fromkeys(
        least, True
    ), sizes


# ---------------------------------------------------------------- files


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """People in 12 files, which sort differently as text, and aligned avatars in 5."""
    frame = pl.from_pandas(people(200).drop(columns="site"))
    made = Avatarizer(seed=1).fit(frame).release(shuffle=False)
    for name, table, parts in (("people", frame, 12), ("aligned", made, 5)):
        (tmp_path / name).mkdir()
        size = -(-len(table) // parts)
        for part in range(parts):
            rows = table[part * size : (part + 1) * size]
            rows.write_parquet(tmp_path / name / f"part-{part:02d}.parquet")
    return tmp_path / "people", tmp_path / "aligned"


@contextmanager
def nobody(**_: object) -> Iterator[None]:
    yield


def told_by(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text())
    return {
        key: metric
        for key, metric in {**told["privacy"], **told["utility"]}.items()
        if key in ON_CLUSTER
    }


def test_the_command_measures_files(
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("dask.distributed.Client", nobody)
    words = ["audit", *map(str, folders), "--aligned", "--drop", "visits"]
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    assert status_of([*words, "--json", str(here)]) == 0
    assert status_of([*words, "--json", str(there), "--scheduler", "local"]) == 0
    assert told_by(there) == told_by(here)
    assert "not computed on a cluster" in " ".join(capfd.readouterr().out.split())
    for more in (["--html", str(tmp_path / "a.html")], ["--what-if-kept"], ["--holdout", "x.csv"]):
        assert status_of([*words, "--scheduler", "local", *more]) == 2
        assert f"{more[0]} is not for a cluster" in capfd.readouterr().err
    broken = folders[1] / "part-03.parquet"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:4] + bytes(len(whole) - 300) + whole[-296:])
    assert status_of([*words, "--scheduler", "local"]) == 2
    assert "part-03.parquet: not a readable Parquet file" in capfd.readouterr().err
    broken.unlink()
    assert status_of([*words, "--scheduler", "local"]) == 2
    assert "as many as the originals, or a whole multiple" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_real_cluster(folders: tuple[Path, Path], tmp_path: Path) -> None:
    import dask
    from dask.distributed import LocalCluster

    words = ["audit", *map(str, folders), "--aligned"]
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    assert status_of([*words, "--json", str(here)]) == 0
    options: dict[str, Any] = {"processes": True, "dashboard_address": None}
    with (
        dask.config.set(scheduler=None),
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
    ):
        more = ["--json", str(there), "--scheduler", cluster.scheduler.address]
        assert status_of([*words, *more]) == 0
    assert told_by(there) == told_by(here)
    assert status_of([*words, "--scheduler", "tcp://127.0.0.1:9"]) == 2


def test_rows_that_mirror_each_other_are_not_the_same_row() -> None:
    """Signs turned around everywhere: no whole row is found again, here or there."""
    numbers = np.arange(60)
    one = pd.DataFrame({"x": numbers + 5, "y": 262_144 + 2 * numbers})
    other = pd.DataFrame({"x": -one["x"], "y": -(one["y"] + 1)})
    found = [
        audit(*tables, aligned=True, metrics=["row_direct_match_protection"])
        for tables in (
            (one, other),
            tuple(dd.from_pandas(frame, npartitions=1) for frame in (one, other)),
        )
    ]
    assert [some.privacy.row_direct_match_protection.value for some in found] == [100.0, 100.0]


def test_an_enum_of_more_levels_than_are_shown_is_no_news(tmp_path: Path) -> None:
    from sosie.cluster.audit import spread
    from sosie.data.parquet import Scan

    levels = pl.Enum(["a", "b", "c"])
    frame = pl.DataFrame({"e": pl.Series(["a", "b", "c"] * 20, dtype=levels), "x": range(60)})
    for name, rows in (("one", frame), ("other", frame[::-1])):
        rows.write_parquet(tmp_path / f"{name}.parquet")
    scans = [Scan.of(tmp_path / f"{name}.parquet") for name in ("one", "other")]
    assert not [note for note in spread(*scans).notes if note.values.get("column") == "e"]
