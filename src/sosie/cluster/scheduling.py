"""What Dask does for sosie: tasks, results here or on the cluster, sums merged as a tree.

Dask reads, schedules, spills, moves rows and starts again what a lost worker had done. The program
that asks holds sums, levels and walls, never rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sosie.errors import InputError
from sosie.generate.noise import Sums
from sosie.latent.famd import CrossProduct

__all__ = [
    "LOCAL",
    "compute",
    "connected",
    "delayed",
    "losses_explained",
    "merged",
    "persist",
    "shared",
]

LOCAL = "local"


TOGETHER = 8
"""Sums that are merged at a time, as a tree."""


def delayed(function: Any) -> Any:
    """`dask.delayed`."""
    import dask

    return dask.delayed(function)  # type: ignore[attr-defined]


def compute(*tasks: Any) -> tuple[Any, ...]:
    """`dask.compute`: results here."""
    import dask

    with losses_explained():
        return tuple(dask.compute(*tasks))  # type: ignore[attr-defined,no-untyped-call]


def persist(*tasks: Any) -> tuple[Any, ...]:
    """`dask.persist`: results on the cluster."""
    import dask

    return tuple(dask.persist(*tasks))  # type: ignore[attr-defined,no-untyped-call]


def shared(value: Any) -> Any:
    """A value that many tasks take: it is sent to the cluster once, not with each of them."""
    (there,) = persist(delayed(_same)(value))
    return there


def _same(value: Any) -> Any:
    return value


@contextmanager
def losses_explained() -> Iterator[None]:
    """Where workers are lost again and again, what helps instead of what Dask says."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # known to Dask's scheduler only
            raise
        raise InputError(
            "workers of the cluster were lost, one after the other, at the same piece of work: most"
            " often they have too little memory (a column is encoded whole by one of them, which"
            " takes some 40 bytes for each row of the table, and 0.3 GB); give each one more, or"
            " see their logs"
        ) from error


def merged(sums: Sequence[Any]) -> Any:
    """One sum of many, as a tree."""
    while len(sums) > 1:
        sums = [delayed(_sum)(sums[i : i + TOGETHER]) for i in range(0, len(sums), TOGETHER)]
    return sums[0]


def _sum(parts: Sequence[CrossProduct | Sums]) -> Any:
    import copy

    # What a task was given is not changed: it may be asked for again.
    first: Any = copy.deepcopy(parts[0])
    for part in parts[1:]:
        first.merge(part)
    return first


def connected(scheduler: str) -> Any:
    """A client of a cluster, for `with`. Raises InputError where there is none."""
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise InputError(f"{error.name} is not installed: pip install 'sosie[dask]'") from error
    options: dict[str, Any] = {"address": scheduler}
    if scheduler == LOCAL:  # no page about it that others on the network could open
        options = {"dashboard_address": None}
    try:
        return Client(**options, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"{scheduler}: no Dask scheduler answers there ({error})") from error
