"""The tree by halving, against plain recursion, and what it must not depend on."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie.compute.storage import Disk
from sosie.data.table import Table
from sosie.errors import InputError
from sosie.latent import tree
from sosie.latent.content import content_hashes
from sosie.latent.tree import Axes, Cuts, Groups, Parts, Sample, top_cuts

KEY = 2**127 + 12345

TWINS = 7
"""The seed of a table in which every row is there three times."""


def table(rows: int, seed: int = 0) -> pl.DataFrame:
    """Numbers with many ties."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "a": rng.normal(size=rows).round(1),
            "b": rng.integers(0, 4, rows),
            "c": rng.exponential(3, rows).round(),
            "d": np.zeros(rows),
        }
    )
    return frame[np.arange(rows) // 3 * 3] if seed == TWINS else frame


def cut(frame: pl.DataFrame, k: int, key: int = KEY, **options: Any) -> Groups:
    points = frame.to_numpy().astype(np.float64)
    return tree.groups(points, content_hashes(Table.of(frame)), key, k, reach=40.0, **options)


def members(frame: pl.DataFrame, made: Groups) -> list[list[tuple[Any, ...]]]:
    """What the rows of each group hold, whichever twin it is."""
    rows = frame.rows()
    ranges = zip(made.bounds[:-1], made.bounds[1:], strict=True)
    return [sorted(rows[row] for row in made.order[first:last]) for first, last in ranges]


def encoded(frame: pl.DataFrame, key: int = KEY) -> tuple[Any, Any]:
    points = frame.to_numpy().astype(np.float64)
    axes = Axes.drawn(key, points.shape[1], 40.0)
    return axes.whole(points), tree.tags(content_hashes(Table.of(frame)), key)


# ---------------------------------------------------------------- the tree


def plain(whole: Any, rows: list[int], k: int) -> list[list[int]]:
    """The definition: halve at the median of the axis of greatest variance, while both hold k."""
    if len(rows) < 2 * k:
        return [rows]

    def variance(axis: int) -> Fraction:
        values = [int(whole[row, axis]) for row in rows]
        mean = Fraction(sum(values), len(values))
        return sum(((value - mean) ** 2 for value in values), Fraction(0))

    axis = max(range(whole.shape[1]), key=lambda axis: (variance(axis), -axis))
    half = len(rows) - len(rows) // 2
    lower = set(sorted(rows, key=lambda row: (whole[row, axis], rows.index(row)))[:half])
    sides = [row for row in rows if row in lower], [row for row in rows if row not in lower]
    return [group for side in sides for group in plain(whole, side, k)]


@pytest.mark.parametrize(("rows", "k"), [(2, 2), (17, 2), (40, 3), (100, 5), (211, 10), (9, 5)])
def test_groups_are_those_of_plain_recursion(rows: int, k: int) -> None:
    frame = table(rows).unique(maintain_order=True)
    whole, tags = encoded(frame)
    expected = plain(whole, sorted(range(len(frame)), key=lambda row: tags[row]), k)
    made = cut(frame, k)
    ranges = zip(made.bounds[:-1], made.bounds[1:], strict=True)
    assert [made.order[first:last].tolist() for first, last in ranges] == expected


@pytest.mark.parametrize("k", [2, 3, 7, 10])
def test_sizes_are_k_to_2k_minus_1(k: int) -> None:
    for rows in [*range(k, 12 * k), 997, 4_096, 5_001]:
        made = cut(table(rows, seed=rows % 3), k)
        assert sorted(made.order.tolist()) == list(range(rows))
        assert made.bounds[0] == 0
        assert made.bounds[-1] == rows
        assert made.sizes.min() >= k
        assert made.sizes.max() <= 2 * k - 1


def test_groups_of_a_larger_k_are_unions_of_those_of_a_smaller_one() -> None:
    frame = table(3_001)
    bounds = [set(cut(frame, k).bounds.tolist()) for k in (2, 3, 5, 8, 10, 20, 77)]
    order = [cut(frame, k).order for k in (2, 20)]
    for fine, coarse in pairwise(bounds):
        assert coarse <= fine
    made = cut(frame, 20)
    for first, last in zip(made.bounds[:-1], made.bounds[1:], strict=True):
        assert set(order[0][first:last].tolist()) == set(order[1][first:last].tolist())


def test_nodes_larger_than_the_cache_are_halved_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table(2_500)
    expected = cut(frame, 5)
    for name, value in (("CACHED", 64), ("SUMMED", 100), ("CHUNK", 33), ("POSITION_BITS", 4)):
        monkeypatch.setattr(tree, name, value)
        made = cut(frame, 5)
        assert np.array_equal(made.order, expected.order)
        assert np.array_equal(made.parents, expected.parents)


# ---------------------------------------------------------------- what it depends on


@pytest.mark.parametrize("seed", [0, TWINS])
@pytest.mark.parametrize("stratified", [False, True])
def test_the_order_of_the_rows_changes_nothing(seed: int, stratified: bool) -> None:
    frame = table(600, seed)
    rng = np.random.default_rng(1)

    def made(frame: pl.DataFrame) -> list[list[tuple[Any, ...]]]:
        strata = (frame["b"].to_numpy() > 1).astype(np.int64) if stratified else None
        return members(frame, cut(frame, 4, strata=strata))

    expected = made(frame)
    for _ in range(3):
        assert made(frame[rng.permutation(len(frame))]) == expected


def test_equal_rows_are_cut_into_groups_too() -> None:
    made = cut(pl.DataFrame({"a": [3] * 50, "b": [1] * 50}), 10)
    assert made.sizes.tolist() == [13, 12, 13, 12]


def test_axes_depend_on_the_key_alone() -> None:
    one, again, other = (Axes.drawn(key, 10, 1.0).rotation for key in (1, 1, 2))
    assert np.array_equal(one, again)
    assert np.abs(one - other).max() > tree.FINE / 10
    unit = one / tree.FINE
    assert np.allclose(unit @ unit.T, np.eye(10), atol=1e-5)


def test_every_direction_of_the_axes_is_as_likely() -> None:
    """Entries of a Haar matrix: mean 0, variance 1/d, and no preference for a sign."""
    drawn = np.stack([Axes.drawn(key, 3, 1.0).rotation for key in range(2_000)]) / tree.FINE
    error = 4 / np.sqrt(2_000)
    assert np.abs(drawn.mean(axis=0)).max() < error
    assert np.abs(np.square(drawn).mean(axis=0) - 1 / 3).max() < error
    assert abs((np.linalg.det(drawn) > 0).mean() - 0.5) < error


def test_another_key_gives_other_groups() -> None:
    frame = table(400)
    assert members(frame, cut(frame, 5, key=1)) != members(frame, cut(frame, 5, key=2))


def test_coordinates_are_those_of_the_rotation_whatever_the_batch() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 10))
    axes = Axes.drawn(KEY, 10, 8.0)
    whole = axes.whole(points)
    assert np.abs(whole - points @ (axes.rotation / tree.FINE) / 8 * tree.COARSE).max() < 0.6
    alone = np.concatenate([axes.whole(points[row : row + 1]) for row in range(500)])
    assert np.array_equal(whole, alone)
    fine = np.rint(points / 8 * tree.FINE).astype(object)  # Python's whole numbers: no rounding
    exact = fine.dot(axes.rotation.astype(np.int64).astype(object))
    assert [round(x * tree.COARSE / tree.FINE**2) for x in exact.ravel()] == whole.ravel().tolist()


