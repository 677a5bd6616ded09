"""Columns of many levels: the commonest keep their names, in any table that is coded alike."""

from __future__ import annotations

import numpy as np
import polars as pl

from sosie.data.table import Table
from sosie.latent.common_levels import MOST_LEVELS, CommonLevels
from sosie.latent.famd import FAMD, CrossProduct, Layout


def towns(counts: dict[str, int]) -> pl.DataFrame:
    return pl.DataFrame({"town": [name for name, count in counts.items() for _ in range(count)]})


def test_the_commonest_stay_and_the_others_are_one() -> None:
    counts = {f"t{i}": 1 + (i * 37) % 100 for i in range(100)}  # 1 to 100, each once
    frame = towns(counts)
    table = Table.of(frame)
    pooled = CommonLevels.of(table).pooled(table).level("town")
    names = np.array(pooled.labels)[pooled.codes]
    common = sorted(counts, key=counts.__getitem__)[-(MOST_LEVELS - 1) :]
    expected = [name if name in common else "…" for name in frame["town"]]
    assert names.tolist() == expected


def test_another_table_is_coded_alike_and_unknown_levels_stay_unknown() -> None:
    people = Table.of(towns({f"t{i}": 2 for i in range(80)}))
    strange = people.like(towns({"t3": 1, "t79": 1, "elsewhere": 1}))
    levels = CommonLevels.of(people)
    mine, theirs = (levels.pooled(table).level("town").codes for table in (people, strange))
    first = people.frame.to_native()["town"].to_list().index("t3")
    assert theirs[0] == mine[first]
    assert theirs[1] == MOST_LEVELS - 1  # one of those that count as one
    assert theirs[2] == MOST_LEVELS  # beyond all that the people have


def test_few_levels_are_left_alone() -> None:
    table = Table.of(towns({f"t{i}": 2 for i in range(MOST_LEVELS)}))
    assert CommonLevels.of(table).pooled(table) is table


def test_an_analysis_of_the_common_levels_is_that_of_the_table_that_has_no_others() -> None:
    people = towns({f"t{i}": 1 + (i * 37) % 100 for i in range(100)})
    people = people.with_columns(x=pl.int_range(len(people)) * 7919 % 501 / 10)
    table = Table.of(people)
    strange = table.like(pl.DataFrame({"town": ["t5", "elsewhere", None], "x": [1.0, 2.0, 3.0]}))
    levels = CommonLevels.of(table)
    layout = Layout.of(table).of_common(levels)
    famd = FAMD.solve(CrossProduct(layout).add(table), 4)
    expected = FAMD.fit(levels.pooled(table), 4)
    np.testing.assert_allclose(famd.eigenvalues, expected.eigenvalues)
    for one in (table, strange):
        found = famd.transform(one)
        np.testing.assert_allclose(found, expected.transform(levels.pooled(one)), atol=1e-9)
