"""Tables to measure on: any number of rows, 24 mixed columns, made from a small table."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl

from sosie.data import cohort
from sosie.data.files import read

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = {"actg175": ["pidnum", "cd496", "r"], "cohort": list(cohort.DROP)}


def source() -> tuple[str, pl.DataFrame]:
    """ACTG175 where SOSIE_TEST_DATA has it, else the bundled cohort; without identifiers."""
    folder = Path(os.environ.get("SOSIE_TEST_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "actg175.csv"
    name, path = ("actg175", path) if path.exists() else ("cohort", cohort.path())
    return name, read(path).frame.drop(LEFT_OUT[name])


def jittered(rows: int, seed: int = 0) -> pl.DataFrame:
    """Rows drawn again with replacement, numbers moved by a twentieth of their spread."""
    _, small = source()
    rng = np.random.default_rng(seed)
    drawn = small[rng.integers(0, len(small), rows)]
    moved = []
    for column in small:
        if column.dtype.is_numeric() and column.n_unique() > 10:
            noise = pl.Series(rng.normal(0, 0.05 * float(column.std() or 0), rows))  # type: ignore[arg-type]
            moved.append((pl.col(column.name) + noise).cast(column.dtype))
    return drawn.with_columns(moved)


def survey(rows: int = 10_000, seed: int = 48) -> pl.DataFrame:
    """Case 48: 55 columns; of job titles as people type them, half are of one person or two."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(rows, 6)) @ rng.normal(size=(6, 53)) + 1.5 * rng.normal(
        size=(rows, 53)
    )
    columns: dict[str, object] = {}
    for j in range(53):
        name, values = f"q{j}", mixed[:, j]
        if j < 27:
            columns[name] = np.round(10 * values + 50, 1)
        elif j < 39:
            cuts = np.quantile(values, np.linspace(0, 1, 3 + j % 7)[1:-1])
            columns[name] = [f"c{level}" for level in np.searchsorted(cuts, values)]
        elif j < 49:
            columns[name] = (values > 1).astype(int)
        else:
            columns[name] = rng.poisson(np.exp(1 + 0.1 * values))
    columns["department"] = [f"D{number:02d}" for number in rng.integers(1, 96, rows)]
    trades = rng.choice(["nurse", "driver", "clerk", "teacher", "cook", "mason", "cashier"], rows)
    own, sites = rng.random(rows) < 0.5, rng.integers(1, 5_000, rows)
    columns["job_title"] = np.where(
        own, np.char.add(np.char.add(trades, ", site "), sites.astype(str)), trades
    ).tolist()
    return pl.DataFrame(columns)


def questions(rows: int = 2_000, columns: int = 1_000, seed: int = 0) -> pl.DataFrame:
    """More columns than people answer: numbers, codes of 2 to 5 and yes or no, a third each."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 8))
    made: dict[str, object] = {}
    for j in range(columns):
        values = factors @ rng.normal(size=8) + 2 * rng.normal(size=rows)
        if j % 3 == 0:
            made[f"q{j}"] = np.round(10 * values, 1)
        elif j % 3 == 1:
            cuts = np.quantile(values, np.linspace(0, 1, 3 + j % 4)[1:-1])
            made[f"q{j}"] = [f"c{level}" for level in np.searchsorted(cuts, values)]
        else:
            made[f"q{j}"] = values > 1
    return pl.DataFrame(made)
