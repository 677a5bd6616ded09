"""Results: what they say, what they hide, and what JSON can hold."""

import dataclasses
import json

import numpy as np
import pytest

from sosie.audits.definition import Definition
from sosie.audits.results import Audit, Metric, Metrics
from sosie.errors import Reason

RATE = Definition("hidden_rate", "%", "higher", "singling_out", 90.0)
RISK = Definition("linkability", "%", "lower", "linkability")


def test_a_target_is_met_in_the_right_direction() -> None:
    assert RATE.result(90, target=90).met is True
    assert RATE.result(89.999, target=90).met is False
    assert RISK.result(9, target=9).met is True
    assert RISK.result(9.001, target=9).met is False


def test_nothing_is_met_without_a_value_or_a_target() -> None:
    assert RATE.result(95).met is None
    assert RATE.unavailable(Reason("not_run"), target=90).met is None


def test_results_are_frozen() -> None:
    metric = RATE.result(95)
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric.value = 96  # type: ignore[misc]


def test_metrics_are_read_as_attributes_and_by_key() -> None:
    metrics = Metrics([RATE.result(95), RISK.unavailable(Reason("too_few_people"))])
    assert metrics.hidden_rate is metrics["hidden_rate"]
    assert list(metrics) == ["hidden_rate", "linkability"]
    assert len(metrics) == 2
    assert "hidden_rate" in dir(metrics)
    assert "linkability: None" in repr(metrics)
    with pytest.raises(
        AttributeError, match="no metric 'hiden_rate' was measured; there are hidden"
    ):
        _ = metrics.hiden_rate


def test_json_has_null_where_there_is_no_number() -> None:
    metric = RATE.result(
        95,
        detail={"a": np.nan, "b": np.inf, "c": np.int64(3), "d": np.bool_(True), "e": np.arange(2)},
        columns=({"column": 3, "protection": np.float64(1.5)},),
        by_person={"hit": np.zeros(4)},
    )
    audit = Audit(
        4, 1, True, Metrics([metric]), Metrics([RISK.unavailable(Reason("too_few_people"))]), 4
    )
    found = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    rate = found["privacy"]["hidden_rate"]
    assert [rate[key] for key in "abcde"] == [None, None, 3, True, [0, 1]]
    assert rate["columns"] == [{"column": 3, "protection": 1.5}]
    assert found["utility"]["linkability"]["value"] is None


def test_what_is_about_one_person_stays_out_of_json() -> None:
    metric = RATE.result(95, by_person={"hit": np.array([0.0, 1.0])})
    assert "hit" not in json.dumps(metric.to_dict())
    assert metric.per_person()["hit"].to_list() == [0.0, 1.0]


def test_a_metric_has_the_keys_of_the_contract() -> None:
    assert list(RATE.result(81.5, target=90, ci=(79.8, 83.1)).to_dict().items()) == [
        ("value", 81.5),
        ("unit", "%"),
        ("direction", "higher"),
        ("target", 90),
        ("met", False),
        ("reason", None),
        ("criterion", "singling_out"),
        ("ci", [79.8, 83.1]),
    ]


def test_records_become_a_dataframe() -> None:
    frame = Metric(
        "x", 1.0, "%", "higher", "utility", columns=({"column": "a", "n": 1}, {"column": 2, "n": 3})
    ).to_frame()
    assert frame.columns == ["column", "n"]
    assert frame.rows() == [("a", 1), ("2", 3)]
