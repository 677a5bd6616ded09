"""The catalogues agree with each other, and what they say fits the number."""

from __future__ import annotations

import re
from string import Formatter
from typing import Any

import pytest

from sosie.attacks import laboratory
from sosie.audits.registry import DEFINITIONS, definition_of
from sosie.errors import InputError
from sosie.words import LANGUAGES, Words, load
from sosie.words.readings import (
    Standing,
    advice,
    example,
    meaning,
    reading,
    reason,
    sentence,
    standing,
)

METRICS = tuple(definition.key for definition in DEFINITIONS)
SCENARIOS = ("v1", "v2", "nearest", "insert", "partial")
ESTIMATORS = [name for name in laboratory.ESTIMATORS if name != "all"]
DEFAULTS = {"method": "smoothed", "decode": "draw", "keep": []}


@pytest.fixture(params=LANGUAGES)
def words(request: pytest.FixtureRequest) -> Words:
    return load(request.param)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_no_key_lacks_a_language() -> None:
    english, french = load("en"), load("fr")
    assert set(english.texts) == set(french.texts)
    assert set(english.lists) == set(french.lists)


def test_placeholders_are_the_same_in_both_languages() -> None:
    english, french = load("en").texts, load("fr").texts
    differ = [key for key in english if placeholders(english[key]) != placeholders(french[key])]
    assert differ == []


def test_lists_have_the_same_length_in_both_languages() -> None:
    english, french = load("en").lists, load("fr").lists
    assert {key: len(texts) for key, texts in english.items()} == {
        key: len(texts) for key, texts in french.items()
    }


def test_no_text_is_empty_or_untidy(words: Words) -> None:
    untidy = [
        key
        for key, text in words.texts.items()
        if key != "format.thousands" and (not text or text != text.strip() or "  " in text)
    ]
    assert untidy == []


def test_long_texts_are_translated() -> None:
    english, french = load("en").texts, load("fr").texts
    same = [key for key, text in english.items() if text == french[key] and text.count(" ") > 3]
    assert same == []


def test_french_has_no_breaking_space_before_high_punctuation() -> None:
    texts = [*load("fr").texts.values(), *(t for lst in load("fr").lists.values() for t in lst)]
    assert [text for text in texts if re.search(r" [:;!?%»]|« ", text)] == []


def test_nothing_declares_data_anonymous(words: Words) -> None:
    texts = [*words.texts.values(), *(text for texts in words.lists.values() for text in texts)]
    assert [text for text in texts if "anonym" in text.lower()] == []


@pytest.mark.parametrize("key", METRICS)
def test_each_metric_is_described(words: Words, key: str) -> None:
    for part in ("name", "unit", "definition", "direction", "means", "source"):
        assert f"metrics.{key}.{part}" in words
    assert words(f"metrics.{key}.definition").count(". ") <= 2


@pytest.mark.parametrize("key", METRICS)
@pytest.mark.parametrize("parameters", [{}, DEFAULTS])
def test_each_metric_can_be_improved_in_two_or_three_ways(
    words: Words, key: str, parameters: dict[str, Any]
) -> None:
    definition = definition_of(key)
    assert definition is not None
    names = advice(definition.advice, parameters)
    assert 2 <= len(names) <= 3
    assert all(f"advice.{name}" in words for name in names)


@pytest.mark.parametrize("key", METRICS)
def test_a_target_says_where_it_comes_from_and_none_says_why(words: Words, key: str) -> None:
    targets = {definition.key: definition.target for definition in DEFINITIONS}
    none = {"en": "No target", "fr": "Pas de cible"}[words.language]
    assert words(f"metrics.{key}.source").startswith(none) == (targets[key] is None)


def test_the_example_counts_people() -> None:
    entry = metric(81.5)
    expected = "Of 2,000 people, 370 have their own avatar as the nearest."
    assert example(load("en"), "hidden_rate", entry, 2000) == expected
    assert example(load("en"), "hidden_rate", metric(100.0), 2000) == ""
    assert example(load("en"), "membership", entry, 2000) == ""


def test_every_advice_is_given_by_a_metric() -> None:
    written = {key.removeprefix("advice.") for key in load("en").texts if key.startswith("advice.")}
    assert written == {name for definition in DEFINITIONS for name in definition.advice}


def test_advice_leaves_out_what_is_done() -> None:
    names = ("smoothed", "unkeep", "raise_k")
    assert advice(names, {"method": "barycentre"})[0] == "smoothed"
    assert "smoothed" not in advice(names, {"method": "smoothed"})
    assert "unkeep" not in advice(names, {"keep": []})
    assert "unkeep" in advice(names, {"keep": ["age"]})


def test_english_names_follow_the_french_ones_in_brackets() -> None:
    french = load("fr")
    names = ("Hidden Rate", "Local Cloaking", "Column Direct Match Protection")
    keys = ("hidden_rate", "local_cloaking", "column_direct_match_protection")
    for key, name in zip(keys, names, strict=True):
        assert re.fullmatch(rf"[A-Z].+ \({name}\)", french(f"metrics.{key}.name"))
    criteria = [french(f"criteria.{key}.name") for key in ("singling_out", "linkability")]
    assert criteria == ["Individualisation", "Corrélation"]


