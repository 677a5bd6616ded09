"""What was chosen for a run, and the command line that does it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from sosie.cli.app.folder import RunFolder
from sosie.errors import InputError

if TYPE_CHECKING:
    from sosie.data.table import Roles

__all__ = ["CHOICES", "Choice", "Settings", "as_toml", "commands", "shown", "stated"]

Choice = Literal["auto", "category", "number", "date", "coarsen", "surrogate", "drop", "keep"]
CHOICES: tuple[Choice, ...] = get_args(Choice)

_OPTIONS: Mapping[Choice, str] = {
    "category": "--categorical",
    "number": "--numeric",
    "date": "--date",
    "coarsen": "--coarsen",
    "surrogate": "--id",
    "drop": "--drop",
    "keep": "--keep",
}

RESERVED = ("mean", "share", "odds", "survival", "by")
"""Words of the grammar of analyses."""

SHORTEST = 2
"""Characters that stay of a column that is coarsened, where nothing is said: of French postcodes,
the department."""

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
    lengths : column to be coarsened -> characters of it that stay.
    names_in : lines of the file that name the columns; None for the first.
    constraints : whether what holds between columns is kept.
    rows_are_people : whether to go on where a person has several rows.
    analyses : of the study, that are to come out alike.
    k, method : how private; None and empty for what the command line takes.
    attack : whether the avatars are attacked too.
    context : what the context file holds.
    language : of the report.
    """

    name: str
    data: str
    columns: Mapping[str, Choice] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    names_in: Sequence[int] | None = None
    constraints: bool = True
    rows_are_people: bool = False
    analyses: Sequence[str] = ()
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

    def with_columns(
        self,
        choices: Mapping[str, Choice],
        formats: Mapping[str, str],
        lengths: Mapping[str, int],
    ) -> Self:
        """The same with other choices for some columns."""
        every = {**self.formats, **formats}
        return replace(
            self,
            columns={**self.columns, **choices},
            formats={name: form for name, form in every.items() if form},
            lengths={**self.lengths, **lengths},
        )

    def stays(self, name: str) -> bool:
        """Whether a column is among those of the avatars that are compared."""
        return self.columns.get(name) not in ("drop", "surrogate")

    def digest(self) -> str:
        """Of what the avatars of some k depend on."""
        told = (self.columns, self.formats, self.lengths, self.names_in, self.constraints)
        text = json.dumps([told, [*self.analyses]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def roles(self) -> Roles:
        """What was chosen for each column, as the library takes it."""
        from sosie.data.table import Roles

        chosen = {
            choice: tuple(name for name, own in self.columns.items() if own == choice)
            for choice in CHOICES
        }
        return Roles(
            keep=chosen["keep"],
            drop=chosen["drop"],
            id=chosen["surrogate"],
            categorical=chosen["category"],
            numeric=chosen["number"],
            date={name: self.formats.get(name) or None for name in chosen["date"]},
            coarsen={name: self.lengths.get(name, SHORTEST) for name in chosen["coarsen"]},
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
    if settings.names_in is not None:
        first, last = settings.names_in
        made += ["--names-in", f"{first}" if first == last else f"{first}-{last}"]
    for choice, option in _OPTIONS.items():
        names = [name for name, chosen in settings.columns.items() if chosen == choice]
        for text in _texts(choice, names, settings):
            made += _option(option, text)
    made += [] if settings.constraints else ["--no-constraints"]
    made += ["--rows-are-people"] if settings.rows_are_people else []
    for text in settings.analyses:
        made += _option("--analysis", text)
    if not settings.attack:
        made += ["--releases", "0"]
    if settings.context:
        made += ["--context", str(run.path / "context.toml")]
    made += ["--lang", settings.language]
    forms = ["report", str(run.result), "--pia", str(run.path / "assessment.json")]
    forms += ["--docx", str(run.path / "report.docx")] if document else []
    return [made, [*forms, "--lang", settings.language]]


def _texts(choice: Choice, names: Sequence[str], settings: Settings) -> list[str]:
    """What the option of a choice takes; names with a comma stand in double quotes."""
    if choice == "date":
        forms = {name: settings.formats.get(name, "") for name in names}
        return [f"{name}={form}" if form else name for name, form in forms.items()]
    if choice == "coarsen":
        return [f"{name}={settings.lengths.get(name, SHORTEST)}" for name in names]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return [line.getvalue()] if names else []


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
    from sosie.audits.account import HOLDERS

    texts = {key: " ".join(text.split()) for key, text in fields.items()}
    found: dict[str, Any] = {
        key: texts[key] for key in ("recipient", "sensitivity") if texts.get(key)
    }
    if texts.get("releases"):
        found["releases"] = _number("releases", texts["releases"], whole=True)
    found |= {key: texts[key] for key in _TEXTS if texts.get(key)}
    found |= {key: given for key in _LINES if (given := lines(fields, key))}
    holders = {key: texts[f"holders.{key}"] for key in HOLDERS if texts.get(f"holders.{key}")}
    found |= {"holders": holders} if holders else {}
    found |= _likelihood(texts)
    if level := texts.get("severity.level"):
        why = texts.get("severity.why", "")
        found["severity"] = {"level": level} | ({"why": why} if why else {})
    return found


def lines(fields: Mapping[str, str], key: str) -> list[str]:
    """The lines of a field that hold something."""
    trimmed = [" ".join(line.split()) for line in fields.get(key, "").splitlines()]
    return [line for line in trimmed if line]


def analysis(fields: Mapping[str, str]) -> list[str]:
    """The analysis that was put together in a form; none where none was asked for.

    >>> analysis({"add": "1", "kind": "mean", "outcome": "stay", "by1": "arm"})
    ['mean stay by arm']
    >>> analysis({"add": "1", "kind": "model", "outcome": "bp", "by1": "arm", "by2": "age (years)"})
    ['bp ~ arm + "age (years)"']

    Raises
    ------
    InputError
        A column is missing in it.
    """
    if "add" not in fields:
        return []
    kind, outcome, event = (fields.get(key, "") for key in ("kind", "outcome", "event"))
    by = [name for place in (1, 2, 3) if (name := fields.get(f"by{place}", ""))]
    if not outcome or not by or (kind == "survival" and not event):
        raise InputError("an analysis needs an outcome and what it is compared by")
    left, right = said(outcome), " + ".join(map(said, by))
    if kind in ("mean", "share"):
        return [f"{kind} {left} by {said(by[0])}"]
    return [
        f"survival {left}, {said(event)} ~ {right}" if kind == "survival" else f"{left} ~ {right}"
    ]


def said(name: str) -> str:
    """A column's name as analyses take it: in quotes where it is no plain word."""
    if re.fullmatch(r"[^\W\d][\w.]*", name) and name.lower() not in RESERVED:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


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
    from sosie.audits.context import Context

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
