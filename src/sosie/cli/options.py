"""The options that several commands share, and what their texts mean."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sosie.errors import InputError

if TYPE_CHECKING:
    from sosie.data.files import Reading
    from sosie.generate.avatarizer import Avatarizer
    from sosie.generate.secrets import TableKey
    from sosie.jobs.people import Several

__all__ = [
    "ANALYSES",
    "COMPONENTS",
    "CONTEXT",
    "FILE",
    "GENERATION",
    "HOLDOUT",
    "HTML",
    "JSON",
    "LANGUAGE",
    "MAKING",
    "MEMORY",
    "READING",
    "SETTING",
    "SEVERAL",
    "Generation",
    "Registered",
    "cells",
    "columns",
    "dates",
    "examples",
    "generation",
    "lengths",
    "lines_of",
    "names",
    "reading",
    "several",
    "size",
    "weights",
    "with_options",
]


if TYPE_CHECKING:
    Name = click.ParamType[str]
else:
    Name = click.ParamType  # not generic at run time in every version


class Registered(Name):
    """One of the names of a registry, which is loaded when one is given or help is asked for.

    Parameters
    ----------
    name : what the names are of.
    names : gives them.
    """

    def __init__(self, name: str, names: Callable[[], Sequence[str]]) -> None:
        self.name, self._names = name, names

    @property
    def choices(self) -> Sequence[str]:
        """The names."""
        return self._names()

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002 (click's signature)
        """The names, as help shows them."""
        return f"[{'|'.join(self._names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself, where there is one like it."""
        if value not in self._names():
            known = ", ".join(self._names())
            self.fail(f"there is no {self.name} {value!r}; there are {known}", param, ctx)
        return str(value)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 (click's signature)
        param: click.Parameter,  # noqa: ARG002 (click's signature)
        incomplete: str,
    ) -> list[Any]:
        """Names that begin like what was typed."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self._names() if name.startswith(incomplete)]


def _methods() -> Sequence[str]:
    from sosie.generate.methods import METHODS

    return tuple(METHODS)


LONGEST_LINE = 8
"""Digits of the number of a line: no file has its names further down."""

FILE = click.Path(path_type=Path)
FILE_OR_DASH = click.Path(path_type=Path, allow_dash=True)

LANGUAGE = click.option(
    "--lang",
    type=click.Choice(["en", "fr"]),
    default="en",
    show_default=True,
    help="Language of the report and of the table in the terminal.",
)
READING = (
    click.option(
        "--sep", metavar="';'", help="Separator of the CSV; found by itself where not given."
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line names the columns; by default looked at.",
    ),
    click.option(
        "--decimal", type=click.Choice([".", ","]), help="Mark before decimals; by default found."
    ),
    click.option(
        "--na",
        multiple=True,
        metavar="A,B",
        help="Texts that stand for a missing value in columns of numbers, such as NC,ND.",
    ),
    click.option(
        "--names-in",
        metavar="LINE",
        help="Line of the file, or row of the sheet, that names the columns, such as 4, or 4-5"
        " where names stand in two; what is above is left out. By default the first.",
    ),
    click.option(
        "--sheet", metavar="NAME", help="Sheet of an Excel workbook; by default the first."
    ),
)
"""How a file is read."""
HOLDOUT = click.option(
    "--holdout",
    type=FILE,
    metavar="FILE",
    help="Table of people who take no part in the avatars, for the controls.",
)
MEMORY = click.option(
    "--memory",
    metavar="SIZE",
    help="Memory to keep to, such as 2GB; by default half of what is free. A Parquet table that"
    " takes more is read and written a column at a time.",
)
COMPONENTS = click.option(
    "--components",
    default=5,
    show_default=True,
    metavar="D",
    help="Dimensions in which neighbours are found.",
)
JSON = click.option(
    "--json",
    "json_",
    type=FILE_OR_DASH,
    metavar="FILE",
    help="Write the figures; - for standard output, and then nothing else goes there.",
)
CONTEXT = click.option(
    "--context",
    type=FILE,
    metavar="FILE",
    help="TOML file on who receives the avatars, and why: it sets targets and fills the report.",
)
ANALYSES = click.option(
    "--analysis",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="An analysis that is to come out alike on avatars, such as 'mean stay by arm'. Repeatable;"
    " by default those that the context lists.",
)
HTML = click.option("--html", type=FILE, metavar="FILE", help="Write the report.")

COLUMNS = (
    click.option(
        "--drop",
        multiple=True,
        metavar="COL",
        help="Leave columns out: a, or a,b,c. Repeatable, like all options that take COL.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COL",
        help="Treat a column as categories, such as digits that are names.",
    ),
    click.option(
        "--numeric", multiple=True, metavar="COL", help="Treat a column as numbers, to be averaged."
    ),
    click.option(
        "--date",
        multiple=True,
        metavar="COL[=FORMAT]",
        help="Treat a text column as dates, such as born=%d/%m/%Y; without a format, ISO 8601.",
    ),
    click.option(
        "--pivot",
        type=int,
        metavar="YEAR",
        help="The last year that two digits stand for; by default this year.",
    ),
    click.option(
        "--coarsen",
        multiple=True,
        metavar="COL=N",
        help="Keep the first N characters of a text column, before anything else.",
    ),
)
SETTING = (
    click.option(
        "--k",
        type=int,
        metavar="N",
        help="People who share one law, at least, or neighbours that each avatar is a mixture of:"
        " more hide better and blur more. By default the method's: 10 for exchangeable, 5 for the"
        " others.",
    ),
    click.option(
        "--components",
        type=int,
        metavar="D",
        help="Dimensions in which people are near each other; by default as many as --k.",
    ),
    click.option(
        "--method",
        type=Registered("method", _methods),
        default="exchangeable",
        show_default=True,
        help="exchangeable draws around nobody, and bounds the chance of naming the person behind"
        " an avatar; smoothed mixes neighbours and gives back the spread that averaging takes"
        " away; barycentre is the published method.",
    ),
)
MAKING = (
    click.option(
        "--decode",
        type=click.Choice(["draw", "vote"]),
        help="Categories of smoothed and barycentre: one neighbour's, drawn by weight (the"
        " default), or the heaviest.",
    ),
    click.option(
        "--seed",
        type=int,
        metavar="N",
        help="A secret; by default a fresh one from the operating system.",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="COL",
        help="Keep a column as it is; groups of people are then cut inside its levels. Repeatable,"
        " like all options that take COL.",
    ),
    click.option(
        "--keep-anyway",
        multiple=True,
        metavar="COL",
        help="Keep a column as it is whatever its levels; nothing is guaranteed then.",
    ),
    click.option(
        "--secrets",
        type=FILE,
        metavar="DIR",
        help="The private folder of a former run of the same table: its key, so that both releases"
        " have the same groups; never its seed.",
    ),
    click.option(
        "--id", multiple=True, metavar="COL", help="Replace a column by a fresh surrogate."
    ),
    *COLUMNS,
    click.option(
        "--linked",
        multiple=True,
        metavar="A,B",
        help="Draw categories together, so that they never contradict.",
    ),
    click.option(
        "--rare-as",
        metavar="VALUE",
        help="Write this instead of levels that too few people hold.",
    ),
    click.option(
        "--order",
        multiple=True,
        metavar="'A<=B'",
        help="An order of two columns that every avatar keeps, beside those that are found.",
    ),
    click.option(
        "--derive",
        multiple=True,
        metavar="'COL = FORMULA'",
        help="A column that others give, such as 'margin = price * (1 - discount)'.",
    ),
    click.option(
        "--no-constraints",
        "constraints",
        flag_value=False,
        default=True,
        type=bool,
        help="Do not look for what holds between columns.",
    ),
    click.option(
        "--rows-are-people",
        is_flag=True,
        help="Go on where a number of the person stands on several rows.",
    ),
    click.option(
        "--weight",
        multiple=True,
        metavar="COL=W",
        help="Weight of a column's squared distance; by default 1.",
    ),
    click.option(
        "--min-level-count",
        type=int,
        metavar="N",
        help="Levels that fewer people hold are never drawn; by default k, at most 10 for "
        "exchangeable (1 for barycentre).",
    ),
    click.option(
        "--augment", default=1, show_default=True, metavar="N", help="Avatars for each person."
    ),
)
GENERATION = (*SETTING, *MAKING)
SEVERAL = (
    click.option(
        "--person",
        metavar="COL",
        help="The column that tells people apart, where they have several rows: people are then"
        " protected, not rows. It is replaced by a surrogate.",
    ),
    click.option(
        "--child",
        multiple=True,
        metavar="NAME=FILE",
        help="A table of people's rows beside DATA, which has one row a person. Repeatable.",
    ),
    click.option(
        "--time",
        multiple=True,
        metavar="COL",
        help="The column that tells when a row was; NAME=COL for a child. By default the only date,"
        " else the only number that rises within every person.",
    ),
    click.option(
        "--end", metavar="COL", help="A column of people that no time exceeds; found by default."
    ),
)


@dataclass(frozen=True)
class Generation:
    """The options that say how avatars are made."""

    k: int | None
    components: int | None
    method: str
    decode: str | None
    seed: int | None
    keep: Sequence[str]
    keep_anyway: Sequence[str]
    secrets: Path | None
    drop: Sequence[str]
    id: Sequence[str]
    categorical: Sequence[str]
    numeric: Sequence[str]
    date: Sequence[str]
    linked: Sequence[str]
    weight: Sequence[str]
    min_level_count: int | None
    augment: int
    pivot: int | None
    coarsen: Sequence[str]
    rare_as: str | None
    order: Sequence[str]
    derive: Sequence[str]
    constraints: bool
    rows_are_people: bool

    def avatarizer(self, **changes: Any) -> Avatarizer:
        """An avatarizer with these options, some of them changed."""
        from sosie.generate.avatarizer import Avatarizer

        options: dict[str, Any] = {
            "k": self.k,
            "components": self.components,
            "method": self.method,
            "decode": self.decode,
            "seed": self.seed,
            "min_level_count": self.min_level_count,
            "augment": self.augment,
            "keep": names(self.keep, "--keep"),
            "keep_anyway": names(self.keep_anyway, "--keep-anyway"),
            "key": self._key(),
            "drop": names(self.drop, "--drop"),
            "id": names(self.id, "--id"),
            "categorical": names(self.categorical, "--categorical"),
            "numeric": names(self.numeric, "--numeric"),
            "pivot": self.pivot,
            "coarsen": lengths(self.coarsen),
            "rare_as": self.rare_as,
            "order": self.order,
            "derive": self.derive,
            "constraints": self.constraints,
            "rows_are_people": self.rows_are_people,
            "date": dates(self.date),
            "linked": [cells(group, "--linked") for group in self.linked],
            "weights": weights(self.weight),
        }
        return Avatarizer(**(options | changes))

    def _key(self) -> TableKey | None:
        from sosie.generate.secrets import read_key

        return None if self.secrets is None else read_key(self.secrets)


def generation(command: Callable[..., None]) -> Callable[..., None]:
    """Add the generation options to a command, which gets them as one `Generation`."""
    names = Generation.__dataclass_fields__

    @wraps(command)  # also takes the options that the command has already
    def gathered(**options: Any) -> None:
        made = Generation(**{name: options.pop(name) for name in names})
        command(made=made, **options)

    optioned: Callable[..., None] = with_options(GENERATION)(gathered)
    return optioned


def columns(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of columns and of how files are read to a command.

    It gets the first as one `Roles`, the second as one `Reading`.
    """

    @wraps(command)  # also takes the options that the command has already
    def gathered(*, how: Reading, **options: Any) -> None:
        from sosie.data.table import Roles

        def named(key: str) -> tuple[str, ...]:
            return tuple(names(options.pop(key), f"--{key}"))

        roles = Roles(
            drop=named("drop"),
            categorical=named("categorical"),
            numeric=named("numeric"),
            date=dates(options.pop("date")),
            na=how.na,
            pivot=options.pop("pivot"),
            coarsen=lengths(options.pop("coarsen")),
        )
        command(roles=roles, how=how, **options)

    optioned: Callable[..., None] = with_options(COLUMNS)(reading(gathered))
    return optioned


