"""Sweeps: what a setting risks and loses, the frontier, the cheapest that will do, resuming."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie.audits.audit import measured
from sosie.audits.comparison import Comparison
from sosie.audits.context import Context
from sosie.audits.registry import DEFINITIONS
from sosie.audits.results import Metric
from sosie.audits.twins import twins
from sosie.cli import status_of
from sosie.data.table import Roles
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods import METHODS
from sosie.tuning import Setting, Trial, Tuning, tune
from sosie.tuning.state import FILE

SEED = 20261130


def trial(k: int, hidden: float, moved: float, attack: float | None = None) -> Trial:
    metrics = [
        Metric("hidden_rate", hidden, "%", "higher", "singling_out", 90.0),
        Metric("hellinger_mean", moved, "distance", "lower", "utility", 0.1),
    ]
    if attack is not None:
        metrics.append(Metric("strongest_attack", attack, "%", "lower", "linkability"))
    return Trial(Setting(5, "smoothed", k), {metric.key: metric for metric in metrics})


def tuning(*trials: Trial) -> Tuning:
    return Tuning(100, 4, 1, "draw", trials, wanted=len(trials))


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    size = rng.normal(170, 10, 150).round()
    return pl.DataFrame(
        {
            "size": size,
            "weight": (size - 100 + rng.normal(0, 8, 150)).round(1),
            "sex": rng.choice(["F", "M"], 150),
            "site": rng.choice(["north", "south", "west"], 150),
        }
    )


@pytest.fixture(scope="module")
def swept(people: pl.DataFrame) -> Tuning:
    return tune(people, ks=(3, 9), seed=SEED)


# ---------------------------------------------------------------------------------------- results


def test_risk_is_the_highest_rate_of_any_attacker() -> None:
    assert trial(5, 88.0, 0.1).risk == pytest.approx(12.0)
    assert trial(5, 88.0, 0.1, attack=26.0).risk == 26.0
    assert trial(5, 70.0, 0.1, attack=26.0).risk == pytest.approx(30.0)
    assert Trial(Setting(5, "smoothed", 5)).risk is None


def test_loss_counts_what_the_targets_allow() -> None:
    names = ("hellinger_mean", "association_difference", "predictive_ratio")
    values = zip(names, (0.05, 0.02, 97.0), strict=True)
    metrics = {key: Metric(key, value, "", "lower", "utility") for key, value in values}
    found = Trial(Setting(5, "smoothed", 5), metrics)
    assert found.loss == pytest.approx((0.5 + 0.2 + 0.3) / 3)
    better = Metric("predictive_ratio", 104.0, "%", "higher", "utility")
    assert Trial(found.setting, {"predictive_ratio": better}).loss == 0
    assert Trial(found.setting).loss is None


def test_frontier_against_every_pair() -> None:
    rng = np.random.default_rng(SEED)
    trials = [
        trial(k, float(hidden), float(moved))
        for k, (hidden, moved) in enumerate(rng.integers(0, 12, (40, 2)) / (0.12, 120), start=1)
    ]

    def beaten(one: Trial) -> bool:
        assert one.risk is not None
        assert one.loss is not None
        return any(
            other.risk <= one.risk
            and other.loss <= one.loss
            and (other.risk < one.risk or other.loss < one.loss)
            for other in trials
            if other.risk is not None and other.loss is not None
        )

    expected = {one.setting for one in trials if not beaten(one)}
    frontier = tuning(*trials).frontier
    assert {one.setting for one in frontier} == expected
    risks = [one.risk for one in frontier]
    assert risks == sorted(risks, reverse=True)  # type: ignore[type-var]


def test_the_cheapest_that_meets_the_targets_and_what_they_cost() -> None:
    low, enough, more = trial(3, 85.0, 0.02), trial(8, 90.0, 0.03), trial(20, 95.0, 0.05)
    found = tuning(low, enough, more)
    assert found.cheapest == enough
    assert found.unbound == low
    assert found.cost["hellinger_mean"] == pytest.approx(0.01)
    assert found.cost["loss"] == pytest.approx(0.1)


@pytest.mark.parametrize(("moved", "alike"), [(0.0349, True), (0.0351, False)])
def test_settings_that_lose_about_as_little_are_told(moved: float, alike: bool) -> None:
    cheapest, other = trial(8, 91.0, 0.03), trial(20, 95.0, moved)
    found = tuning(trial(3, 70.0, 0.0), cheapest, other)
    assert found.cheapest == cheapest
    assert found.alike == ((other, cheapest) if alike else (cheapest,))


@pytest.mark.parametrize(("hidden", "meets"), [(89.999, False), (90.0, True), (90.001, True)])
def test_a_target_is_met_at_its_value(hidden: float, meets: bool) -> None:
    assert trial(5, hidden, 0.1).meets is meets


def test_where_none_meets_the_targets_the_nearest_is_told() -> None:
    found = tuning(trial(3, 70.0, 0.02), trial(8, 80.0, 0.03))
    assert found.cheapest is None
    assert found.cost == {}
    assert found.nearest is not None
    assert found.nearest.setting.k == 8
    assert found.nearest.missed == ("hidden_rate",)


def test_other_targets_judge_again() -> None:
    found = tuning(trial(3, 70.0, 0.02, attack=30.0), trial(8, 80.0, 0.03, attack=9.0))
    loose = found.judged({"hidden_rate": None, "strongest_attack": 10.0})
    assert loose.cheapest is not None
    assert loose.cheapest.setting.k == 8
    assert loose.trials[0].missed == ("strongest_attack",)


def attacked(rate: float | None, **detail: float) -> Trial:
    metric = Metric("strongest_attack", rate, "%", "lower", "linkability", 10.0, detail=detail)
    return Trial(Setting(5, "exchangeable", 10), {metric.key: metric})


def test_where_a_guarantee_holds_its_bound_is_judged_and_not_one_sample() -> None:
    assert attacked(10.4, bound=10.0).meets
    assert not attacked(9.0, bound=20.0).meets
    assert attacked(9.0).meets
    assert not attacked(64.0).meets


def test_an_attacker_who_was_not_tried_proves_nothing() -> None:
    assert not attacked(None).meets


def without_strangers(target: float | None) -> Trial:
    none = Reason("too_few_for_twins", {"n": 150, "least": 200})
    metric = Metric("membership", None, "area", "lower", "membership", target, none)
    hidden = Metric("hidden_rate", 95.0, "%", "higher", "singling_out", 90.0)
    return Trial(Setting(5, "smoothed", 10), {one.key: one for one in (metric, hidden)})


def test_a_target_that_needs_strangers_is_not_met_without_them() -> None:
    assert without_strangers(None).meets
    assert without_strangers(0.55).missed == ("membership",)


def test_what_an_attacker_breaks_is_not_recommended_however_cheap() -> None:
    """The cheapest of those that meet all targets, not of those that lose least."""
    broken = trial(3, 99.0, 0.01, attack=64.0)
    dear, cheap = trial(30, 99.0, 0.06, attack=4.0), trial(20, 99.0, 0.04, attack=9.0)
    found = tuning(broken, dear, cheap).judged({"strongest_attack": 10.0})
    assert found.cheapest is not None
    assert found.cheapest.setting == cheap.setting
    assert not {one.setting for one in found.alike} & {broken.setting}
    assert tuning(broken).judged({"strongest_attack": 10.0}).cheapest is None
    assert tuning(broken).judged({"strongest_attack": None}).cheapest is not None


def test_a_trial_without_metrics_is_on_no_frontier_and_meets_nothing() -> None:
    none = Trial(
        Setting(5, "smoothed", 99),
        reason=Reason("k_too_large", {"k": 99, "people": 50, "most": 49}),
    )
    found = tuning(none, trial(3, 95.0, 0.02))
    assert not none.meets
    assert none not in found.frontier
    assert found.cheapest is not None
    assert found.cheapest.setting.k == 3


# ------------------------------------------------------------------------------------------ sweep


def test_every_setting_is_tried_and_measured(swept: Tuning) -> None:
    settings = {(t.setting.method, t.setting.k) for t in swept.trials}
    assert settings == {(m, k) for m in METHODS for k in (3, 9)}
    assert swept.complete
    assert (swept.rows, swept.columns, swept.releases) == (150, 4, 1)
    for one in swept.trials:
        assert {metric.key for metric in one.metrics.values() if metric.value is not None} >= {
            "hidden_rate",
            "local_cloaking",
            "column_direct_match_protection",
            "strongest_attack",
            "hellinger_mean",
            "association_difference",
        }
        rate = one.metrics["strongest_attack"]
        assert rate.control is not None  # what chance gives stands beside it
        assert rate.ci is not None
        assert not any(metric.columns or metric.by_person for metric in one.metrics.values())


def test_more_neighbours_hide_better(swept: Tuning) -> None:
    hidden = {t.setting: t.value("hidden_rate") or 0.0 for t in swept.trials}
    for method in ("smoothed", "barycentre"):
        assert hidden[Setting(5, method, 9)] > hidden[Setting(5, method, 3)]


def test_json_holds_no_nan_and_comes_back(swept: Tuning) -> None:
    text = json.dumps(swept.to_dict(), allow_nan=False)
    back = Tuning.from_dict(json.loads(text))
    assert back.to_dict() == swept.to_dict()
    assert back.cheapest == swept.cheapest


def test_the_same_seed_gives_the_same_figures(people: pl.DataFrame, swept: Tuning) -> None:
    again = tune(people, ks=(3,), methods=("smoothed",), seed=SEED)
    (same,) = (one for one in swept.trials if one.setting == again.trials[0].setting)
    assert again.trials[0].metrics == same.metrics


def test_a_setting_the_table_does_not_allow_says_why(people: pl.DataFrame) -> None:
    found = tune(people, ks=(3, 150), methods=("smoothed",), seed=SEED)
    assert found.complete
    assert found.trials[1].metrics == {}
    assert "149" in str(found.trials[1].reason)


def test_nothing_that_can_be_tried_is_an_error(people: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="largest k"):
        tune(people, ks=(150,), methods=("smoothed",))
    with pytest.raises(InputError, match="at least one k"):
        tune(people, ks=())
    with pytest.raises(InputError, match="releases"):
        tune(people, releases=0)
    with pytest.raises(InputError, match="'hiden_rate'"):
        tune(people, targets={"hiden_rate": 80})


def test_targets_come_from_the_context_and_the_options(people: pl.DataFrame) -> None:
    context = Context.of("public", "high", releases=3)
    found = tune(
        people,
        ks=(9,),
        methods=("smoothed",),
        context=context,
        targets={"strongest_attack": 9.0},
        seed=SEED,
    )
    metrics = found.trials[0].metrics
    assert found.releases == 3
    assert metrics["hidden_rate"].target == 95
    assert metrics["strongest_attack"].target == 9


def test_targets_of_a_context_are_measured_as_a_run_measures_them(tmp_path: Path) -> None:
    """Everyone's avatars are made; twins stand for people who took no part."""
    rng = np.random.default_rng(8)
    size = rng.normal(170, 10, 240).round()
    data = pl.DataFrame(
        {
            "size": size,
            "weight": (size - 100 + rng.normal(0, 8, 240)).round(1),
            "sex": rng.choice(["F", "M"], 240),
        }
    )
    context = Context.of(targets={"membership": 0.9})
    found = tune(data, ks=(5,), methods=("smoothed",), seed=SEED, context=context)
    metrics = found.trials[0].metrics
    assert "linkability" not in metrics  # no target: not judged, not measured
    made = Avatarizer(5, 5, method="smoothed", seed=SEED).fit(data)
    options = run_of(made, data)
    assert metrics["membership"].value == pytest.approx(options["membership"].value, rel=1e-4)
    told = options["predictive_ratio"].value
    assert metrics["predictive_ratio"].value == pytest.approx(told, rel=1e-4)
    for key in ("distance_to_closest", "closest_rate", "row_direct_match_protection"):
        assert metrics[key].value == pytest.approx(options[key].value, rel=1e-4)
    assert metrics["membership"].met is True


