"""sosie turns a table of people into avatars and measures how well they protect them.

>>> import polars as pl
>>> import sosie
>>> people = pl.DataFrame({"age": list(range(20, 60)) * 2, "sex": ["F", "M"] * 40})
>>> avatars = sosie.Avatarizer(k=5, seed=1).fit(people).release()

Names are loaded when they are first used, so that ``import sosie`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sosie.errors import InputError, SosieError, SosieWarning

if TYPE_CHECKING:
    __version__: str

    from sosie.attacks.laboratory import attack
    from sosie.attacks.reproduce import reproduce
    from sosie.audits.audit import AuditOptions, audit
    from sosie.audits.comparison import Comparison
    from sosie.audits.context import Context
    from sosie.audits.public import *  # noqa: F403 (the metrics: see below)
    from sosie.audits.results import Audit, Metric
    from sosie.audits.what_if_kept import what_if_kept
    from sosie.data.table import Roles, Table
    from sosie.generate.avatarizer import Avatarizer
    from sosie.latent.famd import FAMD
    from sosie.studies.analyses import analyses
    from sosie.tuning import tune

_NAMES = {
    "attacks.laboratory": ("attack",),
    "attacks.reproduce": ("reproduce",),
    "audits.audit": ("AuditOptions", "audit"),
    "audits.comparison": ("Comparison",),
    "audits.context": ("Context",),
    "audits.results": ("Audit", "Metric"),
    "audits.what_if_kept": ("what_if_kept",),
    "data.table": ("Roles", "Table"),
    "generate.avatarizer": ("Avatarizer",),
    "latent.famd": ("FAMD",),
    "studies.analyses": ("analyses",),
    "tuning": ("tune",),
}

# Each metric is the function of a module named after it.
_METRICS = {
    module.stem: f"audits.{criterion}.{module.stem}"
    for criterion in ("privacy", "utility")
    for module in Path(__file__).parent.glob(f"audits/{criterion}/[a-z]*.py")
}

_HOME = {name: module for module, names in _NAMES.items() for name in names} | _METRICS

__all__ = [  # noqa: PLE0604 (the names of the metrics are texts too)
    "FAMD",
    "Audit",
    "AuditOptions",
    "Avatarizer",
    "Comparison",
    "Context",
    "InputError",
    "Metric",
    "Roles",
    "SosieError",
    "SosieWarning",
    "Table",
    "__version__",
    "analyses",
    "attack",
    "audit",
    "reproduce",
    "tune",
    "what_if_kept",
    *sorted(_METRICS),
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("sosie")
    if name in _HOME:
        return getattr(import_module(f"sosie.{_HOME[name]}"), name)
    raise AttributeError(f"module 'sosie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
