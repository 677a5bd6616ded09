"""The attacks of a run: every scenario, the strongest of the quick attackers, in bounded time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sosie.attacks.laboratory import LINKAGE, attack
from sosie.attacks.results import AttackReport
from sosie.attacks.scenarios import DECLARATIONS
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer

__all__ = ["MOST_PEOPLE", "RELEASES", "from_law", "routine"]

RELEASES = 5
"""Further releases in the attacker's hands, where no number is asked for."""

MOST_PEOPLE = 20_000
"""In larger tables only the attacker with one profile is tried, unless releases are asked for."""

MOST_TARGETS = 2_000
"""Of more people so many are attacked, drawn at random: an interval of 3 points either side."""

CANDIDATES = 50


def routine(
    avatarizer: Avatarizer,
    releases: int | None = None,
    seed: int = 0,
    columns: Sequence[Hashable] | Mapping[str, Sequence[Hashable]] = (),
) -> AttackReport:
    """Attack avatars with the attackers that find most and cost little.

    From releases: the published protocol, pooled covariances, the nearest mean. From the
    law: the analytic attacker, and `bayes` for smoothed avatars or `geometry` for
    barycentres. For who has a profile or a part of one: the nearest row. `attack` has more.

    Parameters
    ----------
    avatarizer : fitted on the originals. It is not changed.
    releases : further releases in the attacker's hands. None: 5, or of more than 20,000
        people only the attacker who has one profile and one release.
    seed : of the attacker's own coin tosses.
    columns : those that the attacker with a part of a profile knows, or each of several actors.

    Raises
    ------
    InputError
        A negative number of releases, or a table that can't be attacked.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"a": [i * 37 % 41 for i in range(60)], "b": list(range(60))})
    >>> report = routine(Avatarizer(k=5, seed=1, numeric=["b"]).fit(people), releases=2)
    >>> report.scenarios
    ('v1', 'v2', 'nearest', 'insert', 'partial', 'groups')
    """
    table, settings = avatarizer.table, avatarizer.settings
    people = len(table)
    known: dict[str, Any] = {
        "candidates": min(CANDIDATES, people),
        "targets": min(MOST_TARGETS, people),
        "seed": seed,
    }
    if releases is None and people > MOST_PEOPLE:
        few = attack(table, avatarizer, scenario="nearest", components=settings.components, **known)
        note = Reason("only_one_profile", {"people": people})
        return replace(few, notes=(*few.notes, note))
    return attack(
        table,
        avatarizer,
        scenario=(*LINKAGE, *(one.key for one in DECLARATIONS.values() if one.quick)),
        estimator=("published", "pooled", "nearest-mean", *from_law(avatarizer)),
        releases=RELEASES if releases is None else releases,
        known=columns,
        **known,
    )


def from_law(avatarizer: Avatarizer) -> tuple[str, ...]:
    """The quick estimators that need no release; none where people have no law of their own.

    >>> import polars as pl
    >>> people = pl.DataFrame({"a": [i * 37 % 41 for i in range(60)], "b": list(range(60))})
    >>> from_law(Avatarizer(k=5, seed=1, method="barycentre", numeric=["b"]).fit(people))
    ('analytic', 'geometry')
    """
    law = avatarizer.fitted.law
    if isinstance(law, Reason):
        return ()
    return "analytic", "geometry" if law.noise.exact else "bayes"
