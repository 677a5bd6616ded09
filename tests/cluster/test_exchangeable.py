"""Exchangeable avatars of a Dask dataframe: those of one machine, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sosie import Avatarizer, SosieWarning
from sosie.errors import InputError
from sosie.latent import tree

dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::sosie.errors.SosieWarning")


@pytest.fixture(autouse=True)
def scheduler() -> Iterator[None]:
    import dask

    with dask.config.set(scheduler="threads"):
        yield


def people(rows: int = 2_000, seed: int = 0) -> pd.DataFrame:
    """Every kind of column, one of many levels, missing values, ties and twins."""
    rng = np.random.default_rng(seed)
    stay = rng.exponential(size=rows).round(3)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, rows).round(1),
            "weight": np.where(rng.random(rows) < 0.1, np.nan, rng.lognormal(4, 0.3, rows)),
            "visits": rng.integers(0, 200, rows),
            "stay": np.where(rng.random(rows) < 0.4, 0, stay),
            "sex": pd.Series(rng.choice(["F", "M"], rows), dtype="string[pyarrow]"),
            "site": pd.Series(rng.choice(list("abcdef"), rows), dtype="category"),
            "town": pd.Series(rng.geometric(0.02, rows).astype(str), dtype="string[pyarrow]"),
            "smoker": rng.random(rows) < 0.3,
            "born": pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(0, 9_000, rows), "D"),
        }
    )
    return pd.concat([frame, frame.iloc[:300], frame.iloc[:150]], ignore_index=True)


def lattice(rows: int = 900) -> pd.DataFrame:
    """Few distinct people, most of them many times."""
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.choice(["a", "b", "c"], rows) for name in "uvwxy"}).astype(
        "string[pyarrow]"
    )


TABLES = {
    "people": people(),
    "lattice": lattice(),
    "few": people(60).iloc[:40].drop(columns="town"),
}


def cut(frame: pd.DataFrame, parts: int) -> Any:
    """A Dask dataframe of uneven partitions, one of them empty."""
    from dask import delayed

    rng = np.random.default_rng(parts)
    ends = sorted([0, *rng.integers(0, len(frame), parts - 1), len(frame)])
    pieces = [frame.iloc[a:b] for a, b in pairwise(ends)]
    pieces.insert(len(pieces) // 2, frame.iloc[:0])
    return dd.from_delayed([delayed(piece) for piece in pieces], meta=frame.iloc[:0])


def pooled(frame: Any) -> pd.DataFrame:
    """The whole release; on a cluster a category lists all levels that may be drawn."""
    made = frame.compute().reset_index(drop=True)
    for name in made.select_dtypes("category"):
        made[name] = made[name].cat.remove_unused_categories()
    return made


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of the tree that small tables have several of."""
    from sosie.cluster.exchangeable import pieces

    monkeypatch.setattr(pieces, "PIECE", 100)


