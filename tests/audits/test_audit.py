"""The audit as a whole: the contract's keys, controls, strange tables, other people's avatars."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from comparison_cases import people as mixed

from sosie.audits.audit import AuditOptions, audit, measured
from sosie.audits.comparison import Comparison
from sosie.audits.reasons import NO_HOLDOUT, NOT_ALIGNED
from sosie.audits.registry import DEFINITIONS, MEASURES, definition_of
from sosie.audits.results import Audit, Metric
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer


def _all(found: Audit) -> dict[str, Metric]:
    return {**found.privacy, **found.utility}


@pytest.fixture(scope="module")
def found() -> Audit:
    originals = mixed(300)
    avatars = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    return audit(originals, avatars, aligned=True, holdout=mixed(120, seed=2))


def test_every_key_of_the_contract_is_there(found: Audit) -> None:
    assert [*found.privacy, *found.utility] == [definition.key for definition in DEFINITIONS]
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert written["schema"] == "sosie/audit/1"
    assert (written["rows"], written["columns"], written["aligned"]) == (300, 6, True)
    assert (written["avatars"], written["holdout"]) == (300, 120)
    for metric in [*written["privacy"].values(), *written["utility"].values()]:
        assert {
            "value",
            "unit",
            "direction",
            "target",
            "met",
            "reason",
            "criterion",
            "ci",
        } <= metric.keys()
        assert (metric["value"] is None) == (metric["reason"] is not None)


def test_rates_have_intervals_that_hold_them(found: Audit) -> None:
    for key, metric in _all(found).items():
        if metric.value is not None and key not in (
            "column_direct_match_protection",
            "rare_values",
            *found.utility,
        ):
            assert metric.ci is not None, key
            assert metric.ci[0] <= metric.value <= metric.ci[1], key


def test_controls_are_there_with_people_set_aside(found: Audit) -> None:
    with_control = {key for key, metric in _all(found).items() if metric.control is not None}
    assert with_control == {
        "distance_to_closest",
        "closest_distances_ratio",
        "closest_rate",
        "row_direct_match_protection",
        "correlation_protection_rate",
        "linkability",
        "inference",
        "hellinger_mean",
        "association_difference",
        "hellinger_projection",
    }
    assert found.privacy.membership.detail["chance"] == 0.5


def test_case_24_what_can_not_be_computed_says_why() -> None:
    found = audit(mixed(), mixed(150, seed=2))
    reasons = {key: metric.reason for key, metric in _all(found).items() if metric.value is None}
    assert reasons.pop("rare_values") == Reason("no_rare_level", {"k": 5})
    assert reasons.pop("contradictions") == Reason("nothing_held")
    assert {key for key, reason in reasons.items() if reason == NOT_ALIGNED} == {
        definition.key for definition in DEFINITIONS if "aligned" in definition.needs
    }
    assert {key for key, reason in reasons.items() if reason == NO_HOLDOUT} == {
        definition.key for definition in DEFINITIONS if "holdout" in definition.needs
    }
    assert all(reason in (NOT_ALIGNED, NO_HOLDOUT) for reason in reasons.values())


def test_every_metric_stands_alone(found: Audit) -> None:
    originals = mixed(300)
    avatars = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    for key, metric in _all(found).items():
        definition = definition_of(key)
        assert definition is not None
        more = {"holdout": mixed(120, seed=2)} if "holdout" in definition.needs else {}
        alone = MEASURES[key](originals.to_pandas(), avatars.to_arrow(), **more)
        assert alone.value == metric.value, key


def test_the_same_audit_gives_the_same_bytes(found: Audit) -> None:
    originals = mixed(300)
    avatars = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    for threads in (1, 2):
        again = audit(
            originals,
            avatars,
            aligned=True,
            holdout=mixed(120, seed=2),
            options=AuditOptions(threads=threads),
        )
        assert json.dumps(again.to_dict()) == json.dumps(found.to_dict())


def test_some_metrics_alone_and_progress() -> None:
    seen: list[str] = []
    frame = mixed()
    options = AuditOptions(progress=seen.append)
    found = audit(frame, frame, metrics=["hellinger_mean", "closest_rate"], options=options)
    assert seen == ["closest_rate", "hellinger_mean"]
    assert (list(found.privacy), list(found.utility)) == (["closest_rate"], ["hellinger_mean"])


def test_unknown_columns_are_an_error_not_a_missing_value() -> None:
    frame = mixed()
    for option in ("known", "secrets", "outcomes"):
        with pytest.raises(InputError, match="no column 'agee'"):
            audit(frame, frame, options=AuditOptions(**{option: ["agee"]}))


def test_case_03_order_of_columns_changes_no_metric(found: Audit) -> None:
    originals, holdout = mixed(300), mixed(120, seed=2)
    avatars = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    again = audit(
        originals,
        avatars.select(sorted(avatars.columns)),
        aligned=True,
        holdout=holdout.select(sorted(holdout.columns)),
    )
    assert again.to_dict()["privacy"] == found.to_dict()["privacy"]


def test_case_10_a_column_without_any_value_changes_no_metric() -> None:
    originals = mixed(300)
    avatars = Avatarizer(k=5, seed=1).fit(originals).release(shuffle=False)
    empty = pl.lit(None, dtype=pl.Float64).alias("empty")
    plain = _all(audit(originals, avatars, aligned=True))
    more = _all(audit(originals.with_columns(empty), avatars.with_columns(empty), aligned=True))
    for key in plain.keys() - {"correlation_protection_rate", "linkability", "hellinger_mean"}:
        assert more[key].value == pytest.approx(plain[key].value), key


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_few_rows_crash_nothing(rows: int) -> None:
    frame = mixed(rows)
    found = audit(frame, frame, aligned=True, holdout=frame)
    json.dumps(found.to_dict(), allow_nan=False)


SHAPES: Mapping[str, Callable[[], pl.DataFrame]] = {
    "constant": lambda: pl.DataFrame({"a": ["x"] * 60, "b": [1.5] * 60}),
    "one number": lambda: pl.DataFrame({"a": np.arange(60.0)}),
    "one category": lambda: pl.DataFrame({"a": ["x", "y"] * 30}),
    "numbers": lambda: pl.DataFrame(np.random.default_rng(0).normal(size=(60, 4))),
    "more columns than rows": lambda: pl.DataFrame(np.random.default_rng(0).normal(size=(15, 20))),
    "duplicates": lambda: pl.DataFrame(
        {"a": ["x"] * 54 + list("uvwxyz"), "b": [0] * 54 + [*range(6)]}
    ),
    "all missing": lambda: pl.DataFrame({"a": [None] * 60, "b": np.arange(60.0)}),
    "huge": lambda: pl.DataFrame({"a": np.arange(60.0) * 1e300, "b": np.arange(60.0) * 1e-300}),
    "identifiers": lambda: pl.DataFrame({"a": [f"p{i}" for i in range(60)], "b": np.arange(60.0)}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_case_15_strange_tables_give_values_or_reasons(shape: str) -> None:
    frame = SHAPES[shape]()
    for avatars in (frame, frame.reverse()):
        found = audit(frame, avatars, aligned=True, holdout=frame)
        json.dumps(found.to_dict(), allow_nan=False)
        for key, metric in _all(found).items():
            assert (metric.value is None) == (metric.reason is not None), key
    constant = found.privacy.hidden_rate.reason == Reason("nothing_varies")
    assert constant is (shape == "constant")


def test_nothing_about_one_person_is_written() -> None:
    originals = mixed(300).with_columns(
        stage=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("unique")).otherwise(pl.col("stage"))
    )
    found = audit(originals, originals, aligned=True, holdout=originals)
    written = json.dumps(found.to_dict())
    assert "unique" not in written
    assert found.privacy.rare_values.value == 1


def test_a_comparison_is_measured_as_it_is() -> None:
    avatarizer = Avatarizer(k=5, seed=1).fit(mixed())
    comparison = Comparison.of(avatarizer.table, avatarizer.draw(), aligned=True)
    slow = audit(mixed(), avatarizer.release(shuffle=False), aligned=True)
    assert measured(comparison).to_dict()["privacy"] == slow.to_dict()["privacy"]


DRAWN = ((120, 0), (120, 1), (60, 2))  # rows and seed of originals, avatars, holdout


@pytest.fixture(scope="module")
def expected(people: Callable[..., dict[str, list[Any]]]) -> Audit:
    one, other, held = (pl.DataFrame(people(rows, seed), strict=False) for rows, seed in DRAWN)
    return audit(one, other, aligned=True, holdout=held)


def test_every_kind_of_dataframe_scores_the_same(
    backend: Any, people: Callable[..., dict[str, list[Any]]], expected: Audit
) -> None:
    tables = [backend.frame(people(rows, seed), ["stage", "site"]) for rows, seed in DRAWN]
    before = [backend.copy(table) for table in tables]
    found = _all(audit(tables[0], tables[1], aligned=True, holdout=tables[2]))
    for table, copy in zip(tables, before, strict=True):
        assert backend.same(table, copy)  # inputs are not changed
    for key, metric in _all(expected).items():
        if metric.value is None:
            assert found[key].reason == metric.reason
        else:
            assert found[key].value == pytest.approx(metric.value, rel=1e-6), key


@pytest.mark.parametrize("kinds", [("pandas", "polars"), ("pyarrow", "pandas-nullable")])
def test_tables_of_two_kinds_are_compared_by_value(
    kinds: tuple[str, str], people: Callable[..., dict[str, list[Any]]]
) -> None:
    from conftest import BACKENDS

    one, other = (next(b for b in BACKENDS if b.name == kind) for kind in kinds)
    columns = people(120)
    found = audit(one.frame(columns), other.frame(columns), aligned=True)
    for column in found.privacy.column_direct_match_protection.columns:
        assert column["matches"] == 120, column
    assert found.privacy.row_direct_match_protection.value == 0


def test_hidden_rate_of_the_trial(actg175: pl.DataFrame) -> None:
    """100 - HR of the barycentre at k=5: 18 on average, 16.5 to 19.5."""
    avatarizer = Avatarizer(k=5, method="barycentre", seed=1).fit(actg175)
    rates = [
        MEASURES["hidden_rate"](
            Comparison.of(avatarizer.table, avatarizer.draw(r), aligned=True)
        ).value
        for r in range(10)
    ]
    assert 16.5 < 100 - np.mean(np.array(rates, dtype=float)) < 19.5


def test_avatars_of_the_published_engine(actg175: pl.DataFrame, test_data: Any) -> None:
    """Other people's avatars, k=20: one release aligned, then three as augmented data."""
    published = pl.read_csv(test_data / "actg175_avatars_k20_25_releases.csv")
    one = published.filter(pl.col("iter") == 0).select(actg175.columns)
    found = audit(actg175, one, aligned=True)
    assert found.privacy.hidden_rate.value == pytest.approx(93.8, abs=0.2)
    assert found.privacy.column_direct_match_protection.met
    stacked = published.filter(pl.col("iter") < 3).select(actg175.columns)
    three = audit(actg175, stacked, aligned=True, metrics=["hidden_rate", "local_cloaking"])
    assert three.privacy.hidden_rate.value == pytest.approx(96, abs=0.5)
