"""The guarantee of exchangeable avatars, end to end: a table in, what is published out."""

from __future__ import annotations

import datetime as dt
import importlib
import io
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sosie.compute.arrays import Ints
from sosie.errors import InputError, SosieWarning
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods.exchangeable import ExchangeableFitted

if TYPE_CHECKING:
    from conftest import Backend

People = Callable[..., dict[str, list[Any]]]
METHOD = importlib.import_module("sosie.generate.methods.exchangeable")
K = 5


def published(avatarizer: Avatarizer, release: int = 0) -> bytes:
    """A release as it may be published, dtypes included."""
    frame = avatarizer.release(release)
    if isinstance(frame, pa.Table):
        return str(frame.schema).encode() + repr(frame.to_pylist()).encode()
    if isinstance(frame, pl.DataFrame):
        return (str(frame.schema) + repr(frame.rows())).encode()
    assert isinstance(frame, pd.DataFrame)
    return (str(frame.dtypes) + frame.to_csv(index=False)).encode()


def groups_of(avatarizer: Avatarizer) -> tuple[Ints, Ints]:
    """(n,) the group of each row, and the sizes of the groups."""
    fitted = avatarizer.fitted
    assert isinstance(fitted, ExchangeableFitted)
    sizes = np.diff(fitted.groups.bounds)
    group = np.empty(len(fitted.order), dtype=np.int64)
    group[fitted.order] = np.repeat(np.arange(len(sizes)), sizes)
    return group, sizes


def within(group: Ints, rng: np.random.Generator) -> Ints:
    """Rows in another order, each within its group."""
    shuffled = rng.permutation(len(group))
    made = np.empty(len(group), dtype=np.int64)
    made[np.argsort(group, kind="stable")] = shuffled[np.argsort(group[shuffled], kind="stable")]
    return made


