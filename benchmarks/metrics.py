"""Time and memory of the metrics, beside the figures to reach.

``python benchmarks/metrics.py [match|core|all]``; with ``growth``, how time grows with the rows;
with ``trial``, what every metric says of ACTG175 (or the cohort) with one fifth held out. Each
measurement runs in a fresh interpreter, whose peak memory is what the operating system counted.
"""

from __future__ import annotations

import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from tables import jittered

HERE = Path(__file__).resolve()
Figures = dict[str, Any]

CORE = (
    "column_direct_match_protection",
    "hidden_rate",
    "local_cloaking",
    "distance_to_closest",
    "closest_distances_ratio",
    "row_direct_match_protection",
)
MODELS = ("inference", "predictive_ratio")

GOALS = (
    ("match", "time", "column direct match protection, 1,000,000 x 24, from dataframes", 2.0, "s"),
    ("core", "time", "the six first metrics, 100,000 x 24, from dataframes", 5.0, "s"),
    ("core", "memory", "  peak memory, making the avatars included", 1.0, "GB"),
    ("all", "time", "all metrics, 30,000 x 15, 10,000 held out, from dataframes", 15.0, "s"),
    ("all", "memory", "  peak memory, making the avatars included", 1.0, "GB"),
)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall clock and processor time, in seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def best(work: Callable[[], object], times: int = 3) -> Figures:
    runs = sorted(timed(work) for _ in range(times))
    return {"time": runs[0][0], "cpu": min(run[1] for run in runs), "memory": peak()}