def test_attacks_are_described(words: Words) -> None:
    for scenario in SCENARIOS:
        for part in ("name", "short", "holds", "question"):
            assert f"attack.scenarios.{scenario}.{part}" in words
    for estimator in ESTIMATORS:
        assert f"attack.estimators.{estimator}.definition" in words


def test_unknown_language() -> None:
    with pytest.raises(InputError, match=r"'de'.*en, fr"):
        load("de")


def test_unknown_key(words: Words) -> None:
    with pytest.raises(KeyError):
        words("metrics.none.name")
    assert words.get("metrics.none.name", "none") == "none"


def test_words_are_frozen(words: Words) -> None:
    with pytest.raises(AttributeError):
        words.language = "de"  # type: ignore[misc]
    with pytest.raises(TypeError):
        words.texts["verdict.clear"] = "yes"  # type: ignore[index]


@pytest.mark.parametrize(
    ("number", "unit", "target", "english", "french"),
    [
        (81.54, "%", None, "81.5%", "81,5\u202f%"),
        (100, "%", None, "100%", "100\u202f%"),
        (0, "%", None, "0%", "0\u202f%"),
        (91, "%", 90, "91.0%", "91,0\u202f%"),
        (89.96, "%", 90, "89.96%", "89,96\u202f%"),
        (99.98, "%", None, "99.98%", "99,98\u202f%"),
        (0.04, "%", None, "0.04%", "0,04\u202f%"),
        (-3.21, "%", None, "−3.2%", "−3,2\u202f%"),
        (12.0, None, 5, "12", "12"),
        (2139, None, None, "2,139", "2\u202f139"),
        (0.412, "distance", 0.2, "0.41", "0,41"),
        (0.1004, "distance", 0.1, "0.1004", "0,1004"),
        (0.044, "distance", 0.1, "0.044", "0,044"),
        (None, "%", 90, "–", "–"),
    ],
)
def test_values(
    number: float | None, unit: str | None, target: float | None, english: str, french: str
) -> None:
    assert load("en").value(number, unit, target) == english
    assert load("fr").value(number, unit, target) == french


@pytest.mark.parametrize("number", [89.9, 89.99, 89.999, 90.001, 90.04])
def test_a_shown_value_is_on_its_side_of_the_target(number: float) -> None:
    shown = float(load("en").value(number, "%", 90).rstrip("%"))
    assert (shown < 90) == (number < 90)
    assert (shown > 90) == (number > 90)


def test_targets_intervals_and_dates() -> None:
    english, french = load("en"), load("fr")
    assert english.target(90, "higher", "%") == "at least 90%"
    assert french.target(0.1, "lower") == "au plus 0,1"
    assert english.target(None, "higher") == "–"
    assert french.interval([79.8, 83.13], "%") == "79,8\u202f% à 83,1\u202f%"
    assert english.interval(None, "%") == "–"
    assert english.date("2026-11-30T23:30:00-02:00") == "1 December 2026, 01:30 UTC"
    assert french.date("2026-08-02T09:05:00+00:00") == "2 août 2026, 09 h 05 UTC"
    assert english.date("yesterday") == "yesterday"


@pytest.mark.parametrize(("n", "english", "french"), [(1, "one", "one"), (2, "many", "many")])
def test_counts(n: int, english: str, french: str) -> None:
    key = "report.distributions.rare_short"
    assert load("en").count(key, n) == load("en")(f"{key}_{english}", n=n)
    assert load("fr").count(key, n) == load("fr")(f"{key}_{french}", n=n)


def test_french_counts_as_one_up_to_two() -> None:
    key = "format.points"
    assert load("fr").count(key, 1.9, digits=1) == "1,9 point"
    assert load("fr").count(key, 2.0, digits=1) == "2,0 points"
    assert load("en").count(key, 1.9, digits=1) == "1.9 points"


def metric(value: float | None, **more: Any) -> dict[str, Any]:
    return {"value": value, "unit": "%", "direction": "higher", "target": 90, **more}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (metric(89.999), Standing.MISSED),
        (metric(90), Standing.NARROW),
        (metric(94.5), Standing.NARROW),
        (metric(94.51), Standing.CLEAR),
        (metric(91, ci=[90.01, 92]), Standing.CLEAR),
        (metric(91, ci=[90, 92]), Standing.NARROW),
        (metric(5, unit="avatars", target=5, ci=[5, 6]), Standing.NARROW),
        (metric(91, ci=[89.99, 92]), Standing.NARROW),
        (metric(89, ci=[88, 91]), Standing.MISSED),
        (metric(0.1, unit="d", target=0.1, direction="lower"), Standing.NARROW),
        (metric(0.0951, unit="d", target=0.1, direction="lower"), Standing.NARROW),
        (metric(0.0949, unit="d", target=0.1, direction="lower"), Standing.CLEAR),
        (metric(0.1001, unit="d", target=0.1, direction="lower"), Standing.MISSED),
        (metric(0.09, unit="d", target=0.1, direction="lower", ci=[0.08, 0.11]), Standing.NARROW),
        (metric(0, unit="levels", target=0, direction="lower"), Standing.CLEAR),
        (metric(1, unit="levels", target=0, direction="lower"), Standing.MISSED),
        (metric(95, target=None), Standing.UNTARGETED),
        (metric(None), Standing.MISSING),
        (metric(None, target=None), Standing.MISSING),
        (metric(89.9, met=False), Standing.MISSED),
    ],
)
def test_standing_at_and_around_the_threshold(entry: dict[str, Any], expected: Standing) -> None:
    assert standing(entry) is expected


