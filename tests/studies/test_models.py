"""Estimates, against statsmodels called directly, printed figures and formulas by hand."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import fisher_exact
from statsmodels.duration.hazard_regression import PHReg

from sosie.errors import Reason
from sosie.studies import models
from sosie.studies.models import Fit

REMISSION = {
    "6-MP": "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+",
    "placebo": "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23",
}
"""Weeks of remission, + where censored: Freireich et al. (1963), Blood 21, as in Cox (1972)."""


def remission() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    weeks = [week for text in REMISSION.values() for week in text.split()]
    time = np.array([float(week.rstrip("+")) for week in weeks])
    event = np.array([float(not week.endswith("+")) for week in weeks])
    return np.repeat([1.0, 0.0], 21)[:, None], time, event


def fitted(fit: Fit | Reason) -> Fit:
    assert isinstance(fit, Fit), fit
    return fit


def test_cox_prints_what_stata_prints_of_the_remission_trial() -> None:
    """`stcox treated`, Breslow ties: data.princeton.edu/pop509/cox.html."""
    fit = fitted(models.cox(*remission()))
    ratio = float(np.exp(fit.estimates[0]))
    assert ratio == pytest.approx(0.2210887, abs=5e-8)
    assert ratio * fit.errors[0] == pytest.approx(0.0905501, abs=5e-8)
    ends = np.exp(fit.estimates[0] + np.array([-1, 1]) * 1.959964 * fit.errors[0])
    assert ends == pytest.approx([0.0990706, 0.4933877], abs=1e-7)


def test_a_logistic_model_prints_what_the_documentation_of_statsmodels_prints() -> None:
    """Spector and Mazzeo (1980); statsmodels.org, 'Discrete choice models overview'."""
    data = sm.datasets.spector.load()
    fit = fitted(models.logistic(data.exog.to_numpy(), data.endog.to_numpy()))
    assert list(data.exog.columns) == ["GPA", "TUCE", "PSI"]
    assert fit.estimates == pytest.approx([2.826113, 0.095158, 2.378688], abs=1e-6)


@pytest.fixture(scope="module")
def data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 4)) * [1, 50, 1e-3, 1] + [0, 1e4, 0, 0]
    X[:, 3] = X[:, 3] > 0.5
    effect = X[:, 0] + 300 * X[:, 2] - X[:, 3]
    time = rng.exponential(np.exp(-effect / 2))
    return {
        "X": X,
        "y": 3e6 + effect * 1e3 + rng.normal(size=1500),
        "two": (rng.random(1500) < 1 / (1 + np.exp(-effect))).astype(float),
        "time": np.ceil(time * 20),
        "distinct": time,
        "event": (rng.random(1500) < 0.6).astype(float),
    }


def test_linear_models_are_those_of_statsmodels(data: dict[str, np.ndarray]) -> None:
    direct = sm.OLS(data["y"], sm.add_constant(data["X"])).fit()
    fit = fitted(models.linear(data["X"], data["y"]))
    assert fit.estimates == pytest.approx(direct.params[1:], rel=1e-6)
    assert fit.errors == pytest.approx(direct.bse[1:], rel=1e-6)
    assert set(fit.degrees) == {1500 - 5}


def test_logistic_models_are_those_of_statsmodels(data: dict[str, np.ndarray]) -> None:
    direct = sm.Logit(data["two"], sm.add_constant(data["X"])).fit(disp=0, tol=1e-12)
    fit = fitted(models.logistic(data["X"], data["two"]))
    assert fit.estimates == pytest.approx(direct.params[1:], rel=1e-6)
    assert fit.errors == pytest.approx(direct.bse[1:], rel=1e-6)


@pytest.mark.parametrize("time", ["time", "distinct"])
def test_cox_models_are_those_of_statsmodels(data: dict[str, np.ndarray], time: str) -> None:
    X = (data["X"] - data["X"].mean(axis=0)) / data["X"].std(axis=0)
    direct = PHReg(data[time], X, status=data["event"], ties="breslow").fit(disp=0)
    fit = fitted(models.cox(X, data[time], data["event"]))
    assert fit.estimates == pytest.approx(direct.params, abs=1e-6)
    assert fit.errors == pytest.approx(direct.bse, abs=1e-6)


def test_units_and_origins_do_not_matter(data: dict[str, np.ndarray]) -> None:
    scale = np.array([1e300, 1e-3, 1e-290, 7.0])
    for model, *rest in (
        (models.linear, data["y"]),
        (models.logistic, data["two"]),
        (models.cox, data["time"], data["event"]),
    ):
        fit = fitted(model(data["X"], *rest))
        other = fitted(model(data["X"] * scale, *rest))
        assert other.estimates * scale == pytest.approx(fit.estimates, rel=1e-6)


def test_cox_by_hand() -> None:
    """Two distinct times, one covariate: the score equation is a quadratic in exp(b)."""
    x, time, event = np.array([[1.0], [0.0], [0.0], [1.0]]), np.array([1.0, 1, 2, 2]), np.ones(4)
    # At 1: events x=1 and x=0 among two of each; at 2: the same among one of each.
    fit = fitted(models.cox(x, time, event))
    assert fit.estimates[0] == pytest.approx(0, abs=1e-12)
    # Information at 0: twice p(1-p) with p = 1/2, at each of two times.
    assert fit.errors[0] == pytest.approx(1.0)


def test_group_means_by_hand() -> None:
    fit = models.means(np.array([1.0, 2.0, 3.0, 10.0, 14.0, 5.0]), np.array([0, 0, 0, 1, 1, 2]), 3)
    assert fit.estimates[:2] == pytest.approx([2, 12])
    assert fit.errors[:2] == pytest.approx([np.sqrt(1 / 3), 2])
    assert fit.degrees[:2].tolist() == [2, 1]
    assert np.isnan(fit.estimates[2])
    assert fit.reasons[2] == Reason("few_rows", {"rows": 1})


def test_shares_by_hand() -> None:
    fit = models.shares(np.array([0, 1, 1, 1, 0, 0]), 2, np.array([0, 0, 0, 0, 1, 1]), 2)
    assert fit.estimates.tolist() == [0.75, 0.0]
    assert fit.errors == pytest.approx([np.sqrt(0.75 * 0.25 / 4), 0])
    three = models.shares(np.array([0, 1, 2, 2]), 3, np.zeros(4, dtype=np.int64), 1)
    assert three.estimates.tolist() == [0.25, 0.25, 0.5]


def test_odds_ratios_by_hand() -> None:
    y = np.repeat([1, 0, 1, 0, 1], [10, 20, 30, 40, 5])
    group = np.repeat([0, 0, 1, 1, 2], [10, 20, 30, 40, 5])
    fit = models.odds_ratios(y, group, 3)
    assert np.exp(fit.estimates[0]) == pytest.approx((30 / 40) / (10 / 20))
    assert fit.errors[0] == pytest.approx(np.sqrt(1 / 10 + 1 / 20 + 1 / 30 + 1 / 40))
    assert np.exp(fit.estimates[0]) == pytest.approx(
        fisher_exact(np.array([[30, 40], [10, 20]]))[0]
    )
    assert fit.reasons == (None, Reason("empty_cell"))


def test_what_has_no_estimate_has_a_reason(data: dict[str, np.ndarray]) -> None:
    X, two = data["X"][:, :2], data["two"]
    twice = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    singular = Reason("singular", {"term": 2})
    assert models.linear(twice, two) == singular
    assert models.logistic(twice, two) == singular
    assert models.cox(twice, data["time"], two) == singular
    assert models.linear(X, np.ones(1500)) == Reason("one_value", {"column": "outcome"})
    assert models.logistic(X, np.ones(1500)) == Reason("one_value", {"column": "outcome"})
    assert models.cox(X, data["time"], 0 * two) == Reason("no_event", {"column": "event"})
    assert models.linear(X[:3], two[:3]) == Reason("few_rows", {"rows": 3})


def test_separation_is_noticed(data: dict[str, np.ndarray]) -> None:
    x, two = data["X"][:, [0]], data["two"]
    group = (x > 1.5).astype(float)
    quasi = np.where(group[:, 0] > 0, 1.0, two)
    separated = Reason("separation", {"term": 1})
    assert models.logistic(np.column_stack([x, group]), quasi) == separated
    whole = models.logistic(x, (x[:, 0] > 0.3).astype(float))
    assert whole == Reason("separation", {"term": 0})
    event = np.where(group[:, 0] > 0, 0.0, data["event"])
    assert models.cox(np.column_stack([x, group]), data["time"], event) == separated


def test_a_steep_effect_is_no_separation() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=4000)
    y = (rng.random(4000) < 1 / (1 + np.exp(-12 * x))).astype(float)
    fit = fitted(models.logistic(x[:, None], y))
    assert abs(fit.estimates[0] - 12) < 3 * fit.errors[0]
