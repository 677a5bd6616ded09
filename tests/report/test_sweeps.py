"""The section on settings says what ``tune.json`` says, and which setting to take."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import report_fixture as fixture
from report.test_page import Page

from sosie.report import build_attacks, build_sweep
from sosie.report.views.sweeps import SHOWN, sweep
from sosie.tuning import Tuning
from sosie.words import load


@pytest.fixture
def told() -> fixture.Json:
    return copy.deepcopy(fixture.tune())


def rejudged(told: fixture.Json, **targets: float | None) -> fixture.Json:
    return Tuning.from_dict(told).judged(targets).to_dict()


def test_the_cheapest_is_named_with_its_rate_and_chance(told: fixture.Json) -> None:
    view = sweep(load("en"), told)
    assert view.readings[0] == (
        "The cheapest setting that meets every target of protection is k = 10, smoothed. "
        "Highest rate of an attacker: 9.0% (chance: 0.05%). Utility lost: 0.25."
    )
    assert view.readings[1].startswith("These lose about as little")
    assert (
        ": k = 20, smoothed. Of all of them, k = 20, smoothed leaves attackers least: 5.9%"
        in (view.readings[1])
    )
    assert view.readings[2].startswith("What the targets cost, compared with the setting that")
    assert "Hellinger 0.02 → 0.025" in view.readings[2]
    assert [row.chosen for row in view.rows].count(True) == 1
    assert view.advice == ()


@pytest.mark.parametrize(("target", "k"), [(90.99, 10), (91.0, 10), (91.01, 20)])
def test_the_cheapest_at_and_around_a_target(told: fixture.Json, target: float, k: int) -> None:
    view = sweep(load("en"), rejudged(told, hidden_rate=target))
    assert f"is k = {k}, smoothed." in view.readings[0]


def test_where_none_meets_the_targets_it_says_what_would_help(told: fixture.Json) -> None:
    words = load("fr")
    view = sweep(words, rejudged(told, hidden_rate=99.0))
    (reading,) = view.readings
    assert reading == (
        "Aucun des réglages essayés n’atteint toutes les cibles de protection. Le plus proche "
        "est k = 20, lissée, qui manque\u00a0: Dissimulation."
    )
    assert 2 <= len(view.advice) <= 3
    assert view.advice[0] == words("advice.raise_k")


def test_no_cost_where_the_best_meets_all(told: fixture.Json) -> None:
    words = load("en")
    view = sweep(words, rejudged(told, hidden_rate=None))
    assert view.readings[-1] == words("tuning.cost_nothing")


def test_a_half_done_sweep_says_so(told: fixture.Json) -> None:
    words = load("en")
    told["wanted"] = 16
    assert words("tuning.partial", done=6, wanted=16) in sweep(words, told).intro


def test_a_setting_that_failed_stands_in_the_table_only(told: fixture.Json) -> None:
    told["trials"][0] |= {"metrics": {}, "reason": "the largest k is 9"}
    view = sweep(load("en"), told)
    row = view.rows[0]
    assert row.result == "Not possible: the largest k is 9"
    assert (row.frontier, row.meets, row.risk.order) == (False, False, None)
    assert view.frontier is not None
    assert view.frontier.body.count("<title>") == 5


def test_nothing_measured_draws_nothing(told: fixture.Json) -> None:
    for trial in told["trials"]:
        trial |= {"metrics": {}, "reason": "no"}
    view = sweep(load("en"), told)
    assert view.figures == {}
    assert view.readings == (load("en")("tuning.none_measured"),)
    assert Page(build_sweep(told, "x.csv"))


def test_lines_are_told_apart_without_colour(told: fixture.Json) -> None:
    view = sweep(load("en"), told)
    assert view.frontier is not None
    # A shape's outline after its first point; keys of the legend and points have the same.
    shapes = set(re.findall(r'd="M[^lha]*([lha][^"]*z)" fill="#', view.frontier.body))
    assert len(shapes) == 2


def test_every_number_of_the_table_is_that_of_the_file(told: fixture.Json) -> None:
    words = load("en")
    view = sweep(words, told)
    for row, trial in zip(view.rows, told["trials"], strict=True):
        shown = [key for key in SHOWN if key in trial["metrics"]]
        for (cell, _), key in zip(row.cells, shown, strict=True):
            assert cell.order == trial["metrics"][key]["value"]
        assert row.risk.order == trial["risk"]
        assert row.loss.order == trial["loss"]


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_a_page_of_its_own(told: fixture.Json, lang: str) -> None:
    page = Page(build_sweep(told, "cohort.csv", lang))
    assert "cohort.csv" in page.text()
    drawn = [a["data-figure"] for a in page.find("div") if "data-figure" in a]
    assert drawn == ["frontier", "panels"]


def test_a_page_on_attacks() -> None:
    page = Page(build_attacks(fixture.attack(), "cohort.csv", "fr"))
    assert "Attaques contre les avatars de cohort.csv" in page.text()


def test_hostile_texts_are_shown_as_text(told: fixture.Json) -> None:
    bad: dict[str, Any] = {"metrics": {}, "method": fixture.HOSTILE, "reason": fixture.HOSTILE}
    told["trials"][0] |= bad
    told["trials"][1] |= {"method": fixture.HOSTILE}
    html = build_sweep(told, fixture.HOSTILE)
    page = Page(html)
    assert fixture.HOSTILE not in html
    assert page.text().count(fixture.HOSTILE) >= 3
