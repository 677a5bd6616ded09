"""Associations: those of pandas and scipy, by hand, what does not vary."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import people
from scipy.stats.contingency import association

from sosie.audits.associations import associations
from sosie.data.table import Table


def test_numbers_have_the_correlation_of_pandas() -> None:
    frame = people().select("age", "weight", "marker")
    expected = frame.to_pandas().corr().to_numpy()  # over the rows where both are present
    assert associations(Table.of(frame)).matrix == pytest.approx(expected)


def test_categories_have_the_v_of_scipy() -> None:
    frame = (
        people()
        .select("sex", "stage", "smoker")
        .with_columns(pl.col("smoker").cast(pl.String).fill_null("?"))
    )
    found = associations(Table.of(frame)).matrix
    for i, one in enumerate(frame.columns):
        for j, other in enumerate(frame.columns):
            table = (
                frame.to_pandas().pivot_table(
                    index=one, columns=other, aggfunc="size", fill_value=0
                )
                if i != j
                else None
            )
            expected = 1 if table is None else association(table.to_numpy(), method="cramer")
            assert found[i, j] == pytest.approx(expected)


def test_the_correlation_ratio_is_the_spread_between_levels() -> None:
    frame = people().select("marker", "stage")
    found = associations(Table.of(frame)).matrix[0, 1]
    present = frame.drop_nulls("marker").with_columns(mean=pl.col("marker").mean().over("stage"))
    between = np.square(present["mean"] - present["marker"].mean()).sum()
    whole = np.square(present["marker"] - present["marker"].mean()).sum()
    assert found == pytest.approx(np.sqrt(between / whole))


def test_columns_of_many_levels_are_no_exception() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 900, 3000)
    frame = pl.DataFrame({"a": codes.astype(str), "b": (codes // 2).astype(str), "x": codes + 0.5})
    found = associations(Table.of(frame)).matrix
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 2] == pytest.approx(1)
    assert found[1, 2] == pytest.approx(1, abs=1e-4)


def test_what_does_not_vary_has_no_association() -> None:
    frame = people().with_columns(one=pl.lit("x"), two=pl.lit(1.5))
    found = associations(Table.of(frame)).matrix
    assert np.isnan(found[-2:, :-2]).all()
    assert not np.isnan(found[:-2, :-2]).any()
