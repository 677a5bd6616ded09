"""Every metric there is: the modules of `privacy` and `utility` that define one.

A module declares its metric once, as ``DEFINITION``, beside the function of the same key.
Whatever needs a list of metrics reads it here; none is typed out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from sosie.audits import privacy, utility
from sosie.audits.definition import Definition
from sosie.audits.results import Metric

__all__ = ["CRITERIA", "DEFINITIONS", "MEASURES", "ON_TWINS", "definition_of"]

CRITERIA = ("singling_out", "linkability", "inference", "membership", "utility")
"""In the order in which their metrics are shown: those of WP29 opinion 05/2014 first."""


def _modules() -> list[ModuleType]:
    return [
        import_module(f"{package.__name__}.{module.name}")
        for package in (privacy, utility)
        for module in iter_modules(package.__path__)
    ]


def _shown(module: ModuleType) -> tuple[int, int, str]:
    definition: Definition = module.DEFINITION
    return CRITERIA.index(definition.criterion), definition.place, definition.key


_METRICS = sorted(_modules(), key=_shown)

DEFINITIONS: tuple[Definition, ...] = tuple(module.DEFINITION for module in _METRICS)
"""Every metric, in the order in which they are shown."""

MEASURES: Mapping[str, Callable[..., Metric]] = {
    definition.key: getattr(module, definition.key)
    for definition, module in zip(DEFINITIONS, _METRICS, strict=True)
}
"""The function of each metric."""

ON_TWINS: Mapping[str, Callable[..., Metric]] = {
    definition.key: module.on_twins
    for definition, module in zip(DEFINITIONS, _METRICS, strict=True)
    if hasattr(module, "on_twins")
}
"""Of the metrics that need people who took no part: how they are measured on `twins`."""

_BY_KEY = {definition.key: definition for definition in DEFINITIONS}


def definition_of(key: str) -> Definition | None:
    """The definition of a metric; None for what is none.

    >>> rate = definition_of("hidden_rate")
    >>> rate.target, rate.needs
    (90.0, ('aligned',))
    """
    return _BY_KEY.get(key)