def test_points_beyond_the_box_are_put_on_its_border() -> None:
    whole = Axes.drawn(1, 1, 2.0).whole(np.array([[1e300], [2.0], [-1e300]]))
    assert np.abs(whole.astype(np.int64)).min() >= tree.COARSE - 1
    assert Axes.drawn(1, 1, 0.0).whole(np.zeros((2, 1))).tolist() == [[0], [0]]


def test_sums_of_squares_are_exact_at_the_ends_of_the_range() -> None:
    taken = np.full((1, 200_000, 2), -tree.COARSE, dtype=np.int16)
    taken[0, 0] = (1, 3)
    sums, squares = tree._moments(taken)
    assert squares.tolist() == [[199_999 * 2**30 + 1, 199_999 * 2**30 + 9]]
    assert sums.tolist() == [[-199_999 * 2**15 + 1, -199_999 * 2**15 + 3]]


def test_tags_are_a_permutation_that_the_key_decides() -> None:
    numbers = np.arange(100_000, dtype=np.uint64)
    made = tree.tags(numbers, KEY)
    assert len(np.unique(made)) == len(numbers)
    assert abs(np.corrcoef(made.astype(float), tree.tags(numbers, 1).astype(float))[0, 1]) < 0.02
    assert numbers[1] == 1  # the input is as it was


def test_rows_may_stand_on_disk(tmp_path: Path) -> None:
    frame = table(900)
    storage = Disk(tmp_path)
    points = storage.keep(frame.to_numpy().astype(np.float64))
    made = tree.groups(points, content_hashes(Table.of(frame)), KEY, 6, reach=40.0, storage=storage)
    assert isinstance(made.order, np.memmap)
    assert np.array_equal(made.order, cut(frame, 6).order)


# ---------------------------------------------------------------- nodes above the groups