def mixed(rows: int = 300, seed: int = 0) -> pl.DataFrame:
    """Numbers, one with a spike and one with missing values, and categories."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows)
    lab = 50 + 9 * hidden + rng.normal(0, 4, rows)
    lab[rng.random(rows) < 0.2] = np.nan
    town = np.clip(np.rint(15 + 7 * hidden), 0, 30).astype(int)
    return pl.DataFrame(
        {
            "age": (60 + 12 * hidden + rng.normal(0, 6, rows)).round(1),
            "dose": np.where(rng.random(rows) < 0.4, 0.0, np.exp(hidden).round(2)),
            "lab": pl.Series(lab.round(2), nan_to_null=True),
            "stage": [("low", "middle", "high")[i] for i in rng.integers(0, 3, rows)],
            "town": [f"town {i}" for i in town],
        }
    )


# ---------------------------------------------------------------- the order of the input


def tied(rows: int) -> dict[str, list[Any]]:
    """A full factorial design of decimals: equal variances, equal rows, sums that round."""
    levels = np.array(np.meshgrid(*[[0.1, 0.2, 0.3]] * 4)).reshape(4, -1).T
    cells = np.resize(levels, (rows, 4))
    return {f"x{i}": cells[:, i].tolist() for i in range(4)}


def zeros(rows: int) -> dict[str, list[Any]]:
    """Zeros of either sign, as a number, a category and a kept column."""
    rng = np.random.default_rng(5)
    signs = [(0.0, -0.0, 1.5)[i] for i in rng.integers(0, 3, rows)]
    return {
        "number": (rng.normal(size=rows) / 10).round(2).tolist(),
        "spike": [v or -0.0 for v in rng.normal(size=rows).round(0).tolist()],
        "category": signs,
        "kept": [signs[i] for i in rng.permutation(rows)],
    }


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_changes_no_byte(backend: Backend, people: People, seed: int) -> None:
    """Of a release with kept columns, surrogates and several avatars a person."""
    cells = people(160) | {"id": [f"P{i}" for i in range(160)], "sex": ["F", "M"] * 80}
    order = np.random.default_rng(seed).permutation(160)
    moved = {name: [column[i] for i in order] for name, column in cells.items()}
    options: dict[str, Any] = {"k": K, "seed": 3, "id": ["id"], "keep": ["sex"], "augment": 2}
    one = Avatarizer(**options).fit(backend.frame(cells))
    other = Avatarizer(**options).fit(backend.frame(moved))
    assert published(one) == published(other)
    assert published(one, 1) == published(other, 1)


@pytest.mark.parametrize("make", [tied, zeros])
@pytest.mark.parametrize("seed", range(5))
def test_ties_twins_and_either_zero_change_no_byte(
    make: Callable[[int], dict[str, list[Any]]], seed: int
) -> None:
    frame = pl.DataFrame(make(324))
    keep = ["kept"] if "kept" in frame.columns else []
    order = np.random.default_rng(seed).permutation(len(frame))
    options: dict[str, Any] = {"k": K, "seed": 1, "keep": keep}
    reference = published(Avatarizer(**options).fit(frame))
    assert b" -0.0," not in reference
    assert published(Avatarizer(**options).fit(frame[order])) == reference
    assert published(Avatarizer(**options).fit(frame[::-1])) == reference


def test_rows_of_which_most_are_equal_change_no_byte_either() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "x": np.where(rng.random(300) < 0.9, 0.0, rng.normal(size=300).round(1)),
            "y": np.repeat(rng.normal(size=30), 10),
            "c": np.where(rng.random(300) < 0.9, "a", "b"),
        }
    )
    reference = published(Avatarizer(k=K, seed=1).fit(frame))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(300)
        assert published(Avatarizer(k=K, seed=1).fit(frame[order])) == reference


# ---------------------------------------------------------------- the pairing


def ways(rows: int) -> dict[str, list[Any]]:
    """Kept columns of which equal values are written in several ways."""
    rng = np.random.default_rng(2)
    kinds = rng.integers(0, 4, rows)
    return {
        "x": rng.normal(size=rows).tolist(),
        "zero": [(0.0, -0.0, 2.5, 2.5)[i] for i in kinds],
        "lost": [(None, float("nan"), 1.0, 1.0)[i] for i in kinds],
    }


@pytest.mark.parametrize("kind", ["polars", "pandas", "object"])
def test_nothing_published_depends_on_the_pairing(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other people of the groups in its place: the same bytes, kept columns included."""
    cells = ways(240) | {"sex": ["F", "M"] * 120, "id": [f"P{i}" for i in range(240)]}
    frame: Any = pl.DataFrame(cells, strict=False)
    if kind != "polars":
        frame = pd.DataFrame(cells, dtype=object if kind == "object" else None)
    options: dict[str, Any] = {"keep": ["zero", "lost", "sex"], "id": ["id"], "augment": 2}
    avatarizer = Avatarizer(k=K, seed=4, **options).fit(frame)
    group, _ = groups_of(avatarizer)
    before, rows = published(avatarizer), avatarizer.fitted.pairing(avatarizer.secrets.seed, 0, 0)
    own = METHOD.pairing

    def another(order: Ints, bounds: Ints, *rest: Any) -> Ints:
        made: Ints = own(order, bounds, *rest)
        return made[within(group[made], np.random.default_rng(rest[-1]))]

    monkeypatch.setattr(METHOD, "pairing", another)
    moved = avatarizer.fitted.pairing(avatarizer.secrets.seed, 0, 0)
    assert not np.array_equal(moved, rows)
    assert np.array_equal(group[moved], group[rows])
    assert published(avatarizer) == before


