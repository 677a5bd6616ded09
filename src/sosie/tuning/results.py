"""What a sweep found: one trial for each setting, the frontier, the cheapest that will do.

Two figures place a setting. *Risk*: the highest rate, in percent, that any attacker reached
among those tried. *Loss*: how much of what the utility targets allow has been used, the mean
over the utility metrics; 0 where nothing was lost, 1 where each stands at its target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, Self

from sosie.audits.definition import Definition, Swept
from sosie.audits.registry import DEFINITIONS, ON_TWINS
from sosie.audits.results import Metric
from sosie.errors import Reason
from sosie.generate.methods import METHODS
from sosie.generate.settings import Decode

__all__ = ["AGREEING", "ALLOWED", "STRONGEST", "SWEPT", "Setting", "Trial", "Tuning"]

STRONGEST = Definition("strongest_attack", "%", "lower", "linkability")
"""The rate of the strongest attacker; the context sets its target."""

AGREEING = Definition(
    "agreeing_terms",
    "%",
    "higher",
    "utility",
    swept=Swept(releases=5, best=100.0, allowed=20.0),
)
"""The share of terms of a study's analyses whose estimate on avatars lies in the interval of the
originals. In a fifth to a quarter of the sets of avatars of two trials the primary end points did
not come through (Demuth et al., J Med Internet Res 27, e71297, 2025): a fifth is one unit."""

SWEPT: tuple[Definition, ...] = tuple(d for d in DEFINITIONS if d.swept is not None)
"""The metrics measured in each setting whatever the targets, beside the strongest attack."""

ALLOWED: Mapping[str, Swept] = {
    d.key: d.swept
    for d in (*SWEPT, AGREEING)
    if d.swept is not None and d.swept.allowed is not None
}
"""What counts as one unit of loss: the usual targets, ten points of predictive ratio, a fifth of
the terms of a study's analyses."""

CHANCE = 0.05
"""Losses that differ by less may differ by chance: releases of one setting do."""

SCHEMA = "sosie/tune/1"


@dataclass(frozen=True, order=True)
class Setting:
    """What is swept.

    Attributes
    ----------
    components : dimensions in which neighbours are found.
    method : how avatars are made (see `sosie.generate.methods`).
    k : people in the smallest group, or neighbours of each avatar.
    """

    components: int
    method: str
    k: int


