"""The document has the sections, tables and figures of the page, as text that can be edited."""

from __future__ import annotations

import base64
import io
import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
import report_fixture as fixture

from sosie.errors import InputError
from sosie.report import build_docx
from sosie.report.document import raster
from sosie.report.figures.drawing import Figure
from sosie.report.page import CHAPTERS, HEADINGS, figures_of, read_views
from sosie.words import load

docx = pytest.importorskip("docx")

PNG = b"\x89PNG\r\n"


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(autouse=True, scope="module")
def no_drawing() -> Iterator[None]:
    """Images are dots, drawn in no time; the tests of images draw them themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sosie.report.document.raster", lambda *_: DOT)
        yield


def small(run: fixture.Json) -> fixture.Json:
    """Fewer distributions: each is an image to be drawn."""
    run["figures"]["distributions"] = run["figures"]["distributions"][:2]
    return run


def whole(lang: str = "en") -> Any:
    audit = fixture.audit() | {"context": fixture.context()}
    audit["utility"]["predictive_ratio"] = fixture.models()
    made = build_docx(small(fixture.run()), audit, fixture.attack(), fixture.tune(), lang=lang)
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


@pytest.mark.parametrize("missing", ["docx", "resvg_py"])
def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError, match=r"sosie\[docx\]") as caught:
        build_docx(fixture.run(), fixture.audit())
    assert missing in str(caught.value)


def test_old_programs_are_given_twice_the_points_of_a_screen() -> None:
    drawn = Figure(100, 50, '<path d="M0 0h50v50h-50z" fill="#b8480a"/>')
    image, blank = raster(drawn.svg, 100), raster(Figure(100, 50, "").svg, 100)
    assert image.startswith(PNG)
    assert struct.unpack(">II", image[16:24]) == (200, 100)
    assert image != blank
    assert raster(drawn.svg, 100) == image


def test_the_lines_of_a_figure_are_those_of_the_page(document: Any) -> None:
    stream = io.BytesIO()
    document.save(stream)
    archive = zipfile.ZipFile(stream)
    kept = [archive.read(n).decode() for n in archive.namelist() if n.endswith(".svg")]
    audit = fixture.audit() | {"context": fixture.context()}
    audit["utility"]["predictive_ratio"] = fixture.models()
    views = read_views(load("fr"), small(fixture.run()), audit, fixture.attack(), fixture.tune())
    assert sorted(kept) == sorted(figure.svg for figure in figures_of(views).values())
    types = archive.read("[Content_Types].xml").decode()
    assert types.count("image/svg+xml") >= 1


def test_headings_of_tables_come_again_on_each_page(document: Any) -> None:
    tables = [table for table in document.tables if table.style.name == "Table Grid"]
    assert tables
    for table in tables:
        assert table.rows[0]._tr.trPr.xpath("w:tblHeader")
        assert not any(row._tr.xpath("w:trPr/w:tblHeader") for row in table.rows[1:])
