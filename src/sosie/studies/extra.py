"""The packages of the extra ``sosie[analyses]``, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sosie.errors import InputError

__all__ = ["library"]


def library(name: str) -> Any:
    """A module of statsmodels or formulaic.

    Raises
    ------
    InputError
        It is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        raise InputError(f"analyses need {package}: pip install 'sosie[analyses]'") from error
