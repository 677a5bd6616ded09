"""Sequences: sums, ranks, autoregressions and ends, each by hand or by brute force."""

from __future__ import annotations

import numpy as np

from sosie.generate.people.sequences import Sequences, autoregression, closed, people_hashes

COUNTS = np.array([3, 0, 1, 4])


def test_sums_ranks_and_sorting_person_by_person() -> None:
    rng = np.random.default_rng(1)
    sequences, values = Sequences.of_counts(COUNTS), rng.normal(size=8)
    values[5] = np.nan
    parts = np.split(values, [3, 4])
    assert sequences.people.tolist() == [0, 2, 3]
    np.testing.assert_allclose(sequences.sums(values), [part.sum() for part in parts])
    known = np.nan_to_num(values)
    ranks = [np.argsort(np.argsort(part)) for part in np.split(known, [3, 4])]
    np.testing.assert_array_equal(sequences.ranks(known), np.concatenate(ranks))
    for part, rising in zip(parts, np.split(sequences.sorted(values), [3, 4]), strict=True):
        here = ~np.isnan(part)
        np.testing.assert_array_equal(rising[here], np.sort(part[here]))
        np.testing.assert_array_equal(np.isnan(part), np.isnan(rising))


def test_autoregression_row_by_row() -> None:
    rng = np.random.default_rng(2)
    sequences, noise = Sequences.of_counts(COUNTS), rng.normal(size=(2, 8))
    rho = np.array([0.5, -0.3])
    made = autoregression(noise, rho, sequences)
    for c in range(2):
        for begin, end in zip(sequences.bounds[:-1], sequences.bounds[1:], strict=True):
            x = noise[c, begin]
            assert made[c, begin] == x
            for row in range(begin + 1, end):
                x = rho[c] * x + np.sqrt(1 - rho[c] ** 2) * noise[c, row]
                assert np.isclose(made[c, row], x)


def test_an_end_belongs_to_k_people_whoever_has_the_most_rows() -> None:
    values = np.array([100.0, 99.0, 98.0, 97.0, 50.0, 40.0, 30.0, 20.0, 10.0, 5.0])
    owner = np.array([0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    way = closed(values, owner, 3)
    assert way is not None
    # Three people reach farthest, one of them four times; 5, 10 and 20 at the other end.
    assert np.isclose(way.ordered[-1], ((100 + 99 + 98 + 97) / 4 + 50 + 40) / 3)
    assert np.isclose(way.ordered[0], (5 + 10 + 20) / 3)
    assert closed(values[:4], owner[:4], 3) is None


def test_hashes_of_people_do_not_depend_on_the_order_of_their_rows() -> None:
    own = np.arange(3, dtype=np.uint64)
    rows, owner = np.array([5, 6, 7, 8], dtype=np.uint64), np.array([0, 0, 1, 2])
    order = np.array([3, 1, 0, 2])
    one = people_hashes(own, [(rows, owner)])
    np.testing.assert_array_equal(one, people_hashes(own, [(rows[order], owner[order])]))
    rows[0] = 9
    assert (one != people_hashes(own, [(rows, owner)])).tolist() == [True, False, False]
