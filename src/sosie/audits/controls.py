"""Attacks beside their control: the same attack on people who took no part.

What succeeds against strangers as well tells about the population, not about its members.
Source: Giomi et al., PETS 2023.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sosie.audits.definition import Definition
from sosie.audits.intervals import above_control, paired_risk, wilson
from sosie.audits.reasons import NO_HOLDOUT
from sosie.audits.results import Metric
from sosie.compute.arrays import Floats
from sosie.errors import Reason

__all__ = ["above_controls", "on_the_same"]


def above_controls(
    definition: Definition,
    attack: Floats,
    control: Floats | None,
    *,
    target: float | None,
    detail: dict[str, Any],
    columns: tuple[dict[str, Any], ...] = (),
) -> Metric:
    """Risk of an attack above its control, ``100 (a - c) / (1 - c)``, as a metric.

    Parameters
    ----------
    attack : (n,) float64, chance of success against each person.
    control : (h,) float64, against each of the people set aside; None without them.
    """
    rates = detail | {
        "attack": 100 * float(attack.mean()),
        "attack_ci": _percent(wilson(float(attack.sum()), len(attack))),
    }
    if control is None:
        return definition.unavailable(
            NO_HOLDOUT, target=target, detail=rates, columns=columns, by_person={"hit": attack}
        )
    rates["control_ci"] = _percent(wilson(float(control.sum()), len(control)))
    score = 100 * float(control.mean())
    if score == 100:
        reason = Reason("nothing_above_control")
        return definition.unavailable(
            reason, target=target, detail=rates, columns=columns, control=score
        )
    risk, interval = above_control(
        float(attack.sum()), len(attack), float(control.sum()), len(control)
    )
    return definition.result(
        100 * risk,
        target=target,
        ci=_percent(interval),
        control=score,
        detail=rates,
        columns=columns,
        by_person={"hit": attack},
    )


def on_the_same(
    definition: Definition,
    attack: Floats,
    control: Floats,
    *,
    target: float | None,
    detail: dict[str, Any],
    columns: tuple[dict[str, Any], ...] = (),
) -> Metric:
    """The same where everyone was attacked as a member and, by a twin, as a stranger.

    Parameters
    ----------
    attack, control : (n,) float64, chance of success about each person, row by row the same.
    """
    metric = above_controls(
        definition, attack, control, target=target, detail=detail, columns=columns
    )
    if metric.value is None:
        return metric
    return replace(metric, ci=_percent(paired_risk(attack, control)[1]))


def _percent(interval: tuple[float, float]) -> tuple[float, float]:
    return 100 * interval[0], 100 * interval[1]
