"""Associations, against pandas, scipy and the definitions."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import people
from scipy.stats.contingency import association

from sosie.audits.comparison import Comparison
from sosie.audits.results import TOO_FEW_COLUMNS
from sosie.audits.utility.associations import association_difference, associations
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


def test_the_difference_is_the_mean_over_pairs() -> None:
    one, other, held = people(seed=1), people(seed=2), people(80, seed=3)
    comparison = Comparison.of(one, other, holdout=held)
    before, after, aside = (
        associations(t).matrix
        for t in (comparison.originals, comparison.avatars, comparison.holdout)
    )  # type: ignore[arg-type]
    upper = np.triu_indices(6, 1)
    found = association_difference(comparison)
    assert found.value == pytest.approx(np.abs(before - after)[upper].mean())
    assert found.control == pytest.approx(np.abs(before - aside)[upper].mean())
    assert found.detail["pearson"] == pytest.approx(
        np.abs(before - after)[:3, :3][np.triu_indices(3, 1)].mean()
    )
    assert found.columns[0]["difference"] == pytest.approx(np.abs(before - after)[upper].max())
    assert {column["measure"] for column in found.columns} == {
        "pearson",
        "correlation_ratio",
        "cramer_v",
    }


def test_a_pair_without_association_in_the_originals_is_left_out() -> None:
    one = people().with_columns(extra=pl.lit("x"))
    other = people(seed=2)
    plain = pytest.approx(association_difference(people(), other).value, rel=1e-12)
    assert association_difference(one, other.with_columns(extra=pl.lit("x"))).value == plain
    mixed = other.with_columns(extra=pl.when(pl.col("sex") == "F").then(pl.lit("x")))
    assert association_difference(one, mixed).value == plain


def test_links_that_avatars_lost_count() -> None:
    one = pl.DataFrame({"x": [float(i) for i in range(20)]}).with_columns(y=pl.col("x") * 2)
    assert association_difference(one, one.with_columns(y=pl.lit(3.0))).value == pytest.approx(1)


def test_nothing_to_compare_has_no_value() -> None:
    one = people().select("age")
    assert association_difference(one, one).reason == TOO_FEW_COLUMNS
    constant = pl.DataFrame({"a": ["x"] * 5, "b": ["y"] * 5})
    assert association_difference(constant, constant).reason == "no two columns vary."


def test_the_reference_figures_of_the_trial(actg175: pl.DataFrame) -> None:
    """Pearson error of the barycentre at k=5: .063."""
    from sosie.generate.avatarizer import Avatarizer

    avatarizer = Avatarizer(k=5, method="barycentre", seed=1).fit(actg175)
    found = association_difference(Comparison.of(avatarizer.table, avatarizer.draw()))
    assert found.detail["pearson"] == pytest.approx(0.063, abs=0.01)
