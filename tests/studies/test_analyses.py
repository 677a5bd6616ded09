"""Whole analyses: agreement with statsmodels' formulas, every kind of dataframe, and bad input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from statsmodels.duration.survfunc import SurvfuncRight, survdiff

from sosie.data.table import Roles
from sosie.errors import InputError, Reason
from sosie.studies.agreement import Agreement
from sosie.studies.analyses import analyses, check
from sosie.studies.reasons import KEYS
from sosie.studies.results import SCHEMA, Analysis

if TYPE_CHECKING:
    from conftest import Backend


def study(n: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 3, n)
    age = rng.normal(50, 10, n).round(1)
    rate = np.exp(0.03 * (age - 50) - 0.5 * arm)
    time = np.ceil(rng.exponential(300 / rate))
    return pl.DataFrame(
        {
            "arm": arm,
            "sex": np.array(["F", "M"])[rng.integers(0, 2, n)],
            "age": age,
            "marker": (2 * age + 10 * arm + rng.normal(0, 20, n)).round(2),
            "days": np.minimum(time, 900),
            "event": (time < 900).astype(int),
            "response": np.where(rng.random(n) < 1 / (1 + np.exp(1 - arm)), "yes", "no"),
        }
    )


def one(text: str, original: Any = None, avatars: Any = None, **options: Any) -> Analysis:
    original = study() if original is None else original
    avatars = study(seed=1) if avatars is None else avatars
    return analyses(original, avatars, text, **options).analyses[0]


def terms(analysis: Analysis) -> dict[str, Agreement]:
    assert analysis.reason is None, analysis.reason
    return {term.term.label: term for term in analysis.terms}


def test_a_linear_model_is_that_of_the_formula() -> None:
    found = terms(one("marker ~ arm * sex + age"))
    direct = smf.ols("marker ~ C(arm) * sex + age", study().to_pandas()).fit()
    names = {
        "arm[1]": "C(arm)[T.1]",
        "arm[2]": "C(arm)[T.2]",
        "sex[M]": "sex[T.M]",
        "age": "age",
        "arm[1]:sex[M]": "C(arm)[T.1]:sex[T.M]",
        "arm[2]:sex[M]": "C(arm)[T.2]:sex[T.M]",
    }
    assert list(found) == list(names)
    for label, name in names.items():
        assert found[label].original.value == pytest.approx(direct.params[name], rel=1e-6)
        assert found[label].original.interval == pytest.approx(
            direct.conf_int().loc[name].tolist(), rel=1e-6, abs=1e-9
        )
    other = smf.ols("marker ~ C(arm) * sex + age", study(seed=1).to_pandas()).fit()
    assert found["age"].avatars.value == pytest.approx(other.params["age"], rel=1e-6)
    assert found["age"].avatars.naive_interval == pytest.approx(
        other.conf_int().loc["age"].tolist(), rel=1e-6
    )
    assert found["age"].avatars.standard_error == pytest.approx(
        np.sqrt(2) * other.bse["age"], rel=1e-6
    )


def test_an_outcome_of_two_values_is_logistic() -> None:
    analysis = one("response ~ arm + age")
    table = study().to_pandas().assign(y=lambda t: (t.response == "yes").astype(int))
    direct = smf.logit("y ~ C(arm) + age", table).fit(disp=0, tol=1e-12)
    assert analysis.model == "logistic"
    assert dict(analysis.references) == {"arm": "0", "response": "no"}
    found = terms(analysis)
    for label, name in {"arm[2]": "C(arm)[T.2]", "age": "age"}.items():
        assert found[label].original.value == pytest.approx(direct.params[name], rel=1e-6)


def test_survival_is_the_cox_model_of_statsmodels() -> None:
    found = terms(one("survival days, event ~ arm + age"))
    table = study().to_pandas()
    direct = smf.phreg("days ~ C(arm) + age", table, status=table.event).fit(disp=0)
    index = direct.model.exog_names.index("age")
    assert found["age"].original.value == pytest.approx(direct.params[index], abs=1e-6)


def test_agreement_by_hand() -> None:
    term = terms(one("mean marker by arm"))["arm[1]"]
    ours, theirs = (t.filter(pl.col("arm") == 1)["marker"] for t in (study(), study(seed=1)))
    assert term.original.value == pytest.approx(ours.mean())
    assert term.avatars.value == pytest.approx(theirs.mean())
    error = float(np.std(ours.to_numpy(), ddof=1)) / np.sqrt(len(ours))
    difference = float(np.mean(theirs.to_numpy()) - np.mean(ours.to_numpy()))
    assert term.standardised_difference == pytest.approx(difference / error)
    assert term.original.interval is not None
    assert term.avatars.interval is not None
    (left, right), (low, high) = term.original.interval, term.avatars.interval
    common = min(right, high) - max(left, low)
    assert term.overlap == pytest.approx((common / (right - left) + common / (high - low)) / 2)
    assert term.same_sign is None
    assert term.inside is (left <= float(np.mean(theirs.to_numpy())) <= right)


def test_effects_that_turn_round_are_contradicted() -> None:
    turned = study(seed=1).with_columns(arm=2 - pl.col("arm"))
    term = terms(one("marker ~ arm", avatars=turned))["arm[2]"]
    assert (term.inside, term.same_sign, term.verdict) == (False, False, "contradicted")
    assert term.overlap == 0
    same = terms(one("marker ~ arm", avatars=study()))["arm[2]"]
    assert (same.inside, same.same_sign, same.verdict) == (True, True, "confirmed")
    assert same.standardised_difference == 0


def test_every_kind_of_dataframe_and_any_order(backend: Backend) -> None:
    plain = study()
    texts = ["marker ~ arm + sex + age", "share response by sex", "survival days, event ~ arm"]
    expected = analyses(plain, study(seed=1), texts).to_dict()

    def made(table: pl.DataFrame) -> Any:
        table = table.select(reversed(table.columns)).sample(fraction=1, shuffle=True, seed=5)
        return backend.frame(table.to_dict(as_series=False))

    original, avatars = made(plain), made(study(seed=1))
    before = backend.copy(original)
    found = analyses(original, avatars, texts).to_dict()
    assert backend.same(before, original)
    assert found == expected


def test_odd_names_and_positions() -> None:
    odd = {"arm": 0, "marker": 'say "x"', "age": "class", "sex": "a+b\n🙂"}
    original, avatars = (t.to_pandas().rename(columns=odd) for t in (study(), study(seed=1)))
    original.index = pd.RangeIndex(1000, 1600)
    found = terms(one('"say ""x""" ~ 0 + class + \'a+b\n🙂\'', original, avatars))
    plain = terms(one("marker ~ arm + age + sex"))
    for ours, theirs in zip(found.values(), plain.values(), strict=True):
        assert ours.avatars.value == pytest.approx(theirs.avatars.value)


