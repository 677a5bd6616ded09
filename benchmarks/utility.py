"""What avatars of each method are good for, and what they give away, on four public tables.

``python benchmarks/utility.py exchangeable smoothed:5 barycentre:5:5 bootstrap`` prints two tables;
a method may be followed by its k and its components. ``--splits 8`` and ``--releases 30`` say how
often, ``--only cox`` or ``--only utility`` which table. `bootstrap` draws people with replacement:
what the sampling of people alone costs, and what no protection looks like.

Tables: ACTG 175 and WBCD from ``SOSIE_TEST_DATA``; the American National Election Study of 1996
and a keyed sample of 2,500 rows of Fair's survey on affairs, both from the statsmodels package.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import statsmodels.api as sm
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as Grid
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from statsmodels.duration.hazard_regression import PHReg

import sosie

DATA = Path(
    os.environ.get(
        "SOSIE_TEST_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    )
)

HOLDOUT = 0.25
"""Share of people who take no part: they test the models and are the strangers."""

FAIR_ROWS = 2_500
"""Of 6,366: tables of this benchmark have some 700 to 2,500 rows, where utility is hard to keep."""

MOST_LEVELS = 10
"""Distinct values up to which a column is a category, as in the studies."""

TREES = 200
ALL_COMPONENTS = 1_000
"""More than any of these tables has: distances are in all of them."""

Release = Callable[[int], pl.DataFrame]
Figures = dict[str, float]


@dataclass(frozen=True)
class Case:
    """A table, and the yes or no that models predict in it."""

    name: str
    frame: pl.DataFrame
    outcomes: Mapping[str, pl.Expr]


@dataclass(frozen=True)
class Method:
    """A method with its settings, as the command line names it."""

    text: str

    def fitted(self, frame: pl.DataFrame, seed: int) -> Release:
        """What gives release r."""
        name, *numbers = self.text.split(":")
        if name == "bootstrap":
            return lambda r: frame.sample(len(frame), with_replacement=True, seed=997 * seed + r)
        settings: Any = dict(zip(("k", "components"), map(int, numbers), strict=False))
        settings |= {"method": name, "seed": seed}
        avatarizer: Any = sosie.Avatarizer(**settings)
        avatarizer.fit(frame)
        return avatarizer.release  # type: ignore[no-any-return]


def cases() -> Iterator[Case]:
    yield Case("actg175", actg175(), {name: pl.col(name) == 1 for name in ("cens", "offtrt")})
    wbcd = pl.read_csv(DATA / "wbcd.csv", null_values=["?", "NA"]).drop("Sample_code_number")
    yield Case("wbcd", wbcd, {"Class": pl.col("Class") == 4})
    anes = pl.from_pandas(sm.datasets.anes96.load_pandas().data)
    yield Case("anes96", anes, {"vote": pl.col("vote") == 1})
    fair = pl.from_pandas(sm.datasets.fair.load_pandas().data).sample(FAIR_ROWS, seed=0)
    yield Case("fair", fair, {"affairs": pl.col("affairs") > 0})


def actg175() -> pl.DataFrame:
    frame = pl.read_csv(DATA / "actg175.csv", separator=";", null_values=["NA"])
    return frame.drop("pidnum", "cd496", "r")


def splits(case: Case, count: int) -> Iterator[tuple[int, pl.DataFrame, pl.DataFrame]]:
    """Those who take part and those who do not, drawn anew each time."""
    aside = round(HOLDOUT * len(case.frame))
    for split in range(count):
        order = np.random.default_rng(split).permutation(len(case.frame))
        yield split, case.frame[order[aside:]], case.frame[order[:aside]]


# ---------------------------------------------------------------- figures of one release


def areas(case: Case, train: pl.DataFrame, test: pl.DataFrame) -> float:
    """Mean area under the curve of a logistic model and a forest, over the outcomes."""
    found = []
    for name, expression in case.outcomes.items():
        answers = [frame.select(expression).to_series().to_numpy() for frame in (train, test)]
        inputs = [frame.drop(name).to_pandas() for frame in (train, test)]
        levels = [c for c in inputs[1] if case.frame[c].n_unique() <= MOST_LEVELS]
        numbers = [c for c in inputs[1] if c not in levels]
        for model in (
            LogisticRegression(max_iter=2_000),
            RandomForestClassifier(TREES, random_state=0, n_jobs=1),
        ):
            columns = ColumnTransformer(
                [
                    ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
                    ("levels", OneHotEncoder(handle_unknown="ignore"), levels),
                ]
            )
            chances = make_pipeline(columns, model).fit(inputs[0], answers[0])
            found.append(roc_auc_score(answers[1], chances.predict_proba(inputs[1])[:, 1]))
    return float(np.mean(found))


def measured(case: Case, people: pl.DataFrame, aside: pl.DataFrame, made: pl.DataFrame) -> Figures:
    """The columns of the utility table but the area; NaN where a table has no such thing.

    Linkability is the risk above the control; inference the share of secrets guessed less that of
    people who took no part, in points: mean over the columns, and the worst of them.
    """
    links = sosie.association_difference(people, made).detail
    numbers = [c for c in people.columns if case.frame[c].n_unique() > MOST_LEVELS]
    ratios = [float(made[c].std() or 0) / float(people[c].std() or 1) for c in numbers]  # type: ignore[arg-type]
    guessed = sosie.inference(people, made, holdout=aside)
    risks = [float(row["attack"] - row["control"]) for row in guessed.columns]
    figures: dict[str, float | None] = {
        "numbers": links.get("pearson"),
        "mixed": links.get("correlation_ratio"),
        "categories": links.get("cramer_v"),
        "Hellinger": sosie.hellinger_mean(people, made).value,
        "sd ratio": float(np.mean(ratios)) if ratios else None,
        "membership": sosie.membership(
            people, made, holdout=aside, components=ALL_COMPONENTS
        ).value,
        "linkability": sosie.linkability(people, made, holdout=aside).value,
        "inference, mean": float(np.mean(risks)),
        "worst": max(risks),
    }
    return {name: np.nan if value is None else value for name, value in figures.items()}


def utility(methods: list[Method], count: int, console: Console) -> None:
    rows: dict[str, list[list[Figures]]] = {method.text: [] for method in methods}
    for case in cases():
        for method in methods:
            rows[method.text].append([])
        for split, people, aside in splits(case, count):
            best = areas(case, people, aside)
            for method in methods:
                made = method.fitted(people, split + 1)(0)
                figures = {"area lost": best - areas(case, made, aside)}
                figures |= measured(case, people, aside, made)
                rows[method.text][-1].append(figures)
        shown(case.name, {name: found[-1:] for name, found in rows.items()}, console)
    shown("mean of the tables", rows, console)


def shown(title: str, rows: Mapping[str, list[list[Figures]]], console: Console) -> None:
    """Means over tables of means over splits, with the standard error of that over splits."""
    names = list(next(iter(rows.values()))[0][0])
    grid = Grid("method", *names, title=f"{title} (standard error)", box=None)
    for method, tables in rows.items():
        values = np.array([[list(figures.values()) for figures in table] for table in tables])
        by_split = means(values)  # of the tables that have it
        middle = means(by_split)
        error = by_split.std(axis=0, ddof=1) / sqrt(len(by_split)) if len(by_split) > 1 else None
        cells = [
            number(name, middle[i], None if error is None else error[i])
            for i, name in enumerate(names)
        ]
        grid.add_row(method, *cells)
    console.print(grid)


def means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the first axis, of what is there; NaN where nothing is."""
    there = ~np.isnan(values)
    counts = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)


