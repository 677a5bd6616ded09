"""What a reader takes away: what was done, what remains, the limits, the next steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sosie.report.views.actors import ActorView
from sosie.report.views.attacks import AttackView
from sosie.report.views.columns import ColumnsView
from sosie.report.views.constraints import constraints
from sosie.report.views.lists import listed
from sosie.report.views.metrics import CRITERIA, CriterionView, Judged
from sosie.words import Words
from sosie.words.readings import Standing

__all__ = ["Step", "attackers", "done", "judged", "limits", "next_steps", "remains"]

_MOST_ADVICE = 3


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do, with its details."""

    text: str
    details: tuple[str, ...] = ()


def done(
    words: Words,
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    criteria: Sequence[CriterionView],
    attack: AttackView | None,
) -> tuple[str, ...]:
    """What was done, as paragraphs."""
    data, parameters = run["data"], run["parameters"]
    used, told = audit.get("rows", data["rows"]), _rows_of_people(run)
    everyone = words("report.summary.everyone")
    others = words(
        "report.summary.others",
        aside=words.number(data["rows"] - used),
        n=words.number(used),
    )
    shown = {
        "name": data["name"],
        "rows": words.number(data["rows"]),
        "columns": words.number(data["columns"]),
        "published": everyone if used >= data["rows"] else others,
        "people": "" if told is None else words.number(told),
    }
    return (
        " ".join(_generation(words, run, audit, shown)),
        " ".join([*_choices(words, parameters), *_kept(words, run)]),
        " ".join(_measures(words, criteria, attack)),
    )


def _rows_of_people(run: Mapping[str, Any]) -> int | None:
    """How many people the rows are of, where a person has several."""
    why = (run.get("guarantee") or {}).get("reason") or {}
    if not isinstance(why, Mapping) or why.get("key") != "rows_are_not_people":
        return None
    return int(why["values"]["people"])


def _kept(words: Words, run: Mapping[str, Any]) -> Iterable[str]:
    """How many relations between columns are kept, and the first."""
    rows = [row for row in constraints(words, run) if row.kept]
    if rows:
        yield words.count("report.summary.done_constraints", len(rows), text=rows[0].text)


def _generation(
    words: Words, run: Mapping[str, Any], audit: Mapping[str, Any], shown: Mapping[str, str]
) -> Iterable[str]:
    parameters = run["parameters"]
    if parameters.get("k") is None or parameters.get("components") is None:
        yield words("report.summary.done_given", **shown)
        return
    yield words(f"report.summary.done_{'rows' if shown['people'] else 'people'}", **shown)
    left = run["data"]["columns"] - len(parameters.get("drop") or ())
    avatars = audit.get("avatars", audit.get("rows", run["data"]["rows"]))
    yield words(
        "report.summary.done_avatars", avatars=words.number(avatars), columns=words.number(left)
    )
    key = f"report.summary.done_{parameters.get('method')}"
    if key in words:
        k, components = parameters["k"], parameters["components"]
        yield words(key, k=words.number(k), components=words.number(components))


def _choices(words: Words, parameters: Mapping[str, Any]) -> Iterable[str]:
    least = parameters.get("min_level_count")
    if least is not None and least > 1:
        yield words("report.summary.done_levels", n=words.number(least))
    for key in ("keep", "drop", "id"):
        if parameters.get(key):
            yield words(f"report.summary.done_{key}", names=listed(words, parameters[key]))


def _measures(
    words: Words, criteria: Sequence[CriterionView], attack: AttackView | None
) -> Iterable[str]:
    measured = sum(
        metric.standing is not Standing.MISSING
        for criterion in criteria
        for metric in criterion.metrics
    )
    if measured:
        yield words.count("report.summary.done_metrics", measured)
    if attack is None or not attack.results:
        yield words("report.summary.done_attacks_none")
    else:
        yield words.count("report.summary.done_attacks", len(attack.results))


def remains(
    words: Words,
    criteria: Sequence[CriterionView],
    columns: ColumnsView,
    actors: Sequence[ActorView],
) -> tuple[str, ...]:
    """What remains: targets missed, what is not known, what the strongest attacker does."""
    lines = []
    for standing, key in ((Standing.MISSED, "missed"), (Standing.MISSING, "uncomputed")):
        if names := _names(criteria, standing):
            lines.append(words(f"report.summary.remains_{key}", names=listed(words, names)))
    over = [
        one.name
        for criterion in criteria
        for one in criterion.attackers
        if one.standing is Standing.MISSED
    ]
    if over:
        lines.append(words("report.summary.remains_attackers", names=listed(words, over)))
    if columns.below:
        names_below = listed(words, columns.below, most=3)
        lines.append(
            words.count("report.summary.remains_columns", len(columns.below), names=names_below)
        )
    if unmeasured := _unmeasured(criteria):
        names_unmeasured = listed(words, unmeasured)
        lines.append(words("report.summary.remains_criterion", names=names_unmeasured))
    highest = max(
        (actor for actor in actors if actor.strongest is not None and actor.key != "file"),
        key=_rate,
        default=None,
    )
    if highest is not None and highest.strongest is not None:
        lines.append(
            words(
                "report.summary.remains_attack",
                scenario=highest.name,
                rate=highest.strongest.rate.text,
                chance=highest.strongest.chance.text,
            )
        )
    return (*lines, words("report.summary.remains_judgement"))


