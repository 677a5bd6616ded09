"""The article's figures, and those of stronger attackers, on the public trial ACTG 175."""

import json
from pathlib import Path

import polars as pl
import pytest

from sosie.attack import Releases, Reproduction, attack, reproduce
from sosie.avatars import Avatarizer
from sosie.errors import InputError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(actg175: pl.DataFrame) -> Reproduction:
    return reproduce(actg175, seed=1)


def rates(found: Reproduction, scenario: str, kind: str) -> dict[int, float]:
    curve = found.report.curve(scenario)
    return {p["releases"]: p[kind] for p in curve if p[kind] is not None}


def test_the_article_is_reproduced(found: Reproduction):
    v1, v2 = rates(found, "v1", "published"), rates(found, "v2", "published")
    assert 84.5 <= v1[100] <= 91
    assert 78 <= v1[20] <= 88
    assert all(0.8 <= v2[t] <= 3.6 for t in (20, 35, 50, 100))
    complement = found.report.hidden_rate_complement
    assert complement is not None
    assert 16.5 <= complement.rate <= 21


def test_stronger_attackers_need_fewer_releases_or_none(found: Reproduction):
    v1, v2 = rates(found, "v1", "strongest"), rates(found, "v2", "strongest")
    assert v1[0] >= 97
    for releases, least in {2: 24, 5: 34, 10: 48, 100: 94}.items():
        assert v1[releases] >= least
    assert v2[100] >= 45
    assert found.report.strongest["v1"].targets == 1070


def test_smoothing_withstands_better(found: Reproduction):
    for result in found.smoothed.results:
        assert result.rate is not None
        assert result.rate < 45
    assert found.smoothed.hidden_rate_complement is not None
    assert found.smoothed.hidden_rate_complement.rate < 14


def test_what_is_told(found: Reproduction):
    told = found.to_dict()
    json.dumps(told, allow_nan=False)
    assert told["schema"] == "sosie/attack/1"
    assert {(f["decode"], f["attack_components"]) for f in told["free"]} >= {
        ("draw", 12),
        ("vote", 10),
    }
    by_releases = {point["releases"]: point for point in told["curves"]["v1"]}
    assert by_releases[20]["article"] == [83, 83]
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
