"""The report as a document that can be edited: the same sections, tables and figures.

Needs python-docx and resvg_py: ``pip install 'sosie[docx]'``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sosie.errors import InputError
from sosie.report.figures.drawing import Figure
from sosie.report.page import figures_of, read_views
from sosie.words import Words, load

if TYPE_CHECKING:
    from docx.document import Document

__all__ = ["build_docx"]

_WIDE, _NARROW = 600, 300
_FINE = 2.0  # points of a picture for each pixel of a screen: 192 an inch
_SVG_EXTENSION = (
    '<a:extLst xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    '<a:ext uri="{{96DAC541-7B7A-43D3-8B79-37D633B846F1}}">'
    '<asvg:svgBlip xmlns:asvg="http://schemas.microsoft.com/office/drawing/2016/SVG/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' r:embed="{link}"/></a:ext></a:extLst>'
)
_INCH = 96
_INK, _SOFT, _WASH = "12405F", "52616D", "EEF2F5"
_MOST_DISTRIBUTIONS = 60
_MOST_ROWS = 60
_MOST_USUAL = 8
"""Columns beyond which a table is set in smaller type."""


def build_docx(
    run: Mapping[str, Any],
    audit: Mapping[str, Any],
    attack: Mapping[str, Any] | None = None,
    tune: Mapping[str, Any] | None = None,
    analyses: Mapping[str, Any] | None = None,
    *,
    lang: str = "en",
) -> bytes:
    """The bytes of a .docx file.

    Parameters
    ----------
    run, audit, attack, tune, analyses
        What ``run.json``, ``audit.json`` and the others say.
    lang
        ``"en"`` or ``"fr"``.

    Raises
    ------
    InputError
        python-docx or resvg_py is not installed, or there are no words for ``lang``.
    """
    words = load(lang)
    views = read_views(words, run, audit, attack, tune, analyses)
    paper = _Paper(words, figures_of(views))
    paper.title(views["title"], views["subtitle"], _moment(run["created"]))
    for key, heading in views["chapters"]:
        paper.heading(heading, 1)
        _CHAPTERS[key](paper, words, views)
    paper.small(views["about"])
    paper.small(words("report.about.patents"))
    return paper.content()


def raster(svg: str, width: int) -> bytes:
    """PNG of a figure, ``width`` pixels of a screen wide."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, width=round(width * _FINE), background="#ffffff")
    )


def _moment(created: str) -> datetime:
    try:
        return datetime.fromisoformat(created)
    except ValueError:
        return datetime(2000, 1, 1, tzinfo=UTC)


