"""The report says what the JSON files say, as text, in one page that loads nothing."""

from __future__ import annotations

import base64
import copy
import hashlib
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import report_fixture as fixture
from jinja2 import Environment, PackageLoader, nodes

from sosie.errors import InputError
from sosie.report import build, read_folder
from sosie.report.figures.shares import LEVELS_SHOWN, Shares, shares
from sosie.report.policy import template_text
from sosie.report.views.attacks import attack_reading, attacks
from sosie.report.views.columns import columns
from sosie.report.views.metrics import criteria
from sosie.report.views.pictures import distributions
from sosie.words import LANGUAGES, load
from sosie.words.readings import Standing

MEGABYTE = 1_000_000
VOID = {"meta", "input", "br", "link", "img", "use", "path", "rect", "line", "circle"}


class Page(HTMLParser):
    """A page as a browser reads it: elements with attributes, and the text of each."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def find(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self) -> str:
        return " ".join(text for tag, text in self.texts if tag not in {"script", "style"})

    def scripts(self) -> list[str]:
        return [text for tag, text in self.texts if tag == "script"]


@pytest.fixture(scope="module", params=LANGUAGES)
def html(request: pytest.FixtureRequest) -> str:
    return build(
        fixture.run(), fixture.audit(), fixture.attack(), fixture.tune(), lang=request.param
    )


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope="module", params=LANGUAGES)
def hostile(request: pytest.FixtureRequest) -> Page:
    return Page(build(*fixture.hostile(), lang=request.param))


# ------------------------------------------------------------------------------------ one page


def test_size(html: str) -> None:
    assert len(html.encode()) < 0.6 * MEGABYTE


def test_size_with_300_columns() -> None:
    assert len(build(*fixture.wide(300)).encode()) < 3 * MEGABYTE


def test_same_files_same_page(html: str) -> None:
    language = "fr" if '<html lang="fr">' in html else "en"
    assert (
        build(fixture.run(), fixture.audit(), fixture.attack(), fixture.tune(), lang=language)
        == html
    )


def test_arguments_are_not_changed() -> None:
    before = fixture.run(), fixture.audit(), fixture.attack()
    after = copy.deepcopy(before)
    build(*after)
    assert after == before


def test_unknown_language() -> None:
    with pytest.raises(InputError, match="'xx'"):
        build(fixture.run(), fixture.audit(), lang="xx")


def test_nothing_is_loaded(page: Page, html: str) -> None:
    for _, attributes in page.elements:
        assert not attributes.keys() & {"src", "srcset", "data", "action", "poster", "background"}
        assert (attributes.get("href") or "#").startswith("#")
    assert page.find("link") == []
    assert not re.search(r"url\(|@import", template_text("report.css"))


def test_no_inline_event_handlers(page: Page) -> None:
    names = {name for _, attributes in page.elements for name in attributes}
    assert [name for name in names if name.startswith("on")] == []


def test_content_policy_lets_only_our_scripts_run(page: Page) -> None:
    policy = next(
        attributes["content"] or ""
        for attributes in page.find("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    (script,) = page.scripts()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}';" in policy
    assert "unsafe-eval" not in policy


TEMPLATES = Environment(autoescape=True, loader=PackageLoader("sosie.report")).list_templates(
    extensions=["html"]
)


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_hold_no_arithmetic(name: str) -> None:
    tree = Environment(autoescape=True).parse(template_text(name))
    kinds = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow)
    assert list(tree.find_all(kinds)) == []


# ------------------------------------------------------------------------------ for every reader


def test_language_is_declared(page: Page, html: str) -> None:
    assert page.find("html")[0]["lang"] in LANGUAGES
    assert html.startswith("<!DOCTYPE html>")


def test_landmarks(page: Page) -> None:
    for tag in ("header", "nav", "main", "footer"):
        assert len(page.find(tag)) == 1


def test_headings_are_in_order(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    steps = [after - before for before, after in itertools.pairwise(levels)]
    assert max(steps) <= 1


def test_ids_are_unique_and_references_lead_somewhere(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        href = attributes.get("href") or ""
        targets = [href[1:]] if href.startswith("#") else []
        targets += (attributes.get("aria-labelledby") or "").split()
        targets += [attributes["for"]] if attributes.get("for") else []
        assert set(targets) <= set(ids)


def test_skip_link_comes_first(page: Page) -> None:
    assert page.find("a")[0]["href"] == "#content"
    assert page.find("main")[0]["id"] == "content"


def test_tables_have_captions_and_scopes(page: Page) -> None:
    assert len(page.find("caption")) == len(page.find("table"))
    assert all(heading.get("scope") for heading in page.find("th"))


def drawn(page: Page) -> set[str | None]:
    return {a["data-figure"] for a in page.find("div") if "data-figure" in a}


def test_figures_have_a_text_and_a_table(page: Page, html: str) -> None:
    plots = [a for a in page.find("div") if (a.get("class") or "") == "plot"]
    assert len(plots) == len(drawn(page)) == html.count("<svg xmlns=")
    assert all(plot["role"] == "img" and plot["aria-label"] for plot in plots)
    assert len(page.find("figure")) == len(plots)


def test_fields_have_labels(page: Page) -> None:
    labelled = {label.get("for") for label in page.find("label")}
    assert all(field["id"] in labelled for field in page.find("input"))


# ----------------------------------------------------------------------------- everything is text


def test_hostile_texts_are_shown_as_text(hostile: Page) -> None:
    assert len(hostile.find("script")) == 1
    assert hostile.text().count(fixture.HOSTILE) >= 20
    assert fixture.EMOJI in hostile.text()
    assert hostile.find("b") == []
    assert hostile.find("img") == []


def test_whole_number_and_blank_column_names() -> None:
    run, audit = fixture.run(), fixture.audit()
    entries = audit["privacy"]["column_direct_match_protection"]["columns"]
    entries[0]["column"], entries[1]["column"] = 0, " "
    run["columns"][0]["name"] = run["what_if_kept"][0]["column"] = 0
    run["figures"]["distributions"][0]["column"] = 0
    run["figures"]["distributions"][1]["column"] = "a\nb"
    page = Page(build(run, audit))
    assert "(blank)" in page.text()
    assert [a["data-name"] for a in page.find("figure") if "data-name" in a][:2] == ["0", "a\nb"]


def test_a_lone_surrogate_does_not_stop_the_report() -> None:
    run = fixture.run()
    run["data"]["name"] = json.loads(r'"\ud800.csv"')
    assert build(run, fixture.audit()).encode()


# ------------------------------------------------------------------------------- what the page says


def test_the_seed_is_never_shown(html: str) -> None:
    run = fixture.run()
    run["parameters"]["seed"] = run["seed"] = 918_273_645_546
    text = build(run, fixture.audit())
    assert "918273645546" not in text.replace(",", "")


def test_identity(page: Page) -> None:
    text = page.text()
    assert fixture.run()["data"]["fingerprint"] in text
    assert "cohort.csv" in text
    assert "0.1.0" in text


def test_a_target_of_the_context_says_so() -> None:
    words, audit = load("en"), fixture.audit()
    audit["context"] = fixture.context() | {"targets": {"hidden_rate": 50.0}}
    text = Page(build(fixture.run(), audit)).text()
    assert text.count(words("report.metrics.target_context", name="course")) == 1
    assert words("metrics.local_cloaking.source") in text


def test_the_glossary_comes_last(page: Page, html: str) -> None:
    assert html.rindex('<section id="glossary"') > html.rindex('<section id="next"')
    assert len(page.find("dt")) > 12


def test_an_attack_is_told_in_people() -> None:
    text = Page(build(fixture.run(), fixture.audit(), fixture.attack())).text()
    assert "Of 2,000 people attacked, that is 1,916." in text


def test_never_a_verdict_of_anonymity(page: Page) -> None:
    assert "anonym" not in page.text().lower()


def test_a_target_missed_comes_with_ways_to_improve() -> None:
    words = load("en")
    text = Page(build(fixture.run(), fixture.audit())).text()
    assert words("reading.missed", target="at least 90%") in text
    assert text.count(words("advice.raise_k")) >= 2
    assert words("advice.smoothed") not in text


def test_verdicts() -> None:
    words = load("en")
    views = {view.key: view for view in criteria(words, fixture.audit(), {})}
    assert list(views) == ["singling_out", "linkability", "inference", "utility"]
    assert views["singling_out"].standing is Standing.MISSED
    assert views["singling_out"].verdict == (
        "One of the 8 targets is not met: Hidden Rate.",
        "Met by little: Closest rate.",
        "Not computed: Categorical Hidden Rate.",
    )
    assert views["linkability"].standing is Standing.UNTARGETED
    assert views["inference"].standing is Standing.MISSING
    assert views["utility"].standing is Standing.CLEAR
    assert views["utility"].verdict == ("The 2 targets that were measured are met.",)


def test_a_criterion_without_metrics_is_said_not_measured() -> None:
    audit = fixture.audit()
    del audit["privacy"]["correlation_protection_rate"]
    words = load("en")
    view = criteria(words, audit, {})[1]
    assert (view.standing, view.result) == (None, "Not measured")
    assert "Linkability was not measured." in Page(build(fixture.run(), audit)).text()


def test_a_control_is_shown_beside_the_value() -> None:
    audit = fixture.audit()
    audit["privacy"]["hidden_rate"]["control"] = 99.4
    words = load("en")
    text = Page(build(fixture.run(), audit)).text()
    assert words("reading.control", control="99.4%") in text
    assert words("report.metrics.control") in text


def test_the_most_exposed_are_told() -> None:
    words = load("en")
    text = Page(build(fixture.run(), fixture.audit())).text()
    assert words("reading.percentile_5", value="0.07") in text


def test_the_context_that_set_the_targets_is_told() -> None:
    audit = fixture.audit()
    audit["context"] = {
        "name": "registry",
        "recipient": "contract",
        "sensitivity": "high",
        "releases": 3,
    }
    text = Page(build(fixture.run(), audit, lang="fr")).text()
    assert "registry" in text
    assert load("fr")("report.recipients.contract") in text


def test_without_attack() -> None:
    words = load("en")
    page = Page(build(fixture.run(), fixture.audit()))
    assert words("report.limits.no_attack") in page.text()
    assert words("report.summary.attack_none") in page.text()


def test_holdout_is_a_limit_only_where_there_is_none() -> None:
    words, audit = load("en"), fixture.audit()
    missing = words("report.limits.no_holdout")
    assert missing in Page(build(fixture.run(), audit)).text()
    audit["holdout"] = 500
    assert missing not in Page(build(fixture.run(), audit)).text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_avatars_that_were_given_and_an_empty_audit(language: str) -> None:
    run, audit = fixture.run(), fixture.audit()
    run |= {"parameters": {}, "columns": [], "what_if_kept": [], "warnings": []}
    run["figures"] = {"projection": None, "distributions": []}
    audit |= {"privacy": {}, "utility": {}}
    words = load(language)
    text = Page(build(run, audit, lang=language)).text()
    for key in ("metrics", "columns", "projection", "distributions"):
        assert words(f"report.{key}.empty") in text
    assert words("report.identity.unknown_parameters") in text


def test_french_numbers() -> None:
    text = Page(build(fixture.run(), fixture.audit(), lang="fr")).text()
    assert "2\u202f000" in text
    assert "88,6\u202f%" in text


# --------------------------------------------------------------------------------------- columns


def test_columns_are_ranked_and_beside_what_if_kept() -> None:
    run, audit = fixture.run(), fixture.audit()
    entries = audit["privacy"]["column_direct_match_protection"]["columns"]
    entries[0] |= {"protection": 12.0, "below_target": True}
    view = columns(load("en"), run, audit)
    assert [row.name for row in view.rows][:2] == ["site", "department"]
    assert view.rows[0].protection.text == "12.0%"
    assert view.rows[0].nature == "category, kept unchanged"
    assert view.below == ("site",)
    last = view.rows[-1]
    assert (last.name, last.rank.order, last.kept.text, last.kept_below) == (
        "patient_id",
        None,
        "0%",
        True,
    )
    assert any("patient_id" in remark for remark in view.remarks)


# --------------------------------------------------------------------------------- distributions


def entry(**more: Any) -> dict[str, Any]:
    return {"column": "x", "kind": "number", "missing": None} | more


def labels(found: Shares) -> list[str]:
    return [share.label for share in found.rows]


def test_bins_are_labelled_in_the_language() -> None:
    numbers = entry(edges=[0, 2.5, 10], originals=[40.0, 60.0], avatars=[50.0, 50.0])
    assert labels(shares(load("fr"), numbers)) == ["0,0 à 2,5", "2,5 à 10,0"]
    whole = numbers | {"kind": "integer", "edges": [17.5, 18.5, 22.5]}
    assert labels(shares(load("en"), whole)) == ["18", "19 to 22"]
    dates = numbers | {"kind": "date", "edges": ["2026-01-01", "2026-02-01", "2026-03-01"]}
    assert labels(shares(load("fr"), dates))[0] == "01/01/2026 à 01/02/2026"


@pytest.mark.parametrize("edges", [[1e300, 2e300, 3e300], [1e-9, 2e-9, 3e-9]])
def test_extreme_edges_stay_short(edges: list[float]) -> None:
    found = shares(load("en"), entry(edges=edges, originals=[40.0, 60.0], avatars=[50.0, 50.0]))
    assert all(len(label) < 30 for label in labels(found))
    assert len(set(labels(found))) == 2


def test_a_single_value_is_shown_as_a_level() -> None:
    words = load("en")
    found = shares(words, entry(edges=[3, 3], originals=[100.0], avatars=[100.0]))
    assert found.edges is None


def test_many_levels_are_pooled_and_rare_ones_are_not_named() -> None:
    words = load("en")
    n = LEVELS_SHOWN + 5
    levels = entry(
        kind="category",
        levels=[f"level {place}" for place in range(n)],
        originals=[float(n - place) for place in range(n)],
        avatars=[1.0] * n,
        rare_levels=1,
        rare={"originals": 0.2, "avatars": 0.0},
        missing={"originals": 3.0, "avatars": 4.0},
    )
    found = shares(words, levels)
    assert labels(found)[-3:] == [
        "5 other levels",
        "One level held by too few people to be named",
        "Missing",
    ]
    assert found.rows[-3].originals == 15.0
    assert len(found.rows) == LEVELS_SHOWN + 3


def test_levels_pooled_by_the_run_are_added_to_ours() -> None:
    levels = entry(
        kind="category",
        levels=[f"level {place}" for place in range(LEVELS_SHOWN + 1)],
        originals=[5.0] * (LEVELS_SHOWN + 1),
        avatars=[4.0] * (LEVELS_SHOWN + 1),
        other_levels=30,
        other={"originals": 20.0, "avatars": 22.0},
        new_levels=1,
        new={"originals": 0.0, "avatars": 0.3},
    )
    rows = shares(load("en"), levels).rows[-2:]
    assert [(share.label, share.originals, share.avatars) for share in rows] == [
        ("31 other levels", 25.0, 26.0),
        ("one level that no original has", 0.0, 0.3),
    ]


def test_a_column_with_too_few_values_is_said_so() -> None:
    words, run = load("en"), fixture.run()
    run["figures"]["distributions"] = [entry(edges=[], originals=[], avatars=[])]
    page = Page(build(run, fixture.audit()))
    assert words("report.distributions.too_few") in page.text()
    assert not any(str(name).startswith("distribution") for name in drawn(page))


def test_the_largest_gap() -> None:
    numbers = entry(edges=[0, 1, 2], originals=[40.0, None], avatars=[42.5, 90.0])
    found = shares(load("en"), numbers)
    assert found.gap is not None
    assert (found.gap.points, found.gap.label) == (2.5, "0 to 1")
    hidden = shares(load("en"), numbers | {"originals": [None, None]})
    assert hidden.gap is None


def test_hidden_shares_stay_hidden() -> None:
    run = fixture.run()
    first = run["figures"]["distributions"][0]
    first["originals"][2] = None
    words = load("en")
    view = distributions(words, run)[0]
    assert view.rows[2][1] == "hidden"
    assert view.figure is not None
    hidden = words("format.colon", label=words("report.originals"), value="hidden")
    assert hidden not in view.figure.body


# ---------------------------------------------------------------------------------------- attacks


@pytest.mark.parametrize(
    ("rate", "interval", "key"),
    [
        (2.0, None, "reading_chance"),
        (2.1, None, "reading_above"),
        (1.9, [1.2, 3.1], "reading_chance"),
        (2.4, [1.9, 3.1], "reading_unsure"),
        (2.9, [2.0, 3.9], "reading_unsure"),
        (2.9, [2.1, 3.9], "reading_above"),
        (50.0, [48.0, 52.0], "reading_above"),
        (50.1, [48.0, 52.0], "reading_most"),
    ],
)
def test_reading_of_a_rate_at_and_around_thresholds(
    rate: float, interval: list[float] | None, key: str
) -> None:
    words = load("en")
    expected = words(f"attack.{key}", rate=words.value(rate, "%"), chance="2.0%")
    result = {"rate": rate, "ci": interval, "chance": 2.0}
    assert attack_reading(words, result) == expected


def test_curves_have_the_published_line_first_and_levels() -> None:
    view = attacks(load("en"), fixture.attack())
    first = view.curves[0]
    assert first.lines[0].published
    assert first.lines[0].releases == (2, 3, 5, 10, 20, 35, 50, 100)
    for name in ("chance (2.0%)", "article (87.1%)", "geometry, no release needed (6.1%)"):
        assert name in first.figure.body
    assert len(view.curves) == 2


def test_an_attack_without_a_rate_says_why() -> None:
    attack = fixture.attack()
    attack["results"][0] |= {"rate": None, "ci": None, "reason": "all avatars are equal"}
    assert attacks(load("en"), attack).results[0].note == "All avatars are equal."
    assert Page(build(fixture.run(), fixture.audit(), attack)).text().count("All avatars are") == 1


def test_the_strongest_at_each_number_of_releases_is_one_line() -> None:
    attack = fixture.attack()
    attack["results"] = [
        result | ({} if result["estimator"] == "published" else {"chosen_among": 18})
        for result in attack["results"]
        if result["scenario"] == "v1"
    ]
    for place, result in enumerate(attack["results"]):
        if "chosen_among" in result:
            result["attack_components"] = 5 + place
    view = attacks(load("en"), attack)
    labels = [line.label for line in view.curves[0].lines]
    assert labels == ["published, 12 components", load("en")("attack.strongest_line")]
    assert view.curves[0].lines[1].rates[-1] == 95.8


def test_other_components_and_candidates_of_the_published_protocol() -> None:
    words, attack = load("en"), fixture.attack()
    assert attacks(words, attack).varied == ()
    last = next(r for r in attack["results"] if r["releases"] == 100)
    attack["results"] += [last | {"attack_components": 5}, last | {"candidates": 200, "rate": 80.0}]
    varied = attacks(words, attack).varied
    assert [(r.components.text, r.candidates.text) for r in varied] == [
        ("5", "50"),
        ("12", "50"),
        ("12", "200"),
    ]
    assert words("attack.varied") in Page(build(fixture.run(), fixture.audit(), attack)).text()


def test_one_number_of_releases_makes_no_curve() -> None:
    attack = fixture.attack()
    attack["results"] = [result for result in attack["results"] if result["releases"] in {0, 100}]
    view = attacks(load("en"), attack)
    assert view.curves == ()
    assert Page(build(fixture.run(), fixture.audit(), attack))


# ----------------------------------------------------------------------------------------- folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (
        ("run", fixture.run()),
        ("audit", fixture.audit()),
        ("attack", fixture.attack()),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def change(folder: Path, name: str, **more: Any) -> None:
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | more), encoding="utf-8")


def fault(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_folder(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_folder_is_read(folder: Path) -> None:
    assert read_folder(folder) == (fixture.run(), fixture.audit(), fixture.attack(), None, None)
    assert build(*read_folder(folder), lang="fr")


def test_attack_may_be_absent(folder: Path) -> None:
    (folder / "attack.json").unlink()
    assert read_folder(str(folder)).attack is None


def test_a_sweep_in_the_folder_is_shown(folder: Path) -> None:
    (folder / "tune.json").write_text(json.dumps(fixture.tune()))
    found = read_folder(folder)
    assert found.tune == fixture.tune()
    assert "is k = 10, smoothed." in Page(build(*found)).text()


@pytest.mark.parametrize("changes", [{"rows": 7}, {"columns": 7}])
def test_a_sweep_of_another_table(folder: Path, changes: dict[str, int]) -> None:
    (folder / "tune.json").write_text(json.dumps(fixture.tune() | changes))
    assert "tune.json" in fault(folder)


def test_a_newer_or_broken_sweep(folder: Path) -> None:
    for content in ("{", json.dumps(fixture.tune() | {"schema": "sosie/tune/2"})):
        (folder / "tune.json").write_text(content)
        assert "tune.json" in fault(folder)


def test_no_folder(tmp_path: Path) -> None:
    assert "nowhere" in fault(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["run.json", "audit.json"])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert name in fault(folder)


@pytest.mark.parametrize("name", ["run.json", "audit.json", "attack.json"])
def test_a_truncated_file(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text(path.read_text()[:200], encoding="utf-8")
    message = fault(folder)
    assert name in message
    assert "truncated" in message


@pytest.mark.parametrize("content", ["", "[]", "null", '{"schema": "sosie/run/1"}', "{} {}", "NaN"])
def test_a_file_that_is_something_else(folder: Path, content: str) -> None:
    (folder / "run.json").write_text(content, encoding="utf-8")
    assert "run.json" in fault(folder)


def test_a_file_that_is_not_text(folder: Path) -> None:
    (folder / "audit.json").write_bytes(b"\xff\xfe\x00")
    assert "audit.json" in fault(folder)


def test_a_folder_in_the_place_of_a_file(folder: Path) -> None:
    (folder / "attack.json").unlink()
    (folder / "attack.json").mkdir()
    assert "attack.json" in fault(folder)


@pytest.mark.parametrize("name", ["run", "audit", "attack"])
def test_a_newer_schema(folder: Path, name: str) -> None:
    change(folder, f"{name}.json", schema=f"sosie/{name}/2")
    message = fault(folder)
    assert f"{name}.json" in message
    assert "newer" in message


@pytest.mark.parametrize("schema", [None, 1, "other/run/1", "sosie/run/", "sosie/run/x"])
def test_another_schema(folder: Path, schema: object) -> None:
    change(folder, "run.json", schema=schema)
    assert "schema" in fault(folder)


def test_no_number_that_json_does_not_have(folder: Path) -> None:
    change(folder, "audit.json", rows=float("nan"))
    assert "NaN" in fault(folder)


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("run.json", {"data": {"name": "a", "rows": 3}}, "data.columns"),
        ("run.json", {"data": "a.csv"}, "'data' should be an object"),
        ("run.json", {"columns": [{}]}, "columns[0].name"),
        ("run.json", {"columns": ["a"]}, "'columns[0]' should be an object"),
        ("run.json", {"version": 1}, "'version' should be text"),
        ("run.json", {"figures": {}}, "figures.distributions"),
        ("audit.json", {"privacy": {"hidden_rate": 81}}, "'privacy.hidden_rate' should be"),
        ("audit.json", {"privacy": {"hidden_rate": {"value": "81"}}}, "privacy.hidden_rate.value"),
        ("attack.json", {"results": None}, "'results' should be a list"),
        ("attack.json", {"strongest": {"v1": {"rate": True}}}, "strongest.v1.rate"),
    ],
)
def test_a_fault_inside_is_named(
    folder: Path, name: str, changes: dict[str, Any], told: str
) -> None:
    change(folder, name, **changes)
    message = fault(folder)
    assert name in message
    assert told in message
