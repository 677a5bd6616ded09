"""Attack any generator: interpolation as SMOTE does it, Gaussian noise, tables that exist already.

    python examples/other_generators.py
    python examples/other_generators.py FOLDER

The first two generators are attacked on the bundled cohort. With a folder that holds
``actg175.csv`` and ``actg175_avatars_k20_25_releases.csv`` (github octopize/avatar-paper), the 25
releases of the published engine are attacked as they are.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sosie import Avatarizer, Table
from sosie.attacks import AttackReport, Releases, attack
from sosie.data import cohort
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex

NUMBERS = ("age", "height_cm", "weight_kg", "lvef", "systolic_bp", "creatinine", "haemoglobin")
CATEGORIES = ("sex", "smoking", "nyha", "diabetes", "atrial_fibrillation", "death")


@dataclass
class Interpolation:
    """A point between a person and one of their k neighbours, as SMOTE makes its new cases.

    Numbers are interpolated; each category comes from the person or the neighbour, by weight.
    """

    k: int = 5
    data: pl.DataFrame = field(default_factory=pl.DataFrame)
    neighbours: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 0), np.int64))

    def fit(self, data: pl.DataFrame) -> None:
        """Find everyone's neighbours."""
        self.data = data
        table = Table.of(data)
        self.neighbours = NeighbourIndex(FAMD.fit(table).transform(table)).others(self.k).rows

    def release(self, r: int) -> pl.DataFrame:
        """One new row for each person."""
        rng = np.random.default_rng(r)
        rows = np.arange(len(self.data))
        other = self.data[self.neighbours[rows, rng.integers(0, self.k, len(rows))]]
        weight = pl.Series(rng.random(len(rows)))
        made = []
        for name in self.data.columns:
            mine, theirs = self.data[name], other[name]
            if name in NUMBERS:
                made.append((mine + (theirs - mine) * weight).round(1).alias(name))
            else:
                made.append(
                    pl.DataFrame({"a": mine, "b": theirs}).select(
                        pl.when(pl.lit(pl.Series(rng.random(len(rows)))) < weight)
                        .then("b")
                        .otherwise("a")
                        .alias(name)
                    )[name]
                )
        return pl.DataFrame(made)


@dataclass
class Noise:
    """Everyone's own row, numbers with Gaussian noise, some categories drawn anew.

    Attributes
    ----------
    share : standard deviation of the noise in those of the columns, and share of categories
        that are drawn from the whole column.
    """

    share: float = 0.5
    data: pl.DataFrame = field(default_factory=pl.DataFrame)

    def fit(self, data: pl.DataFrame) -> None:
        """Keep the data."""
        self.data = data

    def release(self, r: int) -> pl.DataFrame:
        """One noisy row for each person."""
        rng, count = np.random.default_rng(r), len(self.data)
        made = []
        for column in self.data:
            if column.name in NUMBERS:
                noise = pl.Series(rng.normal(0, self.share, count))
                made.append((column + noise * column.std()).round(1).alias(column.name))
            else:
                anew = rng.random(count) < self.share
                rows = np.where(anew, rng.integers(0, count, count), np.arange(count))
                made.append(column[rows])
        return pl.DataFrame(made)


def show(title: str, report: AttackReport) -> None:
    """Print a report as a few lines."""
    click.echo(f"\n{title}")
    for result in report.results:
        if result.rate is None:
            click.echo(f"  {result.estimator}: {result.reason}")
            continue
        low, high = result.ci or (0.0, 0.0)
        click.echo(
            f"  {result.releases:>3} releases  {result.how:<46}"
            f"{result.rate:6.1f} %  ({low:.1f} to {high:.1f}; chance {result.chance:.2g})"
        )
    complement = report.hidden_rate_complement
    if complement is not None:
        click.echo(f"  one profile, one release (100 - hidden rate){complement.rate:21.1f} %")


def people(rows: int = 1000) -> pl.DataFrame:
    """Part of the bundled cohort, complete columns only."""
    table = pl.read_csv(cohort.path(), infer_schema_length=None)
    return table.select(*NUMBERS, *CATEGORIES).drop_nulls().head(rows)


def main(folder: Path | None) -> None:
    """Attack three generators, and the published releases where there are any."""
    data = people()
    estimators = ("published", "pooled", "nearest-mean")
    for title, generator in (
        ("Interpolation with one of 5 neighbours (SMOTE-like)", Interpolation()),
        ("Gaussian noise, half a standard deviation", Noise(0.5)),
        ("Gaussian noise, two standard deviations", Noise(2.0)),
        ("sosie, smoothed, k = 10", Avatarizer(k=10, seed=1)),
    ):
        show(title, attack(data, generator, estimator=estimators, releases=20, curve=(2,)))
    if folder is not None:
        originals = pl.read_csv(folder / "actg175.csv", separator=";", null_values="NA")
        stacked = pl.read_csv(folder / "actg175_avatars_k20_25_releases.csv", null_values="NA")
        releases = Releases([part.drop("iter") for part in stacked.partition_by("iter")])
        # What the attacker believes of the engine: k = 20, five components, no smoothing.
        law = Avatarizer(k=20, components=5, method="barycentre")
        report = attack(originals.drop("pidnum"), releases, law=law, releases=24)
        show("25 releases of the published engine, k = 20", report)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
