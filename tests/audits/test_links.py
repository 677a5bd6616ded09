"""Links: two halves of the columns, and spaces of their own."""

import numpy as np
import pytest
from comparison_cases import KNOWN, REST

from sosie.audits.comparison import Comparison
from sosie.audits.links import count_pairs, split
from sosie.latent.famd import FAMD


def test_columns_of_a_split_have_a_space_of_their_own(comparison: Comparison) -> None:
    for names in (KNOWN, REST, ["sex"], ["weight"]):
        alone = FAMD.fit(comparison.originals.select(names))
        found = comparison.space(names)
        assert found.transform(comparison.avatars) == pytest.approx(
            alone.transform(comparison.avatars), abs=1e-9
        )


def test_every_other_column_is_known_unless_told(comparison: Comparison) -> None:
    names = comparison.originals.names
    assert split(comparison.originals, None) == (names[::2], names[1::2])


def test_pairs_are_counted_as_a_loop_counts_them() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 5, (2, 60))
    one, other = rng.integers(0, 6, (2, 40))
    expected = [int(((left == a) & (right == b)).sum()) for a, b in zip(one, other, strict=True)]
    assert count_pairs(left, right, one, other).tolist() == expected
