"""Hellinger distances: values worked by hand, bins, missing values, the dial."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import dial, people

from sosie.audits.comparison import Comparison
from sosie.audits.histograms import quantile_edges
from sosie.audits.utility.hellinger_mean import hellinger_mean


def test_levels_and_missing_values_are_bins() -> None:
    one = pl.DataFrame({"c": ["a", "a", "b", None]})
    other = pl.DataFrame({"c": ["a", "c", "c", None]})
    expected = np.sqrt(1 - (np.sqrt(2 / 4 * 1 / 4) + 1 / 4))
    assert hellinger_mean(one, other).value == pytest.approx(expected)


def test_numbers_are_binned_between_quantiles_of_the_originals() -> None:
    values = np.arange(1, 41, dtype=float)
    edges = quantile_edges(values)
    assert edges.tolist() == list(range(2, 40, 2))
    one = pl.DataFrame({"x": values})
    other = pl.DataFrame({"x": np.where(values <= 20, values + 100, values)})
    # ten of twenty bins are empty, the last holds 22 of 40, nine keep 2 of 40
    overlap = 9 * 0.05 + np.sqrt(0.05 * 22 / 40)
    assert hellinger_mean(one, other).value == pytest.approx(np.sqrt(1 - overlap))
    gone = pl.DataFrame({"x": [None] * 40}, schema={"x": pl.Float64})
    assert hellinger_mean(one, gone).value == 1


def test_columns_are_ranked_and_averaged() -> None:
    found = hellinger_mean(Comparison.of(people(), people(seed=2), holdout=people(seed=3)))
    distances = [column["distance"] for column in found.columns]
    assert distances == sorted(distances, reverse=True)
    assert found.value == pytest.approx(np.mean(distances))
    assert found.control == pytest.approx(np.mean([c["control"] for c in found.columns]))
    numbers = [c["distance"] for c in found.columns if c["column"] in ("age", "weight", "marker")]
    assert found.detail["numbers"] == pytest.approx(np.mean(numbers))


def test_distances_are_those_of_the_reference(actg175: pl.DataFrame) -> None:
    """Mean Hellinger over the numbers, k=5: .122 for the barycentre, .044 smoothed."""
    from sosie.generate.avatarizer import Avatarizer

    for method, expected in (("barycentre", 0.122), ("smoothed", 0.044)):
        avatarizer = Avatarizer(k=5, method=method, seed=1, constraints=False).fit(actg175)
        found = [
            hellinger_mean(Comparison.of(avatarizer.table, avatarizer.draw(r))).detail["numbers"]
            for r in range(5)
        ]
        assert np.mean(found) == pytest.approx(expected, abs=0.004)


def test_copies_and_permutations_keep_every_distribution() -> None:
    originals = people()
    for avatars in (originals, originals.sample(fraction=1, shuffle=True, seed=0)):
        assert hellinger_mean(originals, avatars).value == pytest.approx(0, abs=1e-7)


def test_the_dial_moves_the_distance_one_way() -> None:
    far = people(seed=9).with_columns(pl.col("age") + 15, sex=pl.lit("F"))
    values = [hellinger_mean(people(), avatars).value for avatars in dial(people(), far)]
    assert (np.diff(np.array(values, dtype=float)) <= 0).all()
