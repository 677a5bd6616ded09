"""The whole job: a file in, a folder out, all of it or nothing."""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sosie._version import __version__
from sosie.audits.audit import AuditOptions, measured
from sosie.audits.comparison import Comparison
from sosie.audits.privacy.column_direct_match_protection import column_direct_match_protection
from sosie.audits.results import Audit, Metric, json_name
from sosie.audits.structure import contributions, links, space
from sosie.audits.summaries import distributions, projection
from sosie.audits.what_if_kept import what_if_kept
from sosie.compute.storage import MEMORY
from sosie.data.atomic import OWNER_FILE, OWNER_FOLDER, PRIVATE, SWEEP_KEY, atomic, settle, staged
from sosie.data.files import File, check_apart, check_format, check_room, read, write
from sosie.data.parquet import Scan
from sosie.data.table import Roles, Table
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer, Settings
from sosie.jobs.budget import Attack
from sosie.jobs.tables import Opened, alongside, opened, save
from sosie.report import build, read_folder

if TYPE_CHECKING:
    import polars as pl

    from sosie.audits.context import Context
    from sosie.generate.release import Release

__all__ = ["PRIVATE", "Run", "as_json", "run"]

FEWEST_SHOWN = 5
"""What fewer originals share is never shown, however small k is."""

CELL = 100
"""Bytes of memory that a run takes for each cell of a table, at least."""

MOST_ASIDE = 0.5

ALIGNED = f"{PRIVATE}/aligned.parquet"
OURS = ("avatars.csv", "avatars.parquet", "audit.json", "attack.json", "run.json", "report.html")
"""The files of a run's folder, beside the private ones."""

Progress = Callable[[str], None]

