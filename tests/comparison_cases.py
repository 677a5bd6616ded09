"""Tables that the tests of metrics share: mixed people, brute-force distances, the leak dial."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sosie.audits.comparison import Comparison
from sosie.latent.famd import FAMD

KNOWN = ["age", "sex", "stage"]
REST = ["weight", "marker", "smoker"]
"""Two halves of the columns of `people`."""


def people(rows: int = 200, seed: int = 1) -> pl.DataFrame:
    """Mixed columns that depend on one another, with missing values."""
    rng = np.random.default_rng(seed)
    health = rng.normal(size=rows)
    age = np.rint(55 + 12 * health + 6 * rng.normal(size=rows)).astype(int)
    weight = np.round(70 + 5 * health + 9 * rng.normal(size=rows), 1)
    marker = np.round(np.exp(1 + 0.7 * health + 0.6 * rng.normal(size=rows)), 2)
    return pl.DataFrame(
        {
            "age": age,
            "weight": weight,
            "marker": [
                None if lost else float(v)
                for v, lost in zip(marker, rng.random(rows) < 0.1, strict=True)
            ],
            "sex": rng.choice(["F", "M"], rows),
            "stage": np.select([health < -0.5, health < 0.7], ["I", "II"], "III"),
            "smoker": [None if u < 0.05 else bool(u < 0.4) for u in rng.random(rows)],
        }
    )


def distances(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every distance, ``(n, m)``: the oracle that the product must never use."""
    return np.sqrt(np.square(one[:, None, :] - other[None, :, :]).sum(axis=2))


def dial(
    originals: pl.DataFrame, independent: pl.DataFrame, steps: int = 10
) -> Iterator[pl.DataFrame]:
    """From independent avatars to the originals themselves, more rows copied at each step."""
    order = np.random.default_rng(0).permutation(len(originals))
    for step in range(steps + 1):
        copied = np.zeros(len(originals), dtype=bool)
        copied[order[: round(len(originals) * step / steps)]] = True
        yield pl.DataFrame(
            [
                originals[name].zip_with(pl.Series(copied), independent[name])
                for name in originals.columns
            ]
        )


def space_of(comparison: Comparison, names: list[str]) -> list[NDArray[np.float64]]:
    """Originals, avatars and people set aside in the space of some columns alone."""
    famd = FAMD.fit(comparison.originals.select(names))
    assert comparison.holdout is not None
    tables = (comparison.originals, comparison.avatars, comparison.holdout)
    return [famd.transform(table) for table in tables]


def drawn_nearest(away: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chance of each column to be drawn as the nearest of each row."""
    tied = away == away.min(axis=1, keepdims=True)  # equal points are equally far, to the last bit
    return tied / tied.sum(axis=1, keepdims=True)


def line(*values: float) -> pl.DataFrame:
    """People in a row."""
    return pl.DataFrame({"x": [float(v) for v in values]})
