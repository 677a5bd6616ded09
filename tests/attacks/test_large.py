"""Attacks on Parquet larger than memory: the figures of a table in memory, in less memory."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie.attacks import attack, decisions, moments, sources, sweep, unaided
from sosie.attacks.estimators import protocol
from sosie.attacks.moments import most_components
from sosie.attacks.scenarios import V1, Cast, Setup
from sosie.attacks.sources import AvatarSource
from sosie.attacks.strongest import family, verdict
from sosie.cli import status_of
from sosie.compute.storage import MEMORY, Disk
from sosie.data.parquet import Scan
from sosie.data.table import Numbers, Roles, Table
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.budget import BASE, INDEX, WORK, Attack, Budget
from sosie.jobs.tables import opened

ROWS = 700


def people() -> pl.DataFrame:
    """Numbers with holes and a spike, categories, a date, twins."""
    rng = np.random.default_rng(0)
    born = np.datetime64("1960-01-01") + rng.integers(0, 9_000, ROWS)
    frame = pl.DataFrame(
        {
            "age": rng.normal(50, 10, ROWS).round(1),
            "weight": rng.lognormal(4, 0.3, ROWS).round(2),
            "spiky": np.where(rng.random(ROWS) < 0.4, 0, rng.exponential(size=ROWS).round(3)),
            "site": rng.choice(list("abcdef"), ROWS),
            "smoker": rng.random(ROWS) < 0.3,
            "born": born.astype("datetime64[D]"),
        }
    )
    missing = pl.Series(rng.random(ROWS) < 0.1)
    frame = frame.with_columns(weight=pl.when(~missing).then(pl.col("weight")))
    return pl.concat([frame[:-9], frame[:9]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people")
    frame = people()
    frame[:300].write_parquet(path / "a.parquet")
    frame[300:].write_parquet(path / "b.parquet")
    return path


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are drawn in parts, people are modelled in parts: as in a table of millions."""
    monkeypatch.setattr(sources, "PART", 300)
    monkeypatch.setattr(moments, "PART", 300)


def on_disk(folder: Path, scratch: Path) -> Table:
    return Table.of(Scan.of(folder), Roles(), Disk(scratch))


@pytest.mark.parametrize("method", ["smoothed", "barycentre"])
def test_columns_on_disk_give_the_same_figures(
    folder: Path, tmp_path: Path, in_parts: None, method: Any
) -> None:
    avatarizer = Avatarizer(k=5, seed=3, method=method, augment=2)
    known: dict[str, Any] = {"scenario": "all", "releases": 3, "targets": 200}
    here = attack(people(), avatarizer, **known).to_dict()
    there = attack(on_disk(folder, tmp_path), avatarizer, **known).to_dict()
    assert there == here
    assert {result["scenario"] for result in here["results"]} == {
        *("v1", "v2", "nearest", "insert", "partial", "groups", "contributor")
    }


def test_parts_of_a_release_are_the_release(folder: Path, tmp_path: Path, in_parts: None) -> None:
    for table in (people(), on_disk(folder, tmp_path)):
        source = AvatarSource(Avatarizer(k=5, seed=3, augment=2).fit(table))
        whole, seen = source.draw(2), []
        for rows, part in source.parts(2):
            seen.extend(rows)
            for one, all_rows in zip(part.columns, whole.columns, strict=True):
                if isinstance(one, Numbers):
                    np.testing.assert_array_equal(one.values, all_rows.values[rows])
                else:
                    np.testing.assert_array_equal(one.codes, all_rows.codes[rows])
        assert sorted(seen) == list(range(ROWS))


