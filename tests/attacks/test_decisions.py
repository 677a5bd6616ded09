"""Decisions on scores that a person can check, and on brute force."""

from itertools import permutations

import numpy as np
import pytest

from sosie.attacks import decisions
from sosie.attacks.decisions import Verdict, assigned, first_of, nearest_people
from sosie.attacks.scenarios import Cast

SCORES = np.array([[5.0, 4.0, 1.0], [5.0, 1.0, 0.0], [0.0, 3.0, 2.0]])


class Fixed:
    """A scorer of known scores."""

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores

    def pairs(self, targets, people):
        return self.scores[targets, people]

    def grid(self, targets, people=None):
        return self.scores[targets] if people is None else self.scores[np.ix_(targets, people)]


def test_first_of_ranks_the_right_person():
    verdict = first_of(SCORES, np.array([0, 1, 2]))
    assert verdict.rank.tolist() == [0, 1, 1]
    assert verdict.margin.tolist() == [1.0, 4.0, 1.0]
    assert verdict.hit.tolist() == [True, False, False]


def test_among_candidates_only():
    near = np.array([[1, 2], [0, 1], [2, 1]])
    verdict = decisions.among(Fixed(SCORES), np.arange(3), np.array([0, 1, 2]), near)
    assert verdict.rank.tolist() == [-1, 1, 1]
    same = decisions.among_scored(SCORES, np.array([0, 1, 2]), near)
    assert same.rank.tolist() == verdict.rank.tolist()
    assert same.margin.tolist() == verdict.margin.tolist()


def test_blocks_of_targets_change_nothing():
    scores = np.random.default_rng(0).normal(size=(50, 40))
    truth = np.random.default_rng(1).integers(0, 40, 50)
    whole = first_of(scores, truth)
    found = decisions.among_all(Fixed(scores), np.arange(50), truth, 40)
    np.testing.assert_array_equal(found.rank, whole.rank)
    order = np.argsort(-scores, axis=1)
    np.testing.assert_array_equal(whole.rank, (order == truth[:, None]).argmax(axis=1))


def test_own_row_looks_along_columns():
    """Person j: the target with the greatest score in column j."""
    rows = np.tile(np.arange(3), (3, 1))
    verdict = decisions.own_row(Fixed(SCORES), np.arange(3), np.arange(3), rows)
    assert verdict.rank.tolist() == [0, 2, 0]


def test_impossible_everywhere_leaves_no_margin():
    scores = np.full((2, 3), -np.inf)
    scores[1] = np.inf
    verdict = first_of(scores, np.array([2, 0]))
    assert verdict.margin.tolist() == [0.0, 0.0]
    assert not np.isnan(verdict.margin).any()


def test_one_to_one_is_the_best_of_all_assignments():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(6, 6))
    best = max(permutations(range(6)), key=lambda p: scores[range(6), p].sum())
    verdict = assigned(scores, np.array(best))
    assert verdict.hit.all()
    others = np.where(np.eye(6)[list(best)] == 1, -np.inf, scores).max(axis=1)
    np.testing.assert_allclose(verdict.margin, scores[range(6), best] - others)


def test_one_to_one_takes_impossible_and_certain():
    scores = np.array([[np.inf, 0.0], [np.inf, -np.inf]])
    assert assigned(scores, np.array([1, 0])).hit.all()


def test_one_to_one_in_blocks_is_as_good_where_blocks_hold_the_truth(monkeypatch):
    """Two far groups, blocks of one group each: the same as all together."""
    rng = np.random.default_rng(3)
    means = rng.normal(size=(40, 2)) + np.repeat([[0.0], [1e3]], 20, axis=0)
    points = means + rng.normal(0, 0.8, size=means.shape)
    scores = -0.5 * np.square(points[:, None] - means).sum(axis=2)
    whole = assigned(scores, np.arange(40))
    monkeypatch.setattr(decisions, "BLOCK", 20)
    found = decisions.one_to_one(Fixed(scores), np.arange(40), np.arange(40), means)
    np.testing.assert_array_equal(found.rank, whole.rank)
    np.testing.assert_allclose(found.margin, whole.margin)


@pytest.mark.parametrize("decide", ["first", "one-to-one", "candidates"])
def test_ties_do_not_leak_the_row_order(decide):
    """Everyone scores the same: only the order could tell, and it is random."""
    hits = 0
    for seed in range(40):
        cast = Cast.of(30, seed)
        flat = np.zeros((30, 30))
        if decide == "first":
            hits += first_of(flat, cast.truth).hit.sum()
        elif decide == "one-to-one":
            hits += assigned(flat, cast.truth).hit.sum()
        else:
            near = nearest_people(np.zeros((30, 2)), np.zeros((30, 2)), 10)
            hits += decisions.among(Fixed(flat), np.arange(30), cast.truth, near).hit.sum()
    assert 15 < hits < 75  # 40 expected


def test_verdicts_join_and_split():
    one, two = (
        Verdict(np.array([0, 1]), np.array([2.0, 3.0])),
        Verdict(np.array([-1]), np.array([0.5])),
    )
    joined = Verdict.joined([one, two])
    assert joined.rank.tolist() == [0, 1, -1]
    assert joined.take(np.array([2, 0])).margin.tolist() == [0.5, 2.0]


def test_nearest_people_are_the_nearest():
    rng = np.random.default_rng(4)
    points, means = rng.normal(size=(25, 3)), rng.normal(size=(60, 3))
    distances = np.linalg.norm(points[:, None] - means, axis=2)
    np.testing.assert_array_equal(
        nearest_people(points, means, 7), np.argsort(distances, axis=1)[:, :7]
    )