def test_every_pairing_of_a_group_is_as_likely_given_what_is_published() -> None:
    """Fixed points of the pairing against the best guess from the values: one in the size."""
    frame = mixed(60).select("age", "stage")
    avatarizer = Avatarizer(k=K, seed=9).fit(frame)
    group, sizes = groups_of(avatarizer)
    ages = frame["age"].to_numpy()
    hits, trials = 0, 0
    for release in range(200):
        drawn = avatarizer.draw(release).number("age").values
        for g in range(len(sizes)):
            members = np.flatnonzero(group == g)
            nearest = np.abs(drawn[members][:, None] - ages[members]).argmin(axis=1)
            hits += int((nearest == np.arange(len(members))).sum())
            trials += len(members)
    expected = len(sizes) / len(frame)
    assert abs(hits / trials - expected) < 4 * math.sqrt(expected / trials)


# ---------------------------------------------------------------- what breaks it


def neighbours_in_file(ranks: Ints, group: Ints) -> float:
    """Share of rows that follow each other, by rank, and are of one group."""
    along = group[np.argsort(ranks)]
    return float((along[1:] == along[:-1]).mean())


@pytest.mark.parametrize("what", ["an order of rows", "surrogates drawn before the shuffle"])
def test_it_is_not_broken_by(what: str) -> None:
    """Rows of a group stand together no more often than chance, in the file or by surrogate."""
    rows = 120
    frame = mixed(rows).with_columns(id=pl.Series(range(1000, 1000 + rows)))
    avatarizer = Avatarizer(k=K, seed=2, id=["id"]).fit(frame)
    group, sizes = groups_of(avatarizer)
    together, places = [], np.zeros(rows)
    for release in range(200):
        made = avatarizer._drawn(release, shuffle=True)
        ranks = np.arange(rows) if what == "an order of rows" else made.surrogates
        together.append(neighbours_in_file(ranks, group[made.rows]))
        places[made.rows] += ranks
    chance = float((sizes * (sizes - 1)).sum() / rows / (rows - 1))
    error = math.sqrt(chance * (1 - chance) / (200 * (rows - 1)))
    assert abs(np.mean(together) - chance) < 4 * error
    # The mean place of each person over 200 releases: uniform on 0..n-1.
    spread = math.sqrt((rows**2 - 1) / 12 / 200)
    assert np.abs(places / 200 - (rows - 1) / 2).max() < 4.5 * spread


def test_it_is_not_broken_by_a_surrogate_that_tells_the_place_in_the_file() -> None:
    rows = 200
    frame = mixed(rows).with_columns(id=pl.Series(range(1000, 1000 + rows)))
    avatarizer = Avatarizer(k=K, seed=2, id=["id"]).fit(frame)
    seen = [avatarizer.release(r)["id"].to_numpy() for r in range(100)]
    assert all(len(np.unique(one)) == rows for one in seen)
    links = [np.corrcoef(one, np.arange(rows))[0, 1] for one in seen]
    assert abs(np.mean(links)) < 4 / math.sqrt(rows * 100)


def lined_up(longer: Any, shorter: Any) -> float:
    """The greatest correlation of two columns of a file, one row of the longer left out."""
    made = [np.delete(longer, row) for row in range(len(longer))]
    return max(float(np.corrcoef(one, shorter)[0, 1]) for one in made)


def test_a_seed_used_twice_lines_up_rows_of_a_changed_table_and_a_fresh_one_does_not() -> None:
    """Why a further release takes the key of the first, and never its seed."""
    frame = mixed(300).select("age", "stage")
    first = Avatarizer(k=K, seed=5, key=8).fit(frame).release()["age"]
    twice = Avatarizer(k=K, seed=5, key=8).fit(frame[:-1]).release()["age"]
    fresh = Avatarizer(k=K, seed=6, key=8).fit(frame[:-1]).release()["age"]
    assert lined_up(first, twice) > 0.5
    assert lined_up(first, fresh) < 0.25


def test_a_key_gives_the_same_groups_and_no_seed() -> None:
    frame = mixed(300).select("age", "stage")
    one, other = (Avatarizer(k=K, key=8).fit(frame) for _ in range(2))
    assert one.secrets.seed != other.secrets.seed
    assert np.array_equal(groups_of(one)[0], groups_of(other)[0])
    assert published(one) != published(other)
    strange = Avatarizer(k=K, key=9).fit(frame)
    assert not np.array_equal(groups_of(one)[0], groups_of(strange)[0])


