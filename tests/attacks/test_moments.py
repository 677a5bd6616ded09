"""Moments of releases against NumPy on everything stacked, and against FAMD of the stack."""

import contextlib
from pathlib import Path

import numpy as np
import pytest

from sosie.attacks.moments import Cloud, Expansion, Moments, accumulate
from sosie.attacks.sources import AvatarSource
from sosie.attacks.store import Store
from sosie.data.table import Table
from sosie.generate.avatarizer import Avatarizer
from sosie.latent.famd import FAMD, CrossProduct, Layout


@pytest.fixture(scope="module")
def source(people):
    import polars as pl

    columns = {k: v for k, v in people(120, seed=3).items() if k != "dose"}
    return AvatarSource(Avatarizer(4, 3, seed=5).fit(pl.DataFrame(columns, strict=False)))


def stacked(source, t: int, components: int | None):
    """FAMD of the originals and t releases together, and the coordinates of every release."""
    tables = [source.draw(r) for r in range(t)]
    product = CrossProduct(Layout.of(source.originals)).add(source.originals)
    for table in tables:
        product.add(table)
    famd = FAMD.solve(product, components)
    return famd, np.stack([famd.transform(table) for table in tables])


def test_running_moments_equal_numpy():
    points = np.random.default_rng(0).normal(size=(7, 30, 4)) + 1e3
    moments, order = Moments.empty(30, 4), np.random.default_rng(1).permutation(30)
    for release in points:
        moments.add([(some, release[some]) for some in (order[:11], order[11:])])
    np.testing.assert_allclose(moments.mean, points.mean(axis=0))
    for i in range(30):
        expected = np.cov(points[:, i].T)
        np.testing.assert_allclose(moments.scatter[i] / 6, expected, atol=1e-9)


def test_expansion_maps_onto_famd(source):
    table = source.originals
    expansion, famd = Expansion(Layout.of(table)), FAMD.fit(table, None)
    slopes, constant = expansion.onto(famd)
    mapped = expansion.points(table) @ slopes + constant
    np.testing.assert_allclose(mapped, famd.transform(table), atol=1e-9)


@pytest.mark.parametrize("memory", [10**9, 60_000], ids=["one pass", "two passes"])
def test_clouds_equal_moments_of_the_stack(source, memory):
    order = np.random.default_rng(1).permutation(120)
    clouds = list(accumulate(source, (3, 8), 5, order=order, memory=memory))
    assert [cloud.releases for cloud in clouds] == [3, 8]
    for cloud in clouds if memory > 10**6 else clouds[1:]:
        famd, points = stacked(source, cloud.releases, 5)
        means = points.mean(axis=0)[order]
        # The same map up to the sign that each component happens to have.
        sign = np.sign((famd.loadings * cloud.famd.loadings).sum(axis=0))
        np.testing.assert_allclose(cloud.means, means * sign, atol=1e-8)
        for place, row in enumerate(order[:20]):
            expected = np.cov((points[:, row] * sign).T)
            np.testing.assert_allclose(cloud.covariances[place], expected, atol=1e-8)


def test_fewer_components_are_the_first_ones(source):
    (cloud,) = accumulate(source, (6,), None, order=np.arange(120))
    small = cloud.first(2)
    np.testing.assert_array_equal(small.covariances, cloud.covariances[:, :2, :2])
    assert small.components == 2
    assert cloud.first(99) is cloud
    assert cloud.first(2) is small


def test_whitened_mean_covariance_is_the_identity(source):
    (cloud,) = accumulate(source, (12,), 4, order=np.arange(120))
    root = cloud.whitened.root
    own = root.T @ cloud.covariances.mean(axis=0) @ root
    np.testing.assert_allclose(own, np.eye(4), atol=1e-9)


def test_no_variation_within_people_whitens_to_plain_distance():
    famd = FAMD.fit(Table.of(_frame()), 2)
    cloud = Cloud(3, famd, np.zeros((5, 2)), np.zeros((5, 2, 2)))
    np.testing.assert_array_equal(np.abs(cloud.whitened.root), np.eye(2))


class StoppedError(Exception):
    """An interruption."""


@pytest.mark.parametrize("memory", [10**9, 60_000], ids=["one pass", "two passes"])
@pytest.mark.parametrize("stop", [1, 5, 7, 10, 14])
def test_interrupted_accumulation_goes_on_where_it_stopped(source, tmp_path, memory, stop):
    order, drawn = np.arange(120), []

    def run(progress=None, folder=tmp_path):
        store = Store(folder, "key", pause=0)
        return list(
            accumulate(
                source, (3, 7), 4, order=order, store=store, progress=progress, memory=memory
            )
        )

    def interrupt(done: int, total: int, what: str) -> None:
        drawn.append(done)
        if done == stop:
            raise StoppedError

    whole = run(folder=tmp_path / "other")
    with contextlib.suppress(StoppedError):
        run(interrupt)
    drawn.clear()
    again = run(lambda done, total, what: drawn.append(done))
    for one, two in zip(whole, again, strict=True):
        np.testing.assert_allclose(one.means, two.means, atol=1e-12)
        np.testing.assert_allclose(one.covariances, two.covariances, atol=1e-12)
    # What was done before the interruption is not done again.
    assert min(drawn, default=99) >= stop


def test_saved_moments_are_for_the_owner_alone(source, tmp_path):
    store = Store.of(tmp_path / "private", "anything")
    list(accumulate(source, (2,), 3, order=np.arange(120), store=store))
    files = list((tmp_path / "private").iterdir())
    assert files
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)


def test_damaged_file_counts_as_none(tmp_path: Path):
    store = Store(tmp_path, "key")
    (tmp_path / "key-moments.npz").write_bytes(b"PK\x03\x04 half a file")
    assert store.load("moments") is None


def test_clear_takes_away_only_its_own(tmp_path: Path):
    one, other = Store(tmp_path, "one"), Store(tmp_path, "other")
    for store in (one, other):
        store.save("moments", {"count": np.array(1)}, soon=False)
    one.clear()
    assert one.load("moments") is None
    assert other.load("moments") is not None


def _frame():
    import polars as pl

    return pl.DataFrame({"a": [float(i) for i in range(20)], "b": [i * i % 17 for i in range(20)]})
