"""Reasons: each that the code gives has its words."""

import ast
from pathlib import Path

import sosie
from sosie.words import LANGUAGES, load

SECTIONS = ("reasons", "remarks")
"""Of the catalogue: why there is no figure, and what was noticed in a table."""


def keys_given() -> set[str]:
    """Every key with which the code makes a `Reason`."""
    calls = (
        node
        for file in Path(sosie.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Reason"
    )
    first = (call.args[0] for call in calls if call.args)
    return {str(key.value) for key in first if isinstance(key, ast.Constant)}


def test_every_reason_has_its_words_in_both_languages() -> None:
    keys = keys_given()
    assert "not_aligned" in keys
    for language in LANGUAGES:
        words = load(language)
        for key in keys:
            named = [f"{part}.{key}{end}" for part in SECTIONS for end in ("", "_one")]
            assert any(name in words for name in named), (language, key)