@pytest.mark.parametrize("name", ["published", "pooled", "nearest-mean", "diagonal"])
@pytest.mark.parametrize("decision", ["likelihood", "row"])
def test_modelling_only_those_who_are_looked_at_changes_nothing(
    name: str, decision: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the estimator fitted on everyone, where covariances are held in two passes."""
    source = AvatarSource(Avatarizer(k=5, seed=3).fit(people()))
    (arena,) = V1().arenas(source, Setup((6,), targets=150, memory=8 * 16 * ROWS))
    assert arena.cloud.components == 4
    attacker = replace(family((name,), 4, 4, 0.1)[0], decision=decision)
    scorer = attacker.estimator.fit(*arena.first(4))
    targets, truth = np.arange(150), arena.cast.truth[:150]
    if decision == "row":
        near = arena.rows(4, 20)
        right = decisions.own_row(scorer, truth, targets, near)
    else:
        near = arena.candidates(4, 20)
        right = decisions.among(scorer, targets, truth, near)
    monkeypatch.setattr(moments, "MEMORY", 0)
    monkeypatch.setattr(protocol, "CELLS", 8 * 16 * 40)  # 40 people at a time
    found = verdict(arena, attacker, 20)
    np.testing.assert_array_equal(found.rank, right.rank)
    np.testing.assert_allclose(found.margin, right.margin, rtol=1e-9)
    assert len(np.unique(right.rank)) > 3


def test_the_command_keeps_to_a_memory(folder: Path, tmp_path: Path) -> None:
    budget = Budget.of(Scan.of(folder), Avatarizer().settings, attack=Attack())
    assert budget.apart < budget.together
    told = {}
    for name, memory in (("all", budget.together), ("little", budget.apart)):
        where = opened(
            folder, Avatarizer().settings, scratch=tmp_path, memory=memory, attack=Attack()
        )
        assert (where.storage is MEMORY) == (name == "all")
        path = tmp_path / f"{name}.json"
        asked = ["attack", str(folder), "--seed", "1", "--releases", "3", "--json", str(path)]
        assert status_of([*asked, "--estimator", "pooled", "--memory", str(memory)]) == 0
        told[name] = json.loads(path.read_text())
    assert told["all"] == told["little"]
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".json"]


def test_too_little_memory_is_refused_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["attack", str(folder), "--estimator", "nearest-mean", "--releases", "2", "--memory"]
    assert status_of([*asked, "300MB"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    told = re.search(r"700 rows need ([0-9.]+) GB of memory .* attack, .*--memory", said)
    assert told is not None
    assert status_of([*asked, f"{told[1]}GB"]) == 0
    assert status_of([*asked, f"{float(told[1]) - 0.01:.2f}GB"]) == 2


def test_what_an_attack_holds() -> None:
    """By hand, of a million people in 5 components with 5 neighbours each."""
    settings = Avatarizer(method="smoothed").settings
    assert [most_components(rows) for rows in (10_000, 10**6, 10**8)] == [55, 5, 2]
    held = 10**6 * (8 * 5 + 16 + 32 + 8 * 25 + 32 * 5 + INDEX) + WORK
    assert Attack().bytes(10**6, 24, settings) == held
    assert Budget(10**6, 192.0, 5, 5, 1, attacked=held).apart == BASE + held
    more = Attack(refit=True), Attack(profile=True, components=30)
    assert all(some.bytes(10**6, 24, settings) > held for some in more)


@pytest.mark.parametrize("method", ["smoothed", "barycentre"])
def test_scores_of_some_people_at_a_time_give_the_verdicts_of_all(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Avatarizer(k=5, seed=3, method=method).fit(people())
    cast, target = Cast.of(ROWS, 0, 150), made.draw(0)

    def verdicts() -> dict[str, decisions.Verdict]:
        found = unaided.unaided(made, target, cast, unaided.UNAIDED, ("likelihood-all",), 0)
        return {one.estimator: one.verdicts["likelihood-all"] for one in found}

    whole = verdicts()
    monkeypatch.setattr(unaided, "MANY", 10)
    monkeypatch.setattr(sweep, "MODELLED", 90)
    parts = verdicts()
    assert set(parts) == set(whole)
    for name, right in whole.items():
        np.testing.assert_array_equal(parts[name].rank, right.rank, err_msg=name)
        np.testing.assert_allclose(parts[name].margin, right.margin, atol=1e-5)  # bayes: float32
        assert len(np.unique(right.rank)) > 2


def test_a_running_verdict_settles_ties_by_position() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (60, 50)).astype(float)
    truth = np.random.default_rng(1).integers(0, 50, 60)
    running = sweep.Running(truth, scores[np.arange(60), truth])
    for start in (0, 7, 30):
        running.add(scores[:, start : {0: 7, 7: 30, 30: 50}[start]], start)
    right = decisions.first_of(scores, truth)
    np.testing.assert_array_equal(running.verdict().rank, right.rank)
    np.testing.assert_array_equal(running.verdict().margin, right.margin)
