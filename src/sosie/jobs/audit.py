"""Measures of a file of avatars against a file of people."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from sosie.audits.audit import AuditOptions, measured
from sosie.audits.comparison import Comparison
from sosie.audits.context import Context, known_to
from sosie.audits.results import Audit
from sosie.audits.what_if_kept import what_if_kept
from sosie.data.files import Reading, check_apart
from sosie.data.parquet import Scan
from sosie.data.table import Roles
from sosie.errors import InputError
from sosie.generate.methods import settings_of
from sosie.jobs.description import FEWEST_SHOWN, described
from sosie.jobs.tables import Opened, Progress, alongside, opened, silent
from sosie.jobs.writing import write_json, write_text
from sosie.report import build

__all__ = ["Options", "audit_files", "audit_on_cluster", "check_aside"]


@dataclass(frozen=True)
class Options:
    """How avatars are measured.

    Attributes
    ----------
    aligned : whether row i of the avatars is the avatar of row i of the originals.
    holdout : file of people who took no part, for the controls.
    roles : what is said about columns.
    components : dimensions of the latent space.
    context : who receives the avatars: sets the targets and fills the report.
    guide : also what each column would reveal if it were kept unchanged.
    reading : how files are read, where it is not found.
    memory : bytes to keep to, by default half of what is free; a Parquet table that takes
        more is read a column at a time.
    known : columns that an attacker knows; by default those of the context.
    language : of the report, ``en`` or ``fr``.
    """

    aligned: bool = False
    holdout: Path | None = None
    roles: Roles = field(default_factory=Roles)
    components: int = 5
    context: Context | None = None
    guide: bool = False
    reading: Reading = field(default_factory=Reading)
    memory: int | None = None
    known: tuple[str, ...] = ()
    language: str = "en"

    @property
    def measuring(self) -> AuditOptions:
        """What the metrics are told."""
        known = known_to(self.known) or ({} if self.context is None else self.context.known)
        return AuditOptions(k=FEWEST_SHOWN, known=known or None)


def audit_files(
    originals: Path,
    avatars: Path,
    options: Options | None = None,
    *,
    metrics: Path | None = None,
    page: Path | None = None,
    progress: Progress = silent,
) -> Audit:
    """Measure a file of avatars against a file of people.

    Parameters
    ----------
    metrics, page : where to write the metrics (JSON) and the report (HTML), if anywhere.

    Raises
    ------
    InputError
        The tables can't be compared, or a file can't be written.
    """
    options = options or Options()
    check_apart([originals, avatars, options.holdout], [metrics, page])
    check_aside(originals, options.holdout)
    progress("read")
    people = opened(
        originals,
        settings_of(components=options.components),
        scratch=(page or metrics or Path("-")).parent,
        reading=options.reading,
        memory=options.memory,
        compared=True,
    )
    comparison = _comparison(people, avatars, options)
    progress("audit")
    audit = measured(comparison, context=options.context, options=options.measuring)
    if options.guide:
        kept = what_if_kept(comparison if options.aligned else comparison.originals)
        audit = replace(audit, what_if_kept=kept)
    if page is not None:
        progress("report")
        about = described(originals, people, comparison, least=FEWEST_SHOWN)
        write_text(page, build(about, audit.to_dict(), lang=options.language))
    if metrics is not None:
        write_json(metrics, audit.to_dict())
    return audit


def _comparison(people: Opened, avatars: Path, options: Options) -> Comparison:
    holdout = options.holdout
    return Comparison.of(
        people.frame,
        alongside(avatars, people.storage, options.reading),
        aligned=options.aligned,
        holdout=None if holdout is None else alongside(holdout, people.storage, options.reading),
        roles=options.roles,
        components=options.components,
        storage=people.storage,
    )


def audit_on_cluster(
    originals: Path,
    avatars: Path,
    options: Options,
    *,
    scheduler: str,
    metrics: Path | None = None,
    progress: Progress = silent,
) -> Audit:
    """Measure Parquet files of avatars against Parquet files of people, on a Dask cluster.

    Parameters
    ----------
    originals, avatars : a Parquet file, or a folder of them, that all workers can read.
    options : of which a cluster takes `aligned`, `roles`, `components` and `context`.
    scheduler : address of a Dask scheduler; ``local`` starts workers on this machine.
    metrics : where to write the metrics (JSON), if anywhere.

    Raises
    ------
    InputError
        Dask is not installed, the cluster can't be reached, the tables can't be compared, or
        an option needs all rows on one machine.
    """
    from sosie import cluster

    _check_spread(options)
    check_apart([originals, avatars], [metrics])
    people, records = Scan.of(originals.resolve()), Scan.of(avatars.resolve())
    progress("read")
    with cluster.connected(scheduler):
        comparison = cluster.compared(
            people,
            records,
            aligned=options.aligned,
            roles=options.roles,
            components=options.components,
            k=FEWEST_SHOWN,
        )
        progress("audit")
        audit = measured(comparison, context=options.context, options=options.measuring)
    if metrics is not None:
        write_json(metrics, audit.to_dict())
    return audit


def _check_spread(options: Options) -> None:
    """Raise InputError for options that need the rows on one machine."""
    for name, given in (
        ("--holdout", options.holdout),
        ("--what-if-kept", options.guide or None),
        ("--sep and the like", options.reading.given() or None),
        ("--memory", options.memory),
    ):
        if given is not None:
            raise InputError(
                f"{name} is not for a cluster: leave it out, or measure a sample without"
                " --scheduler"
            )


def check_aside(data: Path, holdout: Path | None) -> None:
    """Raise InputError where the people set aside are the people themselves."""
    if holdout is not None and holdout.resolve() == data.resolve():
        raise InputError(
            f"{holdout}: this is the table itself; the holdout holds people who take no part in it"
        )
