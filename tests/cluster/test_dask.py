"""A Dask dataframe gives the same avatars as one machine, byte for byte."""

from __future__ import annotations

import datetime as dt
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import cluster_sizes
import numpy as np
import pandas as pd
import pytest

from sosie import Avatarizer, SosieWarning
from sosie.errors import InputError

dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::sosie.errors.SosieWarning")


@pytest.fixture(autouse=True, params=["threads"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[None]:
    import dask

    with dask.config.set(scheduler=request.param):
        yield


def people(rows: int = 2_000, seed: int = 0) -> pd.DataFrame:
    """Every kind of column, missing values, ties and twins."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, rows).round(1),
            "weight": np.where(
                rng.random(rows) < 0.1, np.nan, rng.lognormal(4, 0.3, rows).round(1)
            ),
            "visits": rng.integers(0, 200, rows),
            "spiky": np.where(rng.random(rows) < 0.4, 0, rng.exponential(size=rows).round(3)),
            "sex": pd.Series(rng.choice(["F", "M"], rows), dtype="string[pyarrow]"),
            "site": pd.Series(rng.choice(list("abcdef"), rows), dtype="category"),
            "smoker": rng.random(rows) < 0.3,
            "born": pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(0, 9_000, rows), "D"),
        }
    )
    return pd.concat([frame, frame.iloc[:300], frame.iloc[:150]], ignore_index=True)


def lattice(rows: int = 900) -> pd.DataFrame:
    """Few distinct people, most of them many times, all at a few distances from each other."""
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.choice(["a", "b", "c"], rows) for name in "uvwxy"}).astype(
        "string[pyarrow]"
    )


TABLES = {
    "people": people(),
    "lattice": lattice(),
    "twins": people(60).iloc[:40].reset_index(drop=True),
}


def of_neighbours(**options: Any) -> Avatarizer:
    """An avatarizer of a method that draws from neighbours."""
    return Avatarizer(**{"method": "smoothed", "constraints": False, **options})


def pooled(frame: Any) -> pd.DataFrame:
    """The whole release; on a cluster a category lists all levels that may be drawn."""
    made = frame.compute().reset_index(drop=True)
    for name in made.select_dtypes("category"):
        made[name] = made[name].cat.remove_unused_categories()
    return made


def cut(frame: pd.DataFrame, parts: int) -> Any:
    """A Dask dataframe of uneven partitions, one of them empty."""
    rng = np.random.default_rng(parts)
    ends = sorted([0, *rng.integers(0, len(frame), parts - 1), len(frame)])
    pieces = [frame.iloc[a:b] for a, b in pairwise(ends)]
    pieces.insert(len(pieces) // 2, frame.iloc[:0])
    from dask import delayed

    return dd.from_delayed([delayed(piece) for piece in pieces], meta=frame.iloc[:0])


@pytest.mark.parametrize("method", ["smoothed", "barycentre"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_the_same_avatars_for_any_partition(name: str, method: Any, parts: int) -> None:
    frame = TABLES[name]
    options: dict[str, Any] = {"k": 5, "seed": 3, "method": method, "min_level_count": 1}
    here = of_neighbours(**options).fit(frame)
    there = of_neighbours(**options).fit(cut(frame, parts))
    for release in (0, 4):
        pd.testing.assert_frame_equal(pooled(there.release(release)), here.release(release))
    aligned = there.release(1, shuffle=False)
    pd.testing.assert_frame_equal(pooled(aligned), here.release(1, shuffle=False))


def test_roles_and_several_avatars_each() -> None:
    frame = people()
    frame["site2"] = frame["site"].astype("string[pyarrow]") + "!"
    options: dict[str, Any] = {
        "k": 4,
        "seed": 2,
        "augment": 2,
        "drop": ["born"],
        "keep": ["visits"],
        "linked": [("site", "site2")],
        "weights": {"age": 2.0},
        "categorical": ["smoker"],
    }
    here = of_neighbours(**options).fit(frame)
    there = of_neighbours(**options).fit(cut(frame, 3))
    for shuffle in (True, False):
        made = pooled(there.release(0, shuffle=shuffle))
        pd.testing.assert_frame_equal(made, here.release(0, shuffle=shuffle))
    assert (made["site"].astype(str) + "!" == made["site2"].astype(str)).all()


def test_a_level_seen_only_in_the_last_partition() -> None:
    frame = people()
    frame["late"] = pd.Series(["x"] * (len(frame) - 40) + ["z"] * 40, dtype="string[pyarrow]")
    made = of_neighbours(seed=1).fit(dd.from_pandas(frame, npartitions=4, sort=False)).release()
    assert {*pooled(made)["late"]} == {"x", "z"}


def test_what_can_not_be_used_is_named() -> None:
    frame = people()
    with pytest.raises(InputError, match="largest k is 2449"):
        of_neighbours(k=5_000).fit(cut(frame, 2))
    with pytest.raises(InputError, match="no column 'agee'; did you mean 'age'"):
        of_neighbours(drop=["agee"]).fit(cut(frame, 2))
    with pytest.raises(InputError, match="surrogates for 'visits' are not made on a cluster"):
        of_neighbours(id=["visits"]).fit(cut(frame, 2))
    frame["code"] = np.arange(len(frame))
    with pytest.raises(InputError, match=r"'code' \(a value for each row\)"):
        of_neighbours().fit(cut(frame, 2))


def test_partitions_of_different_types_are_refused() -> None:
    from dask import delayed

    one, other = people(50), people(50)
    other["age"] = other["age"].astype(str)
    frame = dd.from_delayed([delayed(one), delayed(other)], meta=one.iloc[:0], verify_meta=False)
    with pytest.raises(InputError, match="partition 1: column 'age'"):
        of_neighbours().fit(frame)


def test_notes_are_warnings_here_too() -> None:
    frame = people()
    frame["when"] = "01/02/2020"
    frame.loc[::2, "when"] = "03/02/2020"
    with pytest.warns(SosieWarning, match="dates written as text"):
        of_neighbours().fit(cut(frame, 2))


def test_dask_knows_the_size_of_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes for small is never moved to disk, and the worker dies of it."""
    from sosie.cluster import encoding, local

    sizes = cluster_sizes.noted(monkeypatch, local, encoding)
    rows = 40_000
    frame = pd.DataFrame({f"x{i}": np.random.default_rng(i).normal(size=rows) for i in range(6)})
    of_neighbours(k=5, seed=1).fit(cut(frame, 1))
    floats = 8 * rows
    least = {
        "_cut": floats + floats // 2,
        "_located": 5 * floats,
        "region_of_part": 5 * floats,
        "search": 6 * floats,
        "settled": 5 * floats,
        "_mixed": 5 * floats,
    }
    assert {name: sizes.get(name, 0) >= size for name, size in least.items()} == dict.fromkeys(
        least, True
    )


# ---------------------------------------------------------------- a real cluster


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two worker processes of this machine."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as made,
        Client(made) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "module", "step"),
    [("smoothed", "local", "_mixtures"), ("exchangeable", "exchangeable.fit", "_laws")],
)
@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_changes_nothing(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, method: str, module: str, step: str
) -> None:
    """One is killed when rows have moved, another when the avatars are drawn."""
    import dask

    engine, killed = import_module(f"sosie.cluster.{module}"), []

    def kill() -> None:
        workers = sorted(cluster.run(os.getpid).values())
        os.kill(workers[0], signal.SIGKILL)
        killed.append(workers[0])

    followed = getattr(engine, step)

    def after_a_loss(*arguments: Any) -> Any:
        kill()
        return followed(*arguments)

    monkeypatch.setattr(engine, step, after_a_loss)
    frame = TABLES["people"]
    options: dict[str, Any] = {"k": 5, "seed": 3, "method": method}
    with dask.config.set(scheduler=None):
        there = Avatarizer(**options).fit(cut(frame, 3))
        kill()
        made = pooled(there.release(2))
    assert len({*killed}) == 2
    here = Avatarizer(**options).fit(frame)
    pd.testing.assert_frame_equal(made, here.release(2))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_lost_at_the_same_work_are_told_in_a_line() -> None:
    import dask
    from dask.distributed import Client, LocalCluster

    from sosie.cluster import scheduling as engine

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0, "scheduler": None}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as made,
        Client(made),
        pytest.raises(InputError, match="too little memory"),
    ):
        engine.compute(engine.delayed(os._exit)(1))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
