"""The texts of analyses: what they mean, and what is refused."""

from __future__ import annotations

import itertools

import pytest

from sosie.errors import InputError
from sosie.studies import extra
from sosie.studies.grammar import parse


@pytest.mark.parametrize(
    ("text", "model", "columns", "terms"),
    [
        ("mean days by arms", "mean", ("days", "arms"), (("arms",),)),
        ("share cens by arms", "share", ("cens", "arms"), (("arms",),)),
        ("odds cens by treat", "odds", ("cens", "treat"), (("treat",),)),
        ("cens ~ age + cd40", "regression", ("cens", "age", "cd40"), (("age",), ("cd40",))),
        ("cens~age", "regression", ("cens", "age"), (("age",),)),
        ("mean ~ by", "regression", ("mean", "by"), (("by",),)),
        ("survival ~ odds", "regression", ("survival", "odds"), (("odds",),)),
        ("0 ~ 1 + 2", "regression", ("0", "1", "2"), (("1",), ("2",))),
        ("y ~ b:a + a + b", "regression", ("y", "a", "b"), (("a",), ("b",), ("b", "a"))),
        ("y ~ (a + b)*c", "regression", None, (("a",), ("b",), ("c",), ("a", "c"), ("b", "c"))),
        ("survival t, e ~ a + a", "survival", ("t", "e", "a"), (("a",),)),
    ],
)
def test_texts_are_read(
    text: str, model: str, columns: tuple[str, ...] | None, terms: tuple[tuple[str, ...], ...]
) -> None:
    study = parse(text)
    assert study.model == model
    assert study.terms == terms
    assert columns is None or study.columns == columns


ODD = [
    "length of stay",
    "a+b",
    'say "x"',
    "it's",
    "tick`s",
    "two\nlines",
    "age (years)",
    "🙂",
    "~",
    "",
]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("mark", ['"', "'", "`"])
def test_any_name_can_be_quoted(name: str, mark: str) -> None:
    quoted = mark + name.replace(mark, mark * 2) + mark
    assert parse(f"class ~ {quoted} * lambda").terms == ((name,), ("lambda",), (name, "lambda"))
    assert parse(f"mean {quoted} by x").outcome == name
    assert parse(f"survival {quoted}, e ~ x").outcome == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "mean days",
        "mean days by",
        "mean days by arms + age",
        "cens ~",
        "~ age",
        "cens ~ age +",
        "cens ~ age age",
        "cens ~ age - 1",
        "cens ~ log(age)",
        "cens ~ I(age)",
        "cens ~ age ** 2",
        "cens ~ {age}",
        "cens ~ age ~ x",
        "cens ~ (age",
        "cens ~ __import__('os').system('ls')",
        "cens ~ x[0]",
        "survival days ~ arms",
        "survival days, cens",
        "survival days, cens, x ~ arms",
        "cens ~ 'age",
        "cens ~ cens",
        "survival days, days ~ arms",
        "survival days, cens ~ days",
        "mean a by a",
        "cens ~ a:b",
        "cens ~ a + a:b",
        "cens ~ " + "(" * 5_000 + "a" + ")" * 4_000,
        "x" * 20_000 + " ~ a",
    ],
)
def test_what_is_not_in_the_grammar_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as error:
        parse(text)
    assert "\x1b" not in str(error.value)
    assert str(error.value).count("\n") <= text.count("\n")


def test_a_name_is_never_evaluated(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("x") / "written"
    for mark, place in itertools.product("\"'`", ("y ~ {}", "mean {} by g", "survival t, e ~ {}")):
        code = f"open({mark * 2}{file}{mark * 2}, {mark * 2}w{mark * 2})"
        study = parse(place.format(f"{mark}{code}{mark}"))
        with pytest.raises(InputError, match="there is no column"):
            study.of(["y", "t", "e", "g"])
    assert not file.exists()


def test_an_unknown_column_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match="no column 'agee'; did you mean 'age'"):
        parse("y ~ agee").of(["age", "y"])


def test_numbers_are_found_as_names() -> None:
    study = parse("mean 0 by 1").of([0, 1, "0x"])
    assert study.columns == (0, 1)


def test_a_package_that_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(extra, "import_module", absent)
    with pytest.raises(InputError, match=r"^analyses need formulaic: pip install 'sosie\[anal"):
        parse("y ~ x")
