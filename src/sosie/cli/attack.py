"""``sosie attack``: linkage attacks on avatars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sosie.cli.options import (
    FILE,
    HOLDOUT,
    HTML,
    JSON,
    KNOWN,
    LANGUAGE,
    MEMORY,
    Generation,
    Registered,
    examples,
    generation,
    names,
    reading,
    size,
)

if TYPE_CHECKING:
    from sosie.data.files import Reading

__all__ = ["attack"]


def _scenarios() -> Sequence[str]:
    from sosie.attacks.laboratory import SCENARIOS

    return SCENARIOS


def _estimators() -> Sequence[str]:
    from sosie.attacks.laboratory import ESTIMATORS

    return ESTIMATORS


@click.command(
    epilog=examples(
        "sosie attack patients.csv --drop patient_id --releases 10",
        "sosie attack patients.csv --drop patient_id --scenario all --curve --html attack.html",
    )
)
@click.argument("data", type=FILE)
@generation
@click.option(
    "--scenario",
    type=Registered("scenario", _scenarios),
    default="v1",
    show_default=True,
    help="What the attacker holds. v1: the originals and the generator; v2: one release and the"
    " generator; nearest: one full profile and one release; insert: that and the generator;"
    " partial: some columns of a profile; contributor: the originals and one release, to name"
    " whose row weighs most in a record; swap: everybody but one; intersect: several releases of a"
    " table that changes; membership: who took part, by likelihood ratio; groups: who is in which"
    " group; reconstruct: published releases alone, to rebuild rows.",
)
@click.option(
    "--releases",
    default=20,
    show_default=True,
    metavar="T",
    help="Releases that the attacker makes or holds; the one attacked is not among them.",
)
@click.option(
    "--candidates",
    default=50,
    show_default=True,
    metavar="M",
    help="People that the published protocol considers for each target.",
)
@click.option(
    "--attack-components",
    type=int,
    metavar="D",
    help="Dimensions in which the attacker works; by default 12 for the published protocol, and"
    " for the others what does best.",
)
@click.option(
    "--estimator",
    type=Registered("estimator", _estimators),
    default="all",
    show_default=True,
    help="How a person's avatars are modelled. analytic, geometry, combined and bayes need no"
    " release.",
)
@click.option("--curve", is_flag=True, help="Also with fewer releases: 2, 3, 5, 10, 20 … up to T.")
@click.option(
    "--repeats",
    default=1,
    show_default=True,
    metavar="N",
    help="Run so many times on releases of their own, to show the spread.",
)
@click.option(
    "--resume",
    type=FILE,
    metavar="DIR",
    help="Private folder that keeps what each release taught, so that the same command goes on"
    " where it stopped. It needs --seed.",
)
@KNOWN
@HOLDOUT
@reading
@MEMORY
@JSON
@HTML
@LANGUAGE
def attack(
    *,
    data: Path,
    made: Generation,
    scenario: str,
    releases: int,
    candidates: int,
    attack_components: int | None,
    estimator: str,
    curve: bool,
    repeats: int,
    resume: Path | None,
    known: Sequence[str],
    holdout: Path | None,
    how: Reading,
    memory: str | None,
    json_: Path | None,
    html: Path | None,
    lang: str,
) -> None:
    """Attack avatars of a table as strong opponents would.

    DATA is a CSV or Parquet file, or a folder of Parquet files, one row a person. Avatars are made
    of it, and attackers try to tell whose avatar each one is. The published protocol stands beside
    the strongest attacker.
    """
    from sosie.cli import terminal
    from sosie.jobs.attack import attack_file

    options: dict[str, Any] = {
        "scenario": scenario,
        "releases": releases,
        "candidates": candidates,
        "components": attack_components,
        "estimator": estimator,
        "curve": curve,
        "repeats": repeats,
        "folder": resume,
        "known": tuple(names(known, "--known")),
    }
    piped = json_ is not None and str(json_) == "-"
    with terminal.bar() as progress:
        found = attack_file(
            data,
            made.avatarizer(na=how.na),
            reading=how,
            results=None if piped else json_,
            page=html,
            holdout=holdout,
            memory=size(memory),
            language=lang,
            progress=progress,
            **options,
        )
    told = found.to_dict()
    terminal.notes(found.notes, lang)
    terminal.told(told, lambda: terminal.attack_table(told, lang), json_, html)
