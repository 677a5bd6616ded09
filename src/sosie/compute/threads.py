"""Work split between threads: NumPy lets go of the interpreter while it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, cast

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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products on one thread: on small ones, several wait for each other.

    Where other programs keep a core busy, that wait makes a product fifty times slower. The
    limit is the whole process's: it holds until the last thread that asked for it is done.
    """
    with _LIMIT.lock:
        if not _LIMIT.asked:
            _LIMIT.limiter = _controller().limit(limits=1, user_api="blas")
        _LIMIT.asked += 1
    try:
        yield
    finally:
        with _LIMIT.lock:
            _LIMIT.asked -= 1
            if not _LIMIT.asked:
                _LIMIT.limiter.restore_original_limits()


class _Limit:
    """How many threads have asked for it, and what gives the old limit back."""

    def __init__(self) -> None:
        self.lock, self.asked, self.limiter = Lock(), 0, cast(Any, None)


_LIMIT = _Limit()


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