def number(name: str, value: float, error: float | None) -> str:
    """Percent with one digit, shares with three."""
    if np.isnan(value):
        return "-"
    percent = name in ("linkability", "inference, mean", "worst")
    digits = 1 if percent else 3
    return f"{value:.{digits}f}" + ("" if error is None else f" ({error:.{digits + 1}f})")


# ---------------------------------------------------------------- a Cox model


def cox(frame: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log hazard ratios and their standard errors: arms against the first, age, karnof, cd40."""
    arms = [(pl.col("arms") == arm).cast(pl.Float64).alias(f"arm {arm}") for arm in (1, 2, 3)]
    others = [pl.col("age") / 10, pl.col("karnof") / 10, pl.col("cd40") / 100]
    inputs = frame.select(*arms, *others).to_numpy().astype(np.float64)
    model = PHReg(frame["days"].to_numpy(), inputs, status=frame["cens"].to_numpy(), ties="breslow")
    found = model.fit()
    return np.asarray(found.params), np.asarray(found.bse)


def hazards(methods: list[Method], releases: int, console: Console) -> None:
    people = actg175()
    effects, errors = cox(people)
    terms = ("arm 1", "arm 2", "arm 3", "age", "karnof", "cd40")
    title = f"Cox model of ACTG 175, mean of {releases} releases [share inside the originals' 95 %]"
    grid = Grid("method", *terms, title=title, box=None)
    grid.add_row("originals", *(f"{e:.3f} ({s:.3f})" for e, s in zip(effects, errors, strict=True)))
    for method in methods:
        release = method.fitted(people, seed=1)
        found = np.stack([cox(release(r))[0] for r in range(releases)])
        inside = (np.abs(found - effects) <= 1.959964 * errors).mean(axis=0)
        cells = zip(found.mean(axis=0), inside, strict=True)
        grid.add_row(method.text, *(f"{effect:.3f} [{share:.2f}]" for effect, share in cells))
    console.print(grid)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("methods", nargs="+", type=Method, help="NAME[:K[:COMPONENTS]], bootstrap")
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--releases", type=int, default=30)
    parser.add_argument("--only", choices=("utility", "cox"))
    given = parser.parse_args()
    console = Console(width=180)
    warnings.simplefilter("ignore", sosie.SosieWarning)
    if given.only != "cox":
        utility(given.methods, given.splits, console)
    if given.only != "utility":
        hazards(given.methods, given.releases, console)


if __name__ == "__main__":
    main()
