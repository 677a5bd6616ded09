"""The attacker who knows columns that were named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sosie
from sosie.attacks import Releases
from sosie.audits.audit import AuditOptions
from sosie.audits.context import Context
from sosie.audits.privacy.inference import inference
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.run import Options, run

ROWS = 90


def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "age": rng.permutation(ROWS) * 1.5,
            "dose": rng.normal(50, 9, ROWS).round(2),
            "arm": rng.choice(["A", "B"], ROWS),
        }
    )


def test_one_known_number_is_looked_up_as_it_is() -> None:
    """In one column the nearest row needs no latent space: the rate is worked out by hand."""
    frame, rng = table(), np.random.default_rng(1)
    noisy = [frame.with_columns(pl.col("age") + rng.normal(0, 2, ROWS)) for _ in range(3)]
    report = sosie.attack(
        frame, Releases(noisy), scenario="partial", known=["age"], releases=2, components=1
    )
    (result,) = report.results
    age, avatars = (one["age"].to_numpy() for one in (frame, noisy[2]))
    away = np.abs(age[:, None] - avatars)
    own = np.isclose(np.diag(away), away.min(axis=1))
    assert np.isclose(away, away.min(axis=1)[:, None]).sum(axis=1).max() == 1  # no ties
    assert result.rate == pytest.approx(100 * own.mean())
    assert (result.known, result.known_columns) == (1, ("age",))
    assert result.to_dict()["known_columns"] == ["age"]


def test_columns_that_are_not_there_are_a_reason() -> None:
    frame = table()
    avatarizer = Avatarizer(k=5, seed=1)
    report = sosie.attack(frame, avatarizer, scenario="partial", known=["age", "town"], releases=2)
    (result,) = report.results
    assert result.rate is None
    assert [(one.key, one.values) for one in result.reasons] == [
        ("known_absent", {"columns": "town"})
    ]


def test_the_context_names_them(tmp_path: Path) -> None:
    file = tmp_path / "context.toml"
    file.write_text('known = ["age", "arm"]\n', encoding="utf-8")
    context = Context.of(file=file)
    assert context.known == {"": ("age", "arm")}
    assert context.to_dict()["known"] == ["age", "arm"]
    assert Options(context=context).columns_known == {"": ("age", "arm")}
    assert Options(context=context, known=("dose",)).columns_known == {"": ("dose",)}
    file.write_text('known = "age"\n', encoding="utf-8")
    with pytest.raises(InputError, match="write known as a list"):
        Context.of(file=file)
    file.write_text('[known]\ncolleague = "age"\n', encoding="utf-8")
    with pytest.raises(InputError, match="write colleague as a list"):
        Context.of(file=file)


def test_a_run_reports_what_is_known(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    table().write_csv(data)
    options = Options(known=("age", "arm"), releases=2)
    done = run(data, tmp_path / "out", Avatarizer(k=5, seed=1), options)
    assert done.attacks is not None
    partial = [one for one in done.attacks["results"] if one["scenario"] == "partial"]
    assert [one["known_columns"] for one in partial] == [["age", "arm"]]
    told = done.audit.privacy.correlation_protection_rate.detail["groups"]
    assert told == [["age", "arm"], ["dose"]]


def test_each_actor_of_the_context_attacks_with_what_they_know(tmp_path: Path) -> None:
    """One who knows a column that is not there has a reason, and the others their figures."""
    data, file = tmp_path / "people.csv", tmp_path / "context.toml"
    rng = np.random.default_rng(3)
    ages = np.arange(240) * 1.5
    frame = pl.DataFrame(
        {
            "age": rng.permutation(ages),
            "dose": rng.normal(50, 9, 240).round(2),
            "arm": rng.choice(["A", "B"], 240),
        }
    )
    frame.write_csv(data)
    file.write_text(
        '[known]\ncolleague = ["age", "arm"]\nneighbour = ["age", "town"]\n', encoding="utf-8"
    )
    options = Options(context=Context.of(file=file), releases=2, language="fr")
    done = run(data, tmp_path / "out", Avatarizer(k=5, seed=1), options)
    assert done.attacks is not None
    first, second = [one for one in done.attacks["results"] if one["scenario"] == "partial"]
    assert (first["actor"], second["actor"]) == ("colleague", "neighbour")
    assert first["rate"] is not None
    assert second["rate"] is None
    assert [one["key"] for one in second["reasons"]] == ["known_absent"]
    for key in ("inference", "linkability", "correlation_protection_rate"):
        metric = done.audit.privacy[key]
        one, other = metric.detail["actors"]
        assert metric.detail["actor"] == one["actor"] == "colleague"
        assert one["known"] == ["age", "arm"]
        assert one["value"] == metric.value
        assert other["value"] is None
        assert other["reason"]["key"] == "known_absent"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Pour colleague, qui connaît age, arm" in page
    assert "ne sont pas parmi celles dont les avatars sont créés\u202f: town" in page.replace(
        "\xa0", "\u202f"
    )


def test_the_metric_is_that_of_whom_it_protects_from_least() -> None:
    """Known alone, each column leaks as measured alone; the greatest risk is reported."""
    frame = table()
    strangers = table().with_columns(pl.col("age") + 0.4, pl.col("dose").shuffle(seed=1))
    known = {"one": ("age",), "two": ("arm",), "all": ("age", "dose", "arm")}
    found = sosie.audit(
        frame,
        frame,
        holdout=strangers,
        options=AuditOptions(known=known, secrets=("dose",)),
        metrics=["inference"],
    ).privacy.inference
    alone = [
        inference(frame, frame, holdout=strangers, known=known[name], secrets=["dose"]).value
        for name in ("one", "two")
    ]
    told = {one["actor"]: one["value"] for one in found.detail["actors"]}
    assert [told["one"], told["two"]] == pytest.approx(alone)
    assert found.value == max(alone)
    assert told["all"] is None  # what is known is not guessed


def test_an_unnamed_actor_with_an_unknown_column_has_a_reason(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    table().write_csv(data)
    done = run(data, tmp_path / "out", Avatarizer(k=5, seed=1), Options(known=("town",)))
    reason = done.audit.privacy.correlation_protection_rate.reason
    assert reason is not None
    assert (reason.key, reason.values) == ("known_absent", {"columns": "town"})
