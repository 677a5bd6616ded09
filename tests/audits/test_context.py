"""Contexts: which targets judge, in which order, and what a file may say."""

from pathlib import Path

import pytest
from comparison_cases import people

from sosie.audits.audit import audit
from sosie.audits.context import RECIPIENTS, Context
from sosie.errors import InputError

FILE = """
name = "our registry"
recipient = "contract"
sensitivity = "high"
releases = 3

[[targets]]
column_direct_match_protection = 60
closest_rate = false

[[targets]]
when = { recipient = "inside" }
hidden_rate = 40

[[targets]]
when = { sensitivity = "high", releases = 2 }
hidden_rate = 95
membership = 0.55
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "context.toml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_without_a_context_the_defaults_judge() -> None:
    assert Context.of().targets == {}
    assert Context.of("contract").targets == {}  # a contract binds who signs it only
    assert Context.of("public", "high").targets == {"hidden_rate": 95}


def test_attackers_have_a_target_in_every_context(file: Path, tmp_path: Path) -> None:
    assert {Context.of(recipient).attack_target for recipient in RECIPIENTS} == {10}
    assert Context.of("public", "high").attack_target == 5
    assert Context.of("inside", "high").attack_target == 10
    own = tmp_path / "own.toml"
    own.write_text("[targets]\nstrongest_attack = 3\n", encoding="utf-8")
    assert Context.of("public", "high", file=own).attack_target == 3
    assert "strongest_attack" not in Context.of(file=own).targets


def test_a_file_sets_targets_where_its_conditions_hold(file: Path) -> None:
    context = Context.of(file=file)
    assert (context.name, context.recipient, context.releases) == ("our registry", "contract", 3)
    assert context.targets == {
        "hidden_rate": 95,
        "column_direct_match_protection": 60,
        "closest_rate": None,
        "membership": 0.55,
    }
    assert context.target("closest_rate", 90.0) is None
    assert context.target("local_cloaking", 5.0) == 5


def test_options_win_over_the_file(file: Path) -> None:
    assert Context.of("inside", releases=1, file=file).targets["hidden_rate"] == 40
    assert Context.of(sensitivity="ordinary", file=file).target("hidden_rate", 90.0) == 90
    assert Context.of(file=file, targets={"hidden_rate": 99}).targets["hidden_rate"] == 99


def test_one_group_of_targets_needs_no_list(tmp_path: Path) -> None:
    path = tmp_path / "plain.toml"
    path.write_text("[targets]\nhidden_rate = 80\n", encoding="utf-8")
    context = Context.of(file=path)
    assert (context.name, context.targets) == ("plain", {"hidden_rate": 80})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("recipient = 'everyone'", "recipient is 'everyone'; choose one of public"),
        ("sensitivity = 'low'", "sensitivity is 'low'; choose one of ordinary"),
        ("releases = 0", "releases must be a whole number of at least 1"),
        ("releases = true", "releases must be a whole number"),
        ("target = 3", "unknown 'target'"),
        ("targets = 3", "write targets as"),
        ("[[targets]]\nhidden_rate = 'high'", "target of hidden_rate must be a number"),
        ("[[targets]]\nwhen = { who = 'me' }", "when takes recipient, sensitivity, releases"),
        ("[[targets]]\nwhen = { recipient = 'me' }", "recipient is 'me'"),
        ("hidden_rate =", "not a TOML file"),
        pytest.param("name = " + "[" * 50_000, "not a TOML file", id="deep"),
        (f"[[targets]]\nhidden_rate = 1{'0' * 400}", "target of hidden_rate must be a number"),
        ("[[targets]]\nhidden_rate = nan", "target of hidden_rate must be a number"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as error:
        Context.of(file=path)
    assert "wrong.toml" in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.toml"):
        Context.of(file=tmp_path / "absent.toml")


def test_the_audit_says_what_judged_it(file: Path) -> None:
    frame = people()
    found = audit(
        frame,
        frame,
        aligned=True,
        context=Context.of(file=file, targets={"local_cloaking": 7}),
        metrics=["hidden_rate"],
    )
    assert found.privacy.hidden_rate.target == 95
    assert found.to_dict()["context"] == {
        "name": "our registry",
        "recipient": "contract",
        "sensitivity": "high",
        "releases": 3,
        "targets": {
            "hidden_rate": 95,
            "column_direct_match_protection": 60,
            "closest_rate": None,
            "membership": 0.55,
            "local_cloaking": 7,
        },
        "attack_target": 10,
    }
    with pytest.raises(InputError, match="no metric 'hiden_rate'"):
        audit(frame, frame, context=Context.of(targets={"hiden_rate": 3}))