ABOUT_PRIVATE = """\
What is in this folder links avatars to people. Keep it with the originals, do not publish
it, and delete it when nothing more is to be measured.

aligned.parquet  row i is the avatar of row i of the original table (with several avatars
                 a person, one whole table after the other)
people.parquet   where people were set aside: those who took part, in the same order; and
holdout.parquet  those who did not
seed.txt         whoever has it and the originals can make the same avatars again
source.txt       the SHA-256 of the file and a key: HMAC-SHA256 of the one under the other is the
                 fingerprint in the report, which says nothing to those who lack the key

Ce dossier relie les avatars aux personnes. Gardez-le avec les données d'origine, ne le
diffusez pas, et supprimez-le quand il n'y a plus rien à mesurer.
"""


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
    notes : what deserves a look.
    """

    folder: Path
    avatars: Path
    report: Path
    audit: Audit
    attacks: dict[str, Any] | None
    notes: tuple[str, ...]


def run(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    *,
    separator: str | None = None,
    holdout: Path | None = None,
    holdout_share: float = 0.0,
    context: Context | None = None,
    releases: int | None = 0,
    memory: int | None = None,
    language: str = "en",
    progress: Progress = lambda _: None,
) -> Run:
    """Make avatars of a file, measure them, and write the folder.

    Parameters
    ----------
    data : CSV or Parquet file of people, or a folder of Parquet files.
    out : folder to write; what it held before stays until all is made.
    avatarizer : not yet fitted.
    separator : of a CSV; None finds it.
    holdout : file of people who take no part, for the controls.
    holdout_share : or a share of the people of `data`, 0 to 0.5, drawn at random.
    context : who receives the avatars: sets the targets and fills the report.
    releases : attack the avatars too, with so many further releases in the attacker's
        hands; None for 5, or fewer attackers on a large table; 0 for no attack.
    memory : see `avatarize_file`.
    language : of the report, ``en`` or ``fr``.
    progress : called with the name of each step.

    Raises
    ------
    InputError
        The file or the options can't be used, or the folder can't be written; nothing in
        the folder has changed.
    """
    _check_outside((data, holdout), out)
    _check_aside(data, holdout)
    with staged(out, OURS) as stage:
        progress("read")
        source = opened(
            data,
            avatarizer.settings,
            (*avatarizer.roles.keep, *avatarizer.roles.id),
            scratch=stage,
            separator=separator,
            memory=memory,
            compared=True,
            attack=Attack(refit=True, profile=True) if releases else None,
        )
        people: Any = source.frame
        aside: Any = None if holdout is None else alongside(holdout, source.space, separator)
        if holdout_share:
            if isinstance(people, Scan):
                raise InputError(
                    "a table larger than memory can't be parted here; write the people set aside"
                    " to a file of their own (--holdout)"
                )
            people, aside = set_aside(people, holdout_share, aside)
        if source.space is MEMORY:
            check_room(len(people) * people.width * CELL, f"a run on {data}")
        table = Table.of(people, avatarizer.roles, source.space, avatarizer.threads)
        progress("fit")
        avatarizer.fit(table)
        progress("draw")
        name = "avatars.parquet" if source.dialect is None else "avatars.csv"
        published, linked = avatarizer.both()
        save(published, stage / name, source.dialect)
        _write_private(stage / PRIVATE, linked, avatarizer.secret_seed)
        made: object = linked.frame() if source.space is MEMORY else Scan.of(stage / ALIGNED)
        del published, linked
        if holdout_share and aside is not None and not isinstance(people, Scan):
            write(people, stage / PRIVATE / "people.parquet", mode=OWNER_FILE)
            write(aside, stage / PRIVATE / "holdout.parquet", mode=OWNER_FILE)
        progress("audit")
        compared = Comparison.of(
            people,
            made,
            aligned=True,
            holdout=aside,
            roles=audited(avatarizer.roles),
            components=avatarizer.settings.components,
            threads=avatarizer.threads,
            space=source.space,
        )
        found = measured(compared, context=context, options=AuditOptions(k=avatarizer.settings.k))
        write_json(stage / "audit.json", found.to_dict())
        attacks: dict[str, Any] | None = None
        attack_notes: tuple[str, ...] = ()
        if releases != 0:
            progress("attack")
            attacks, attack_notes = attacked(avatarizer, releases)
        if attacks is not None:
            write_json(stage / "attack.json", attacks)
        progress("report")
        settings = avatarizer.settings
        key = secrets.token_hex(32)
        _write_source(stage / PRIVATE, source.sha256, key)
        _keep(out / PRIVATE / SWEEP_KEY, stage / PRIVATE / SWEEP_KEY)
        about = described(
            data,
            source,
            compared,
            key=key,
            least=max(settings.k, settings.min_level_count, FEWEST_SHOWN),
            roles=avatarizer.roles,
            parameters=asdict(settings),
            kinds={column.name: column.kind for column in table.columns},
            warnings=(*table.notes, *attack_notes),
        )
        write_json(stage / "run.json", about)
        write_report(stage, stage / "report.html", language)
    notes = tuple(about["warnings"])
    return Run(out, out / name, out / "report.html", found, attacks, notes)


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
    avatarizer: Avatarizer, releases: int | None
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """What ``attack.json`` holds, and what deserves a look.

    A table that can't be attacked is told in a note, unless releases were asked for.
    """
    from sosie.attacks.routine import routine

    try:
        found = routine(avatarizer, releases)
    except InputError as error:
        if releases is not None:
            raise
        return None, (f"the avatars were not attacked: {error}",)
    return found.to_dict(), tuple(f"attack: {note}" for note in found.notes)


def _check_outside(inputs: Iterable[Path | None], out: Path) -> None:
    """Raise InputError where a file to be read is one that the run would replace."""
    for path in inputs:
        if path is None or path.resolve().parent != out.resolve() / PRIVATE:
            continue
        raise InputError(f"{path}: the run would replace this file; choose another folder")
    check_apart(inputs, (out / name for name in OURS))


def _check_aside(data: Path, holdout: Path | None) -> None:
    """Raise InputError where the people set aside are the people themselves."""
    if holdout is not None and holdout.resolve() == data.resolve():
        raise InputError(
            f"{holdout}: this is the table itself; the holdout holds people who take no part in it"
        )


def avatarize_file(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    *,
    separator: str | None = None,
    aligned: Path | None = None,
    memory: int | None = None,
    progress: Progress = lambda _: None,
) -> tuple[str, ...]:
    """Make avatars of a file, shuffled, to a file; what deserves a look is returned.

    Parameters
    ----------
    data : a CSV or Parquet file, or a folder of Parquet files.
    memory : bytes to keep to, by default half of what is free; a Parquet table that takes more
        is read and written a column at a time.
    aligned : where to write the secret table, row i the avatar of row i, for its owner only.

    Raises
    ------
    InputError
        The file or the options can't be used, or a file can't be written.
    """
    check_apart([data], [out, aligned])
    for path in (out, aligned):
        if path is not None:
            check_format(path)
    progress("read")
    source = opened(
        data,
        avatarizer.settings,
        (*avatarizer.roles.keep, *avatarizer.roles.id),
        scratch=out.parent,
        separator=separator,
        memory=memory,
    )
    progress("fit")
    table = Table.of(source.frame, avatarizer.roles, source.space, avatarizer.threads)
    avatarizer.fit(table)
    progress("draw")
    published, linked = avatarizer.both()
    if aligned is not None:
        save(linked, aligned, source.dialect, OWNER_FILE)
    save(published, out, source.dialect)
    return (*source.notes, *avatarizer.table.notes)


def audit_files(
    originals: Path,
    avatars: Path,
    *,
    aligned: bool = False,
    holdout: Path | None = None,
    roles: Roles | None = None,
    components: int = 5,
    context: Context | None = None,
    guide: bool = False,
    separator: str | None = None,
    metrics: Path | None = None,
    page: Path | None = None,
    memory: int | None = None,
    language: str = "en",
    progress: Progress = lambda _: None,
) -> Audit:
    """Measure a file of avatars against a file of people.

    Parameters
    ----------
    context : who receives the avatars: sets the targets and fills the report.
    guide : also what each column would reveal if it were kept unchanged.
    metrics, page : where to write the metrics (JSON) and the report (HTML), if anywhere.
    memory : see `avatarize_file`.
    """
    check_apart([originals, avatars, holdout], [metrics, page])
    _check_aside(originals, holdout)
    progress("read")
    people = opened(
        originals,
        Settings.of(components=components),
        scratch=(page or metrics or Path("-")).parent,
        separator=separator,
        memory=memory,
        compared=True,
    )
    compared = Comparison.of(
        people.frame,
        alongside(avatars, people.space, separator),
        aligned=aligned,
        holdout=None if holdout is None else alongside(holdout, people.space, separator),
        roles=roles,
        components=components,
        space=people.space,
    )
    progress("audit")
    found = measured(compared, context=context, options=AuditOptions(k=FEWEST_SHOWN))
    if guide:
        kept = what_if_kept(compared if aligned else compared.originals)
        found = replace(found, what_if_kept=kept)
    if page is not None:
        progress("report")
        about = described(originals, people, compared, least=FEWEST_SHOWN)
        write_text(page, build(about, found.to_dict(), lang=language))
    if metrics is not None:
        write_json(metrics, found.to_dict())
    return found


def audit_spread(
    originals: Path,
    avatars: Path,
    *,
    scheduler: str,
    aligned: bool,
    roles: Roles,
    components: int,
    context: Context | None = None,
    metrics: Path | None = None,
    progress: Progress = lambda _: None,
) -> Audit:
    """Measure Parquet files of avatars against Parquet files of people, on a Dask cluster.

    Parameters
    ----------
    originals, avatars : a Parquet file, or a folder of them, that all workers can read.
    scheduler : address of a Dask scheduler; ``local`` starts workers on this machine.
    metrics : where to write the metrics (JSON), if anywhere.

    Raises
    ------
    InputError
        Dask is not installed, the cluster can't be reached, or the tables can't be compared.
    """
    from sosie import cluster

    check_apart([originals, avatars], [metrics])
    people, made = Scan.of(originals.resolve()), Scan.of(avatars.resolve())
    progress("read")
    with cluster.connected(scheduler):
        compared = cluster.compared(
            people, made, aligned=aligned, roles=roles, components=components, k=FEWEST_SHOWN
        )
        progress("audit")
        found = measured(compared, context=context, options=AuditOptions(k=FEWEST_SHOWN))
    if metrics is not None:
        write_json(metrics, found.to_dict())
    return found


def identifier_kept(
    data: Path,
    identifiers: Sequence[str],
    options: Mapping[str, Any],
    progress: Progress = lambda _: None,
) -> Metric:
    """Column direct match protection of avatars that keep an identifier, to show what it does."""
    progress("draw")
    frame = read(data).frame
    avatarizer = Avatarizer(keep=identifiers, **options)
    made = avatarizer.fit(Table.of(frame, avatarizer.roles)).release(shuffle=False)
    return column_direct_match_protection(frame, made)


def audited(roles: Roles) -> Roles:
    """The roles under which a release is compared: surrogates tell nothing, kept columns do."""
    return Roles(
        drop=(*roles.drop, *roles.id),
        categorical=roles.categorical,
        numeric=roles.numeric,
        date=roles.date,
        weights={name: w for name, w in roles.weights.items() if name not in roles.keep},
    )


def described(
    data: Path,
    source: File | Opened,
    compared: Comparison,
    *,
    least: int,
    key: str | None = None,
    roles: Roles | None = None,
    parameters: Mapping[str, Any] | None = None,
    kinds: Mapping[Hashable, str] | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """What ``run.json`` holds: the data, the parameters and the aggregates that the report shows.

    Parameters
    ----------
    least : what fewer originals share is not shown.
    key : of the file's fingerprint; None for no fingerprint. A plain digest would let whoever
        knows all people but one try who that one is.
    kinds : types of the columns, where avatars were made; by default as compared.
    """
    roles = roles or compared.originals.roles
    places = {
        **dict.fromkeys(roles.keep, "keep"),
        **dict.fromkeys(roles.drop, "drop"),
        **dict.fromkeys(roles.id, "id"),
    }
    known = {column.name: column.kind for column in compared.originals.columns} | dict(kinds or {})
    named = {
        "keep": list(roles.keep),
        "drop": list(roles.drop),
        "id": list(roles.id),
        "linked": [list(group) for group in roles.linked],
        "weights": {str(name): weight for name, weight in roles.weights.items()},
    }
    rng = np.random.default_rng(secrets.randbits(128))
    return {
        "schema": "sosie/run/1",
        "version": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {
            "name": _readable(data.name),
            "rows": len(source.frame),
            "columns": source.frame.width,
        }
        | ({} if key is None else {"fingerprint": fingerprint(source.sha256, key)}),
        "parameters": dict(parameters or {}) | named,
        "columns": [
            {"name": json_name(name), "kind": known.get(name), "role": places.get(name, "avatar")}
            for name in source.frame.columns
        ],
        "warnings": [*source.notes, *warnings],
        "what_if_kept": [dict(row) for row in what_if_kept(compared.originals).columns],
        "figures": {
            "projection": projection(compared, least, rng),
            "distributions": distributions(compared, least),
            "associations": links(compared),
            "contributions": contributions(compared),
            "space": space(compared, rng),
        },
    }


def write_report(folder: Path, path: Path, language: str) -> None:
    """Build the report of a folder's JSON files."""
    write_text(path, build(*read_folder(folder), lang=language))


