"""The bundled visits are what they say, and their script makes them again byte for byte."""

import importlib.util
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from sosie.data import cohort

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_visits.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_visits", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    return pl.read_csv(cohort.visits(), try_parse_dates=True)


def test_the_script_makes_the_same_bytes(script: ModuleType) -> None:
    assert script.to_csv(script.simulate()) == cohort.visits().read_bytes()


def test_the_file_is_small() -> None:
    assert cohort.visits().stat().st_size < 150_000


def test_visits_are_of_the_first_patients_and_in_their_order(visits: pl.DataFrame) -> None:
    patients = pl.read_csv(cohort.path(), try_parse_dates=True)
    assert visits["patient_id"].unique(maintain_order=True).to_list() == (
        patients["patient_id"].head(500).to_list()
    )
    joined = visits.join(patients, on="patient_id")
    since = (joined["visit_date"] - joined["inclusion_date"]).dt.total_days()
    assert since.min() == 0
    assert (since <= joined["followup_days"]).all()
    gaps = visits.select(pl.col("visit_date").diff().over("patient_id"))["visit_date"]
    assert (gaps.drop_nulls().dt.total_days() > 0).all()


def test_measures_last_within_patients(visits: pl.DataFrame) -> None:
    level = visits.group_by("patient_id").agg(pl.col("ntprobnp").log().mean())
    assert level["ntprobnp"].std() > 0.6
    assert 0.01 < visits["weight_kg"].null_count() / len(visits) < 0.08