class _Paper:
    """A document under way."""

    def __init__(self, words: Words, figures: Mapping[str, Figure]) -> None:
        try:
            import docx
            import resvg_py  # noqa: F401 (asked for before any work is done)
        except ImportError as error:
            raise InputError(
                f"a .docx needs {error.name}, which is not installed: pip install 'sosie[docx]'"
            ) from None
        self.words = words
        self.figures = figures
        self.document: Document = docx.Document()
        self._set_up()

    def _set_up(self) -> None:
        from docx.oxml.ns import qn
        from docx.shared import Cm, Pt, RGBColor

        section = self.document.sections[0]
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.left_margin = section.right_margin = Cm(2)
        section.top_margin = section.bottom_margin = Cm(1.8)
        styles: Any = self.document.styles
        styles["Normal"].font.name = "Liberation Sans"
        styles["Normal"].font.size = Pt(10)
        for level, size in ((1, 16), (2, 12.5), (3, 11)):
            style = styles[f"Heading {level}"]
            style.font.name, style.font.size = "Liberation Sans", Pt(size)
            style.font.color.rgb = RGBColor.from_string(_INK)
            fonts = style.element.rPr.rFonts
            for kind in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
                fonts.attrib.pop(qn(f"w:{kind}"), None)

    def title(self, title: str, subtitle: str, created: datetime) -> None:
        """Title and what the file says of itself."""
        from docx.shared import Pt

        core = self.document.core_properties
        core.title, core.author, core.comments = _plain(title)[:250], "", ""
        core.created = core.modified = created.astimezone(UTC).replace(tzinfo=None)
        core.language = self.words.language
        self.small(subtitle)
        run = self.document.add_paragraph().add_run(_plain(title))
        run.bold, run.font.size = True, Pt(20)

    def heading(self, text: str, level: int) -> None:
        """A heading."""
        self.document.add_heading(_plain(text), level)

    def text(self, text: str, *, bold: bool = False) -> None:
        """A paragraph; nothing where there is no text."""
        if text:
            self.document.add_paragraph().add_run(_plain(text)).bold = bold

    def small(self, text: str) -> None:
        """A paragraph in small type."""
        from docx.shared import Pt, RGBColor

        if text:
            run = self.document.add_paragraph().add_run(_plain(text))
            run.font.size, run.font.color.rgb = Pt(8.5), RGBColor.from_string(_SOFT)

    def points(self, texts: Iterable[str], style: str = "List Bullet") -> None:
        """A list."""
        from docx.shared import Pt

        for text in texts:
            paragraph = self.document.add_paragraph(_plain(text), style=style)
            paragraph.paragraph_format.space_after = Pt(2)

    def pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        """A term and its text, one below the other."""
        for term, text in pairs:
            paragraph = self.document.add_paragraph()
            paragraph.add_run(_plain(term)).bold = True
            paragraph.add_run(f"\n{_plain(text)}")

    def table(
        self, headings: Sequence[str], rows: Sequence[Sequence[str]], most: int = _MOST_ROWS
    ) -> None:
        """A table whose headings come again on each page; numbers are set to the right."""
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls
        from docx.shared import Inches

        table: Any = self.document.add_table(rows=1, cols=len(headings), style="Table Grid")
        table.autofit = False
        margins = "".join(f'<w:{side} w:w="60" w:type="dxa"/>' for side in ("left", "right"))
        table._tbl.tblPr.append(parse_xml(f"<w:tblCellMar {nsdecls('w')}>{margins}</w:tblCellMar>"))
        size = 8.0 if len(headings) <= _MOST_USUAL else 6.5
        shown = [list(headings), *(list(row) for row in rows[:most])]
        widths = _widths(shown)
        for column, width in zip(table.columns, widths, strict=True):
            column.width = Inches(width)
        for place, row in enumerate(shown):
            cells = table.rows[0].cells if place == 0 else table.add_row().cells
            for cell, text, width in zip(cells, row, widths, strict=True):
                cell.width = Inches(width)
                _fill(cell, text, bold=place == 0, size=size)
                if place == 0:
                    shade = parse_xml(f'<w:shd {nsdecls("w")} w:val="clear" w:fill="{_WASH}"/>')
                    cell._tc.get_or_add_tcPr().append(shade)
        repeat = parse_xml(f'<w:tblHeader {nsdecls("w")} w:val="true"/>')
        table.rows[0]._tr.get_or_add_trPr().append(repeat)
        self.small(self._rest(len(rows) - most) or " ")

    def _rest(self, hidden: int) -> str:
        return "" if hidden <= 0 else self.words("report.docx.rows", n=self.words.number(hidden))

    def figure(self, key: str, alt: str, width: int = _WIDE) -> None:
        """A figure with its alternative text."""
        self._picture(self.document.add_paragraph(), key, alt, width)

    def pictures(self, drawn: Iterable[tuple[str, str, str, str]]) -> None:
        """Small figures, two a row: title, identifier, alternative text and caption of each."""
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls

        every = list(drawn)
        if not every:
            return
        table: Any = self.document.add_table(rows=-(-len(every) // 2), cols=2)
        for row in table.rows:
            row._tr.get_or_add_trPr().append(parse_xml(f"<w:cantSplit {nsdecls('w')}/>"))
        for place, (title, key, alt, caption) in enumerate(every):
            cell = table.cell(place // 2, place % 2)
            cell.paragraphs[0].add_run(_plain(title)).bold = True
            self._picture(cell.add_paragraph(), key, alt, _NARROW)
            _fill(cell, caption, new=True)

    def _picture(self, paragraph: Any, key: str, alt: str, width: int) -> None:
        from docx.shared import Inches

        svg = self.figures[key].svg
        image = io.BytesIO(raster(svg, width))
        drawn = paragraph.add_run().add_picture(image, width=Inches(width / _INCH))
        drawn._inline.docPr.set("descr", _plain(alt))
        drawn._inline.docPr.set("name", key)
        self._as_lines(drawn, svg)

    def _as_lines(self, drawn: Any, svg: str) -> None:
        """Add the picture as SVG, which newer programs show in the place of its points."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.opc.packuri import PackURI
        from docx.opc.part import Part
        from docx.oxml import parse_xml

        package = self.document.part.package
        name = PackURI(str(package.next_partname("/word/media/figure%d.svg")))
        part = Part(name, "image/svg+xml", svg.encode(), package)
        link = self.document.part.relate_to(part, RELATIONSHIP_TYPE.IMAGE)
        blip = drawn._inline.graphic.graphicData.pic.blipFill.blip
        blip.append(parse_xml(_SVG_EXTENSION.format(link=link)))

    def content(self) -> bytes:
        """The file."""
        stream = io.BytesIO()
        self.document.save(stream)
        return stream.getvalue()


def _fill(
    cell: Any, text: str, *, bold: bool = False, new: bool = False, size: float = 8.0
) -> None:
    """Small text in a cell; numbers are set to the right."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    paragraph = cell.add_paragraph() if new else cell.paragraphs[0]
    paragraph.paragraph_format.space_after = Pt(0)
    run = paragraph.add_run(_plain(text))
    run.font.size, run.bold = Pt(size), bold
    if not bold and re.fullmatch(r"[−–\d.,  \u00a0\u202f%]+", text.partition("\n")[0]):
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT


def _widths(rows: Sequence[Sequence[str]], total: float = 6.69) -> list[float]:
    """Widths of columns in inches: more for longer texts, enough for the longest word.

    >>> _widths([["a", "b"], ["a longer text", "1"]], total=4.0)
    [2.84, 1.16]
    """
    shares = []
    for column in zip(*rows, strict=True):
        longest = max(max((len(line) for line in text.split("\n")), default=0) for text in column)
        word = max(max((len(word) for word in text.split()), default=0) for text in column)
        shares.append(max(min(longest, 36) ** 0.7, min(word, 30) * 0.75) + 2.5)  # room for edges
    return [round(total * share / sum(shares), 2) for share in shares]


def _plain(text: object) -> str:
    r"""Text that an XML file can hold.

    >>> _plain("a\x00b")
    'a\ufffdb'
    """
    return re.sub(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", str(text))


def _identity(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view = views["identity"]
    facts = [(label, text) for _, label, text in view.facts]
    if view.fingerprint:
        facts.append((words("report.identity.fingerprint"), view.fingerprint))
    paper.table(
        [words("report.context.question"), words("report.context.answer")],
        [*facts, *view.parameters],
    )
    if not view.parameters:
        paper.text(words("report.identity.unknown_parameters"))
    paper.small(words("report.identity.secret"))


def _summary(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    paper.heading(words("report.summary.done"), 2)
    for text in views["done"]:
        paper.text(text)
    if views["identity"].warnings:
        paper.heading(words("report.identity.warnings"), 2)
        paper.points(warning.text for warning in views["identity"].warnings)
    _guarantee(paper, words, views)
    paper.heading(words("report.summary.verdict"), 2)
    for criterion in views["criteria"]:
        verdict = words("format.colon", label=criterion.name, value=criterion.result)
        paper.text(verdict, bold=True)
        paper.text(" ".join([criterion.definition, *criterion.verdict]))
    paper.heading(words("report.summary.attackers"), 2)
    paper.points(views["attackers"])
    if views["survival"] is not None:
        paper.heading(words("analyses.question"), 2)
        survival = views["survival"]
        paper.points(survival.summary)
        paper.text(survival.worst_heading)
        paper.points(survival.worst)
    paper.heading(words("report.summary.remains"), 2)
    paper.points(views["remains"])


def _constraints(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    if not views["constraints"]:
        return
    paper.heading(words("constraints.heading"), 2)
    paper.text(words("constraints.intro"))
    keys = ("text", "kind", "origin", "avatars")
    headings = [words(f"constraints.{key}") for key in keys]
    paper.table(headings, [[getattr(row, key) for key in keys] for row in views["constraints"]])


def _guarantee(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view = views["guarantee"]
    if view is None:
        return
    paper.heading(words("guarantee.heading"), 2)
    paper.text(view.statement)
    for key, lines in (("conditions", view.conditions), ("not_covered", view.not_covered)):
        if lines:
            paper.text(words(f"guarantee.{key}_heading"))
            paper.points(lines)


def _context(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    blank = words("report.next.to_complete")
    paper.text(words("report.context.intro"))
    paper.table(
        [words("report.context.question"), words("report.context.answer")],
        [(row.question, "\n".join(row.answers) or blank) for row in views["context"]],
    )


def _actors(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    paper.text(words("actors.intro"))
    keys = ("actor", "published", "strongest")
    headings = [words(f"actors.{key}") for key in keys]
    rows = []
    for actor in views["actors"]:
        for row in actor.rows:
            best = row.strongest
            rows.append(
                (
                    f"{actor.name}\n{row.scenario}",
                    _rate(words, row.published, row.article),
                    row.missing if best is None else _rate(words, best, ""),
                    "" if best is None else best.how,
                    words("format.none") if best is None else best.chance.text,
                )
            )
    paper.table([*headings, words("attack.how"), words("actors.chance")], rows)
    paper.heading(words("actors.readings"), 2)
    for actor in views["actors"]:
        stated = actor.stated or words("actors.to_complete")
        who = words("format.colon", label=words("actors.stated"), value=stated).rstrip(".") + "."
        readings = [row.reading for row in actor.rows if row.reading]
        paper.pairs([(actor.name, " ".join([actor.holds, who, *readings]))])
    paper.small(words("attack.thresholds"))
    if (view := views["worst_off"]) is not None:
        paper.heading(words("worst_off.heading"), 2)
        paper.text(view.intro)
        columns = ("level", "people", "rate", "interval", "cloaking")
        paper.table([words(f"worst_off.{key}") for key in columns], view.rows)


def _rate(words: Words, found: Any, article: str) -> str:
    if found is None:
        return article or words("format.none")
    return "\n".join(text for text in (found.rate.text, found.interval, article) if text)


def _metrics(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    paper.text(f"{words('report.metrics.intro')} {views['targets_from']}".strip())
    keys = ("metric", "value", "interval", "control", "target", "result")
    paper.table(
        [words(f"report.metrics.{key}") for key in keys],
        [
            (
                metric.name,
                metric.value,
                metric.interval or words("format.none"),
                metric.control,
                metric.target,
                metric.result,
            )
            for criterion in views["criteria"]
            for metric in criterion.metrics
        ],
    )
    for criterion in views["criteria"]:
        paper.heading(criterion.name, 2)
        paper.text(criterion.definition)
        if not criterion.metrics:
            paper.text(words("report.metrics.none"))
        for metric in criterion.metrics:
            value = f"{metric.value} {metric.unit}".strip()
            paper.heading(words("format.colon", label=metric.name, value=value), 3)
            paper.text(" ".join(filter(None, [metric.definition, metric.direction])))
            paper.text(" ".join(filter(None, [metric.meaning, metric.example, metric.reading])))
            paper.small(metric.source)
            if metric.advice:
                paper.small(words("report.metrics.improve"))
                paper.points(metric.advice)


def _columns(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view = views["columns"]
    if not view.rows:
        paper.text(words("report.columns.empty"))
        _constraints(paper, words, views)
        return
    paper.text(words("report.columns.intro"))
    paper.points(view.remarks)
    keys = ("rank", "matches", "distinct", "protection", "kept")
    rank, *rest = (words(f"report.columns.{key}") for key in keys)
    paper.table(
        [rank, words("report.column"), *rest],
        [
            (
                row.rank.text,
                row.name,
                row.matches.text,
                row.distinct.text,
                _judged(words, row.protection.text, row.below),
                _judged(words, row.kept.text, row.kept_below),
            )
            for row in view.rows
        ],
    )
    _constraints(paper, words, views)


def _judged(words: Words, text: str, below: bool | None) -> str:
    if below is None:
        return text
    return f"{text} ({words('report.columns.below' if below else 'report.columns.ok')})"


def _attacks(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view = views["attack"]
    if view is None or not view.results:
        paper.text(words("report.summary.attack_none"))
        return
    paper.text(f"{words('report.attacks.intro')} {view.settings}")
    for curve in view.curves:
        paper.heading(curve.title, 2)
        paper.figure(curve.id, curve.alt)
    paper.heading(words("attack.results"), 2)
    paper.small(words("attack.results_note"))
    keys = ("scenario", "estimator", "components", "releases", "rate", "chance", "targets")
    paper.table(
        [words(f"attack.{key}") for key in keys],
        [
            (
                result.scenario,
                words.joined([result.estimator, result.decision, result.note]),
                result.components.text,
                result.releases.text,
                f"{result.rate.text} ({result.interval})",
                result.chance.text,
                result.targets.text,
            )
            for result in view.results
        ],
    )
    paper.pairs(view.glossary)


def _utility(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    paper.text(words("report.utility.intro"))
    paper.heading(words("report.distributions.heading"), 2)
    paper.text(words("report.distributions.intro"))
    legends = ("report.distributions.legend_originals", "report.distributions.legend_avatars")
    paper.small(". ".join(words(key) for key in legends) + ".")
    drawn = [view for view in views["distributions"] if view.figure is not None]
    paper.pictures((view.name, view.id, view.alt, view.gap) for view in drawn[:_MOST_DISTRIBUTIONS])
    if len(drawn) > _MOST_DISTRIBUTIONS:
        hidden = words.number(len(drawn) - _MOST_DISTRIBUTIONS)
        paper.small(words("report.docx.figures", n=hidden))
    _together(paper, words, views)
    if views["children"]:
        paper.heading(words("children.heading"), 2)
        paper.text(words("children.intro"))
    for child in views["children"]:
        paper.heading(child.heading, 3)
        paper.table([words("children.measure"), words("children.value")], list(child.measures))


def _together(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view, plane = views["together"], views["plane"]
    paper.heading(words("report.associations.heading"), 2)
    if view.links is None:
        paper.text(words("report.associations.empty"))
    else:
        paper.text(words("report.associations.intro"))
        for key, caption, _ in view.links.maps:
            paper.heading(caption, 3)
            paper.figure(key, view.links.alt, 480)
        keys = ("one", "other", "measure")
        headings = [words(f"report.associations.{key}") for key in keys]
        headings += [words("report.originals"), words("report.avatars")]
        paper.text(words("report.associations.changed"), bold=True)
        paper.table(
            [*headings, words("report.associations.change")],
            [
                (c.one, c.other, c.measure, c.originals.text, c.avatars.text, c.change.text)
                for c in view.links.changes
            ],
        )
    paper.heading(words("report.projection.heading"), 2)
    if plane is None:
        paper.text(words("report.projection.empty"))
    else:
        paper.text(words("report.projection.intro"))
        paper.figure("projection", plane.alt)
        paper.small(" ".join(plane.notes))
    for key, told in (("contributions", view.contributions), ("prediction", view.prediction)):
        paper.heading(words(f"report.{key}.heading"), 2)
        if told is None:
            paper.text(words(f"report.{key}.empty"))
            continue
        paper.text(words(f"report.{key}.intro"))
        paper.figure(key, told.alt)
        paper.table(
            [words("report.column"), *told.headings],
            [(name, *(cell.text for cell in cells)) for name, _, cells in told.rows],
        )


def _analyses(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view = views["survival"]
    if view is None:
        paper.text(words("analyses.empty"))
        return
    for text in view.intro:
        paper.text(text)
    for study in view.studies:
        paper.heading(study.text, 2)
        paper.text(study.about)
        paper.small(" ".join(study.notes))
        if study.forest is not None:
            paper.figure(study.id, study.alt)
        if study.terms:
            paper.table(
                view.headings,
                [(term.label, *term.texts, term.verdict, term.note) for term in study.terms],
            )
        if study.cells:
            paper.table(study.cell_headings, study.cells)
        if study.curves:
            paper.text(words("analyses.curves"), bold=True)
            paper.small(study.log_rank)
            paper.pictures((c.group, c.id, c.alt, c.gap) for c in study.curves)
    if view.pairs:
        paper.heading(words("analyses.pairs"), 2)
        paper.text(view.screen)
        paper.table(
            view.pair_headings,
            [
                (*pair.texts, pair.before, pair.after, pair.difference.text, pair.people.text)
                for pair in view.pairs
            ],
        )


def _sensitivity(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view = views["sweep"]
    _varied(paper, words, views)
    if view is None:
        paper.text(words("tuning.empty"))
        return
    for text in (*view.intro, *view.readings):
        paper.text(text)
    if view.advice:
        paper.text(words("tuning.help"))
        paper.points(view.advice)
    for key, alt in (("frontier", view.frontier_alt), ("panels", view.panels_alt)):
        if key in view.figures:
            paper.heading(words(f"tuning.{key}"), 2)
            paper.figure(key, alt)
    paper.heading(words("tuning.table"), 2)
    names = [words("tuning.k"), words("tuning.method"), *view.headings]
    paper.table(
        [*names, words("tuning.risk"), words("tuning.loss"), words("tuning.result")],
        [
            (
                row.k.text,
                row.method,
                *(cell.text for cell, _ in row.cells),
                row.risk.text,
                row.loss.text,
                row.result,
            )
            for row in view.rows
        ],
    )


def _varied(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    attack = views["attack"]
    if attack is None or not attack.varied:
        paper.text(words("attack.varied_none"))
        return
    paper.heading(words("attack.varied"), 2)
    paper.small(words("attack.varied_note"))
    keys = ("scenario", "components", "candidates", "releases", "rate", "chance")
    paper.table(
        [words(f"attack.{key}") for key in keys],
        [
            (
                result.scenario,
                result.components.text,
                result.candidates.text,
                result.releases.text,
                f"{result.rate.text} ({result.interval})",
                result.chance.text,
            )
            for result in attack.varied
        ],
    )


def _likelihood(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    view = views["likelihood"]
    for text in view.texts:
        paper.text(text)
    if view.levels:
        here = words("report.likelihood.here")
        paper.table(
            [words("report.likelihood.level"), words("report.likelihood.rate")],
            [(f"{name} ({here})" if read else name, rates) for name, rates, read in view.levels],
        )
    paper.text(f"{view.severity} {view.severity_why}".strip())


def _limits(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    blank = words("report.next.to_complete")
    paper.text(words("report.limits.intro"))
    paper.points(views["limits"])
    paper.heading(words("measures.heading"), 2)
    paper.pairs(views["safeguards"])
    if not views["safeguards"]:
        paper.text(blank)
    paper.heading(words("report.residual.heading"), 2)
    paper.points(views["attackers"])
    risk = views["account"].residual_risk
    paper.text(
        f"{words('report.residual.stated')} {risk}" if risk else words("report.residual.none")
    )


def _next(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    paper.text(words("report.next.intro"))
    for place, step in enumerate(views["next_steps"], start=1):
        paper.text(f"{place}. {step.text}")
        paper.points(step.details)
    paper.heading(words("report.next.people"), 2)
    paper.text(words("report.next.people_note"))
    blank = words("report.next.to_complete")
    paper.table(
        [words("report.context.question"), words("report.context.answer")],
        [
            (words(f"report.next.{key}"), f"{blank}\n\n")
            for key in ("opinion", "decision", "date", "review")
        ],
    )


def _glossary(paper: _Paper, words: Words, views: Mapping[str, Any]) -> None:
    paper.text(words("report.glossary.intro"))
    paper.pairs(views["glossary"])


_CHAPTERS: Mapping[str, Callable[[_Paper, Words, Mapping[str, Any]], None]] = {
    "identity": _identity,
    "summary": _summary,
    "context": _context,
    "actors": _actors,
    "metrics": _metrics,
    "columns": _columns,
    "attacks": _attacks,
    "utility": _utility,
    "analyses": _analyses,
    "sensitivity": _sensitivity,
    "likelihood": _likelihood,
    "limits": _limits,
    "next": _next,
    "glossary": _glossary,
}
