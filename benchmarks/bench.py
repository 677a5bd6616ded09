"""Time and memory beside the figures to reach: ``make bench``, or with names for some of them.

``python benchmarks/bench.py million_smoothed growth`` measures these two only; ``ten_million``
and ``naive`` take minutes and are measured when named, or with ``all``. Each measurement runs
in a fresh interpreter, whose peak memory is what the operating system counted. Machines differ
and are shared: the table is to be read as a whole.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
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
    Goal("small", "exchangeable", "2,139 x 24, fit and one release, exchangeable", 0.25),
    Goal("small", "next", "  each further release", 0.03),
    Goal("small", "barycentre", "2,139 x 24, fit and one release, barycentre", 0.05),
    Goal("small", "smoothed", "2,139 x 24, fit and one release, smoothed", 0.05),
    Goal("million", "first", "1,000,000 x 24, fit and one release, exchangeable", 10.0),
    Goal("million", "next", "  each further release", 3.0),
    Goal("million", "memory", "  peak memory, the table included", 1.4, "GB"),
    Goal("million_barycentre", "first", "1,000,000 x 24, fit and one release, barycentre", 4.5),
    Goal("million_barycentre", "next", "  each further release", 0.5),
    Goal("million_barycentre", "memory", "  peak memory, the table included", 0.8, "GB"),
    Goal("million_smoothed", "first", "1,000,000 x 24, fit and one release, smoothed", 7.0),
    Goal("million_smoothed", "next", "  each further release", 1.2),
    Goal("million_smoothed", "memory", "  peak memory, the table included", 0.8, "GB"),
    Goal("files", "whole", "1,000,000 x 24, Parquet to Parquet, whole command", 13.0),
    Goal("files", "little", "  with --memory 500MB", 13.0),
    Goal("files", "memory", "  its peak memory", 0.5, "GB"),
    Goal("growth", "10000", "    10,000 x 24, exchangeable, fit and one release", None),
    Goal("growth", "100000", "   100,000 x 24", None),
    Goal("growth", "1000000", " 1,000,000 x 24", None),
    Goal("growth", "exponent", "  time grows as rows to the power of", 1.1, ""),
    Goal("ten_million", "whole", "10,000,000 x 24, Parquet to Parquet, --memory 2GB", 180.0),
    Goal("ten_million", "memory", "  peak memory", 2.2, "GB"),
    Goal("naive", "naive", "100,000 x 24, barycentre, the naive way", None),
    Goal("naive", "naive_memory", "  peak memory", None, "GB"),
    Goal("naive", "ours", "100,000 x 24, barycentre, sosie", None),
    Goal("naive", "slowness", "  sosie's time as a share of the naive one", 0.01, ""),
    Goal("metrics", "time", "metrics of protection on 100,000 x 24", 5.0),
    Goal("metrics", "memory", "  peak memory", 1.0, "GB"),
    Goal("demo", "whole", "sosie demo", 6.0),
    Goal("titles", "whole", "10,000 x 55, some 4,500 job titles as typed, sosie run", 60.0),
    Goal("titles", "memory", "  peak memory", 2.0, "GB"),
    Goal("wide", "whole", "2,000 x 1,000, sosie run", 120.0),
    Goal("wide", "memory", "  peak memory", None, "GB"),
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
    for method in ("exchangeable", "barycentre", "smoothed"):

        def once(method: Any = method) -> object:
            return Avatarizer(method=method, seed=1).fit(frame).release()

        once()
        figures[method] = best(once, 20)
    avatarizer = Avatarizer(seed=1).fit(frame)
    figures["next"] = best(lambda: avatarizer.release(1), 20)
    return figures


def million(method: Any) -> Figures:
    from tables import jittered

    from sosie import Avatarizer

    frame = jittered(1_000_000)
    Avatarizer(method=method, seed=1).fit(frame[:5_000]).release()  # imports are not timed
    start = time.perf_counter()
    avatarizer = Avatarizer(method=method, seed=1).fit(frame)
    fitted = time.perf_counter()
    avatarizer.release()
    first, memory = time.perf_counter(), peak()
    following = best(lambda: avatarizer.release(1), 2)
    return {"first": first - start, "fit": fitted - start, "next": following, "memory": memory}


def metrics() -> Figures:
    from tables import jittered

    from sosie import Avatarizer, audit

    frame = jittered(100_000)
    aligned = Avatarizer(seed=1).fit(frame).release(shuffle=False)
    taken = best(lambda: audit(frame, aligned, aligned=True, metrics=METRICS), 2)
    return {"time": taken, "memory": peak()}


def same_bytes() -> Figures:
    from tables import jittered

    from sosie import Avatarizer

    frame = jittered(100_000)
    digests = set()
    for chunk in (1_000, 65_536):
        for threads in (1, 2):
            avatarizer = Avatarizer(seed=1, chunk=chunk, threads=threads).fit(frame)
            text = avatarizer.release().write_csv()
            digests.add(hashlib.sha256(text.encode()).hexdigest())
    return {"same": "yes" if len(digests) == 1 else "NO"}


def command(data: Path, out: Path, *options: str) -> tuple[float, float]:
    """Seconds and peak GB of ``sosie avatarize``."""
    return whole("avatarize", str(data), "-o", str(out), *options)


def whole(*arguments: str) -> tuple[float, float]:
    """Seconds and peak GB of a command of ``sosie``."""
    words = [sys.executable, "-m", "sosie", *arguments]
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return time.perf_counter() - start, peak_kb / 1e6


def files() -> Figures:
    from tables import jittered

    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "people.parquet", Path(folder) / "avatars.parquet"
        jittered(1_000_000).write_parquet(data)
        little, memory = command(data, out, "--memory", "500MB")  # first: peaks only rise
        whole, _ = command(data, out)
    return {"whole": whole, "little": little, "memory": memory}


def ten_million() -> Figures:
    from tables import jittered

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "people"
        data.mkdir()
        for part in range(10):
            jittered(1_000_000, seed=part).write_parquet(data / f"part-{part}.parquet")
        whole, memory = command(data, Path(folder) / "avatars.parquet", "--memory", "2GB")
    return {"whole": whole, "memory": memory}


def demo() -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        return {"whole": whole("demo", "-o", str(Path(folder) / "out"))[0]}


def job(frame: Any) -> Figures:
    """The whole job, attacks included, on a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "people.csv"
        frame.write_csv(data)
        taken, memory = whole("run", str(data), "-o", str(Path(folder) / "out"))
    return {"whole": taken, "memory": memory}