@pytest.mark.parametrize("size", [1, 11, 40, 88, 500, 701, 5_000])
def test_above_is_the_smallest_node_that_is_large_enough(size: int) -> None:
    strata = np.repeat([0, 1, 1], [100, 300, 301])
    made = cut(table(701), 11, strata=strata)
    nodes = [*zip(made.bounds[:-1], made.bounds[1:], strict=True), *map(tuple, made.inner)]
    for group, found in enumerate(made.above(size).tolist()):
        first, last = made.bounds[group : group + 2]
        around = [node for node in nodes if node[0] <= first and last <= node[1]]
        large = [node for node in around if node[1] - node[0] >= min(size, 701)]
        assert tuple(found) == min(large, key=lambda node: node[1] - node[0])


def test_every_node_is_the_union_of_two_below_it() -> None:
    made = cut(table(777), 5)
    assert made.inner[0].tolist() == [0, 777]
    nodes = np.concatenate([np.stack([made.bounds[:-1], made.bounds[1:]], 1), made.inner])
    for number in range(1, len(made.inner)):
        below = nodes[made.parents == number]
        assert len(below) == 2
        assert sorted(below.ravel().tolist())[::3] == made.inner[number].tolist()


# ---------------------------------------------------------------- strata


def test_groups_stay_inside_strata() -> None:
    rng = np.random.default_rng(3)
    strata = rng.integers(0, 9, 2_000)
    made = cut(table(2_000), 10, strata=strata)
    assert made.sizes.min() >= 10
    assert made.sizes.max() <= 19
    firsts = strata[made.order[made.bounds[:-1]]]
    assert np.array_equal(np.repeat(firsts, made.sizes), strata[made.order])
    assert (np.diff(firsts) >= 0).all()


def test_a_stratum_is_cut_as_a_table_of_its_own() -> None:
    frame = table(500)
    strata = (np.arange(500) >= 200) * 5  # numbers without anyone are no strata
    both = members(frame, cut(frame, 6, strata=strata))
    alone = [members(part, cut(part, 6)) for part in (frame[:200], frame[200:])]
    assert both == alone[0] + alone[1]


def test_a_small_stratum_is_an_error_that_names_it() -> None:
    strata = np.repeat([0, 1, 2], [93, 4, 3])
    names = ["sex F", "sex M", "sex unknown"]
    with pytest.raises(InputError, match=r"only 3 people have sex unknown \(and 1 more.*--coarsen"):
        cut(table(100), 10, strata=strata, name=names.__getitem__)


@pytest.mark.parametrize(
    ("rows", "k", "text"),
    [(100, 1, "at least 2"), (4, 5, "k is 5.*table of 4 rows the largest k is 4")],
)
def test_what_can_not_be_grouped_is_an_error(rows: int, k: int, text: str) -> None:
    with pytest.raises(InputError, match=text):
        cut(table(rows), k)


# ---------------------------------------------------------------- top cuts from a sample


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants by which a table of thousands of rows is large."""
    constants = {"LARGE": 1_000, "PART": 300, "PER_PART": 64, "FEWEST": 16, "CHUNK": 500}
    for name, value in constants.items():
        monkeypatch.setattr(tree, name, value)


def in_parts(whole: Any, tags: Any, parts: int, k: int) -> tuple[Cuts, Groups]:
    """As a cluster does it: samples of parts of the table, one shuffle, a tree in each part."""
    size = tree.sample_size(len(whole))
    rows = np.array_split(np.random.default_rng(parts).permutation(len(whole)), parts)
    samples = [Sample.of(whole[some], tags[some], size) for some in rows]
    cuts = top_cuts(Sample.merged(samples, size), len(whole))
    part = np.empty(len(whole), dtype=np.int64)
    for some in rows:
        part[some] = cuts.part_of(whole[some], tags[some])
    inside = [np.flatnonzero(part == number) for number in range(cuts.parts)]
    order = [some[tree.tree_order(whole[some], tags[some], k)] for some in inside]
    sizes = np.array([len(some) for some in inside])
    return cuts, Parts.of([cuts]).groups(np.concatenate(order), sizes, k)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_groups_are_the_same_in_one_piece_and_in_parts(parts: int) -> None:
    frame = table(3_000)
    whole, tags = encoded(frame)
    expected = tree.cut(whole, tags, 5)
    cuts, made = in_parts(whole, tags, parts, 5)
    assert cuts.parts > 5
    assert members(frame, made) == members(frame, expected)
    assert np.array_equal(made.inner, expected.inner)
    assert np.array_equal(made.parents, expected.parents)


@pytest.mark.usefixtures("small")
def test_the_order_of_the_rows_changes_nothing_over_cuts_either() -> None:
    frame = table(3_000)
    moved = frame[np.random.default_rng(2).permutation(3_000)]
    assert members(frame, cut(frame, 4)) == members(moved, cut(moved, 4))


def test_a_sample_counts_all_rows_that_hold_the_same() -> None:
    rng = np.random.default_rng(0)
    tags = rng.integers(0, 40, 1_000).astype(np.uint64)
    whole = np.stack([tags, tags], axis=1).astype(np.int16)
    parts = [Sample.of(whole[some], tags[some], 10) for some in (slice(0, 30), slice(30, 1_000))]
    made = Sample.merged(parts, 10)
    assert made.tags.tolist() == list(range(10))
    assert made.counts.tolist() == np.bincount(tags.astype(np.int64))[:10].tolist()
    assert made.points[:, 0].tolist() == list(range(10))


def cuts_of(frame: pl.DataFrame) -> tuple[Any, Any, Cuts]:
    whole, tags = encoded(frame)
    sample = Sample.of(whole, tags, tree.sample_size(len(frame)))
    return whole, tags, top_cuts(sample, len(frame))


MOSTLY_ONE = 45_000
"""Rows that hold the same, beside 5,000 others."""


def mostly_one() -> pl.DataFrame:
    return pl.concat([table(5_000), pl.concat([table(1)] * MOSTLY_ONE)])


@pytest.mark.usefixtures("small")
def test_parts_are_balanced_and_never_small() -> None:
    whole, tags, cuts = cuts_of(table(5_000))
    sizes = np.bincount(cuts.part_of(whole, tags), minlength=cuts.parts)
    assert cuts.parts >= 8
    assert sizes.min() >= 16
    assert sizes.max() < 4 * sizes.min()


@pytest.mark.usefixtures("small")
def test_a_row_that_most_people_share_stays_whole() -> None:
    """It can't be cut by what rows hold; others are, and no part falls under the fewest."""
    whole, tags, cuts = cuts_of(mostly_one())
    part = cuts.part_of(whole, tags)
    assert len(np.unique(part[5_000:])) == 1
    assert np.bincount(part, minlength=cuts.parts).min() >= 16


