"""Attackers who know one person's profile, in full or in part, and hold one release."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sosie.attacks import decisions
from sosie.attacks.decisions import Verdict, nearest_people
from sosie.attacks.estimators.scorers import SharedCovariance
from sosie.attacks.moments import MOST_COMPONENTS, layout_of, rows_of, space_of, transformed
from sosie.attacks.results import AttackResult, Rate
from sosie.attacks.scenarios import Cast, Setup
from sosie.attacks.sources import Source
from sosie.audits.distances import own_distances
from sosie.data.table import Table
from sosie.errors import InputError, Reason
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["hidden_rate_complement", "partial", "related"]

SUBSETS = 5
"""Random sets of known columns for each number of them."""

FEW_SUBSETS, MANY_INDICATORS = 2, 250
"""Fewer sets where there are many levels: the time of each grows with their cube."""

RELATED = 10_000
"""People looked at to see whether releases are aligned."""

TOGETHER = 1 << 17
"""People whose nearest avatar is looked for together."""

NEAREST_ROWS = 10
"""Published rows that are ranked for each profile."""


def hidden_rate_complement(originals: Table, avatars: Table, components: int) -> Rate:
    """100 minus the hidden rate: how often the avatar nearest to a person is their own.

    A hit among avatars at the same distance counts as one divided by their number.

    Parameters
    ----------
    avatars : aligned with the originals.
    components : dimensions of the latent space, fitted on the originals.
    """
    famd = FAMD.fit(originals, components, originals.roles.weights)
    index = NeighbourIndex(famd.transform(avatars))
    people = famd.transform(originals)
    hits = 0.0
    for start in range(0, len(people), TOGETHER):
        # In the order of the index: a person is near their own avatar, so the next one is near.
        places = slice(start, start + TOGETHER)
        own = people[index.order[places]]
        away = own_distances(own, index.placed[places])
        nearest = index.nearest(own, 1).distances[:, 0]
        hit = np.flatnonzero(away <= nearest * (1 + 1e-12))
        ties = index.count_within(own[hit], away[hit] * (1 + 1e-12))
        hits += float((1 / np.maximum(ties, 1)).sum())
    return Rate.of(hits, len(people))


def related(originals: Table, avatars: Table, seed: int) -> bool:
    """Whether rows are closer to their own person than to others (two standard errors).

    False for a generator that keeps nothing of a person, and for releases in another order:
    the two can't be told apart from outside.
    """
    some = np.sort(np.random.default_rng(seed).permutation(len(originals))[:RELATED])
    originals, avatars = rows_of(originals, some), rows_of(avatars, some)
    famd = space_of(originals, MOST_COMPONENTS)
    people, points = famd.transform(originals), famd.transform(avatars)
    other = points[np.random.default_rng(seed).permutation(len(points))]
    gain = np.square(people - other).sum(axis=1) - np.square(people - points).sum(axis=1)
    error = gain.std() / np.sqrt(len(gain))
    return bool(gain.mean() > 2 * error)


def partial(
    source: Source,
    setup: Setup,
    components: int,
    known: Mapping[str, Sequence[Hashable]] | None = None,
) -> Iterator[AttackResult]:
    """The nearest attackers who know only some columns: those named, or drawn at random.

    Each rate is over all targets and sets of columns; its interval counts every target
    once, and the spread over the sets is given beside it.

    Parameters
    ----------
    components : dimensions of his latent space, at most as many as his columns give.
    known : what each actor knows; by default there is one, with some sets of columns of several
        sizes, drawn at random.
    """
    if known:
        for actor, columns in known.items():
            found = _of_these(source, setup, components, columns)
            yield replace(found, actor=actor or None)
        return
    originals, target = source.originals, source.draw(setup.target)
    names = list(originals.names)
    counts = sorted({max(round(len(names) * share), 1) for share in (0.1, 0.2, 0.35, 0.5, 0.75)})
    rng = np.random.default_rng(setup.seed)
    cast = Cast.of(len(originals), setup.seed, setup.targets)
    subsets = FEW_SUBSETS if layout_of(originals).width > MANY_INDICATORS else SUBSETS
    for count in counts:
        sets = [list(rng.permutation(len(names))[:count]) for _ in range(subsets)]
        verdicts = []
        for columns in sets:
            some = [names[i] for i in sorted(columns)]
            try:
                verdicts.append(
                    _nearest(originals.select(some), target.select(some), cast, components)
                )
            except InputError:  # none of these columns varies: they tell nothing
                continue
        if not verdicts:
            reason = Reason("known_columns_constant")
            yield AttackResult.none("partial", "nearest", reason, decision="row", known=count)
            continue
        yield _over_sets(verdicts, count, components, len(originals))


def _of_these(
    source: Source, setup: Setup, components: int, known: Sequence[Hashable]
) -> AttackResult:
    """The attacker who knows these columns, or why there is none."""
    columns = tuple(str(name) for name in known)
    told = {"known": len(known), "known_columns": columns}
    originals = source.originals
    absent = [str(name) for name in known if name not in originals.names]
    if absent:
        reason = Reason("known_absent", {"columns": ", ".join(absent)})
        return AttackResult.none("partial", "nearest", reason, decision="row", **told)
    some, drawn = (table.select(known) for table in (originals, source.draw(setup.target)))
    cast = Cast.of(len(originals), setup.seed, setup.targets)
    try:
        verdict = _nearest(some, drawn, cast, components)
    except InputError:
        reason = Reason("known_columns_constant")
        return AttackResult.none("partial", "nearest", reason, decision="row", **told)
    found = _over_sets([verdict], len(known), components, len(originals))
    return replace(found, repeats=(), known_columns=columns)


def _nearest(originals: Table, target: Table, cast: Cast, components: int) -> Verdict:
    famd = space_of(originals, components)
    attacked = np.arange(cast.attacked)
    means = famd.transform(rows_of(originals, cast.targets[attacked]))
    points = transformed(famd, target, cast.targets)
    rows = nearest_people(means, points, min(NEAREST_ROWS, len(points)))
    return decisions.own_row(SharedCovariance(points, means), attacked, attacked, rows)


def _over_sets(verdicts: Sequence[Verdict], known: int, components: int, rows: int) -> AttackResult:
    result = AttackResult.of(
        Verdict.joined(verdicts),
        scenario="partial",
        estimator="nearest",
        decision="row",
        attack_components=components,
        releases=0,
        candidates=rows,
        known=known,
    )
    rates = [100 * float(found.hit.mean()) for found in verdicts]
    trials = len(verdicts[0].rank)
    mean = Rate.of(float(np.mean(rates)) / 100 * trials, trials)
    # The nearest of all rows: that only the first few are ranked is no choice of his.
    return replace(
        result,
        ci=mean.ci,
        targets=trials,
        repeats=tuple(rates),
        recall=100.0,
        chance=100 / rows,
    )
