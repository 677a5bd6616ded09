"""Inference: values worked by hand, brute force over ties, choice of the secret, the leak dial."""

import numpy as np
import polars as pl
import pytest
from comparison_cases import dial, distances, people
from numpy.typing import NDArray

from sosie.audits.comparison import Comparison, encoded
from sosie.audits.privacy import inference as module
from sosie.audits.privacy.inference import (
    MOST_GUESSED,
    MOST_SECRETS,
    _sampled,
    inference,
    on_twins,
)
from sosie.audits.reasons import NO_HOLDOUT, TOO_FEW_COLUMNS, TOO_FEW_PEOPLE
from sosie.audits.twins import twins
from sosie.data.table import Numbers, Table
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    originals = people()
    avatars = Avatarizer(k=5, seed=1).fit(originals).release()
    return Comparison.of(originals, avatars, holdout=people(60, seed=2))


def _right(comparison: Comparison, secret: str, targets: Table, rows: Table) -> NDArray[np.float64]:
    """Chance that the secret of a nearest row is right, by every distance."""
    known = [name for name in comparison.originals.names if name != secret]
    space = comparison.known_spaces.of(known)
    away = distances(space.transform(targets), space.transform(rows))
    tied = away <= away.min(axis=1, keepdims=True) * (1 + 1e-12)
    wanted, guess = targets.column(secret), rows.column(secret)
    if isinstance(wanted, Numbers):
        assert isinstance(guess, Numbers)
        column = comparison.originals.column(secret)
        assert isinstance(column, Numbers)
        low, high = np.nanpercentile(column.values, [5, 95])
        one, other = wanted.values[:, None], guess.values[None, :]
        near = np.abs(one - other) <= 0.05 * (high - low) * (1 + 1e-12)
        near |= np.isnan(one) & np.isnan(other)
    else:
        assert not isinstance(guess, Numbers)
        near = wanted.codes[:, None] == guess.codes[None, :]
    return np.asarray((tied & near).sum(axis=1) / tied.sum(axis=1))


@pytest.mark.parametrize("secret", ["age", "weight", "marker", "sex", "stage", "smoker"])
def test_guesses_equal_brute_force(comparison: Comparison, secret: str) -> None:
    held = comparison.holdout
    assert held is not None
    metric = inference(comparison, secrets=[secret])
    attack = _right(comparison, secret, comparison.originals, comparison.avatars)
    control = _right(comparison, secret, held, comparison.avatars)
    # On a grid of values, two avatars may be as near on either side: half a hit either way.
    assert metric.detail["attack"] == pytest.approx(100 * attack.mean(), abs=0.51)
    assert metric.control == pytest.approx(100 * control.mean(), abs=0.51)
    a, c = metric.detail["attack"] / 100, metric.control / 100
    assert metric.value == pytest.approx(100 * (a - c) / (1 - c))
    (column,) = metric.columns
    without = _right(comparison, secret, comparison.originals, held)
    assert column["without_avatars"] == pytest.approx(100 * without.mean(), abs=0.51)
    assert column["risk"] == metric.value


def test_the_secret_is_chosen_on_one_half_and_measured_on_the_other(comparison: Comparison) -> None:
    held = comparison.holdout
    assert held is not None
    attack, control = (
        {
            name: _right(comparison, str(name), table, comparison.avatars)
            for name in comparison.originals.names
        }
        for table in (comparison.originals, held)
    )
    worst = max(attack, key=lambda name: attack[name][::2].mean() - control[name][::2].mean())
    metric = inference(comparison)
    assert metric.detail["secret"] == worst
    a, c = attack[worst][1::2].mean(), control[worst][1::2].mean()
    assert metric.value == pytest.approx(100 * (a - c) / (1 - c))
    gaps = [column["attack"] - column["control"] for column in metric.columns]
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) == len(attack)


def test_what_the_attacker_knows_can_be_told(comparison: Comparison) -> None:
    metric = inference(comparison, known=["age", "sex"])
    assert {column["column"] for column in metric.columns} == {
        "weight",
        "marker",
        "stage",
        "smoker",
    }
    one = inference(comparison, known=["weight"], secrets=["stage"])
    space = comparison.space(["weight"])
    asked, made = (space.transform(t) for t in (comparison.originals, comparison.avatars))
    nearest = np.abs(asked - made.T).argmin(axis=1)  # of two that are equally near, the first
    tied = made[nearest] == made.T
    stages = (t.column("stage").codes for t in (comparison.originals, comparison.avatars))  # type: ignore[union-attr]
    same = np.equal.outer(*stages)
    assert one.detail["attack"] == pytest.approx(
        100 * ((tied & same).sum(axis=1) / tied.sum(axis=1)).mean()
    )