def test_kept_columns_inside_strata_are_one_value_a_group() -> None:
    frame = mixed().with_columns(ward=pl.Series(["A", "B", None] * 100))
    avatarizer = Avatarizer(k=K, seed=1, keep=["stage", "ward"]).fit(frame)
    group, sizes = groups_of(avatarizer)
    kept = frame.select("stage", "ward")
    for g in range(len(sizes)):
        assert len(kept[np.flatnonzero(group == g)].unique()) == 1
    assert sizes.min() >= K
    assert avatarizer.guarantee.holds
    assert avatarizer.guarantee.bound == 1 / sizes.min()
    made = avatarizer.release().select("stage", "ward")
    assert sorted(made.rows(), key=str) == sorted(kept.rows(), key=str)


def test_kept_columns_outside_strata_break_it_and_it_says_so() -> None:
    """A value that only one person has gives each avatar to them: nothing is guaranteed."""
    frame = mixed().with_columns(number=pl.Series(range(300)))
    avatarizer = Avatarizer(k=K, seed=1, keep_anyway=["number"]).fit(frame)
    guarantee = avatarizer.guarantee
    assert (guarantee.holds, guarantee.bound, guarantee.covers) == (False, None, ())
    assert guarantee.reason is not None
    assert guarantee.reason.key == "kept_outside_groups"
    aligned = avatarizer.release(shuffle=False)
    assert aligned["number"].to_list() == list(range(300))


def test_a_stratum_under_k_is_an_error_that_says_what_to_do() -> None:
    frame = mixed().with_columns(ward=pl.Series(["A"] * 296 + ["B"] * 4))
    with pytest.raises(InputError, match=r"only 4 people have ward = B") as caught:
        Avatarizer(k=K, keep=["ward"]).fit(frame)
    for way in ("--coarsen", "keep fewer columns", "smaller k", "--keep-anyway"):
        assert way in str(caught.value)
    assert Avatarizer(k=4, seed=1, keep=["ward"]).fit(frame).guarantee.smallest_group == 4


@pytest.mark.parametrize("k", [2, 3, 5, 10, 20])
@pytest.mark.parametrize("rows", [20, 39, 40, 41, 127, 300])
def test_no_group_is_below_k(rows: int, k: int) -> None:
    frame = mixed(300)[:rows].select("age")
    avatarizer = Avatarizer(k=k, seed=rows, numeric=["age"]).fit(frame)
    _, sizes = groups_of(avatarizer)
    assert sizes.sum() == rows
    assert k <= sizes.min() <= sizes.max() < 2 * k
    guarantee = avatarizer.guarantee
    assert guarantee.bound == 1 / sizes.min() <= 1 / k
    assert (guarantee.groups, guarantee.people) == (len(sizes), rows)


@pytest.mark.parametrize("augment", [1, 3])
def test_the_number_of_avatars_does_not_depend_on_the_person(augment: int) -> None:
    """Each group publishes so many for each member, each part one for each, at the same bound."""
    frame = mixed(200)
    single = Avatarizer(k=K, seed=1).fit(frame)
    avatarizer = Avatarizer(k=K, seed=1, augment=augment).fit(frame)
    made = avatarizer._drawn(0, shuffle=True)
    assert len(avatarizer.release()) == augment * 200
    assert (np.bincount(made.rows) == augment).all()
    group, sizes = groups_of(avatarizer)
    assert np.array_equal(np.bincount(group[made.rows]), augment * sizes)
    assert avatarizer.guarantee == single.guarantee
    parts = [avatarizer.draw(0, part).number("age").values for part in range(augment)]
    assert len({tuple(part) for part in parts}) == augment


# ---------------------------------------------------------------- other members, one summary


