"""What a study may show of the originals, and its fit to any table.

A plan is made once from the originals: the coefficients, and which of them stay blank because a
cell holds fewer than k people. It then fits originals and avatars alike.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Table
from sosie.errors import Reason
from sosie.studies import models
from sosie.studies.design import Coding, Factor, Sample, Term
from sosie.studies.grammar import Study
from sosie.studies.models import Fit

__all__ = ["Kind", "Plan"]

Kind = Literal["mean", "share", "odds", "linear", "logistic", "cox"]
MOST_COEFFICIENTS = 200
"""Coefficients that a model may have; with more a table of it says nothing to a reader."""


@dataclass(frozen=True)
class Plan:
    """A study with its coefficients.

    Attributes
    ----------
    coding : how columns become arrays.
    terms : the coefficients; () where the whole study is refused.
    hidden : for each why it stays blank for the originals, else None.
    reason : why the whole study is refused, else None.
    small_groups : groups of fewer than k originals, which are not named.
    sample : the originals.
    """

    coding: Coding
    terms: tuple[Term, ...]
    hidden: tuple[Reason | None, ...]
    reason: Reason | None
    small_groups: int
    sample: Sample

    @classmethod
    def of(cls, study: Study, table: Table, k: int) -> Plan:
        """What can be shown of the originals.

        Raises
        ------
        InputError
            The study does not fit the table (see `Coding.of`).
        """
        coding = Coding.of(study, table)
        sample = coding.sample(table)
        if study.model in ("mean", "share", "odds"):
            return _by_group(coding, sample, table, k)
        reason = refusal(coding, sample, k)
        terms = () if reason is not None else coding.terms()
        return cls(coding, terms, (None,) * len(terms), reason, 0, sample)

    @property
    def kind(self) -> Kind:
        """The model: a regression is logistic where the outcome has two values."""
        model = self.coding.study.model
        if model == "survival":
            return "cox"
        if model == "regression":
            return "logistic" if self.coding.two_valued else "linear"
        return model

    @property
    def group(self) -> Hashable:
        """The column of a study by groups."""
        return self.coding.study.terms[0][0]

    def original(self) -> Fit | Reason:
        """The fit on the originals, blank where it must be."""
        if self.reason is not None:
            return self.reason
        fit = self.fit(self.sample)
        if isinstance(fit, Reason):
            return fit
        blank = np.array([reason is not None for reason in self.hidden])
        pairs = zip(self.hidden, fit.reasons, strict=True)
        return replace(
            fit,
            estimates=np.where(blank, np.nan, fit.estimates),
            errors=np.where(blank, np.nan, fit.errors),
            reasons=tuple(hidden or reason for hidden, reason in pairs),
        )

    def fit(self, sample: Sample) -> Fit | Reason:
        """The study on one table; columns and terms of a reason are named."""
        if not sample.rows:
            columns = [str(name) for name in self.coding.study.columns]
            return Reason("no_rows", {"columns": columns})
        if self.kind in ("mean", "share", "odds"):
            return self._fit_groups(sample)
        return self._fit_model(sample)

    def counts(self, sample: Sample) -> Ints:
        """Rows of each group with each value of the outcome, ``(groups, values) int64``."""
        coding = self.coding
        groups = len(coding.levels[self.group])
        group, outcome = _whole(sample.values[self.group]), _whole(sample.outcome)
        return models.counted(outcome, len(coding.outcomes), group, groups)

    def _fit_groups(self, sample: Sample) -> Fit:
        coding = self.coding
        group = _whole(sample.values[self.group])
        groups = len(coding.levels[self.group])
        if self.kind == "mean":
            return models.means(sample.outcome, group, groups)
        outcome = _whole(sample.outcome)
        if self.kind == "odds":
            return models.odds_ratios(outcome, group, groups)
        fit = models.shares(outcome, len(coding.outcomes), group, groups)
        every = _share_terms(coding)
        places = np.array([every.index(term) for term in self.terms], dtype=np.int64)
        return Fit(
            fit.estimates[places],
            fit.errors[places],
            fit.degrees[places],
            fit.rows,
            tuple(fit.reasons[place] for place in places),
        )

    def _fit_model(self, sample: Sample) -> Fit | Reason:
        gone = _reference_gone(self.coding, sample) or eventless(self.coding, sample)
        if gone is not None:
            return gone
        X = self.coding.matrix(sample, self.terms)
        there = np.flatnonzero(X.any(axis=0))
        absent = tuple(
            None if column.any() else _absent(term)
            for term, column in zip(self.terms, X.T, strict=True)
        )
        X = X[:, there]
        if self.kind == "cox":
            assert sample.event is not None  # noqa: S101 - the grammar says so
            fit = models.cox(X, sample.outcome, sample.event)
        elif self.kind == "logistic":
            fit = models.logistic(X, sample.outcome)
        else:
            fit = models.linear(X, sample.outcome)
        if isinstance(fit, Reason):
            return self._named(fit, there)
        return fit.spread(there, absent)

    def _named(self, reason: Reason, there: Ints) -> Reason:
        """The reason with names in place of numbers."""
        study = self.coding.study
        values: dict[str, Any] = dict(reason.values)
        if "term" in values:
            values["term"] = self.terms[int(there[values["term"]])].label
        if "column" in values:
            values["column"] = study.event if values["column"] == "event" else study.outcome
        return Reason(reason.key, values)


def _whole(values: Floats | Ints) -> Ints:
    return values.astype(np.int64)


def _share_terms(coding: Coding) -> tuple[Term, ...]:
    name, outcome = coding.study.terms[0][0], coding.study.outcome
    shown = coding.outcomes[1:] if coding.two_valued else coding.outcomes
    return tuple(
        Term((Factor(name, level), Factor(outcome, value)))
        for level in coding.levels[name]
        for value in shown
    )


def _absent(term: Term) -> Reason:
    factor = next((f for f in term.factors if f.level is not None), term.factors[0])
    return Reason("level_absent", {"column": factor.column, "level": factor.level or ""})


# ---------------------------------------------------------------- tables by group


def _by_group(coding: Coding, sample: Sample, table: Table, k: int) -> Plan:
    """Groups of fewer than k people are left out and not named; so are rare values."""
    name = coding.study.terms[0][0]
    size = np.bincount(_whole(sample.values[name]), minlength=len(coding.levels[name]))
    levels = tuple(
        level for level, count in zip(coding.levels[name], size, strict=True) if count >= k
    )
    coding = replace(coding, levels={name: levels})
    sample = coding.sample(table)
    whole = Plan(coding, (), (), None, int((size < k).sum()), sample)
    reason = _no_table(whole, k)
    if reason is not None:
        return replace(whole, reason=reason)
    if whole.kind == "share":
        return _shares(whole, k)
    shown = levels if whole.kind == "mean" else levels[1:]
    terms = tuple(Term((Factor(name, level),)) for level in shown)
    hidden: list[Reason | None] = [None] * len(terms)
    if whole.kind == "odds":
        cells = whole.counts(sample)
        small = Reason("small_cell", {"column": name, "k": k})
        hidden = [small if min(cells[[0, i]].ravel()) < k else None for i in range(1, len(levels))]
    return replace(whole, terms=terms, hidden=tuple(hidden))


def _no_table(plan: Plan, k: int) -> Reason | None:
    sample, name = plan.sample, plan.group
    levels = plan.coding.levels[name]
    if not levels and plan.small_groups:
        return Reason("small_cell", {"column": name, "k": k})
    if not sample.rows:
        return Reason("no_rows", {"columns": [str(name) for name in plan.coding.study.columns]})
    if np.ptp(sample.outcome) == 0:
        return Reason("one_value", {"column": plan.coding.study.outcome})
    if plan.kind == "odds" and len(levels) < 2:
        return Reason("one_value", {"column": name})
    return None


def _shares(plan: Plan, k: int) -> Plan:
    """Blank cells, and a second one in a group where a single one would follow from the rest."""
    cells = plan.counts(plan.sample)
    hide = cells < k
    if plan.coding.two_valued:
        hide |= hide[:, ::-1]
    else:
        for row in np.flatnonzero(hide.sum(axis=1) == 1):
            hide[row, np.where(hide[row], cells.max() + 1, cells[row]).argmin()] = True
    common = cells.sum(axis=0) >= k  # rarer values are not named
    first = 1 if plan.coding.two_valued else 0
    shown = np.broadcast_to(common, cells.shape)[:, first:].ravel()
    small = Reason("small_cell", {"column": plan.coding.study.outcome, "k": k})
    pairs = zip(_share_terms(plan.coding), hide[:, first:].ravel(), shown, strict=True)
    kept = [(term, small if blank else None) for term, blank, show in pairs if show]
    if not kept or (plan.coding.two_valued and not common.all()):
        return replace(plan, reason=small)
    terms, hidden = zip(*kept, strict=True)
    return replace(plan, terms=terms, hidden=hidden)


# ---------------------------------------------------------------- models


def refusal(coding: Coding, sample: Sample, k: int) -> Reason | None:
    """Why a model of the originals may not be shown, or can't be computed; else None.

    Every level, and either value of a two-valued outcome or event, is shared by at least k
    people; there are at least k people for each coefficient; and a model that repeats a table by
    groups (as many coefficients as groups) has no cell under k.

    Notes
    -----
    Source: the disclosure checks of DataSHIELD, Gaye et al. (2014), International Journal of
    Epidemiology 43(6), with k in place of their fixed numbers.
    """
    study = coding.study
    if not sample.rows:
        return Reason("no_rows", {"columns": [str(name) for name in study.columns]})
    if study.model != "survival" and np.ptp(sample.outcome) == 0:
        return Reason("one_value", {"column": study.outcome})
    for check in (_levels_too_small, _values_too_rare, _too_many, eventless, _cells_too_small):
        reason = check(coding, sample, k)
        if reason is not None:
            return reason
    return None


def _levels_too_small(coding: Coding, sample: Sample, k: int) -> Reason | None:
    for name, values in sample.values.items():
        levels = coding.levels.get(name)
        if levels is None:
            if np.ptp(values) == 0:
                return Reason("one_value", {"column": name})
            continue
        if len(levels) < 2:
            return Reason("one_value", {"column": name})
        if np.bincount(_whole(values), minlength=len(levels)).min() < k:
            return Reason("small_cell", {"column": name, "k": k})
    return None


def _two_values(coding: Coding, sample: Sample) -> Floats | None:
    """The event, or an outcome of two values; None where there is neither."""
    return sample.outcome if coding.two_valued else sample.event


def _values_too_rare(coding: Coding, sample: Sample, k: int) -> Reason | None:
    two, study = _two_values(coding, sample), coding.study
    if two is None:
        return None
    ones = int(two.sum())
    if study.event is not None and not ones:
        return Reason("no_event", {"column": study.event})
    # Where everyone has the event, nobody is censored: an empty cell hides nobody.
    if ones < k or 0 < len(two) - ones < k:
        column = study.outcome if study.event is None else study.event
        return Reason("small_cell", {"column": column, "k": k})
    return None


def _too_many(coding: Coding, sample: Sample, k: int) -> Reason | None:
    size = coding.size()
    if size > MOST_COEFFICIENTS:
        return Reason("too_many_coefficients", {"coefficients": size, "most": MOST_COEFFICIENTS})
    coefficients = len(coding.terms()) + 1
    if sample.rows < k * coefficients:
        values: dict[str, Any] = {"coefficients": coefficients, "rows": sample.rows, "k": k}
        return Reason("saturated", values)
    return None


def eventless(coding: Coding, sample: Sample, _: int = 0) -> Reason | None:
    """A group in which nobody has the event: its hazard ratio has no limit."""
    if sample.event is None:
        return None
    for name, levels in coding.levels.items():
        place = _whole(sample.values[name])
        events = np.bincount(place, sample.event, len(levels))
        rows = np.bincount(place, minlength=len(levels))
        empty = np.flatnonzero((events == 0) & (rows > 0))
        if len(empty):
            return Reason("no_event", {"column": name, "level": levels[int(empty[0])]})
    return None


def _cells_too_small(coding: Coding, sample: Sample, k: int) -> Reason | None:
    terms = coding.terms()
    products = [t for t in terms if len(t.factors) > 1 and all(f.level for f in t.factors)]
    if products:
        count = coding.matrix(sample, products).sum(axis=0)
        if count.min() < k:
            column = products[int(count.argmin())].factors[0].column
            return Reason("small_cell", {"column": column, "k": k})
    pattern = coding.patterns(sample)
    if pattern is None or pattern.max() > len(terms):
        return None
    two = None if sample.event is not None else _two_values(coding, sample)
    if two is not None:
        pattern = 2 * pattern + _whole(two)
    cells = np.bincount(pattern)
    # An empty cell is a separation, which has a reason of its own.
    return Reason("saturated_cells", {"k": k}) if 0 < cells.min() < k else None


def _reference_gone(coding: Coding, sample: Sample) -> Reason | None:
    for name, levels in coding.levels.items():
        if not (sample.values[name] == 0).any():
            return Reason("reference_absent", {"column": name, "level": levels[0]})
    return None
