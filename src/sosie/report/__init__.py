"""The report: one HTML page made from a run's JSON files, and from nothing else.

>>> sorted(__all__)
['RunFolder', 'build', 'read_folder']
"""

from sosie.report.folder import RunFolder, read_folder
from sosie.report.page import build

__all__ = ["RunFolder", "build", "read_folder"]
