"""Likelihoods of each estimator against SciPy, pair by pair."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sosie.attacks.estimators.diagonal import Diagonal
from sosie.attacks.estimators.nearest_mean import NearestMean
from sosie.attacks.estimators.pooled import Pooled
from sosie.attacks.estimators.published import Published
from sosie.attacks.moments import Cloud
from sosie.data.table import Table
from sosie.latent.famd import FAMD

PEOPLE, TARGETS, WIDTH = 12, 9, 3


@pytest.fixture(scope="module")
def famd() -> FAMD:
    import polars as pl

    columns = {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate("abc")}
    return FAMD.fit(Table.of(pl.DataFrame(columns)), WIDTH)


def cloud_of(famd: FAMD, samples: np.ndarray) -> Cloud:
    covariances = np.stack([np.cov(person.T) for person in samples])
    return Cloud(samples.shape[1], famd, samples.mean(axis=1), covariances)


@pytest.fixture(scope="module")
def cloud(famd: FAMD) -> Cloud:
    rng = np.random.default_rng(0)
    return cloud_of(famd, rng.normal(size=(PEOPLE, 8, WIDTH)) + rng.normal(size=(PEOPLE, 1, WIDTH)))


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(TARGETS, WIDTH))


def expected(points: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    return np.array(
        [
            [multivariate_normal(m, c).logpdf(y) for m, c in zip(means, covariances, strict=True)]
            for y in points
        ]
    )


def test_published_is_each_persons_own_gaussian(cloud: Cloud, points: np.ndarray):
    scorer = Published().fit(cloud, points)
    right = expected(points, cloud.means, cloud.covariances)
    np.testing.assert_allclose(scorer.grid(np.arange(TARGETS)), right, rtol=1e-9)
    everyone = np.arange(PEOPLE)[None, :]
    np.testing.assert_allclose(
        scorer.pairs(np.arange(TARGETS)[:, None], everyone), right, rtol=1e-9
    )


def test_published_drops_directions_without_variance(famd: FAMD, points: np.ndarray):
    """Two releases: rank 1. Pseudo-inverse and pseudo-determinant, as in SciPy on the support."""
    samples = np.random.default_rng(2).normal(size=(PEOPLE, 2, WIDTH))
    cloud = cloud_of(famd, samples)
    scorer = Published().fit(cloud, points)
    for i in range(PEOPLE):
        values, vectors = np.linalg.eigh(cloud.covariances[i])
        assert (values[:-1] < 1e-10 * values[-1]).all()
        along = (points - cloud.means[i]) @ vectors[:, -1]
        right = -0.5 * (along**2 / values[-1] + np.log(2 * np.pi * values[-1]))
        np.testing.assert_allclose(scorer.grid(np.arange(TARGETS))[:, i], right, rtol=1e-7)
        law = multivariate_normal(cloud.means[i], cloud.covariances[i], allow_singular=True)
        on_the_line = cloud.means[i] + along[0] * vectors[:, -1]
        assert law.logpdf(on_the_line) == pytest.approx(right[0], rel=1e-6)


def test_equal_avatars_are_a_point(famd: FAMD):
    samples = np.random.default_rng(3).normal(size=(PEOPLE, 5, WIDTH))
    samples[4] = samples[4, 0]
    cloud = cloud_of(famd, samples)
    points = np.vstack([cloud.means[4], cloud.means[4] + 0.1])
    scores = Published().fit(cloud, points).grid(np.arange(2))
    assert scores[0, 4] == np.inf
    assert scores[1, 4] == -np.inf
    assert np.isfinite(np.delete(scores, 4, axis=1)).all()


@pytest.mark.parametrize("shrinkage", [0.02, 0.5, 1.0])
def test_pooled_is_drawn_to_the_mean_covariance(cloud: Cloud, points: np.ndarray, shrinkage: float):
    pooled = cloud.covariances.mean(axis=0)
    shrunk = (1 - shrinkage) * cloud.covariances + shrinkage * pooled
    right = expected(points, cloud.means, shrunk)
    scores = Pooled(shrinkage).fit(cloud, points).grid(np.arange(TARGETS))
    # Up to a constant that is the same for everyone.
    np.testing.assert_allclose(scores - scores[:1, :1], right - right[:1, :1], rtol=1e-8)


def test_pooled_keeps_what_never_varies(famd: FAMD):
    """A column that stays the same in all of a person's avatars tells them apart."""
    rng = np.random.default_rng(4)
    samples = rng.normal(size=(PEOPLE, 6, WIDTH))
    samples[:, :, 0] = np.arange(PEOPLE)[:, None]
    cloud = cloud_of(famd, samples)
    points = rng.normal(size=(PEOPLE, WIDTH))
    points[:, 0] = np.arange(PEOPLE)
    for shrinkage in (0.1, 1.0):
        scores = Pooled(shrinkage).fit(cloud, points).grid(np.arange(PEOPLE))
        np.testing.assert_array_equal(scores.argmax(axis=1), np.arange(PEOPLE))


def test_diagonal_has_no_covariances(cloud: Cloud, points: np.ndarray):
    own = np.stack([np.diag(c) for c in cloud.covariances])
    variances = 0.9 * own + 0.1 * own.mean(axis=0)
    right = expected(points, cloud.means, np.stack([np.diag(v) for v in variances]))
    scorer = Diagonal().fit(cloud, points)
    np.testing.assert_allclose(scorer.grid(np.arange(TARGETS)), right, rtol=1e-9)


def test_nearest_mean_is_distance(cloud: Cloud, points: np.ndarray):
    scores = NearestMean().fit(cloud, points).grid(np.arange(TARGETS))
    distances = np.linalg.norm(points[:, None] - cloud.means, axis=2)
    np.testing.assert_allclose(np.sqrt(-2 * scores), distances)


@pytest.mark.parametrize(
    "estimator", [Published(), Pooled(0.1), Pooled(1.0), Diagonal(), NearestMean()]
)
def test_pairs_and_grid_agree(cloud: Cloud, points: np.ndarray, estimator):
    scorer = estimator.fit(cloud, points)
    some, who = np.array([4, 0, 7]), np.array([3, 11, 2, 5])
    grid = scorer.grid(some, who)
    np.testing.assert_allclose(grid, scorer.grid(np.arange(TARGETS))[np.ix_(some, who)], rtol=1e-9)
    np.testing.assert_allclose(grid, scorer.pairs(some[:, None], who[None, :]), rtol=1e-7)
