"""The article's figures, and those of stronger attackers, on the public trial ACTG 175."""

import json
from pathlib import Path

import polars as pl
import pytest

from sosie.attacks import AttackReport, Releases, attack, reproduce
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def barycentre() -> Avatarizer:
    return Avatarizer(5, 5, method="barycentre", seed=1)


def rates(report: AttackReport, scenario: str, kind: str) -> dict[int, float]:
    return {p["releases"]: p[kind] for p in report.curve(scenario) if p[kind] is not None}


def test_v1_published_and_stronger(actg175: pl.DataFrame, barycentre: Avatarizer):
    some = ("published", "pooled", "analytic")
    report = attack(actg175, barycentre, estimator=some, releases=100, curve=(2, 5, 10, 20))
    published = rates(report, "v1", "published")
    assert 84.5 <= published[100] <= 91
    assert 78 <= published[20] <= 88
    assert published[2] < 5
    strongest = rates(report, "v1", "strongest")
    for releases, least in {0: 97, 2: 24, 5: 34, 10: 48, 100: 94}.items():
        assert strongest[releases] >= least
    assert report.strongest["v1"].targets == 1070
    complement = report.hidden_rate_complement
    assert complement is not None
    assert 16.5 <= complement.rate <= 21


def test_v2_published_and_stronger(actg175: pl.DataFrame, barycentre: Avatarizer):
    known = {"scenario": "v2", "releases": 100, "curve": (20, 50)}
    report = attack(actg175, barycentre, estimator=("published", "nearest-mean"), **known)
    assert all(0.8 <= rate <= 3.6 for rate in rates(report, "v2", "published").values())
    assert rates(report, "v2", "strongest")[100] >= 45


def test_smoothing_withstands_better(actg175: pl.DataFrame):
    made = Avatarizer(5, 5, method="smoothed", seed=1)
    report = attack(actg175, made, estimator=("analytic", "bayes"), releases=0, targets=1000)
    assert len(report.results) == 2
    assert all(result.rate is not None and result.rate < 48 for result in report.results)
    assert report.hidden_rate_complement is not None
    assert report.hidden_rate_complement.rate < 15


def test_what_reproduce_tells(actg175: pl.DataFrame):
    done: list[tuple[int, int]] = []
    some = actg175.head(500)
    found = reproduce(some, releases=3, progress=lambda d, total, what: done.append((d, total)))
    assert done == [(d, 12) for d in range(1, 13)]
    told = found.to_dict()
    json.dumps(told, allow_nan=False)
    assert told["schema"] == "sosie/attack/1"
    free = {(f["decode"], f["attack_components"]) for f in told["free"]}
    assert free >= {("draw", 12), ("vote", 10)}
    by_releases = {point["releases"]: point for point in told["curves"]["v2"]}
    assert by_releases[3]["article"] == [1, 2.6]
    assert {r.estimator for r in found.smoothed.results} == {"analytic", "bayes"}
    text = found.text()
    assert "87.1" in text
    assert "anonym" not in text


@pytest.mark.parametrize(("k", "least"), [(10, 78), (20, 33)])
def test_no_release_and_more_neighbours(actg175: pl.DataFrame, k: int, least: float):
    made = Avatarizer(k, 5, method="barycentre", seed=1)
    known = {"estimator": "combined", "decision": "likelihood-all", "releases": 0}
    (result,) = attack(actg175, made, targets=400, **known).results
    assert result.ci is not None
    assert result.ci[1] >= least


def test_releases_of_the_published_engine(test_data: Path):
    """They hold all 26 variables, and so does the space in which its neighbours were found."""
    stacked = test_data / "actg175_avatars_k20_25_releases.csv"
    if not stacked.exists():
        pytest.skip(f"no {stacked.name} in {test_data}; set SOSIE_TEST_DATA to its folder")
    originals = pl.read_csv(test_data / "actg175.csv", separator=";", null_values="NA")
    originals = originals.drop("pidnum")
    avatars = pl.read_csv(stacked, null_values="NA")
    releases = Releases([part.drop("iter") for part in avatars.partition_by("iter")])
    protocol = attack(originals, releases, estimator="published", components=10, releases=24)
    assert 8.5 <= (protocol.results[0].rate or 0) <= 12
    law = Avatarizer(k=20, components=5, method="barycentre")
    known = {"estimator": "geometry", "releases": 24, "targets": 500}
    (geometry,) = attack(originals, releases, law=law, **known).results
    assert (geometry.rate or 0) >= 20


def test_another_table_is_refused(actg175: pl.DataFrame):
    with pytest.raises(InputError, match="lacks preanti"):
        reproduce(actg175.drop("preanti"))
