"""What a person reads in the terminal: tables and next steps, with the catalogue's words."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from sosie.cli.progress import noted
from sosie.errors import Reason
from sosie.words import Words, load
from sosie.words.readings import Standing, reason, reasons, sentence, standing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sosie.audits.results import Audit, Metric
    from sosie.data.constraints import Plan
    from sosie.generate.notices import Notice

__all__ = [
    "analyses_table",
    "attack_table",
    "audit_table",
    "bar",
    "column_table",
    "constraints",
    "guarantee",
    "kept_table",
    "notes",
    "printable",
    "raw",
    "say",
    "steps",
    "sweep_table",
    "told",
    "written",
]

_STYLES = {
    Standing.CLEAR: "green",
    Standing.NARROW: "yellow",
    Standing.MISSED: "red",
    Standing.MISSING: "dim",
    Standing.UNTARGETED: "",
}
_SPACES = "\n\u00a0\u202f"  # line ends, and the spaces where French lines do not break
_STEPS = {
    "read": "Reading the table",
    "fit": "Finding each person's neighbours",
    "draw": "Drawing avatars",
    "audit": "Measuring",
    "analyses": "Making the analyses",
    "attack": "Attacking",
    "report": "Writing the report",
}
MOST_STATEMENTS = 20
"""Statements between columns that are listed: a page of a terminal."""

WIDEST, WIDE, NARROW = 100, 96, 64
"""Width of lines in a pipe, and widths from which intervals and targets have a place."""


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would end the program


def _console(*, errors: bool = False) -> Console:
    console = _Terminal(stderr=errors, highlight=False)
    if not console.is_terminal:
        console.width = WIDEST  # a pipe has no width: lines are not cut at 80
    return console


def printable(text: str) -> str:
    r"""Text without what would command the terminal; line ends stay.

    >>> printable("age \x1b[31m")
    'age \\x1b[31m'
    """
    return "".join(
        char if char.isprintable() or char in _SPACES else char.encode("unicode_escape").decode()
        for char in text
    )


def say(text: str) -> None:
    """Print a line; square brackets are text."""
    _console().print(escape(printable(text)), soft_wrap=True)


def raw(text: str) -> None:
    """Write text to standard output as UTF-8 bytes, whatever the terminal's encoding."""
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(text)
        return
    binary.write(text.encode())
    binary.flush()


def notes(told: Sequence[Reason | Notice], language: str = "en") -> None:
    """Print what deserves a look, on standard error."""
    words = load(language)
    for note in told:
        head = words("format.colon", label=words("terminal.note"), value="").rstrip(" ")
        shown = escape(printable(sentence(words, note.to_dict())))
        _console(errors=True).print(f"[yellow]{head}[/] {shown}", soft_wrap=True)


def constraints(plan: Plan | None, language: str = "en") -> None:
    """Print what holds between columns, a statement a line, and what is only counted."""
    if plan is None or not plan.constraints:
        return
    from sosie.data.constraints.phrases import phrase_of

    words = load(language)
    say(words("format.colon", label=words("constraints.terminal"), value="").rstrip())
    for constraint in plan.constraints[:MOST_STATEMENTS]:
        unkept = f"  ({words('constraints.unkept')})" if constraint in plan.unkept else ""
        phrase = phrase_of(constraint)
        text = constraint.text if phrase is None else reason(words, phrase.to_dict())
        say(f"  {text}{unkept}")
    if (more := len(plan.constraints) - MOST_STATEMENTS) > 0:
        say(f"  {words('constraints.more', count=words.number(more))}")
    say("")


def guarantee(told: Mapping[str, Any], language: str = "en") -> None:
    """Print what is guaranteed about the avatars, or why nothing is, in one line."""
    words = load(language)
    if told["holds"]:
        text = words(
            "guarantee.terminal",
            bound=words.value(100 * told["bound"], "%"),
            smallest=words.number(told["smallest_group"]),
            people=words.number(told["people"]),
        )
    else:
        text = words("guarantee.terminal_none", reason=reason(words, told["reason"]))
    say(words("format.colon", label=words("guarantee.label"), value=text))


def written(key: str, what: object, note: str = "", language: str = "en") -> None:
    """Print a line on a file: what to do with it, where it is, and a note in brackets.

    Parameters
    ----------
    key : ``read``, ``publish``, ``secret``, ``wrote`` or ``next``, as the catalogue has it.
    """
    words = load(language)
    head = words(f"terminal.{key}")
    say(f"{head:<8} {what}" + (f"  ({words(f'terminal.{note}')})" if note else ""))


