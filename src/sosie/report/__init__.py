"""The report: made from a run's JSON files, and from nothing else; and its other forms.

>>> sorted(__all__)
['RunFolder', 'build', 'build_analyses', 'build_attacks', 'build_docx', 'build_pia', 'build_sweep',
 'read_folder']
"""

from sosie.report.document import build_docx
from sosie.report.folder import RunFolder, read_folder
from sosie.report.page import build
from sosie.report.pia import build_pia
from sosie.report.singles import build_analyses, build_attacks, build_sweep

__all__ = [
    "RunFolder",
    "build",
    "build_analyses",
    "build_attacks",
    "build_docx",
    "build_pia",
    "build_sweep",
    "read_folder",
]
