"""Linkage attacks: scenario x estimator x decision.

``attack`` runs them against an `Avatarizer`, tables that were released already
(`Releases`), or any generator with ``fit`` and ``release``.
"""

import sys
from types import ModuleType
from typing import Any

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


class _Callable(ModuleType):
    """``sosie.attack(...)`` is `attack`, and ``sosie.attacks.laboratory`` its module."""

    def __call__(self, data: Any, generator: Generator, **options: Any) -> AttackReport:
        return attack(data, generator, **options)


sys.modules[__name__].__class__ = _Callable
