"""Attacks against the bound of the guarantee: V1 given the true groups, V2, and worse ones.

``python benchmarks/guarantee.py actg175 --k 5 10 20 --releases 0 5 25 --targets 1000`` attacks
exchangeable avatars with every attacker of the laboratory (who makes his releases with the very
groups, which are secret) and with attackers who hold the groups themselves. For each scenario and
number of releases it prints the strongest of all attackers, his interval at 95 %, and whether that
reaches down to the bound, 1 / smallest group. What a group shares of its values is no linkage
and is left out.

Tables: ``actg175`` and ``wbcd`` from ``SOSIE_TEST_DATA``, and the bundled ``cohort``.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table as Grid

import sosie
from sosie.attacks.groups import attack_groups
from sosie.attacks.results import Rate
from sosie.data import cohort

DATA = Path(
    os.environ.get(
        "SOSIE_TEST_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    )
)


SEEDS = 5
"""Tables with secrets of their own on which those who hold the groups are measured: whom a group's
pairing gives is one draw, and the strongest of three attackers on one table is at times lucky.
"""

KNOWS = {"law": "law of the groups", "groups": "the group of each"}


@dataclass(frozen=True)
class Line:
    """The strongest attacker of a kind.

    Attributes
    ----------
    attackers : among how many.
    how : who he is.
    rate : percent right.
    """

    kind: str
    releases: int
    attackers: int
    how: str
    rate: Rate


def table(name: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table and how its columns are read."""
    if name == "cohort":
        people = pl.read_csv(cohort.path(), schema_overrides={"postcode": pl.String})
        roles = {"drop": cohort.DROP, "linked": cohort.LINKED, "date": dict(cohort.DATES)}
        return people, roles
    if name == "wbcd":
        wbcd = pl.read_csv(DATA / "wbcd.csv", null_values=["?", "NA"])
        return wbcd.drop("Sample_code_number"), {}
    trial = pl.read_csv(DATA / "actg175.csv", separator=";", null_values=["NA"])
    return trial.drop("pidnum", "cd496", "r"), {}


def lines(
    people: pl.DataFrame,
    avatarizers: Sequence[sosie.Avatarizer],
    releases: list[int],
    targets: int,
) -> Iterator[Line]:
    for count in releases:
        attacks = [[*attack_groups(one, count)] for one in avatarizers]
        for knows in ("law", "groups"):
            made = [
                (same[0].guess, pooled([one.person for one in same], len(people)))
                for same in zip(*attacks, strict=True)
                if same[0].knows == knows
            ]
            yield strongest(KNOWS[knows], count, made)
    avatarizer = avatarizers[0]
    report = sosie.attack(
        people,
        avatarizer,
        scenario="all",
        releases=max(releases),
        curve=[count for count in releases if count],
        targets=targets,
    )
    for scenario in report.scenarios:
        if scenario == "groups":
            continue  # what he learns is a value, of which the guarantee says nothing
        found = [one for one in report.find(scenario=scenario) if one.rate is not None]
        for count in sorted({one.releases for one in found}):
            some = [
                (one.how, Rate(one.rate or 0.0, one.ci or (0.0, 0.0)))
                for one in found
                if one.releases == count
            ]
            yield strongest(scenario, count, some)


def pooled(rates: Sequence[Rate], people: int) -> Rate:
    """Of all people of several tables together."""
    right = sum(round(one.rate * people / 100) for one in rates)
    return Rate.of(right, people * len(rates))


def strongest(kind: str, releases: int, attackers: Sequence[tuple[str, Rate]]) -> Line:
    how, rate = max(attackers, key=lambda pair: pair[1].rate)
    return Line(kind, releases, len(attackers), how, rate)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", choices=("actg175", "wbcd", "cohort"))
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--releases", type=int, nargs="+", default=[0, 5, 25, 100])
    parser.add_argument("--targets", type=int, default=1_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore", sosie.SosieWarning)
    console = Console(width=150)
    people, roles = table(given.table)
    for k in given.k:
        avatarizers = [
            sosie.Avatarizer(k=k, seed=s, **roles).fit(people) for s in range(1, SEEDS + 1)
        ]
        guarantees = [one.guarantee for one in avatarizers]
        bound = 100 * max(one.bound or 0.0 for one in guarantees)
        least = min(one.smallest_group or 0 for one in guarantees)
        title = f"{given.table}, k = {k}: smallest group {least}, bound {bound:.2f} %"
        grid = Grid(
            "attacker",
            "releases",
            "of",
            "the strongest",
            "%",
            "interval",
            "within",
            title=title,
            box=None,
        )
        for line in lines(people, avatarizers, given.releases, given.targets):
            low, high = line.rate.ci
            within = "yes" if low <= bound else "NO"
            grid.add_row(
                line.kind,
                str(line.releases),
                str(line.attackers),
                line.how,
                f"{line.rate.rate:.2f}",
                f"{low:.2f} to {high:.2f}",
                within,
            )
        console.print(grid)


if __name__ == "__main__":
    main()
