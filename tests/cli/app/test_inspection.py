"""What is shown of a file is of nobody alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from workbooks import awkward

from sosie.audits.context import Context
from sosie.cli.app.inspection import FEWEST, Card, inspect, main, smallest_group
from sosie.cli.app.inspection import card as card_of
from sosie.data.parquet import Scan
from sosie.latent.tree import groups


def card(frame: pl.DataFrame, name: str, least: int = FEWEST) -> Card:
    return card_of(frame.select(name), name, None, least)


def test_rare_levels_are_counted_and_not_named() -> None:
    frame = pl.DataFrame({"town": ["Lyon"] * 6 + ["Paris"] * 5 + ["Brest"] * 4 + ["Here"] + [None]})
    told = card(frame, "town")
    assert told.levels == (("Lyon", 6), ("Paris", 5))
    assert (told.unnamed, told.distinct, told.missing) == (2, 4, 1)


def test_ranges_leave_out_five_people_at_each_end() -> None:
    frame = pl.DataFrame({"income": np.random.default_rng(1).permutation(100) * 1.5})
    told = card(frame, "income")
    assert (told.low, told.high, told.digits) == (7.5, 141.0, 1)
    inside = np.arange(5, 95)
    counts, _ = np.histogram(inside, 16)
    assert told.bars == tuple(counts)


def test_bars_of_few_people_are_empty() -> None:
    values = [0.5] * 40 + [1.25 * i for i in range(1, 12)] + [99.5] * 40
    told = card(pl.DataFrame({"x": values}), "x")
    assert set(told.bars) & {1, 2, 3, 4} == set()


def test_few_values_have_no_range() -> None:
    told = card(pl.DataFrame({"x": [i + 0.5 for i in range(19)]}), "x")
    assert (told.low, told.high, told.bars) == (None, None, ())


def test_dates_are_written_as_dates() -> None:
    days = pl.date_range(pl.date(2027, 1, 1), pl.date(2027, 2, 9), eager=True)
    told = card(pl.DataFrame({"day": days}), "day")
    assert (told.kind, told.low, told.high) == ("date", "2027-01-06", "2027-02-04")


def test_a_column_that_can_not_be_read_hides_no_other(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.5, 2.5] * 30, "nested": [[1]] * 60})
    frame.write_parquet(tmp_path / "t.parquet")
    told = inspect(tmp_path / "t.parquet")
    assert [column.kind for column in told.columns] == ["category", "unreadable"]
    assert "nested" in told.columns[1].notes[0]


def test_identifiers_are_suspected(tmp_path: Path) -> None:
    frame = pl.DataFrame({"nir": [f"1 {i:03}" for i in range(60)], "sex": ["F", "M"] * 30})
    frame.write_parquet(tmp_path / "t.parquet")
    nir, sex = inspect(tmp_path / "t.parquet").columns
    assert (nir.suspect, sex.suspect) == ("name", None)
    assert nir.levels == ()


def test_people_with_several_rows_are_told(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"patient_id": [i // 4 for i in range(400)], "bp": [100 + i % 37 for i in range(400)]}
    )
    frame.write_csv(tmp_path / "visits.csv")
    told = inspect(tmp_path / "visits.csv").people
    assert told is not None
    assert (told.column, told.people, told.rows) == ("patient_id", 100, 400)


def test_levels_that_may_not_be_drawn_are_counted() -> None:
    towns = ["Lyon"] * 30 + ["Brest"] * 4 + ["Dole"] * 3
    told = card(pl.DataFrame({"town": towns}), "town", 10)
    assert told.lost == 7
    alone = card(pl.DataFrame({"code": [f"a{i}" for i in range(40)]}), "code", 10)
    assert alone.lost == 40


def test_codes_of_few_people_are_not_named() -> None:
    cells = [f"{value}.5" for value in range(40)] + ["ND"] * 6 + ["NC"] * 4
    told = card(pl.DataFrame({"dose": cells}), "dose")
    assert told.kind == "number"
    assert told.codes == (("ND", 6),)


def test_an_awkward_sheet_is_read_below_its_titles(tmp_path: Path) -> None:
    told = inspect(awkward(tmp_path / "registre.xlsx"))
    assert told.names_in == (4, 5)
    kinds = {column.name: column.kind for column in told.columns}
    assert kinds["poids (kg)"] == "number"
    assert kinds["entrée"] == "date"
    assert [column.name for column in told.columns if column.suspect] == ["n° dossier", "nom"]
    texts = [rule.text for rule in told.rules]
    assert '"durée (jours)" = days(entrée, sortie)' in texts
    sets = {(one.recipient, one.sensitivity): one.attack for one in told.targets}
    assert sets["public", "high"] == Context.of("public", "high").attack_target


def test_a_large_parquet_is_read_a_column_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"age": [i % 60 for i in range(300)], "sex": ["F", "M", "F"] * 100})
    frame.write_parquet(tmp_path / "t.parquet")
    widths = []

    def watched(scan: Scan, names: Sequence[str] | None = None) -> pl.DataFrame:
        widths.append(len(names or scan.columns))
        return whole(scan, names)

    whole = Scan.frame
    monkeypatch.setattr(Scan, "frame", watched)
    monkeypatch.setattr("sosie.cli.app.inspection.MOST_CELLS", 100)
    assert [column.kind for column in inspect(tmp_path / "t.parquet").columns] == [
        *("integer", "category"),
    ]
    assert {*widths} == {1}


@pytest.mark.parametrize(("people", "k"), [(64, 2), (100, 7), (333, 10), (47, 24), (30, 15)])
def test_smallest_groups_are_those_of_the_tree(people: int, k: int) -> None:
    points = np.random.default_rng(people).normal(size=(people, 3))
    hashes = np.arange(people, dtype=np.uint64)
    tree = groups(points, hashes, key=1, k=k, reach=100)
    told = smallest_group(people, k)
    assert (told.smallest, told.groups) == (min(tree.sizes), len(tree))


def test_what_can_not_be_read_is_written_down(tmp_path: Path) -> None:
    main([str(tmp_path / "absent.csv"), str(tmp_path / "out.json")])
    told = json.loads((tmp_path / "out.json").read_text())
    assert told == {"error": f"{tmp_path / 'absent.csv'}: there is no such file"}
