"""Dataframes whose rows are on other machines, and the package that works on each kind.

The core imports none of these packages: one is loaded when a table of its kind is given.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["ENGINES", "engine_of"]

ENGINES = {"dask": "sosie.cluster"}
"""Package of a dataframe's type -> package that fits and measures such tables."""


def engine_of(data: object) -> Any | None:
    """The package for a dataframe whose rows are elsewhere; None for one in this process.

    It has ``fit(data, settings, roles, key)`` and ``compared(originals, avatars, ...)``.

    >>> engine_of([]) is None
    True
    """
    package = type(data).__module__.partition(".")[0]
    if package not in ENGINES or not hasattr(data, "to_delayed"):
        return None
    return import_module(ENGINES[package])
