"""What was chosen for a run, and the command line that does it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self, get_args

from sosie.audits.account import HOLDERS
from sosie.audits.context import Context
from sosie.cli.app.folder import RunFolder
from sosie.errors import InputError

__all__ = ["CHOICES", "Choice", "Settings", "as_toml", "commands", "shown", "stated"]

Choice = Literal["auto", "category", "number", "date", "surrogate", "drop", "keep"]
CHOICES: tuple[Choice, ...] = get_args(Choice)

_OPTIONS: Mapping[Choice, str] = {
    "category": "--categorical",
    "number": "--numeric",
    "date": "--date",
    "surrogate": "--id",
    "drop": "--drop",
    "keep": "--keep",
}

_TEXTS = ("purpose", "controller", "residual_risk")
_LINES = ("recipients", "measures")


@dataclass(frozen=True)
class Settings:
    """What was chosen.

    Attributes
    ----------
    name : as lists show the run.
    data : the file of people.
    columns : column -> what becomes of it; ``auto`` where it is absent.
    formats : column of dates -> how its texts write them; ISO 8601 where absent.
    k, method : how private; None and empty for what the command line takes.
    attack : whether the avatars are attacked too.
    context : what the context file holds.
    language : of the report.
    """

    name: str
    data: str
    columns: Mapping[str, Choice] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    k: int | None = None
    method: str = ""
    attack: bool = True
    context: Mapping[str, Any] = field(default_factory=dict)
    language: str = "en"

    @classmethod
    def of(cls, run: RunFolder) -> Self:
        """Those of a run.

        Raises
        ------
        InputError
            They can't be read.
        """
        told = run.read("settings.json")
        if told is None:
            raise InputError(f"{run.path / 'settings.json'}: can't be read; delete this run")
        try:
            return cls(**told)
        except TypeError as error:
            raise InputError(f"{run.path}: of another version of sosie; delete it") from error

    def save(self, run: RunFolder) -> None:
        """Write them, and the context file."""
        run.write_text("context.toml", as_toml(self.context))
        run.write("settings.json", asdict(self))

    def with_columns(self, choices: Mapping[str, Choice], formats: Mapping[str, str]) -> Self:
        """The same with other choices for some columns."""
        columns = {**self.columns, **choices}
        every = {**self.formats, **formats}
        return replace(
            self, columns=columns, formats={name: form for name, form in every.items() if form}
        )


def commands(run: RunFolder, settings: Settings, *, document: bool) -> list[list[str]]:
    """Arguments of `sosie` that make a run: the run itself, then its other forms.

    Parameters
    ----------
    document : whether the packages for an editable document are there.
    """
    made = ["run", settings.data, "-o", str(run.result)]
    made += ["--k", str(settings.k)] if settings.k is not None else []
    if settings.method:
        made += ["--method", settings.method]
    for choice, option in _OPTIONS.items():
        for name, chosen in settings.columns.items():
            if chosen == choice:
                form = settings.formats.get(name, "") if choice == "date" else ""
                made += _option(option, f"{name}={form}" if form else name)
    if not settings.attack:
        made += ["--releases", "0"]
    if settings.context:
        made += ["--context", str(run.path / "context.toml")]
    made += ["--lang", settings.language]
    forms = ["report", str(run.result), "--pia", str(run.path / "assessment.json")]
    forms += ["--docx", str(run.path / "report.docx")] if document else []
    return [made, [*forms, "--lang", settings.language]]


def _option(option: str, text: str) -> list[str]:
    """An option with its value, in one piece where the value looks like an option.

    >>> _option("--drop", "age"), _option("--drop", "-x")
    (['--drop', 'age'], ['--drop=-x'])
    """
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def shown(command: Sequence[str]) -> str:
    """A command line to copy into a shell.

    >>> shown(["run", "my table.csv", "-o", "out"])
    "sosie run 'my table.csv' -o out"
    """
    return shlex.join(["sosie", *command])


# ---------------------------------------------------------------- context


def stated(fields: Mapping[str, str]) -> dict[str, Any]:
    """The context of a filled form: what was left blank is left out.

    Parameters
    ----------
    fields : name of each field -> its text; ``holders.file`` and the like for tables.

    Raises
    ------
    InputError
        A number is none, or the entries do not make a context.
    """
    texts = {key: " ".join(text.split()) for key, text in fields.items()}
    found: dict[str, Any] = {
        key: texts[key] for key in ("recipient", "sensitivity") if texts.get(key)
    }
    if texts.get("releases"):
        found["releases"] = _number("releases", texts["releases"], whole=True)
    found |= {key: texts[key] for key in _TEXTS if texts.get(key)}
    for key in _LINES:
        lines = [" ".join(line.split()) for line in fields.get(key, "").splitlines()]
        found |= {key: [line for line in lines if line]} if any(lines) else {}
    holders = {key: texts[f"holders.{key}"] for key in HOLDERS if texts.get(f"holders.{key}")}
    found |= {"holders": holders} if holders else {}
    found |= _likelihood(texts)
    if level := texts.get("severity.level"):
        why = texts.get("severity.why", "")
        found["severity"] = {"level": level} | ({"why": why} if why else {})
    return found


def _likelihood(texts: Mapping[str, str]) -> dict[str, Any]:
    bounds = ("negligible", "limited", "important")
    given = {key: texts.get(f"likelihood.{key}", "") for key in bounds}
    if not any(given.values()):
        return {}
    table: dict[str, Any] = {key: _number(key, text) for key, text in given.items() if text}
    for key in ("holder", "source"):
        if text := texts.get(f"likelihood.{key}"):
            table[key] = text
    return {"likelihood": table}


def _number(key: str, text: str, *, whole: bool = False) -> float:
    try:
        return int(text) if whole else float(text.replace(",", "."))
    except ValueError:
        raise InputError(f"{key}: {text!r} is not a {'whole ' if whole else ''}number") from None


def checked(run: RunFolder, context: Mapping[str, Any]) -> None:
    """Raise InputError where these entries do not make a context."""
    run.write_text("context-checked.toml", as_toml(context))
    path = run.path / "context-checked.toml"
    try:
        Context.of(file=path)
    except InputError as error:
        raise InputError(str(error).removeprefix(f"{path}: ")) from error
    finally:
        path.unlink(missing_ok=True)


def as_toml(content: Mapping[str, Any]) -> str:
    r"""A context as a TOML file: texts, numbers, lists of texts, and tables of texts and numbers.

    >>> print(as_toml({"releases": 2, "holders": {"file": 'a "b"'}}))
    releases = 2
    <BLANKLINE>
    [holders]
    file = "a \"b\""
    <BLANKLINE>
    """
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    parts = ["".join(f"{key} = {_toml(value)}\n" for key, value in plain.items())]
    for name, table in content.items():
        if isinstance(table, Mapping):
            rows = "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())
            parts.append(f"[{name}]\n{rows}")
    return "\n".join(part for part in parts if part)


def _toml(value: object) -> str:
    # JSON's strings, numbers and lists are TOML's, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
