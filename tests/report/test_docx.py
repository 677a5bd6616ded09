"""The document has the sections, tables and figures of the page, as text that can be edited."""

from __future__ import annotations

import base64
import io
import re
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
import report_fixture as fixture

from sosie.errors import InputError
from sosie.report import build_docx
from sosie.report.page import CHAPTERS, HEADINGS, figures_of, read_views
from sosie.report.stills import still
from sosie.words import load

docx = pytest.importorskip("docx")

SIGNS = {"decimal": ",", "thousands": "\u202f"}
PNG = b"\x89PNG\r\n"


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(autouse=True, scope="module")
def no_drawing() -> Iterator[None]:
    """Images are dots, drawn in no time; the tests of images draw them themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sosie.report.stills.still", lambda *_: DOT)
        yield


def small(run: fixture.Json) -> fixture.Json:
    """Fewer distributions: each is an image to be drawn."""
    run["figures"]["distributions"] = run["figures"]["distributions"][:2]
    return run


def whole(lang: str = "en") -> Any:
    audit = fixture.audit() | {"context": fixture.context()}
    audit["utility"]["predictive_ratio"] = fixture.models()
    made = build_docx(small(fixture.run()), audit, fixture.attack(), fixture.tune(), lang)
    return docx.Document(io.BytesIO(made))


@pytest.fixture(scope="module")
def document() -> Any:
    return whole("fr")


def texts(document: Any) -> str:
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells])


def test_every_section_of_the_page_is_there(document: Any) -> None:
    words = load("fr")
    headings = [p.text for p in document.paragraphs if p.style.name == "Heading 1"]
    assert headings == [words(HEADINGS.get(key, f"report.{key}.heading")) for key in CHAPTERS]


def test_figures_are_those_of_the_page_with_a_text(document: Any) -> None:
    audit = fixture.audit() | {"context": fixture.context()}
    audit["utility"]["predictive_ratio"] = fixture.models()
    views = read_views(load("fr"), small(fixture.run()), audit, fixture.attack(), fixture.tune())
    described = re.findall(r'<wp:docPr[^>]* descr="([^"]+)"', document.element.xml)
    assert len(described) == len(figures_of(views))
    assert all(described)


def test_rates_stand_beside_chance(document: Any) -> None:
    assert re.search(r"95,8\s%.*hasard\s: 2,0\s%", texts(document))


def test_what_people_stated_is_there(document: Any) -> None:
    found = texts(document)
    for part in ("Teaching biostatistics", "Accounts by name", "Old data", "Our policy"):
        assert part in found


def test_no_author_is_made_up(document: Any) -> None:
    core = document.core_properties
    assert (core.author, core.comments, core.last_modified_by or "") == ("", "", "")
    assert core.title.startswith("Avatars de cohort.csv")


def test_hostile_texts_are_text() -> None:
    run, audit, attack = fixture.hostile()
    run["figures"]["distributions"] = run["figures"]["distributions"][:1]
    run["data"]["name"] = 'a\x00b\ud800 $x_1$ & "c" 🩺'
    made = build_docx(run, audit, attack)
    found = texts(docx.Document(io.BytesIO(made)))
    assert fixture.HOSTILE in found
    assert 'a\ufffdb\ufffd $x_1$ & "c" 🩺' in found
    names = zipfile.ZipFile(io.BytesIO(made)).namelist()
    assert not any("vba" in name.lower() for name in names)


def test_without_attack_sweep_or_context() -> None:
    made = build_docx(small(fixture.run()), fixture.audit())
    found = texts(docx.Document(io.BytesIO(made)))
    words = load("en")
    assert words("report.summary.attack_none") in found
    assert words("tuning.empty") in found
    assert words("report.likelihood.none") in found


def test_the_numbers_of_distributions_drawn_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(build_docx.__globals__, "_MOST_DISTRIBUTIONS", 1)
    made = build_docx(small(fixture.run()), fixture.audit())
    assert load("en")("report.docx.figures", n=1) in texts(docx.Document(io.BytesIO(made)))


@pytest.mark.parametrize("missing", ["docx", "matplotlib"])
def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError, match=r"sosie\[docx\]") as caught:
        build_docx(fixture.run(), fixture.audit())
    assert missing in str(caught.value)


def test_every_kind_of_figure_is_drawn() -> None:
    audit = fixture.audit()
    audit["utility"]["predictive_ratio"] = fixture.models()
    views = read_views(load("en"), fixture.run(), audit, fixture.attack(), fixture.tune())
    figures = figures_of(views)
    kinds = {
        "distribution-1", "distribution-8", "distribution-16", "projection", "curve-1",
        "frontier", "panels", "links-difference", "space", "contributions", "prediction",
    }  # fmt: skip
    assert kinds <= set(figures)
    for key in sorted(kinds):
        assert still(figures[key], 300, SIGNS).startswith(PNG)


def test_the_same_figure_is_the_same_image() -> None:
    views = read_views(load("en"), fixture.run(), fixture.audit(), fixture.attack(), None)
    figure = figures_of(views)["curve-1"]
    assert still(figure, 300, SIGNS) == still(figure, 300, SIGNS)