@pytest.mark.parametrize("where", list(Standing))
def test_each_standing_has_its_words(words: Words, where: Standing) -> None:
    for prefix in ("standing", "verdict", "reading"):
        assert f"{prefix}.{where}" in words


def test_readings() -> None:
    english, french = load("en"), load("fr")
    assert reading(english, metric(99)) == "The target (at least 90%) is clearly met."
    assert reading(english, metric(90)) == "The target (at least 90%) is met, but by little."
    assert "89.6% to 92.2%" in reading(english, metric(91, ci=[89.6, 92.2]))
    assert reading(english, metric(80)) == "The target (at least 90%) is not met."
    assert "no reason" in reading(english, metric(None))
    assert "aucune cible" in reading(french, metric(80, target=None)).lower()


def test_meaning_gives_the_complement() -> None:
    text = meaning(load("en"), "hidden_rate", metric(81.5))
    assert "81.5%" in text
    assert "18.5%" in text


@pytest.mark.parametrize("key", METRICS)
def test_meaning_is_a_sentence(words: Words, key: str) -> None:
    text = meaning(words, key, metric(81.5))
    assert text.endswith(".")
    assert text[0].isupper() or text[0].isdigit()
    assert meaning(words, key, metric(None)) == ""


def test_meaning_of_an_unknown_metric_is_empty(words: Words) -> None:
    assert meaning(words, "unheard_of", metric(81.5)) == ""


REASONS = [key.split(".")[1] for key in load("en").texts if key.startswith("reasons.")]


@pytest.mark.parametrize("key", REASONS)
def test_every_reason_reads_after_because(words: Words, key: str) -> None:
    values = dict.fromkeys(placeholders(words.texts[f"reasons.{key}"]), 12)
    text = reason(words, {"key": key, "values": values})
    assert "{" not in text
    assert text == "12" or text.endswith(".")


def test_numbers_in_reasons_are_written_as_the_language_does() -> None:
    told = {"key": "no_rare_level", "values": {"k": 5000}}
    expected = "aucune modalité n’est portée par moins de 5\u202f000 personnes."
    assert reason(load("fr"), told) == expected


def test_a_reason_of_an_earlier_version_is_given_as_it_is() -> None:
    assert reason(load("fr"), "there are too few people.") == "there are too few people."
    assert reason(load("fr"), {"key": "unheard_of", "values": {"n": 3}}) == "unheard_of"
    assert reason(load("fr"), None) == ""


PHRASES = ("code_gives", "ranges_give", "one_of", "never_with", "more_pairs", "several")
"""Remarks that stand inside another, as the codes of a column do."""

NOTED = sorted(
    key
    for key in load("en").texts
    if key.startswith(("notices.", "reasons.", "remarks."))
    and not key.startswith(tuple(f"remarks.{phrase}" for phrase in PHRASES))
    and not key.startswith(("remarks.code_of", "remarks.limit_of", "remarks.rare_codes"))
)


def noted(words: Words, key: str) -> str:
    room, name = key.split(".")
    number = 1 if name.endswith("_one") else 12
    values: dict[str, Any] = dict.fromkeys(placeholders(words.texts[key]), "age")
    values |= {name: number for name in ("n", "people", "attacked", "equal") if name in values}
    if room == "notices":
        values |= {name: 0.02 for name in ("share", "points") if name in values}
        told = {"kind": name, "column": "age", "people": 12}
        rest = {"values": {k: v for k, v in values.items() if k not in ("name", "coarsened")}}
        return sentence(words, told | rest)
    counted = name.removesuffix("_one").removesuffix("_many")
    name = counted if f"{room}.{counted}_many" in words else name
    return sentence(words, {"key": name, "values": values})


@pytest.mark.parametrize("key", NOTED)
def test_every_note_begins_with_a_capital_and_ends_with_one_period(words: Words, key: str) -> None:
    text = noted(words, key)
    assert text[0].isupper() or text[0].isdigit() or text[0] in "«'"
    assert text.endswith(".")
    assert not text.endswith("..")
    assert "{" not in text


@pytest.mark.parametrize("key", [key for key in NOTED if not key.startswith("reasons.")])
def test_no_note_begins_with_a_name_that_a_capital_would_change(words: Words, key: str) -> None:
    first = re.match(r"\{(\w+)\}", words.texts[key])
    assert first is None or first[1] in ("n", "people", "attacked")
