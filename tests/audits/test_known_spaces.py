"""Where attackers look: the space of the columns they know, solved once."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from comparison_cases import people

from sosie.audits.comparison import encoded
from sosie.audits.known_spaces import MOST_OWN, KnownSpaces
from sosie.errors import InputError
from sosie.latent.famd import FAMD


def test_a_space_of_some_columns_is_that_of_a_table_of_these() -> None:
    table = encoded(people(120))
    for names in (table.names[:2], table.names[1:], table.names):
        alone = table.select(names)
        expected = np.abs(FAMD.fit(alone, 3).transform(alone))
        space = KnownSpaces(table, 3).of(names)
        np.testing.assert_allclose(np.abs(space.transform(table)), expected, atol=1e-6)


def test_the_same_columns_are_solved_once() -> None:
    table = encoded(people(60))
    spaces = KnownSpaces(table, 3)
    assert spaces.of(table.names[:2]) is spaces.of(table.names[:2])


def test_thousands_of_levels_enter_as_sixty() -> None:
    titles = [f"title {i}" for i in range(3_000)] + ["nurse"] * 500
    table = encoded(pl.DataFrame({"title": titles, "x": np.arange(3_500.0) ** 0.5}))
    assert KnownSpaces(table, 3).of(table.names).layout.width == 1 + 1 + 60


def test_columns_that_do_not_vary_have_none() -> None:
    table = encoded(pl.DataFrame({"a": ["x"] * 30, "b": np.arange(30.0)}))
    with pytest.raises(InputError, match="no column varies"):
        KnownSpaces(table, 3).of(["a"])


def test_of_very_many_columns_who_lacks_one_looks_along_the_axes_of_all() -> None:
    rng = np.random.default_rng(3)
    wide = {f"x{i}": rng.normal(size=40) for i in range(MOST_OWN)}
    table = encoded(pl.DataFrame({**wide, "arm": ["a", "b"] * 20}))
    spaces = KnownSpaces(table, 3)
    whole = spaces.of(table.names)
    for lacking in ("x7", "arm"):
        told = [name for name in table.names if name != lacking]
        points = spaces.of(told).transform(table)
        assert np.abs(whole.transform(table) - points).max() > 0
        scrambled = table.like(
            table.frame.to_native().with_columns(pl.col(lacking).shuffle(seed=1))
        )
        np.testing.assert_allclose(spaces.of(told).transform(scrambled), points, atol=1e-9)
