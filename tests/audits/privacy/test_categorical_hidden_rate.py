"""Categorical hidden rate: the hidden rate of the categories."""

import polars as pl
import pytest
from comparison_cases import line

from sosie.audits.comparison import Comparison
from sosie.audits.privacy.categorical_hidden_rate import categorical_hidden_rate
from sosie.audits.privacy.hidden_rate import hidden_rate
from sosie.audits.reasons import NO_CATEGORIES
from sosie.errors import InputError, Reason


def test_categorical_hidden_rate_is_the_hidden_rate_of_the_categories(
    comparison: Comparison,
) -> None:
    names = ["sex", "stage", "smoker"]
    one, other = (
        table.frame.to_native().select(names)
        for table in (comparison.originals, comparison.avatars)
    )
    assert categorical_hidden_rate(comparison).value == pytest.approx(hidden_rate(one, other).value)
    some = categorical_hidden_rate(comparison, columns=["sex", "stage"])
    two = hidden_rate(one.select("sex", "stage"), other.select("sex", "stage"))
    assert some.value == pytest.approx(two.value)


def test_categorical_hidden_rate_needs_categories(comparison: Comparison) -> None:
    assert categorical_hidden_rate(line(*range(20)), line(*range(20))).reason == NO_CATEGORIES
    constant = pl.DataFrame({"a": ["x"] * 5})
    assert categorical_hidden_rate(constant, constant).reason == Reason("no_varying_category")
    with pytest.raises(InputError, match="'age' is no category"):
        categorical_hidden_rate(comparison, columns=["age"])
    with pytest.raises(InputError, match="no column 'agge'"):
        categorical_hidden_rate(comparison, columns=["agge"])
