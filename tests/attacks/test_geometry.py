"""Distances to hulls against non-negative least squares, and the geometric attack."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import nnls

from sosie.attacks.decisions import first_of
from sosie.attacks.geometry import EXCLUDED, Geometry, combined, hull_distance
from sosie.attacks.knowledge import Analytic, Law
from sosie.generate.avatarizer import Avatarizer


def by_nnls(corners: np.ndarray) -> float:
    """Least squares with weights at least 0; a heavy row makes them sum to 1."""
    heavy = 1e4
    matrix = np.vstack([corners.T, np.full(len(corners), heavy)])
    weights, _ = nnls(matrix, np.append(np.zeros(corners.shape[1]), heavy))
    return float(np.linalg.norm(weights / weights.sum() @ corners))


@pytest.mark.parametrize(("k", "p"), [(1, 3), (2, 1), (5, 8), (10, 8), (20, 8), (20, 2)])
def test_hull_distance_equals_nnls(k: int, p: int):
    rng = np.random.default_rng(k * p)
    corners = rng.normal(size=(60, k, p)) + rng.normal(size=(60, 1, p))
    fit = hull_distance(corners)
    expected = [by_nnls(one) for one in corners]
    np.testing.assert_allclose(fit.distance, expected, atol=1e-6)
    np.testing.assert_allclose(fit.weights.sum(axis=1), 1)
    assert (fit.weights >= 0).all()
    reached = np.linalg.norm(np.einsum("bk,bkp->bp", fit.weights, corners), axis=1)
    np.testing.assert_allclose(reached, fit.distance, atol=1e-6)


def test_hulls_are_given_up_only_beyond_the_limit():
    rng = np.random.default_rng(0)
    corners = rng.normal(size=(300, 8, 4)) + rng.normal(size=(300, 1, 4))
    exact, limited = hull_distance(corners).distance, hull_distance(corners, limit=0.5).distance
    near = exact <= 0.5
    np.testing.assert_allclose(limited[near], exact[near], atol=1e-9)
    assert (limited[~near] > 0.5).all()
    assert (limited[~near] <= exact[~near] + 1e-9).all()


def test_degenerate_hulls():
    same = np.ones((1, 4, 3))
    assert hull_distance(same).distance[0] == pytest.approx(np.sqrt(3))
    line = np.array([[[1.0, -1.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]])
    assert hull_distance(line).distance[0] == pytest.approx(1)
    inside = np.array([[[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]])
    assert hull_distance(inside).distance[0] == pytest.approx(0, abs=1e-9)


def people_with_holes(rows: int = 150) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    hidden = rng.normal(size=(rows, 2))
    columns = {
        f"x{i}": np.round(hidden @ rng.normal(size=2) * 20 + rng.normal(0, 10, rows), i)
        for i in range(4)
    }
    frame = pl.DataFrame(columns).with_columns(
        group=pl.Series([("a", "b", "c")[i] for i in rng.integers(0, 3, rows)])
    )
    lost = pl.Series(rng.random(rows) < 0.15)
    return frame.with_columns(x1=pl.when(lost).then(None).otherwise(pl.col("x1")))


@pytest.mark.parametrize("decode", ["draw", "vote"])
@pytest.mark.parametrize("k", [3, 12])
def test_the_right_person_always_passes(k: int, decode):
    """Rounding, missing numbers and categories: none may exclude the person who made the target."""
    made = Avatarizer(k, 3, method="barycentre", decode=decode, seed=k).fit(people_with_holes())
    rows = np.arange(150)
    law = Law(made, rows, np.random.default_rng(0))
    for release in range(3):
        sighting = law.sight(made.draw(release), rows)
        geometry = Geometry(law, sighting, Analytic(law, sighting))
        scores = geometry.grid(rows)
        own = scores[rows, rows]
        assert (own > EXCLUDED).all()
        assert (-own <= geometry.limit).all()
        np.testing.assert_allclose(
            geometry.pairs(rows[:, None], rows[:, None])[:, 0], own, atol=1e-6
        )


def test_few_pass_and_smoothing_lets_everyone_pass():
    rows, frame = np.arange(150), people_with_holes()
    hits = {}
    for method in ("barycentre", "smoothed"):
        made = Avatarizer(3, 3, method=method, seed=1).fit(frame)
        law = Law(made, rows, np.random.default_rng(0))
        sighting = law.sight(made.draw(0), rows)
        analytic = Analytic(law, sighting)
        geometry = Geometry(law, sighting, analytic)
        scores = geometry.grid(rows)
        assert (scores <= 0).all()  # minus a distance, so that the nearest hull is first
        if method == "barycentre":
            assert (scores > EXCLUDED).mean() < 0.1
        both = combined(analytic.grid(rows), scores, noisy=geometry.noisy)
        assert np.isfinite(both).all()
        hits[method] = first_of(both, rows).hit.mean()
    assert hits["barycentre"] > 0.9
    assert hits["smoothed"] < 0.75
