"""What attackers hold and ask: linkage, and a file for each further scenario.

A module of this package that has a ``DECLARATION`` is a scenario: lists elsewhere read
`DECLARATIONS`, so that a new one needs a module, its words and its test.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sosie.attacks.scenarios.linkage import V1, V2, Arena, Cast, Insert, Nearest, Scenario, Setup
from sosie.attacks.scenarios.protocol import Declaration

__all__ = [
    "DECLARATIONS",
    "V1",
    "V2",
    "Arena",
    "Cast",
    "Declaration",
    "Insert",
    "Nearest",
    "Scenario",
    "Setup",
]


def _declared() -> dict[str, Declaration]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    every = (module.DECLARATION for module in modules if hasattr(module, "DECLARATION"))
    return {one.key: one for one in sorted(every, key=lambda one: (one.place, one.key))}


DECLARATIONS: dict[str, Declaration] = _declared()
"""Scenarios beyond linkage, by their key."""