@pytest.fixture
def sampled_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The top cuts of small tables come from a sample, as those of large ones do."""
    for name, value in (("LARGE", 600), ("PART", 150), ("PER_PART", 60), ("FEWEST", 15)):
        monkeypatch.setattr(tree, name, value)


def check_same(frame: pd.DataFrame, parts: int, **options: Any) -> None:
    here = Avatarizer(seed=3, **options).fit(frame.reset_index(drop=True))
    there = Avatarizer(seed=3, **options).fit(cut(frame, parts))
    for release, shuffle in ((0, True), (4, True), (1, False)):
        made = pooled(there.release(release, shuffle=shuffle))
        pd.testing.assert_frame_equal(made, here.release(release, shuffle=shuffle))
    assert there.guarantee == here.guarantee


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_the_same_avatars_for_any_partition(name: str, parts: int, small_pieces: None) -> None:
    check_same(TABLES[name], parts, k=5)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    "parts", [pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow), 7]
)
def test_the_same_where_cuts_come_from_a_sample(
    name: str, parts: int, small_pieces: None, sampled_cuts: None
) -> None:
    check_same(TABLES[name], parts, k=5)


def test_one_piece_gives_the_same() -> None:
    check_same(TABLES["people"], 3)
    check_same(TABLES["lattice"], 3, k=150)  # all is pooled over the table


@pytest.mark.slow
def test_roles_and_several_avatars_each(small_pieces: None) -> None:
    frame = people()
    frame["site2"] = frame["site"].astype("string[pyarrow]") + "!"
    frame["note"] = np.arange(len(frame))
    options: dict[str, Any] = {
        "augment": 2,
        "drop": ["born"],
        "keep_anyway": ["note"],
        "linked": [("site", "site2")],
        "weights": {"age": 2.0},
        "categorical": ["smoker"],
        "min_level_count": 3,
    }
    check_same(frame, 3, k=4, **options)


def test_cuts_from_a_sample_keep_what_is_kept_beside_its_row(
    small_pieces: None, sampled_cuts: None
) -> None:
    frame = people(1_500).iloc[:1_500].assign(note=np.arange(1_500))
    check_same(frame, 4, keep_anyway=["note"])


def test_the_key_of_a_table_gives_the_same_groups(small_pieces: None) -> None:
    frame = people(500)
    made = [Avatarizer(seed=1, key=key).fit(cut(frame, 3)).release().compute() for key in (7, 8)]
    here = Avatarizer(seed=1, key=7).fit(frame).release()
    assert np.array_equal(made[0]["age"], here["age"])
    assert not np.array_equal(made[0]["age"], made[1]["age"])


def test_what_is_not_on_a_cluster_is_told() -> None:
    frame = people(500)
    with pytest.raises(InputError, match=r"'site'.*--keep-anyway.*--method smoothed"):
        Avatarizer(keep=["site"]).fit(cut(frame, 2))
    with pytest.raises(InputError, match="at least k = 5000"):
        Avatarizer(k=5_000).fit(cut(frame, 2))
    with pytest.raises(InputError, match="numbered from 0"):
        Avatarizer().fit(cut(frame, 2)).release(-1)


def test_a_column_that_too_few_have_is_told_here_too() -> None:
    frame = people(500)
    frame["rare"] = np.where(np.arange(len(frame)) < 8, np.arange(len(frame)) + 0.5, np.nan)
    options: dict[str, Any] = {"seed": 1, "numeric": ["rare"]}
    with pytest.warns(SosieWarning, match="'rare': only 8 people have a value"):
        there = Avatarizer(**options).fit(cut(frame, 2))
    assert pooled(there.release())["rare"].isna().all()


def test_a_release_says_nothing_of_its_seed_and_key() -> None:
    made = Avatarizer(seed=9_876_543_210, key=1_234_567_890).fit(cut(people(500), 3)).release()
    assert "9876543210" not in f"{made!r} {made.dask!r}"
    assert "1234567890" not in f"{made!r} {made.dask!r}"
    assert not made.known_divisions


def test_dask_knows_the_size_of_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes for small is never moved to disk, and the worker dies of it."""
    import cluster_sizes

    from sosie.cluster import encoding
    from sosie.cluster.exchangeable import fit

    sizes = cluster_sizes.noted(monkeypatch, fit, encoding)
    rows = 20_000
    frame = pd.DataFrame({f"x{i}": np.random.default_rng(i).normal(size=rows) for i in range(6)})
    Avatarizer(seed=1).fit(cut(frame, 1))
    least = {
        "_cut": 12 * rows,  # a value and a score
        "coordinates_of": (2 * 6 + 8) * rows,
        "grouping_of": 8 * rows,
        "rows_of_frame": (4 * 6 + 8) * rows,
        "spread_of": 6 * 12 * rows // 20,
        "law_of_piece": 6 * 12 * rows // 20,
    }
    assert {name: sizes.get(name, 0) >= size for name, size in least.items()} == dict.fromkeys(
        least, True
    )
