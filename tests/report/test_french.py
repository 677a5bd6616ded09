"""The French page as a reader finds it: no English, French signs, no sentence that was a fault."""

from __future__ import annotations

import re
from typing import Any

import pytest
import report_fixture as fixture
from french_reader import FRENCH, Reader, faults, strings, words_of

from sosie.cli import terminal
from sosie.errors import Reason
from sosie.report import build, build_analyses, build_attacks, build_pia, build_sweep


def whole(**changes: Any) -> tuple[str, set[str]]:
    """The French page of a run with everything in it, and the words of its table."""
    run, audit, attack = fixture.run(), fixture.audit(), fixture.attack()
    audit |= {"context": fixture.context()}
    audit["utility"]["predictive_ratio"] = fixture.models()
    run["warnings"] = [
        {"key": "some_attacked", "values": {"attacked": 1000, "people": 2000}},
        "column 'age' holds whole numbers that are all distinct; if it is an identifier, drop it",
    ]
    attack["results"][0] |= {
        "rate": None,
        "ci": None,
        "reasons": [{"key": "two_releases", "values": {}}],
    }
    for key, change in changes.items():
        {"run": run, "audit": audit, "attack": attack}[key].update(change)
    figures = [entry | {"kind": ""} for entry in run["figures"]["distributions"]]
    names = [*strings([c["name"] for c in run["columns"]]), run["data"]["name"]]
    told = fixture.analyses()
    known = words_of([*names, *strings([figures, audit["context"], told])])
    return build(run, audit, attack, fixture.tune(), told, lang="fr"), known


def text_of(html: str) -> str:
    return re.sub(r"[ \n]+", " ", " ".join(Reader(html).texts))


# ------------------------------------------------------------ the reader itself


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("<p>La graine stays here.</p>", "English: stays"),
        ('<p title="Targets met">Oui.</p>', "English: targets"),
        ("<p>Rapport prédictif: il faut</p>", "no space"),
        ("<p>50\u202f%; cible</p>", "no space"),
        ("<p>Pourquoi?</p>", "no space"),
        ("<p>Pourquoi ?</p>", "may break"),
        (r"<p>au moins 90\xa0%</p>", "escaped"),
        (r"<p>2\u202f000 personnes</p>", "escaped"),
        ("<p>l’avatar</p><p>d'une personne</p>", "apostrophe"),
    ],
)
def test_the_reader_sees_a_bad_page(bad: str, fault: str) -> None:
    assert any(fault in found for found in faults(bad))


@pytest.mark.parametrize(
    "good",
    [
        "<p>Taux de dissimulation (Hidden Rate)\u00a0: l’avatar\u202f; à 10:30, 2,5.</p>",
        "<p><bdi>Targets: don't</bdi></p>",
        '<ul lang="en"><li>Nothing to say; really?</li></ul>',
        "<p>sosie attack DATA --holdout</p>",
    ],
)
def test_the_reader_passes_a_good_page(good: str) -> None:
    assert faults(good) == []


# ------------------------------------------------------------ the whole page


def test_the_page_reads_as_french() -> None:
    html, known = whole()
    assert faults(html, known) == []


def test_pages_of_their_own_read_as_french() -> None:
    assert faults(build_sweep(fixture.tune(), "cohort.csv", "fr"), {"cohort"}) == []
    assert faults(build_attacks(fixture.attack(), "cohort.csv", "fr"), {"cohort"}) == []
    told = fixture.analyses()
    known = words_of(strings([told["analyses"], told["screen"]])) | {"cohort"}
    assert faults(build_analyses(told, "cohort.csv", "fr"), known) == []


def test_a_page_without_attack_context_or_value_reads_as_french() -> None:
    run, audit = fixture.run(), fixture.audit()
    run["warnings"] = []
    known = words_of(strings([run["figures"]["distributions"], run["columns"]])) | {"cohort", "csv"}
    assert faults(build(run, audit, lang="fr"), known) == []


@pytest.mark.parametrize(
    "fault",
    [
        "Cibles non toutes atteintes",
        "contexte contexte",
        "contexte default",
        "% des cibles",
        "{rate} des cibles",
        "tombe juste",
        "Qui pourrait être",
        "Laissé hors des avatars",
        "Absent des avatars",
        "tirés de rien",
        "demandent JavaScript",
        "se dessine quand",
        "molette",
        "Et maintenant",
        "que vous énoncez",
        "Corrélation entre deux groupes",
        "obtiennent",
        "au plus fort",
        "ne coûtent rien",
        "0,0 point",
    ],
)
def test_what_readers_stumbled_over_is_gone(fault: str) -> None:
    html, _ = whole()
    assert fault not in text_of(html)
    assert not any(fault in text for text in FRENCH.texts.values())


# ------------------------------------------------------------ sentences that fit values


def measured(key: str, **change: Any) -> str:
    audit = fixture.audit()
    audit["privacy"].setdefault(
        key, audit["privacy"]["hidden_rate"] | {"criterion": "membership"}
    ).update(change)
    return text_of(build(fixture.run(), audit, lang="fr"))


