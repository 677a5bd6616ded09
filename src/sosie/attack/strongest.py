"""The strongest attacker of a family, chosen on half of the targets and reported on the other.

Choosing the best of many on the targets it is then reported on would flatter the
attacker; nothing is learnt from the reported half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sosie.attack import decisions
from sosie.attack.decisions import Decision, Verdict
from sosie.attack.estimators import Diagonal, Estimator, NearestMean, Pooled, Published, Scorer
from sosie.attack.results import AttackResult, halves
from sosie.attack.scenarios import Arena

__all__ = ["Attacker", "Chosen", "choose", "family", "verdict"]

SHRINKAGES = (0.02, 0.1, 0.3, 1.0)
"""Amounts of shrinkage that are tried."""

JUDGES = 500
"""Targets that the first round looks at; everyone decides among the nearest candidates there."""

MOST_PEOPLE = decisions.BLOCK
"""With more people, the second round (everyone a candidate; one-to-one) is left out."""


@dataclass(frozen=True)
class Attacker:
    """An estimator in some number of components, and a decision."""

    estimator: Estimator
    components: int
    decision: Decision = "likelihood"

    def result(self, arena: Arena, found: Verdict, candidates: int, **more: object) -> AttackResult:
        """Rates of this attacker's verdict."""
        everyone = self.decision in ("likelihood-all", "one-to-one")
        return AttackResult.of(
            found,
            scenario=arena.scenario,
            estimator=self.estimator.name,
            decision=self.decision,
            attack_components=arena.cloud.first(self.components).components,
            releases=arena.cloud.releases,
            candidates=arena.people if everyone else candidates,
            shrinkage=self.estimator.shrinkage,
            **more,
        )


@dataclass(frozen=True)
class Chosen:
    """The strongest of a family.

    Attributes
    ----------
    attacker : who it is.
    rate : his rate on the half on which he was chosen, in 0..1.
    result : his rates on the other half.
    """

    attacker: Attacker
    rate: float
    result: AttackResult


def family(
    estimator: str, components: int | None, most: int, shrinkage: float | None = None
) -> tuple[Attacker, ...]:
    """Attackers that differ in components and shrinkage.

    Parameters
    ----------
    estimator : a name, or ``all``.
    components : the only number of components to try, or None for several.
    most : components that the latent space has.
    shrinkage : the only amount to try, or None for several.
    """
    some = (components,) if components else tuple(sorted({min(d, most) for d in (5, 12, most)}))
    amounts = SHRINKAGES if shrinkage is None else (shrinkage,)
    made: dict[str, tuple[Estimator, ...]] = {
        "published": (Published(),),
        "pooled": tuple(Pooled(amount) for amount in amounts),
        "nearest-mean": (NearestMean(),),
        "diagonal": (Diagonal(),),
    }
    names = tuple(made) if estimator == "all" else (estimator,)
    return tuple(Attacker(one, d) for name in names for d in some for one in made[name])


def verdict(arena: Arena, attacker: Attacker, candidates: int) -> Verdict:
    """What an attacker says of every target of an arena."""
    scorer = _scorer(arena, attacker)
    targets, truth = np.arange(len(arena.points)), arena.cast.truth
    if attacker.decision == "likelihood":
        near = arena.candidates(attacker.components, candidates)
        return decisions.among(scorer, targets, truth, near)
    if attacker.decision == "row":
        rows = arena.rows(attacker.components, min(candidates, len(targets)))
        return decisions.own_row(scorer, truth, targets, rows)
    if attacker.decision == "likelihood-all":
        return decisions.among_all(scorer, targets, truth, arena.people)
    return decisions.one_to_one(scorer, targets, truth, arena.cloud.means)


def choose(
    arena: Arena, attackers: Sequence[Attacker], candidates: int, finalists: int = 2
) -> Chosen:
    """The strongest of some attackers.

    Two rounds on the choosing half: all of them on some targets, among the nearest
    candidates; then the best few on all of its targets, with every decision.
    """
    first, second = halves(len(arena.points))
    judges = np.flatnonzero(first)[:JUDGES]
    rates = [_first_round(arena, attacker, judges, candidates) for attacker in attackers]
    best = sorted(range(len(attackers)), key=lambda i: -rates[i])[:finalists]
    tried = [pair for i in best for pair in _second_round(arena, attackers[i], candidates)]
    attacker, found = max(tried, key=lambda pair: float(pair[1].take(first).hit.mean()))
    rate = float(found.take(first).hit.mean())
    result = attacker.result(
        arena, found.take(second), candidates, chosen_among=len(attackers) + len(tried)
    )
    return Chosen(attacker, rate, result)


def _first_round(arena: Arena, attacker: Attacker, judges: np.ndarray, candidates: int) -> float:
    near = arena.candidates(attacker.components, candidates)[judges]
    scorer = _scorer(arena, attacker)
    return float(decisions.among(scorer, judges, arena.cast.truth[judges], near).hit.mean())


def _second_round(
    arena: Arena, attacker: Attacker, candidates: int
) -> Iterator[tuple[Attacker, Verdict]]:
    scorer, truth = _scorer(arena, attacker), arena.cast.truth
    targets = np.arange(len(arena.points))
    near = arena.candidates(attacker.components, candidates)
    yield attacker, decisions.among(scorer, targets, truth, near)
    if arena.people > MOST_PEOPLE:
        return
    scores = scorer.grid(targets)
    yield replace(attacker, decision="likelihood-all"), decisions.first_of(scores, truth)
    if not _degenerate(arena, attacker):
        yield replace(attacker, decision="one-to-one"), decisions.assigned(scores, truth)


def _degenerate(arena: Arena, attacker: Attacker) -> bool:
    """Own covariances of too few releases: an assignment takes long and finds nothing."""
    own = attacker.estimator.name == "published"
    return own and arena.cloud.releases <= arena.cloud.first(attacker.components).components


def _scorer(arena: Arena, attacker: Attacker) -> Scorer:
    return attacker.estimator.fit(*arena.first(attacker.components))
