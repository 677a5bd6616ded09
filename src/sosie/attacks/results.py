"""What an attack found: rates with intervals, and the report that travels.

Rates are in percent. A rate that can't be computed is None with a reason; JSON never
holds NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from sosie.attacks.decisions import Verdict
from sosie.audits.intervals import clopper_pearson_upper, wilson
from sosie.compute.arrays import Floats, Mask
from sosie.errors import Reason

__all__ = ["PUBLISHED", "AttackReport", "AttackResult", "Rate", "spread"]

PUBLISHED: Mapping[str, float] = {
    "v1": 87.1,
    "v2": 2.6,
    "hidden_rate_complement": 18.5,
    "chance": 2.0,
}
"""What the article prints for ACTG175, k=5, 100 releases; its chance is one of 50 candidates."""

ANYONE = ("likelihood-all", "one-to-one")
"""Decisions in which everyone in the table may be named."""

COVERAGES = (1, 5, 10, 25, 50, 75, 100)
"""Shares of the targets, in percent, for which an attacker who is most sure speaks."""


@dataclass(frozen=True)
class Rate:
    """A share in percent with its Wilson interval at 95 %."""

    rate: float
    ci: tuple[float, float]

    @classmethod
    def of(cls, hits: float, trials: int) -> Rate:
        """Percent of hits among trials.

        >>> Rate.of(1, 4).rate
        25.0
        """
        low, high = wilson(hits, trials)
        return cls(100 * hits / trials, (100 * low, 100 * high))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"rate": _short(self.rate), "ci": [_short(self.ci[0]), _short(self.ci[1])]}


@dataclass(frozen=True)
class AttackResult:
    """One attacker: scenario, estimator, decision, and how often he was right.

    Attributes
    ----------
    scenario : what the attacker holds (see `sosie.attacks.scenarios`).
    estimator : how a person's avatars are modelled.
    decision : how a target is assigned.
    attack_components : dimensions of the latent space in which he works, or None.
    releases : how many he makes or holds, the target not among them.
    candidates : people (or rows) he considers for each target.
    rate, ci : percent of targets assigned to the right person, Wilson 95 %.
    upper : one-sided 95 % upper bound (Clopper-Pearson), percent.
    chance : percent right by a blind choice with the same knowledge: `recall` / `candidates` where
        he draws among candidates of his own choosing, 1 / n where he may name anyone, 1 / s
        where he knows the groups of s people whose avatars have one law.
    bound : percent that a guarantee allows anyone; None where nothing is guaranteed.
    recall : percent of targets whose own person is among the candidates.
    top5 : percent whose own person is among his first five.
    precision : at each of some coverages, percent right among the targets he is surest of.
    targets : how many were attacked.
    shrinkage : of the pooled estimator.
    most_components : components that were kept, where the latent space has more.
    known : number of columns he knows, for ``partial``.
    known_columns : which ones, where they were named and not drawn at random.
    actor : who knows them, where actors were named.
    versions : what changes from one release to the next, for ``intersect``.
    area : under the curve of members against strangers, 0 to 1, for ``membership``.
    column : the one whose values are guessed, for ``groups``.
    chosen_among : attackers compared on the other half of the targets, where he was chosen.
    repeats : rates over disjoint sets of releases, percent.
    reasons : why there is no rate, or what to know about it.
    """

    scenario: str
    estimator: str
    decision: str
    attack_components: int | None
    releases: int
    candidates: int
    rate: float | None
    ci: tuple[float, float] | None
    upper: float | None
    chance: float | None
    recall: float | None
    top5: float | None
    targets: int
    precision: tuple[tuple[int, float], ...] = ()
    shrinkage: float | None = None
    most_components: int | None = None
    known: int | None = None
    chosen_among: int | None = None
    repeats: tuple[float, ...] = ()
    bound: float | None = None
    column: str | None = None
    known_columns: tuple[str, ...] = ()
    actor: str | None = None
    versions: str | None = None
    area: float | None = None
    reasons: tuple[Reason, ...] = ()

    @classmethod
    def none(cls, scenario: str, estimator: str, reason: Reason, **known: Any) -> AttackResult:
        """An attack that can't be done, and why."""
        blank: dict[str, Any] = {
            "decision": "likelihood",
            "attack_components": None,
            "releases": 0,
            "candidates": 0,
            "targets": 0,
        }
        empty = dict.fromkeys(("rate", "ci", "upper", "chance", "recall", "top5"))
        return cls(scenario, estimator, reasons=(reason,), **{**blank, **empty, **known})

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        *,
        scenario: str,
        estimator: str,
        decision: str,
        attack_components: int | None,
        releases: int,
        candidates: int,
        **more: Any,
    ) -> AttackResult:
        """Rates of a verdict."""
        trials = len(verdict.rank)
        hits = float(verdict.hit.sum())
        rate = Rate.of(hits, trials)
        ranked = verdict.rank >= 0
        recall = 100 * float(ranked.mean())
        one = decision == "one-to-one"
        anyone = decision in ANYONE
        return cls(
            scenario=scenario,
            estimator=estimator,
            decision=decision,
            attack_components=attack_components,
            releases=releases,
            candidates=candidates,
            rate=rate.rate,
            ci=rate.ci,
            upper=100 * clopper_pearson_upper(hits, trials),
            chance=(100 if anyone else recall) / candidates,
            recall=recall,
            top5=None if one else 100 * float((ranked & (verdict.rank < 5)).mean()),
            targets=trials,
            precision=precision_by_coverage(verdict),
            **more,
        )

    @classmethod
    def share(
        cls,
        right: Mask | Floats,
        *,
        scenario: str,
        estimator: str,
        decision: str,
        chance: float | None,
        **more: Any,
    ) -> AttackResult:
        """How often an attacker is right who names no person: a value, a row, one of two.

        Parameters
        ----------
        right : (m,) bool, for each of those attacked; or how far, in 0..1.
        chance : percent right by a blind choice; None where there is none to compare with.
        """
        hits, trials = float(right.sum()), len(right)
        rate = Rate.of(hits, trials)
        known = {"attack_components": None, "releases": 0, "candidates": 0} | more
        return cls(
            scenario=scenario,
            estimator=estimator,
            decision=decision,
            rate=rate.rate,
            ci=rate.ci,
            upper=100 * clopper_pearson_upper(hits, trials),
            chance=chance,
            recall=None,
            top5=None,
            targets=trials,
            **known,
        )

    @property
    def how(self) -> str:
        """Estimator, components and decision in one line."""
        parts = [self.estimator]
        if self.shrinkage is not None:
            parts.append(f"a={self.shrinkage:g}")
        if self.attack_components is not None:
            parts.append(f"{self.attack_components} components")
        return ", ".join([*parts, self.decision])

    def with_repeats(self, rates: Sequence[float]) -> AttackResult:
        """The same with the rates of other repeats."""
        return replace(self, repeats=tuple(rates))

    def to_dict(self) -> dict[str, Any]:
        """As in attack.json; absent where there is nothing to say."""
        always = {f.name for f in fields(self)} - {
            "shrinkage",
            "most_components",
            "known",
            "chosen_among",
            "repeats",
            "precision",
            "bound",
            "column",
            "known_columns",
            "actor",
            "versions",
            "area",
            "reasons",
        }
        found: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if (f.name not in always and value in (None, ())) or f.name == "reasons":
                continue
            found[f.name] = round(value, 4) if f.name == "area" else _json(value)
        if self.precision:
            found["precision"] = [
                {"coverage": coverage, "precision": _short(share)}
                for coverage, share in self.precision
            ]
        if self.repeats:
            found["repeats"] = spread(self.repeats)
        return found | {"reasons": [reason.to_dict() for reason in self.reasons]}


