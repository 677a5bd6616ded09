"""What a metric declares of itself, once, in the module named after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sosie.audits.results import Criterion, Direction, Metric
from sosie.errors import Reason

__all__ = ["Definition", "Gathered", "Need", "Swept"]

Need = Literal["aligned", "holdout", "categories", "two_columns"]

Gathered = Literal["counts", "repeated", "hit", "closer", "closest", "two_closest"]


@dataclass(frozen=True)
class Swept:
    """How a sweep of settings measures a metric.

    Attributes
    ----------
    releases : over how many it is averaged: more where it varies from one to the next.
    best : the value where nothing is lost.
    allowed : the distance from `best` that counts as one unit of loss; None for a metric of
        protection.
    shown : whether the report's table and figures of a sweep have it.

    Examples
    --------
    >>> Swept(best=100.0, allowed=10.0).loss(95.0), Swept(best=100.0, allowed=10.0).loss(103.0)
    (0.5, 0.0)
    """

    releases: int = 1
    best: float = 0.0
    allowed: float | None = None
    shown: bool = True

    def loss(self, value: float) -> float:
        """What was lost, in units of `allowed`; beyond `best` nothing is won."""
        if self.allowed is None:
            return 0.0
        return max(self.best - value if self.best > 0 else value, 0.0) / self.allowed


@dataclass(frozen=True)
class Definition:
    """What a metric is, before it is measured.

    Attributes
    ----------
    key : its name in ``audit.json``, and that of its module and function.
    unit : ``%``, or what is counted or measured.
    direction : whether ``higher`` or ``lower`` is better.
    criterion : what it protects from, or ``utility``.
    target : the default; None where none is in use.
    place : where it stands among the metrics of its criterion, least first.
    needs : what has to be there: tables declared ``aligned``, a ``holdout``, ``categories``,
        ``two_columns``.
    options : those of `AuditOptions` that its function takes.
    advice : what improves it, most effective first: keys under ``advice`` in the catalogues.
    gathered : what of the two tables it is computed from, where a cluster can gather it
        (``counts`` of pairs of columns, ``repeated`` rows, ``hit`` and ``closer`` of a
        `Crowd`, the ``closest`` originals or the ``two_closest``); None where it needs rows.
    count : what counts each pair of columns, where `gathered` is ``counts``.
    swept : how `tune` measures it; None where it does not.

    Examples
    --------
    >>> rate = Definition("hidden_rate", "%", "higher", "singling_out", 90.0)
    >>> rate.result(95.0, target=rate.target).met, rate.unavailable(Reason("not_run")).value
    (True, None)
    """

    key: str
    unit: str
    direction: Direction
    criterion: Criterion
    target: float | None = None
    place: int = 0
    needs: tuple[Need, ...] = ()
    options: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    gathered: Gathered | None = None
    count: Callable[..., Any] | None = None
    swept: Swept | None = None

    def result(self, value: float, *, target: float | None = None, **more: Any) -> Metric:
        """The metric with its value; `more` are the fields of `Metric`."""
        return Metric(
            self.key, float(value), self.unit, self.direction, self.criterion, target, **more
        )

    def unavailable(self, reason: Reason, *, target: float | None = None, **more: Any) -> Metric:
        """The metric without a value, and why."""
        return Metric(
            self.key,
            None,
            self.unit,
            self.direction,
            self.criterion,
            target,
            reason=reason,
            **more,
        )
