"""The results of a study in the report: verdicts in words, forest plots, curves, pairs."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import report_fixture as fixture

from sosie.errors import InputError
from sosie.report import build, build_analyses, build_docx, read_folder
from sosie.report.figures.drawing import AVATARS, ORIGINALS, Figure
from sosie.report.figures.forest import ForestLine, Point, forest
from sosie.report.figures.survival import Steps, survival
from sosie.report.views.analyses import AnalysesView, analyses
from sosie.words import LANGUAGES, load

WORDS = load("en")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def view() -> AnalysesView:
    return analyses(WORDS, fixture.analyses())


def paths(figure: Figure, color: str) -> list[list[tuple[float, float]]]:
    """Points of the lines of a colour."""
    root = ET.fromstring(figure.svg)  # noqa: S314 (our own)
    found = []
    for path in root.findall(f"{SVG}path"):
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", path.get("d") or "")]
        if path.get("stroke") == color and path.get("fill") == "none":
            found.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return found


def texts(figure: Figure) -> list[str]:
    return [text.text or "" for text in ET.fromstring(figure.svg).iter(f"{SVG}text")]  # noqa: S314


def spaced(text: str) -> str:
    return text.replace("\u00a0", " ")


# ---------------------------------------------------------------- words


def test_ratios_are_shown_as_ratios_with_two_digits_of_the_interval(view: AnalysesView) -> None:
    first = view.studies[0].terms[0]
    (own, interval), (their, _) = first.cells[:2]
    assert spaced(first.label) == "arm = 1"
    assert (own.text, interval) == ("0.50", "0.37 to 0.67")  # exp of -0.7, -1 and -0.4
    assert their.text == f"{math.exp(-0.6):.2f}"
    assert [cell.text for cell, _ in first.cells[2:]] == ["60.0%", "−1.20", "2 of 3"]
    slope, interval = view.studies[2].terms[0].cells[0]
    assert (slope.text, interval) == ("0.020", "0.010 to 0.030")


def test_verdicts_are_words_and_what_has_none_says_why(view: AnalysesView) -> None:
    terms = view.studies[0].terms
    verdicts = [term.verdict for term in terms]
    assert verdicts == ["confirmed", "compatible", "contradicted", "no estimate"]
    assert terms[3].note == "The avatars have no 4 in arm."
    assert "Fewer than 10 of the originals" in view.studies[1].terms[0].note
    assert "No estimate: single has one value only." in view.studies[3].notes
    assert view.studies[4].notes[1:] == (
        "Left out for a missing value: 3 and 9.",
        "2 groups of too few people are left out and not named.",
    )


def test_the_first_page_names_what_disagrees_and_the_pairs(view: AnalysesView) -> None:
    agree, contradicted, compatible, blank, refused, screen = map(spaced, view.summary)
    assert agree == "3 of 5 terms of the analyses lie in the interval of the originals."
    assert contradicted.startswith("Contradicted by the avatars: arm = 3 (survival days, dead")
    assert "arm = 0 (mean stay by arm)" in contradicted
    assert "arm = 2 (survival" in compatible
    assert "arm = 4 (survival" in blank
    assert refused == "Not analysed: dead ~ single."
    assert screen.startswith("Of 120 figures of pairs of columns, 3 changed")
    assert [spaced(pair) for pair in view.worst] == [
        "stay where ward is north: mean 0.40 → 0.25 (−0.31)",
        "stay = 1 where ward is north: 40.0% → 25.0% (−0.31)",
        "stay along ward: slope 0.40 → 0.25 (−0.31)",
    ]


def test_a_page_without_a_list_says_so() -> None:
    told = fixture.analyses() | {"analyses": []}
    view = analyses(WORDS, told)
    assert view.intro == (WORDS("analyses.none"),)
    assert len(view.summary) == 1
    screen = told["screen"] | {"changed": 0}
    (line,) = analyses(WORDS, told | {"screen": screen}).summary
    assert line.startswith("None of 120 figures")


def test_a_small_cell_is_not_shown(view: AnalysesView) -> None:
    blank, shown = view.studies[1].cells
    assert blank[2:] == ("hidden", "5")
    assert shown[2:] == ("40", "41")


def test_the_log_rank_test_is_a_sentence(view: AnalysesView) -> None:
    said = spaced(view.studies[0].log_rank)
    assert "χ² = 4.2, p = 0.040 on originals; χ² = 13.5, p < 0.001 on avatars" in said
    assert "(medians of 2 releases)" in said


# ---------------------------------------------------------------- figures


def test_estimates_stand_where_the_axis_says(view: AnalysesView) -> None:
    """Distances along a logarithmic axis are differences of logarithms."""
    figure = view.studies[0].forest
    assert figure is not None
    (low, high), (next_low, next_high) = paths(figure, ORIGINALS)[:2]
    per_unit = (high[0] - low[0]) / 0.6
    assert (next_high[0] - next_low[0]) / per_unit == pytest.approx(0.49, abs=0.01)
    assert (next_low[0] - low[0]) / per_unit == pytest.approx(0.5, abs=0.01)
    assert texts(figure).count("contradicted") == 1


def test_slopes_are_drawn_in_standard_errors(view: AnalysesView) -> None:
    figure = view.studies[2].forest
    assert figure is not None
    assert "in standard errors of the originals" in " ".join(texts(figure))
    (own,) = paths(figure, ORIGINALS)
    (other,) = paths(figure, AVATARS)
    assert (own[1][0] - own[0][0]) / (other[1][0] - other[0][0]) == pytest.approx(2 / 2.6, abs=0.02)


def test_an_endless_interval_ends_in_an_arrow() -> None:
    usual = ForestLine("a", Point(1.0, 0.8, 1.2), Point(1.1, 0.9, 1.4), "", "")
    endless = ForestLine("b", Point(1.0, 0.7, 1.3), Point(1.2, 0.0, math.inf), "", "")
    figure = forest(WORDS, [usual, endless], log=True, nothing=1.0, title="")
    assert "inf" not in figure.body
    assert "nan" not in figure.body
    arrows = [line for line in paths(figure, AVATARS) if len(line) == 3]
    assert len(arrows) == 2
    places = [x for line in paths(figure, AVATARS) for x, _ in line]
    assert max(places) <= figure.width


@pytest.mark.parametrize("value", [1e-12, 1.0, 1e12])
def test_a_lone_estimate_of_any_size_is_drawn(value: float) -> None:
    one = ForestLine("a", Point(value, value / 2, value * 2), None, "", "")
    for log in (True, False):
        figure = forest(WORDS, [one], log=log, nothing=None, title="")
        assert texts(figure)[-1] == ""
        assert "nan" not in figure.body


def test_a_curve_holds_its_value_until_the_next_time() -> None:
    ours = Steps([0.0, 10.0, 20.0], [1.0, 0.8, 0.6], [(1.0, 1.0), (0.7, 0.9), (0.5, 0.7)])
    ended = Steps([0.0, 10.0, 20.0], [1.0, 0.9, None], [(1.0, 1.0), (0.8, 1.0), None])
    figure = survival(WORDS, ours, ended, least=0.0, last=20.0, title="days")
    own, other = paths(figure, ORIGINALS)[0], paths(figure, AVATARS)[0]
    assert [x for x, _ in own][1] == [x for x, _ in own][2]  # it falls where the time stands
    assert own[0][1] == own[1][1]
    assert own[3][1] == own[2][1]
    fall = (own[2][1] - own[1][1], own[4][1] - own[3][1])
    assert fall[0] == pytest.approx(fall[1], abs=0.2)
    assert len(other) == 3  # it ends where nobody is left


def test_every_figure_stays_in_its_frame() -> None:
    for language in LANGUAGES:
        for figure in analyses(load(language), fixture.analyses()).figures.values():
            for path in (ORIGINALS, AVATARS):
                for x, y in (point for line in paths(figure, path) for point in line):
                    assert -1 <= x <= figure.width
                    assert -10 <= y <= figure.height


# ---------------------------------------------------------------- where it stands


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_and_document_have_it(language: str) -> None:
    told, words = fixture.analyses(), load(language)
    html = build(fixture.run(), fixture.audit(), lang=language, analyses=told)
    assert html.count('data-figure="analysis-') == 5  # three forests, two curves
    assert words("analyses.question") in html
    assert "survival days, dead ~ arm" in html
    small = fixture.run()
    small["figures"]["distributions"] = small["figures"]["distributions"][:1]
    pytest.importorskip("docx")
    assert build_docx(small, fixture.audit(), lang=language, analyses=told).startswith(b"PK")


def test_a_run_without_analyses_says_what_to_do() -> None:
    assert "sosie analyses ORIGINAL AVATARS" in build(fixture.run(), fixture.audit())


def test_hostile_texts_are_text() -> None:
    told = fixture.analyses()
    evil = "<script>alert(1)</script>"
    told["analyses"][0]["text"] = told["analyses"][0]["outcome"] = evil
    told["analyses"][0]["terms"][0]["factors"][0]["column"] = evil
    told["analyses"][0]["curves"][0]["group"] = evil
    told["screen"]["worst"][0]["outcome"] = evil
    assert evil not in build_analyses(told, evil)


def put(folder: Path, told: Any) -> None:
    for name, content in (("run", fixture.run()), ("audit", fixture.audit()), ("analyses", told)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def test_a_folder_s_analyses_are_read_and_checked(tmp_path: Path) -> None:
    put(tmp_path, fixture.analyses())
    assert read_folder(tmp_path).analyses == fixture.analyses()
    put(tmp_path, fixture.analyses() | {"analyses": [{"text": 3}]})
    with pytest.raises(InputError, match=r"analyses\.json: 'analyses\[0\].text' should be text"):
        read_folder(tmp_path)
