"""What people state about a publication is read as written, and refused in one clear line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sosie.audits.account import HOLDERS, LEVELS, Account, Likelihood
from sosie.audits.context import Context
from sosie.errors import InputError

WHOLE = """
name = "course"
recipient = "contract"
purpose = "Teaching"
controller = "The hospital"
recipients = ["Students", "Teachers"]
measures = "Accounts by name"
residual_risk = "<script>alert(1)</script>"

[holders]
profile = "A relative"

[likelihood]
holder = "file"
negligible = 5
limited = 9.5
important = 33
source = "Our policy"

[severity]
level = "limited"
why = "Old data"
"""


def read(folder: Path, text: str) -> Account:
    path = folder / "context.toml"
    path.write_text(text, encoding="utf-8")
    return Context.of(file=path).account


def test_everything_that_is_stated_is_kept(tmp_path: Path) -> None:
    account = read(tmp_path, WHOLE)
    assert account.recipients == ("Students", "Teachers")
    assert account.measures == ("Accounts by name",)
    assert account.holders == {"profile": "A relative"}
    assert account.likelihood == Likelihood(5.0, 9.5, 33.0, "file", "Our policy")
    assert account.severity is not None
    assert account.severity.level == "limited"
    assert account.residual_risk == "<script>alert(1)</script>"
    assert Account.of(account.to_dict(), "audit.json") == account


def test_the_examples_of_the_guide_can_be_used(tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs" / "context.md"
    blocks = re.findall(r"```toml\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    facts, statements, known = blocks
    path = tmp_path / "context.toml"
    path.write_text(facts, encoding="utf-8")
    assert Context.of(file=path).target("membership", 0.6) == 0.55
    account = read(tmp_path, statements)
    path.write_text(known, encoding="utf-8")
    assert set(Context.of(file=path).known) == {"colleague", "neighbour"}
    assert set(account.holders) == set(HOLDERS)
    assert account.likelihood is not None
    assert account.severity is not None


def test_nothing_stated_adds_nothing() -> None:
    assert Account().to_dict() == {}
    assert "stated" not in Context.of().to_dict()


def test_what_is_stated_is_part_of_the_context(tmp_path: Path) -> None:
    path = tmp_path / "context.toml"
    path.write_text(WHOLE)
    told = Context.of(file=path).to_dict()
    assert told["recipient"] == "contract"
    assert told["stated"]["purpose"] == "Teaching"


@pytest.mark.parametrize(
    ("rate", "level"),
    [(0, 1), (4.999, 1), (5, 1), (5.001, 2), (9, 2), (9.001, 3), (33, 3), (33.001, 4), (100, 4)],
)
def test_levels_at_and_around_each_bound(rate: float, level: int) -> None:
    assert Likelihood(5, 9, 33).level(rate) == level


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("purpose = 3", "purpose must be a text"),
        ("recipients = [1]", "list of texts"),
        ("holders = 'x'", "as a table"),
        ("[holders]\nneighbour = 'x'", "'neighbour'"),
        ("[holders]\nfile = 3", "file must be a text"),
        ("[likelihood]\nnegligible = 5", "limited and important"),
        ("[likelihood]\nnegligible = 9\nlimited = 5\nimportant = 33", "rising"),
        ("[likelihood]\nnegligible = true\nlimited = 5\nimportant = 33", "percent"),
        ("[likelihood]\nnegligible = 1\nlimited = 5\nimportant = 330", "percent"),
        ("[likelihood]\nnegligible = 1\nlimited = 5\nimportant = 9\nholder = 'x'", "profile"),
        ("[likelihood]\nnegligible = 1\nvery = 5", "'very'"),
        ("[severity]\nlevel = 'awful'", "choose one of negligible"),
        ("purposes = 'x'", "'purposes'"),
    ],
)
def test_a_fault_is_named_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=r"context\.toml") as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert told in message
    assert "\n" not in message


def test_names_agree_with_the_catalogues() -> None:
    from sosie.words import LANGUAGES, load

    for words in map(load, LANGUAGES):
        for holder in HOLDERS:
            assert f"actors.{holder}.name" in words
        for level in LEVELS:
            assert f"levels.{level}" in words


def test_an_account_is_immutable() -> None:
    holders: Any = Account.of({"holders": {"file": "x"}}, "x").holders
    with pytest.raises(TypeError):
        holders["file"] = "y"
