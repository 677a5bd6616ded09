"""What figures draw."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sosie.studies.analyses import analyses
from sosie.studies.figures import curve_lines, forest


def people(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 2, 400)
    days = np.ceil(rng.exponential(100, 400) * (1 + arm))
    event = (days < 200).astype(int)
    return pl.DataFrame({"arm": arm, "days": np.minimum(days, 200), "event": event})


def test_ratios_are_drawn_as_ratios_and_means_as_means() -> None:
    found = analyses(people(0), people(1), ["survival days, event ~ arm", "mean days by arm"])
    cox, mean = (forest(analysis) for analysis in found.analyses)
    assert (cox.logarithmic, cox.nothing) == (True, 1)
    assert (mean.logarithmic, mean.nothing) == (False, None)
    term = found.analyses[0].terms[0]
    assert cox.lines[0].original is not None
    assert term.original.value is not None
    assert cox.lines[0].original.value == pytest.approx(np.exp(term.original.value))
    assert cox.lines[0].verdict == term.verdict
    assert [line.label for line in mean.lines] == ["arm[0]", "arm[1]"]


def test_curves_start_at_1_and_fall() -> None:
    found = analyses(people(0), [people(1), people(2)], "survival days, event ~ arm")
    lines = curve_lines(found.analyses[0])
    assert [line.group for line in lines] == ["0", "1"]
    for line in lines:
        for values in (line.original, line.avatars):
            assert values[0] == 1
            assert (np.diff(values[~np.isnan(values)]) <= 0).all()
        low, high = line.avatars_band
        known = ~np.isnan(line.avatars)
        assert (low[known] <= line.avatars[known]).all()
        assert (line.avatars[known] <= high[known]).all()


def test_what_is_blank_is_not_drawn() -> None:
    table = pl.DataFrame({"ill": ["y"] * 3 + ["n"] * 57 + ["y"] * 30 + ["n"] * 30,
                          "arm": ["a"] * 60 + ["b"] * 60})  # fmt: skip
    plot = forest(analyses(table, table, "odds ill by arm").analyses[0])
    assert plot.lines[0].original is None
    assert plot.lines[0].avatars is not None