def test_a_wider_tolerance_makes_more_guesses_right(comparison: Comparison) -> None:
    attacks = [
        inference(comparison, secrets=["weight"], tolerance=t).detail["attack"]
        for t in (0, 0.05, 0.2, 2)
    ]
    assert attacks == sorted(attacks)
    assert attacks[-1] == 100
    with pytest.raises(InputError, match="at least 0"):
        inference(comparison, tolerance=-1)


def test_above_a_size_people_are_sampled(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_GUESSED", 100)
    metric = inference(comparison, secrets=["sex"])
    assert metric.detail["sample"] == len(metric.per_person()) == 100


def test_what_is_needed_is_said(comparison: Comparison) -> None:
    alone = Comparison(comparison.originals, comparison.avatars)
    assert inference(alone).reason == NO_HOLDOUT
    lonely = Comparison.of(people(), people(), holdout=people(1, seed=3))
    assert inference(lonely).reason == TOO_FEW_PEOPLE
    one = people().select("age")
    assert inference(one, one, holdout=one).reason == TOO_FEW_COLUMNS
    constant = pl.DataFrame({"a": ["x"] * 5, "b": ["y"] * 5})
    reason = Reason("nothing_to_guess")
    assert inference(constant, constant, holdout=constant).reason == reason


def test_the_largest_numbers_are_no_more_than_numbers() -> None:
    """Copies of people give all away, strangers nothing, and missing is like missing alone."""
    huge = [None if i % 5 == 4 else (-1) ** i * (1.7e308 - i * 1e306) for i in range(60)]
    one = pl.DataFrame({"x": huge, "y": [float(i) for i in range(60)]})
    aside = one.with_columns(x=pl.lit(-1.0))
    found = inference(one, one, holdout=aside, secrets=["x"], tolerance=0.0)
    assert (found.detail["attack"], found.control) == (100, 0)
    wide = inference(one, one, holdout=aside, secrets=["x"], tolerance=1.0)
    assert wide.detail["attack"] == 100
    assert wide.control == pytest.approx(80)  # all but where the avatar's value is missing


def test_nobody_chooses_a_secret_and_judges_it_too() -> None:
    rows = np.arange(11)
    assert sorted(np.concatenate([rows[half] for half in module.HALVES])) == rows.tolist()


def test_a_sample_holds_each_person_once() -> None:
    rows = MOST_GUESSED + 1
    sample = _sampled(Table.of(pl.DataFrame({"x": np.arange(rows) / 7})))
    column = sample.column("x")
    assert isinstance(column, Numbers)
    assert len(np.unique(column.values)) == len(sample) == MOST_GUESSED


def test_columns_are_checked(comparison: Comparison) -> None:
    with pytest.raises(InputError, match="no column 'agee'"):
        inference(comparison, secrets=["agee"])
    with pytest.raises(InputError, match="'age' can't be both"):
        inference(comparison, secrets=["age"], known=["age", "sex"])


def test_the_leak_dial_moves_the_metric_one_way() -> None:
    originals, holdout = people(300), people(100, seed=3)
    values = [
        inference(originals, avatars, holdout=holdout, secrets=["weight"]).value
        for avatars in dial(originals, people(300, seed=9))
    ]
    steps = np.diff(np.array(values, dtype=float))
    assert (steps >= -1).all(), values  # the control wavers with the strangers' nearest avatars
    assert values[-1] == pytest.approx(100, abs=1)  # a few are alike in all but the secret


def test_on_twins_the_baseline_is_guessed_from_the_strangers_of_each_fold() -> None:
    frame = people(203)
    folds = twins(Avatarizer(k=5, seed=1).fit(frame), encoded(frame), 5)
    assert not isinstance(folds, Reason)
    metric = on_twins(folds, secrets=["stage", "sex"])
    for column in metric.columns:
        right = []
        for fold in folds:
            held = fold.comparison.holdout
            assert held is not None
            tested = fold.comparison.originals.take(fold.tested)
            right.append(_right(fold.comparison, column["column"], tested, held))
        expected = 100 * np.concatenate(right).mean()
        assert column["without_avatars"] == pytest.approx(expected, abs=0.51)


def test_of_very_many_columns_some_are_tried_unless_they_are_named() -> None:
    rng = np.random.default_rng(7)
    wide = pl.DataFrame({f"x{i}": rng.normal(size=60) for i in range(MOST_SECRETS + 20)})
    originals, strangers = wide[:30], wide[30:]
    tried = [one["column"] for one in inference(originals, originals, holdout=strangers).columns]
    assert len(set(tried)) == len(tried) == MOST_SECRETS
    assert set(tried) < set(wide.columns)
    named = sorted(set(wide.columns) - set(tried))[:2]
    told = inference(originals, originals, holdout=strangers, secrets=named)
    assert {one["column"] for one in told.columns} == set(named)
    assert told.value == 100.0  # each is nearest to their own copy, whatever one column says