class Held:
    """The method with the groups and what is pooled of a first table held fixed."""

    def __init__(self, frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, **options: Any):
        self.options: dict[str, Any] = {"k": K, "seed": 6, **options}
        self.avatarizer = Avatarizer(**self.options).fit(frame)
        self.group, _ = groups_of(self.avatarizer)
        self.before = published(self.avatarizer)
        fitted = self.avatarizer.fitted
        assert isinstance(fitted, ExchangeableFitted)
        cut: list[Any] = []
        own, fit = METHOD.groups, METHOD.fit

        def first(*given: Any, **options: Any) -> Any:
            if not cut:
                cut.append(own(*given, **options))
            return cut[0]

        monkeypatch.setattr(METHOD, "groups", first)
        Avatarizer(**self.options).fit(frame)
        assert np.array_equal(cut[0].order, fitted.order)
        monkeypatch.setattr(METHOD, "fit", partial(fit, pooled=fitted.groups.pooled))

    def of(self, frame: pl.DataFrame) -> bytes:
        return published(Avatarizer(**self.options).fit(frame))

    def moved(self, frame: pl.DataFrame, *names: str) -> pl.DataFrame:
        """Each of some columns given out anew among the members of every group."""
        rng = np.random.default_rng(1)
        made = frame.with_columns(frame[name][within(self.group, rng)] for name in names)
        assert not any(made[name].equals(frame[name]) for name in names)
        return made


def test_members_with_the_same_means_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(rng.normal(size=(300, 3)), schema=["a", "b", "c"])
    held = Held(frame, monkeypatch)
    assert held.of(held.moved(frame, "a", "b", "c")) == held.before
    other = frame.with_columns(a=pl.col("a").shuffle(seed=1))
    assert held.of(other) != held.before


def test_members_with_the_same_counts_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mixed().select("age", "stage")
    held = Held(frame, monkeypatch)
    assert held.of(held.moved(frame, "stage")) == held.before


def test_missing_values_are_not_copied_from_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who of a group lacks a value, or stands on the spike, changes no byte."""
    for name in ("lab", "dose"):
        frame = mixed().select("age", name)
        with monkeypatch.context() as patch:
            held = Held(frame, patch)
            assert held.of(held.moved(frame, name)) == held.before


def test_two_columns_miss_independently_where_the_originals_do() -> None:
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(2_000, 2))
    cells[rng.random((2_000, 2)) < 0.2] = np.nan
    frame = pl.DataFrame(cells, schema=["a", "b"]).fill_nan(None)
    made = Avatarizer(seed=1).fit(frame).release()
    both = (made["a"].is_null() & made["b"].is_null()).mean()
    assert both == pytest.approx(0.04, abs=0.015)


def test_rare_levels_are_one_rule_for_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the rare levels someone holds changes no byte, and none of them comes."""
    rng = np.random.default_rng(4)
    codes = np.where(rng.random(300) < 0.1, rng.integers(3, 40, 300), rng.integers(0, 3, 300))
    counts = np.bincount(codes)
    assert counts[3:].max() < K < counts[:3].min()
    frame = pl.DataFrame({"x": rng.normal(size=300), "c": [f"level {i}" for i in codes]})
    held = Held(frame, monkeypatch)
    rare = np.flatnonzero(codes > 2)
    codes[rare] = codes[rng.permutation(rare)]
    other = frame.with_columns(c=pl.Series([f"level {i}" for i in codes]))
    assert not frame["c"].equals(other["c"])
    assert held.of(other) == held.before
    assert {*Avatarizer(k=K, seed=1).fit(frame).release()["c"]} <= {f"level {i}" for i in range(3)}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_rare_levels_are_not_in_the_dictionary_either(kind: str) -> None:
    rng = np.random.default_rng(4)
    words = [("a", "b", "c")[i] for i in rng.integers(0, 3, 300)]
    words[17] = "only mine"
    cells = {"x": rng.normal(size=300), "c": words}
    frame: Any = pl.DataFrame(cells).with_columns(pl.col("c").cast(pl.Categorical))
    if kind == "pyarrow":
        frame = frame.to_arrow()
    elif kind == "pandas":
        frame = pd.DataFrame(cells).astype({"c": "category"})
    made: Any = Avatarizer(k=K, seed=1).fit(frame).release()
    file = io.BytesIO()
    if kind == "pyarrow":
        importlib.import_module("pyarrow.parquet").write_table(made, file)
    elif kind == "polars":
        made.write_parquet(file, compression="uncompressed")
    else:
        made.to_parquet(file, compression=None)
    assert b"only mine" not in file.getvalue()