@contextmanager
def steps(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show a spinner with the step at work, where standard error is a terminal."""
    console = _console(errors=True)
    if quiet or not console.is_terminal:
        yield noted
        return
    with console.status("Starting") as status:
        yield lambda name: status.update(escape(_STEPS.get(name, name)))


@contextmanager
def bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show how much of long work is done, where standard error is a terminal."""
    console = _console(errors=True)
    if not console.is_terminal:
        yield lambda done, total, what: noted(what, done, total)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total, what: progress.update(
            task, completed=done, total=total, description=escape(printable(what))
        )


def audit_table(audit: Audit, language: str = "en") -> None:
    """Print every metric with its interval, its target and where it stands.

    Where the terminal is narrow, there are fewer columns and names are folded; nothing is cut.
    Metrics without a value stand below the others, with the reason.
    """
    words, console = load(language), _console()
    every = [*audit.privacy.values(), *audit.utility.values()]
    console.print(_metrics(words, [m for m in every if m.value is not None], console.width))
    reasons: dict[str, list[str]] = {}
    for metric in every:
        if metric.value is None:
            reasons.setdefault(reason(words, metric.to_dict()["reason"]), []).append(
                _name(words, metric)
            )
    for why, names in reasons.items():
        line = words("format.colon", label=", ".join(names), value=why)
        console.print(f"[dim]{escape(line)}[/]")


def _name(words: Words, metric: Metric) -> str:
    return words.get(f"metrics.{metric.key}.name", metric.key)


def _metrics(words: Words, metrics: Sequence[Metric], width: int) -> Grid:
    with_interval, with_target = width >= WIDE, width >= NARROW
    grid = Grid(box=None, pad_edge=False)
    grid.add_column(words("report.metrics.metric"), overflow="fold")
    for key, there in (("value", True), ("interval", with_interval), ("target", with_target)):
        if there:
            grid.add_column(words(f"report.metrics.{key}"), justify="right", no_wrap=True)
    grid.add_column(words("report.metrics.result"), no_wrap=True)
    for metric in metrics:
        told = metric.to_dict()
        place = standing(told)
        cells = [_name(words, metric), words.value(metric.value, metric.unit, metric.target)]
        if with_interval:
            cells.append(words.interval(metric.ci, metric.unit))
        if with_target:
            cells.append(words.target(metric.target, metric.direction, metric.unit))
        style = _STYLES[place]
        grid.add_row(*map(escape, cells), Text(words(f"standing.{place}"), style=style))
    return grid


def column_table(metric: Metric, most: int = 8, language: str = "en") -> None:
    """Print the columns that reveal most."""
    words = load(language)
    columns = metric.to_dict().get("columns", [])
    grid = Grid(box=None, pad_edge=False)
    grid.add_column(words("report.column"))
    for key in ("distinct", "protection"):
        grid.add_column(words(f"report.columns.{key}"), justify="right")
    for row in columns[:most]:
        style = "red" if row["below_target"] else ""
        grid.add_row(
            escape(printable(str(row["column"]))),
            words.number(row["distinct"]),
            words.value(row["protection"], "%"),
            style=style,
        )
    _console().print(grid)
    if len(columns) > most:
        say(f"… and {len(columns) - most} more columns")


def sweep_table(told: Mapping[str, Any], language: str = "en") -> None:
    """Print every setting of a sweep, and which to take.

    Parameters
    ----------
    told : what ``tune.json`` says.
    """
    from sosie.report.views.sweeps import sweep

    words = load(language)
    view = sweep(words, told)
    grid = Grid(box=None, pad_edge=False, collapse_padding=True)
    grid.add_column(words("tuning.k"), justify="right", no_wrap=True)
    grid.add_column(words("tuning.method"), no_wrap=True)
    if view.several:
        grid.add_column(words("tuning.components"), justify="right")
    for heading in (*view.headings, words("tuning.risk"), words("tuning.loss")):
        grid.add_column(heading, justify="right", overflow="fold")
    for row in view.rows:
        shown = [row.k.text, row.method + (" *" if row.frontier else "")]
        shown += [row.components.text] if view.several else []
        shown += [content.text for content, _ in row.cells] + [row.risk.text, row.loss.text]
        style = "bold green" if row.chosen else "" if row.meets else "dim"
        grid.add_row(*map(escape, shown), style=style)
    _console().print(grid)
    say(f"* {words('tuning.on_frontier_long')}\n")
    for text in (*view.readings, *view.advice):
        say(text)


def analyses_table(told: Mapping[str, Any], language: str = "en") -> None:
    """Print every term of a study's analyses, its verdict, and what to take from it.

    Parameters
    ----------
    told : what ``analyses.json`` says.
    """
    from sosie.report.views.analyses import analyses

    words, console = load(language), _console()
    view = analyses(words, told)
    for study in view.studies:
        say(study.text)
        for note in (study.about, *study.notes, study.log_rank):
            console.print(f"[dim]{escape(printable(note))}[/]", soft_wrap=True)
        grid = Grid(box=None, pad_edge=False)
        for place, heading in enumerate(view.headings[:-1]):
            last = place == len(view.headings) - 2
            grid.add_column(heading, justify="left" if last or not place else "right")
        for term in study.terms:
            verdict = Text(printable(words.joined([term.verdict, term.note])))
            verdict.stylize(_STYLES[term.standing])
            shown = (escape(printable(text)) for text in (term.label, *term.texts))
            grid.add_row(*shown, verdict)
        if study.terms:
            console.print(grid)
        say("")
    for text in (*view.summary, view.worst_heading, *(f"  {pair}" for pair in view.worst)):
        if text:
            say(text)


def kept_table(metric: Metric, language: str = "en") -> None:
    """Print what each column would reveal if it were kept unchanged, and what to do instead."""
    words, console = load(language), _console()
    grid = Grid(box=None, pad_edge=False)
    grid.add_column(words("report.columns.kept"))
    grid.add_column(words("report.columns.protection"), justify="right")
    grid.add_column(words("metrics.hidden_rate.name"), justify="right")
    grid.add_column(words("keeping.advice"))
    for record in metric.to_dict()["columns"]:
        grid.add_row(
            escape(printable(str(record["column"]))),
            words.value(record["protection"], "%", metric.target),
            words.value(record.get("hidden_rate"), "%"),
            words(f"keeping.{record['advice']}"),
            style="red" if record["below_target"] else "",
        )
    console.print(grid)


def told(
    content: Mapping[str, Any], show: Callable[[], None], json_: Path | None, page: Path | None
) -> None:
    """Print results as JSON where that goes to standard output, else as a person reads them."""
    if json_ is not None and str(json_) == "-":
        from sosie.jobs.writing import as_json

        raw(as_json(content))
        return
    show()
    for path in (json_, page):
        if path is not None:
            say(f"Wrote    {path}")


def attack_table(told: Mapping[str, Any], language: str = "en") -> None:
    """Print every attack with its rate, interval and chance level; the strongest are marked."""
    words, console = load(language), _console()
    grid = Grid(box=None, pad_edge=False)
    grid.add_column(words("attack.scenario"))
    grid.add_column(words("attack.estimator"))
    concerned = [_concerned(words, result) for result in told["results"]]
    if any(concerned):
        grid.add_column(words("attack.concerned"))
    for key in ("components", "releases", "rate"):
        grid.add_column(words(f"attack.{key}"), justify="right")
    grid.add_column(words("report.metrics.interval"), justify="right")
    grid.add_column(words("attack.chance"), justify="right")
    strongest = list(told["strongest"].values())
    for result, columns in zip(told["results"], concerned, strict=True):
        grid.add_row(
            words.get(f"attack.scenarios.{result['scenario']}.short", result["scenario"]),
            words.get(f"attack.estimators.{result['estimator']}.name", result["estimator"]),
            *([columns] if any(concerned) else []),
            words.value(result["attack_components"]),
            words.value(result["releases"]),
            words.value(result["rate"], "%"),
            words.interval(result["ci"], "%"),
            words.value(result["chance"], "%"),
            style="bold" if result in strongest else "",
        )
    console.print(grid)
    texts = dict.fromkeys(filter(None, (reasons(words, result) for result in told["results"])))
    for text in texts:
        console.print(f"[dim]{escape(printable(text))}[/]", soft_wrap=True)


def _concerned(words: Words, result: Mapping[str, Any]) -> str:
    """Which column an attack learns, or which or how many it knows: rows differ by these."""
    if result.get("column") is not None:
        return escape(printable(str(result["column"])))
    if result.get("versions") is not None:
        return words(f"attack.versions.{result['versions']}")
    if result.get("known_columns"):
        actor = f"{result['actor']}: " if result.get("actor") else ""
        return escape(printable(actor + ", ".join(map(str, result["known_columns"]))))
    return "" if result.get("known") is None else words.count("attack.known", result["known"])
