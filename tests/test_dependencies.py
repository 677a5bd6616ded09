"""The lowest versions and the lock say what pyproject.toml says."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "ci.txt"

pytestmark = pytest.mark.skipif(not LOCK.exists(), reason="only the repository has the lock")


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    return [Requirement(text) for group in groups for text in group]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_has_a_lower_bound() -> None:
    for requirement in declared():
        assert ">=" in str(requirement.specifier), requirement


def test_the_lock_holds_every_dependency_within_its_bounds() -> None:
    locked: dict[str, list[Version]] = {}
    for line in LOCK.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            pinned = Requirement(line)
            (exact,) = pinned.specifier
            assert exact.operator == "=="
            locked.setdefault(normal(pinned.name), []).append(Version(exact.version))
    for requirement in declared():
        versions = locked[normal(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_the_lock_names_no_place_to_fetch_from() -> None:
    assert not re.search(r"https?:|--|file:|@", LOCK.read_text("utf-8"))


def test_the_lowest_versions_are_those_declared() -> None:
    spec = importlib.util.spec_from_file_location("lowest", ROOT / "scripts" / "lowest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.lowest(["numpy>=2.0"], ["dask[dataframe,distributed]>=2025.5"]) == [
        "numpy==2.0",
        "dask==2025.5",
    ]
