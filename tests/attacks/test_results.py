"""Rates, intervals, precision by coverage and the shape of attack.json."""

import json

import numpy as np
import pytest

from sosie.attacks.decisions import Verdict
from sosie.attacks.results import (
    PUBLISHED,
    AttackReport,
    AttackResult,
    halves,
    precision_by_coverage,
    spread,
)
from sosie.audits.intervals import clopper_pearson_upper, wilson
from sosie.errors import Reason

KNOWN = {
    "scenario": "v1",
    "estimator": "published",
    "decision": "likelihood",
    "attack_components": 12,
    "releases": 20,
    "candidates": 50,
}


def result(rank: list[int], margin: list[float] | None = None, **more) -> AttackResult:
    margins = np.array(margin or range(len(rank), 0, -1), dtype=float)
    return AttackResult.of(Verdict(np.array(rank), margins), **{**KNOWN, **more})


def test_rates_by_hand():
    found = result([0, 0, 3, -1, 7, 0, 4, 0])
    assert found.rate == 50
    assert found.recall == pytest.approx(87.5)
    assert found.top5 == 75
    assert found.chance == pytest.approx(87.5 / 50)  # a blind choice among his 50 candidates
    assert found.targets == 8
    low, high = wilson(4, 8)
    assert found.ci == pytest.approx((100 * low, 100 * high))
    assert found.upper == pytest.approx(100 * clopper_pearson_upper(4, 8))


@pytest.mark.parametrize("decision", ["likelihood-all", "one-to-one"])
def test_chance_of_who_may_name_anyone_is_one_in_all(decision: str):
    found = result([0, 0, 3, -1], decision=decision, candidates=200)
    assert found.chance == 0.5


def test_keys_are_those_of_the_contract():
    told = result([0, 1]).to_dict()
    wanted = {*KNOWN, "rate", "ci", "chance", "recall", "targets"}
    assert wanted <= set(told)
    assert "known" not in told
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_none_has_a_reason_and_no_number():
    told = AttackResult.none("v2", "published", Reason("no_generator")).to_dict()
    assert told["reasons"] == [{"key": "no_generator", "values": {}}]
    assert all(told[name] is None for name in ("rate", "ci", "upper", "chance", "recall", "top5"))
    json.dumps(told, allow_nan=False)


def test_precision_for_who_speaks_only_when_sure():
    ranks = [0] * 10 + [1] * 90
    margins = list(range(100, 0, -1))
    found = dict(precision_by_coverage(Verdict(np.array(ranks), np.array(margins, float))))
    assert found[10] == 100
    assert found[50] == 20
    assert found[100] == 10


def test_equal_margins_share_their_hits():
    verdict = Verdict(np.array([0, 1, 1, 1]), np.zeros(4))
    assert {share for _, share in precision_by_coverage(verdict)} == {25.0}
    reverse = Verdict(verdict.rank[::-1], verdict.margin)
    assert precision_by_coverage(reverse) == precision_by_coverage(verdict)


def test_infinite_margins_are_surest():
    verdict = Verdict(np.array([1, 0]), np.array([1.0, np.inf]))
    assert dict(precision_by_coverage(verdict))[50] == 100


def test_halves_are_disjoint_and_whole():
    first, second = halves(7)
    assert (first ^ second).all()
    assert first.sum() == 3


def test_spread_of_repeats():
    told = spread([10.0, 14.0])
    assert told["mean"] == 12
    assert told["sd"] == pytest.approx(2.83)
    assert (told["low"], told["high"]) == (10, 14)
    assert spread([5.0])["sd"] is None


def test_report_and_its_curve():
    results = [
        result([0, 1], releases=2),
        result([0, 0], releases=2, estimator="pooled", chosen_among=9),
        result([0, 1], releases=5),
        result([1, 1], releases=5, estimator="pooled", chosen_among=9),
        AttackResult.none("v2", "published", Reason("no_generator")),
    ]
    report = AttackReport(2, {"k": 5}, tuple(results), {"v1": results[1]})
    told = report.to_dict()
    assert told["schema"] == "sosie/attack/1"
    assert told["published"] == PUBLISHED
    assert told["components"] is None
    assert told["strongest"]["v1"]["rate"] == 100
    assert [(p["releases"], p["published"], p["strongest"]) for p in told["curves"]["v1"]] == [
        (2, 50.0, 100.0),
        (5, 50.0, 0.0),
    ]
    assert "v2" not in told["curves"]
    json.dumps(told, allow_nan=False)
