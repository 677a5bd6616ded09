"""Attacks that need no release at all: the originals and the public law are enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sosie.attacks import decisions
from sosie.attacks.decisions import Decision, Verdict
from sosie.attacks.knowledge import Law
from sosie.attacks.moments import CELLS
from sosie.attacks.results import AttackResult, halves
from sosie.attacks.scenarios import Cast
from sosie.attacks.sweep import Desk, swept
from sosie.compute.arrays import Floats
from sosie.data.table import Table
from sosie.generate.avatarizer import Avatarizer

__all__ = ["UNAIDED", "Unaided", "unaided"]

UNAIDED = ("analytic", "geometry", "combined", "bayes")
"""Estimators from knowledge of the generator; ``bayes`` is for smoothed avatars only."""

MOST_PAIRS = 100_000_000
"""Pairs of target and person that are compared; in larger tables fewer targets are attacked."""

LEAST_TARGETS = 500

MANY = 20_000
"""People above which their laws and their scores are not held together."""


@dataclass(frozen=True)
class Unaided:
    """One attacker without releases, and what he says with each decision.

    Attributes
    ----------
    estimator : a name of `UNAIDED`.
    verdicts : for each decision, on all targets.
    people : how many there are.
    """

    estimator: str
    verdicts: dict[Decision, Verdict]
    people: int

    def rate(self, decision: Decision) -> float:
        """Share right on the choosing half, in 0..1."""
        found = self.verdicts[decision]
        return float(found.take(halves(len(found.rank))[0]).hit.mean())

    def best(self) -> Decision:
        """The decision that does best on the choosing half."""
        return max(self.verdicts, key=self.rate)

    def result(self, decision: Decision, *, half: bool) -> AttackResult:
        """Rates on the reported half, or on all targets."""
        found = self.verdicts[decision]
        taken = found.take(halves(len(found.rank))[1]) if half else found
        return AttackResult.of(
            taken,
            scenario="v1",
            estimator=self.estimator,
            decision=decision,
            attack_components=None,
            releases=0,
            candidates=self.people,
            chosen_among=len(self.verdicts) if half else None,
        )


def unaided(
    law: Avatarizer,
    target: Table,
    cast: Cast,
    names: Sequence[str],
    allowed: Sequence[Decision],
    seed: int,
) -> Iterator[Unaided]:
    """Attack a release from the law alone.

    Parameters
    ----------
    law : fitted on the originals, with the settings that the attacker believes in.
    target : the attacked release, aligned; encoded like the originals.
    names : estimators of `UNAIDED`.
    allowed : ``likelihood-all`` and ``one-to-one``; the second up to 4,000 people.
    seed : of the attacker's own weights.
    """
    known = Law(law, cast.people, np.random.default_rng(seed))
    count = min(cast.attacked, max(MOST_PAIRS // len(known), LEAST_TARGETS))
    sighting = known.sight(target, cast.targets[:count])
    names = [name for name in names if name != "bayes" or known.mixture.root is not None]
    if len(known) > MANY:
        for name, found in swept(known, sighting, cast.truth[:count], names):
            yield Unaided(name, {"likelihood-all": found}, len(known))
        return
    desk = Desk(known, sighting)
    truth, together = cast.truth[:count], len(known) <= decisions.BLOCK
    kept: dict[str, list[Floats]] = {name: [] for name in names}
    first: dict[str, list[Verdict]] = {name: [] for name in names}
    step = max(CELLS // len(known), 1)
    for start in range(0, count, step):
        targets = np.arange(start, min(start + step, count))
        for name, scores in desk.scores(names, targets):
            first[name].append(decisions.first_of(scores, truth[targets]))
            if together:
                kept[name].append(scores)
    for name in names:
        verdicts: dict[Decision, Verdict] = {}
        if "likelihood-all" in allowed or not together:
            verdicts["likelihood-all"] = Verdict.joined(first[name])
        if "one-to-one" in allowed and together:
            verdicts["one-to-one"] = decisions.assigned(np.vstack(kept.pop(name)), truth)
        yield Unaided(name, verdicts, len(known))
