"""Linkage attacks: scenario x estimator x decision.

``attack`` runs them against an `Avatarizer`, tables that were released already
(`Releases`), or any generator with ``fit`` and ``release``.
"""

from sosie.attacks.laboratory import attack
from sosie.attacks.reproduce import Reproduction, reproduce
from sosie.attacks.results import AttackReport, AttackResult
from sosie.attacks.sources import Generator, Releases

__all__ = [
    "AttackReport",
    "AttackResult",
    "Generator",
    "Releases",
    "Reproduction",
    "attack",
    "reproduce",
]
