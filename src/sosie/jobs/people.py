"""People with several rows: files in, files out."""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sosie.audits.audit import AuditOptions, measured
from sosie.audits.comparison import Comparison
from sosie.audits.registry import MEASURES
from sosie.audits.rows import compared_rows
from sosie.compute.storage import MEMORY
from sosie.data.atomic import PRIVATE, staged
from sosie.data.files import Reading, check_apart, check_format, write
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.notices import Notice
from sosie.jobs.constraints import constraints_in, kept_constraints
from sosie.jobs.description import FEWEST_SHOWN, described
from sosie.jobs.private import write_private, write_source
from sosie.jobs.report import OURS, write_report
from sosie.jobs.run import Options, Run, attacked
from sosie.jobs.tables import Opened, Progress, opened, said_while, silent
from sosie.jobs.writing import write_json

__all__ = ["Several", "avatarize_people", "run_people"]

PEOPLE = "people"


@dataclass(frozen=True)
class Several:
    """Whose rows are whose, and where they are.

    Attributes
    ----------
    person : the column that tells people apart.
    children : files of people's rows, by name; none where the table has several rows a person.
    time : the column that tells when; of several tables, by their names.
    end : an own column that no time exceeds.
    """

    person: str
    children: Mapping[str, Path] = field(default_factory=dict)
    time: str | Mapping[str, str] | None = None
    end: str | None = None


@dataclass(frozen=True)
class _Tables:
    """What was read.

    Attributes
    ----------
    people : the first table.
    children : the others, by name.
    said : what was said while they were fitted.
    """

    people: Opened
    children: Mapping[str, Opened]
    said: tuple[Reason, ...]

    @property
    def notes(self) -> tuple[Reason, ...]:
        """What was noticed in the files and in the tables."""
        every = (self.people, *self.children.values())
        return (*(note for one in every for note in one.notes), *self.said)


def avatarize_people(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    several: Several,
    *,
    reading: Reading | None = None,
    progress: Progress = silent,
) -> tuple[Reason | Notice, ...]:
    """Make avatars of people with several rows; what deserves a look is returned.

    Parameters
    ----------
    out : of the first table; the others are written beside it, under their names.

    Raises
    ------
    InputError
        A file or the options can't be used, or a file can't be written.
    """
    paths = {name: out.with_name(f"{name}{out.suffix}") for name in several.children}
    check_apart([data, *several.children.values()], [out, *paths.values()])
    check_format(out)
    progress("read")
    tables = _fitted(data, avatarizer, several, out.parent, reading, progress)
    progress("draw")
    made = avatarizer.release()
    if not several.children:
        made = {PEOPLE: made}
    write(made[PEOPLE], out, tables.people.dialect)
    for name, path in paths.items():
        write(made[name], path, tables.children[name].dialect)
    return (*tables.notes, *avatarizer.warnings)


def run_people(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    several: Several,
    options: Options | None = None,
    *,
    progress: Progress = silent,
) -> Run:
    """Make avatars of people with several rows, measure them, and write the folder.

    Metrics and attacks are about people: they are told as their groups are cut, by their own
    columns and what their rows tell of them. Rows are drawn from that and from what is pooled
    over everybody, so that nobody learns more of a person from the rows than from it.

    Raises
    ------
    InputError
        A file or the options can't be used, or the folder can't be written; nothing in the
        folder has changed.
    """
    options = options or Options()
    _check(options)
    check_apart([data, *several.children.values()], (out / name for name in OURS))
    with staged(out, OURS) as stage:
        progress("read")
        tables = _fitted(data, avatarizer, several, stage, options.reading, progress)
        progress("draw")
        names = _write_release(avatarizer, several, tables, stage)
        progress("audit")
        comparison = Comparison.of(
            avatarizer.table,
            avatarizer.draw(),
            aligned=True,
            components=avatarizer.settings.components,
            threads=avatarizer.threads,
        )
        k = avatarizer.settings.k
        # Rules between what people are told by, such as shares that sum to 1, are no one's data.
        metrics = [key for key in MEASURES if key != "contradictions"]
        audit = measured(
            comparison, context=options.context, metrics=metrics, options=AuditOptions(k=k)
        )
        rows = _rows(avatarizer, several, tables)
        write_json(stage / "audit.json", audit.to_dict() | {"children": rows})
        attacks: dict[str, Any] | None = None
        attack_notes: tuple[Reason, ...] = ()
        if options.releases != 0:
            progress("attack")
            attacks, attack_notes = attacked(avatarizer, options.releases)
        if attacks is not None:
            write_json(stage / "attack.json", attacks)
        progress("report")
        key = secrets.token_hex(32)
        write_source(stage / PRIVATE, tables.people.sha256, key)
        notices = avatarizer.warnings
        settings = avatarizer.settings
        about = described(
            data,
            tables.people,
            comparison,
            key=key,
            least=max(k, settings.min_level_count, FEWEST_SHOWN),
            roles=avatarizer.roles,
            parameters=asdict(settings) | {"person": several.person},
            kinds={column.name: column.kind for column in avatarizer.table.columns},
            warnings=(*tables.said, *attack_notes, *notices),
        ) | {
            "guarantee": avatarizer.guarantee.to_json(),
            "constraints": [
                *kept_constraints(avatarizer, avatarizer.aligned().frame),
                *_kept_in_rows(avatarizer, several),
            ],
        }
        write_json(stage / "run.json", about)
        write_report(stage, stage / "report.html", options.language)
    notes: tuple[Reason | Notice, ...] = (*tables.notes, *attack_notes, *notices)
    report = out / "report.html"
    return Run(
        out, out / names[0], report, audit, attacks, avatarizer.guarantee, notes, avatarizer.plan
    )


