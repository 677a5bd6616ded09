"""The worked example with other generators."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from sosie.attacks import attack

PATH = Path(__file__).resolve().parents[2] / "examples" / "other_generators.py"


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("other_generators", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_both_generators_are_attacked(example: ModuleType, capsys: pytest.CaptureFixture[str]):
    people = example.people(200)
    rates = []
    for generator in (example.Interpolation(), example.Noise(0.2), example.Noise(2.0)):
        known = {"estimator": "nearest-mean", "decision": "likelihood", "releases": 3}
        report = attack(people, generator, **known)
        example.show("title", report)
        rates.append(report.results[0].rate)
    between, little, much = rates
    assert between > 20
    assert little > 60
    assert much < 10
    assert capsys.readouterr().out.count("releases") >= 3


def test_interpolation_stays_between_two_people(example: ModuleType):
    people = example.people(150)
    made = example.Interpolation(k=3)
    made.fit(people)
    release = made.release(0)
    assert release.columns == people.columns
    for name in example.NUMBERS:
        near = pl.DataFrame({"own": people[name]}).with_columns(
            pl.Series(str(j), people[name].gather(made.neighbours[:, j])) for j in range(3)
        )
        assert (release[name] >= near.min_horizontal() - 0.05).all()
        assert (release[name] <= near.max_horizontal() + 0.05).all()
