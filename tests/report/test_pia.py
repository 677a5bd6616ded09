"""The PIA file has the form that the PIA software imports, and says only what was measured."""

from __future__ import annotations

import copy
import html
import json
from typing import Any

import pytest
import report_fixture as fixture

from sosie.report.pia import QUESTIONS, build_pia
from sosie.words import LANGUAGES, load

MEASURED = [111, 121, 122, 213, 321, 322, 323, 324]
LISTS = {321, 322, 323, 324}
HEAD = {
    "name", "author_name", "evaluator_name", "validator_name", "category", "dpo_status",
    "dpo_opinion", "dpos_names", "people_names", "concerned_people_opinion",
    "concerned_people_status", "concerned_people_searched_opinion",
    "concerned_people_searched_content", "rejection_reason", "applied_adjustments", "status",
    "created_at",
}  # fmt: skip
MAPPING = {"negligible": 5, "limited": 9, "important": 33, "holder": "controller"}


def built(stated: dict[str, Any] | None = None, lang: str = "en") -> dict[str, Any]:
    audit = fixture.audit()
    if stated is not None:
        audit["context"] = {"releases": 2, "stated": stated}
    return build_pia(fixture.run(), audit, fixture.attack(), lang)


def answers(pia: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {answer["reference_to"]: answer["data"] for answer in pia["answers"]}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "stated", [None, {"likelihood": MAPPING, "severity": {"level": "limited", "why": "Old data"}}]
)
def test_form(lang: str, stated: dict[str, Any] | None) -> None:
    pia = json.loads(json.dumps(built(stated, lang), allow_nan=False))
    assert list(pia) == ["pia", "answers", "measures", "evaluations", "comments"]
    assert set(pia["pia"]) >= HEAD
    assert pia["evaluations"] == pia["comments"] == []
    for answer in pia["answers"]:
        assert {"id", "pia_id", "reference_to", "data", "created_at", "updated_at"} == set(answer)
        assert answer["reference_to"] in QUESTIONS
        data = answer["data"]
        assert set(data) == {"text", "gauge", "list"}
        assert isinstance(data["text"], str)
        assert type(data["gauge"]) is int
        assert 0 <= data["gauge"] <= 4
        assert isinstance(data["list"], list)
        assert all(isinstance(item, str) and item for item in data["list"])
        assert bool(data["list"]) == (answer["reference_to"] in LISTS)
        assert data["text"] or data["list"]
    for measure in pia["measures"]:
        assert {"id", "pia_id", "title", "content", "placeholder", "created_at"} == set(measure)
    for things in (pia["answers"], pia["measures"]):
        assert len({thing["id"] for thing in things}) == len(things)
        assert {thing["pia_id"] for thing in things} == {pia["pia"]["id"]}
    numbers = [answer["reference_to"] for answer in pia["answers"]]
    assert len(set(numbers)) == len(numbers)


def test_only_what_was_measured_is_answered() -> None:
    assert sorted(answers(built())) == MEASURED


def test_opinions_and_validation_are_left_to_people() -> None:
    head = built()["pia"]
    for key in HEAD - {"name", "status", "created_at"}:
        assert head[key] in ("", None)
    assert head["status"] == 0


def test_measures_are_those_of_question_324() -> None:
    pia = built({"measures": ["Accounts by name"]})
    titles = [measure["title"] for measure in pia["measures"]]
    assert answers(pia)[324]["list"] == titles
    assert "Mixture of 5 people" in titles
    assert "Accounts by name" in titles


def test_each_rate_stands_beside_its_chance() -> None:
    threats = answers(built())[322]["list"]
    assert any("95.8% of targets" in threat for threat in threats)
    assert all("chance" in threat for threat in threats)


def test_without_attacks_the_hidden_rate_speaks() -> None:
    pia = build_pia(fixture.run(), fixture.audit())
    (threat,) = answers(pia)[322]["list"]
    assert "11.4% of targets" in threat
    audit = fixture.audit()
    del audit["privacy"]["hidden_rate"]
    (none,) = answers(build_pia(fixture.run(), audit))[322]["list"]
    assert none == load("en")("pia.threat_none")


@pytest.mark.parametrize(
    ("rate", "gauge"),
    [(4.9, 1), (5.0, 1), (5.1, 2), (9.0, 2), (9.1, 3), (33.0, 3), (33.1, 4), (99.0, 4)],
)
def test_likelihood_at_and_around_each_stated_bound(rate: float, gauge: int) -> None:
    attack = fixture.attack()
    attack["strongest"]["v1"]["rate"] = rate
    audit = fixture.audit() | {"context": {"stated": {"likelihood": MAPPING}}}
    found = answers(build_pia(fixture.run(), audit, attack))[326]
    assert found["gauge"] == gauge
    assert "that you stated" in found["text"]


def test_no_likelihood_without_a_mapping_or_a_rate() -> None:
    assert 326 not in answers(built({"severity": {"level": "maximal"}}))
    assert 326 not in answers(
        build_pia(
            fixture.run(),
            fixture.audit() | {"context": {"stated": {"likelihood": MAPPING}}},
        )
    )


def test_severity_is_that_which_was_stated() -> None:
    found = answers(built({"severity": {"level": "important", "why": "Health data"}}))[325]
    assert found["gauge"] == 3
    assert "Health data" in found["text"]


def test_avatars_given_as_a_file() -> None:
    run = fixture.run()
    run["parameters"] = {"keep": [], "drop": [], "id": []}
    pia = build_pia(run, fixture.audit(), None, "fr")
    assert pia["measures"] == []
    told = html.unescape(answers(pia)[122]["text"])
    assert load("fr")("report.identity.unknown_parameters") in told


def test_hostile_texts_stay_texts() -> None:
    run, audit, attack = copy.deepcopy(fixture.hostile())
    audit["context"] |= {"stated": {"purpose": fixture.HOSTILE, "measures": [fixture.HOSTILE]}}
    pia = build_pia(run, audit, attack)
    for data in answers(pia).values():
        assert "<script" not in data["text"]
    for measure in pia["measures"]:
        assert "<script" not in measure["content"]
