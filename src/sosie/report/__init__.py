"""The report: one HTML page made from a run's JSON files, and from nothing else.

>>> sorted(__all__)
['RunFolder', 'build', 'build_attacks', 'build_sweep', 'read_folder']
"""

from sosie.report.folder import RunFolder, read_folder
from sosie.report.page import build
from sosie.report.singles import build_attacks, build_sweep

__all__ = ["RunFolder", "build", "build_attacks", "build_sweep", "read_folder"]
