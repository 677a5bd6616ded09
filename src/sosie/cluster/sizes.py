"""How much memory the things that a cluster holds take, so that it knows what to move to disk.

Dask asks `dask.sizeof.sizeof`, which sees nothing behind the fields of a class that it does not
know: a table would count as a few bytes, would never be moved, and the worker would die of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from sosie.audits.distances import Crowd
from sosie.data.table import Levels, Numbers, Table
from sosie.generate.exchangeable import ExchangeableLaw
from sosie.generate.exchangeable.choices import Choice
from sosie.generate.exchangeable.scores import Number
from sosie.generate.mixture import Mixture, Prepared
from sosie.generate.noise import GaussianNoise
from sosie.latent.neighbours import Neighbours, Points

__all__ = ["size_of", "sized"]

T = TypeVar("T")

OF_CORE: tuple[type, ...] = (
    Choice,
    Crowd,
    ExchangeableLaw,
    GaussianNoise,
    Levels,
    Mixture,
    Neighbours,
    Number,
    Numbers,
    Points,
    Prepared,
    Table,
)
"""What tasks give, of types that are not the cluster's own (which are `sized` where they stand)."""


def size_of(held: Any) -> int:
    """Bytes of an object and of all that it holds.

    >>> from sosie.data.table import Grid
    >>> 8_000 <= size_of((Numbers("age", "number", np.zeros(1000), Grid()),)) < 9_000
    True
    """
    if isinstance(held, np.ndarray):
        return held.nbytes
    if isinstance(held, Mapping):
        return sum(size_of(key) + size_of(value) for key, value in held.items())
    if isinstance(held, tuple | list):
        return sum(map(size_of, held))
    if type(held).__module__.startswith("sosie.") and hasattr(held, "__dict__"):
        return object.__sizeof__(held) + sum(map(size_of, vars(held).values()))
    from dask.sizeof import sizeof

    return int(sizeof(held))


def sized(kind: type[T]) -> type[T]:
    """Let Dask, where it is installed, ask `size_of` for things of a type; a decorator.

    A worker learns it with the module of the first task that it is given.
    """
    with suppress(ImportError):
        from dask.sizeof import sizeof

        sizeof.register(kind, size_of)  # type: ignore[no-untyped-call]
    return kind


for _kind in OF_CORE:
    sized(_kind)
