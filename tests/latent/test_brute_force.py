"""Search in blocks against SciPy's kd-tree and against all distances; when it is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from sosie.compute.arrays import Floats
from sosie.latent import brute_force as blocks
from sosie.latent.neighbours import NeighbourIndex

RNG = np.random.default_rng(0)


def lattice(rows: int, components: int) -> Floats:
    """Distinct points, many of them at the same distance of others."""
    points = RNG.normal(size=(rows, components))
    points[::2] = np.round(points[::2])
    return np.unique(points, axis=0)


@pytest.mark.parametrize("components", [1, 3, 4, 7, 8, 13])
def test_distances_are_those_of_a_tree_to_the_last_bit(components: int) -> None:
    points = lattice(3_000, components)
    queries = np.concatenate([points[:150], RNG.normal(size=(150, components))])
    k = min(12, len(points))
    wanted, _ = KDTree(points).query(queries, k=k)
    found, _ = blocks.nearest(points, queries, k, np.arange(len(points)), threads=2)
    assert found.tolist() == np.reshape(wanted, found.shape).tolist()


@pytest.mark.parametrize("components", [2, 9])
def test_equally_near_points_come_in_their_order(components: int) -> None:
    points = lattice(2_000, components)
    ties = RNG.permutation(len(points))
    queries = np.round(RNG.normal(size=(200, components)))
    found, rows = blocks.nearest(points, queries, 7, ties, threads=1)
    away = cdist(queries, points)
    for query, (near, held) in enumerate(zip(found, rows, strict=True)):
        order = np.lexsort([ties, away[query].round(9)])[:7]
        assert held.tolist() == order.tolist()
        np.testing.assert_allclose(near, away[query][order], rtol=1e-12, atol=1e-12)


def test_all_points_can_be_asked_for() -> None:
    points = lattice(40, 3)
    found, rows = blocks.nearest(points, points, len(points), np.arange(len(points)), threads=1)
    assert (np.sort(rows, axis=1) == np.arange(len(points))).all()
    assert (np.diff(found, axis=1) >= 0).all()


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1.0, 1e9, 1e140])
@pytest.mark.parametrize("centre", [0.0, 1e6])
def test_far_from_the_origin_and_on_any_scale(scale: float, centre: float) -> None:
    """Products lose digits where points are far from 0: the true nearest are found all the same."""
    points = (RNG.normal(size=(500, 9)) + centre) * scale
    wanted, rows = KDTree(points).query(points, k=5)
    found, near = blocks.nearest(points, points, 5, np.arange(500), threads=1)
    assert found.tolist() == wanted.tolist()
    assert near.tolist() == rows.tolist()


@pytest.mark.parametrize("blocked", [True, False])
def test_an_index_gives_the_same_either_way(blocked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.concatenate([lattice(1_500, 8), lattice(300, 8)])
    points = np.concatenate([points, points[:400], np.repeat(points[:1], 50, axis=0)])
    queries = RNG.normal(size=(100, 8))
    wanted = NeighbourIndex(points)
    assert not wanted._in_blocks
    monkeypatch.setattr(blocks, "pay", lambda _: blocked)
    index = NeighbourIndex(points, threads=1)
    assert index._in_blocks is blocked
    for one, other in (
        (index.others(6), wanted.others(6)),
        (index.nearest(queries, 9), wanted.nearest(queries, 9)),
    ):
        assert one.distances.tolist() == other.distances.tolist()
        assert one.rows.tolist() == other.rows.tolist()
    within = np.linspace(0.5, 3.0, len(queries))
    one, other = (i.nearest_points(queries, 5, within) for i in (index, wanted))
    near = other.distances <= within[:, None]
    assert (one.distances[near] == other.distances[near]).all()
    assert (one.first[near] == other.first[near]).all()
    assert (one.distances[~near] > np.broadcast_to(within[:, None], near.shape)[~near]).all()


def test_blocks_pay_where_a_tree_would_read_most() -> None:
    points = RNG.normal(size=(20_000, 16))
    assert blocks.pay(NeighbourIndex(points).placed)
    assert not blocks.pay(NeighbourIndex(points[:, :5]).placed)
    # Three directions in sixteen axes are three components.
    flat = RNG.normal(size=(20_000, 3)) @ RNG.normal(size=(3, 16))
    assert not blocks.pay(NeighbourIndex(flat).placed)
    assert not blocks.pay(points[:1_000])


def test_the_share_is_what_the_boxes_say() -> None:
    """Against all distances and boxes, at the points that are looked at."""
    points = NeighbourIndex(RNG.normal(size=(4_000, 8))).placed
    leaves = [points[start : start + 24] for start in range(0, len(points), 24)]
    shares = []
    for row in np.linspace(0, len(points) - 1, 16).astype(int):
        reach = np.sort(cdist(points[[row]], points)[0])[32]
        gaps = [np.clip(points[row], leaf.min(0), leaf.max(0)) - points[row] for leaf in leaves]
        shares.append(np.mean([np.linalg.norm(gap) <= reach for gap in gaps]))
    assert blocks.share_read(points) == pytest.approx(np.mean(shares), abs=2 / len(leaves))