def several(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of people with several rows, which the command gets as one `Several`."""

    @wraps(command)
    def gathered(**options: Any) -> None:
        given = {name: options.pop(name) for name in ("person", "child", "time", "end")}
        command(people=_several(**given), **options)

    optioned: Callable[..., None] = with_options(SEVERAL)(gathered)
    return optioned


def _several(
    person: str | None, child: Sequence[str], time: Sequence[str], end: str | None
) -> Several | None:
    """What is said of people with several rows; None where nothing is."""
    from sosie.jobs.people import Several

    if person is None:
        if child or time or end is not None:
            raise InputError(
                "--child, --time and --end are of people with several rows: say which column tells"
                " people apart (--person COL)"
            )
        return None
    children = {}
    for option in child:
        name, sign, path = option.partition("=")
        if not sign or not name or not path or "/" in name:
            raise InputError(f"--child takes NAME=FILE, got {option!r}")
        if ":" in path and not Path(path).exists():
            raise InputError(
                f"--child {option}: rows of rows (NAME=FILE:PARENT) are not drawn; give each table"
                " as rows of people"
            )
        if name in children:
            raise InputError(f"--child: there are two tables {name!r}")
        children[name] = Path(path)
    return Several(person, children, _times(time, children), end)


def _times(options: Sequence[str], children: Mapping[str, Path]) -> str | dict[str, str] | None:
    """``COL``, or ``NAME=COL`` for some children."""
    named = {}
    for option in options:
        name, sign, column = option.partition("=")
        if sign and name in children:
            named[name] = column
        elif len(options) == 1:
            return option
        else:
            raise InputError(f"--time {option}: of several, each is NAME=COL of a child")
    return named or None


def with_options(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Add several options to a command, in order."""

    def added(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def examples(*lines: str) -> str:
    r"""The end of a help page: command lines, one below the other.

    >>> examples("sosie demo")
    '\x08\nExample:\n  sosie demo'
    """
    return "\n".join(["\b", "Examples:" if lines[1:] else "Example:", *(f"  {x}" for x in lines)])


def dates(options: Sequence[str]) -> dict[Hashable, str | None]:
    """``COL`` or ``COL=FORMAT`` as column -> format.

    >>> dates(["born=%d/%m/%Y", "visit", "a=b=%Y"])
    {'born': '%d/%m/%Y', 'visit': None, 'a=b': '%Y'}
    """
    found: dict[Hashable, str | None] = {}
    for option in options:
        before, sign, _ = option.partition("%")
        name = before.rpartition("=")[0] if sign else option.partition("=")[0]
        found[name] = option[len(name) + 1 :] or None
        if not name:
            raise InputError(f"--date takes COLUMN or COLUMN=FORMAT, got {option!r}")
    return found


def names(options: Sequence[str], name: str) -> list[str]:
    """Columns of an option that takes several, each time it is given.

    Parameters
    ----------
    name : of the option, for the message.

    >>> names(["a,b", 'arm,"arm, label"'], "--drop")
    ['a', 'b', 'arm', 'arm, label']
    """
    return [column for option in options for column in cells(option, name)]


def lengths(options: Sequence[str]) -> dict[Hashable, int]:
    """``COL=N`` as column -> number of characters.

    >>> lengths(["postcode=2"])
    {'postcode': 2}
    """
    found: dict[Hashable, int] = {}
    for option in options:
        name, _, length = option.rpartition("=")
        if not name or not length.isdecimal():
            raise InputError(f"--coarsen takes COLUMN=NUMBER, got {option!r}")
        found[name] = int(length)
    return found


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of how a file is read to a command, which gets them as one `Reading`."""

    @wraps(command)
    def gathered(**options: Any) -> None:
        from sosie.data.files import Reading

        how = Reading(
            separator=options.pop("sep"),
            header=options.pop("header"),
            decimal=options.pop("decimal"),
            na=tuple(names(options.pop("na"), "--na")),
            sheet=options.pop("sheet"),
            names_in=lines_of(options.pop("names_in")),
        )
        command(how=how, **options)

    optioned: Callable[..., None] = with_options(READING)(gathered)
    return optioned


def lines_of(option: str | None) -> tuple[int, int] | None:
    """First and last line of ``4`` or ``4-5``.

    >>> lines_of("4"), lines_of("4-5")
    ((4, 4), (4, 5))
    """
    if option is None:
        return None
    first, sign, last = option.partition("-")
    texts = (first, last if sign else first)
    if all(text.isdecimal() and len(text) < LONGEST_LINE for text in texts):
        start, end = map(int, texts)
        if 0 < end - 1 <= start <= end or start == end == 1:
            return start, end
    raise InputError(f"--names-in takes a line, or two that follow each other, got {option!r}")


def weights(options: Sequence[str]) -> dict[str, float]:
    """``COL=W`` as column -> weight.

    >>> weights(["age=2", "a=b=0.5"])
    {'age': 2.0, 'a=b': 0.5}
    """
    found = {}
    for option in options:
        name, _, weight = option.rpartition("=")
        try:
            found[name] = float(weight)
        except ValueError:
            name = ""
        if not name:
            raise InputError(f"--weight takes COLUMN=NUMBER, got {option!r}")
    return found


def size(option: str | None) -> int | None:
    """Bytes of a size as it is written, None where it is not."""
    from sosie.compute.memory import parsed

    return None if option is None else parsed(option)


def cells(option: str, name: str) -> list[str]:
    """Names separated by commas; a name with a comma is put in double quotes.

    Parameters
    ----------
    name : of the option, for the message.

    >>> cells('arm,"arm, label"', "--linked")
    ['arm', 'arm, label']
    """
    try:
        rows = list(csv.reader(io.StringIO(option, newline=""), strict=True))
    except csv.Error:
        rows = []
    if len(rows) != 1:
        raise InputError(
            f"{name} takes names separated by commas, those with a comma or a line end in "
            f"double quotes, got {option!r}"
        )
    return rows[0]