def titles() -> Figures:
    from tables import survey

    return job(survey())


def wide() -> Figures:
    from tables import questions

    return job(questions())


def growth() -> Figures:
    from tables import jittered

    from sosie import Avatarizer

    figures: Figures = {}
    sizes = (10_000, 100_000, 1_000_000)
    for rows in sizes:
        frame = jittered(rows)

        def once(frame: Any = frame) -> object:
            return Avatarizer(seed=1).fit(frame).release()

        figures[str(rows)] = best(once, 3 if rows < 1_000_000 else 1)
    first, *_, last = (float(figures[str(rows)]) for rows in sizes)
    figures["exponent"] = math.log(last / first) / math.log(sizes[-1] / sizes[0])
    return figures


def naive() -> Figures:
    """Dense indicators, all distances in blocks, every avatar mapped back from the full space."""
    import numpy as np
    from tables import jittered

    from sosie import Avatarizer
    from sosie.data.table import Table
    from sosie.generate.law import draw_weights, proximity

    frame = jittered(100_000)
    ours = best(lambda: Avatarizer(k=5, method="barycentre", seed=1).fit(frame).release(), 3)
    start = time.perf_counter()
    table = Table.of(frame)
    parts = [(c.values[:, None] - c.values.mean()) / c.values.std() for c in table.numbers]
    for column in table.levels:
        shares = column.counts() / len(table)
        parts.append((np.eye(len(shares))[column.codes] - shares) / np.sqrt(shares))
    dense = np.hstack(parts)
    _, vectors = np.linalg.eigh(dense.T @ dense / len(dense))
    full = dense @ vectors  # all coordinates, rising
    points = full[:, -5:]
    squares = np.square(points).sum(axis=1)
    near = np.empty((len(points), 5), dtype=np.int64)
    distances = np.empty((len(points), 5))
    for begin in range(0, len(points), 1_000):
        some = slice(begin, begin + 1_000)
        away = squares[some, None] + squares - 2 * points[some] @ points.T
        away[np.arange(len(away)), np.arange(begin, begin + len(away))] = np.inf
        nearest = np.argpartition(away, 5, axis=1)[:, :5]
        held = np.take_along_axis(away, nearest, axis=1)
        order = np.argsort(held, axis=1)
        near[some] = np.take_along_axis(nearest, order, axis=1)
        distances[some] = np.sqrt(np.maximum(np.take_along_axis(held, order, axis=1), 0))
    weights = draw_weights(proximity(distances), np.random.default_rng(1))
    avatars = (weights[:, :, None] * full[near]).sum(axis=1) @ vectors.T
    place = len(table.numbers)
    for column in table.levels:
        avatars[:, place : place + len(column.labels)].argmax(axis=1)
        place += len(column.labels)
    taken = time.perf_counter() - start
    return {"naive": taken, "naive_memory": peak(), "ours": ours, "slowness": ours / taken}


NAMED = ("ten_million", "naive", "demo", "titles", "wide")
"""Measured only when named, or with ``all``."""

MEASURES: dict[str, Callable[[], Figures]] = {
    "start": start,
    "small": small,
    "million": lambda: million("exchangeable"),
    "million_barycentre": lambda: million("barycentre"),
    "million_smoothed": lambda: million("smoothed"),
    "files": files,
    "growth": growth,
    "ten_million": ten_million,
    "naive": naive,
    "metrics": metrics,
    "demo": demo,
    "titles": titles,
    "wide": wide,
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

    names = [
        name
        for name in MEASURES
        if name in arguments or "all" in arguments or (not arguments and name not in NAMED)
    ]
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
