"""A run's folder written out for others: report, document, impact assessment, one JSON file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sosie.audits.context import Context
from sosie.data.files import check_apart
from sosie.errors import InputError
from sosie.report import RunFolder, build, build_docx, build_pia, read_folder

__all__ = ["Exports", "export", "with_context"]

SCHEMA = "sosie/report/1"


@dataclass(frozen=True)
class Exports:
    """Where to write what; None for nothing.

    Attributes
    ----------
    page : the report (HTML).
    document : the report as a document that can be edited (DOCX).
    assessment : the impact assessment in the CNIL's PIA form (JSON).
    everything : the run's JSON files as one.
    """

    page: Path | None = None
    document: Path | None = None
    assessment: Path | None = None
    everything: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those that are wanted."""
        every = (self.page, self.document, self.assessment, self.everything)
        return tuple(path for path in every if path is not None)


def export(
    folder: Path, wanted: Exports, *, context: Path | None = None, language: str = "en"
) -> RunFolder:
    """Write out a run from its JSON files; the data are not needed.

    Parameters
    ----------
    folder : of the run.
    context : file whose statements stand in place of those of the run; targets stay.
    language : ``en`` or ``fr``.

    Returns
    -------
    RunFolder
        What was written out.

    Raises
    ------
    InputError
        A file of the folder is missing, damaged or newer; the context can't be used; a file
        can't be written; or a .docx is wanted and its packages are not installed.
    """
    from sosie.data.atomic import settle
    from sosie.jobs.report import OURS
    from sosie.jobs.writing import as_json, write_text

    ours = [name for name in (*OURS, "tune.json") if name != "report.html"]
    check_apart([*(folder / name for name in ours), context], list(wanted.paths))
    settle(folder, OURS)
    found = with_context(read_folder(folder), context)
    with _as_written(folder):
        if wanted.page is not None:
            write_text(wanted.page, build(*found, lang=language))
        if wanted.document is not None:
            write_bytes(wanted.document, build_docx(*found, lang=language))
        if wanted.assessment is not None:
            pia = build_pia(found.run, found.audit, found.attack, language)
            write_text(wanted.assessment, as_json(pia))
        if wanted.everything is not None:
            write_text(wanted.everything, as_json(everything(found)))
    return found


@contextmanager
def _as_written(folder: Path) -> Iterator[None]:
    """What can't be told from files that were changed by hand is no fault of the report."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {str(error)[:100]}"
        raise InputError(
            f"{folder}: its JSON files are not as sosie wrote them ({what}); make the run again"
        ) from error


def with_context(found: RunFolder, context: Path | None) -> RunFolder:
    """A run whose statements are those of a context file."""
    if context is None:
        return found
    told = Context.of(file=context).to_dict()
    before: Mapping[str, Any] = found.audit.get("context") or {}
    # Metrics were judged against the run's own targets: what set those is not rewritten.
    merged = told | {key: value for key, value in before.items() if key != "stated"}
    merged["stated"] = told.get("stated", {})
    return found._replace(audit=found.audit | {"context": merged})


def everything(found: RunFolder) -> dict[str, Any]:
    """All that a run's JSON files say, as one object."""
    return {"schema": SCHEMA, **found._asdict()}


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    from sosie.data.atomic import atomic

    atomic(path, lambda file: file.write(content))