def precision_by_coverage(verdict: Verdict) -> tuple[tuple[int, float], ...]:
    """Percent right among the targets with the greatest margins, at some coverages.

    Targets with equal margins share their hits, so that no order is favoured.
    """
    trials = len(verdict.rank)
    order = np.argsort(-verdict.margin, kind="stable")
    hits = verdict.hit[order].astype(np.float64)
    margins = verdict.margin[order]
    starts = np.flatnonzero(np.concatenate([[True], margins[1:] != margins[:-1]]))
    sizes = np.diff(np.concatenate([starts, [trials]]))
    shared = np.repeat(np.add.reduceat(hits, starts) / sizes, sizes)
    running = np.cumsum(shared)
    found = []
    for coverage in COVERAGES:
        count = max(round(trials * coverage / 100), 1)
        found.append((coverage, 100 * float(running[count - 1]) / count))
    return tuple(found)


def spread(rates: Sequence[float]) -> dict[str, Any]:
    """Rates over repeats: their mean, standard deviation and range, in percent."""
    values = np.asarray(rates)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    return {
        "rates": [_short(rate) for rate in values],
        "mean": _short(float(values.mean())),
        "sd": None if deviation is None else _short(deviation),
        "low": _short(float(values.min())),
        "high": _short(float(values.max())),
    }


