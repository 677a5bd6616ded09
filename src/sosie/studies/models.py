"""Models of one table: estimates of coefficients with their standard errors.

Each takes arrays, and gives back a `Fit` or the `Reason` why there is none. Linear and logistic
models are those of statsmodels. Cox models are our own few lines (see `cox`), because those of
statsmodels pass over every distinct time in Python: 25 s for 100,000 rows whose times all differ.

Columns are centred and scaled before a fit, so that neither units nor far-off origins matter.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.errors import Reason
from sosie.studies.extra import library

__all__ = ["Fit", "cox", "linear", "logistic", "means", "odds_ratios", "shares"]

ITERATIONS = 50
"""Newton settles in under ten; a logistic model that separates gains one unit a step for ever."""

SETTLED = 1e-12
"""Of the Newton decrement, on the scale of the log-likelihood: estimates are then exact to 1e-6
of their standard errors."""

COLLINEAR = 1e-9
"""A column of which the others leave less than this share of its variance follows from them."""

CONSTRAINTS = 500
"""Rows that a linear programme starts from and gains at each turn: it is solved in milliseconds."""

NOTHING = 1e-7
"""Below the tolerance of the linear programme."""

STEEP = 8.0
"""A standardised coefficient above this (odds of 3,000 for one standard deviation) is examined
for separation."""

VAGUE = 10.0
"""So is a standard error above this: a likelihood that has gone flat tells nothing more."""


@dataclass(frozen=True)
class Fit:
    """Estimates of one model on one table.

    Attributes
    ----------
    estimates : (p,) float64, NaN where there is none.
    errors : (p,) float64, standard errors.
    degrees : (p,) float64, degrees of freedom of Student's law; infinite for the normal law.
    rows : complete rows that it was fitted on.
    reasons : (p,) why an estimate is NaN, else None.
    """

    estimates: Floats
    errors: Floats
    degrees: Floats
    rows: int
    reasons: tuple[Reason | None, ...]

    @classmethod
    def of(cls, estimates: Floats, errors: Floats, degrees: Floats | float, rows: int) -> Fit:
        """A fit without gaps."""
        every = np.broadcast_to(np.asarray(degrees, dtype=float), estimates.shape).copy()
        return cls(estimates, errors, every, rows, (None,) * len(estimates))

    def spread(self, columns: Ints, reasons: tuple[Reason | None, ...]) -> Fit:
        """The estimates of some coefficients among all; the others have a reason."""

        def placed(values: Floats) -> Floats:
            every = np.full(len(reasons), np.nan)
            every[columns] = values
            return every

        return Fit(
            placed(self.estimates), placed(self.errors), placed(self.degrees), self.rows, reasons
        )


@dataclass(frozen=True)
class _Standardised:
    """Columns with mean 0 and standard deviation 1, and the way back."""

    matrix: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats) -> _Standardised:
        largest = np.abs(X).max(axis=0, initial=0.0)
        # Divided by its largest value first, so that no square overflows.
        part = X / np.where(largest > 0, largest, 1.0)
        part -= part.mean(axis=0)
        deviation = part.std(axis=0)
        part /= np.where(deviation > 0, deviation, 1.0)
        scale = np.where(deviation > 0, deviation, 1.0) * np.where(largest > 0, largest, 1.0)
        return cls(part, scale)

    def back(self, coefficients: Floats, errors: Floats) -> tuple[Floats, Floats]:
        return coefficients / self.scale, errors / self.scale


def _dependent(Z: Floats) -> int | None:
    """The first column that follows from those before it, and from a constant; None if none."""
    rest = Z.T @ Z / len(Z)
    for column in range(len(rest)):  # Cholesky, column by column
        pivot = rest[column, column]
        if pivot < COLLINEAR:
            return column
        rest[column + 1 :] -= np.outer(rest[column + 1 :, column] / pivot, rest[column])
    return None


def _singular(Z: Floats) -> Reason | None:
    column = _dependent(Z)
    # The name of the term is put in by the caller, who knows it.
    return None if column is None else Reason("singular", {"term": column})


def _usable(X: Floats, y: Floats) -> _Standardised | Reason:
    """The columns on one scale; or why no regression of `y` on them has estimates."""
    rows, size = X.shape
    if rows <= size + 1:
        return Reason("few_rows", {"rows": rows})
    if np.ptp(y) == 0:
        return Reason("one_value", {"column": "outcome"})
    columns = _Standardised.of(X)
    return _singular(columns.matrix) or columns


def linear(X: Floats, y: Floats) -> Fit | Reason:
    """Ordinary least squares with an intercept, which is not among the estimates.

    Parameters
    ----------
    X : (n, p) float64.
    y : (n,) float64.
    """
    columns = _usable(X, y)
    if isinstance(columns, Reason):
        return columns
    outcome = _Standardised.of(y[:, None])
    models = library("statsmodels.regression.linear_model")
    fit = models.OLS(outcome.matrix[:, 0], _with_intercept(columns.matrix)).fit()
    estimates, errors = columns.back(fit.params[1:], fit.bse[1:])
    unit = float(outcome.scale[0])
    return Fit.of(estimates * unit, errors * unit, float(fit.df_resid), len(y))


def logistic(X: Floats, y: Floats) -> Fit | Reason:
    """Logistic regression with an intercept, which is not among the estimates (log odds ratios).

    Parameters
    ----------
    X : (n, p) float64.
    y : (n,) float64, 0 or 1.
    """
    columns = _usable(X, y)
    if isinstance(columns, Reason):
        return columns
    Z = _with_intercept(columns.matrix)
    models = library("statsmodels.discrete.discrete_model")
    failures = library("statsmodels.tools.sm_exceptions")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what they warn of is examined below
        try:
            fit = models.Logit(y, Z).fit(disp=0, maxiter=ITERATIONS, tol=1e-10)
            settled = bool(fit.mle_retvals["converged"]) and bool(np.isfinite(fit.bse).all())
        except (np.linalg.LinAlgError, failures.PerfectSeparationError):
            settled = False
    if not settled or max(np.abs(fit.params[1:]).max(initial=0) / STEEP, fit.bse.max() / VAGUE) > 1:
        apart = _separating(Z, y)
        if apart is not None:
            return Reason("separation", {"term": apart})
        if not settled:
            return Reason("no_convergence")
    return Fit.of(*columns.back(fit.params[1:], fit.bse[1:]), math.inf, len(y))


def _with_intercept(Z: Floats) -> Floats:
    return np.column_stack([np.ones(len(Z)), Z])


def _separating(Z: Floats, y: Floats) -> int | None:
    """The column that weighs most in a direction along which no row contradicts the outcome.

    Such a direction exists where the linear programme ``max sum_i s_i z_i b`` subject to
    ``s_i z_i b >= 0`` and ``-1 <= b <= 1``, ``s_i = 2 y_i - 1``, has an optimum above 0.

    Source: Konis, K. (2007), Linear programming algorithms for detecting separated data in
    binary logistic regression models, thesis, Oxford.
    """
    from scipy.optimize import linprog

    signed = np.unique((2 * y - 1)[:, None] * Z, axis=0)
    # Few rows bind: those that a solution contradicts are added until none does.
    rows = np.unique(np.linspace(0, len(signed) - 1, CONSTRAINTS, dtype=np.int64))
    while True:
        part = signed[rows]
        best = linprog(-signed.mean(axis=0), -part, np.zeros(len(part)), bounds=(-1, 1))
        direction, value = best.x, best.fun
        if direction is None or value is None or -value < NOTHING:
            return None
        side = signed @ direction
        worst = np.argsort(side)[:CONSTRAINTS]
        against = np.setdiff1d(worst[side[worst] < -NOTHING], rows)
        if not len(against):
            return int(np.argmax(np.abs(direction[1:]))) if len(direction) > 1 else None
        rows = np.union1d(rows, against)


def cox(X: Floats, time: Floats, event: Floats) -> Fit | Reason:
    """Cox's proportional hazards with Breslow's treatment of ties (log hazard ratios).

    Newton's method on ``l(b) = sum_j [ s_j b - d_j log S0_j ]`` over distinct event times j:
    `d_j` events, `s_j` the sum of their rows, ``S0_j`` the sum of ``exp(x_i b)`` over the rows
    still at risk. Gradient ``sum_j s_j - d_j S1_j / S0_j``; information ``sum_i r_i H_i x_i x_i'
    - sum_j d_j (S1_j / S0_j)(S1_j / S0_j)'`` with ``H_i`` Breslow's cumulative hazard up to row
    i's time, so that nothing larger than (n, p) is ever in memory.

    Parameters
    ----------
    X : (n, p) float64.
    time : (n,) float64.
    event : (n,) float64, 1 where the time ends with the event, else 0.

    Notes
    -----
    Sources: Cox, D. R. (1972), JRSS B 34; Breslow, N. (1974), Biometrics 30.
    """
    rows, size = X.shape
    if not event.any():
        return Reason("no_event", {"column": "event"})
    columns = _Standardised.of(X)
    singular = _singular(columns.matrix) if rows > size + 1 else Reason("few_rows", {"rows": rows})
    if singular is not None:
        return singular
    likelihood = _PartialLikelihood.of(columns.matrix, time, event)
    beta, gradient, information = _maximum(likelihood, size)
    told = np.diag(information)
    endless = np.maximum(np.abs(beta) / (2 * STEEP), 1 / np.sqrt(np.maximum(told, 1e-12)) / VAGUE)
    if endless.max() > 1:
        return Reason("separation", {"term": int(endless.argmax())})
    variance = np.diag(np.linalg.pinv(information))
    if variance.max() > VAGUE**2:
        return Reason("separation", {"term": int(variance.argmax())})
    if float(gradient @ np.linalg.pinv(information) @ gradient) > NOTHING or variance.min() <= 0:
        return Reason("no_convergence")
    return Fit.of(*columns.back(beta, np.sqrt(variance)), math.inf, rows)


def _maximum(likelihood: _PartialLikelihood, size: int) -> tuple[Floats, Floats, Floats]:
    """Newton's method from 0, halving steps that overshoot: estimates, gradient, information."""
    beta = np.zeros(size)
    value, gradient, information = likelihood.at(beta)
    for _ in range(ITERATIONS):
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            break
        if gradient @ step < SETTLED or np.abs(beta).max() > 2 * STEEP:
            break
        moved = likelihood.at(beta + step)
        while moved[0] < value and np.abs(step).max() > SETTLED:
            step = step / 2
            moved = likelihood.at(beta + step)
        beta = beta + step
        value, gradient, information = moved
    return beta, gradient, information


