"""Rare values: levels counted by hand."""

import polars as pl
import pytest
from comparison_cases import people

from sosie.audits.privacy.rare_values import rare_values
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer


def test_rare_values_by_hand() -> None:
    originals = pl.DataFrame(
        {
            "a": ["x"] * 7 + ["y", "y", None],
            "b": ["u"] * 9 + ["v"],
            "n": [0.0] * 9 + [1e3],
        }
    )
    avatars = pl.concat([originals.with_columns(a=pl.lit("y"), b=pl.lit("u"))] * 2)
    metric = rare_values(originals, avatars)
    assert metric.value == 2
    assert metric.columns == (
        {"column": "a", "rare": 1, "shown": 1, "avatars": 20},
        {"column": "n", "rare": 1, "shown": 1, "avatars": 2},
        {"column": "b", "rare": 1, "shown": 0, "avatars": 0},
    )
    assert metric.detail == {"k": 5, "avatars": 20}
    assert rare_values(originals, avatars, k=2).value == 1
    none = rare_values(originals.head(7), avatars, k=5)
    assert (none.value, none.reason) == (None, Reason("no_rare_level", {"k": 5}))
    with pytest.raises(InputError, match="at least 2"):
        rare_values(originals, avatars, k=1)


def test_smoothed_avatars_carry_no_rare_level() -> None:
    originals = people().with_columns(
        stage=pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("rare")).otherwise(pl.col("stage"))
    )
    avatars = Avatarizer(k=5, seed=1).fit(originals).release()
    assert rare_values(originals, avatars).value == 0
