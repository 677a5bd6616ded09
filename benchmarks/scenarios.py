"""What the scenarios beyond linkage find: who weighs most, what groups share, rows rebuilt.

``python benchmarks/scenarios.py actg175 --k 5 10 20 --method exchangeable`` prints each attacker's
rate, its interval at 95 % and its chance. A fifth of the people take no part, and are what rows
rebuilt are held against. Of what a group gives away the column that is farthest above chance is
printed. ``--scenario swap intersect membership`` take minutes, and are played where they are named.

Tables: ``actg175`` and ``wbcd`` from ``SOSIE_TEST_DATA``, and the bundled ``cohort``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence

from guarantee import table
from rich.console import Console
from rich.table import Table as Grid

import sosie
from sosie.attacks.results import AttackResult

PLAYED = ("contributor", "groups", "reconstruct")

APART = 0.2
"""Share of the people who take no part."""

RELEASES = 10
"""Published, for rows rebuilt."""


def results(
    name: str, method: str, k: int, seed: int, played: Sequence[str] = PLAYED
) -> Iterator[AttackResult]:
    """The attackers of one table; of several columns the one farthest above chance."""
    people, roles = table(name)
    people = people.sample(fraction=1, shuffle=True, seed=seed)
    apart = round(APART * len(people))
    avatarizer = sosie.Avatarizer(k=k, method=method, seed=seed, **roles)
    report = sosie.attack(
        people[apart:],
        avatarizer,
        scenario=played,
        releases=RELEASES,
        holdout=people[:apart],
    )
    seen: set[tuple[object, ...]] = set()
    for one in report.results:  # columns of one kind come in falling order
        key = (one.scenario, one.estimator, one.decision, one.releases, one.versions)
        if key not in seen:
            seen.add(key)
            yield one


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", choices=("actg175", "wbcd", "cohort"))
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--method", default="exchangeable")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", nargs="+", default=PLAYED)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    grid = Grid(
        *("k", "scenario", "attacker", "releases", "about"),
        *("rate", "95 % interval", "chance"),
        box=None,
    )
    for k in args.k:
        for one in results(args.table, args.method, k, args.seed, args.scenario):
            shown = ["", "", ""]
            if one.rate is not None and one.ci is not None:
                shown = [f"{one.rate:.1f}", f"{one.ci[0]:.1f} to {one.ci[1]:.1f}", ""]
            if one.chance is not None:
                shown[2] = f"{one.chance:.2f}"
            about = one.column or one.versions or ""
            about = about if one.area is None else f"area {one.area:.3f}"
            how = f"{one.estimator}, {one.decision}"
            grid.add_row(str(k), one.scenario, how, str(one.releases), about, *shown)
    console = Console(width=120)
    console.print(f"{args.table}, {args.method}")
    console.print(grid)


if __name__ == "__main__":
    main()