@dataclass(frozen=True)
class _PartialLikelihood:
    """Breslow's partial likelihood, rows by falling time.

    Attributes
    ----------
    X : (n, p) float64.
    last : (m,) int64, the last row at risk at each distinct event time.
    events : (m,) float64, events at each.
    total : (p,) float64, the sum of the rows with an event.
    passed : (n,) int64, event times up to the row's own, counted from the latest: row i has
        lived through the event times ``passed[i]``, ``passed[i] + 1``, …
    """

    X: Floats
    last: Ints
    events: Floats
    total: Floats
    passed: Ints

    @classmethod
    def of(cls, X: Floats, time: Floats, event: Floats) -> _PartialLikelihood:
        order = np.argsort(-time, kind="stable")
        X, time, event = X[order], time[order], event[order]
        distinct, start = np.unique(-time, return_index=True)  # rising, so times fall
        last = np.append(start[1:], len(time)) - 1
        events = np.add.reduceat(event, start)
        held = events > 0
        passed = np.searchsorted(distinct[held], -time, side="left")
        return cls(X, last[held], events[held], event @ X, passed)

    def at(self, beta: Floats) -> tuple[float, Floats, Floats]:
        """Log-likelihood, gradient (p,) and information (p, p)."""
        linear = self.X @ beta
        shift = linear.max()
        risk = np.exp(linear - shift)
        S0 = np.cumsum(risk)[self.last]
        means = np.cumsum(risk[:, None] * self.X, axis=0)[self.last] / S0[:, None]
        value = float(self.total @ beta - self.events @ (np.log(S0) + shift))
        gradient = self.total - self.events @ means
        # The hazard up to a row's time: the sum over its own and all earlier event times.
        hazard = np.append(np.cumsum((self.events / S0)[::-1])[::-1], 0.0)[self.passed]
        information = (self.X * (risk * hazard)[:, None]).T @ self.X
        information -= (means * self.events[:, None]).T @ means
        return value, gradient, information


