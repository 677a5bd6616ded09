"""Case 48: a survey of 55 columns, one of them thousands of job titles, whole and attacked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.run import Options, run

ROWS = 10_000

TRADES = ("nurse", "driver", "clerk", "teacher", "cook", "mason", "cashier", "painter")

MOST_RARE = 9
"""Of people who share a title that no avatar has, where ten make it common."""


def survey(rows: int = ROWS, seed: int = 48) -> pl.DataFrame:
    """27 measures, 22 codes and flags, 4 counts, a department, and titles as people type them."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 6))
    mixed = factors @ rng.normal(size=(6, 53)) + 1.5 * rng.normal(size=(rows, 53))
    columns: dict[str, object] = {}
    for j in range(27):
        columns[f"measure_{j}"] = np.round(10 * mixed[:, j] + 50, 1)
    for j in range(27, 39):
        cuts = np.quantile(mixed[:, j], np.linspace(0, 1, 3 + j % 7)[1:-1])
        columns[f"code_{j}"] = [f"c{level}" for level in np.searchsorted(cuts, mixed[:, j])]
    for j in range(39, 49):
        columns[f"flag_{j}"] = (mixed[:, j] > 1).astype(int)
    for j in range(49, 53):
        columns[f"count_{j}"] = rng.poisson(np.exp(1 + 0.1 * mixed[:, j]))
    columns["department"] = [f"D{number:02d}" for number in rng.integers(1, 96, rows)]
    trades = rng.choice(TRADES, rows)
    typed = rng.random(rows) < 0.5
    sites = rng.integers(1, 5_000, rows)
    columns["job_title"] = [
        f"{trade}, site {site}" if own else trade
        for trade, site, own in zip(trades, sites, typed, strict=True)
    ]
    return pl.DataFrame(columns)


@pytest.mark.slow
def test_thousands_of_typed_titles_go_through_the_whole_job_with_attacks(tmp_path: Path) -> None:
    people = survey()
    assert people.width == 55
    assert people["job_title"].n_unique() > 4_000
    people.write_csv(tmp_path / "survey.csv")
    made = run(
        tmp_path / "survey.csv",
        tmp_path / "out",
        Avatarizer(seed=1),
        Options(releases=None),
    )
    avatars = pl.read_csv(made.avatars)
    assert avatars.shape == people.shape
    held = dict(people["job_title"].value_counts().iter_rows())
    assert min(held[title] for title in avatars["job_title"].unique()) > MOST_RARE
    attacks = json.loads((tmp_path / "out" / "attack.json").read_text())
    pooled = next(note for note in attacks["notes"] if note["key"] == "levels_pooled")
    assert set(pooled["values"]["columns"]) == {"department", "job_title"}
    rates = {one["scenario"]: one["rate"] for one in attacks["results"] if one["rate"] is not None}
    assert {"v1", "v2", "nearest", "partial"} <= set(rates)
    twinned = [made.audit.privacy[key] for key in ("linkability", "inference", "membership")]
    for metric in (*twinned, made.audit.utility["predictive_ratio"]):
        assert metric.value is not None
        assert metric.ci is not None
