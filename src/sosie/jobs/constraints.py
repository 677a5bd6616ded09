"""What holds between columns, as ``run.json`` says it."""

from __future__ import annotations

from typing import Any

from sosie.data.constraints import Constraint, Plan, contradictions
from sosie.data.constraints.phrases import phrase_of
from sosie.data.table import Table
from sosie.generate.avatarizer import Avatarizer

__all__ = ["constraints_in", "kept_constraints"]


def kept_constraints(avatarizer: Avatarizer, aligned: object) -> list[dict[str, Any]]:
    """Each constraint with the shares of originals and of avatars that contradict it.

    Parameters
    ----------
    avatarizer : fitted.
    aligned : a release, as the kind of dataframe that was fitted.
    """
    plan = avatarizer.plan
    return [] if plan is None else constraints_in(plan, aligned, avatarizer.originals)


def constraints_in(
    plan: Plan, released: object, originals: Table | None = None
) -> list[dict[str, Any]]:
    """Each constraint of a plan with the shares that contradict it.

    Parameters
    ----------
    released : avatars, with the columns that were planned.
    originals : by default those of the plan.
    """
    if not plan.constraints:
        return []
    people = plan.table if originals is None else originals
    avatars = people.like(released)
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
