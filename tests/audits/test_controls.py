"""Controls: an attack that also finds strangers finds nothing."""

import polars as pl

from sosie.audits.privacy.linkability import linkability
from sosie.errors import Reason


def test_a_control_that_is_always_right_leaves_nothing_above() -> None:
    one = pl.DataFrame({"x": [float(i) for i in range(20)]}).with_columns(y=-pl.col("x"))
    metric = linkability(one, one, holdout=one)
    assert (metric.value, metric.control) == (None, 100)
    assert metric.reason == Reason("nothing_above_control")
