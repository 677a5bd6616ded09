"""Actors, context, likelihood and measures: each rate beside chance, nothing made up."""

from __future__ import annotations

from typing import Any

import pytest
import report_fixture as fixture
from report.test_page import Page

from sosie.audits.account import Account, Likelihood, Severity
from sosie.report import build
from sosie.report.account import context, likelihood, stated
from sosie.report.actors import ActorView, actors
from sosie.report.safeguards import safeguards
from sosie.words import LANGUAGES, load


def view(attack: fixture.Json | None, audit: fixture.Json | None = None) -> dict[str, ActorView]:
    found = actors(load("en"), audit or fixture.audit(), attack)
    return {actor.key: actor for actor in found}


# ------------------------------------------------------------------------------------------ actors


def test_published_stands_beside_strongest() -> None:
    row = view(fixture.attack())["controller"].rows[0]
    assert row.published is not None
    assert row.strongest is not None
    assert (row.article, row.published.rate.text, row.strongest.rate.text) == (
        "article, another table: 87.1%",
        "88.2%",
        "95.8%",
    )
    assert row.strongest.how == "pooled; 100 releases"
    assert row.strongest.chance.text == "2.0%"


def test_one_profile_is_the_complement_of_the_hidden_rate() -> None:
    profile = view(fixture.attack())["profile"]
    assert profile.strongest is not None
    assert profile.strongest.rate.text == "11.4%"
    assert profile.strongest.chance.text == "0.05%"
    without = view(None)["profile"]
    assert without.strongest is not None
    assert without.strongest.rate.text == "11.4%"
    assert without.strongest.interval == "10.1% to 12.9%"


def test_the_strongest_scenario_of_an_actor_counts() -> None:
    attack = fixture.attack()
    attack["results"].append(attack["results"][0] | {"scenario": "insert", "rate": 17.0})
    profile = view(attack)["profile"]
    assert profile.strongest is not None
    assert profile.strongest.rate.text == "17.0%"
    assert profile.reading == profile.rows[-1].reading != ""


def test_what_was_not_run_says_how_to_run_it() -> None:
    columns = view(fixture.attack())["columns"]
    assert columns.strongest is None
    assert columns.rows[0].missing.endswith("--scenario partial.")
    assert ": not measured." in Page(build(fixture.run(), fixture.audit())).text()


def test_partial_knowledge_tells_how_much() -> None:
    attack = fixture.attack()
    attack["results"].append(
        attack["results"][0] | {"scenario": "partial", "rate": 4.0, "known": 6, "releases": 0}
    )
    columns = view(attack)["columns"]
    assert columns.strongest is not None
    assert columns.strongest.how == "published; no release needed; 6 columns known"


def test_a_scenario_that_is_not_known_is_the_controllers() -> None:
    attack = fixture.attack()
    attack["results"].append(attack["results"][0] | {"scenario": "new", "rate": 99.0})
    assert [row.key for row in view(attack)["controller"].rows] == ["v1", "new"]


def test_a_rate_that_could_not_be_measured_is_none() -> None:
    attack = fixture.attack()
    attack["strongest"]["v2"] |= {"rate": None, "reason": "all equal"}
    for result in attack["results"]:
        if result["scenario"] == "v2":
            result["rate"] = None
    row = view(attack)["file"].rows[0]
    assert row.strongest is None
    assert row.published is None


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_rate_of_the_summary_stands_beside_chance(lang: str) -> None:
    words = load(lang)
    page = Page(build(fixture.run(), fixture.audit(), fixture.attack(), lang=lang))
    lines = [text for _, text in page.texts if words("actors.controller.name") in text]
    rated = [line for line in lines if "95" in line]
    assert rated
    assert all(words("attack.chance") in line for line in rated)


# ----------------------------------------------------------------------------------------- context


def test_what_is_not_stated_is_to_be_completed() -> None:
    rows = context(load("en"), {"context": {}}, Account())
    assert all(row.answers == () for row in rows)
    text = Page(build(fixture.run(), fixture.audit())).text()
    assert text.count(load("en")("report.next.to_complete")) >= len(rows)


def test_what_is_stated_is_shown_as_written() -> None:
    audit = fixture.audit() | {"context": fixture.context()}
    text = Page(build(fixture.run(), audit)).text()
    for part in ("Teaching biostatistics", "The hospital", "Their teachers", "Accounts by name"):
        assert part in text
    assert "A teacher may recognise an unusual profile." in text


# -------------------------------------------------------------------------------------- likelihood


def read(rate: float, ends: list[float] | None = None, **changes: Any) -> Any:
    audit = fixture.audit()
    audit["privacy"]["hidden_rate"] |= {"value": 100 - rate, "ci": ends}
    account = Account(likelihood=Likelihood(5, 9, 33, "profile"), **changes)
    words = load("en")
    return likelihood(words, account, actors(words, audit, None))


@pytest.mark.parametrize(
    ("rate", "gauge"), [(4.0, 1), (5.0, 1), (5.5, 2), (9.0, 2), (9.5, 3), (33.0, 3), (34.0, 4)]
)
def test_level_at_and_around_each_stated_bound(rate: float, gauge: int) -> None:
    found = read(rate)
    assert found.gauge == gauge
    assert [here for _, _, here in found.levels] == [place == gauge for place in (1, 2, 3, 4)]


def test_an_interval_that_reaches_the_next_level_is_told() -> None:
    words = load("en")
    reaches = words("report.likelihood.result_reaches", level=words("levels.limited"))
    assert reaches in read(4.0, [94.9, 97.0]).texts
    assert reaches not in read(4.0, [95.0, 97.0]).texts


def test_no_mapping_no_level() -> None:
    words = load("en")
    found = likelihood(words, Account(), actors(words, fixture.audit(), fixture.attack()))
    assert (found.gauge, found.levels) == (0, ())
    assert found.texts == (words("report.likelihood.none"),)
    assert found.severity == words("report.likelihood.severity_none")


def test_a_mapping_for_an_attack_that_was_not_run_gives_no_level() -> None:
    words = load("en")
    account = Account(likelihood=Likelihood(5, 9, 33, "columns"))
    found = likelihood(words, account, actors(words, fixture.audit(), fixture.attack()))
    assert found.gauge == 0
    assert found.texts[-1] == words("report.likelihood.result_none")


def test_severity_is_only_stated() -> None:
    found = read(4.0, severity=Severity("maximal", "Health"))
    assert (found.severity_gauge, found.severity_why) == (4, "Health")


# ---------------------------------------------------------------------------------------- measures


def test_measures_come_from_the_parameters() -> None:
    words, audit = load("en"), fixture.audit() | {"context": fixture.context()}
    titles = [m.title for m in safeguards(words, fixture.run(), audit, stated(audit))]
    assert titles == [
        "Mixture of 5 people",
        "Smoothing",
        "Rare levels withheld",
        "Columns left out",
        "Shuffled rows",
        "Secret seed",
        "Number of releases",
        "Accounts by name",
    ]


def test_barycentres_are_not_said_to_be_smoothed() -> None:
    words, run = load("en"), fixture.run()
    run["parameters"] |= {"method": "barycentre", "min_level_count": 1, "drop": []}
    titles = [m.title for m in safeguards(words, run, fixture.audit(), Account())]
    assert titles == ["Mixture of 5 people", "Shuffled rows", "Secret seed"]


def test_nothing_is_said_of_avatars_that_were_given() -> None:
    run = fixture.run()
    run["parameters"] = {}
    assert safeguards(load("en"), run, fixture.audit(), Account()) == ()