def means(y: Floats, group: Ints, groups: int) -> Fit:
    """The mean of each group, with the standard error ``s / sqrt(n)``.

    Parameters
    ----------
    y : (n,) float64.
    group : (n,) integers below `groups`.
    """
    count = np.bincount(group, minlength=groups).astype(float)
    centre = float(y.mean()) if len(y) else 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(group, y - centre, groups) / count
        squares = np.bincount(group, np.square(y - centre - mean[group]), groups)
        error = np.sqrt(squares / (count - 1) / count)
    few = count < 2
    mean[few] = error[few] = np.nan
    reasons = tuple(Reason("few_rows", {"rows": int(n)}) if n < 2 else None for n in count)
    return Fit(mean + centre, error, np.where(few, np.nan, count - 1), len(y), reasons)


def shares(y: Ints, values: int, group: Ints, groups: int) -> Fit:
    """The share of each value but the first in each group, group after group; in 0..1.

    Two values have one share, the second's; more have one each. The standard error is
    ``sqrt(p (1 - p) / n)``.

    Parameters
    ----------
    y : (n,) integers below `values`.
    group : (n,) integers below `groups`.
    """
    table = counted(y, values, group, groups)
    count = table.sum(axis=1, keepdims=True).astype(float)
    shown = table[:, 1:] if values == 2 else table
    with np.errstate(invalid="ignore", divide="ignore"):
        share = shown / count
        error = np.sqrt(share * (1 - share) / count)
    every = np.broadcast_to(count, shown.shape).ravel()
    reasons = tuple(Reason("few_rows", {"rows": 0}) if n == 0 else None for n in every)
    degrees = np.full(shown.size, np.inf)
    return Fit(share.ravel(), error.ravel(), degrees, len(y), reasons)


