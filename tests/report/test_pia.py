"""The PIA file has the form that the PIA software imports, and says only what was measured."""

from __future__ import annotations

import copy
import html
import json
import re
from typing import Any

import pytest
import report_fixture as fixture

from sosie.report.pia import QUESTIONS, build_pia
from sosie.words import LANGUAGES, load

MEASURED = [111, 121, 122, 123, 213, 321, 322, 323, 324, 325, 326, 335, 345]
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
        assert bool(data["text"]) != bool(data["list"])  # the tool joins both with a stray comma
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


def printed(text: str) -> list[str]:
    """Lines as the PDF of the tool shows a text: tags stripped, nothing decoded but ``&amp;``."""
    return [
        line
        for line in re.sub(r"<[^>]*>", "", text.replace("&amp;", "&")).split("\n")
        if line.strip()
    ]


def test_the_reader_of_the_pdf_sees_a_bad_text() -> None:
    bad = "<p>Stated by the people&#x27;s office</p><ul><li>one</li><li>two</li></ul>"
    assert printed(bad) == ["Stated by the people&#x27;s officeonetwo"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_pdf_shows_one_bullet_a_line_and_no_escaped_quote(lang: str) -> None:
    pia = built(fixture.stated() | {"purpose": 'Teachers\' course & "practice"'}, lang)
    texts = [data["text"] for data in answers(pia).values()]
    texts += [measure["content"] for measure in pia["measures"]]
    for text in texts:
        lines = printed(text)
        assert not any(re.search(r"&#?\w+;", line) for line in lines)
        assert len(lines) == text.count("<p>") + text.count("<li>")
    assert any('Teachers\' course & "practice"' in line for line in printed(texts[0]))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_labels_are_short_distinct_and_without_commas(lang: str) -> None:
    long = "Accounts by name, one for each member of the course, closed after it"
    pia = built({"measures": [long, "Deletion, after the course"]}, lang)
    lists = [data["list"] for data in answers(pia).values() if data["list"]]
    assert lists[-1] == [measure["title"] for measure in pia["measures"]]
    for labels in lists:
        assert len({label[:30] for label in labels}) == len(labels)
        for label in labels:
            assert len(label) <= 45
            assert "," not in label
            assert not re.search(r"\bV[12]\b", label)
    assert any(long in measure["content"] for measure in pia["measures"])


def test_each_rate_stands_beside_its_chance() -> None:
    lines = printed(answers(built())[326]["text"])
    rates = [line for line in lines if "of the people attacked" in line or "stand out" in line]
    assert any("95.8% of the people attacked" in line for line in rates)
    assert all("chance" in line for line in rates)


def test_without_attacks_the_hidden_rate_speaks() -> None:
    found = answers(build_pia(fixture.run(), fixture.audit()))
    assert found[322]["list"] == [load("en")("pia.threats.hidden_rate")]
    assert "11.4% of the people attacked" in found[326]["text"]
    audit = fixture.audit()
    del audit["privacy"]["hidden_rate"]
    (none,) = answers(build_pia(fixture.run(), audit))[322]["list"]
    assert none == load("en")("pia.threat_none")


def test_what_people_stated_arrives_under_its_question() -> None:
    audit = fixture.audit() | {"context": fixture.context()}
    audit["context"]["stated"] |= {
        "retention": "Two years",
        "author": "Ms A",
        "evaluator": "Mr B",
        "validator": "Ms C",
    }
    pia = build_pia(fixture.run(), audit, fixture.attack(), "fr")
    head, found = pia["pia"], answers(pia)
    assert (head["author_name"], head["evaluator_name"]) == ("Ms A", "Mr B")
    assert head["validator_name"] == "Ms C"
    for question, part in (
        (111, "Teaching biostatistics"),
        (111, "course"),
        (111, load("fr")("report.recipients.contract")),
        (111, load("fr")("report.sensitivities.high")),
        (112, "The hospital"),
        (121, "Students of the course, Their teachers"),
        (121, "Two years"),
        (123, "private"),
        (211, "Teaching biostatistics"),
        (326, "A teacher may recognise an unusual profile."),
    ):
        assert part in found[question]["text"], question


def test_only_what_is_missing_is_to_be_completed() -> None:
    words = load("en")
    without_recipients = answers(built({"purpose": "Teaching"}))
    assert words("pia.purpose_missing") not in without_recipients[111]["text"]
    assert words("pia.recipients_missing") in without_recipients[121]["text"]
    without_purpose = answers(built({"recipients": ["Students"]}))
    assert words("pia.purpose_missing") in without_purpose[111]["text"]
    assert words("pia.recipients_missing") not in without_purpose[121]["text"]
    assert 211 not in without_purpose


@pytest.mark.parametrize(("name", "releases"), [("default", 1), ("course", 1), ("course", 4)])
def test_planned_releases_are_those_that_somebody_stated(name: str, releases: int) -> None:
    audit = fixture.audit() | {"context": fixture.context() | {"name": name, "releases": releases}}
    pia = build_pia(fixture.run(), audit)
    expected = load("en").count("measures.releases.text", releases)
    there = [m["content"] for m in pia["measures"] if expected in m["content"]]
    assert len(there) == (name != "default")


def test_nothing_is_said_dropped_where_nothing_was() -> None:
    run = fixture.run()
    run["parameters"] |= {"drop": [], "id": []}
    found = answers(build_pia(run, fixture.audit()))
    assert "No column was left out." in found[213]["text"]
    assert "identifiers" not in found[122]["text"]
    assert "patient_id" in answers(built())[122]["text"]


def test_the_other_two_risks_are_left_and_said_to_be() -> None:
    found = answers(built())
    assert not {331, 332, 333, 334, 336, 341, 342, 343, 344, 346} & set(found)
    for question in (335, 345):
        assert found[question]["gauge"] == 0
        assert "controller" in found[question]["text"]


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
    assert "stated by the controller" in found["text"]


def test_no_level_without_a_mapping_or_a_rate() -> None:
    audit = fixture.audit() | {"context": {"stated": {"likelihood": MAPPING}}}
    for pia in (built({"severity": {"level": "maximal"}}), build_pia(fixture.run(), audit)):
        found = answers(pia)[326]
        assert found["gauge"] == 0
        assert load("en")("pia.likelihood_unset") in html.unescape(found["text"])


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
