"""What each k costs here, from a quick sweep: ``python -m sosie.cli.app.cost RUN K,K,… OUT``.

Avatars of at most 2,000 people are made with each k by the default method and compared with them;
what is found is written after each k. Analyses of the study that do not fit the table are refused
here, before any run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sosie.audits.comparison import Comparison
from sosie.audits.utility.association_difference import association_difference
from sosie.audits.utility.hellinger_mean import hellinger_mean
from sosie.cli.app.folder import RunFolder
from sosie.cli.app.inspection import MOST_CELLS, opened
from sosie.cli.app.settings import Settings
from sosie.data.atomic import OWNER_FILE, atomic
from sosie.data.files import read
from sosie.data.parquet import Scan
from sosie.data.table import Table
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.studies.analyses import check

__all__ = ["costs", "main"]

PEOPLE = 2_000
"""People whose avatars are made: a second for each k."""


def costs(
    table: Table, ks: Sequence[int], *, constraints: bool = True, seed: int | None = None
) -> Iterator[dict[str, Any]]:
    """How far avatars are from the people, for each k.

    Parameters
    ----------
    constraints, seed : see `Avatarizer`.

    Yields
    ------
    dict
        ``k``, ``distributions`` (mean Hellinger distance of the columns), ``associations`` (mean
        difference of association); both None where a table does not allow that k.
    """
    for k in ks:
        try:
            avatarizer = Avatarizer(
                k, seed=seed, constraints=constraints, rows_are_people=True
            ).fit(table)
            comparison = Comparison.of(
                avatarizer.originals.frame,
                avatarizer.release(shuffle=False),
                aligned=True,
                roles=table.roles.compared(),
            )
            found = hellinger_mean(comparison).value, association_difference(comparison).value
        except InputError:
            found = None, None
        yield {"k": k, "distributions": found[0], "associations": found[1]}


def sampled(settings: Settings) -> Table:
    """Some people of the file, with the choices that were made; the first of a large Parquet."""
    path = Path(settings.data)
    if settings.names_in is None:
        frame, _, _ = opened(path)
    else:
        first, last = settings.names_in
        frame = read(path, names_in=(first, last)).frame
    if isinstance(frame, Scan):
        frame = frame.frame() if len(frame) * frame.width <= MOST_CELLS else frame.head(PEOPLE)
    some = np.random.default_rng().permutation(len(frame))[:PEOPLE]
    return Table.of(frame[np.sort(some).tolist()], settings.roles())


def main(arguments: Sequence[str]) -> None:
    """Write the costs, one k after the other."""
    run, ks, out = RunFolder(Path(arguments[0])), arguments[1].split(","), Path(arguments[2])
    settings = Settings.of(run)
    told: dict[str, Any] = {"costs": [], "refused": None}

    def save() -> None:
        atomic(out, lambda file: file.write(json.dumps(told).encode()), OWNER_FILE)

    try:
        table = sampled(settings)
        if settings.analyses:
            check(table, settings.analyses)
    except InputError as error:
        told["refused"] = str(error)
        save()
        return
    for row in costs(table, [int(k) for k in ks], constraints=settings.constraints):
        told["costs"].append(row)
        save()


if __name__ == "__main__":
    main(sys.argv[1:])
