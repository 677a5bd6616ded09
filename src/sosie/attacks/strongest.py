"""The strongest attacker of a family, chosen on half of the targets and reported on the other.

Choosing the best of many on the targets it is then reported on would flatter the
attacker; nothing is learnt from the reported half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sosie.attacks import decisions
from sosie.attacks.decisions import Decision, Verdict
from sosie.attacks.estimators import DECLARATIONS, Estimator, Piecemeal, Scorer
from sosie.attacks.results import ANYONE, AttackResult, halves
from sosie.attacks.scenarios import Arena
from sosie.compute.arrays import Ints
from sosie.errors import Reason

__all__ = ["Attacker", "Chosen", "choose", "family", "verdict"]

EQUAL = "avatars_all_equal"

SHRINKAGES = (0.02, 0.1, 1.0)
"""Amounts of shrinkage that are tried."""

JUDGES = 300
"""Targets that the first round looks at; everyone decides among the nearest candidates there."""

MANY = 50_000
"""People above which each decomposition takes long, and fewer attackers are tried."""

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
        return AttackResult.of(
            found,
            scenario=arena.scenario,
            estimator=self.estimator.name,
            decision=self.decision,
            attack_components=arena.cloud.first(self.components).components,
            releases=arena.cloud.releases,
            candidates=arena.people if self.decision in ANYONE else candidates,
            shrinkage=self.estimator.shrinkage,
            most_components=arena.cloud.components if arena.cloud.bounded else None,
            reasons=tuple(self._reasons(arena)),
            **more,
        )

    def _reasons(self, arena: Arena) -> Iterator[Reason]:
        """What to know about a rate that rests on covariances of rank 0."""
        if self.estimator.name != "published":
            return
        if equal := int(arena.cloud.first(self.components).equal.sum()):
            yield Reason(EQUAL, {"equal": equal, "people": arena.people})


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
    estimators: Sequence[str],
    components: int | None,
    most: int,
    shrinkage: float | None = None,
    people: int = 0,
) -> tuple[Attacker, ...]:
    """Attackers that differ in components and shrinkage.

    Parameters
    ----------
    estimators : names.
    components : the only number of components to try, or None for several.
    most : components that the latent space has.
    shrinkage : the only amount to try, or None for several.
    people : how many there are; with very many, only the most components are tried.
    """
    several = {min(d, most) for d in (5, 12, most)} if people <= MANY else {most}
    some = (components,) if components else tuple(sorted(several))
    amounts = SHRINKAGES if shrinkage is None else (shrinkage,)
    ends = tuple(dict.fromkeys((some[0], some[-1])))
    return tuple(
        Attacker(one, d)
        for declaration in (DECLARATIONS[name] for name in estimators)
        for d in (ends if declaration.components == "ends" else some)
        for one in declaration.variants(amounts)
    )


def verdict(
    arena: Arena, attacker: Attacker, candidates: int, targets: Ints | None = None
) -> Verdict:
    """What an attacker says of some targets of an arena, or of all."""
    some = np.arange(arena.cast.attacked) if targets is None else targets
    return _said(arena, attacker, _scorer(arena, attacker), candidates, some)


def _scorer(arena: Arena, attacker: Attacker) -> Scorer:
    cloud, points = arena.first(attacker.components)
    if arena.cloud.lasting:
        return attacker.estimator.fit(cloud, points)
    return Piecemeal(attacker.estimator, cloud, points)


def _said(
    arena: Arena, attacker: Attacker, scorer: Scorer, candidates: int, targets: Ints
) -> Verdict:
    truth = arena.cast.truth[targets]
    if attacker.decision == "row":
        rows = arena.rows(attacker.components, min(candidates, len(arena.points)))
        return decisions.own_row(scorer, truth, targets, rows[targets])
    if attacker.decision == "likelihood":
        near = arena.candidates(attacker.components, candidates)
        return decisions.among(scorer, targets, truth, near[targets])
    if attacker.decision == "likelihood-all":
        return decisions.among_all(scorer, targets, truth, arena.people)
    return decisions.one_to_one(scorer, targets, truth, arena.cloud.means)


def choose(
    arena: Arena,
    attackers: Sequence[Attacker],
    candidates: int,
    allowed: Sequence[Decision],
    finalists: int = 2,
) -> Chosen:
    """The strongest of some attackers.

    Two rounds on the choosing half: all of them on some targets, with the first decision;
    then the best few on all of its targets, with every decision.

    Parameters
    ----------
    allowed : decisions; those that everyone in the table takes part in are left out of
        tables of more than 4,000 people.
    """
    first, second = halves(arena.cast.attacked)
    judges = np.flatnonzero(first)[:JUDGES]
    started = [replace(attacker, decision=allowed[0]) for attacker in attackers]
    # An assignment takes longest: it is tried with the best of the first round only.
    without: Sequence[Decision] = tuple(d for d in allowed if d != "one-to-one") or allowed
    if len(started) > finalists:
        rates = [float(verdict(arena, a, candidates, judges).hit.mean()) for a in started]
        best = np.argsort(-np.array(rates), kind="stable")[:finalists]
        started = [started[i] for i in best]
    tried = [
        pair
        for place, attacker in enumerate(started)
        for pair in _second_round(arena, attacker, candidates, allowed if place == 0 else without)
    ]
    attacker, found = max(tried, key=lambda pair: float(pair[1].take(first).hit.mean()))
    result = attacker.result(
        arena,
        found.take(second),
        candidates,
        chosen_among=len(attackers) - len(started) + len(tried),
    )
    return Chosen(attacker, float(found.take(first).hit.mean()), result)


def _second_round(
    arena: Arena, attacker: Attacker, candidates: int, allowed: Sequence[Decision]
) -> Iterator[tuple[Attacker, Verdict]]:
    scorer = _scorer(arena, attacker)
    targets = np.arange(arena.cast.attacked)
    truth = arena.cast.truth[targets]
    scores = None
    if arena.people <= MOST_PEOPLE and {"likelihood-all", "one-to-one"} & {*allowed}:
        scores = scorer.grid(targets)
    for decision in allowed:
        decided = replace(attacker, decision=decision)
        if scores is None:
            if len(allowed) == 1 or decision in ("likelihood", "row"):
                yield decided, _said(arena, decided, scorer, candidates, targets)
        elif decision == "likelihood":
            near = arena.candidates(attacker.components, candidates)
            yield decided, decisions.among_scored(scores, truth, near)
        elif decision == "row":
            yield decided, _said(arena, decided, scorer, candidates, targets)
        elif decision == "likelihood-all":
            yield decided, decisions.first_of(scores, truth)
        elif not _degenerate(arena, attacker):
            yield decided, decisions.assigned(scores, truth)


def _degenerate(arena: Arena, attacker: Attacker) -> bool:
    """Own covariances of too few releases: an assignment takes long and finds nothing."""
    own = attacker.estimator.name == "published"
    return own and arena.cloud.releases <= arena.cloud.first(attacker.components).components
