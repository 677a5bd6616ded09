"""sosie turns a table of people into avatars and measures how well they protect them.

>>> import polars as pl
>>> import sosie
>>> people = pl.DataFrame({"age": list(range(20, 60)) * 2, "sex": ["F", "M"] * 40})
>>> avatars = sosie.Avatarizer(k=5, seed=1).fit(people).release()

Names are loaded when they are first used, so that ``import sosie`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sosie._version import __version__
from sosie.errors import InputError, SosieError, SosieWarning

if TYPE_CHECKING:
    from sosie.avatars import Avatarizer
    from sosie.famd import FAMD
    from sosie.table import Roles, Table

_HOME = {
    "FAMD": "famd",
    "Avatarizer": "avatars",
    "audit": "metrics",
    "Roles": "table",
    "Table": "table",
}

__all__ = [
    "FAMD",
    "Avatarizer",
    "InputError",
    "Roles",
    "SosieError",
    "SosieWarning",
    "Table",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"sosie.{_HOME[name]}"), name)
    raise AttributeError(f"module 'sosie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
