"""Predictive ratio: against scikit-learn's ridge, and what it must say of good and bad avatars."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import dial, people
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score, roc_auc_score

from sosie.audits.comparison import Comparison
from sosie.audits.reasons import NO_HOLDOUT, TOO_FEW_COLUMNS, TOO_FEW_PEOPLE
from sosie.audits.utility.predictive_ratio import MOST_BINNED, PENALTY, predictive_ratio
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer


def _linked(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.choice(["a", "b", "c"], rows)
    y = np.where(x == "a", 1.0, np.where(x == "b", 4.0, 5.0)) + rng.normal(size=rows)
    return pl.DataFrame({"x": x, "y": y})


def test_qualities_equal_those_of_scikit_learn() -> None:
    train, test = _linked(300, 0), _linked(200, 1)
    found = predictive_ratio(train, train, holdout=test, outcomes=["y"]).columns[0]
    codes = np.eye(3)
    order = {name: i for i, name in enumerate(train["x"].unique(maintain_order=True))}
    one, other = (codes[[order[name] for name in frame["x"]]] for frame in (train, test))
    mean, sd = train["y"].mean(), train["y"].std(ddof=0)
    model = Ridge(alpha=PENALTY * len(train)).fit(one, (train["y"] - mean) / sd)
    expected = r2_score((test["y"] - mean) / sd, model.predict(other))
    assert found["originals"] == pytest.approx(expected)
    assert found["measure"] == "r2"


def test_a_category_is_judged_by_its_ranking() -> None:
    train, test = (
        _linked(300, 0).with_columns(x=pl.col("x") == "a"),
        _linked(200, 1).with_columns(x=pl.col("x") == "a"),
    )
    found = predictive_ratio(train, train, holdout=test, outcomes=["x"]).columns[0]
    assert found["measure"] == "gini"
    # Few values of a simple law: near what the number alone would do, in falling order.
    best = 2 * roc_auc_score(test["x"], -test["y"]) - 1
    assert found["originals"] == pytest.approx(best, abs=0.03)


def test_the_ratio_is_that_of_the_sums() -> None:
    found = predictive_ratio(people(400), people(400, seed=4), holdout=people(300, seed=2))
    kept, whole = (sum(c[key] for c in found.columns) for key in ("avatars", "originals"))
    assert found.value == pytest.approx(100 * kept / whole)
    assert found.value == pytest.approx(100, abs=10)
    losses = [column["avatars"] - column["originals"] for column in found.columns]
    assert losses == sorted(losses)
    # Nothing predicts sex or smoking here: they are left out.
    assert {column["column"] for column in found.columns} == {"age", "weight", "marker", "stage"}


def test_copies_lose_nothing_and_scrambled_columns_lose_all() -> None:
    train, test = people(400), people(300, seed=2)
    assert predictive_ratio(train, train, holdout=test).value == pytest.approx(100)
    broken = pl.DataFrame(
        [train[n].sample(fraction=1, shuffle=True, seed=i) for i, n in enumerate(train.columns)]
    )
    lost = predictive_ratio(train, broken, holdout=test).value
    assert lost is not None
    assert lost < 15
    values = [predictive_ratio(train, a, holdout=test).value for a in dial(train, broken, 4)]
    assert (np.diff(np.array(values, dtype=float)) > 0).all()


def test_avatars_of_people_predict_well() -> None:
    train, test = people(400), people(300, seed=2)
    avatars = Avatarizer(k=5, seed=1).fit(train).release()
    value = predictive_ratio(train, avatars, holdout=test).value
    assert value is not None
    assert 75 < value < 105


def test_rows_without_the_outcome_teach_nothing() -> None:
    train, test = _linked(300, 0), _linked(200, 1)
    holes = pl.concat([train, train.with_columns(y=pl.lit(None, dtype=pl.Float64))])
    one = predictive_ratio(train, train, holdout=test, outcomes=["y"]).columns[0]
    other = predictive_ratio(holes, holes, holdout=test, outcomes=["y"]).columns[0]
    assert other["originals"] == pytest.approx(one["originals"], abs=1e-3)


def test_what_is_needed_is_said() -> None:
    originals = people()
    assert predictive_ratio(originals, originals).reason == NO_HOLDOUT
    assert predictive_ratio(originals, originals, holdout=people(19)).reason == TOO_FEW_PEOPLE
    one = originals.select("age")
    assert predictive_ratio(one, one, holdout=one).reason == TOO_FEW_COLUMNS
    noise = pl.DataFrame(np.random.default_rng(0).normal(size=(600, 2)), schema=["a", "b"])
    found = predictive_ratio(noise[:200], noise[200:400], holdout=noise[400:])
    assert found.reason == Reason("nothing_predicted")
    with pytest.raises(InputError, match="no column 'agee'"):
        predictive_ratio(originals, originals, holdout=originals, outcomes=["agee"])


def test_levels_of_the_avatars_or_of_the_holdout_alone_do_no_harm() -> None:
    train, test = people(200), people(100, seed=2)
    strange = test.with_columns(stage=pl.lit("IV"))
    found = predictive_ratio(
        Comparison.of(train, train.with_columns(sex=pl.lit("X")), holdout=strange)
    )
    assert found.value is not None


def test_of_very_many_numbers_no_bins_are_taken() -> None:
    """What is a curve of another number is seen by its bins, and so it is not seen."""
    rng = np.random.default_rng(5)
    many = {f"x{i}": rng.normal(size=600) for i in range(MOST_BINNED + 1)}
    curved = pl.DataFrame({**many, "square": many["x0"] ** 2})
    seen = {}
    for width in (5, MOST_BINNED):
        some = curved.select([*(f"x{i}" for i in range(width)), "square"])
        people, strangers = some[:400], some[400:]
        metric = predictive_ratio(people, people, holdout=strangers, outcomes=["square"])
        seen[width] = metric.value
    assert seen == {5: 100.0, MOST_BINNED: None}  # with the square they are one too many