def test_no_rare_level_is_said_so() -> None:
    found = measured("rare_values", value=0, target=0, met=True)
    assert "Aucune modalité rare n’apparaît parmi les avatars. C’est la cible." in " ".join(
        found.split()
    )
    assert "est nettement atteinte" not in re.findall(r"modalité rare[^.]*\.[^.]*\.", found)[0]


def test_all_and_none_are_words() -> None:
    found = measured("closest_rate", value=100.0, ci=[99.8, 100.0], met=True)
    assert "Aucun avatar ne désigne un original en particulier." in found
    assert "0\u202f% en désignent" not in found


def test_membership_under_one_half_is_told() -> None:
    area = {"unit": "area", "direction": "lower", "target": None, "met": None}
    below = measured("membership", value=0.42, ci=[0.38, 0.46], **area)
    assert "L’aire sous la courbe est de 0,42 (hasard\u00a0: 0,5)" in below
    assert "moins bien que le hasard" in below
    near = measured("membership", value=0.49, ci=[0.45, 0.53], **area)
    assert "moins bien que le hasard" not in near


def test_a_control_is_of_people_set_aside() -> None:
    found = measured("hidden_rate", control=99.4)
    assert "Pour les personnes mises de côté, la valeur est de 99,4\u202f%." in found


def test_no_gap_is_no_number() -> None:
    run = fixture.run()
    first = run["figures"]["distributions"][0]
    first["avatars"] = list(first["originals"])
    assert "Aucun écart." in text_of(build(run, fixture.audit(), lang="fr"))


def test_the_context_stands_in_quotes_and_the_default_is_no_name() -> None:
    assert "le contexte «\u00a0course\u00a0»" in text_of(whole()[0])
    default = {"name": "default", "recipient": "public", "sensitivity": "ordinary", "releases": 1}
    html, _ = whole(audit={"context": default})
    assert "Aucun contexte n’a été énoncé" in text_of(html)
    assert "default" not in text_of(html)


def test_warnings_are_french_and_an_unknown_one_says_its_language() -> None:
    html, _ = whole()
    assert "1\u202f000 personnes sur 2\u202f000 ont été visées, tirées au hasard." in html
    unknown, known = whole(run={"warnings": ["a note of tomorrow"]})
    assert '<li lang="en"><bdi class="name">A note of tomorrow' in unknown
    assert faults(unknown, known) == []


# ------------------------------------------------------------ one story


def test_people_set_aside_are_not_said_to_be_replaced() -> None:
    html, _ = whole(audit={"rows": 1700, "avatars": 1700, "holdout": 300})
    assert (
        "300 ont été mises de côté, pour servir de témoins\u202f; les 1\u202f700 autres ont été"
        in text_of(html)
    )
    assert "Toutes ont été remplacées" not in text_of(html)
    assert "Toutes ont été remplacées" in text_of(whole()[0])


def test_a_plan_that_nobody_stated_is_no_measure() -> None:
    default = {"name": "default", "recipient": "public", "sensitivity": "ordinary", "releases": 1}
    assert FRENCH.count("measures.releases.text", 1) not in text_of(
        whole(audit={"context": default})[0]
    )
    told = text_of(whole(audit={"context": fixture.context() | {"releases": 3}})[0])
    assert FRENCH.count("measures.releases.text", 3) in told


def test_one_attacker_is_the_strongest() -> None:
    found = text_of(whole()[0])
    assert found.count("L’attaquant le plus fort parmi ceux qui visent des personnes") == 1


# ------------------------------------------------------------ the terminal, the impact assessment


def test_the_terminal_shows_french_spaces_and_names(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.sweep_table(fixture.tune(), "fr")
    terminal.attack_table(fixture.attack(), "fr")
    terminal.written("publish", "avatars.csv", "publish_note", "fr")
    terminal.notes([Reason("known_columns_constant")], "fr")
    out, err = capsys.readouterr()
    assert faults(f"<pre>{out}</pre><pre>{err}</pre>", {"csv"}) == []
    assert "\u202f%" in out
    assert "régularisé" in out
    assert err.startswith("remarque\u00a0: Aucune")


def test_what_would_command_the_terminal_is_still_escaped() -> None:
    assert terminal.printable("a\u00a0\x1b[31m\u202e") == "a\u00a0\\x1b[31m\\u202e"


def test_the_impact_assessment_reads_as_french() -> None:
    run, audit = fixture.run(), fixture.audit() | {"context": fixture.context()}
    pia = build_pia(run, audit, fixture.attack(), "fr")
    texts = [answer["data"]["text"] for answer in pia["answers"]]
    texts += [f"<p>{label}</p>" for answer in pia["answers"] for label in answer["data"]["list"]]
    texts += [measure["content"] for measure in pia["measures"]]
    names = strings([c["name"] for c in run["columns"]])
    known = words_of([*names, *strings(audit["context"])]) | {"cohort", "csv"}
    assert faults("".join(texts), known) == []
