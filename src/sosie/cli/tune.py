"""``sosie tune``: what each setting hides, and what it costs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sosie.cli.options import (
    ANALYSES,
    CONTEXT,
    FILE,
    HTML,
    JSON,
    LANGUAGE,
    MAKING,
    Generation,
    examples,
    reading,
    with_options,
)
from sosie.errors import InputError

if TYPE_CHECKING:
    from sosie.data.files import Reading

__all__ = ["several", "targets_of", "tune"]


Value = TypeVar("Value", int, str)


@click.command(
    epilog=examples(
        "sosie tune patients.csv --drop patient_id",
        "sosie tune patients.csv --k 5,10,20 --method smoothed --html settings.html",
        "sosie tune patients.csv --target strongest_attack=9 --releases 3 --resume out",
    )
)
@click.argument("data", type=FILE)
@click.option(
    "--k",
    "ks",
    default="3,5,8,10,15,20,30,50",
    show_default=True,
    metavar="N,N",
    help="Sizes of the smallest group, or numbers of neighbours, to try.",
)
@click.option(
    "--method",
    "methods",
    default="exchangeable,smoothed,barycentre",
    show_default=True,
    metavar="NAME,NAME",
    help="Methods to try.",
)
@click.option(
    "--components",
    default="5",
    show_default=True,
    metavar="D,D",
    help="Numbers of components to try.",
)
@click.option(
    "--releases",
    type=int,
    metavar="T",
    help="Releases that will ever be published; by default what the context says, or 1.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Target of a metric, such as hidden_rate=95, strongest_attack=9 (percent) or"
    " local_cloaking=none. Repeatable.",
)
@CONTEXT
@ANALYSES
@with_options(MAKING)
@reading
@JSON
@HTML
@click.option(
    "--resume",
    type=FILE,
    metavar="DIR",
    help="Folder that keeps each setting as soon as it is measured: the same command goes on"
    " from there, and the report of a run in that folder shows the sweep.",
)
@LANGUAGE
def tune(
    *,
    data: Path,
    ks: str,
    methods: str,
    components: str,
    releases: int | None,
    targets: Sequence[str],
    context: Path | None,
    texts: Sequence[str],
    how: Reading,
    json_: Path | None,
    html: Path | None,
    resume: Path | None,
    lang: str,
    **making: Any,
) -> None:
    """Choose k: what each setting hides, and what it costs.

    DATA is a CSV or Parquet file, one row a person. Each setting is used to make avatars,
    which are measured and attacked. The cheapest setting that meets the targets is named.
    """
    # The matrices are small: threads of BLAS would mostly wait for each other (numpy is not
    # loaded yet, and the kd-tree has threads of its own).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from sosie.audits.context import Context
    from sosie.cli import terminal
    from sosie.jobs.tune import tune_file
    from sosie.jobs.writing import as_json

    piped = json_ is not None and str(json_) == "-"
    made = Generation(k=1, components=1, method="smoothed", **making)
    options: dict[str, Any] = {
        "ks": several(ks, int, "--k"),
        "methods": several(methods, str, "--method"),
        "components": several(components, int, "--components"),
        "decode": made.decode,
        "min_level_count": made.min_level_count,
        "seed": made.seed,
        "releases": releases,
        "targets": targets_of(targets),
        "context": None if context is None else Context.of(file=context),
        "analyses": texts,
    }
    with terminal.bar() as progress:
        found = tune_file(
            data,
            reading=how,
            roles=made.avatarizer(na=how.na).roles,
            options=options,
            folder=resume,
            results=None if piped else json_,
            page=html,
            language=lang,
            progress=progress,
        )
    if piped:
        terminal.raw(as_json(found.to_dict()))
        return
    terminal.sweep_table(found.to_dict(), lang)
    for path in (json_, html):
        if path is not None:
            terminal.written("wrote", path, language=lang)


def several(option: str, read: Callable[[str], Value], name: str) -> tuple[Value, ...]:
    """Values separated by commas.

    >>> several("5, 10", int, "--k")
    (5, 10)
    """
    try:
        return tuple(read(part.strip()) for part in option.split(",") if part.strip())
    except ValueError:
        raise InputError(f"{name} takes values separated by commas, got {option!r}") from None


def targets_of(options: Sequence[str]) -> dict[str, float | None]:
    """``METRIC=VALUE`` as metric -> target, None for ``none``.

    >>> targets_of(["hidden_rate=95", "local_cloaking=none"])
    {'hidden_rate': 95.0, 'local_cloaking': None}
    """
    found: dict[str, float | None] = {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            found[name] = None if value == "none" else float(value)
        except ValueError:
            raise InputError(f"--target takes METRIC=VALUE, got {option!r}") from None
    return found
