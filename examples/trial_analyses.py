"""Do the results of a trial survive? ACTG 175 analysed on originals and on avatars.

    python examples/trial_analyses.py FOLDER
    python examples/trial_analyses.py FOLDER --method exchangeable --k 10 --releases 50

FOLDER holds ``actg175.csv`` (github octopize/avatar-paper). For each method and k it prints the
log hazard ratios of the three arms against the first, their mean over releases below those of the
originals; in how many of the releases these lie in the originals' interval (arms), and all terms
of the analyses do (terms); and the share of terms whose combined estimate does (combined).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl

from sosie import Avatarizer
from sosie.data.table import Roles
from sosie.errors import InputError
from sosie.studies.analyses import analyses
from sosie.studies.results import Analyses

TEXTS = (
    "survival days, cens ~ arms + age + karnof + cd40",
    "survival days, cens ~ arms",
    "cens ~ arms + age + cd40",
    "cd420 ~ arms + cd40 + age",
    "odds cens by treat",
    "mean days by arms",
    "share cens by arms",
)
"""The trial's own questions: its primary endpoint by arm, adjusted and not; CD4 at 20 weeks."""

ROLES = Roles(numeric=("karnof",))
"""The Karnofsky score has four values, and is a number in every analysis of the trial."""


def trial(folder: Path) -> pl.DataFrame:
    """The 24 variables that the articles on avatars use."""
    table = pl.read_csv(folder / "actg175.csv", separator=";", null_values="NA")
    return table.drop("pidnum", "cd496", "r")


def released(table: pl.DataFrame, method: str, k: int, count: int) -> Iterator[pl.DataFrame]:
    """Releases of one method."""
    avatarizer: Any = Avatarizer  # the name of a method is a user's text: the class checks it
    yield from avatarizer(method=method, k=k, seed=1).fit(table).releases(count)


def line(found: Analyses, method: str, k: int) -> str:
    """One row of the table that is printed."""
    arms = [term for term in found.analyses[0].terms if term.term.factors[0].column == "arms"]
    values = "".join(f"{term.avatars.value or np.nan:9.3f}" for term in arms)
    inside = sum(term.avatars.inside or 0 for term in arms) / (len(arms) * found.releases)
    shares = [term.avatars.inside or 0 for term in found.terms]
    every = sum(shares) / (len(shares) * found.releases)
    agreeing = found.agreeing or 0.0
    return f"{method:13}{k:4}{values}{inside:9.0%}{every:9.0%}{agreeing:9.0%}"


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--method", "methods", multiple=True, default=("exchangeable", "barycentre"))
@click.option("--k", "ks", multiple=True, type=int, default=(5, 10, 20))
@click.option("--releases", default=50, show_default=True)
def main(folder: Path, methods: tuple[str, ...], ks: tuple[int, ...], releases: int) -> None:
    """Print how the trial's results come through."""
    table = trial(folder)
    heads = ("arm 1", "arm 2", "arm 3", "arms", "terms", "combined")
    click.echo(f"{'method':13}{'k':>4}" + "".join(f"{head:>9}" for head in heads))
    own = analyses(table, table, TEXTS[0], roles=ROLES).analyses[0].terms[:3]
    click.echo(
        f"{'originals':17}" + "".join(f"{term.original.value or np.nan:9.3f}" for term in own)
    )
    for method in methods:
        for k in ks:
            try:
                drawn = list(released(table, method, k, releases))
            except InputError as error:
                click.echo(f"{method:13}{k:4}  {error}")
                continue
            click.echo(line(analyses(table, drawn, TEXTS, roles=ROLES), method, k))


if __name__ == "__main__":
    main()
