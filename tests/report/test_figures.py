"""Figures: what is drawn stands where the numbers say, and is well-formed, whatever the texts."""

from __future__ import annotations

import itertools
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import report_fixture as fixture

from sosie.report.figures.bars import Pair, distribution, outline, paired_bars
from sosie.report.figures.drawing import (
    AVATARS,
    LOOKS,
    ORIGINALS_PALE,
    Figure,
    Scale,
    label_width,
    plain,
    ticks,
)
from sosie.report.figures.heat import DIVERGING, link_map
from sosie.report.figures.rates import Curve, curve
from sosie.report.figures.shares import Share, Shares, shares
from sosie.report.page import figures_of, read_views
from sosie.words import LANGUAGES, load

WORDS = load("en")
SVG = "{http://www.w3.org/2000/svg}"
Rectangle = tuple[float, float, float, float]


def elements(figure: Figure, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(figure.svg).iter(SVG + tag))  # noqa: S314 (our own)


def rectangles(figure: Figure, **look: str) -> list[Rectangle]:
    """Left, top, width and height of the rectangles of a look."""
    found = []
    for path in elements(figure, "path"):
        if all(path.get(key) == value for key, value in look.items()):
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d") or "")]
            found.append((numbers[0], numbers[1], numbers[2], numbers[3]))
    return found


def texts(figure: Figure) -> list[str]:
    return [text.text or "" for text in elements(figure, "text")]


def entry(**more: Any) -> dict[str, Any]:
    return {"column": "x", "kind": "number", "missing": None} | more


def histogram(edges: list[Any], originals: list[Any], avatars: list[Any], **more: Any) -> Figure:
    told = entry(edges=edges, originals=originals, avatars=avatars, **more)
    return distribution(WORDS, shares(WORDS, told))


def every() -> dict[str, Figure]:
    audit = fixture.audit()
    audit["utility"]["predictive_ratio"] = fixture.models()
    views = read_views(WORDS, fixture.run(), audit, fixture.attack(), fixture.tune())
    return figures_of(views)


# ------------------------------------------------------------------------------------- all figures


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_figure_is_well_formed_and_inside_its_frame(language: str) -> None:
    views = read_views(
        load(language), fixture.run(), fixture.audit(), fixture.attack(), fixture.tune()
    )
    for figure in figures_of(views).values():
        frame = ET.fromstring(figure.svg).get("viewBox")  # noqa: S314 (our own)
        assert frame == f"0 0 {figure.width} {figure.height}"
        assert "nan" not in figure.body
        for text in elements(figure, "text"):
            x, width = float(text.get("x") or 0), label_width(text.text or "", 12)
            if text.get("text-anchor") == "end" and text.get("transform") is None:
                assert x - width * float(text.get("font-size", 12)) / 12 > -4, text.text


def test_every_kind_is_there() -> None:
    kinds = {
        "distribution-1", "distribution-8", "distribution-16", "projection", "curve-1",
        "frontier", "panels", "links-difference", "contributions", "prediction",
    }  # fmt: skip
    assert kinds <= set(every())


def test_the_same_numbers_make_the_same_figure() -> None:
    first, second = every(), every()
    assert first == second


def test_hostile_texts_are_text() -> None:
    views = read_views(load("en"), *fixture.hostile(), None)
    for figure in figures_of(views).values():
        tags = {element.tag for element in ET.fromstring(figure.svg).iter()}  # noqa: S314
        assert tags <= {SVG + tag for tag in ("svg", "g", "path", "text", "title")}
    assert plain("a\x00\ud800<b>") == "a\ufffd\ufffd&lt;b&gt;"


# ------------------------------------------------------------------------------ scales and ticks


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 102), (-3.2, 7.9), (1e-9, 5e-9), (1e300, 9e300), (17.5, 92.5)]
)
def test_ticks_are_even_and_inside(low: float, high: float) -> None:
    values = [value for value, _ in ticks(WORDS, low, high)]
    steps = {round((b - a) / (high - low), 6) for a, b in itertools.pairwise(values)}
    assert 2 <= len(values) <= 8
    assert len(steps) == 1
    assert low - (high - low) * 1e-9 <= values[0] <= values[-1] <= high * (1 + 1e-9)


def test_ticks_are_written_in_the_language() -> None:
    assert [label for _, label in ticks(load("fr"), 0, 1, 2)] == ["0,0", "0,5", "1,0"]
    assert [label for _, label in ticks(load("fr"), 0, 4000, 2)][-1] == "4\u202f000"


def test_a_logarithmic_scale_gives_equal_room_to_equal_ratios() -> None:
    scale = Scale(1, 16, 0, 100, log=True)
    assert [scale(value) for value in (1, 2, 4, 16)] == pytest.approx([0, 25, 50, 100])


# --------------------------------------------------------------------------------- distributions


