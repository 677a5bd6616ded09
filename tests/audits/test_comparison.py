"""Comparison: two tables by value, one latent space, searches that equal brute force."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from comparison_cases import distances, people
from spoken import spoken

from sosie.audits.comparison import Comparison
from sosie.audits.distances import TIE
from sosie.data.table import Roles
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.latent.neighbours import NeighbourIndex

KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "pandas": lambda frame: frame.to_pandas(),
    "polars": lambda frame: frame,
    "pyarrow": lambda frame: frame.to_arrow(),
}


@pytest.fixture(scope="module")
def originals() -> pl.DataFrame:
    return people()


@pytest.fixture(scope="module")
def avatars(originals: pl.DataFrame) -> pl.DataFrame:
    made: pl.DataFrame = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    return made


@pytest.fixture(scope="module")
def comparison(originals: pl.DataFrame, avatars: pl.DataFrame) -> Comparison:
    return Comparison.of(originals, avatars, aligned=True, holdout=people(50, seed=2))


def test_closest_originals_equal_brute_force(comparison: Comparison) -> None:
    expected = np.sort(distances(comparison.avatar_points, comparison.original_points), axis=1)
    assert comparison.closest_originals == pytest.approx(expected[:, :2], abs=1e-9)
    expected = np.sort(distances(comparison.holdout_points, comparison.original_points), axis=1)
    assert comparison.closest_originals_of_holdout == pytest.approx(expected[:, :2], abs=1e-9)


def test_the_crowd_equals_brute_force(comparison: Comparison) -> None:
    away = distances(comparison.original_points, comparison.avatar_points)
    own, nearest = np.diagonal(away), away.min(axis=1)
    tied = away <= nearest[:, None] * (1 + TIE)
    around = comparison.crowd
    assert around.own == pytest.approx(own, abs=1e-12)
    assert around.nearest == pytest.approx(nearest, abs=1e-12)
    assert around.hit == pytest.approx(np.diagonal(tied) / tied.sum(axis=1))
    closer = (away < own[:, None] * (1 - TIE)).sum(axis=1)
    assert (around.closer == np.minimum(closer, around.limit)).all()


@pytest.mark.parametrize("twins", [False, True])
def test_counts_within_a_radius_equal_brute_force(twins: bool) -> None:
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, (300, 3)).astype(float) if twins else rng.normal(size=(300, 3))
    queries, radius = np.repeat(points[:50] + 0.25, 2, axis=0), np.tile([0.0, 0.9, 2.0, 9.0], 25)
    expected = (distances(queries, points) <= radius[:, None]).sum(axis=1)
    assert (NeighbourIndex(points).count_within(queries, radius) == expected).all()


def test_with_several_avatars_a_person_any_of_them_is_its_own(originals: pl.DataFrame) -> None:
    avatarizer = Avatarizer(k=5, seed=1, augment=3).fit(originals)
    comparison = Comparison.of(originals, avatarizer.release(shuffle=False), aligned=True)
    assert comparison.parts == 3
    away = distances(comparison.original_points, comparison.avatar_points)
    own = away.reshape(len(away), 3, len(away))[np.arange(len(away)), :, np.arange(len(away))]
    nearest = away.min(axis=1)
    tied = away <= nearest[:, None] * (1 + TIE)
    hits = (own <= nearest[:, None] * (1 + TIE)).sum(axis=1) / tied.sum(axis=1)
    assert comparison.crowd.hit == pytest.approx(hits)
    assert comparison.crowd.own == pytest.approx(own.min(axis=1))


def test_many_tied_avatars_are_all_counted() -> None:
    frame = pl.DataFrame({"x": [0.0] * 90 + [float(i) for i in range(1, 31)]})
    around = Comparison.of(frame, frame, aligned=True).crowd
    assert around.hit[:90] == pytest.approx(1 / 90)
    assert around.hit[90:] == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_column_order_index_and_kind_of_dataframe_change_nothing(
    kind: str, originals: pl.DataFrame, avatars: pl.DataFrame, comparison: Comparison
) -> None:
    shuffled = avatars.select(reversed(avatars.columns))
    one, other = KINDS[kind](originals), KINDS[kind](shuffled)
    if kind == "pandas":
        one.index = range(1000, 1000 + len(one))
        other.index = [0] * len(other)
    found = Comparison.of(one, other, aligned=True)
    assert (found.crowd.closer == comparison.crowd.closer).all()
    assert found.closest_originals == pytest.approx(comparison.closest_originals)


def test_renamed_columns_change_nothing(
    originals: pl.DataFrame, avatars: pl.DataFrame, comparison: Comparison
) -> None:
    names = ["class", "a (b)", 'q"uote', "new\nline", "😀", " "]
    one, other = (
        frame.rename(dict(zip(frame.columns, names, strict=True))) for frame in (originals, avatars)
    )
    found = Comparison.of(one, other, aligned=True)
    assert found.closest_originals == pytest.approx(comparison.closest_originals)


def test_whole_numbers_as_column_names(originals: pl.DataFrame, avatars: pl.DataFrame) -> None:
    one, other = originals.to_pandas(), avatars.to_pandas()
    one.columns = other.columns = pd.RangeIndex(one.shape[1])
    assert Comparison.of(one, other, aligned=True).originals.names == tuple(range(one.shape[1]))


def test_a_missing_or_extra_column_is_named(originals: pl.DataFrame, avatars: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="'marker'"):
        Comparison.of(originals, avatars.drop("marker"))
    with pytest.raises(InputError, match="'more'"):
        Comparison.of(originals, avatars.with_columns(more=1))
    with pytest.raises(InputError, match=r"holdout: .*'marker'"):
        Comparison.of(originals, avatars, holdout=originals.drop("marker"))


def test_dropped_columns_may_be_absent_and_kept_ones_are_compared(
    originals: pl.DataFrame, avatars: pl.DataFrame
) -> None:
    found = Comparison.of(
        originals, avatars.drop("age"), roles=Roles(drop=("age",), keep=("weight",))
    )
    assert found.originals.names == tuple(name for name in originals.columns if name != "age")


def test_aligned_tables_have_fitting_rows(originals: pl.DataFrame, avatars: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="200 originals and 199 avatars"):
        Comparison.of(originals, avatars.head(199), aligned=True)
    assert not Comparison.of(originals, avatars.head(199)).aligned


def test_encoded_tables_are_taken_as_they_are(originals: pl.DataFrame) -> None:
    avatarizer = Avatarizer(k=5, seed=1, method="smoothed").fit(originals)
    fast = Comparison.of(avatarizer.table, avatarizer.draw(), aligned=True)
    slow = Comparison.of(originals, avatarizer.release(shuffle=False), aligned=True)
    assert fast.avatar_points == pytest.approx(slow.avatar_points)
    turned = Avatarizer(seed=1, method="smoothed").fit(originals.reverse())
    with pytest.raises(InputError, match="encoded in two ways"):
        Comparison.of(avatarizer.table, turned.draw())


def test_types_that_differ_are_compared_by_value_and_reported(originals: pl.DataFrame) -> None:
    other = originals.with_columns(
        pl.col("age").cast(pl.Float64), pl.col("sex").cast(pl.Categorical)
    )
    found = Comparison.of(originals, other, aligned=True)
    assert found.closest_originals[:, 0].max() == 0
    assert sum("compared by value" in note for note in spoken(found.notes)) == 2


def test_what_only_avatars_have_is_reported(originals: pl.DataFrame) -> None:
    other = originals.with_columns(
        age=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise(pl.col("age")),
        sex=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("X")).otherwise(pl.col("sex")),
    )
    assert tuple(spoken(Comparison.of(originals, other).notes)) == (
        "column 'age' has missing values in the avatars only",
        "column 'sex' has a value in the avatars only",
    )


def test_levels_of_the_holdout_and_of_the_avatars_are_not_mixed_up() -> None:
    originals = pl.DataFrame({"c": ["a", "b"] * 10})
    found = Comparison.of(
        originals,
        originals.with_columns(c=pl.lit("only avatars")),
        holdout=originals.with_columns(c=pl.lit("only holdout")),
    )
    assert found.holdout is not None
    (held,), (made,) = found.holdout.levels, found.avatars.levels
    assert held.codes[0] != made.codes[0]


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_not_changed(kind: str, originals: pl.DataFrame, avatars: pl.DataFrame) -> None:
    one, other = KINDS[kind](originals), KINDS[kind](avatars)
    _ = Comparison.of(one, other, aligned=True, holdout=one).crowd
    for frame, before in ((one, originals), (other, avatars)):
        after = pl.from_arrow(frame) if isinstance(frame, pa.Table) else pl.DataFrame(frame)
        assert pl.DataFrame(after).equals(pl.DataFrame(before))