def test_rows_that_lack_a_value_are_left_out_and_counted() -> None:
    holes = study().with_columns(
        age=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("age"),
        sex=pl.when(pl.int_range(pl.len()).is_between(5, 9)).then(None).otherwise("sex"),
    )
    analysis = one("marker ~ age + sex", holes)
    assert (analysis.rows, analysis.dropped) == (590, 10)
    expected = one("marker ~ age + sex", study()[10:])
    assert terms(analysis)["age"].original == terms(expected)["age"].original


def test_several_releases() -> None:
    releases = [study(seed=s) for s in range(1, 6)]
    found = analyses(study(), releases, "marker ~ age")
    assert found.releases == 5
    (term,) = found.analyses[0].terms
    each = [one("marker ~ age", avatars=r).terms[0] for r in releases]
    values = np.array([one.avatars.value for one in each])
    assert term.avatars.value == pytest.approx(values.mean())
    assert term.avatars.inside == sum(bool(one.inside) for one in each)
    errors = np.array([one.avatars.standard_error for one in each]) / np.sqrt(2)
    total = np.square(errors).mean() + values.var(ddof=1) / 5
    assert term.avatars.standard_error == pytest.approx(np.sqrt(total))


def test_curves_and_the_test_are_those_of_statsmodels() -> None:
    analysis = one("survival days, event ~ arm")
    assert analysis.log_rank is not None
    table = study()
    direct = survdiff(*(table[name].to_numpy() for name in ("days", "event", "arm")))
    assert (analysis.log_rank.statistic, analysis.log_rank.p_value) == pytest.approx(direct)
    assert analysis.log_rank.degrees == 2
    part = table.filter(pl.col("arm") == 1)
    steps = SurvfuncRight(part["days"].to_numpy(), part["event"].to_numpy())
    curve = analysis.curves[1]
    for time, value in zip(curve.times[:-1], curve.original[:-1], strict=True):
        before = steps.surv_prob[steps.surv_times <= time]
        assert value == pytest.approx(before[-1] if len(before) else 1.0)
    assert not one("survival days, event ~ arm + age").curves
    assert not one("survival days, event ~ age").curves


def test_steps_of_curves_hold_k_people() -> None:
    analysis = one("survival days, event ~ arm", k=25)
    for curve in analysis.curves:
        time = study().filter(pl.col("arm") == int(curve.group))["days"].to_numpy()
        leaving = np.histogram(time, np.append(curve.times[:-1] + 1e-9, curve.times[-1]))[0]
        assert leaving.min() >= 25
        assert not set(curve.times.tolist()) & set(time[time % 5 != 0].tolist())


# ---------------------------------------------------------------- privacy


