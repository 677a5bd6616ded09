"""What the tests of several metrics compare."""

import polars as pl
import pytest
from comparison_cases import dial, people

from sosie.audits.comparison import Comparison
from sosie.generate.avatarizer import Avatarizer


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    """Aligned avatars of 200 people, and 60 set aside."""
    originals = people()
    avatars = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    return Comparison.of(originals, avatars, aligned=True, holdout=people(60, seed=2))


@pytest.fixture(scope="session")
def dialled() -> list[Comparison]:
    """From strangers' rows to copies, aligned, with levels that three people hold."""
    rows = 300
    code = pl.Series([f"c{i // 3}" for i in range(rows)])
    originals = people(rows).with_columns(code=code)
    independent = people(rows, seed=9).with_columns(code=pl.lit("c0"))
    return [Comparison.of(originals, a, aligned=True) for a in dial(originals, independent)]


@pytest.fixture(scope="session")
def dialled_aside() -> list[Comparison]:
    """The same without alignment, beside people set aside."""
    originals = people(300)
    return [
        Comparison.of(originals, avatars, holdout=people(100, seed=3))
        for avatars in dial(originals, people(300, seed=9))
    ]
