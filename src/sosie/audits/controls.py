"""Attacks beside their control: the same attack on people who took no part.

What succeeds against strangers as well tells about the population, not about its members.
Source: Giomi et al., PETS 2023.
"""

from __future__ import annotations

from typing import Any

from sosie.audits.definition import Definition
from sosie.audits.intervals import above_control, wilson
from sosie.audits.reasons import NO_HOLDOUT
from sosie.audits.results import Metric
from sosie.compute.arrays import Floats
from sosie.errors import Reason

__all__ = ["above_controls"]


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


def _percent(interval: tuple[float, float]) -> tuple[float, float]:
    return 100 * interval[0], 100 * interval[1]
