"""Whose row weighs most in a record: the original nearest to it is named.

A barycentre, smoothed or not, is a weighted mean of its neighbours, never of its own person: a
person who is not linked to their avatar may still weigh most in someone else's. In a group whose
members enter alike nobody weighs more than 1 / s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sosie.attacks.decisions import nearest_people
from sosie.attacks.groups import members_of
from sosie.attacks.moments import rows_of, transformed
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Cast, Setup
from sosie.attacks.scenarios.protocol import Declaration
from sosie.attacks.sources import AvatarSource, Source
from sosie.compute.arrays import Floats, Ints
from sosie.errors import Reason
from sosie.generate import law
from sosie.generate.draw import draws_of
from sosie.generate.mixture import Mixture
from sosie.latent.famd import FAMD

__all__ = ["DECLARATION", "heaviest", "play"]


def play(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """How often the nearest original is the one that weighs most in a record.

    Where the members of a group weigh alike, naming one of them counts one in their number.
    """
    known = {"scenario": "contributor", "decision": "nearest"}
    if not isinstance(source, AvatarSource):
        reason = Reason("weights_unknown")
        yield AttackResult.none("contributor", "nearest", reason, decision="nearest")
        return
    avatarizer, originals = source.avatarizer, source.originals
    cast = Cast.of(len(originals), setup.seed, setup.targets)
    records = cast.targets[: cast.attacked]
    components = setup.components or avatarizer.settings.components
    famd = FAMD.fit(originals, components, originals.roles.weights)
    people = transformed(famd, originals, cast.people, source.threads)
    points = famd.transform(rows_of(source.draw(setup.target), records))
    named = cast.people[nearest_people(points, people, 1)[:, 0]]
    result = AttackResult.share(
        _credit(source, setup.target, records, named),
        estimator="nearest",
        chance=100 / len(originals),
        **known,
    )
    bound = avatarizer.guarantee.bound
    yield replace(
        result,
        attack_components=famd.components,
        candidates=len(originals),
        bound=None if bound is None else 100 * bound,
    )


def _credit(source: AvatarSource, release: int, records: Ints, named: Ints) -> Floats:
    """How far each answer is right, in 0..1."""
    if isinstance(source.avatarizer.fitted.law, Mixture):
        return np.asarray(heaviest(source, release)[records] == named, dtype=np.float64)
    group = members_of(source.avatarizer)
    sizes = np.bincount(group)
    return np.where(group[records] == group[named], 1 / sizes[group[records]], 0.0)


def heaviest(source: AvatarSource, release: int) -> Ints:
    """(n,) int64, the row with the greatest weight in each row's avatar in a release.

    The weights are those of the generator, drawn again with its seed: what an attacker is
    judged by, not what he has.
    """
    avatarizer, mixture = source.avatarizer, source.avatarizer.fitted.law
    assert isinstance(mixture, Mixture)  # noqa: S101 (asked by the caller)
    number, seed = release * avatarizer.settings.augment, avatarizer.secrets.seed
    chance = draws_of(mixture, seed, number, slice(0, len(mixture.order))).weights
    weights = chance * law.proximity(mixture.distances.T)
    places = mixture.rows.T[np.arange(len(weights)), weights.argmax(axis=1)]
    rows = np.empty(len(weights), dtype=np.int64)
    rows[mixture.order] = mixture.order[places]
    return rows


DECLARATION = Declaration("contributor", 0, play)