# ---------------------------------------------------------------- few values


@pytest.mark.parametrize("what", ["number", "date", "spike"])
@pytest.mark.parametrize("present", [1, 3, 12])
def test_a_column_of_few_values_publishes_nobodys(what: str, present: int) -> None:
    rng = np.random.default_rng(present)
    rows = rng.choice(300, present, replace=False)
    own: list[Any] = [100 + 7.123 * i**1.3 for i in range(present)]
    if what == "date":
        own = [dt.date(2000, 1, 1) + dt.timedelta(days=13 * i * i) for i in range(present)]
    cells: list[Any] = [0.0 if what == "spike" else None] * 300
    for row, value in zip(rows.tolist(), own, strict=True):
        cells[row] = value
    frame = pl.DataFrame({"y": rng.normal(size=300), "x": cells})
    options: dict[str, Any] = {"date": {"x": None}} if what == "date" else {"numeric": ["x"]}
    seen: set[Any] = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        avatarizer = Avatarizer(seed=1, **options).fit(frame)
        for release in range(20):
            seen |= {*avatarizer.release(release)["x"]}
    shown = seen - {None, 0.0}
    assert not shown & {*own}
    assert bool(shown) == (present >= 10)
    noted = [w for w in caught if w.category is SosieWarning and "'x'" in str(w.message)]
    assert bool(noted) == (present < 10)


@pytest.mark.parametrize("present", [1, 2])
def test_a_group_with_one_or_two_values_publishes_nobodys(present: int) -> None:
    """Few in a group have a value: their avatars spread as widely as those of other groups."""
    rng = np.random.default_rng(8)
    rows = 600
    values = np.where(rng.random(rows) < 0.92, 0.0, rng.normal(100, 20, rows))
    others = {f"y{i}": rng.normal(size=rows) for i in range(6)}
    frame = pl.DataFrame(others | {"x": values})
    for seed in range(20):  # until some group has so few
        avatarizer = Avatarizer(k=10, seed=seed).fit(frame)
        group, sizes = groups_of(avatarizer)
        few = np.flatnonzero(np.bincount(group, values != 0, minlength=len(sizes)) == present)
        if len(few):
            break
    assert len(few)
    draws = np.array([avatarizer.draw(r).number("x").values for r in range(150)])
    assert not np.isin(draws[draws != 0], values).any()
    spread = values[values != 0].std()
    for g in few:
        own = draws[:, group == g]
        assert own[own != 0].std() > 0.4 * spread


# ---------------------------------------------------------------- what is refused, and what is not


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        (mixed(9), {}, "k is 10, and in a table of 9 rows the largest k is 9"),
        (mixed(50), {"k": 1}, "k must be at least 2, got 1"),
        (pl.DataFrame({"x": [1.0] * 50, "c": ["a"] * 50}), {}, "no column varies"),
        (
            mixed(60).select("age", c=pl.Series([f"c{i}" for i in range(12)] + [None] * 48)),
            {},
            "'c': no value is held by at least 10 people",
        ),
    ],
    ids=["fewer rows than k", "k of 1", "all rows equal", "twelve values of twelve people"],
)
def test_what_can_not_be_is_one_line(
    frame: pl.DataFrame, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        Avatarizer(seed=1, **options).fit(frame)
    assert "\n" not in str(caught.value)


def columns(count: int, rows: int = 100) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=rows)
    return pl.DataFrame(
        {
            f"c{i}": hidden + rng.normal(size=rows) if i % 3 else rng.integers(0, 3, rows)
            for i in range(count)
        }
    )


