"""Peers and sosie on the same tables, in the same run, each in its own environment.

``python benchmarks/peers.py FOLDER`` makes an environment for each peer in FOLDER (from the package
registry, once), then measures. Distance to closest: SDMetrics and SynthEval. Singling out,
linkability and inference against a control: anonymeter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
PEERS = {"anonymeter": "anonymeter", "sdmetrics": "sdmetrics", "syntheval": "syntheval"}
MINUTES = 15

# What each side is asked for; run by the interpreter of its own environment.
ASKED: dict[str, tuple[str, ...]] = {
    "sosie": ("dcr_500", "dcr_2000", "dcr_10000", "attacks_30000", "audit_30000"),
    "sdmetrics": ("dcr_2000",),
    "syntheval": ("dcr_2000", "dcr_10000"),
    "anonymeter": ("attacks_30000",),
}


def tables(folder: Path, rows: int) -> tuple[Path, Path, Path]:
    return tuple(folder / f"{name}_{rows}.csv" for name in ("people", "avatars", "held"))  # type: ignore[return-value]


def make_tables(folder: Path) -> None:
    from metrics import aligned, fifteen

    for rows, held in ((500, 500), (2_000, 2_000), (10_000, 10_000), (30_000, 10_000)):
        frame = fifteen(rows)
        for path, table in zip(
            tables(folder, rows), (frame, aligned(frame), fifteen(held, 7)), strict=True
        ):
            table.write_csv(path)


def read(folder: Path, rows: int) -> tuple[Any, Any, Any]:
    import pandas as pd

    people, avatars, held = (pd.read_csv(path) for path in tables(folder, rows))
    return people, avatars, held


def categories(frame: Any) -> list[str]:
    return [name for name in frame.columns if frame[name].nunique() <= 10]


# ------------------------------------------------------------------------ what each side does


def sosie_dcr(folder: Path, rows: int) -> dict[str, Any]:
    import polars as pl

    from sosie.audits.privacy.distance_to_closest import distance_to_closest

    people, avatars, _ = (pl.read_csv(path) for path in tables(folder, rows))
    distance_to_closest(people[:100], avatars[:100])  # imports are not timed
    metric, seconds = timed(lambda: distance_to_closest(people, avatars))
    found = {"seconds": seconds, "value": metric.value}
    if rows <= 500:
        found["largest difference from brute force"] = _from_brute_force(people, avatars)
    return found


def _from_brute_force(people: Any, avatars: Any) -> float:
    import numpy as np

    from sosie.audits.comparison import Comparison

    comparison = Comparison.of(people, avatars)
    away = np.linalg.norm(
        comparison.avatar_points[:, None] - comparison.original_points[None], axis=2
    )
    return float(np.abs(away.min(axis=1) - comparison.closest_originals[:, 0]).max())


def sosie_attacks(folder: Path, rows: int) -> dict[str, Any]:
    import polars as pl

    from sosie.audits.audit import audit

    people, avatars, held = (pl.read_csv(path) for path in tables(folder, rows))
    wanted = ("linkability", "inference", "membership")
    audit(people[:200], avatars[:200], holdout=held[:200], metrics=wanted)
    found, seconds = timed(lambda: audit(people, avatars, holdout=held, metrics=wanted))
    return {"seconds": seconds} | {key: metric.value for key, metric in found.privacy.items()}


def sosie_audit(folder: Path, rows: int) -> dict[str, Any]:
    import polars as pl

    from sosie.audits.audit import audit

    people, avatars, held = (pl.read_csv(path) for path in tables(folder, rows))
    audit(people[:200], avatars[:200], aligned=True, holdout=held[:200])
    _, seconds = timed(lambda: audit(people, avatars, aligned=True, holdout=held))
    return {"seconds": seconds}


def sdmetrics_dcr(folder: Path, rows: int) -> dict[str, Any]:
    from sdmetrics.single_table import (  # type: ignore[import-not-found]
        DCRBaselineProtection,
    )

    people, avatars, _ = read(folder, rows)
    kinds = {
        name: {"sdtype": "categorical" if name in categories(people) else "numerical"}
        for name in people.columns
    }
    metadata = {"tables": {"people": {"columns": kinds}}}
    _, seconds = timed(
        lambda: DCRBaselineProtection.compute(people, avatars, metadata, table_name="people")
    )
    return {"seconds": seconds}


def syntheval_dcr(folder: Path, rows: int) -> dict[str, Any]:
    from syntheval import SynthEval  # type: ignore[import-not-found]

    people, avatars, held = read(folder, rows)
    evaluator = SynthEval(
        people, holdout_dataframe=held, cat_cols=categories(people), verbose=False
    )
    _, seconds = timed(lambda: evaluator.evaluate(avatars, dcr={}))
    return {"seconds": seconds}


def anonymeter_attacks(folder: Path, rows: int) -> dict[str, Any]:
    from anonymeter.evaluators import (  # type: ignore[import-not-found]
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    people, avatars, held = read(folder, rows)
    names, parts = list(people.columns), {}
    secret = names[-1]
    evaluators: dict[str, Callable[[], Any]] = {
        "singling out": lambda: SinglingOutEvaluator(
            ori=people, syn=avatars, control=held, n_attacks=500
        ),
        "linkability": lambda: LinkabilityEvaluator(
            ori=people,
            syn=avatars,
            control=held,
            n_attacks=2_000,
            aux_cols=(names[::2], names[1::2]),
        ),
        "inference": lambda: InferenceEvaluator(
            ori=people,
            syn=avatars,
            control=held,
            aux_cols=names[:-1],
            secret=secret,
            n_attacks=2_000,
        ),
    }
    for name, make in evaluators.items():
        _, parts[name] = timed(lambda: make().evaluate())  # noqa: B023 (called at once)
    return {"seconds": sum(parts.values())} | parts


WORK: dict[tuple[str, str], Callable[[Path, int], dict[str, Any]]] = {
    ("sosie", "dcr"): sosie_dcr,
    ("sosie", "attacks"): sosie_attacks,
    ("sosie", "audit"): sosie_audit,
    ("sdmetrics", "dcr"): sdmetrics_dcr,
    ("syntheval", "dcr"): syntheval_dcr,
    ("anonymeter", "attacks"): anonymeter_attacks,
}


# ------------------------------------------------------------------------ running it


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def environment(folder: Path, peer: str) -> Path:
    """The interpreter of a peer's own environment, made if it is not there."""
    python = folder / peer / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / peer)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", PEERS[peer]]
        subprocess.run(pip, check=True)
    return python


def measured(python: Path | str, side: str, task: str, folder: Path) -> dict[str, Any]:
    command = [str(python), str(HERE), "--alone", side, task, str(folder)]
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent), "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, env=environ, timeout=60 * MINUTES, check=True
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {MINUTES} minutes"}
    except subprocess.CalledProcessError as error:
        return {"failed": f"exit {error.returncode}"}
    found: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    return found


def alone(side: str, task: str, folder: Path) -> None:
    """One measurement, in this interpreter; its result is the last line printed."""
    import resource

    what, rows = task.split("_")
    found = WORK[side, what](folder, int(rows))
    found["memory GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(found))


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--alone"]:
        alone(arguments[1], arguments[2], Path(arguments[3]))
        return
    folder = Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    make_tables(folder)
    for side, tasks in ASKED.items():
        python = sys.executable if side == "sosie" else environment(folder, side)
        for task in tasks:
            found = measured(python, side, task, folder)
            shown = ", ".join(
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                for key, value in found.items()
            )
            print(f"{side:12} {task:15} {shown}", flush=True)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
