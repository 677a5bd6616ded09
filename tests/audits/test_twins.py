"""Twins: everyone is a stranger once and a member once, and what is measured on them is right."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from comparison_cases import people

from sosie.audits.audit import measured
from sosie.audits.comparison import Comparison, encoded
from sosie.audits.intervals import jackknife_interval, paired_risk
from sosie.audits.registry import DEFINITIONS, ON_TWINS
from sosie.audits.twins import FEWEST, Fold, by_person, twins
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer

ROWS = 203


@pytest.fixture(scope="module")
def folds() -> tuple[Fold, ...]:
    frame = people(ROWS)
    found = twins(Avatarizer(k=5, seed=1).fit(frame), encoded(frame), 5)
    assert not isinstance(found, Reason)
    return found


def test_everyone_is_a_stranger_once_and_a_member_once(folds: tuple[Fold, ...]) -> None:
    for side in ("members", "strangers"):
        numbers = np.concatenate([getattr(fold, side) for fold in folds])
        assert sorted(numbers) == list(range(ROWS))
    for fold in folds:
        assert not set(fold.members) & set(fold.strangers)


def test_strangers_took_no_part(folds: tuple[Fold, ...]) -> None:
    """The rows of both together are those of the table."""
    whole = sorted(people(ROWS).rows())
    for fold in folds:
        holdout = fold.comparison.holdout
        assert holdout is not None
        parts = [table.frame.to_native() for table in (fold.comparison.originals, holdout)]
        assert sorted(pl.concat(parts).rows()) == whole
        assert len(fold.comparison.avatars) == len(fold.comparison.originals)


def test_twins_have_secrets_of_their_own() -> None:
    avatarizer = Avatarizer(k=5, seed=1)
    others = [avatarizer.reseeded(number) for number in (0, 1, 0)]
    seeds = [one.secrets.seed for one in (avatarizer, *others)]
    assert len(set(seeds)) == 3
    assert seeds[1] == seeds[3]


def test_copies_give_members_away_and_not_strangers(folds: tuple[Fold, ...]) -> None:
    """A generator that publishes its rows: members are always found."""
    copies = [_copied(fold) for fold in folds]
    linkability, membership = (ON_TWINS[key](copies) for key in ("linkability", "membership"))
    assert linkability.value is not None
    assert linkability.value > 80  # equal halves of several people are drawn between them
    assert membership.value is not None
    assert membership.value > 0.95
    inference = ON_TWINS["inference"](copies)
    assert inference.detail["attack"] > 95
    assert inference.ci is not None
    assert inference.ci[0] > 50


def _copied(fold: Fold) -> Fold:
    own = fold.comparison.originals
    comparison = fold.comparison.with_avatars(own)
    return Fold(comparison, (own,), fold.tested, fold.members, fold.strangers, fold.people)


def test_all_that_need_people_who_took_no_part_are_measured(folds: tuple[Fold, ...]) -> None:
    assert set(ON_TWINS) == {one.key for one in DEFINITIONS if "holdout" in one.needs}
    comparison = folds[0].comparison
    alone = Comparison(comparison.originals, comparison.avatars)
    audit = measured(alone, metrics=tuple(ON_TWINS), folds=folds)
    for metric in (*audit.privacy.values(), *audit.utility.values()):
        assert metric.value is not None
        assert metric.ci is not None
        assert metric.ci[0] <= metric.value <= metric.ci[1]
    assert audit.to_dict()["twins"]["people"] == ROWS


def test_people_set_aside_go_before_twins(folds: tuple[Fold, ...]) -> None:
    audit = measured(folds[0].comparison, metrics=["membership"], folds=folds)
    assert audit.privacy.membership.detail["strangers"] < ROWS / 5
    assert audit.twins is None


def test_too_small_a_table_has_a_reason() -> None:
    frame = people(FEWEST - 1)
    avatarizer = Avatarizer(k=5, seed=1).fit(frame)
    reason = twins(avatarizer, encoded(frame), 5)
    assert reason == Reason("too_few_for_twins", {"n": FEWEST - 1, "least": FEWEST})
    release = avatarizer.release(shuffle=False)
    audit = measured(Comparison.of(frame, release), metrics=["inference"], folds=reason)
    assert audit.privacy.inference.reason == reason


def test_a_stratum_too_small_for_five_folds_has_a_reason() -> None:
    """Of five people in a stratum, four are left: fewer than k."""
    frame = people(ROWS).with_columns(site=pl.Series(["a"] * 5 + ["b"] * (ROWS - 5)))
    avatarizer = Avatarizer(k=5, seed=1, keep=["site"]).fit(frame)
    reason = twins(avatarizer, encoded(frame), 5)
    assert isinstance(reason, Reason)
    assert reason.key == "no_twins"


def test_by_person_puts_outcomes_in_their_place(folds: tuple[Fold, ...]) -> None:
    outcomes = [(fold.members + 0.5, fold.strangers + 0.25) for fold in folds]
    member, stranger = by_person(folds, outcomes)
    np.testing.assert_array_equal(member, np.arange(ROWS) + 0.5)
    np.testing.assert_array_equal(stranger, np.arange(ROWS) + 0.25)


def test_the_interval_of_a_paired_risk_covers_as_often_as_it_says() -> None:
    """People whose secret is easy are guessed on both sides: a = .5, c = .4, risk 1 / 6."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        easy = rng.random(400) < 0.3
        attack = (easy | (rng.random(400) < 2 / 7)).astype(float)
        control = (easy | (rng.random(400) < 1 / 7)).astype(float)
        _, (low, high) = paired_risk(attack, control)
        covered += low <= 1 / 6 <= high
    assert 925 <= covered <= 970


def test_the_jackknife_of_a_mean_is_its_students_interval() -> None:
    from scipy import stats

    values = np.array([3.0, 5.0, 4.0, 8.0, 5.5])
    left_out = (values.sum() - values) / 4
    expected = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    np.testing.assert_allclose(jackknife_interval(values.mean(), left_out), expected)


def test_what_holds_for_everybody_is_kept_by_a_twin_and_not_looked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    low = [i * 7 % 50 for i in range(ROWS)]
    frame = pl.DataFrame({"low": low, "high": [v + i % 12 for i, v in enumerate(low)]})
    avatarizer = Avatarizer(k=5, seed=1).fit(frame)
    assert avatarizer.plan is not None
    assert avatarizer.plan.constraints
    twin = avatarizer.reseeded(1)
    monkeypatch.setattr("sosie.data.constraints.plan.find_constraints", None)
    twin.fit(avatarizer.originals.take(np.arange(0, ROWS, 2)))
    assert twin.plan is not None
    assert twin.plan.constraints == avatarizer.plan.constraints
    drawn = twin.release()
    assert (drawn["low"] <= drawn["high"]).all()
