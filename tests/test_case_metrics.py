"""Cases of the list that concern the metrics, through the whole audit.

What each metric comes to on tables worked by hand is tested with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from comparison_cases import dial, people
from spoken import spoken

from sosie.attacks.laboratory import attack
from sosie.audits.audit import audit
from sosie.audits.reasons import NO_CATEGORIES, NO_HOLDOUT, TOO_FEW_COLUMNS
from sosie.audits.results import Audit, Metric
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer

ROWS = 300
DIRECTIONS = {"higher": 1.0, "lower": -1.0}


def all_of(found: Audit) -> dict[str, Metric]:
    return {**found.privacy, **found.utility}


def with_codes(frame: pl.DataFrame) -> pl.DataFrame:
    """Beside the usual columns, levels that three people hold."""
    return frame.with_columns(code=pl.Series([f"c{i // 3}" for i in range(len(frame))]))


@pytest.fixture(scope="module")
def originals() -> pl.DataFrame:
    return people(ROWS)


@pytest.fixture(scope="module")
def avatars(originals: pl.DataFrame) -> pl.DataFrame:
    made: pl.DataFrame = Avatarizer(seed=1).fit(originals).release(shuffle=False)
    return made


@pytest.fixture(scope="module")
def holdout() -> pl.DataFrame:
    return people(120, seed=2)


@pytest.fixture(scope="module")
def plain(originals: pl.DataFrame, avatars: pl.DataFrame, holdout: pl.DataFrame) -> Audit:
    return audit(originals, avatars, aligned=True, holdout=holdout)


# ---------------------------------------------------------------- 1 to 4: names and order


def test_case_01_renamed_columns_change_no_metric(
    originals: pl.DataFrame, avatars: pl.DataFrame, holdout: pl.DataFrame, plain: Audit
) -> None:
    names = ["class", "a (b)", 'q"uote', "new\nline", "😀", " "]
    new = dict(zip(originals.columns, names, strict=True))
    tables = [frame.rename(new) for frame in (originals, avatars, holdout)]
    renamed = audit(tables[0], tables[1], aligned=True, holdout=tables[2])
    for key, metric in all_of(renamed).items():
        assert metric.value == all_of(plain)[key].value, key


def test_case_02_numbered_columns_change_no_metric(
    originals: pl.DataFrame, avatars: pl.DataFrame, plain: Audit
) -> None:
    one, other = (frame.to_pandas().set_axis(range(6), axis=1) for frame in (originals, avatars))
    numbered = audit(one, other, aligned=True)
    for key in ("hidden_rate", "distance_to_closest", "column_direct_match_protection"):
        assert numbered.privacy[key].value == pytest.approx(plain.privacy[key].value)
    with pytest.raises(InputError, match="same name: 1"):
        audit(one.set_axis([0, 1, 1, 3, 4, 5], axis=1), other)


def test_case_03_a_missing_or_extra_column_is_named(
    originals: pl.DataFrame, avatars: pl.DataFrame
) -> None:
    with pytest.raises(InputError, match="'stage'"):
        audit(originals, avatars.drop("stage"))
    with pytest.raises(InputError, match="'new'"):
        audit(originals, avatars.with_columns(new=1))
    with pytest.raises(InputError, match="'stage'"):
        audit(originals, avatars, holdout=originals.drop("stage"))


def test_case_04_rows_are_matched_by_position(
    originals: pl.DataFrame, avatars: pl.DataFrame, plain: Audit
) -> None:
    one, other = originals.to_pandas(), avatars.to_pandas()
    one.index, other.index = range(1_000, 1_000 + ROWS), [7] * ROWS  # type: ignore[assignment]
    found = audit(one, other, aligned=True)
    assert found.privacy.hidden_rate.value == plain.privacy.hidden_rate.value
    assert found.privacy.closest_rate.value == plain.privacy.closest_rate.value


# ---------------------------------------------------------------- 8 to 13: types, missing


def test_case_08_type_drift_changes_no_metric_and_is_told(
    originals: pl.DataFrame, avatars: pl.DataFrame, plain: Audit
) -> None:
    drifted = avatars.with_columns(
        pl.col("age").cast(pl.Float64), pl.col("sex", "stage").cast(pl.Categorical)
    )
    found = audit(originals, drifted, aligned=True)
    for key, metric in found.privacy.items():
        if metric.value is not None:
            assert metric.value == pytest.approx(plain.privacy[key].value), key
    assert any("'age'" in note for note in spoken(found.notes))


def test_case_11_missing_in_the_avatars_alone_is_told(
    originals: pl.DataFrame, avatars: pl.DataFrame
) -> None:
    lost = avatars.with_columns(age=pl.when(pl.int_range(pl.len()) > 9).then(pl.col("age")))
    assert not any("missing" in note for note in spoken(audit(originals, avatars).notes))
    found = audit(originals, lost)
    assert "column 'age' has missing values in the avatars only" in spoken(found.notes)
    assert found.to_dict()["notes"] == [note.to_dict() for note in found.notes]


@pytest.mark.parametrize("absent", [None, float("nan")])
def test_case_13_every_way_of_missing_scores_the_same(
    originals: pl.DataFrame, avatars: pl.DataFrame, plain: Audit, absent: Any
) -> None:
    marked = avatars.with_columns(pl.col("marker").fill_null(pl.lit(absent, dtype=pl.Float64)))
    found = audit(originals, marked, aligned=True)
    for key in ("hidden_rate", "column_direct_match_protection", "hellinger_mean"):
        assert all_of(found)[key].value == pytest.approx(all_of(plain)[key].value)


# ---------------------------------------------------------------- 14 to 20: shapes


def test_case_14_a_constant_column_moves_no_distance(
    originals: pl.DataFrame, avatars: pl.DataFrame, plain: Audit
) -> None:
    one, other = (frame.with_columns(one=1.25, word=pl.lit("x")) for frame in (originals, avatars))
    found = audit(one, other, aligned=True)
    for key in ("hidden_rate", "distance_to_closest", "closest_rate", "local_cloaking"):
        assert found.privacy[key].value == pytest.approx(plain.privacy[key].value), key


def test_case_17_a_table_of_twins_protects_by_its_crowd() -> None:
    """Where all are equal, nobody's own avatar is nearer than another's: one in n is a guess."""
    twins = pl.DataFrame({"x": [1.5, 2.5] * 40, "g": ["a", "b"] * 40})
    found = audit(twins, twins, aligned=True, holdout=twins)
    assert found.privacy.hidden_rate.value == pytest.approx(100 - 100 / 40)


def test_case_19_levels_of_one_table_only() -> None:
    """One that only the avatars have, one that only people set aside have: no error, told."""
    frame = pl.DataFrame({"g": ["a", "b"] * 30, "x": [i / 7 for i in range(60)]})
    strange = frame.with_columns(g=pl.Series(["a", "new"] * 30))
    aside = frame.with_columns(g=pl.Series(["b", "other"] * 30))
    found = audit(frame, strange, aligned=True, holdout=aside)
    assert any("'g'" in note for note in spoken(found.notes))
    matches = {c["column"]: c for c in found.privacy.column_direct_match_protection.columns}
    assert matches["g"]["matches"] == 30
    # Of half the people the level is right, so that half of the distribution is elsewhere.
    assert found.utility.hellinger_mean.value == pytest.approx(np.sqrt(1 - 0.5) / 2, abs=1e-9)


# ---------------------------------------------------------------- 23 to 25: reading


def test_case_23_copies_score_worst_and_independent_data_best() -> None:
    originals, aside = with_codes(people(ROWS)), with_codes(people(ROWS, seed=5))
    independent = people(ROWS, seed=9).with_columns(code=pl.lit("c0"))
    steps = [
        audit(originals, made, aligned=True, holdout=aside).privacy
        for made in dial(originals, independent, 4)
    ]
    told: dict[str, list[float]] = {}
    for privacy in steps:
        for key, metric in privacy.items():
            assert metric.value is not None, key
            told.setdefault(key, []).append(DIRECTIONS[metric.direction] * metric.value)
    for key, values in told.items():
        best, worst = values[0], values[-1]
        assert best > worst, key
        assert max(values) - best <= 0.02 * (best - worst), key
        assert worst - min(values) <= 0.02 * (best - worst), key
        # Of rates above a control, steps between may sway by what chance sways the control.
        sway = 0.05 if key in ("inference", "linkability", "correlation_protection_rate") else 1e-9
        assert (np.diff(values) <= sway * (best - worst)).all(), (key, values)


NOTHING: dict[str, tuple[pl.DataFrame, dict[str, Reason]]] = {
    "one column": (
        pl.DataFrame({"x": [float(i * i) for i in range(60)]}),
        {
            "categorical_hidden_rate": NO_CATEGORIES,
            "linkability": TOO_FEW_COLUMNS,
            "inference": TOO_FEW_COLUMNS,
            "correlation_protection_rate": TOO_FEW_COLUMNS,
            "association_difference": TOO_FEW_COLUMNS,
            "membership": NO_HOLDOUT,
            "predictive_ratio": NO_HOLDOUT,
        },
    ),
    "nothing varies": (
        pl.DataFrame({"x": [1.5] * 60, "g": ["a"] * 60}),
        {"inference": NO_HOLDOUT, "membership": NO_HOLDOUT, "predictive_ratio": NO_HOLDOUT},
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_case_24_nothing_to_check_is_null_with_a_reason(name: str) -> None:
    frame, reasons = NOTHING[name]
    found = all_of(audit(frame, frame, aligned=True))
    for key, reason in reasons.items():
        assert (found[key].value, found[key].met) == (None, None), key
        assert found[key].reason == reason, key
    for key, metric in found.items():
        told = metric.to_dict()
        assert (told["value"] is None) == bool(told["reason"]), key


def test_case_24_what_has_no_value_enters_no_mean(originals: pl.DataFrame) -> None:
    """A column without values has no distance; the mean is that of the others."""
    other = people(ROWS, seed=9)
    empty = pl.lit(None, dtype=pl.Float64).alias("empty")
    plain = audit(originals, other, metrics=["hellinger_mean", "association_difference"]).utility
    more = audit(
        originals.with_columns(empty),
        other.with_columns(empty),
        metrics=["hellinger_mean", "association_difference"],
    ).utility
    assert more.association_difference.value == pytest.approx(plain.association_difference.value)
    by_column = {c["column"]: c for c in more.hellinger_mean.columns}
    told = [c["distance"] for name, c in by_column.items() if c.get("distance") is not None]
    assert more.hellinger_mean.value == pytest.approx(np.mean(told), abs=1e-5)


def test_case_25_an_attack_that_finds_nothing_is_no_failure() -> None:
    """Independent people, independent columns: attack and control both near 0."""
    rng = np.random.default_rng(0)

    def strangers() -> pl.DataFrame:
        return pl.DataFrame({f"x{i}": rng.normal(size=400).round(3) for i in range(4)})

    found = audit(strangers(), strangers(), aligned=True, holdout=strangers()).privacy
    for key in ("linkability", "inference"):
        metric = found[key]
        assert metric.value is not None, key
        assert metric.ci is not None
        assert metric.ci[0] <= 0 <= metric.ci[1] or metric.value <= 0, key
        assert metric.met is None or metric.met, key
    assert found.membership.ci is not None
    assert found.membership.ci[0] <= 0.5 <= found.membership.ci[1]
    assert found.hidden_rate.met


def test_case_25_a_rate_at_chance_stands_beside_its_chance() -> None:
    rng = np.random.default_rng(0)
    originals = pl.DataFrame({f"x{i}": rng.normal(size=150).round(3) for i in range(3)})

    class Stranger:
        """A generator that looks at nobody."""

        def fit(self, data: object) -> Stranger:
            return self

        def release(self, number: int, *, shuffle: bool = True) -> pl.DataFrame:
            drawn = np.random.default_rng(number + 1)
            return pl.DataFrame({f"x{i}": drawn.normal(size=150).round(3) for i in range(3)})

    told = attack(originals, Stranger(), scenario="v1", releases=5, candidates=20).to_dict()
    assert told["results"]
    for result in told["results"]:
        if result["rate"] is not None:  # of eight attackers, one may be unlucky
            low, high = result["ci"]
            assert low - 4 <= result["chance"] <= high + 4


# ---------------------------------------------------------------- 26 to 28: always the same

PROGRAM = """
import json, sys
import polars as pl
from sosie.audits.audit import AuditOptions, audit
one, other, held = (pl.read_parquet(path) for path in sys.argv[1:4])
options = AuditOptions(threads=1)
print(json.dumps(audit(one, other, aligned=True, holdout=held, options=options).to_dict()))
"""


def test_case_26_another_process_measures_the_same(
    originals: pl.DataFrame,
    avatars: pl.DataFrame,
    holdout: pl.DataFrame,
    plain: Audit,
    tmp_path: Path,
) -> None:
    paths = []
    for name, frame in (("a", originals), ("b", avatars), ("c", holdout)):
        paths.append(str(tmp_path / f"{name}.parquet"))
        frame.write_parquet(paths[-1])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *paths], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(plain.to_dict()))


def test_case_27_names_of_levels_change_no_metric(
    originals: pl.DataFrame, avatars: pl.DataFrame, holdout: pl.DataFrame, plain: Audit
) -> None:
    swap = {"F": "zz", "M": "A", "I": "Ω", "II": "0", "III": "i"}
    tables = [
        frame.with_columns(pl.col("sex", "stage").replace(swap))
        for frame in (originals, avatars, holdout)
    ]
    renamed = all_of(audit(tables[0], tables[1], aligned=True, holdout=tables[2]))
    for key, metric in all_of(plain).items():
        if metric.value is None:
            assert renamed[key].reason == metric.reason, key
        else:
            assert renamed[key].value == pytest.approx(metric.value, rel=1e-9), key


def test_case_28_an_attack_changes_no_table(originals: pl.DataFrame) -> None:
    small = originals.head(80).to_pandas()
    before = small.copy(deep=True)
    avatarizer = Avatarizer(seed=1)
    attack(small, avatarizer, scenario="v1", estimator="published", releases=3, candidates=10)
    assert small.equals(before)
    assert small.dtypes.equals(before.dtypes)
    audit(small, avatarizer.fit(small).release())
    assert small.equals(before)