def peak() -> float:
    """Peak memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def aligned(frame: pl.DataFrame) -> pl.DataFrame:
    from sosie.generate.avatarizer import Avatarizer

    made: pl.DataFrame = Avatarizer(k=5, seed=1).fit(frame).release(shuffle=False)
    return made


def match() -> Figures:
    from sosie.audits.privacy.column_direct_match_protection import (
        column_direct_match_protection,
    )

    frame = jittered(1_000_000)
    # Half of the rows as they are: making a million avatars is not what is measured.
    other = frame.with_columns(pl.all().gather(np.random.default_rng(1).permutation(len(frame))))
    return best(lambda: column_direct_match_protection(frame, other))


def core() -> Figures:
    from sosie.audits.audit import audit

    frame = jittered(100_000)
    avatars = aligned(frame)
    return best(lambda: audit(frame, avatars, aligned=True, metrics=CORE))


def fifteen(rows: int, seed: int = 0) -> pl.DataFrame:
    """15 mixed columns: as many numbers as there are, then categories."""
    frame: pl.DataFrame = jittered(rows, seed)
    numbers = [name for name in frame.columns if frame[name].n_unique() > 10]
    others = [name for name in frame.columns if name not in numbers]
    return frame.select((numbers + others)[:15])


def everything() -> Figures:
    from sosie.audits.audit import AuditOptions, audit

    frame, held = fifteen(30_000), fifteen(10_000, 7)
    avatars = aligned(frame)
    figures = best(lambda: audit(frame, avatars, aligned=True, holdout=held))
    marks: list[tuple[str, float]] = []
    audit(
        frame,
        avatars,
        aligned=True,
        holdout=held,
        options=AuditOptions(progress=lambda key: marks.append((key, time.perf_counter()))),
    )
    marks.append(("", time.perf_counter()))
    parts = {marks[i][0]: marks[i + 1][1] - marks[i][1] for i in range(len(marks) - 1)}
    return figures | {"parts": parts}


def growth() -> Figures:
    """Each metric from encoded tables, nothing shared, at three sizes."""
    from sosie.audits.comparison import Comparison
    from sosie.audits.registry import DEFINITIONS, MEASURES

    found: Figures = {}
    for rows in (10_000, 100_000, 1_000_000):
        frame, held = jittered(rows), jittered(rows // 10, 7)
        prepared = Comparison.of(frame, aligned(frame), aligned=True, holdout=held)
        for definition in DEFINITIONS:
            if definition.key in MODELS and rows > 100_000:
                continue
            fresh = Comparison(prepared.originals, prepared.avatars, prepared.holdout, aligned=True)
            taken = timed(lambda: MEASURES[definition.key](fresh))  # noqa: B023 (called at once)
            found.setdefault(definition.key, []).append(taken)
        found.setdefault("memory", []).append(peak())
    return found


def trial() -> Figures:
    """Every metric, both methods, k = 5 and 20."""
    from tables import source

    from sosie.audits.audit import audit
    from sosie.generate.avatarizer import Avatarizer

    _, whole = source()
    whole = whole.sample(fraction=1, shuffle=True, seed=0)
    held, frame = whole[: len(whole) // 5], whole[len(whole) // 5 :]
    found: Figures = {}
    for k in (5, 20):
        for method in ("barycentre", "smoothed"):
            avatarizer = Avatarizer(k=k, method=method, seed=1).fit(frame)
            measured = audit(frame, avatarizer.release(shuffle=False), aligned=True, holdout=held)
            found[f"{method}, k={k}"] = {
                key: {"value": m.value, "unit": m.unit, "ci": m.ci, "control": m.control}
                for key, m in [*measured.privacy.items(), *measured.utility.items()]
            }
    return found


MEASURES_HERE: dict[str, Callable[[], Figures]] = {
    "match": match,
    "core": core,
    "all": everything,
    "growth": growth,
    "trial": trial,
}


def measured(name: str) -> Figures:
    done = subprocess.run(
        [sys.executable, str(HERE), "--alone", name],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
    )
    found: Figures = json.loads(done.stdout)
    return found


def show_growth(console: Console, found: Figures) -> None:
    table = Table("metric", "10,000", "100,000", "1,000,000", "exponent of the last step", box=None)
    for key, runs in found.items():
        if key == "memory":
            table.add_row("peak memory, GB", *(f"{gigabytes:.2f}" for gigabytes in runs))
            continue
        cells = [f"{cpu:.2f}" for _, cpu in runs] + [""] * (3 - len(runs))
        table.add_row(key, *cells, f"{math.log10(runs[-1][1] / runs[-2][1]):.2f}")
    console.print("Processor seconds from encoded tables, nothing shared between metrics")
    console.print(table)


def show_trial(console: Console, found: Figures) -> None:
    table = Table("metric", *found, title="value [95 % interval] | control", box=None)

    def cell(metric: dict[str, Any]) -> str:
        if metric["value"] is None:
            return "none"
        ci, control = metric["ci"], metric["control"]
        text = f"{metric['value']:.3g}" + (f" [{ci[0]:.3g}, {ci[1]:.3g}]" if ci else "")
        return text if control is None else f"{text} | {control:.3g}"

    for key in next(iter(found.values())):
        table.add_row(key, *(cell(column[key]) for column in found.values()))
    console.print(table, markup=False)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--alone"]:
        print(json.dumps(MEASURES_HERE[arguments[1]]()))
        return
    console = Console(width=110)
    names = [name for name in MEASURES_HERE if name in (arguments or ["match", "core", "all"])]
    table = Table("what", "measured", "processor", "at most", "", box=None)
    for name in names:
        found = measured(name)
        if name in ("growth", "trial"):
            (show_growth if name == "growth" else show_trial)(Console(width=170), found)
            continue
        for _, key, what, most, unit in (goal for goal in GOALS if goal[0] == name):
            cpu = f"{found['cpu']:.3g} s" if key == "time" else ""
            reached = "ok" if found[key] <= most else "over"
            table.add_row(what, f"{found[key]:.3g} {unit}", cpu, f"{most:g} {unit}", reached)
        for key, seconds in found.get("parts", {}).items():
            table.add_row(f"    {key}", f"{seconds:.2f} s")
    if table.rows:
        console.print(table)
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.1f}",
        highlight=False,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
