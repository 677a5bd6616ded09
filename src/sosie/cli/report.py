"""``sosie report``: a run written out for others."""

from __future__ import annotations

from pathlib import Path

import click

from sosie.cli.options import CONTEXT, FILE, FILE_OR_DASH, LANGUAGE, examples

__all__ = ["report"]


@click.command(
    epilog=examples(
        "sosie report out --lang fr -o rapport.html",
        "sosie report out --context context.toml --pia assessment.json --docx report.docx",
    )
)
@click.argument("folder", type=FILE, metavar="DIR")
@click.option("-o", "--out", type=FILE, help="File to write; by default report.html in DIR.")
@click.option(
    "--docx",
    type=FILE,
    metavar="FILE",
    help="Also write a document that can be edited (needs pip install 'sosie[docx]').",
)
@click.option(
    "--pia",
    type=FILE,
    metavar="FILE",
    help="Also write an impact assessment that the CNIL's PIA software imports (JSON).",
)
@click.option(
    "--json",
    "json_",
    type=FILE_OR_DASH,
    metavar="FILE",
    help="Also write all of the run's figures as one JSON file; - for standard output.",
)
@CONTEXT
@LANGUAGE
def report(
    *,
    folder: Path,
    out: Path | None,
    docx: Path | None,
    pia: Path | None,
    json_: Path | None,
    context: Path | None,
    lang: str,
) -> None:
    """Write the report of a run again, and its other forms.

    DIR is the folder of a run; only its JSON files are read.
    """
    from sosie.cli import terminal
    from sosie.jobs.export import Exports, everything, export
    from sosie.jobs.writing import as_json

    piped = json_ is not None and str(json_) == "-"
    wanted = Exports(out or folder / "report.html", docx, pia, None if piped else json_)
    found = export(folder, wanted, context=context, language=lang)
    if piped:
        terminal.raw(as_json(everything(found)))
        return
    for path in wanted.paths:
        terminal.say(f"Wrote    {path}")
