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