def test_heights_are_shares() -> None:
    figure = histogram([0, 1, 2], [40.0, 10.0], [20.0, 30.0])
    first, second = rectangles(figure, fill=ORIGINALS_PALE)
    assert first[3] / second[3] == pytest.approx(4, rel=0.02)
    assert first[1] + first[3] == pytest.approx(second[1] + second[3], abs=0.2)


def test_areas_of_uneven_bins_are_shares() -> None:
    figure = histogram([0, 1, 2, 6], [20.0, 20.0, 60.0], [1.0] * 3)
    # Half a unit is left between bars.
    bars = rectangles(figure, fill=ORIGINALS_PALE)
    areas = [(width + 0.5) * height for _, _, width, height in bars]
    assert areas[2] / areas[0] == pytest.approx(3, rel=0.03)
    assert "Share (%), bin of 1" in texts(figure)


def test_what_is_hidden_is_not_drawn() -> None:
    figure = histogram([0, 1, 2], [None, 10.0], [20.0, 30.0])
    assert len(rectangles(figure, fill=ORIGINALS_PALE)) == 1
    assert outline([0, 1, 2, 3], [10.0, None, 30.0]) == [
        [(0, 0.0), (0, 10.0), (1, 10.0), (1, 0.0)],
        [(2, 0.0), (2, 30.0), (3, 30.0), (3, 0.0)],
    ]


def test_dates_are_labelled_by_month_or_year() -> None:
    edges = ["2019-01-01", "2019-02-01", "2019-03-01", "2019-04-01"]
    figure = histogram(edges, [30.0, 30.0, 40.0], [30.0, 30.0, 40.0], kind="date")
    assert {"Jan 2019", "Feb 2019", "Mar 2019"} <= set(texts(figure))
    days = ["2026-05-03", "2026-05-04", "2026-05-05"]
    assert WORDS.day("2026-05-03") in texts(
        histogram(days, [50.0, 50.0], [50.0, 50.0], kind="date")
    )


def test_bars_of_levels_are_as_long_as_their_shares() -> None:
    figure = paired_bars(WORDS, [Pair("a", 60.0, 30.0, ""), Pair("b", 40.0, None, "")], "")
    filled, outlined = rectangles(figure, fill=ORIGINALS_PALE), rectangles(figure, stroke=AVATARS)
    assert filled[0][2] / filled[1][2] == pytest.approx(1.5, rel=0.02)
    assert [box[2] / filled[0][2] for box in outlined] == [pytest.approx(0.5, rel=0.02)]


def test_the_share_itself_is_shown_under_a_pointer() -> None:
    figure = distribution(WORDS, Shares("x", (Share("<i>a</i>", 12.34, None),), ()))
    (title,) = elements(figure, "title")
    assert title.text == "<i>a</i>\nOriginals: 12.3%\nAvatars: hidden"


# --------------------------------------------------------------------------------- maps and lines


def test_links_are_coloured_by_their_value() -> None:
    figure = link_map(WORDS, ["a", "b"], [[1.0, -1.0], [None, 0.0]], 1.0)
    colors = [p.get("fill") for p in elements(figure, "path") if p.find(SVG + "title") is not None]
    assert colors == ["#9c3205", "#14598c", "#ffffff"]
    assert [DIVERGING(share) for share in (-1, 2)] == ["#14598c", "#9c3205"]


def test_a_large_map_has_few_elements_and_all_its_squares() -> None:
    size = 60
    matrix = [[(i + j) / (2 * size) for j in range(size)] for i in range(size)]
    figure = link_map(WORDS, [f"c{i}" for i in range(size)], matrix, 1.0)
    paths = elements(figure, "path")
    assert len(paths) < 200
    legend = 21  # colours of the scale above
    assert sum((path.get("d") or "").count("M") for path in paths) == size * size + legend


def test_lines_are_told_apart_without_colour() -> None:
    looks = {(dash, shape) for _, dash, shape in LOOKS}
    assert len(looks) == len(LOOKS)
    lines = [Curve(f"line {n}", (2, 5), (1.0, 2.0), (None, None)) for n in range(len(LOOKS))]
    figure = curve(WORDS, lines, [])
    dashes = {path.get("stroke-dasharray") for path in elements(figure, "path")}
    assert len(dashes) == len(LOOKS)


def test_a_curve_passes_through_its_rates() -> None:
    some = Curve("a", (2, 4, 8), (0.0, 51.0, 102.0), (None, (40.0, 60.0), None))
    lines = [p for p in elements(curve(WORDS, [some], []), "path") if p.get("stroke-width") == "2"]
    (points,) = [p.get("d") or "" for p in lines][1:]  # after the key of the legend
    numbers = [float(number) for number in re.findall(r"[\d.]+", points)]
    xs, ys = numbers[::2], numbers[1::2]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)