def test_cells_of_odds_under_k_are_blank() -> None:
    table = pl.DataFrame(
        {"sick": ["y"] * 9 + ["n"] * 51 + ["y"] * 30 + ["n"] * 30, "arm": ["a"] * 60 + ["b"] * 60}
    )
    shown, blank = one("odds sick by arm", table, table, k=9), one("odds sick by arm", table, table)
    assert terms(shown)["arm[b]"].original.value == pytest.approx(np.log(51 / 9))
    assert terms(blank)["arm[b]"].original.value is None
    assert terms(blank)["arm[b]"].original.reason == Reason(
        "small_cell", {"column": "arm", "k": 10}
    )
    assert [cell.original for cell in shown.cells] == [51, 9, 30, 30]
    assert [cell.original for cell in blank.cells] == [51, None, 30, 30]
    assert [cell.avatars for cell in blank.cells] == [(51,), (9,), (30,), (30,)]


def test_groups_under_k_are_counted_and_not_named() -> None:
    table = study().with_columns(
        arm=pl.when(pl.int_range(pl.len()) < 9).then(pl.lit(7)).otherwise("arm")
    )
    for text in ("mean marker by arm", "share response by arm", "odds response by arm"):
        result = analyses(table, table, text)
        assert result.analyses[0].small_groups == 1
        assert '"7"' not in json.dumps(result.to_dict())
        assert "arm[7]" not in json.dumps(result.to_dict())
    refused = one("marker ~ arm", table, table)
    assert refused.reason == Reason("small_cell", {"column": "arm", "k": 10})
    assert not refused.terms


def test_shares_under_k_are_blank_with_their_complement() -> None:
    table = pl.DataFrame(
        {
            "type": ["a"] * 5 + ["b"] * 40 + ["c"] * 55 + ["a"] * 30 + ["b"] * 30 + ["c"] * 40,
            "arm": ["x"] * 100 + ["y"] * 100,
        }
    )
    values = {
        label: t.original.value
        for label, t in terms(one("share type by arm", table, table)).items()
    }
    assert values["arm[x]:type[a]"] is None
    assert values["arm[x]:type[b]"] is None  # else 'a' would follow
    assert values["arm[x]:type[c]"] == pytest.approx(0.55)
    assert values["arm[y]:type[a]"] == pytest.approx(0.3)


def test_saturated_models_are_refused_by_name() -> None:
    table = study(120)
    many = one("marker ~ arm * sex * response", table, table)
    assert many.reason == Reason("saturated_cells", {"k": 10})
    assert many.text == "marker ~ arm * sex * response"
    cells = pl.DataFrame(
        {"y": ["n", "y"] * 12 + ["n"] * 20 + ["y"] * 4, "g": ["a"] * 24 + ["b"] * 24}
    )
    refused = one("y ~ g", cells, cells)
    assert refused.reason == Reason("saturated_cells", {"k": 10})
    few = one("marker ~ age", study(19), study(19))
    assert few.reason == Reason("saturated", {"coefficients": 2, "rows": 19, "k": 10})


def test_too_many_coefficients() -> None:
    wide = pl.DataFrame({"y": np.arange(9000.0), "g": np.arange(9000) % 300}).with_columns(
        pl.col("g").cast(pl.String)
    )
    reason = one("y ~ g", wide, wide).reason
    assert reason == Reason("too_many_coefficients", {"coefficients": 299, "most": 200})


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("mean markr by arm", "did you mean 'marker'"),
        ("mean response by arm", "'response' is not a number"),
        ("mean marker by age", "'age' has too many values for groups"),
        ("share marker by arm", "'marker' is a number"),
        ("odds arm by sex", "'arm' has 3 values"),
        ("odds marker by sex", "is a number; odds need"),
        ("survival days, arm ~ sex", "event column 'arm' holds other values than"),
        ("survival days, age ~ sex", "event column 'age' holds other values than"),
        ("survival response, event ~ sex", "'response' is not a number"),
    ],
)
def test_texts_that_do_not_fit_are_errors_in_one_line(text: str, match: str) -> None:
    with pytest.raises(InputError, match=match) as error:
        one(text)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=match):
        check(study(), text)


def test_times_below_0_are_refused() -> None:
    with pytest.raises(InputError, match="times below 0"):
        one("survival days, event ~ arm", study().with_columns(pl.col("days") - 500))


def test_options_and_tables_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="k must be a whole number of at least 2"):
        one("mean marker by arm", k=1)
    with pytest.raises(InputError, match="combination must be"):
        one("mean marker by arm", combination="other")
    with pytest.raises(InputError, match="no release"):
        analyses(study(), [], "mean marker by arm")
    with pytest.raises(InputError, match="release 2 of the avatars lack column 'arm'"):
        analyses(study(), [study(), study().drop("arm")], "mean marker by arm")
    with pytest.raises(InputError, match="an analysis is a text"):
        analyses(study(), study(), [3])  # type: ignore[list-item]