def _check(options: Options) -> None:
    """Raise InputError for what is not there for people with several rows."""
    for given, name in (
        (options.holdout, "--holdout"),
        (options.holdout_share, "--holdout-share"),
        (options.analyses, "--analysis"),
        (options.memory, "--memory"),
    ):
        if given:
            raise InputError(f"{name} is for tables of one row a person: leave it out (--person)")


def _fitted(
    data: Path,
    avatarizer: Avatarizer,
    several: Several,
    scratch: Path,
    reading: Reading | None,
    progress: Progress,
) -> _Tables:
    """Read the tables and fit the avatarizer to them."""

    def read(path: Path) -> Opened:
        made = opened(path, avatarizer.settings, scratch=scratch, reading=reading)
        if made.storage is not MEMORY:
            raise InputError(
                f"{path}: people with several rows (--person) are drawn from tables in memory, and"
                " this one takes more than half of what is free"
            )
        return made

    people = read(data)
    children = {name: read(path) for name, path in several.children.items()}
    progress("fit")
    said = said_while(
        lambda: avatarizer.fit(
            people.frame,
            person=several.person,
            children={name: child.frame for name, child in children.items()},
            time=several.time,
            end=several.end,
        )
    )
    return _Tables(people, children, said)


def _write_release(
    avatarizer: Avatarizer, several: Several, tables: _Tables, stage: Path
) -> list[str]:
    """Write what is published and the private folder; names of the files, the first one's first."""
    made = avatarizer.release()
    if not several.children:
        made = {PEOPLE: made}
    names = [f"avatars{tables.people.suffix}"]
    write(made[PEOPLE], stage / names[0], tables.people.dialect)
    for name, child in tables.children.items():
        names.append(f"{name}{child.suffix}")
        write(made[name], stage / names[-1], child.dialect)
    _, aligned = avatarizer.both()
    write_private(stage / PRIVATE, aligned, avatarizer)
    return names


def _kept_in_rows(avatarizer: Avatarizer, several: Several) -> list[dict[str, Any]]:
    """Each constraint within rows, as `kept_constraints` has those of people."""
    released = avatarizer.release(0)
    made = released if several.children else {"rows": released}
    return [
        told
        for name, plan in avatarizer.row_plans().items()
        for told in constraints_in(plan, made[name].select(plan.table.frame.columns))
    ]


def _rows(avatarizer: Avatarizer, several: Several, tables: _Tables) -> dict[str, Any]:
    """Utility of each table of rows, by its name."""
    released = avatarizer.release(0)
    originals: dict[str, Any] = {name: child.frame for name, child in tables.children.items()}
    avatars = released if several.children else {"rows": released}
    if not several.children:
        originals = {"rows": tables.people.frame}
    times: Mapping[str, Hashable] = avatarizer.times
    return {
        name: compared_rows(
            name,
            frame,
            avatars[name],
            several.person,
            times[name],
            people=len(avatarizer.table),
            k=max(avatarizer.settings.k, FEWEST_SHOWN),
            roles=avatarizer.roles,
        ).to_json()
        for name, frame in originals.items()
    }
