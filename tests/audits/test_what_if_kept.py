"""What keeping columns would do: the formula, the measure, the advice."""

import json

import numpy as np
import polars as pl
import pytest
from comparison_cases import people

from sosie.audits.comparison import Comparison
from sosie.audits.privacy.column_direct_match_protection import column_direct_match_protection
from sosie.audits.privacy.hidden_rate import hidden_rate
from sosie.audits.reasons import NOT_ALIGNED
from sosie.audits.what_if_kept import what_if_kept
from sosie.data.table import Roles
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer


@pytest.fixture(scope="module")
def originals() -> pl.DataFrame:
    # 200 people; an identifier, a postcode shared by few, the rest as usual.
    rng = np.random.default_rng(0)
    return people().with_columns(
        patient_id=pl.int_range(200), postcode=pl.Series(rng.integers(0, 150, 200)).cast(pl.String)
    )


@pytest.fixture(scope="module")
def aligned(originals: pl.DataFrame) -> pl.DataFrame:
    made: pl.DataFrame = (
        Avatarizer(k=5, seed=1, numeric=["patient_id"], min_level_count=1)
        .fit(originals)
        .release(shuffle=False)
    )
    return made


def test_the_formula_is_what_keeping_gives(originals: pl.DataFrame) -> None:
    kept = what_if_kept(originals)
    measured = column_direct_match_protection(originals, originals)
    keys = ("column", "matches", "distinct", "protection", "below_target")
    assert [{key: c[key] for key in keys} for c in kept.columns] == list(measured.columns)
    assert kept.value == kept.columns[0]["protection"] == 0
    by_name = {column["column"]: column for column in kept.columns}
    assert by_name["smoker"]["protection"] == 100 * (1 - 3 / 200)


def test_what_to_do_instead(originals: pl.DataFrame) -> None:
    advice = {column["column"]: column["advice"] for column in what_if_kept(originals).columns}
    assert advice == {
        "patient_id": "drop",
        "marker": "coarsen",  # nearly all distinct, but a measure: not an identifier
        "weight": "coarsen",
        "postcode": "coarsen",
        "age": "keep",
        "smoker": "keep",
        "stage": "keep",
        "sex": "keep",
    }
    assert {c["advice"] for c in what_if_kept(originals, target=None).columns} == {"keep"}


def test_with_aligned_avatars_each_column_is_measured(
    originals: pl.DataFrame, aligned: pl.DataFrame
) -> None:
    guide = what_if_kept(originals, aligned)
    assert guide.detail["now"]["hidden_rate"] == hidden_rate(originals, aligned).value
    assert "together" not in guide.detail
    for column in guide.columns:
        name = column["column"]
        put_back = aligned.with_columns(originals[name])
        assert column["hidden_rate"] == pytest.approx(hidden_rate(originals, put_back).value)
        match = column_direct_match_protection(originals, put_back).columns
        assert column["protection"] == next(c["protection"] for c in match if c["column"] == name)
    json.dumps(guide.to_dict(), allow_nan=False)


def test_a_set_is_measured_together(originals: pl.DataFrame, aligned: pl.DataFrame) -> None:
    names = ["age", "sex", "stage"]
    guide = what_if_kept(originals, aligned, columns=names)
    assert [column["column"] for column in guide.columns] == ["age", "stage", "sex"]
    put_back = aligned.with_columns(originals.select(names))
    assert guide.detail["together"]["hidden_rate"] == hidden_rate(originals, put_back).value
    alone = min(column["hidden_rate"] for column in guide.columns)
    assert guide.detail["together"]["hidden_rate"] < alone
    everything = what_if_kept(originals, aligned, columns=originals.columns)
    assert everything.detail["together"] == {
        "column_direct_match_protection": 0,
        "hidden_rate": 0,
        "local_cloaking": 0,
        "row_direct_match_protection": 0,
    }


def test_a_column_that_gives_people_away_is_better_included() -> None:
    # One number with few values, alone with noise: keeping it moves everyone to their avatar.
    rng = np.random.default_rng(0)
    originals = pl.DataFrame({"x": rng.integers(0, 60, 400), "y": rng.normal(size=400)})
    avatars = pl.DataFrame({"x": rng.permutation(originals["x"]), "y": originals["y"] + 0.02})
    guide = {c["column"]: c for c in what_if_kept(originals, avatars, target=1).columns}
    assert guide["x"]["advice"] == "include"
    assert guide["x"]["hidden_rate"] < 90 <= hidden_rate(originals, avatars).value  # type: ignore[operator]


def test_with_several_avatars_a_person(originals: pl.DataFrame) -> None:
    made = Avatarizer(k=5, seed=1, augment=2, drop=["patient_id", "postcode"]).fit(originals)
    stacked = made.release(shuffle=False)
    guide = what_if_kept(
        originals, stacked, columns=["sex"], roles=Roles(drop=("patient_id", "postcode"))
    )
    put_back = stacked.with_columns(sex=pl.concat([originals["sex"]] * 2))
    base = originals.drop("patient_id", "postcode")
    assert guide.columns[0]["hidden_rate"] == hidden_rate(base, put_back).value


def test_what_is_needed_is_said(originals: pl.DataFrame, aligned: pl.DataFrame) -> None:
    assert what_if_kept(Comparison.of(originals, aligned)).reason == NOT_ALIGNED
    with pytest.raises(InputError, match="no column 'agee' to keep"):
        what_if_kept(originals, columns=["agee"])
