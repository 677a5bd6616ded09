"""Tuning: what each setting hides and what it costs, and the cheapest that meets the targets.

>>> sorted(__all__)
['Setting', 'Trial', 'Tuning', 'tune']
"""

from sosie.tuning.results import Setting, Trial, Tuning
from sosie.tuning.sweep import tune

__all__ = ["Setting", "Trial", "Tuning", "tune"]
