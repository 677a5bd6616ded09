"""The registry: every metric declares itself, once, and its catalogue has its words."""

from pkgutil import iter_modules

import numpy as np
import polars as pl
import pytest
from comparison_cases import people

import sosie
from sosie.audits import privacy, utility
from sosie.audits.audit import AuditOptions
from sosie.audits.comparison import Comparison
from sosie.audits.privacy.rare_values import rare_values
from sosie.audits.reasons import NOT_ALIGNED
from sosie.audits.registry import CRITERIA, DEFINITIONS, MEASURES, definition_of
from sosie.words import LANGUAGES, load

CONTRACT = {
    *("column_direct_match_protection", "hidden_rate", "local_cloaking", "distance_to_closest"),
    *("closest_distances_ratio", "closest_rate", "row_direct_match_protection"),
    *("categorical_hidden_rate", "correlation_protection_rate", "linkability", "inference"),
    *("membership", "hellinger_mean", "association_difference", "hellinger_projection"),
    "predictive_ratio",
}
"""Keys that other programs read: none may go."""

SINGLING_OUT = {
    definition.key: MEASURES[definition.key]
    for definition in DEFINITIONS
    if definition.criterion == "singling_out"
}


def test_no_key_of_the_contract_is_gone() -> None:
    assert {*MEASURES} >= CONTRACT


def test_every_module_is_a_metric_named_after_it() -> None:
    modules = {m.name for room in (privacy, utility) for m in iter_modules(room.__path__)}
    assert modules == {definition.key for definition in DEFINITIONS}
    for criterion, room in (("privacy", privacy), ("utility", utility)):
        for module in iter_modules(room.__path__):
            definition = definition_of(module.name)
            assert definition is not None
            assert (definition.criterion == "utility") is (criterion == "utility")


def test_every_metric_is_a_public_name() -> None:
    for key, measure in MEASURES.items():
        assert getattr(sosie, key) is measure
        assert key in sosie.__all__


def test_metrics_are_shown_by_criterion_and_place() -> None:
    places = [(CRITERIA.index(d.criterion), d.place, d.key) for d in DEFINITIONS]
    assert places == sorted(places)


def test_options_are_there_and_targets_have_a_direction() -> None:
    for definition in DEFINITIONS:
        assert AuditOptions().of(*definition.options).keys() == {*definition.options}
        assert definition.direction in ("higher", "lower")
        assert (definition.gathered == "counts") is (definition.count is not None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_metric_has_its_words(language: str) -> None:
    words = load(language)
    for definition in DEFINITIONS:
        assert f"metrics.{definition.key}.name" in words, definition.key
        assert all(f"advice.{name}" in words for name in definition.advice), definition.key
        if definition.swept is not None:
            assert f"tuning.short.{definition.key}" in words, definition.key


def test_targets_are_those_in_use() -> None:
    assert {d.key: d.target for d in DEFINITIONS if d.target is not None} == {
        "column_direct_match_protection": 50,
        "hidden_rate": 90,
        "local_cloaking": 5,
        "distance_to_closest": 0.2,
        "closest_distances_ratio": 0.3,
        "closest_rate": 90,
        "row_direct_match_protection": 90,
        "categorical_hidden_rate": 90,
        "rare_values": 0,
        "contradictions": 0.0,
        "hellinger_mean": 0.1,
        "association_difference": 0.1,
    }


def test_what_needs_alignment_says_so() -> None:
    found = Comparison.of(people(), people(150, seed=2))
    for key, metric in SINGLING_OUT.items():
        result = metric(found)
        definition = definition_of(key)
        assert definition is not None
        assert (result.reason == NOT_ALIGNED) is ("aligned" in definition.needs), key


@pytest.mark.parametrize("key", SINGLING_OUT)
def test_the_leak_dial_moves_each_metric_one_way(key: str, dialled: list[Comparison]) -> None:
    values = np.array([SINGLING_OUT[key](comparison).value for comparison in dialled], dtype=float)
    if key == "rare_values":
        values = -values
    assert (np.diff(values) <= 1e-9).all(), values
    assert values[0] > values[-1]


def test_copies_score_worst() -> None:
    originals = people().with_columns(id=pl.int_range(200).cast(pl.String))
    found = Comparison.of(originals, originals, aligned=True)
    for key in SINGLING_OUT.keys() - {"categorical_hidden_rate", "rare_values"}:
        assert SINGLING_OUT[key](found).value == pytest.approx(0, abs=1e-12), key
    assert rare_values(found).value == 200


def test_names_of_levels_change_nothing() -> None:
    rare = pl.when(pl.int_range(pl.len()) < 2).then(pl.lit("rare")).otherwise(pl.col("stage"))
    one, other = (people(seed=s).with_columns(stage=rare) for s in (1, 2))
    swap = {"I": "zz", "II": "aa", "III": "mm"}
    renamed = Comparison.of(
        *(frame.with_columns(pl.col("stage").replace(swap)) for frame in (one, other)), aligned=True
    )
    plain = Comparison.of(one, other, aligned=True)
    for key, metric in SINGLING_OUT.items():
        assert metric(renamed).value == pytest.approx(metric(plain).value), key
