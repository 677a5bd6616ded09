"""Draws depend on seed, release, block and purpose, and on nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sosie.compute.randomness import BLOCK, Purpose, blocks, fresh_seed, generator


def test_blocks_cover_the_rows_once() -> None:
    for rows in (1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5):
        parts = list(blocks(rows))
        assert [number for number, _ in parts] == list(range(len(parts)))
        covered = [row for _, part in parts for row in range(part.start, part.stop)]
        assert covered == list(range(rows))
        assert all(part.start == number * BLOCK for number, part in parts)
    assert list(blocks(0)) == []


def test_a_block_is_drawn_alone_in_any_order() -> None:
    keys = list(itertools.product((0, 1), (0, 3), (0, 1, 7), Purpose))
    drawn = {}
    for seed, release, block, purpose in keys:
        drawn[seed, release, block, purpose] = generator(seed, release, block, purpose).random(4)
    for seed, release, block, purpose in reversed(keys):
        again = generator(seed, release, block, purpose).random(4)
        assert np.array_equal(again, drawn[seed, release, block, purpose])
    assert len({tuple(values) for values in drawn.values()}) == len(keys)


def test_the_stream_never_changes_between_versions() -> None:
    """What a seed gave last year it gives today: runs can be repeated."""
    first = generator(2026, 1, 2, Purpose.NOISE).random(3)
    assert first.tolist() == [0.5696639209655335, 0.6739672862951741, 0.3862311764677627]


def test_large_seeds_are_used_in_full() -> None:
    low = generator(1, 0, 0, Purpose.WEIGHTS).random()
    high = generator(1 + 2**100, 0, 0, Purpose.WEIGHTS).random()
    assert low != high


def test_fresh_seeds_are_secret() -> None:
    seeds = {fresh_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**128 for seed in seeds)
    assert max(seeds) > 2**100


@pytest.mark.parametrize("purpose", list(Purpose))
def test_streams_are_not_correlated(purpose: Purpose) -> None:
    one = generator(1, 0, 0, purpose).standard_normal(20_000)
    for other in (
        generator(1, 1, 0, purpose),
        generator(1, 0, 1, purpose),
        generator(2, 0, 0, purpose),
        *(generator(1, 0, 0, another) for another in Purpose if another != purpose),
    ):
        assert abs(np.corrcoef(one, other.standard_normal(20_000))[0, 1]) < 0.03
