"""Difference of association: the mean over pairs, lost links, the trial."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import people

from sosie.audits.associations import associations
from sosie.audits.comparison import Comparison
from sosie.audits.reasons import (
    TOO_FEW_COLUMNS,
)
from sosie.audits.utility.association_difference import association_difference
from sosie.errors import Reason


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
    assert association_difference(constant, constant).reason == Reason("no_varying_pair")


def test_the_reference_figures_of_the_trial(actg175: pl.DataFrame) -> None:
    """Pearson error of the barycentre at k=5: .063."""
    from sosie.generate.avatarizer import Avatarizer

    avatarizer = Avatarizer(k=5, method="barycentre", seed=1).fit(actg175)
    found = association_difference(Comparison.of(avatarizer.table, avatarizer.draw()))
    assert found.detail["pearson"] == pytest.approx(0.063, abs=0.01)
