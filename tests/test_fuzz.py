"""The fuzzer's cases: some of each kind, and all that were once a fault."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "fuzz.py"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("target", "cases"), [("csv", 60), ("parquet", 100), ("json", 15), ("toml", 100)]
)
def test_damaged_files_are_read_or_refused_in_words(
    fuzz: ModuleType, target: str, cases: int
) -> None:
    faults = {number: fuzz.fault_of(target, fuzz.made(target, number)) for number in range(cases)}
    assert {number: fault for number, fault in faults.items() if fault} == {}


ONCE: dict[str, tuple[str, bytes]] = {
    "a blank header": ("csv", b" \r,"),
    "numbers beyond the largest": ("csv", b"a|'\n1|1e999\n2|."),
    "a mark of byte order in Windows-1252": ("csv", b"\xe9\n\xef\xbb\xbf,b\n1,2\n"),
    "deep lists": ("toml", b"name = " + b"[" * 20_000),
    "a target that is no number": ("toml", b"[[targets]]\nhidden_rate = nan\n"),
    "a target beyond floating point": ("toml", b"[targets]\nhidden_rate = 1" + b"0" * 400),
}


@pytest.mark.parametrize("name", ONCE)
def test_what_was_once_a_fault(fuzz: ModuleType, name: str) -> None:
    assert fuzz.fault_of(*ONCE[name]) is None


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("audit", {"privacy": {"hidden_rate": {"value": 3.0, "unit": "%", "ci": 1}}}),
        ("audit", {"context": {"name": "\ud800"}}),
        ("attack", {"schema": [{"a": 1}] * 3000}),
        (
            "attack",
            {"results": [{"scenario": "v1", "estimator": "bayes", "rate": 1.0, "ci": [{}]}]},
        ),
        ("run", {"created": "yesterday"}),
    ],
)
def test_json_that_was_once_a_fault(
    fuzz: ModuleType, name: str, changes: dict[str, object]
) -> None:
    import json

    raw = json.dumps(json.loads(fuzz.originals()[name]) | changes)
    case = json.dumps({"name": name, "raw": raw}).encode()
    assert fuzz.fault_of("json", case) is None
