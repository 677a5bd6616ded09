"""Linkage attacks: scenario x estimator x decision.

``attack`` runs them against an `Avatarizer`, tables that were released already
(`Releases`), or any generator with ``fit`` and ``release``.
"""

from sosie.attack.laboratory import attack
from sosie.attack.reproduce import Reproduction, reproduce
from sosie.attack.results import AttackReport, AttackResult
from sosie.attack.sources import Generator, Releases

__all__ = [
    "AttackReport",
    "AttackResult",
    "Generator",
    "Releases",
    "Reproduction",
    "attack",
    "reproduce",
]
