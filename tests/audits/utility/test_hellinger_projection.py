"""Hellinger distance on the first components: what columns one by one hide."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import people

from sosie.audits.utility.hellinger_mean import hellinger_mean
from sosie.audits.utility.hellinger_projection import hellinger_projection


def test_the_projection_sees_what_columns_hide() -> None:
    originals = people(500)
    broken = pl.DataFrame(
        [
            originals[name].sample(fraction=1, shuffle=True, seed=i)
            for i, name in enumerate(originals.columns)
        ]
    )
    assert hellinger_mean(originals, broken).value == pytest.approx(0, abs=1e-7)
    found = hellinger_projection(originals, broken)
    assert found.value is not None
    assert found.value > 0.05
    assert [column["column"] for column in found.columns] == [1, 2, 3, 4, 5]
    assert found.value == pytest.approx(np.mean([c["distance"] for c in found.columns]))


def test_copies_and_permutations_keep_the_cloud() -> None:
    originals = people()
    for avatars in (originals, originals.sample(fraction=1, shuffle=True, seed=0)):
        assert hellinger_projection(originals, avatars).value == pytest.approx(0, abs=1e-7)
