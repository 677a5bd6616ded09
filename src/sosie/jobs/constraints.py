"""What holds between columns, as ``run.json`` says it."""

from __future__ import annotations

from typing import Any

from sosie.data.constraints import Constraint, contradictions
from sosie.data.constraints.phrases import phrase_of
from sosie.data.table import Table
from sosie.generate.avatarizer import Avatarizer

__all__ = ["kept_constraints"]


def kept_constraints(avatarizer: Avatarizer, aligned: object) -> list[dict[str, Any]]:
    """Each constraint with the shares of originals and of avatars that contradict it.

    Parameters
    ----------
    avatarizer : fitted.
    aligned : a release, as the kind of dataframe that was fitted.
    """
    plan = avatarizer.plan
    if plan is None or not plan.constraints:
        return []
    people = avatarizer.originals
    avatars = people.like(aligned)
    before, after = (_shares(people, own, plan.constraints) for own in (people, avatars))
    return [
        constraint.to_dict(
            kept=constraint not in plan.unkept, originals=one / 100, avatars=other / 100
        )
        | _phrase(constraint)
        for constraint, one, other in zip(plan.constraints, before, after, strict=True)
    ]


def _phrase(constraint: Constraint) -> dict[str, Any]:
    phrase = phrase_of(constraint)
    return {} if phrase is None else {"phrase": phrase.to_dict()}


def _shares(people: Table, other: Table, constraints: Any) -> tuple[float, ...]:
    return contradictions(people, other, constraints).shares
