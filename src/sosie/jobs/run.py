"""The whole job: a file in, a folder out, all of it or nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sosie.audits.audit import AuditOptions, measured
from sosie.audits.comparison import Comparison
from sosie.audits.context import Context, Known, known_to
from sosie.audits.results import Audit
from sosie.audits.twins import Fold, twins
from sosie.compute.storage import MEMORY
from sosie.data.atomic import OWNER_FILE, PRIVATE, SWEEP_KEY, staged
from sosie.data.constraints import Plan
from sosie.data.files import Reading, check_apart, check_room, write
from sosie.data.parquet import Scan
from sosie.data.table import Table
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.guarantee import Guarantee
from sosie.generate.notices import Notice
from sosie.generate.settings import Settings
from sosie.jobs.audit import check_aside
from sosie.jobs.budget import Attack
from sosie.jobs.constraints import kept_constraints
from sosie.jobs.description import FEWEST_SHOWN, described
from sosie.jobs.private import keep, write_private, write_source
from sosie.jobs.report import OURS, write_report
from sosie.jobs.tables import Opened, Progress, alongside, fitted, opened, save, silent
from sosie.jobs.writing import write_json
from sosie.studies.analyses import analyses, check

__all__ = ["Options", "Run", "run"]

CELL = 100
"""Bytes of memory that a run takes for each cell of a table, at least."""

NOBODY: Known = {}

MOST_ASIDE = 0.5
"""Share of the people that may be set aside: avatars of a minority would speak for nobody."""


@dataclass(frozen=True)
class Options:
    """How a run goes about it, beside how avatars are made.

    Attributes
    ----------
    reading : how files are read, where it is not found.
    holdout : file of people who take no part, for the controls.
    holdout_share : or a share of the people of the table, 0 to 0.5, drawn at random.
    context : who receives the avatars: sets the targets and fills the report.
    releases : attack the avatars too, with so many further releases in the attacker's
        hands; None for 5, or fewer attackers on a large table; 0 for no attack.
    memory : bytes to keep to, by default half of what is free; a Parquet table that takes
        more is read and written a column at a time.
    analyses : of the study (see `sosie.studies.grammar`); by default those of the context, and
        without any all pairs of columns are looked at.
    known : columns that an attacker with a part of a profile knows; by default those of the
        context.
    language : of the report, ``en`` or ``fr``.
    """

    reading: Reading = field(default_factory=Reading)
    holdout: Path | None = None
    holdout_share: float = 0.0
    context: Context | None = None
    releases: int | None = 0
    memory: int | None = None
    analyses: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    language: str = "en"

    @property
    def texts(self) -> tuple[str, ...]:
        """The analyses that were asked for, here or in the context."""
        return self.analyses or (() if self.context is None else self.context.analyses)

    @property
    def columns_known(self) -> Known:
        """The columns that each actor knows, named here or in the context."""
        return known_to(self.known) or ({} if self.context is None else self.context.known)


@dataclass(frozen=True)
class Run:
    """What `run` made.

    Attributes
    ----------
    folder : where it is.
    avatars : the file to publish.
    report : the page to read.
    audit : the metrics.
    attacks : what attack.json holds, or None.
    guarantee : what holds for the avatars, or why nothing does.
    notes : what deserves a look.
    plan : what holds between columns, and how it is kept; None where it was not looked for.
    """

    folder: Path
    avatars: Path
    report: Path
    audit: Audit
    attacks: dict[str, Any] | None
    guarantee: Guarantee
    notes: tuple[Reason | Notice, ...]
    plan: Plan | None


@dataclass(frozen=True)
class _People:
    """Those who take part, and those set aside.

    Attributes
    ----------
    source : the file that they came from.
    frame : those who take part: a dataframe, or what reads one column by column.
    aside : people who take no part, or None.
    drawn_aside : whether they were drawn from the same file.
    """

    source: Opened
    frame: Any
    aside: Any
    drawn_aside: bool


def run(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    options: Options | None = None,
    *,
    progress: Progress = silent,
) -> Run:
    """Make avatars of a file, measure them, and write the folder.

    Parameters
    ----------
    data : CSV or Parquet file of people, or a folder of Parquet files.
    out : folder to write; what it held before stays until all is made.
    avatarizer : not yet fitted.
    options : how to go about it.
    progress : called with the name of each step.

    Raises
    ------
    InputError
        The file or the options can't be used, or the folder can't be written; nothing in
        the folder has changed.
    """
    options = options or Options()
    _check_outside((data, options.holdout), out)
    check_aside(data, options.holdout)
    with staged(out, OURS) as stage:
        progress("read")
        people = _people(data, avatarizer, options, stage)
        table = Table.of(people.frame, avatarizer.roles, people.source.storage, avatarizer.threads)
        _check_analyses(table, people, options.texts)
        progress("fit")
        said = fitted(avatarizer, table)
        progress("draw")
        name = f"avatars{people.source.suffix}"
        aligned = _publish(avatarizer, people, stage, name)
        progress("audit")
        comparison = Comparison.of(
            avatarizer.originals.frame,
            aligned,
            aligned=True,
            holdout=people.aside,
            roles=avatarizer.roles.compared(),
            components=avatarizer.settings.components,
            threads=avatarizer.threads,
            storage=people.source.storage,
        )
        choices = AuditOptions(k=avatarizer.settings.k, known=options.columns_known or None)
        folds = None if people.aside is not None else _twins(avatarizer, comparison)
        audit = measured(comparison, context=options.context, options=choices, folds=folds)
        write_json(stage / "audit.json", audit.to_dict())
        if people.source.storage is MEMORY:
            progress("analyses")
            found = analyses(
                comparison.originals,
                comparison.avatars,
                options.texts,
                k=_least(avatarizer.settings),
            )
            write_json(stage / "analyses.json", found.to_dict())
        attacks: dict[str, Any] | None = None
        attack_notes: tuple[Reason, ...] = ()
        if options.releases != 0:
            progress("attack")
            attacks, attack_notes = attacked(avatarizer, options.releases, options.columns_known)
        if attacks is not None:
            write_json(stage / "attack.json", attacks)
        progress("report")
        key = secrets.token_hex(32)
        write_source(stage / PRIVATE, people.source.sha256, key)
        keep(out / PRIVATE / SWEEP_KEY, stage / PRIVATE / SWEEP_KEY)
        settings, notices = avatarizer.settings, avatarizer.warnings
        about = described(
            data,
            people.source,
            comparison,
            key=key,
            least=_least(settings),
            roles=avatarizer.roles,
            parameters=asdict(settings),
            kinds={column.name: column.kind for column in table.columns},
            warnings=(*table.notes, *said, *attack_notes, *notices),
        ) | {
            "guarantee": avatarizer.guarantee.to_json(),
            "constraints": kept_constraints(avatarizer, aligned),
        }
        write_json(stage / "run.json", about)
        write_report(stage, stage / "report.html", options.language)
    notes: tuple[Reason | Notice, ...] = (
        *people.source.notes,
        *table.notes,
        *said,
        *attack_notes,
        *notices,
    )
    report = out / "report.html"
    return Run(
        out, out / name, report, audit, attacks, avatarizer.guarantee, notes, avatarizer.plan
    )


def _people(data: Path, avatarizer: Avatarizer, options: Options, scratch: Path) -> _People:
    """Read the people, and those set aside."""
    source = opened(
        data,
        avatarizer.settings,
        (*avatarizer.roles.keep, *avatarizer.roles.id),
        scratch=scratch,
        reading=options.reading,
        memory=options.memory,
        compared=True,
        attack=Attack(refit=True, profile=True) if options.releases else None,
    )
    frame: Any = source.frame
    aside: Any = None
    if options.holdout is not None:
        aside = alongside(options.holdout, source.storage, options.reading)
    if options.holdout_share:
        if isinstance(frame, Scan):
            raise InputError(
                "a table larger than memory can't be parted here; write the people set aside"
                " to a file of their own (--holdout)"
            )
        frame, aside = set_aside(frame, options.holdout_share, aside)
    if source.storage is MEMORY:
        check_room(len(frame) * frame.width * CELL, f"a run on {data}")
    return _People(source, frame, aside, bool(options.holdout_share))


def _publish(avatarizer: Avatarizer, people: _People, stage: Path, name: str) -> object:
    """Write a release and the private folder; the aligned release is given back."""
    private = stage / PRIVATE
    published, aligned = avatarizer.both()
    save(published, stage / name, people.source.dialect)
    write_private(private, aligned, avatarizer)
    if people.drawn_aside:
        write(people.frame, private / "people.parquet", mode=OWNER_FILE)
        write(people.aside, private / "holdout.parquet", mode=OWNER_FILE)
    if people.source.storage is MEMORY:
        return aligned.frame()
    return Scan.of(private / "aligned.parquet")


def _twins(avatarizer: Avatarizer, comparison: Comparison) -> tuple[Fold, ...] | Reason:
    """Who stands for people who took no part, since everyone did."""
    components, threads = avatarizer.settings.components, avatarizer.threads
    return twins(avatarizer, comparison.originals, components, threads)


def _least(settings: Settings) -> int:
    """Originals who must share what a figure shows of them."""
    return max(settings.k, settings.min_level_count, FEWEST_SHOWN)


def _check_analyses(table: Table, people: _People, texts: tuple[str, ...]) -> None:
    """Raise InputError, before any long work, for analyses that can't be made."""
    if texts and people.source.storage is not MEMORY:
        raise InputError(
            "a table larger than memory can't be analysed here: leave the analyses out, or compare"
            " a sample of it and of its avatars with sosie analyses"
        )
    check(table, texts)