@dataclass(frozen=True)
class Trial:
    """One setting, measured.

    Attributes
    ----------
    setting : which.
    metrics : key -> metric, those of privacy, `STRONGEST` and those of utility.
    reason : why there are none, where avatars can't be made so.
    """

    setting: Setting
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    reason: Reason | None = None

    @property
    def risk(self) -> float | None:
        """Highest rate of any attacker, in percent; None where none was tried.

        >>> rates = (Metric("hidden_rate", 88.0, "%", "higher", "singling_out"),
        ...          Metric("strongest_attack", 26.0, "%", "lower", "linkability"))
        >>> Trial(Setting(5, "smoothed", 5), {rate.key: rate for rate in rates}).risk
        26.0
        """
        hidden, found = self.value("hidden_rate"), self.value(STRONGEST.key)
        rates = [None if hidden is None else 100 - hidden, found]
        return max((rate for rate in rates if rate is not None), default=None)

    @property
    def loss(self) -> float | None:
        """Utility lost, in units of `ALLOWED`, at least 0; None where it was not measured.

        >>> moved = Metric("hellinger_mean", 0.05, "distance", "lower", "utility")
        >>> Trial(Setting(5, "smoothed", 5), {"hellinger_mean": moved}).loss
        0.5
        """
        lost = []
        for key, swept in ALLOWED.items():
            value = self.value(key)
            if value is not None:
                lost.append(swept.loss(value))
        return sum(lost) / len(lost) if lost else None

    @property
    def missed(self) -> tuple[str, ...]:
        """Metrics of protection whose target is not met."""
        return tuple(
            metric.key
            for metric in self.metrics.values()
            if metric.criterion != "utility" and _misses(metric)
        )

    @property
    def meets(self) -> bool:
        """Whether every target of protection is met."""
        return bool(self.metrics) and not self.missed

    def value(self, key: str) -> float | None:
        """Value of a metric; None where there is none."""
        return self.metrics[key].value if key in self.metrics else None

    def judged(self, targets: Mapping[str, float | None]) -> Self:
        """The same against other targets."""
        metrics = {
            key: replace(metric, target=targets.get(key, metric.target))
            for key, metric in self.metrics.items()
        }
        return replace(self, metrics=metrics)

    def dominates(self, other: Trial) -> bool:
        """Whether it risks no more and loses no more than another, and one of them less."""
        mine, theirs = (self.risk, self.loss), (other.risk, other.loss)
        no_worse = all(
            own is not None and its is not None and own <= its
            for own, its in zip(mine, theirs, strict=True)
        )
        return no_worse and mine != theirs

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, aggregates only."""
        return {
            "k": self.setting.k,
            "method": self.setting.method,
            "components": self.setting.components,
            "reason": None if self.reason is None else self.reason.to_dict(),
            "risk": self.risk,
            "loss": self.loss,
            "meets": self.meets,
            "metrics": {key: metric.to_dict() for key, metric in self.metrics.items()},
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Self:
        """A trial as `to_dict` told it."""
        return cls(
            Setting(told["components"], told["method"], told["k"]),
            {key: _metric(key, metric) for key, metric in told["metrics"].items()},
            _reason(told["reason"]),
        )


def _misses(metric: Metric) -> bool:
    """Whether a target is not met.

    Where a guarantee bounds all attackers, the bound is judged: a rate is one sample of what it
    allows. An attacker who could not be tried is no proof, nor is one whom no people who took
    no part could be set against.
    """
    if metric.target is None:
        return False
    if metric.key != STRONGEST.key:
        return metric.met is False or (metric.met is None and metric.key in ON_TWINS)
    judged = metric.detail.get("bound", metric.value)
    return judged is None or float(judged) > metric.target


@dataclass(frozen=True)
class Tuning:
    """Every setting that was tried.

    Attributes
    ----------
    rows, columns : of the table.
    releases : how many are planned, which the attackers were given.
    decode : how categories were chosen.
    trials : the settings measured so far, in order.
    wanted : how many settings were asked for.
    digest : of the data and the options, under a secret key: a sweep is resumed on the same only.

    Examples
    --------
    >>> Tuning(rows=10, columns=2, releases=1, decode="draw", trials=(), wanted=16).complete
    False
    """

    rows: int
    columns: int
    releases: int
    decode: Decode
    trials: tuple[Trial, ...]
    wanted: int
    digest: str = ""

    @property
    def complete(self) -> bool:
        """Whether every setting that was asked for has been tried."""
        return len(self.trials) >= self.wanted

    @cached_property
    def frontier(self) -> tuple[Trial, ...]:
        """The settings that no other beats on both risk and loss, the riskiest first."""
        placed = [trial for trial in self.trials if None not in (trial.risk, trial.loss)]
        best = [t for t in placed if not any(other.dominates(t) for other in placed)]
        return tuple(sorted(best, key=lambda trial: (-(trial.risk or 0.0), trial.loss or 0.0)))

    @cached_property
    def cheapest(self) -> Trial | None:
        """Of the settings that meet every target of protection, the one that loses least."""
        return _least_loss(trial for trial in self.trials if trial.meets)

    @cached_property
    def alike(self) -> tuple[Trial, ...]:
        """All that meet every target and lose about as little as the cheapest, safest first."""
        if self.cheapest is None:
            return ()
        most = (self.cheapest.loss or 0.0) + CHANCE
        near = [t for t in self.trials if t.meets and t.loss is not None and t.loss <= most]
        return tuple(sorted(near, key=lambda trial: (trial.risk or 0.0, trial.loss or 0.0)))

    @cached_property
    def unbound(self) -> Trial | None:
        """The one that loses least, targets or not: what the targets cost is measured from it."""
        return _least_loss(self.trials)

    @cached_property
    def nearest(self) -> Trial | None:
        """The one that misses fewest targets, then risks least: where none meets them all."""
        measured = [trial for trial in self.trials if trial.metrics]
        return min(measured, key=lambda t: (len(t.missed), t.risk or 0.0), default=None)

    @property
    def cost(self) -> dict[str, float]:
        """What the targets cost: each utility metric of `cheapest` less that of `unbound`."""
        if self.cheapest is None or self.unbound is None:
            return {}
        pairs = {key: (self.cheapest.value(key), self.unbound.value(key)) for key in ALLOWED}
        pairs["loss"] = (self.cheapest.loss, self.unbound.loss)
        return {
            key: after - before
            for key, (after, before) in pairs.items()
            if after is not None and before is not None
        }

    def to_dict(self) -> dict[str, Any]:
        """What ``tune.json`` holds; the seed is not in it."""
        return {
            "schema": SCHEMA,
            "version": version("sosie"),
            "rows": self.rows,
            "columns": self.columns,
            "releases": self.releases,
            "decode": self.decode,
            "complete": self.complete,
            "wanted": self.wanted,
            "digest": self.digest,
            "trials": [
                trial.to_dict() | {"frontier": trial in self.frontier} for trial in self.trials
            ],
            "cheapest": _named(self.cheapest),
            "alike": [_named(trial) for trial in self.alike],
            "unbound": _named(self.unbound),
            "nearest": _named(self.nearest),
            "cost": self.cost,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Self:
        """A sweep as `to_dict` told it."""
        names = ("rows", "columns", "releases", "decode", "wanted", "digest")
        trials = tuple(Trial.from_dict(trial) for trial in told["trials"])
        return cls(trials=trials, **{name: told[name] for name in names})

    def judged(self, targets: Mapping[str, float | None]) -> Tuning:
        """The same against other targets."""
        return replace(self, trials=tuple(trial.judged(targets) for trial in self.trials))

    def extended(self, trials: Sequence[Trial]) -> Tuning:
        """The same with more trials, in the order of their settings."""
        return replace(self, trials=tuple(sorted((*self.trials, *trials), key=_place)))


def _place(trial: Trial) -> tuple[int, int, int]:
    setting = trial.setting
    known = [*METHODS]
    place = known.index(setting.method) if setting.method in known else len(known)
    return setting.components, place, setting.k


def _least_loss(trials: Iterable[Trial]) -> Trial | None:
    measured = [trial for trial in trials if trial.loss is not None]
    return min(measured, key=lambda trial: (trial.loss or 0.0, trial.risk or 0.0), default=None)


def _named(trial: Trial | None) -> dict[str, Any] | None:
    if trial is None:
        return None
    setting = trial.setting
    return {"k": setting.k, "method": setting.method, "components": setting.components}


def _metric(key: str, told: Mapping[str, Any]) -> Metric:
    known = {"value", "unit", "direction", "target", "met", "reason", "criterion", "ci", "control"}
    ends = told.get("ci")
    return Metric(
        key,
        told["value"],
        str(told.get("unit", "")),
        told.get("direction", "higher"),
        told.get("criterion", "singling_out"),
        told.get("target"),
        _reason(told.get("reason")),
        None if ends is None else (ends[0], ends[1]),
        told.get("control"),
        {name: value for name, value in told.items() if name not in known},
    )


def _reason(told: Any) -> Reason | None:
    """A reason as JSON holds it; of earlier versions, a text."""
    if isinstance(told, Mapping):
        return Reason(str(told["key"]), dict(told["values"]))
    return None if told is None else Reason("as_written", {"text": str(told)})