@pytest.mark.usefixtures("small")
def test_groups_over_cuts_are_nested_and_never_under_k() -> None:
    whole, tags, cuts = cuts_of(mostly_one())
    part = cuts.part_of(whole, tags)
    sizes = np.bincount(part, minlength=cuts.parts)
    order = np.argsort(part)
    assert cuts.parts > 3
    finer: set[int] | None = None
    for k in (2, 5, 20, 100, int(sizes.min()) + 1, 2_000, 30_000):
        made = Parts.of([cuts]).groups(order, sizes, k)
        bounds = set(made.bounds.tolist())
        assert made.sizes.min() >= k
        assert k > sizes.min() or made.sizes.max() <= 2 * k - 1
        assert finer is None or bounds <= finer
        assert (made.above(8 * k)[:, 1] - made.above(8 * k)[:, 0] >= min(8 * k, 50_000)).all()
        finer = bounds


@pytest.mark.usefixtures("small")
def test_large_strata_have_cuts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table(4_000)
    strata = np.repeat([0, 1], [500, 3_500])
    both = members(frame, cut(frame, 5, strata=strata))
    assert {len(group) for group in both} <= set(range(5, 10))
    alone = [members(part, cut(part, 5)) for part in (frame[:500], frame[500:])]
    assert both == alone[0] + alone[1]
    monkeypatch.setattr(tree, "LARGE", 10_000)
    assert members(frame, cut(frame, 5, strata=strata)) != both  # so the cuts were there


@pytest.mark.usefixtures("small")
def test_rows_at_one_point_are_cut_by_their_tags() -> None:
    """As where only columns outside the space tell them apart."""
    tags = tree.tags(np.arange(4_000, dtype=np.uint64), KEY)
    whole = np.zeros((4_000, 2), dtype=np.int16)
    cuts = top_cuts(Sample.of(whole, tags, tree.sample_size(4_000)), 4_000)
    sizes = np.bincount(cuts.part_of(whole, tags), minlength=cuts.parts)
    assert cuts.parts == 8
    assert sizes.min() > 300
    assert sizes.max() < 750


def test_nothing_is_cut_under_a_cut_that_is_not_made() -> None:
    """A part of 3, then two of 50: with k = 10 the first cut is not made, nor what is under it."""
    one, none = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.uint64)
    spans = np.array([[0, 3], [1, 3]])
    low, high = np.array([-1, -2]), np.array([1, -3])
    parts = Parts.of([Cuts(one, one.astype(np.int16), none, low, high, spans)])
    order, sizes = np.arange(103), np.array([3, 50, 50])
    assert parts.groups(order, sizes, 10).bounds.tolist() == [0, 103]
    assert parts.groups(order, sizes, 3).bounds.tolist()[:3] == [0, 3, 7]
    assert parts.groups(order, sizes, 10).above(200).tolist() == [[0, 103]]