@pytest.mark.filterwarnings("ignore")
def test_the_command_makes_avatars_on_a_cluster(cluster: Any, tmp_path: Path, method: str) -> None:
    import polars as pl

    from sosie.cli import status_of

    data = tmp_path / "people"
    data.mkdir()
    frame = pl.from_pandas(people(500).drop(columns="site"))
    for part in range(3):
        frame[part * 150 : (part + 1) * 150].write_parquet(data / f"{part}.parquet")
    how = ["--seed", "1", "--method", method]
    told = ["avatarize", str(data), "-o", str(tmp_path / "avatars"), *how]
    where = ["--scheduler", cluster.scheduler.address, "--aligned", str(tmp_path / "aligned")]
    assert status_of([*told, *where]) == 0
    assert status_of(["avatarize", str(data), "-o", str(tmp_path / "here.parquet"), *how]) == 0
    made, here = pl.read_parquet(tmp_path / "avatars"), pl.read_parquet(tmp_path / "here.parquet")
    assert made.sort(made.columns).equals(here.sort(made.columns))
    assert (tmp_path / "aligned").stat().st_mode & 0o077 == 0
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert status_of([*told, *where]) == 2  # it is there already
    assert status_of([*told[:3], str(tmp_path / "new"), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------- files, names, types


def test_files_keep_their_order_and_their_types(tmp_path: Path, monkeypatch: Any) -> None:
    """Twelve files, which sort differently as text; types of Arrow with missing values."""
    import dask.distributed
    import polars as pl

    from sosie.cluster.folder import avatarize_folder
    from sosie.data.parquet import Scan

    @contextmanager
    def nobody(**_: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(dask.distributed, "Client", nobody)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "x": rng.normal(size=600).round(2),
            "whole": pl.Series(rng.integers(2**60, 2**60 + 500, 600)),
            "asked": pl.Series([True, None, False] * 200),
            "hour": pl.Series(rng.integers(0, 86_400, 600) * 10**9).cast(pl.Time),
            "row": pl.int_range(600, eager=True),
        }
    ).with_columns(whole=pl.when(pl.int_range(600) % 9 > 0).then(pl.col("whole")))
    data = tmp_path / "people"
    data.mkdir()
    for part in range(12):
        frame[50 * part : 50 * (part + 1)].write_parquet(data / f"part-{part}.parquet")
    people = Scan.of(data).frame()
    options: dict[str, Any] = {"seed": 1, "keep": ["row"]}
    avatarize_folder(data, tmp_path / "out", of_neighbours(**options), aligned=tmp_path / "aligned")
    here = of_neighbours(**options).fit(people)
    for name, shuffle in (("out", True), ("aligned", False)):
        made = Scan.of(tmp_path / name).frame()
        wanted = here.release(shuffle=shuffle)
        assert made.columns == wanted.columns
        for column in wanted.columns:
            assert made[column].to_list() == wanted[column].to_list(), column
    with pytest.raises(InputError, match="would overwrite"):
        avatarize_folder(data, tmp_path / "a", of_neighbours(), aligned=tmp_path / "a")
    with pytest.raises(InputError, match="is inside the folder that is read"):
        avatarize_folder(data, data / "out", of_neighbours())
    with pytest.raises(InputError, match="is there already"):
        avatarize_folder(data, tmp_path / "out", of_neighbours())


@pytest.mark.parametrize("told", [True, False])
def test_case_49_a_folder_has_the_dtypes_of_the_originals_for_pandas(
    tmp_path: Path, monkeypatch: Any, told: bool
) -> None:
    import dask.distributed
    import polars as pl

    from sosie.cluster.folder import avatarize_folder

    @contextmanager
    def nobody(**_: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(dask.distributed, "Client", nobody)
    frame = people(400)[["age", "visits", "sex", "smoker"]]
    doses = [None if i % 9 == 0 else i % 40 for i in range(len(frame))]
    frame = frame.reset_index(drop=True).assign(dose=pd.array(doses, dtype="Int64"))
    for site in "ab":
        folder = tmp_path / "in" / f"site={site}"
        folder.mkdir(parents=True)
        if told:
            frame.to_parquet(folder / "0.parquet")
        else:  # as other programs write it
            pl.from_pandas(frame).write_parquet(folder / "0.parquet")
    avatarize_folder(tmp_path / "in", tmp_path / "out", Avatarizer(seed=1))
    before, after = pd.read_parquet(tmp_path / "in"), pd.read_parquet(tmp_path / "out")
    assert (
        after.drop(columns="site").dtypes.to_dict() == before.drop(columns="site").dtypes.to_dict()
    )
    assert set(after["site"]) == {"a", "b"}
    assert len(after.sort_values("age")) == len(before)


def test_names_that_are_no_text_and_names_like_ours() -> None:
    frame = people(500)[["age", "visits", "sex", "smoker"]]
    for names in ([0, 1, 2, 3], ["__key__", "__place__", "c0", "0"], ["a 1", "b", 2, "v0"]):
        named = frame.copy()
        named.columns = pd.Index(names, tupleize_cols=False)
        here = of_neighbours(seed=1).fit(named).release()
        made = of_neighbours(seed=1).fit(dd.from_pandas(named, npartitions=3, sort=False)).release()
        assert pooled(made).columns.tolist() == names
        assert np.array_equal(pooled(made).to_numpy(), here.to_numpy())


def test_categories_that_are_dates_and_ordered_ones() -> None:
    frame = people(600)[["age", "sex"]]
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, len(frame)), "D")
    frame["day"] = pd.Series([str(day.date()) for day in days], dtype="category")
    frame["stage"] = pd.Categorical(
        rng.choice(["I", "II"], len(frame)), categories=["II", "I"], ordered=True
    )
    options: dict[str, Any] = {"seed": 1, "date": {"day": None}}
    here = of_neighbours(**options).fit(frame).release()
    made = pooled(of_neighbours(**options).fit(cut(frame, 3)).release())
    assert made["day"].tolist() == here["day"].tolist()
    assert made["stage"].cat.ordered
    assert made["stage"].tolist() == here["stage"].tolist()


