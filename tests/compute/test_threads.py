"""Work split between threads, and the limit on the threads of matrix products."""

from __future__ import annotations

from threading import Barrier, Thread

import numpy as np

from sosie.compute import threads as parallel
from sosie.compute.threads import one_blas_thread


def limits() -> list[int]:
    """Threads of each library that multiplies."""
    return [int(p["num_threads"]) for p in parallel._controller().info() if p["user_api"] == "blas"]


def test_the_limit_is_that_of_whoever_asked_first() -> None:
    """Threads that ask within it neither lift it when they are done, nor leave it behind."""
    assert np.ones((2, 2)).sum() == 4  # loads a library that multiplies
    before, entered = limits(), Barrier(2)

    def within() -> None:
        with one_blas_thread():
            entered.wait(10)

    threads = [Thread(target=within) for _ in range(2)]
    with one_blas_thread():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        during = limits()
    assert before
    assert during == [1] * len(before)
    assert limits() == before