def counted(y: Ints, values: int, group: Ints, groups: int) -> Ints:
    """Rows of each group with each value, ``(groups, values) int64``."""
    return np.bincount(group * values + y, minlength=groups * values).reshape(groups, values)


def odds_ratios(y: Ints, group: Ints, groups: int) -> Fit:
    """Log odds ratio of each group against the first, from its 2 x 2 table.

    ``log(a d / (b c))`` with Woolf's standard error ``sqrt(1/a + 1/b + 1/c + 1/d)``.

    Parameters
    ----------
    y : (n,) integers, 0 or 1.
    group : (n,) integers below `groups`.

    Notes
    -----
    Source: Woolf, B. (1955), Annals of Human Genetics 19.
    """
    tables = library("statsmodels.stats.contingency_tables")
    table = counted(y, 2, group, groups)
    estimates, errors = np.full(groups - 1, np.nan), np.full(groups - 1, np.nan)
    reasons: list[Reason | None] = []
    for i in range(1, groups):
        square = table[[i, 0]][:, ::-1]
        reasons.append(None if square.all() else Reason("empty_cell"))
        if square.all():
            two = tables.Table2x2(square.astype(float), shift_zeros=False)
            estimates[i - 1], errors[i - 1] = two.log_oddsratio, two.log_oddsratio_se
    return Fit(estimates, errors, np.full(groups - 1, np.inf), len(y), tuple(reasons))
