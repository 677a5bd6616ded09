"""Rows rebuilt from releases: corners by hand, interpolation given away, groups not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from sosie.attacks import Releases, attack
from sosie.attacks.faces import Faces, corners_of
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios import reconstruct
from sosie.attacks.scenarios.reconstruct import Cells, Lines, crossings, rebuilt
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer

NAMES = ["a", "b", "d", "e"]


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = pl.DataFrame(rng.normal(size=(rows, len(NAMES))), schema=NAMES)
    return numbers.with_columns(pl.Series("c", rng.choice(["x", "y", "z"], rows)))


class Interpolation:
    """Between a person and one of their 5 nearest; the category of the one that is nearer."""

    def __init__(self, decimals: int = 15) -> None:
        self.decimals = decimals

    def fit(self, data: pl.DataFrame) -> None:
        self.data, self.points = data, data.select(NAMES).to_numpy()
        self.near = cdist(self.points, self.points).argsort(axis=1)[:, 1:6]

    def release(self, r: int) -> pl.DataFrame:
        rng, rows = np.random.default_rng(r), np.arange(len(self.points))
        other, weight = self.near[rows, rng.integers(0, 5, len(rows))], rng.random((len(rows), 1))
        made = self.points + weight * (self.points[other] - self.points)
        taken = self.data["c"].gather(np.where(weight[:, 0] > 0.5, other, rows))
        return pl.DataFrame(made.round(self.decimals), schema=NAMES).with_columns(taken)


def played(generator: object, **more: object) -> tuple[AttackResult, AttackResult]:
    known = {"scenario": "reconstruct", "releases": 10, "holdout": people(100, 2)} | more
    results = attack(people(200, 1), generator, **known).results  # type: ignore[arg-type]
    assert [one.estimator for one in results] == ["records", "crossings", "faces"]
    return results[0], results[1]


def test_two_lines_of_records_cross_in_their_corner() -> None:
    corner = np.array([1.0, 2.0, 3.0])
    ends = corner + np.array([[4.0, 0.0, 1.0], [0.0, 3.0, -1.0]])
    shares = np.array([0.2, 0.4, 0.5, 0.7])[:, None]
    points = np.concatenate([corner + shares * (end - corner) for end in ends])
    lines = Lines.through(points, 1e-6)
    found, pairs = crossings(lines, 1e-6)
    assert len(lines) == 2
    assert np.diff(lines.starts).tolist() == [4, 4]
    np.testing.assert_allclose(found, [corner], atol=1e-9)
    assert pairs.tolist() == [[0, 1]]


def test_records_off_a_line_make_none() -> None:
    points = np.random.default_rng(3).normal(size=(60, 4))
    assert len(Lines.through(points, 1e-6)) == 0


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_two_faces_of_records_meet_in_their_corner(dimensions: int) -> None:
    rng = np.random.default_rng(1)
    corner, points = rng.normal(size=8), []
    for face in range(2):
        ends = corner + np.eye(8)[face * dimensions :][:dimensions] * 2
        weights = rng.dirichlet(np.full(dimensions + 1, 0.5), size=6)
        points.append(weights @ np.vstack([corner, ends]))
    faces = Faces.through(np.concatenate(points), dimensions, 1e-7)
    found, pairs = corners_of(faces, 1e-7)
    assert len(faces) == 2
    assert np.diff(faces.starts).tolist() == [6, 6]
    np.testing.assert_allclose(found, [corner], atol=1e-5)
    assert pairs.tolist() == [[0, 1]]


def test_records_off_a_face_make_none() -> None:
    points = np.random.default_rng(3).normal(size=(60, 6))
    assert len(Faces.through(points, 2, 1e-6)) == 0


@pytest.mark.slow
def test_barycentres_of_three_give_their_people_away_where_numbers_are_not_rounded() -> None:
    rng = np.random.default_rng(9)
    numbers = rng.normal(size=(150, 7))
    frame = pl.DataFrame(numbers, schema=[f"x{i}" for i in range(7)])
    made = Avatarizer(k=3, components=7, method="barycentre", seed=1)
    results = attack(frame, made, scenario="reconstruct", releases=10).results
    rates = {one.estimator: one for one in results}
    records, faces = rates["records"], rates["faces"]
    assert records.ci is not None
    assert faces.ci is not None
    assert faces.ci[0] > max(30, records.ci[1])


def test_faces_of_few_numbers_meet_anywhere() -> None:
    results = attack(people(120, 1), Avatarizer(k=5, seed=1), scenario="reconstruct").results
    (none,) = [one for one in results if one.estimator == "faces"]
    assert none.rate is None
    assert none.reasons == (Reason("faces_meet_anywhere", {"n": 4}),)


def test_a_row_is_rebuilt_as_brute_force_says() -> None:
    rng = np.random.default_rng(5)
    people, guesses = (
        Cells(rng.integers(0, 4, (count, 2)) / 150, rng.integers(0, 2, (count, 1)))
        for count in (40, 12)
    )
    deviations = np.array([1.0, 0.5])
    numbers: NDArray[np.float64] = np.abs(people.numbers[:, None] - guesses.numbers[None])
    close = (numbers <= 0.01 * deviations).all(axis=2)
    same = (people.codes[:, None] == guesses.codes[None]).all(axis=2)
    right = (close & same).any(axis=1)
    np.testing.assert_array_equal(rebuilt(people, guesses, deviations), right)
    assert 0 < right.sum() < len(right)


def test_a_missing_value_equals_a_missing_value_alone() -> None:
    codes = np.zeros((2, 0), dtype=np.int64)
    rows = Cells(np.array([[np.nan], [0.0]]), codes)
    guess = Cells(np.array([[np.nan]]), codes[:1])
    assert rebuilt(rows, guess, np.array([1.0])).tolist() == [True, False]


@pytest.mark.parametrize("decimals", [15, 2])
def test_interpolation_gives_its_people_away(decimals: int) -> None:
    _, crossed = played(Interpolation(decimals))
    assert crossed.rate is not None
    assert crossed.rate > 20
    assert crossed.chance == 0
    assert crossed.candidates <= 200


def test_copies_are_found_among_the_records() -> None:
    frame = people(200, 1)
    records, _ = played(Releases([frame.sample(200, shuffle=True, seed=r) for r in range(11)]))
    assert records.rate == 100
    assert records.chance == 0


def test_groups_give_no_row_away() -> None:
    records, crossed = played(Avatarizer(k=5, seed=1), releases=3)
    assert records.rate == crossed.rate == 0


def test_without_people_apart_there_is_no_chance() -> None:
    for result in played(Interpolation(), holdout=None):
        assert result.rate is not None
        assert result.chance is None
        assert result.reasons == (Reason("nobody_apart"),)


def test_a_large_table_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstruct, "MOST_PEOPLE", 100)
    for result in played(Interpolation(), releases=2):
        assert result.rate is None
        assert result.reasons == (Reason("too_many_to_rebuild", {"most": 100}),)