def test_objects_are_not_taken_for_what_they_are_not() -> None:
    import dask

    frame = people(400)[["age", "visits"]]
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in frame["visits"]]
    frame["day"] = pd.Series([None, *days[1:]], dtype=object)
    frame["price"] = pd.Series([Decimal(int(v)) / 4 for v in frame["visits"]], dtype=object)
    with dask.config.set({"dataframe.convert-string": False}):
        here = of_neighbours(seed=1).fit(frame).release()
        made = pooled(of_neighbours(seed=1).fit(cut(frame, 3)).release())
    for name in ("day", "price"):
        assert made[name].tolist() == here[name].tolist()


def test_a_release_says_nothing_of_its_seed_and_of_divisions() -> None:
    made = of_neighbours(seed=9_876_543_210).fit(cut(people(500), 3)).release()
    assert "9876543210" not in f"{made!r} {made.dask!r}"
    assert not made.known_divisions


def test_one_partition_may_be_much_larger() -> None:
    """Walls follow the rows, not the partitions."""
    from sosie.cluster import local

    frame = people(4_000)
    pieces = [frame.iloc[i : i + 20] for i in range(0, 400, 20)] + [frame.iloc[400:]]
    data = dd.from_delayed([delayed_of(piece) for piece in pieces], meta=frame.iloc[:0])
    fitted = local.fit_of_neighbours(data, of_neighbours().settings, of_neighbours().roles)
    assert np.diff(fitted.firsts).max() < 4 * len(frame) / len(pieces)


def delayed_of(piece: pd.DataFrame) -> Any:
    from dask import delayed

    return delayed(piece)


def test_linked_numbers_and_repeated_names_are_told() -> None:
    frame = people(300)
    with pytest.raises(InputError, match="linked column 'age' is a number"):
        of_neighbours(linked=[("age", "sex")]).fit(cut(frame, 2))
    with pytest.raises(InputError, match="numbered from 0"):
        of_neighbours().fit(cut(frame, 2)).release(-1)
