"""Analyses of a study on originals and avatars, side by side."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sosie.compute.arrays import Floats
from sosie.data import frames
from sosie.data.table import Roles, Table
from sosie.errors import InputError, Reason
from sosie.studies.agreement import Agreement, Estimate, agreement
from sosie.studies.combining import Rule, combined, interval
from sosie.studies.curves import LogRank, curve, log_rank
from sosie.studies.design import Sample
from sosie.studies.grammar import Study, parse
from sosie.studies.models import Fit
from sosie.studies.plan import Plan
from sosie.studies.results import Analyses, Analysis, Cell
from sosie.studies.screen import screen as all_pairs

__all__ = ["analyses", "check"]

SMALLEST_K = 2
"""A cell of one is a person."""


def analyses(
    original: object,
    avatars: object,
    texts: str | Sequence[str] = (),
    *,
    k: int = 10,
    combination: Rule = "fitted",
    screen: bool = False,
    roles: Roles | None = None,
) -> Analyses:
    """Analyse originals and avatars alike, and say where they agree.

    Parameters
    ----------
    original : a dataframe of any kind, or an encoded `Table`.
    avatars : the same for one release, or a list of several, which are combined.
    texts : analyses, such as ``mean days by arms``, ``share cens by arms``, ``odds cens by
        treat``, ``cens ~ age + cd40`` or ``survival days, cens ~ arms + age`` (see
        `sosie.studies.grammar`).
    k : cells of fewer originals stay blank, and models that would show them are refused.
    combination : ``fitted`` where releases come from one law, as those of sosie; ``redrawn``,
        the rule of Raghunathan, Reiter and Rubin, where each drew the law's parameters anew (see
        `sosie.studies.combining`).
    screen : also look at all pairs of columns (of several releases, the first); without texts
        this is always done.
    roles : types that are forced, such as ``Roles(numeric=("karnof",))``: a column of at most ten
        values is a category otherwise. Columns dropped or replaced are left out of the screen.

    Raises
    ------
    InputError
        A text does not follow the grammar or does not fit the originals; a column is missing;
        statsmodels is not installed. What goes wrong in the data of one model is a `Reason`.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"arm": ["a", "b"] * 20, "stay": [float(i) for i in range(40)]})
    >>> one = analyses(people, people, "mean stay by arm").analyses[0].terms[1]
    >>> one.term.label, one.original.value, one.verdict
    ('arm[b]', 20.0, 'confirmed')
    """
    _check_options(k, combination)
    studies = [parse(text) for text in ([texts] if isinstance(texts, str) else texts)]
    releases = list(avatars) if isinstance(avatars, list | tuple) else [avatars]
    if not releases:
        raise InputError("there is no release of avatars to compare with")
    wide = screen or not studies
    table = _encoded(original, studies, roles, wide)
    plans = [Plan.of(study, table, k) for study in studies]
    samples: list[list[Sample]] = [[] for _ in plans]
    found = None
    sizes: list[int] = []
    for place, release in enumerate(releases):
        other = _like(table, release, place, len(releases))
        sizes.append(len(other))
        if wide and place == 0:
            found = all_pairs(table, other, k=k)
        for plan, kept in zip(plans, samples, strict=True):
            kept.append(plan.coding.sample(other))
    each = [
        _compared(plan, kept, combination, k) for plan, kept in zip(plans, samples, strict=True)
    ]
    return Analyses(tuple(each), found, len(table), sizes[0], len(releases), combination, k)


def check(original: object, texts: str | Sequence[str], roles: Roles | None = None) -> None:
    """Raise InputError where a text does not follow the grammar or does not fit the originals.

    It is quick, so that a long work need not fail at its end.

    Examples
    --------
    >>> import polars as pl
    >>> check(pl.DataFrame({"arm": ["a", "b"] * 20}), "mean stay by arm")
    Traceback (most recent call last):
        ...
    sosie.errors.InputError: analysis 'mean stay by arm': there is no column 'stay'
    """
    studies = [parse(text) for text in ([texts] if isinstance(texts, str) else texts)]
    if studies:
        table = _encoded(original, studies, roles, wide=False)
        for study in studies:
            Plan.of(study, table, SMALLEST_K)


def _check_options(k: object, combination: object) -> None:
    if not isinstance(k, int) or isinstance(k, bool) or k < SMALLEST_K:
        raise InputError(f"k must be a whole number of at least {SMALLEST_K}, got {k!r}")
    if combination not in ("fitted", "redrawn"):
        raise InputError(f"combination must be 'fitted' or 'redrawn', got {combination!r}")


# ---------------------------------------------------------------- tables


def _encoded(original: object, studies: Sequence[Study], roles: Roles | None, wide: bool) -> Table:
    """The originals, with only the columns that are needed."""
    roles = roles or Roles()
    if isinstance(original, Table):
        for study in studies:
            study.of(original.names)
        return original
    frame = frames.wrap(original)
    names = list(frame.columns)
    roles.check(names)
    needed = {name for study in studies for name in study.of(names).columns}
    if wide:
        aside = {*roles.drop, *roles.id} - needed
        needed = {name for name in names if name not in aside}
    chosen = [name for name in names if name in needed]
    forced = Roles(
        categorical=tuple(name for name in roles.categorical if name in needed),
        numeric=tuple(name for name in roles.numeric if name in needed),
        date={name: form for name, form in roles.date.items() if name in needed},
        coarsen={name: length for name, length in roles.coarsen.items() if name in needed},
        pivot=roles.pivot,
        na=roles.na,
    )
    return Table.of(_part(frame, chosen), forced)


def _part(frame: Any, names: Sequence[Hashable]) -> Any:
    """A dataframe with some of its columns."""
    return frame.select(*[frames.column(frame, name) for name in names])


def _like(table: Table, release: object, place: int, releases: int) -> Table:
    """A release encoded like the originals."""
    if isinstance(release, Table):
        return release
    frame = frames.wrap(release)
    which = "the avatars" if releases == 1 else f"release {place + 1} of the avatars"
    absent = [name for name in table.names if name not in frame.columns]
    if absent:
        raise InputError(f"{which} lack column {absent[0]!r}")
    if not len(frame):
        raise InputError(f"{which} have no rows")
    try:
        return table.like(_part(frame, table.names))
    except InputError as error:
        raise InputError(f"{which}: {error}") from error


# ---------------------------------------------------------------- one study


def _compared(plan: Plan, samples: Sequence[Sample], rule: Rule, k: int) -> Analysis:
    study, coding = plan.coding.study, plan.coding
    ours = plan.original()
    analysis = Analysis(
        text=study.text,
        model=plan.kind,
        outcome=study.outcome,
        event=study.event,
        rows=plan.sample.rows,
        dropped=plan.sample.dropped,
        avatar_rows=sum(sample.rows for sample in samples),
        avatar_dropped=sum(sample.dropped for sample in samples),
        references=_references(plan),
        small_groups=plan.small_groups,
    )
    if isinstance(ours, Reason):
        return replace(analysis, reason=ours)
    fits = [plan.fit(sample) for sample in samples]
    analysis = replace(analysis, terms=_terms(plan, ours, fits, samples, rule))
    if plan.kind == "odds":
        return replace(analysis, cells=_cells(plan, samples, k))
    factor = _single_category(plan)
    if plan.kind != "cox" or factor is None:
        return analysis
    curves = tuple(
        curve(level, place, factor, plan.sample, samples, k)
        for place, level in enumerate(coding.levels[factor])
    )
    return replace(analysis, curves=curves, log_rank=_log_rank(factor, plan, samples))


def _references(plan: Plan) -> Mapping[Hashable, str]:
    """The level that others are compared with, of each category; none in means and shares."""
    if plan.reason is not None or plan.kind in ("mean", "share"):
        return {}
    levels = plan.coding.levels.items()
    found: dict[Hashable, str] = {name: values[0] for name, values in levels if values}
    if plan.kind in ("logistic", "odds"):
        found[plan.coding.study.outcome] = plan.coding.outcomes[0]
    return found


def _terms(
    plan: Plan, ours: Fit, fits: Sequence[Fit | Reason], samples: Sequence[Sample], rule: Rule
) -> tuple[Agreement, ...]:
    """Each coefficient on both sides."""
    size = len(plan.terms)
    worked = [fit for fit in fits if isinstance(fit, Fit)]
    reasons = [fit for fit in fits if isinstance(fit, Reason)]
    ratio = np.array(
        [
            sample.rows / plan.sample.rows
            for sample, fit in zip(samples, fits, strict=True)
            if isinstance(fit, Fit)
        ]
    )

    def stacked(name: str) -> Floats:
        return np.array([getattr(fit, name) for fit in worked]).reshape(-1, size)

    drawn = stacked("estimates")
    both = combined(drawn, stacked("errors"), stacked("degrees"), ratio, rule)
    low, high = interval(ours.estimates, ours.errors, ours.degrees)
    their_low, their_high = interval(both.estimates, both.errors, both.degrees)
    naive_low, naive_high = interval(both.estimates, both.naive, both.degrees)
    tests = plan.kind not in ("mean", "share")
    terms = []
    for i, term in enumerate(plan.terms):
        reason = next((r for fit in worked if (r := fit.reasons[i]) is not None), None)
        theirs = Estimate(None, releases=0, reason=reason or next(iter(reasons), None))
        if both.releases[i]:
            several = len(fits) > 1 and np.isfinite(low[i])
            inside = int(((drawn[:, i] >= low[i]) & (drawn[:, i] <= high[i])).sum())
            theirs = Estimate(
                float(both.estimates[i]),
                float(both.errors[i]),
                (float(their_low[i]), float(their_high[i])),
                naive_interval=(float(naive_low[i]), float(naive_high[i])),
                releases=int(both.releases[i]),
                inside=inside if several else None,
            )
        own = Estimate(None, reason=ours.reasons[i])
        if np.isfinite(ours.estimates[i]):
            own = Estimate(
                float(ours.estimates[i]), float(ours.errors[i]), (float(low[i]), float(high[i]))
            )
        terms.append(agreement(term, own, theirs, tests))
    return tuple(terms)


def _cells(plan: Plan, samples: Sequence[Sample], k: int) -> tuple[Cell, ...]:
    ours = plan.counts(plan.sample)
    drawn = [plan.counts(sample) for sample in samples]
    return tuple(
        Cell(
            group,
            value,
            int(ours[i, j]) if ours[i, j] >= k else None,
            tuple(int(one[i, j]) for one in drawn),
        )
        for i, group in enumerate(plan.coding.levels[plan.group])
        for j, value in enumerate(plan.coding.outcomes)
    )


def _single_category(plan: Plan) -> Hashable | None:
    """The only column of the right-hand side where it is a category."""
    names = {name for term in plan.coding.study.terms for name in term}
    alone = next(iter(names)) if len(names) == 1 else None
    return alone if alone in plan.coding.levels else None


def _log_rank(factor: Hashable, plan: Plan, samples: Sequence[Sample]) -> LogRank | None:
    def test(sample: Sample) -> tuple[float, float] | None:
        event = np.zeros(0) if sample.event is None else sample.event
        return log_rank(sample.outcome, event, sample.values[factor].astype(np.int64))

    ours = test(plan.sample)
    if ours is None:
        return None
    drawn = [test(sample) for sample in samples]
    return LogRank(
        *ours,
        degrees=len(plan.coding.levels[factor]) - 1,
        avatars_statistics=tuple(None if one is None else one[0] for one in drawn),
        avatars_p_values=tuple(None if one is None else one[1] for one in drawn),
    )
