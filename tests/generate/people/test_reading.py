"""Bad input: the message names the table, the column or the row, and what to do."""

from __future__ import annotations

import polars as pl
import pytest
from visit_tables import two_tables, visits

from sosie import Avatarizer, InputError, SosieWarning
from sosie.data.table import Roles
from sosie.generate.people import reading


def _fit(data: object, **options: object) -> Avatarizer:
    return Avatarizer(seed=1).fit(data, **{"person": "patient", **options})


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no column 'nobody'"):
        _fit(visits(), person="nobody")
    with pytest.raises(InputError, match="no column 'when'"):
        _fit(visits(), time="when")


def test_several_numbers_that_rise_are_the_candidates() -> None:
    long = visits().with_columns((pl.col("day") * 2).alias("hour"))
    with pytest.raises(InputError, match="'day', 'hour'; say which"):
        _fit(long)
    assert reading(long, None, "patient", "day", None, Roles()).children[0].time == "day"


def test_nothing_that_tells_the_time() -> None:
    with pytest.raises(InputError, match="no column tells the time"):
        _fit(visits().drop("day"))


def test_times_and_people_that_are_missing() -> None:
    long = visits().with_row_index("i")
    gone = pl.when(pl.col("i") != 7)
    with pytest.raises(InputError, match=r"'day': the time is missing in row 8 \(1 rows\)"):
        _fit(long.with_columns(gone.then("day").alias("day")).drop("i"), time="day")
    with pytest.raises(InputError, match="'patient' is missing in row 8"):
        _fit(long.with_columns(gone.then("patient").alias("patient")).drop("i"))


def test_a_row_of_nobody() -> None:
    people, children = two_tables()
    with pytest.raises(InputError, match=r"table 'measures', row \d+: its 'patient' is nobody's"):
        _fit(people[1:], children=children)


def test_a_person_who_is_there_twice() -> None:
    people, children = two_tables()
    with pytest.raises(InputError, match=r"rows 1 and 161 .* have the same value"):
        _fit(pl.concat([people, people[:1]]), children=children)


def test_keys_of_two_types() -> None:
    people, children = two_tables()
    texts = {
        name: c.with_columns(pl.col("patient").cast(pl.String)) for name, c in children.items()
    }
    with pytest.raises(InputError, match="make them of one type"):
        _fit(people, children=texts)


@pytest.mark.slow
def test_one_person_with_half_of_all_rows_is_counted() -> None:
    long = visits(60)
    many = long.filter(pl.col("patient") == 0)[:1]
    more = pl.concat([many.with_columns(pl.lit(3000 + i).alias("day")) for i in range(len(long))])
    with pytest.warns(SosieWarning, match=r"one person has \d+ of the \d+ rows of 'rows'"):
        made = _fit(pl.concat([long, more.select(long.columns).cast(dict(long.schema))]))
    assert made.guarantee.holds
    rows = made.release().group_by("patient").len()["len"]
    assert rows.max() < len(long) / 2  # nobody's own number of rows comes again


def test_a_table_in_which_nothing_varies() -> None:
    people, _ = two_tables()
    with pytest.raises(InputError, match="leave --person out"):
        _fit(people)


def test_what_is_not_there_yet() -> None:
    with pytest.raises(InputError, match="leave --method and --augment out"):
        Avatarizer(method="smoothed").fit(visits(), person="patient")
    with pytest.raises(InputError, match="say which column tells"):
        Avatarizer().fit(visits(), time="day")
    with pytest.raises(InputError, match="only people's own columns can be kept"):
        Avatarizer(keep=["stage"]).fit(visits(), person="patient")


def test_inputs_are_not_changed() -> None:
    people, children = two_tables()
    copies = people.clone(), {name: child.clone() for name, child in children.items()}
    _fit(people, children=children).release()
    assert people.equals(copies[0])
    assert all(child.equals(copies[1][name]) for name, child in children.items())