def levels(count: int, rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    drawn = np.concatenate([np.arange(count), rng.integers(0, count, rows - count)])
    return pl.DataFrame({"x": rng.normal(size=rows), "c": [f"level {i}" for i in drawn]})


@pytest.mark.parametrize(
    ("frame", "k"),
    [
        (mixed(20).select("age"), 20),
        (mixed(300).select("age"), 10),
        (mixed(300).select("stage"), 10),
        pytest.param(columns(300), 10, marks=pytest.mark.slow),
        (levels(5_000, 26_000), 5),
        (pl.DataFrame({"x": [0.5] * 30 + [1.5] * 30, "c": ["a", "b"] * 30}), 10),
    ],
    ids=["k rows", "one number", "one category", "300 columns", "5,000 levels", "few rows, twins"],
)
def test_what_is_odd_has_its_avatars(frame: pl.DataFrame, k: int) -> None:
    avatarizer = Avatarizer(k=k, seed=1).fit(frame)
    made = avatarizer.release()
    assert made.schema == frame.schema
    assert len(made) == len(frame)
    assert avatarizer.guarantee.smallest_group is not None
    assert avatarizer.guarantee.smallest_group >= k
    for name in frame.columns:
        if frame[name].dtype == pl.String:
            counts = frame[name].value_counts()
            assert {*made[name]} <= {*counts.filter(pl.col("count") >= k)[name]}


def test_columns_that_say_nothing_stay_and_take_no_part() -> None:
    frame = mixed(200).with_columns(
        same=pl.lit(3.5), none=pl.lit(None, pl.Float64), nothing=pl.lit(None, pl.String)
    )
    with pytest.warns(SosieWarning, match="no value at all"):
        made = Avatarizer(k=K, seed=1).fit(frame).release()
    assert made.select("same", "none", "nothing").equals(frame.select("same", "none", "nothing"))


def test_whole_numbers_beyond_those_of_a_float_come_back_in_range() -> None:
    rng = np.random.default_rng(0)
    low = 2**60
    frame = pl.DataFrame({"x": rng.normal(size=200), "big": low + rng.integers(0, 10**6, 200) * 7})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SosieWarning)
        made = Avatarizer(k=K, seed=1).fit(frame).release()["big"]
    assert made.dtype == pl.Int64
    ordered = frame["big"].sort()
    assert made.min() > ordered[0]
    assert made.max() < ordered[-1]


def test_the_law_holds_no_row_of_the_table() -> None:
    """Every array of the law is shorter than the table, or one number a group and level."""
    frame = mixed(300).select("age", "lab", "stage")
    fitted = Avatarizer(k=K, seed=1).fit(frame).fitted
    assert isinstance(fitted, ExchangeableFitted)
    law = fitted.groups
    for number in law.layout.numbers:
        assert not len(number.scores)
        assert number.state is None or not len(number.state.codes)
        assert not len(number.column.values)
    assert not any(len(choice.codes) for choice in law.layout.choices)


def test_who_stands_at_a_place_of_a_group_changes_no_draw() -> None:
    """The rows of a group in any order: avatars are the same, only the pairing moves."""
    avatarizer = Avatarizer(k=K, seed=1).fit(mixed(200))
    fitted = avatarizer.fitted
    assert isinstance(fitted, ExchangeableFitted)
    before = published(avatarizer)
    group, _ = groups_of(avatarizer)
    moved = fitted.order[within(group[fitted.order], np.random.default_rng(0))]
    avatarizer._fitted = replace(fitted, order=moved)
    assert published(avatarizer) == before