def changed(**columns: Any) -> pl.DataFrame:
    return study().with_columns(**columns)


SEPARATED = pl.when(pl.col("arm") == 2).then(pl.lit("yes")).otherwise("response")

REASONS = [
    ("response ~ age", changed(response=pl.lit("no")), "one_value"),
    ("marker ~ age", changed(marker=pl.lit(1.5)), "one_value"),
    ("marker ~ sex", changed(sex=pl.lit("F")), "one_value"),
    ("mean marker by arm", changed(marker=pl.lit(1.5)), "one_value"),
    ("marker ~ age", changed(age=pl.lit(None, pl.Float64)), "no_rows"),
    ("mean marker by arm", changed(marker=pl.lit(None, pl.Float64)), "no_rows"),
    ("marker ~ age + twice", changed(twice=2 * pl.col("age") + 1), "singular"),
    ("response ~ arm", changed(response=SEPARATED), "separation"),
    ("response ~ arm + age", changed(response=SEPARATED), "separation"),
    ("survival days, event ~ arm", changed(event=pl.lit(0)), "no_event"),
    (
        "survival days, event ~ arm + age",
        changed(event=pl.when(pl.col("arm") == 1).then(0).otherwise("event")),
        "no_event",
    ),
]


@pytest.mark.parametrize(("text", "table", "key"), REASONS)
def test_trouble_in_the_originals_is_a_reason(text: str, table: pl.DataFrame, key: str) -> None:
    analysis = one(text, table, table)
    assert analysis.reason is not None
    assert analysis.reason.key == key
    assert key in KEYS
    assert not analysis.terms
    json.dumps(analysis.to_dict())


@pytest.mark.parametrize(("text", "table", "key"), REASONS)
def test_trouble_in_the_avatars_is_a_reason(text: str, table: pl.DataFrame, key: str) -> None:
    original = study().with_columns(twice=pl.col("age") * pl.col("age"))
    avatars = table if "twice" in table.columns else table.with_columns(twice=pl.col("age"))
    analysis = one(text, original, avatars)
    assert analysis.reason is None
    missing = [term for term in analysis.terms if term.avatars.value is None]
    if text == "mean marker by arm" and key == "one_value":
        assert not missing  # a mean of equal values is a mean
    elif text == "marker ~ sex":
        assert missing[0].avatars.reason == Reason("level_absent", {"column": "sex", "level": "M"})
    else:
        assert missing == list(analysis.terms)
        assert {term.avatars.reason.key for term in missing if term.avatars.reason} == {key}
    assert all(term.original.value is not None for term in analysis.terms)


def test_levels_that_the_avatars_lack() -> None:
    without = study(seed=1).filter(pl.col("arm") != 2)
    found = terms(one("marker ~ arm", avatars=without))
    assert found["arm[1]"].avatars.value is not None
    assert found["arm[2]"].avatars.reason == Reason("level_absent", {"column": "arm", "level": "2"})
    gone = terms(one("marker ~ arm", avatars=study(seed=1).filter(pl.col("arm") != 0)))
    reference = Reason("reference_absent", {"column": "arm", "level": "0"})
    assert gone["arm[1]"].avatars.reason == reference


def test_levels_that_only_the_avatars_have_count_as_missing() -> None:
    more = study(seed=1).with_columns(
        arm=pl.when(pl.int_range(pl.len()) < 50).then(pl.lit(9)).otherwise("arm")
    )
    analysis = one("marker ~ arm", avatars=more)
    assert (analysis.avatar_rows, analysis.avatar_dropped) == (550, 50)


def test_a_category_of_numbers_can_be_a_number() -> None:
    assert list(terms(one("marker ~ arm", roles=Roles(numeric=("arm",))))) == ["arm"]
    assert list(terms(one("arm ~ age"))) == ["age"]  # as an outcome it is one anyway


def test_the_json_holds_plain_values() -> None:
    texts = ["mean marker by arm", "odds response by sex", "survival days, event ~ arm"]
    found = analyses(study(), study(seed=1), texts, screen=True)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["schema"] == SCHEMA
    assert plain["agreement"]["terms"] == 6
    assert plain["agreement"]["inside"] == sum(bool(term.inside) for term in found.terms)
    assert sum(plain["agreement"]["verdicts"].values()) == 6
    assert [analysis["text"] for analysis in plain["analyses"]] == texts
    term = plain["analyses"][0]["terms"][0]
    assert term["factors"] == [{"column": "arm", "level": "0"}]
    assert term["original"]["estimate"] == pytest.approx(found.terms[0].original.value, rel=1e-5)