def limits(
    words: Words,
    audit: Mapping[str, Any],
    criteria: Sequence[CriterionView],
    attack: AttackView | None,
) -> tuple[str, ...]:
    """What was not measured in this run, then what no run measures."""
    lines = [words("report.limits.criterion", criterion=name) for name in _unmeasured(criteria)]
    lines += [
        words("report.limits.metric", metric=metric.name, reason=metric.reading)
        for criterion in criteria
        for metric in criterion.of(Standing.MISSING)
    ]
    lines.append(words("report.limits.no_attack" if attack is None else "report.limits.attack"))
    if not audit.get("holdout"):
        lines.append(words("report.limits.no_holdout"))
    always = ("release", "average", "rows", "thresholds", "utility", "status")
    return (*lines, *(words(f"report.limits.{key}") for key in always))


def next_steps(
    words: Words,
    audit: Mapping[str, Any],
    criteria: Sequence[CriterionView],
    columns: ColumnsView,
    attack: AttackView | None,
) -> tuple[Step, ...]:
    """What to do now, in order."""
    steps = []
    missed = [metric for criterion in criteria for metric in criterion.of(Standing.MISSED)]
    if missed:
        steps.append(Step(words("report.next.improve"), _best_advice(words, missed)))
    if any(one.standing is Standing.MISSED for c in criteria for one in c.attackers):
        steps.append(Step(words("report.next.attackers")))
    if columns.below:
        steps.append(Step(words("report.next.columns")))
    if attack is None:
        steps.append(Step(words("report.next.attack")))
    if not audit.get("holdout"):
        steps.append(Step(words("report.next.holdout")))
    always = ("private", "releases", "pia")
    return (*steps, *(Step(words(f"report.next.{key}")) for key in always))


def _best_advice(words: Words, missed: Iterable[Any]) -> tuple[str, ...]:
    """Advice of the metrics missed: what serves most of them first, then the most effective."""
    ranks: dict[str, list[int]] = {}
    for metric in missed:
        for rank, key in enumerate(metric.advice_keys):
            ranks.setdefault(key, []).append(rank)
    best = sorted(ranks, key=lambda key: (-len(ranks[key]), min(ranks[key])))
    return tuple(words(f"advice.{key}") for key in best[:_MOST_ADVICE])


def attackers(words: Words, actors: Iterable[ActorView]) -> tuple[str, ...]:
    """One line for each actor: the strongest rate, its interval and chance."""
    lines = []
    for actor in actors:
        found = actor.strongest
        if found is None:
            lines.append(words("actors.line_none", actor=actor.name))
            continue
        lines.append(
            words(
                "actors.line_rows" if actor.key == "file" else "actors.line",
                actor=actor.name,
                rate=found.rate.text,
                interval=found.interval,
                chance=found.chance.text,
            )
        )
    return tuple(lines)


def _rate(actor: ActorView) -> float:
    found = actor.strongest
    return 0.0 if found is None or found.rate.order is None else found.rate.order


def judged(words: Words, actors: Iterable[ActorView]) -> dict[str, list[Judged]]:
    """The attackers that are judged, by the criterion that they bear on.

    Whoever holds the published file alone singles out rows; all others link rows to people.
    """
    found: dict[str, list[Judged]] = {}
    for actor in actors:
        criterion = "singling_out" if actor.key == "file" else "linkability"
        for row in actor.rows:
            if row.standing is not None:
                name = words("report.summary.attacker", actor=actor.name, scenario=row.scenario)
                found.setdefault(criterion, []).append(Judged(name, row.standing))
    return found


def _names(criteria: Iterable[CriterionView], standing: Standing) -> list[str]:
    return [metric.name for criterion in criteria for metric in criterion.of(standing)]


def _unmeasured(criteria: Iterable[CriterionView]) -> list[str]:
    return [
        criterion.name
        for criterion in criteria
        if criterion.key in CRITERIA and not criterion.metrics
    ]