def run_of(made: Avatarizer, data: pl.DataFrame) -> dict[str, Metric]:
    """The metrics of a run with the same avatars."""
    comparison = Comparison.of(
        data, made.release(0, shuffle=False), aligned=True, components=made.settings.components
    )
    folds = twins(made, comparison.originals, made.settings.components)
    found = measured(comparison, folds=folds)
    return {**found.privacy, **found.utility}


def test_columns_kept_and_surrogates(people: pl.DataFrame) -> None:
    data = people.with_columns(pl.Series("number", [f"p{i}" for i in range(150)]))
    roles = Roles(keep=("sex",), id=("number",))
    found = tune(data, ks=(5,), methods=("smoothed",), roles=roles, seed=SEED)
    assert found.columns == 4  # the surrogate is not compared, the kept column is
    assert found.trials[0].value("hidden_rate") is not None


# ----------------------------------------------------------------------------------------- resume


def stopper(after: int) -> Any:
    def told(done: int, _: int, __: str) -> None:
        if done == after:
            raise KeyboardInterrupt

    return told


def measures(found: Iterable[Trial]) -> list[Any]:
    return [one.to_dict() for one in found]


def test_an_interrupted_sweep_goes_on(people: pl.DataFrame, swept: Tuning, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        tune(people, ks=(3, 9), seed=SEED, folder=tmp_path / "new", progress=stopper(2))
    half = json.loads((tmp_path / "new" / FILE).read_text())
    assert (len(half["trials"]), half["complete"]) == (2, False)
    told: list[tuple[int, int]] = []
    found = tune(
        people,
        ks=(3, 9),
        seed=SEED,
        folder=tmp_path / "new",
        progress=lambda done, of, _: told.append((done, of)),
    )
    assert told == [(done, 6) for done in (2, 3, 4, 5, 6)]
    assert measures(found.trials) == measures(swept.trials)
    assert json.loads((tmp_path / "new" / FILE).read_text()) == found.to_dict()


def test_a_finished_sweep_is_not_done_again(people: pl.DataFrame, tmp_path: Path) -> None:
    options: dict[str, Any] = {"ks": (3,), "methods": ("smoothed",), "folder": tmp_path}
    first = tune(people, **options)
    assert tune(people, **options, progress=stopper(0)).to_dict() == first.to_dict()


def test_the_seed_is_written_nowhere(people: pl.DataFrame, tmp_path: Path) -> None:
    tune(people, ks=(3,), methods=("smoothed",), seed=SEED, folder=tmp_path)
    assert str(SEED) not in (tmp_path / FILE).read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["private", FILE]


def test_the_digest_says_nothing_without_its_key(people: pl.DataFrame, tmp_path: Path) -> None:
    """Otherwise whoever knows all people but one could try who that one is."""
    options: dict[str, Any] = {"ks": (3,), "methods": ("smoothed",), "seed": SEED}
    told = [tune(people, **options, folder=tmp_path / name) for name in "ab"]
    assert measures(told[0].trials) == measures(told[1].trials)
    assert told[0].digest != told[1].digest
    key = tmp_path / "a" / "private" / "sweep.key"
    assert key.read_text() not in (tmp_path / "a" / FILE).read_text()
    assert key.stat().st_mode & 0o077 == 0
    assert key.parent.stat().st_mode & 0o077 == 0
    key.unlink()
    with pytest.raises(InputError, match="key in private/"):
        tune(people, **options, folder=tmp_path / "a")


def test_another_sweep_is_not_mixed_in(people: pl.DataFrame, tmp_path: Path) -> None:
    options: dict[str, Any] = {"ks": (3,), "methods": ("smoothed",), "folder": tmp_path}
    tune(people, **options)
    with pytest.raises(InputError, match="other data"):
        tune(people.head(100), **options)
    with pytest.raises(InputError, match="other options"):
        tune(people, **options, releases=5)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema": "sosie/tune/2"}', '{"schema": "sosie/run/1"}']
)
def test_a_state_that_is_something_else(people: pl.DataFrame, tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(InputError, match=FILE) as caught:
        tune(people, ks=(3,), methods=("smoothed",), folder=tmp_path)
    assert "\n" not in str(caught.value)


def test_a_damaged_state(people: pl.DataFrame, tmp_path: Path) -> None:
    options: dict[str, Any] = {"ks": (3,), "methods": ("smoothed",), "folder": tmp_path}
    told = tune(people, **options).to_dict()
    del told["trials"][0]["metrics"]
    (tmp_path / FILE).write_text(json.dumps(told))
    with pytest.raises(InputError, match="damaged"):
        tune(people, **options)


def test_a_folder_that_can_not_be_written(people: pl.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        tune(people, ks=(3,), methods=("smoothed",), folder=tmp_path / "file" / "below")


# ---------------------------------------------------------------------------------- command line


@pytest.fixture
def table(people: pl.DataFrame, tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    people.write_csv(path)
    return str(path)


def test_the_command_names_the_cheapest(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "settings.html"
    command = ["tune", table, "--k", "3,9", "--method", "smoothed", "--lang", "fr"]
    names = [d.key for d in DEFINITIONS if d.criterion != "utility"] + ["strongest_attack"]
    goals = [text for name in names for text in ("--target", f"{name}=none")]
    assert status_of([*command, *goals, "--html", str(page)]) == 0
    told = capsys.readouterr().out
    assert "Le réglage le moins coûteux" in told
    assert "lissée" in told
    assert '<html lang="fr">' in page.read_text()


def test_the_command_writes_json_and_nothing_else(
    table: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = tmp_path / "state"
    command = ["tune", table, "--k", "3", "--method", "smoothed", "--resume", str(folder)]
    assert status_of([*command, "--json", "-"]) == 0
    told = json.loads(capfdbinary.readouterr().out)
    assert told == json.loads((folder / FILE).read_text())


@pytest.mark.parametrize(
    "options",
    [
        ["--k", "few"],
        ["--k", ","],
        ["--k", "0"],
        ["--method", "best"],
        ["--components", "x"],
        ["--target", "hidden_rate"],
        ["--target", "hiden_rate=3"],
        ["--releases", "0"],
        ["--drop", "nowhere"],
        ["--context", "nowhere.toml"],
    ],
)
def test_wrong_options_are_one_line(
    table: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(["tune", table, *options]) == 2
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert told.out == ""
