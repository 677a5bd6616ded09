"""``sosie context``: the context file, asked for question by question."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sosie.cli.options import FILE, LANGUAGE, examples
from sosie.errors import InputError

if TYPE_CHECKING:
    from sosie.words import Words

__all__ = ["write_context"]

MOST_RELEASES = 1_000
"""Releases that somebody may plan: more is a slip of the finger."""

BOUNDS = ("negligible", "limited", "important")


@click.command(
    "context",
    epilog=examples("sosie context -o context.toml", "sosie context -o contexte.toml --lang fr"),
)
@click.option(
    "-o",
    "--out",
    type=FILE,
    default=Path("context.toml"),
    show_default=True,
    help="File to write; one that is there already is not replaced.",
)
@LANGUAGE
def write_context(*, out: Path, lang: str) -> None:
    """Ask who receives the avatars; write the context file.

    Each question says what its answer changes; an empty line leaves it open.
    """
    from sosie.audits.context import Context
    from sosie.cli import terminal
    from sosie.data.atomic import atomic
    from sosie.words import load

    if out.exists():
        raise InputError(f"{out} is there already; choose another name (-o)")
    words = load(lang)
    terminal.say(words("questions.intro", file=out))
    text = _toml(_answers(words))
    atomic(out, lambda file: file.write(text.encode()))
    Context.of(file=out)  # what was written can be read
    terminal.written("wrote", out, language=lang)
    terminal.say(words("questions.done", file=out))


def _answers(words: Words) -> dict[str, Any]:
    """The entries of the file, in its order; open ones are absent."""
    from sosie.audits.account import HOLDERS, LEVELS
    from sosie.audits.context import RECIPIENTS, SENSITIVITIES

    def ask(key: str, read: Callable[[str], Any] = str, options: str = "") -> Any:
        return _asked(words, key, words(f"questions.{key}.ask"), read, options)

    def choose(key: str, options: tuple[str, ...], names: str) -> Any:
        shown = (f"  {i}. {words(f'{names}.{name}')}" for i, name in enumerate(options, 1))
        most = len(options)
        return ask(key, lambda line: options[_whole(words, line, most) - 1], "\n".join(shown))

    def several(key: str) -> Any:
        question = words("questions.several", question=words(f"questions.{key}.ask"))
        return _asked(words, key, question, _parts, "")

    found: dict[str, Any] = {
        "name": ask("name"),
        "recipient": choose("recipient", RECIPIENTS, "report.recipients"),
        "sensitivity": choose("sensitivity", SENSITIVITIES, "report.sensitivities"),
        "releases": ask("releases", lambda line: _whole(words, line, MOST_RELEASES)),
        "purpose": ask("purpose"),
        "controller": ask("controller"),
        "recipients": several("recipients"),
        "retention": ask("retention"),
    }
    found |= {key: ask(key) for key in ("author", "evaluator", "validator")}
    found |= {"measures": several("measures"), "residual_risk": ask("residual_risk")}
    found["analyses"] = several("analyses")
    found["holders"] = {holder: ask(f"{holder}_holds") for holder in HOLDERS}
    bounds = ask("likelihood", lambda line: _bounds(words, line))
    if bounds is not None:
        found["likelihood"] = dict(zip(BOUNDS, bounds, strict=True)) | {"source": ask("source")}
    level = choose("severity", LEVELS, "levels")
    if level is not None:
        found["severity"] = {"level": level, "why": ask("why")}
    return _known(found)


def _parts(line: str) -> list[str]:
    return [part.strip() for part in line.split(";") if part.strip()]


def _known(entries: Mapping[str, Any]) -> dict[str, Any]:
    nested = {
        key: _known(value) if isinstance(value, Mapping) else value
        for key, value in entries.items()
    }
    return {key: value for key, value in nested.items() if value not in (None, "", [], {})}


def _asked(words: Words, key: str, question: str, read: Callable[[str], Any], options: str) -> Any:
    """The answer to a question, asked again until it can be read; None where it stays open."""
    from sosie.cli import terminal

    terminal.say("")
    terminal.say(question)
    terminal.say(words("questions.changes", text=words(f"questions.{key}.changes")))
    if options:
        terminal.say(options)
        terminal.say(words("format.colon", label=words("questions.choose"), value="").rstrip())
    while True:
        line = sys.stdin.readline()
        if not line:
            raise InputError("the answers ended before the questions; nothing was written")
        if not line.strip():
            return None
        try:
            return read(line.strip())
        except ValueError as error:
            terminal.say(str(error))


def _whole(words: Words, line: str, most: int) -> int:
    if line.isdecimal() and 1 <= int(line) <= most:
        return int(line)
    raise ValueError(words("questions.not_a_number", low=1, high=words.number(most)))


def _bounds(words: Words, line: str) -> tuple[float, ...]:
    try:
        low, middle, high = (float(part.strip().replace(",", ".")) for part in line.split(";"))
    except ValueError:
        raise ValueError(words("questions.not_bounds")) from None
    if not 0 <= low < middle < high <= 100:
        raise ValueError(words("questions.not_bounds"))
    return low, middle, high


def _toml(entries: Mapping[str, Any]) -> str:
    """The file: plain entries first, then its tables."""
    plain = [f"{key} = {_value(value)}" for key, value in entries.items() if not _table(value)]
    for key, table in entries.items():
        if _table(table):
            lines = (f"{name} = {_value(value)}" for name, value in table.items())
            plain += ["", f"[{key}]", *lines]
    return "\n".join(plain) + "\n"


def _table(value: object) -> bool:
    return isinstance(value, Mapping)


def _value(value: object) -> str:
    """JSON's texts, numbers and lists are TOML's too, but for one sign."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
