"""The cases that concern files, through the command line: a line in words, and the right table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sosie.cli import status_of
from sosie.data.files import read

ROWS = 60
RNG = np.random.default_rng(0)
NUMBERS = [f"{v:.2f}" for v in RNG.normal(50, 9, ROWS)]
LEVELS = [str(v) for v in RNG.choice(["low", "high"], ROWS)]
WHOLE = [str(v) for v in RNG.integers(18, 70, ROWS)]


def csv(columns: dict[str, Sequence[str]], separator: str = ",", end: str = "\n") -> str:
    """The text of a table, with quotes where they are needed."""

    def cell(text: str) -> str:
        plain = not set(text) & {separator, '"', "\n"}
        return text if plain else '"' + text.replace('"', '""') + '"'

    lines = [list(columns), *zip(*columns.values(), strict=True)]
    return end.join(separator.join(map(cell, line)) for line in lines) + end


USUAL = {"x": NUMBERS, "g": LEVELS, "n": WHOLE}


def holed(cells: Sequence[str], every: int = 20, word: str = "") -> list[str]:
    return [word if i % every == 7 else cell for i, cell in enumerate(cells)]


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    status: int
    out: str
    err: str


Called = Callable[..., Said]


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Called:
    def call(*words: object) -> Said:
        capsys.readouterr()
        return Said(status_of([str(word) for word in words]), *capsys.readouterr())

    return call


@pytest.fixture
def avatarized(tmp_path: Path, called: Called) -> Callable[..., pl.DataFrame]:
    """The avatars of a CSV, as `sosie avatarize` writes them."""

    def make(text: str | bytes, *options: str) -> pl.DataFrame:
        raw = text.encode() if isinstance(text, str) else text
        (tmp_path / "x.csv").write_bytes(raw)
        command = ("avatarize", tmp_path / "x.csv", "-o", tmp_path / "y.csv", "--seed", "1")
        said = called(*command, *options)
        assert said.status == 0, said.err
        return read(tmp_path / "y.csv", header=True if "--header" in options else None).frame

    return make


@pytest.fixture
def refused(tmp_path: Path, called: Called) -> Callable[..., str]:
    """The one line with which a CSV is refused, and nothing is left behind."""

    def refuse(text: str | bytes, *options: str, name: str = "x.csv") -> str:
        raw = text.encode() if isinstance(text, str) else text
        (tmp_path / name).write_bytes(raw)
        before = sorted(path.name for path in tmp_path.iterdir())
        told = ""
        for command in ("avatarize", "run"):
            said = called(command, tmp_path / name, "-o", tmp_path / f"{command}.csv", *options)
            assert said.status == 2
            assert said.err.count("\n") == 1
            told = said.err
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return told

    return refuse


Made = Callable[..., pl.DataFrame]
Refused = Callable[..., str]


def test_case_01_strange_names(avatarized: Made) -> None:
    names = ["class", 'it\'s "quoted"', "new\nline 😀"]
    plain = avatarized(csv(USUAL))
    strange = avatarized(csv(dict(zip(names, USUAL.values(), strict=True))))
    assert strange.columns == names
    # The order of the rows has entropy of its own.
    by_value = [
        frame.sort(frame.columns)
        for frame in (plain, strange.rename(dict(zip(names, USUAL, strict=True))))
    ]
    assert by_value[0].equals(by_value[1])


def test_case_02_numbered_and_repeated_names(avatarized: Made, refused: Refused) -> None:
    made = avatarized(csv({"0": NUMBERS, "1": LEVELS, "2": WHOLE}), "--header")
    assert made.columns == ["0", "1", "2"]
    assert "same name: 'age'" in refused("age,sex,age\n1,2,3\n")


def test_case_03_another_order_of_columns(tmp_path: Path, called: Called) -> None:
    (tmp_path / "x.csv").write_text(csv(USUAL))
    (tmp_path / "y.csv").write_text(csv(dict(reversed(USUAL.items()))))
    assert called("audit", tmp_path / "x.csv", tmp_path / "y.csv", "--aligned").status == 0
    for name in ("x", "y"):
        json_ = tmp_path / f"{name}.json"
        words = ("audit", tmp_path / "x.csv", tmp_path / f"{name}.csv", "--aligned", "--json")
        assert called(*words, json_).status == 0
    one, other = (json.loads((tmp_path / f"{n}.json").read_text())["privacy"] for n in "xy")
    assert one == other
    (tmp_path / "y.csv").write_text(csv({"x": NUMBERS, "g": LEVELS}))
    said = called("audit", tmp_path / "x.csv", tmp_path / "y.csv")
    assert (said.status, "'n'" in said.err) == (2, True)


@pytest.mark.parametrize("word", ["", "NA"])
def test_case_06_integers_with_missing_stay_so(avatarized: Made, word: str) -> None:
    rows = 400
    cells = holed([str(i * 37 % 211) for i in range(rows)], 20, word)
    made = avatarized(csv({"n": cells, "g": ["a", "b"] * (rows // 2)}))
    assert made.schema["n"] == pl.Int64
    assert 0.02 < made["n"].null_count() / rows < 0.09


def test_case_07_text_dates_are_never_guessed(
    avatarized: Made, tmp_path: Path, called: Called
) -> None:
    days = [f"{1 + i % 28:02d}/{1 + i % 3:02d}/2020" for i in range(ROWS)]
    text = csv(USUAL | {"seen": [days[i % 2] for i in range(ROWS)]})
    assert set(avatarized(text)["seen"]) <= set(days[:2])
    said = called("avatarize", tmp_path / "x.csv", "-o", tmp_path / "y.csv")
    assert "--date seen" in said.err
    made = avatarized(csv(USUAL | {"seen": days}), "--date", "seen=%d/%m/%Y")
    parsed = made["seen"].str.to_date("%d/%m/%Y")
    assert parsed.null_count() == 0
    assert (parsed.dt.year() == 2020).all()


def test_case_08_type_drift(tmp_path: Path, called: Called) -> None:
    (tmp_path / "x.csv").write_text(csv(USUAL))
    (tmp_path / "y.csv").write_text(csv(USUAL | {"n": [f"{v}.0" for v in WHOLE]}))
    words = ("audit", tmp_path / "x.csv", tmp_path / "y.csv", "--aligned", "--json", "-")
    said = called(*words)
    assert said.status == 0
    told = json.loads(said.out)
    matches = told["privacy"]["column_direct_match_protection"]["columns"]
    assert {c["column"]: c["matches"] for c in matches}["n"] == ROWS
    assert any(note["values"]["column"] == "n" for note in told["notes"])


@pytest.mark.parametrize("two", [["true", "false"], ["0", "1"], ["TRUE", "FALSE"], ["yes", ""]])
def test_case_09_two_values(avatarized: Made, tmp_path: Path, two: list[str]) -> None:
    avatarized(csv(USUAL | {"flag": two * (ROWS // 2)}))
    lines = (tmp_path / "y.csv").read_text().splitlines()
    assert {line.split(",")[3] for line in lines[1:]} == set(two)


def test_case_10_a_column_all_missing(avatarized: Made, tmp_path: Path, called: Called) -> None:
    made = avatarized(csv(USUAL | {"none": [""] * ROWS}))
    assert made["none"].null_count() == ROWS
    said = called("avatarize", tmp_path / "x.csv", "-o", tmp_path / "y.csv")
    assert said.err.count("'none'") == 1


def test_case_11_missing_in_the_avatars_alone(tmp_path: Path, called: Called) -> None:
    (tmp_path / "x.csv").write_text(csv(USUAL))
    (tmp_path / "y.csv").write_text(csv(USUAL | {"n": holed(WHOLE)}))
    said = called("audit", tmp_path / "x.csv", tmp_path / "y.csv")
    assert said.status == 0
    assert "Column 'n' has missing values in the avatars only" in said.err


def test_case_13_all_words_for_missing_are_one(avatarized: Made, tmp_path: Path) -> None:
    cells = [("NA", "", "null")[i % 3] if i % 5 == 2 else cell for i, cell in enumerate(WHOLE)]
    made = avatarized(csv(USUAL | {"n": cells}))
    assert made.schema["n"] == pl.Int64
    assert made["n"].null_count() > 0
    assert len({*(tmp_path / "y.csv").read_text().split()} & {"NA", "null"}) == 0


def test_case_14_constants(avatarized: Made, refused: Refused, tmp_path: Path) -> None:
    made = avatarized(csv(USUAL | {"one": ["1.250"] * ROWS}))
    assert made["one"].to_list() == [1.25] * ROWS
    assert "no column varies" in refused("a,b\n" + "1,x\n" * 20)


def test_case_15_one_column_and_many(avatarized: Made) -> None:
    assert avatarized(csv({"x": NUMBERS})).shape == (ROWS, 1)
    wide = {f"c{i}": list(RNG.permutation(NUMBERS)) for i in range(80)}
    assert avatarized(csv(wide)).shape == (ROWS, 80)


def test_case_16_few_rows_and_large_k(avatarized: Made, refused: Refused, tmp_path: Path) -> None:
    three = "x,g\n1,a\n2,b\n2,b\n"
    assert avatarized(three, "--k", "2").height == 3
    assert "the largest k is 3" in refused(three, "--k", "4")
    assert "the largest k is 2" in refused(three, "--k", "3", "--method", "smoothed")


def test_case_17_duplicates_only(avatarized: Made) -> None:
    made = avatarized("x,g\n" + "1.5,a\n2.5,b\n" * 30)
    assert made.sort("x").rows() == [(1.5, "a")] * 30 + [(2.5, "b")] * 30


def test_case_18_many_levels(avatarized: Made, refused: Refused, tmp_path: Path) -> None:
    town = [f"t{v}" for v in RNG.zipf(1.5, 2_000) % 900]
    made = avatarized(csv({"town": town, "x": [str(v / 7) for v in range(2_000)]}))
    counts = pl.Series("town", town).value_counts()
    common = counts.filter(pl.col("count") >= 5)["town"]
    assert set(made["town"]) <= set(common)


def test_case_19_a_level_of_one_person(avatarized: Made) -> None:
    made = avatarized(csv(USUAL | {"g": ["the only one", *LEVELS[1:]]}))
    assert set(made["g"]) == {"low", "high"}


def test_case_20_an_identifier_left_in(refused: Refused, avatarized: Made, tmp_path: Path) -> None:
    text = csv(USUAL | {"code": [f"P{i:03d}" for i in range(ROWS)]})
    line = refused(text)
    for words in ("'code'", "--drop code", "--categorical COL"):
        assert words in line
    assert avatarized(text, "--drop", "code").columns == ["x", "g", "n"]
    fresh = avatarized(text, "--id", "code")["code"].to_list()
    assert len({*fresh}) == ROWS
    assert not {*fresh} & {f"P{i:03d}" for i in range(ROWS)}


def test_case_21_extreme_numbers(refused: Refused, avatarized: Made, tmp_path: Path) -> None:
    line = refused(csv(USUAL | {"x": [*NUMBERS[:41], "inf", *NUMBERS[42:]]}))
    assert "column 'x' has an infinite value in row 42" in line
    for own in (
        [2**53 + 1 + 2 * i for i in range(ROWS)],
        [2**63 - 1 - 3 * i for i in range(ROWS)],
        [2**64 - 1 - 3 * i for i in range(ROWS)],
    ):
        cells = [str(own[i]) for i in np.random.default_rng(1).permutation(ROWS)]
        made = avatarized(csv(USUAL | {"big": cells}), "--numeric", "big")
        drawn = made["big"].to_list()
        assert min(own) <= min(drawn)
        assert max(drawn) <= max(own)
    huge = [f"{v}e300" for v in NUMBERS]
    assert avatarized(csv(USUAL | {"x": huge}))["x"].is_finite().all()


def test_case_22_decimals_and_extremes(avatarized: Made, tmp_path: Path) -> None:
    cells = ["999.99", *NUMBERS[1:]]
    made = avatarized(csv(USUAL | {"x": cells}))
    lines = (tmp_path / "y.csv").read_text().splitlines()[1:]
    assert {len(line.split(",")[0].partition(".")[2]) for line in lines} <= {0, 1, 2}
    assert all(line.split(",")[2].isdecimal() for line in lines)
    ordered = sorted(map(float, cells))
    # The ends are means of the ten values nearest to them, rounded as the column is.
    assert sum(ordered[:10]) / 10 - 0.005 <= made["x"].min()  # type: ignore[operator]
    assert made["x"].max() <= sum(ordered[-10:]) / 10 + 0.005  # type: ignore[operator]


def test_case_24_nothing_to_check_is_null(tmp_path: Path, called: Called) -> None:
    (tmp_path / "x.csv").write_text(csv({"x": NUMBERS}))
    said = called("audit", tmp_path / "x.csv", tmp_path / "x.csv", "--aligned", "--json", "-")
    told = json.loads(said.out)
    for key in ("categorical_hidden_rate", "linkability", "membership"):
        assert told["privacy"][key]["value"] is None
        assert told["privacy"][key]["reason"]


def test_case_26_the_same_seed_gives_the_same_rows(avatarized: Made) -> None:
    one, other = (avatarized(csv(USUAL)) for _ in range(2))
    assert one.sort(one.columns).equals(other.sort(other.columns))
    another = avatarized(csv(USUAL), "--seed", "2")
    assert not another.sort(another.columns).equals(one.sort(one.columns))


def test_case_28_what_is_read_is_not_changed(avatarized: Made, tmp_path: Path) -> None:
    text = csv(USUAL)
    avatarized(text)
    assert (tmp_path / "x.csv").read_text() == text


# ---------------------------------------------------------------- 29: files

FILES: dict[str, bytes] = {
    "semicolon, decimal comma": csv(
        USUAL | {"x": [v.replace(".", ",") for v in NUMBERS]}, ";"
    ).encode(),
    "tab": csv(USUAL, "\t").encode(),
    "byte order mark": csv(USUAL).encode("utf-8-sig"),
    "windows-1252": csv(USUAL | {"g": ["é" if v == "low" else "€" for v in LEVELS]}).encode(
        "cp1252"
    ),
    "CRLF": csv(USUAL, end="\r\n").encode(),
    "quoted line ends": csv(USUAL | {"g": [v + "\nor so" for v in LEVELS]}).encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_case_29_avatars_are_written_the_way_people_were(
    avatarized: Made, tmp_path: Path, name: str
) -> None:
    raw = FILES[name]
    avatarized(raw)
    before, after = read(tmp_path / "x.csv"), read(tmp_path / "y.csv")
    assert after.dialect == before.dialect
    assert after.frame.schema == before.frame.schema
    written = (tmp_path / "y.csv").read_bytes()
    assert written.splitlines()[0] == raw.splitlines()[0]
    assert set(after.frame["g"]) == set(before.frame["g"])


def test_case_29_a_trailing_separator(avatarized: Made) -> None:
    text = "\n".join(f"{line};" for line in csv(USUAL, ";").splitlines())
    assert avatarized(text).columns == ["x", "g", "n"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "the file is empty"),
        (b"a,b\n", "there is a header and no row below it"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 cell where the header has 2"),
        (b"PK\x03\x04", "a spreadsheet or a zip archive"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"a,b\n\x00,1\n", "not a text file"),
    ],
)
def test_case_29_what_is_no_table(refused: Refused, raw: bytes, words: str) -> None:
    assert words in refused(raw)


def test_case_29_nested_columns_in_parquet(refused: Refused, tmp_path: Path) -> None:
    nested = pl.DataFrame({"x": [float(i) for i in range(30)], "visits": [[1, 2]] * 30})
    nested.write_parquet(tmp_path / "n.parquet")
    raw = (tmp_path / "n.parquet").read_bytes()
    line = refused(raw, name="n.parquet")
    assert "'visits'" in line
