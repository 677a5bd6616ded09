"""Who may know whom: the core works without the cluster, and nothing imports back up."""

from __future__ import annotations

import subprocess
import sys

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
