"""``sosie analyses``, and ``--analysis`` on ``run`` and ``tune``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie.cli import status_of
from sosie.errors import InputError
from sosie.jobs.run import Options

ROWS = 240

Called = Callable[..., tuple[int, str, str]]


def trial(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 2, ROWS)
    days = np.ceil(rng.exponential(100, ROWS) * (1 + arm))
    return pl.DataFrame(
        {
            "arm": arm,
            "age": rng.normal(50, 12, ROWS).round(1),
            "days": np.minimum(days, 200),
            "event": (days < 200).astype(int),
            "ill": (rng.random(ROWS) < 0.4).astype(int),
            "certain": arm,
            "twin": 2 * arm,
            "single": 1,
            "name": [f"p{i}" for i in range(ROWS)],
            "late": np.where(arm == 1, 0, (days < 200)),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Originals, and two tables that stand for releases."""
    where = tmp_path_factory.mktemp("trial")
    for name, seed in (("people", 0), ("one", 1), ("two", 2)):
        trial(seed).write_csv(where / f"{name}.csv")
    return where


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Called:
    """Run a command line; its status, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = status_of([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return call


def listed(*texts: str) -> list[str]:
    return [word for text in texts for word in ("--analysis", text)]


# ---------------------------------------------------------------- what it says


def test_one_release(folder: Path, called: Called) -> None:
    files = folder / "people.csv", folder / "one.csv"
    status, out, err = called(
        "analyses", *files, *listed("survival days, event ~ arm", "mean age by arm")
    )
    assert (status, err) == (0, "")
    assert "Cox regression: hazard ratios." in out
    assert "Log-rank test" in out
    assert " of 3 terms of the analyses lie in the interval of the originals." in out


def test_several_releases_are_combined(folder: Path, called: Called, tmp_path: Path) -> None:
    files = [folder / f"{name}.csv" for name in ("people", "one", "two")]
    page = tmp_path / "page.html"
    status, out, err = called(
        "analyses", *files, *listed("ill ~ arm + age"), "--json", "-", "--html", page
    )
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert (told["releases"], told["screen"]) == (2, None)
    assert [term["avatars"]["releases"] for term in told["analyses"][0]["terms"]] == [2, 2]
    assert "Do the results of people.csv survive?" in page.read_text(encoding="utf-8")


def test_without_a_list_pairs_are_named(folder: Path, called: Called) -> None:
    status, out, _ = called("analyses", folder / "people.csv", folder / "one.csv")
    assert status == 0
    assert "figures of pairs of columns" in out
    assert out.count(" → ") == 10


def test_a_list_may_stand_in_the_context(folder: Path, called: Called, tmp_path: Path) -> None:
    context = tmp_path / "study.toml"
    context.write_text('analyses = ["mean age by arm"]\n')
    files = folder / "people.csv", folder / "one.csv"
    _, out, _ = called("analyses", *files, "--context", context, "--json", "-")
    assert [one["text"] for one in json.loads(out)["analyses"]] == ["mean age by arm"]
    given = listed("mean days by arm")
    _, out, _ = called("analyses", *files, "--context", context, *given, "--json", "-")
    assert [one["text"] for one in json.loads(out)["analyses"]] == ["mean days by arm"]
    context.write_text('analyses = "mean age by arm"\n')
    status, _, err = called("analyses", *files, "--context", context)
    assert status == 2
    assert "write analyses as a list" in err


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mean stay by arm", "there is no column 'stay'"),
        ("ill ~ arm + nothing", "there is no column 'nothing'"),
        ("survival days, age ~ arm", "age"),
        ("mean name by arm", "name"),
        ("mean days by age", "too many values for groups"),
        ("days ~ log(age)", "log"),
        ("days ~", "days ~"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("command", ["analyses", "run", "tune"])
def test_what_does_not_fit_is_one_line(
    command: str, text: str, message: str, folder: Path, called: Called, tmp_path: Path
) -> None:
    arguments: list[Any] = {
        "analyses": [folder / "people.csv", folder / "one.csv"],
        "run": [folder / "people.csv", "-o", tmp_path / "out"],
        "tune": [folder / "people.csv", "--k", "5"],
    }[command]
    status, out, err = called(command, *arguments, *listed(text))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("single ~ age", "one_value"),
        ("ill ~ arm + twin", "singular"),
        ("certain ~ arm", "separation"),
        ("certain ~ arm + age", "separation"),
        ("survival days, late ~ arm", "no_event"),
    ],
)
def test_trouble_in_the_data_is_a_null_with_its_reason(
    text: str, key: str, folder: Path, called: Called
) -> None:
    files = folder / "people.csv", folder / "one.csv"
    status, out, err = called("analyses", *files, *listed(text, "mean age by arm"), "--json", "-")
    assert (status, err) == (0, "")
    first, other = json.loads(out)["analyses"]
    reasons = [first["reason"]]
    reasons += [term[side]["reason"] for term in first["terms"] for side in ("original", "avatars")]
    assert key in [why["key"] for why in reasons if why is not None]
    assert [term["original"]["estimate"] is None for term in other["terms"]] == [False, False]


def test_avatars_that_lack_a_column(folder: Path, called: Called, tmp_path: Path) -> None:
    trial(1).drop("age").write_csv(tmp_path / "less.csv")
    files = folder / "people.csv", folder / "one.csv", tmp_path / "less.csv"
    status, _, err = called("analyses", *files, *listed("mean age by arm"))
    assert status == 2
    assert "release 2 of the avatars lack column 'age'" in err


def test_results_do_not_overwrite_the_tables(folder: Path, called: Called) -> None:
    files = folder / "people.csv", folder / "one.csv"
    before = files[1].read_bytes()
    assert called("analyses", *files, "--json", files[1])[0] == 2
    assert files[1].read_bytes() == before


# ---------------------------------------------------------------- run and tune


def test_a_run_writes_them_and_reports_them(folder: Path, called: Called, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, _, _ = called(
        *("run", folder / "people.csv", "-o", out, "--drop", "name", "--releases", "0"),
        *listed("survival days, event ~ arm"),
    )
    assert status == 0
    told = json.loads((out / "analyses.json").read_text())
    assert [one["text"] for one in told["analyses"]] == ["survival days, event ~ arm"]
    assert 'data-figure="analysis-1"' in (out / "report.html").read_text(encoding="utf-8")
    assert called("report", out, "--lang", "fr", "-o", tmp_path / "fr.html")[0] == 0
    assert 'data-figure="analysis-1"' in (tmp_path / "fr.html").read_text(encoding="utf-8")


def test_a_run_without_a_list_looks_at_all_pairs(
    folder: Path, called: Called, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = called(
        "run", folder / "people.csv", "-o", out, "--drop", "name", "--releases", "0", "--k", "30"
    )
    assert done[0] == 0
    told = json.loads((out / "analyses.json").read_text())
    assert told["analyses"] == []
    assert told["k"] == 30
    assert len(told["screen"]["worst"]) == 10
    assert min(pair["people"] for pair in told["screen"]["worst"]) >= 30


def test_a_run_s_own_list_stands_above_the_context(tmp_path: Path) -> None:
    from sosie.audits.context import Context

    context = Context(analyses=("mean a by b",))
    assert Options(context=context).texts == ("mean a by b",)
    assert Options(context=context, analyses=("x ~ y",)).texts == ("x ~ y",)


def test_tune_has_a_column_of_terms_that_agree(folder: Path, called: Called) -> None:
    status, out, _ = called(
        *("tune", folder / "people.csv", "--drop", "name", "--k", "5,40", "--method", "smoothed"),
        *("--seed", "1", *listed("mean age by arm", "ill ~ arm + age")),
    )
    assert status == 0
    assert "Results" in out


def test_the_recommendation_uses_the_terms_that_agree() -> None:
    from sosie.audits.results import Metric
    from sosie.tuning.results import AGREEING, Setting, Trial, Tuning

    def tried(k: int, moved: float, agreeing: float) -> Trial:
        metrics = [
            Metric("hidden_rate", 95.0, "%", "higher", "singling_out", 90.0),
            Metric("hellinger_mean", moved, "distance", "lower", "utility", 0.1),
            AGREEING.result(agreeing),
        ]
        return Trial(Setting(5, "smoothed", k), {metric.key: metric for metric in metrics})

    near, true = tried(5, 0.01, 40.0), tried(10, 0.03, 95.0)
    assert near.loss == pytest.approx((0.1 + 60 / 20) / 2)
    assert Tuning(100, 4, 1, "draw", (near, true), wanted=2).cheapest == true


def test_terms_that_agree_are_counted_over_releases() -> None:
    """By hand: each release's own estimate against the originals' interval."""
    from sosie import Avatarizer, analyses
    from sosie.tuning.agreeing import agreeing

    table = trial(0).drop("name")
    texts = ["mean age by arm", "share ill by arm"]
    avatarizer = Avatarizer(method="barycentre", k=20, seed=1).fit(table)
    found = agreeing(avatarizer, texts)
    hits = [
        term.inside
        for release in range(5)
        for one in analyses(table, avatarizer.release(release, shuffle=False), texts).analyses
        for term in one.terms
    ]
    assert found.value == pytest.approx(100 * np.mean([bool(hit) for hit in hits]))
    assert found.detail == {"terms": 4, "releases": 5}


def test_terms_of_which_none_can_be_shown_have_a_reason() -> None:
    from sosie import Avatarizer
    from sosie.tuning.agreeing import agreeing

    avatarizer = Avatarizer(method="smoothed", k=5, seed=1).fit(trial(0).drop("name"))
    found = agreeing(avatarizer, ["single ~ age"])
    assert found.value is None
    assert found.reason is not None
    assert found.reason.key == "one_value"


def test_tune_refuses_a_list_before_any_work(tmp_path: Path) -> None:
    from sosie.tuning import tune

    with pytest.raises(InputError, match="there is no column 'stay'"):
        tune(trial(0), ks=(5,), analyses=["mean stay by arm"], folder=tmp_path / "none")
    assert not (tmp_path / "none").exists()
