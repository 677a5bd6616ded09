"""Numbers of people that stand on several rows, in the library."""

from __future__ import annotations

import polars as pl
import pytest

from sosie import Avatarizer
from sosie.data.identifiers import IdentifierError, RepeatedError


def visits(each: int, people: int = 100) -> pl.DataFrame:
    rows = each * people
    return pl.DataFrame(
        {
            "patient_id": [f"P{i // each:04d}" for i in range(rows)],
            "age": [20 + i // each % 60 for i in range(rows)],
            "dose": [(i * 37 % 101) / 10 for i in range(rows)],
            "arm": ["AB"[i % 2] for i in range(rows)],
        }
    )


def test_case_43_a_patient_number_on_several_rows_is_refused() -> None:
    with pytest.raises(IdentifierError, match="'patient_id'") as caught:
        Avatarizer().fit(visits(4))
    assert [one.column for one in caught.value.suspects] == ["patient_id"]


@pytest.mark.parametrize("role", ["drop", "id"])
def test_case_44_rows_that_are_not_people_stop_the_work(role: str) -> None:
    with pytest.raises(RepeatedError, match=r"100 people on 400 rows.*--rows-are-people"):
        Avatarizer(**{role: ["patient_id"]}).fit(visits(4))


def test_case_44_those_who_go_on_have_no_guarantee() -> None:
    avatarizer = Avatarizer(drop=["patient_id"], rows_are_people=True, seed=1).fit(visits(4))
    guarantee = avatarizer.guarantee
    assert not guarantee.holds
    assert guarantee.people == 100
    assert guarantee.broken_by == ("rows_are_not_people",)
    assert "rows_not_people" in {notice.kind for notice in avatarizer.warnings}


def test_case_44_a_few_repeated_rows_are_a_warning() -> None:
    once = visits(1, 300)
    avatarizer = Avatarizer(drop=["patient_id"], seed=1).fit(pl.concat([once, once.head(30)]))
    assert not avatarizer.guarantee.holds
    assert [n.people for n in avatarizer.warnings if n.kind == "rows_not_people"] == [300]


def test_case_44_one_row_a_person_is_guaranteed() -> None:
    assert Avatarizer(drop=["patient_id"], seed=1).fit(visits(1, 300)).guarantee.holds


def test_case_42_a_rare_outcome_at_large_k_is_kept_or_said() -> None:
    frame = pl.DataFrame(
        {
            "age": [(i * 53 % 600) / 10 + 20 for i in range(1200)],
            "death": [int(i % 50 == 0) for i in range(1200)],
        }
    )
    kept = Avatarizer(k=40, seed=1).fit(frame)
    assert kept.release()["death"].sum() > 0
    lost = Avatarizer(k=40, min_level_count=40, seed=1).fit(frame)
    assert [(n.kind, n.column, n.people) for n in lost.warnings] == [("constant", "death", 24)]
