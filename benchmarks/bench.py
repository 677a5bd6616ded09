"""Time and memory beside the figures to reach: ``make bench``, or with names for some of them.

Each measurement runs in a fresh interpreter, whose peak memory is what the operating system
counted. Machines differ and are shared: the table is to be read as a whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve()
Figures = dict[str, float | str]


@dataclass(frozen=True)
class Goal:
    """A figure to reach: what is measured, where it is in the result, the most it may be."""

    measure: str
    key: str
    what: str
    most: float | None
    unit: str = "s"


GOALS = (
    Goal("start", "import", "import sosie", 0.4),
    Goal("start", "help", "sosie --help", 0.5),
    Goal("small", "barycentre", "2,139 x 24, fit and one release, barycentre", 0.05),
    Goal("small", "smoothed", "2,139 x 24, fit and one release, smoothed", 0.05),
    Goal("million_barycentre", "first", "1,000,000 x 24, fit and one release, barycentre", 6.0),
    Goal("million_barycentre", "next", "  each further release", 0.8),
    Goal("million_barycentre", "memory", "  peak memory, the table included", 1.0, "GB"),
    Goal("million_smoothed", "first", "1,000,000 x 24, fit and one release, smoothed", 9.0),
    Goal("million_smoothed", "next", "  each further release", 1.6),
    Goal("million_smoothed", "memory", "  peak memory, the table included", 1.0, "GB"),
    Goal("metrics", "time", "metrics of protection on 100,000 x 24", 5.0),
    Goal("metrics", "memory", "  peak memory", 1.0, "GB"),
    Goal("bytes", "same", "same bytes: chunks of 1,000 and 65,536 rows, 1 and 2 threads", None, ""),
)

METRICS = (
    "column_direct_match_protection",
    "hidden_rate",
    "local_cloaking",
    "distance_to_closest",
    "closest_distances_ratio",
    "row_direct_match_protection",
)


def best(work: Callable[[], object], times: int = 3) -> float:
    """Shortest of several runs, in seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def peak() -> float:
    """Peak memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def start() -> Figures:
    def fresh(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    return {
        "import": best(fresh("-c", "import sosie"), 7),
        "help": best(fresh("-m", "sosie", "--help"), 7),
    }


def small() -> Figures:
    from tables import source

    from sosie import Avatarizer

    _, frame = source()
    figures: Figures = {}
    for method in ("barycentre", "smoothed"):

        def once(method: Any = method) -> object:
            return Avatarizer(k=5, method=method, seed=1).fit(frame).release()

        once()
        figures[method] = best(once, 20)
    return figures


def million(method: Any) -> Figures:
    from tables import jittered

    from sosie import Avatarizer

    frame = jittered(1_000_000)
    Avatarizer(k=5, method=method, seed=1).fit(frame[:5_000]).release()  # imports are not timed
    start = time.perf_counter()
    avatarizer = Avatarizer(k=5, method=method, seed=1).fit(frame)
    fitted = time.perf_counter()
    avatarizer.release()
    first, memory = time.perf_counter(), peak()
    following = best(lambda: avatarizer.release(1), 2)
    return {"first": first - start, "fit": fitted - start, "next": following, "memory": memory}


def metrics() -> Figures:
    from tables import jittered

    from sosie import Avatarizer, audit

    frame = jittered(100_000)
    aligned = Avatarizer(k=5, seed=1).fit(frame).release(shuffle=False)
    taken = best(lambda: audit(frame, aligned, aligned=True, metrics=METRICS), 2)
    return {"time": taken, "memory": peak()}


def same_bytes() -> Figures:
    from tables import jittered

    from sosie import Avatarizer

    frame = jittered(100_000)
    digests = set()
    for chunk in (1_000, 65_536):
        for threads in (1, 2):
            avatarizer = Avatarizer(k=5, seed=1, chunk=chunk, threads=threads).fit(frame)
            text = avatarizer.release().write_csv()
            digests.add(hashlib.sha256(text.encode()).hexdigest())
    return {"same": "yes" if len(digests) == 1 else "NO"}


MEASURES: dict[str, Callable[[], Figures]] = {
    "start": start,
    "small": small,
    "million_barycentre": lambda: million("barycentre"),
    "million_smoothed": lambda: million("smoothed"),
    "metrics": metrics,
    "bytes": same_bytes,
}


def measured(name: str) -> Figures:
    """Run one measurement in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, str(HERE), "--alone", name],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
    )
    found: Figures = json.loads(done.stdout)
    return found


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--alone"]:
        print(json.dumps(MEASURES[arguments[1]]()))
        return
    from tables import source

    names = [name for name in MEASURES if not arguments or name in arguments]
    table = Table("what", "measured", "at most", "", title=f"Columns of {source()[0]}", box=None)
    for name in names:
        figures = measured(name)
        for goal in (goal for goal in GOALS if goal.measure == name):
            value = figures[goal.key]
            shown = value if isinstance(value, str) else f"{value:.3g} {goal.unit}"
            reached = "" if goal.most is None else ("ok" if float(value) <= goal.most else "over")
            most = "" if goal.most is None else f"{goal.most:g} {goal.unit}"
            table.add_row(goal.what, shown, most, reached)
    console = Console(width=110)
    console.print(table)
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{time.strftime('%Y-%m-%d')}, load {os.getloadavg()[0]:.1f}",
        highlight=False,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
