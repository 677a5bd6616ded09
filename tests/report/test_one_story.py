"""Six runs: what the first page says of each agrees with its JSON."""

from __future__ import annotations

import re
from typing import Any

import pytest
import report_fixture as fixture
from french_reader import FRENCH, Reader

from sosie.report import build
from sosie.report.page import read_views
from sosie.words import load
from sosie.words.readings import Standing

WORDS = load("en")
GUARANTEE = {"holds": True, "bound": 0.08, "smallest_group": 12, "groups": 128, "people": 2000}
BROKEN = {
    "holds": False,
    "bound": None,
    "reason": {"key": "kept_outside_groups", "values": {"columns": ["site"]}},
}
EXCHANGEABLE = {"method": "exchangeable", "decode": None, "k": 10, "components": 10}
RATES = {"v1": 3.0, "v2": 2.0, "nearest": 4.0}


def made(
    guarantee: dict[str, Any] = GUARANTEE,
    goal: float | None = 10.0,
    rates: dict[str, float] = RATES,
    **audit_changes: Any,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A run whose metrics all meet their targets, attacked at these rates."""
    run, audit = fixture.run(), fixture.audit()
    run["parameters"] |= EXCHANGEABLE | {"keep": []}
    run["guarantee"] = guarantee
    for metric in audit["privacy"].values():
        if metric["target"] is not None:
            metric |= {"met": True, "value": metric["target"], "ci": None}
    audit["context"] = fixture.context() | {"attack_target": goal}
    audit |= audit_changes
    results = [fixture._result(key, "published", 5, 5, rate) for key, rate in rates.items()]
    strongest = {result["scenario"]: result for result in results}
    attack = fixture.attack() | {"results": results, "strongest": strongest}
    attack["hidden_rate_complement"] = {"rate": rates["nearest"], "ci": None}
    return run, audit, attack


def views_of(run: Any, audit: Any, attack: Any) -> dict[str, Any]:
    return read_views(WORDS, run, audit, attack, None)


def text_of(run: Any, audit: Any, attack: Any) -> str:
    """The French page, which the reader of tests reads."""
    return re.sub(r"[ \n]+", " ", " ".join(Reader(build(run, audit, attack, lang="fr")).texts))


def standing(views: dict[str, Any], key: str) -> Standing:
    return next(view.standing for view in views["criteria"] if view.key == key)


def test_a_kept_column() -> None:
    run, audit, attack = made(BROKEN)
    run["parameters"]["keep"] = ["site"]
    done = " ".join(views_of(run, audit, attack)["done"])
    assert "Kept unchanged, row by row: site." in done
    left = run["data"]["columns"] - len(run["parameters"]["drop"])
    assert f"avatars have {left} columns" in done


def test_a_holdout() -> None:
    run, audit, attack = made(rows=1700, avatars=1700, holdout=300)
    done = " ".join(views_of(run, audit, attack)["done"])
    assert "300 were set aside" in done
    assert "The 1,700 avatars" in done
    assert "All were replaced" not in done
    assert "All were replaced" in " ".join(views_of(*made())["done"])


def test_several_releases() -> None:
    run, audit, attack = made()
    audit["context"]["releases"] = 4
    assert FRENCH.count("measures.releases.text", 4) in text_of(run, audit, attack)


def test_no_context() -> None:
    default = {"name": "default", "recipient": "public", "sensitivity": "ordinary", "releases": 1}
    run, audit, attack = made(context=default | {"attack_target": 10.0})
    text = text_of(run, audit, attack)
    assert FRENCH("report.metrics.context_default") in text
    assert FRENCH.count("measures.releases.text", 1) not in text


def test_a_target_that_is_missed() -> None:
    run, audit, attack = made()
    hidden = audit["privacy"]["hidden_rate"]
    hidden |= {"value": hidden["target"] - 20, "met": False}
    views = views_of(run, audit, attack)
    assert standing(views, hidden.get("criterion", "singling_out")) is Standing.MISSED
    assert any("Hidden Rate" in line for line in views["remains"])


def test_a_guarantee_that_is_broken() -> None:
    views = views_of(*made(BROKEN))
    assert not views["guarantee"].holds
    assert standing(views, "linkability") is Standing.MISSED
    assert standing(views_of(*made()), "linkability") is not Standing.MISSED


@pytest.mark.parametrize(("key", "criterion"), [("v2", "singling_out"), ("nearest", "linkability")])
def test_a_criterion_is_met_only_where_its_attackers_meet_theirs(key: str, criterion: str) -> None:
    run, audit, attack = made()
    assert standing(views_of(run, audit, attack), criterion) is not Standing.MISSED
    views = views_of(*made(rates=RATES | {key: 10.5}))
    assert standing(views, criterion) is Standing.MISSED
    assert any(line.startswith("Attackers above their target") for line in views["remains"])
    verdict = next(view.verdict for view in views["criteria"] if view.key == criterion)
    assert "not met" in verdict[0]


def test_the_bound_of_a_guarantee_is_judged_too() -> None:
    views = views_of(*made(GUARANTEE | {"bound": 0.11}))
    assert standing(views, "linkability") is Standing.MISSED


def test_one_attacker_is_the_strongest_and_it_links() -> None:
    run, audit, attack = made()
    groups = fixture._result("groups", "commonest", None, 0, 97.9)
    attack["results"].append(groups)
    attack["strongest"]["groups"] = groups
    line = next(line for line in views_of(run, audit, attack)["remains"] if "strongest" in line)
    assert "4.0%" in line
    assert not any("97.9" in line for line in views_of(run, audit, attack)["attackers"])