@dataclass(frozen=True)
class AttackReport:
    """All attackers on one table.

    Attributes
    ----------
    rows : people.
    parameters : ``k``, ``components``, ``method``, ``decode`` of the generator, None where unknown.
    results : one for each attacker and number of releases.
    strongest : scenario -> the strongest of its family, chosen on half of the targets and
        reported on the other half.
    hidden_rate_complement : the attacker with one full profile and one release (100 - hidden rate).
    notes : what a reader must know.
    """

    rows: int
    parameters: Mapping[str, Any]
    results: tuple[AttackResult, ...]
    strongest: Mapping[str, AttackResult] = field(default_factory=dict)
    hidden_rate_complement: Rate | None = None
    notes: tuple[Reason, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As in attack.json."""
        complement = self.hidden_rate_complement
        return {
            "schema": "sosie/attack/1",
            "rows": self.rows,
            **{name: self.parameters.get(name) for name in ("k", "components", "decode", "method")},
            "results": [result.to_dict() for result in self.results],
            "strongest": {name: result.to_dict() for name, result in self.strongest.items()},
            "curves": {name: self.curve(name) for name in self.scenarios if self.curve(name)},
            "published": dict(PUBLISHED),
            "hidden_rate_complement": None
            if complement is None
            else complement.to_dict() | {"chance": _short(100 / self.rows)},
            "notes": [note.to_dict() for note in self.notes],
        }

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Scenarios that were attacked, in order."""
        return tuple(dict.fromkeys(result.scenario for result in self.results))

    def curve(self, scenario: str) -> list[dict[str, Any]]:
        """Rates at each number of releases: published protocol, and strongest from releases.

        0 releases stands for the attackers who need none. Empty with fewer than two numbers
        of releases.
        """
        mine = [r for r in self.results if r.scenario == scenario and r.rate is not None]
        points = []
        for count in sorted({r.releases for r in mine}):
            here = [r for r in mine if r.releases == count]
            protocol = [r for r in here if r.estimator == "published" and r.chosen_among is None]
            chosen = [r for r in here if r.chosen_among is not None]
            best = max(chosen, key=lambda r: r.rate or 0.0) if chosen else None
            points.append(
                {
                    "releases": count,
                    "published": _json(protocol[0].rate) if protocol else None,
                    "strongest": None if best is None else _json(best.rate),
                    "how": None if best is None else best.how,
                }
            )
        return points if len(points) > 1 else []

    def find(self, **wanted: Any) -> tuple[AttackResult, ...]:
        """The results with some attributes, such as ``scenario="v1", releases=100``."""
        return tuple(
            result
            for result in self.results
            if all(getattr(result, name) == value for name, value in wanted.items())
        )


def halves(trials: int) -> tuple[Mask, Mask]:
    """Half of the targets to choose on, the other half to report on.

    Targets are in random order already, so the first half is a random half.
    """
    first = np.arange(trials) < trials // 2
    return first, ~first


def _short(value: float) -> float:
    return round(float(value), 2)


def _json(value: Any) -> Any:
    if isinstance(value, float):
        return _short(value)
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    return value
