"""Work split between threads: NumPy lets go of the interpreter while it computes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

__all__ = ["each_part", "one_blas_thread"]


def each_part(
    work: Callable[[slice], None],
    rows: int,
    chunk: int,
    threads: int,
    every: int | None = None,
    done: Callable[[], None] | None = None,
) -> None:
    """Run `work` on consecutive slices of so many rows, on some threads (-1: all).

    Parameters
    ----------
    every, done : call `done` after so many rows, when no work is under way.

    >>> done = []
    >>> each_part(done.append, 5, 2, threads=1)
    >>> [(part.start, part.stop) for part in done]
    [(0, 2), (2, 4), (4, 5)]
    """
    parts = [slice(start, min(start + chunk, rows)) for start in range(0, rows, chunk)]
    together = max((every or rows) // chunk, 1)
    if threads == 1 or len(parts) == 1:
        for i, part in enumerate(parts, start=1):
            work(part)
            if done and i % together == 0:
                done()
        return
    with ThreadPoolExecutor(None if threads < 1 else threads) as pool:
        for i in range(0, len(parts), together):
            for _ in pool.map(work, parts[i : i + together]):
                pass
            if done:
                done()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Matrix products on one thread: on small ones, several wait for each other.

    Where other programs keep a core busy, that wait makes a product fifty times slower.
    """
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