def set_aside(
    people: pl.DataFrame, share: float, aside: pl.DataFrame | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Those who take part, in their order, and those drawn at random who do not.

    Raises
    ------
    InputError
        The share is out of range or leaves nobody, or there is a holdout already.
    """
    if aside is not None:
        raise InputError("give the people set aside as a file or as a share, not both")
    count = round(share * len(people))
    if not 0 < share <= MOST_ASIDE or count < 1:
        raise InputError(
            f"the share set aside must be above 0 and at most {MOST_ASIDE}, and leave at least one"
            f" person of {len(people)} aside; got {share}"
        )
    rng = np.random.default_rng(secrets.randbits(128))
    drawn = np.zeros(len(people), dtype=bool)
    drawn[rng.permutation(len(people))[:count]] = True
    return people.filter(~drawn), people.filter(drawn)


def attacked(
    avatarizer: Avatarizer, releases: int | None, known: Known = NOBODY
) -> tuple[dict[str, Any] | None, tuple[Reason, ...]]:
    """What ``attack.json`` holds, and what deserves a look.

    A table that can't be attacked is told in a note, unless releases were asked for.
    """
    from sosie.attacks.routine import routine

    try:
        report = routine(avatarizer, releases, columns=known)
    except InputError as error:
        if releases is not None:
            raise
        why = error.reason or Reason("as_written", {"text": str(error)})
        return None, (Reason("run_not_attacked", {"why": why}),)
    return report.to_dict(), report.notes


def _check_outside(inputs: Iterable[Path | None], out: Path) -> None:
    """Raise InputError where a file to be read is one that the run would replace."""
    for path in inputs:
        if path is None or path.resolve().parent != out.resolve() / PRIVATE:
            continue
        raise InputError(f"{path}: the run would replace this file; choose another folder")
    check_apart(inputs, (out / name for name in OURS))
