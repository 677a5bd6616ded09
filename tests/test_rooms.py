"""Who may know whom: the core works without the cluster, and nothing imports back up."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"

FLOORS = (
    {"errors"},
    {"compute", "words"},
    {"data"},
    {"latent"},
    {"generate"},
    {"audits", "studies"},
    {"attacks", "cluster"},
    {"tuning"},
    {"report"},
    {"jobs"},
    {"cli"},
    {"__main__"},
)
"""Rooms from the ground up; ``sosie`` itself hands names of all on, when they are first used."""

PROGRAM = """
import sys
import polars as pl
import sosie
people = pl.DataFrame({"a": [i % 41 for i in range(80)], "b": [i % 7 for i in range(80)]})
avatarizer = sosie.Avatarizer(seed=1).fit(people)
aligned = avatarizer.release(shuffle=False)
sosie.audit(people, aligned, aligned=True)
sosie.attack(people, avatarizer, scenario="v1", estimator="published", releases=5)
print(*(name for name in sys.modules if name.startswith(("sosie.cluster", "dask", "distributed"))))
"""


def test_the_core_loads_nothing_of_the_cluster() -> None:
    """After fit, release, audit and attack."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@cache
def imports() -> dict[str, set[str]]:
    """Modules that each module names in an import, wherever it stands."""
    files = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in SOURCE.rglob("*.py")
    }
    known: dict[str, set[str]] = {}
    for module, path in files.items():
        named = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                inside = {f"{node.module}.{name.name}" for name in node.names} & files.keys()
                named |= inside or {node.module} & files.keys()
        known[module] = named - {module}
    return known


def floor_of(module: str) -> int:
    room = module.split(".")[1]
    return next(i for i, rooms in enumerate(FLOORS) if room in rooms)


def test_no_import_runs_back_up() -> None:
    inner = {module: named for module, named in imports().items() if module != "sosie"}
    up = [
        (module, other)
        for module, named in inner.items()
        for other in named
        if other != "sosie" and floor_of(other) > floor_of(module)
    ]
    assert up == []
    assert len(inner) > 200


def test_no_files_import_each_other_in_a_circle() -> None:
    """Only the package's face may be named from inside; its names are loaded when first used."""
    inner = {module: named - {"sosie"} for module, named in imports().items() if module != "sosie"}
    order = list(TopologicalSorter(inner).static_order())  # raises where there is a circle
    assert set(order) == inner.keys()
