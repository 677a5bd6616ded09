"""The bundled cohort is what its page says, and its script makes it again byte for byte."""

import importlib.util
from datetime import date
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from sosie.data import cohort

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_cohort.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_cohort", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return pl.read_csv(
        cohort.path(), schema_overrides={"postcode": pl.String}, try_parse_dates=True
    )


def test_the_script_makes_the_same_bytes(script: ModuleType) -> None:
    assert script.to_csv(script.simulate()) == cohort.path().read_bytes()


def test_the_file_is_small() -> None:
    assert cohort.path().stat().st_size < 400_000


def test_columns_have_every_type(patients: pl.DataFrame) -> None:
    kinds = {
        "patient_id": pl.String,
        "postcode": pl.String,
        "nyha": pl.String,
        "diabetes": pl.Boolean,
        "age": pl.Int64,
        "weight_kg": pl.Float64,
        **dict.fromkeys(cohort.DATES, pl.Date),
    }
    assert patients.shape == (2_000, 25)
    assert {name: patients.schema[name] for name in kinds} == kinds
    assert patients.columns == described_columns()


def described_columns() -> list[str]:
    """Read the column names in the table of the module's docstring, in order."""
    assert cohort.__doc__ is not None
    table = cohort.__doc__.split("\n=====")[1].split("\n", 1)[1]
    named = [line[:23].replace(",", " ").split() for line in table.splitlines()]
    return [name for names in named for name in names]


def test_the_declared_formats_read_the_dates() -> None:
    text = pl.read_csv(cohort.path(), infer_schema=False)
    for name, form in cohort.DATES.items():
        dates = text[name].drop_nulls()
        assert dates.str.to_date(form).dt.to_string(form).equals(dates)


def test_missing_values_are_in_numbers_categories_and_a_date(patients: pl.DataFrame) -> None:
    missing = {name: n for name, n in patients.null_count().row(0, named=True).items() if n}
    assert set(missing) == {
        "postcode",
        "weight_kg",
        "smoking",
        "lvef",
        "systolic_bp",
        "creatinine",
        "haemoglobin",
        "visit_20w_date",
        "ntprobnp_20w",
    }
    assert all(10 <= n <= 300 for n in missing.values())


def test_the_identifier_is_all_distinct_and_in_no_order(patients: pl.DataFrame) -> None:
    (name,) = cohort.DROP
    identifier = patients[name]
    assert identifier.n_unique() == patients.height
    assert identifier.str.contains(r"^P-\d{6}$").all()
    assert not identifier.is_sorted()
    assert not identifier.is_sorted(descending=True)


def test_linked_columns_never_contradict_each_other(patients: pl.DataFrame) -> None:
    for group in cohort.LINKED:
        together = patients.select(group).n_unique()
        assert all(patients[name].n_unique() == together for name in group)


def test_the_postcode_has_many_levels_common_and_rare(patients: pl.DataFrame) -> None:
    (name,) = cohort.CATEGORICAL
    postcode = patients[name].drop_nulls()
    held = postcode.value_counts()["count"]
    assert postcode.str.contains(r"^\d{5}$").all()
    assert postcode.str.starts_with("0").any()
    assert 300 <= len(held) <= 400
    assert (held > 1).mean() > 0.8
    assert (held == 1).sum() > 10


def test_prior_therapy_has_a_spike_at_zero(patients: pl.DataFrame) -> None:
    days = patients["prior_therapy_days"]
    assert 0.3 < (days == 0).mean() < 0.6
    assert days.filter(days > 0).n_unique() > 300


def test_dates_agree_with_each_other_and_with_the_age(patients: pl.DataFrame) -> None:
    def years(born: date, day: date) -> int:
        return day.year - born.year - ((day.month, day.day) < (born.month, born.day))

    ages = [years(*row) for row in patients.select("birth_date", "inclusion_date").rows()]
    assert patients["age"].to_list() == ages
    delay = (patients["visit_20w_date"] - patients["inclusion_date"]).dt.total_days()
    assert delay.drop_nulls().is_between(115, 165).all()
    assert (delay <= patients["followup_days"]).all(ignore_nulls=True)
    assert patients["inclusion_date"].dt.weekday().is_between(1, 5).all()


def test_associations_are_those_of_a_trial(patients: pl.DataFrame) -> None:
    logs = patients.select("arm", "death", "age", pl.col("ntprobnp", "ntprobnp_20w").log())
    both = logs.drop_nulls()
    assert 0.5 < both.select(pl.corr("ntprobnp", "ntprobnp_20w")).item() < 0.7
    by_arm = both.group_by("arm").agg(pl.col("ntprobnp_20w").mean()).sort("arm")["ntprobnp_20w"]
    assert by_arm.is_sorted(descending=True)
    assert 0.15 < patients["death"].mean() < 0.35
    of_dead, of_alive = (logs.filter(death=death)["age"].mean() for death in (1, 0))
    assert of_dead > of_alive + 2