def rebuild_report(folder: Path, path: Path | None, language: str) -> Path:
    """Write the report of a run's folder again, by default in the folder; say where it is."""
    target = path or folder / "report.html"
    check_apart([folder / name for name in OURS if name != "report.html"], [target])
    settle(folder, OURS)
    write_report(folder, target, language)
    return target


def fingerprint(sha256: str, key: str) -> str:
    """What tells a file to those who hold the key, and nothing to others; in hexadecimal.

    >>> fingerprint("9f86d081", "secret")[:16]
    '1802419408febba5'
    """
    return hmac.digest(key.encode(), sha256.encode(), "sha256").hex()


def _readable(name: str) -> str:
    """A file's name as Unicode text, whatever its bytes."""
    return os.fsencode(name).decode("utf-8", "replace")


def as_json(content: Mapping[str, Any]) -> str:
    """JSON text; NaN and infinity are faults and raise ValueError."""
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, as_json(content))


def write_text(path: Path, text: str, mode: int | None = None) -> None:
    """Write a text in UTF-8 whole or not at all."""
    atomic(path, lambda file: file.write(text.encode()), mode)


def _write_private(folder: Path, aligned: Release, seed: int) -> None:
    folder.mkdir(mode=OWNER_FOLDER)
    save(aligned, folder / "aligned.parquet", mode=OWNER_FILE)
    write_text(folder / "seed.txt", f"{seed}\n", OWNER_FILE)
    write_text(folder / "README.txt", ABOUT_PRIVATE, OWNER_FILE)


def _keep(before: Path, after: Path) -> None:
    """Take the key of a sweep over into new results: the sweep is of the same table."""
    with suppress(FileNotFoundError):
        content = before.read_bytes()
        atomic(after, lambda file: file.write(content), OWNER_FILE)


def _write_source(folder: Path, sha256: str, key: str) -> None:
    write_text(folder / "source.txt", f"sha256 {sha256}\nkey {key}\n", OWNER_FILE)
