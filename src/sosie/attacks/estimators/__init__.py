"""How a person's avatars are modelled from releases: a file for each estimator.

A module of this package that has a ``DECLARATION`` is an estimator: lists elsewhere read
`DECLARATIONS`, so that a new one needs a module, its words and its test.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from sosie.attacks.estimators.protocol import Declaration, Estimator, Piecemeal
from sosie.attacks.estimators.scorers import Scorer

__all__ = ["DECLARATIONS", "Declaration", "Estimator", "Piecemeal", "Scorer"]


def _declared() -> dict[str, Declaration]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    every = (module.DECLARATION for module in modules if hasattr(module, "DECLARATION"))
    return {one.key: one for one in sorted(every, key=lambda one: (one.place, one.key))}


DECLARATIONS: dict[str, Declaration] = _declared()
"""Estimators from releases, by their key."""
