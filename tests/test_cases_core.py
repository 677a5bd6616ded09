"""Tables that break tools of this kind: first no crash, then the right answer.

Numbered as the list of cases in `test_case_list`; what concerns metrics, files and the
command line is tested with them.
"""

from __future__ import annotations

import datetime as dt
import math
import string
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from spoken import spoken

from sosie.data.frames import assemble, column
from sosie.data.native import written
from sosie.data.table import Numbers, Table
from sosie.errors import InputError, SosieWarning
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods import METHODS, method_of
from sosie.generate.settings import DEFAULT

# What deserves a look is a warning, and these tables have it on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::sosie.errors.SosieWarning")

if TYPE_CHECKING:
    from conftest import Backend

People = Callable[..., dict[str, list[Any]]]


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> Any:
    return request.param


def avatars(frame: Any, method: Any = DEFAULT, **options: Any) -> Any:
    return Avatarizer(seed=1, method=method, **options).fit(frame).release(shuffle=False)


# ---------------------------------------------------------------- 1 to 4: names and order

STRANGE = ["a b", "(x)", 'it\'s "quoted"', "new\nline", "😀", "class", "", "0", "id ", "Ünïcode\t"]


def test_case_01_strange_names_change_nothing(
    backend: Backend, people: People, method: Any
) -> None:
    cells = people(rows=80)
    names = dict(zip(cells, STRANGE, strict=False))
    plain = avatars(backend.frame(cells), method)
    strange = avatars(backend.frame({names[name]: c for name, c in cells.items()}), method)
    assert backend.names(strange) == list(names.values())
    for name, other in names.items():
        assert backend.cells(strange, other) == backend.cells(plain, name)


def test_case_01_strange_names_work_in_every_role(backend: Backend) -> None:
    rows = 60
    cells = {
        "a b": [i / 7 for i in range(rows)],
        "(x)": ["p", "q"] * 30,
        "it's": ["r", "s"] * 30,
        "new\nline": list(range(rows)),
        "😀": [f"P{i}" for i in range(rows)],
        "class": ["1,5", "2,5", "3"] * 20,
    }
    made = avatars(
        backend.frame(cells),
        linked=[("(x)", "it's")],
        keep_anyway=["new\nline"],
        id=["😀"],
        numeric=["class"],
        weights={"a b": 2.0},
    )
    assert backend.names(made) == list(cells)
    assert backend.cells(made, "new\nline") == list(range(rows))


def test_case_02_integer_names_come_back_as_integers(any_pandas: Backend, people: People) -> None:
    frame = any_pandas.frame(people(rows=80))
    plain = avatars(frame)
    numbered = frame.set_axis(range(frame.shape[1]), axis=1)
    made = avatars(numbered, weights={1: 1.0})
    assert made.columns.tolist() == list(range(9))
    assert made.columns.dtype == numbered.columns.dtype
    assert any_pandas.same(made.set_axis(plain.columns, axis=1), plain)


def test_case_02_names_of_several_kinds_and_levels_come_back(any_pandas: Backend) -> None:
    frame = any_pandas.frame({"a": [1.5, 2.5] * 20, "b": ["x", "y"] * 20, "c": ["u", "v"] * 20})
    for columns in (
        pd.Index([0, "a", 1.5], dtype=object),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["part", "visit"]),
        pd.Index(pd.to_datetime(["2020-01-01", "2020-02-01", "2020-03-01"]), name="day"),
        pd.CategoricalIndex(["u", "v", "w"]),
    ):
        made = avatars(frame.set_axis(columns, axis=1))
        pd.testing.assert_index_equal(made.columns, columns)


def test_case_02_two_columns_of_the_same_name_are_named() -> None:
    frame = pd.DataFrame([[1, 2, 3]] * 20, columns=["age", "sex", "age"])
    with pytest.raises(InputError, match="same name: 'age'"):
        Avatarizer().fit(frame)


def test_case_03_columns_in_another_order_are_the_same_table(
    backend: Backend, people: People
) -> None:
    cells = people(rows=80)
    table = Table.of(backend.frame(cells))
    turned = table.like(backend.frame(dict(reversed(cells.items()))))
    assert turned.names == table.names
    for name in ("age", "weight", "seen"):
        one, other = table.column(name), turned.column(name)
        assert isinstance(one, Numbers)
        assert isinstance(other, Numbers)
        assert np.array_equal(one.values, other.values, equal_nan=True)


def test_case_04_any_index_is_left_aside(any_pandas: Backend, people: People) -> None:
    frame = any_pandas.frame(people(rows=80))
    plain = avatars(frame)
    indexes: list[Any] = [
        range(1_000, 1_080),
        pd.date_range("2020-01-01", periods=80),
        [7] * 80,
        list(range(79, -1, -1)),
        pd.MultiIndex.from_product([range(8), range(10)]),
    ]
    for index in indexes:
        assert any_pandas.same(avatars(frame.set_axis(index, axis=0)), plain)


# ---------------------------------------------------------------- 5 to 9: types


def holes(cells: list[Any], every: int = 9) -> list[Any]:
    return [None if i % every == 4 else cell for i, cell in enumerate(cells)]


ROWS = 120
RNG = np.random.default_rng(0)
WHOLE = [int(v) for v in RNG.integers(0, 90, ROWS)]
REAL = [round(float(v), 2) for v in RNG.normal(50, 9, ROWS)]
TRUTH = [bool(v) for v in RNG.integers(0, 2, ROWS)]
WORDS = [str(v) for v in RNG.choice(["low", "high"], ROWS)]
STAMPS = [
    dt.datetime(2020, 1, 1) + dt.timedelta(seconds=int(v)) for v in RNG.integers(0, 10**7, ROWS)
]
COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "Int64": (WHOLE, "Int64"),
    "Int8": (WHOLE, "Int8"),
    "UInt16": (WHOLE, "UInt16"),
    "Float64": (REAL, "Float64"),
    "Float32": (REAL, "Float32"),
    "boolean": (TRUTH, "boolean"),
    "string": (WORDS, "string"),
    "str": (WORDS, "str"),
    "category": (WORDS, "category"),
    "ordered": (WORDS, pd.CategoricalDtype(["low", "high"], ordered=True)),
    "int64[pyarrow]": (WHOLE, pd.ArrowDtype(pa.int64())),
    "double[pyarrow]": (REAL, pd.ArrowDtype(pa.float64())),
    "bool[pyarrow]": (TRUTH, pd.ArrowDtype(pa.bool_())),
    "string[pyarrow]": (WORDS, pd.ArrowDtype(pa.string())),
    "decimal[pyarrow]": ([Decimal(str(v)) for v in REAL], pd.ArrowDtype(pa.decimal128(7, 2))),
    "timestamp[pyarrow]": (STAMPS, pd.ArrowDtype(pa.timestamp("us", "Europe/Paris"))),
    **{f"datetime64[{u}]": (STAMPS, f"datetime64[{u}]") for u in ("s", "ms", "us", "ns")},
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("missing", [False, True])
def test_case_05_pandas_dtypes_are_given_back(name: str, missing: bool, method: Any) -> None:
    cells, dtype = COLUMNS[name]
    frame = pd.DataFrame({"x": pd.Series(holes(cells) if missing else cells, dtype=dtype)})
    frame["other"] = [i / 7 for i in range(ROWS)]
    made = avatars(frame, method)
    assert made.dtypes.equals(frame.dtypes)
    assert made["x"].isna().any() == missing
    present, drawn = frame["x"].dropna(), made["x"].dropna()
    if cells is not WORDS and cells is not TRUTH:
        assert present.min() <= drawn.min()
        assert drawn.max() <= present.max()
    else:
        assert set(drawn) == set(present)


def test_case_06_integers_with_missing_come_back_so(backend: Backend, method: Any) -> None:
    rows = 400
    cells = [None if i % 20 == 7 else (i * 37) % 211 for i in range(rows)]
    made = backend.cells(avatars(backend.frame({"x": cells, "y": ["a", "b"] * 200}), method), "x")
    present = [value for value in made if value is not None]
    assert all(value == int(value) for value in present)
    assert 0.02 < 1 - len(present) / rows < 0.09


@pytest.mark.parametrize("zone", ["Europe/Paris", "Asia/Kolkata", "UTC", "America/New_York"])
def test_case_07_midnights_stay_midnights_in_their_zone(
    backend: Backend, zone: str, method: Any
) -> None:
    days = pd.date_range("2020-01-01", periods=300, tz=zone)
    cells = [day.to_pydatetime() for day in days[RNG.permutation(300)]]
    frame = backend.frame({"x": holes(cells), "y": [i / 7 for i in range(300)]})
    made = avatars(frame, method)
    assert backend.dtypes(made) == backend.dtypes(frame)
    drawn = [value for value in backend.cells(made, "x") if value is not None]
    assert all((v.hour, v.minute, v.second) == (0, 0, 0) for v in drawn)
    assert days[0] <= min(drawn)
    assert max(drawn) <= days[-1]
    assert {str(value.tzinfo) for value in drawn} == {zone}


def test_case_07_text_dates_are_never_guessed(backend: Backend) -> None:
    cells = {"visit": ["01/02/2020", "03/04/2020"] * 30, "x": [i / 7 for i in range(60)]}
    frame = backend.frame(cells)
    with pytest.warns(SosieWarning, match=r"'visit'.*--date visit"):
        avatarizer = Avatarizer(seed=1).fit(frame)
    assert avatarizer.table.column("visit").kind == "category"
    assert {*backend.cells(avatarizer.release(), "visit")} == {"01/02/2020", "03/04/2020"}


def test_case_08_type_drift_is_compared_by_value(backend: Backend) -> None:
    cells = {"n": [i % 50 for i in range(100)], "g": ["1", "2"] * 50}
    table = Table.of(backend.frame(cells))
    drifted = pl.DataFrame({"n": [float(v) for v in cells["n"]], "g": [1, 2] * 50})
    again = table.like(drifted.with_columns(pl.col("g").cast(pl.Int8)))
    one, other = table.column("n"), again.column("n")
    assert isinstance(one, Numbers)
    assert isinstance(other, Numbers)
    assert np.array_equal(one.values, other.values)
    assert again.column("g").labels == ("1", "2")  # type: ignore[union-attr]
    assert [note.split("'")[1] for note in spoken(again.notes)][-1] == "g"


@pytest.mark.parametrize("cells", [[True, False], [0, 1], ["0", "1"], [0.0, 1.0], ["yes", None]])
def test_case_09_two_valued_columns_come_back_as_they_were(
    backend: Backend, cells: list[Any], method: Any
) -> None:
    frame = backend.frame({"flag": cells * 40, "x": [i / 7 for i in range(80)]})
    made = avatars(frame, method)
    assert backend.dtypes(made) == backend.dtypes(frame)
    values = backend.cells(made, "flag")
    assert {*values} == {*cells}
    assert {type(v) for v in values} == {type(v) for v in backend.cells(frame, "flag")}


# ---------------------------------------------------------------- 10 to 13: missing


def test_case_10_a_column_all_missing_stays_so(
    backend: Backend, people: People, method: Any
) -> None:
    cells = people(rows=80)
    frame = backend.frame(cells | {"none": [None] * 80})
    avatarizer = Avatarizer(seed=1, method=method).fit(frame)
    made = avatarizer.release(shuffle=False)
    assert [note for note in spoken(avatarizer.table.notes) if "'none'" in note] == [
        "column 'none' has no value at all; it stays so"
    ]
    assert backend.cells(made, "none") == [None] * 80
    assert backend.dtypes(made) == backend.dtypes(frame)
    without = Avatarizer(seed=1, method=method).fit(backend.frame(cells))
    points = [one.fitted.famd.transform(one.table) for one in (avatarizer, without)]
    np.testing.assert_allclose(pdist(points[0]), pdist(points[1]), atol=1e-6)


def test_case_12_missing_values_are_independent_between_columns(
    backend: Backend, method: Any
) -> None:
    rng = np.random.default_rng(1)
    rows = 2_000
    cells = {
        name: [None if lost else round(float(v), 2) for v, lost in zip(x, gone, strict=True)]
        for name, x, gone in zip(
            "ab", rng.normal(size=(2, rows)), rng.random((2, rows)) < 0.2, strict=True
        )
    }
    made = avatars(backend.frame(cells | {"c": rng.normal(size=rows).tolist()}), method)
    lost = np.array([[v is None for v in backend.cells(made, name)] for name in "ab"])
    assert (np.abs(lost.mean(axis=1) - 0.2) < 0.04).all()
    assert 0.02 < lost.all(axis=0).mean() < 0.06


def test_case_13_every_way_of_missing_is_the_same(method: Any) -> None:
    """Those of pandas objects, and NaN beside null in floats."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200).round(2)
    for absent in (None, float("nan"), pd.NA, pd.NaT):
        cells = pd.Series([absent if i % 7 == 3 else v for i, v in enumerate(x)], dtype=object)
        frame = pd.DataFrame({"x": cells, "y": x[::-1]})
        made = avatars(frame, method)
        lost = made["x"][made["x"].isna()]
        assert len(lost) > 10
        assert {type(value) for value in lost} == {type(absent)}
        floats = [math.nan if i % 7 == 3 else v for i, v in enumerate(x)]
        plain = avatars(pd.DataFrame({"x": floats, "y": x[::-1]}), method)
        drawn = [math.nan if pd.isna(v) else v for v in made["x"]]
        np.testing.assert_array_equal(drawn, plain["x"])
    both = pl.DataFrame({"x": [None if i % 7 == 3 else v for i, v in enumerate(x)], "y": x[::-1]})
    nan = both.with_columns(pl.col("x").fill_null(float("nan")))
    one, other = avatars(both, method), avatars(nan, method)
    assert one["x"].is_null().to_list() == other["x"].is_nan().to_list()
    assert other["x"].null_count() == 0


# ---------------------------------------------------------------- 14 to 20: shapes


def test_case_14_constant_columns_are_restored_exactly(
    backend: Backend, people: People, method: Any
) -> None:
    cells = people(rows=80)
    more = cells | {"one": [1.25] * 80, "word": ["x"] * 80, "day": [dt.date(2020, 2, 29)] * 80}
    frame = backend.frame(more)
    made = avatars(frame, method)
    for name in ("one", "word", "day"):
        assert backend.cells(made, name) == backend.cells(frame, name)
    one, other = (
        Avatarizer(seed=1, method=method).fit(backend.frame(c)).fitted for c in (cells, more)
    )
    points = [made.famd.transform(made.table) for made in (one, other)]
    np.testing.assert_allclose(pdist(points[0]), pdist(points[1]), atol=1e-6)
    if method == "exchangeable":
        assert np.array_equal(one.groups.bounds, other.groups.bounds)


def test_case_14_constant_numbers_are_restored_exactly(backend: Backend, method: Any) -> None:
    frame = backend.frame({"one": [1.25] * 60, "x": [i / 7 for i in range(60)]})
    assert backend.cells(avatars(frame, method, numeric=["one"]), "one") == [1.25] * 60


def test_case_14_all_columns_constant_is_an_error(backend: Backend, method: Any) -> None:
    frame = backend.frame({"a": [1] * 20, "b": ["x"] * 20, "c": [None] * 20})
    with pytest.raises(InputError, match="no column varies"):
        avatars(frame, method)


def shape(rows: int, numbers: int, categories: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    made = {f"n{i}": rng.normal(size=rows).round(3).tolist() for i in range(numbers)}
    words = {f"c{i}": rng.choice(list("abc"), rows).tolist() for i in range(categories)}
    return made | words


SHAPES = {
    "all numbers": (100, 6, 0),
    "all categories": (100, 0, 6),
    "one number": (100, 1, 0),
    "one category": (100, 0, 1),
    "90 columns": (60, 60, 30),
    "wide": (20, 40, 20),
}


@pytest.mark.parametrize("name", SHAPES)
def test_case_15_any_mix_and_shape(backend: Backend, name: str) -> None:
    cells = shape(*SHAPES[name])
    frame = backend.frame(cells)
    for some in METHODS:
        made = avatars(frame, some, k=5)
        assert backend.names(made) == list(cells)
        assert backend.dtypes(made) == backend.dtypes(frame)
        for each, own in cells.items():
            drawn = backend.cells(made, each)
            assert len(drawn) == len(own)
            if each.startswith("n"):
                assert min(own) <= min(drawn) <= max(drawn) <= max(own)
            else:
                assert {*drawn} <= {*own}


def test_case_16_three_rows_and_k_up_to_its_largest(backend: Backend, method: Any) -> None:
    """A person is no neighbour of their own, but a member of their group."""
    frame = backend.frame({"x": [1, 2, 2], "g": ["a", "b", "b"]})
    largest = 3 if method == "exchangeable" else 2
    for k in range(2, largest + 1):
        made = avatars(frame, method, k=k, min_level_count=2)
        assert {*backend.cells(made, "x")} <= {1, 2}
    with pytest.raises(InputError, match=f"table of 3 rows the largest k is {largest}"):
        avatars(frame, method, k=largest + 1)


@pytest.mark.parametrize("rows", [12, 30])
def test_case_16_k_as_large_as_it_gets(people: People, rows: int, method: Any) -> None:
    """One group needs a value of everybody; neighbours may lack one."""
    missing, largest = (0.0, rows) if method == "exchangeable" else (0.1, rows - 1)
    every = people(rows=200, missing=missing)
    cells = {name: every[name][:rows] for name in ("weight", "dose", "seen", "smoker")}
    least = {"min_level_count": 2}
    made = avatars(pl.DataFrame(cells), method, k=largest, numeric=["weight", "dose"], **least)
    assert made.shape == (rows, 4)


def test_case_17_a_table_of_duplicates_only(backend: Backend, method: Any) -> None:
    """Sixty people of two kinds: each kind's avatars are copies, whatever the weights."""
    frame = backend.frame({"x": [1.5, 2.5] * 30, "g": ["a", "b"] * 30})
    made = avatars(frame, method)
    assert backend.cells(made, "x") == [1.5, 2.5] * 30
    assert backend.cells(made, "g") == ["a", "b"] * 30


def test_case_17_pairs_of_exact_twins(backend: Backend, people: People, method: Any) -> None:
    cells = {name: column + column for name, column in people(rows=60).items()}
    frame = backend.frame(cells)
    avatarizer = Avatarizer(seed=1, method=method).fit(frame)
    fitted = avatarizer.fitted
    points = fitted.famd.transform(fitted.table)
    assert np.array_equal(points[:60], points[60:])
    if method != "exchangeable":
        assert fitted.neighbours.rows[:60, 0].tolist() == list(range(60, 120))
        assert (fitted.neighbours.distances[:, 0] == 0).all()
    made = avatarizer.release()
    assert backend.dtypes(made) == backend.dtypes(frame)


def test_case_17_nine_tenths_of_the_rows_are_identical(method: Any) -> None:
    rng = np.random.default_rng(0)
    rows = 20_000
    same = rng.random(rows) < 0.9
    frame = pl.DataFrame(
        {
            "x": np.where(same, 3.25, rng.normal(size=rows).round(2)),
            "g": np.where(same, "b", rng.choice(list("ab"), rows)).tolist(),
        }
    )
    made = avatars(frame, method)
    kept = ((made["x"] == 3.25) & (made["g"] == "b")).mean()
    assert abs(float(kept) - same.mean()) < 0.02  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
def test_case_18_five_thousand_levels_in_ten_thousand_rows(method: str) -> None:
    rng = np.random.default_rng(0)
    town = [f"t{v}" for v in rng.zipf(1.2, 10_000) % 5_000]
    x = rng.normal(size=10_000)
    made = avatars(pl.DataFrame({"town": town, "x": x}), method)
    counts = pl.Series(town).value_counts(name="n")
    common = set(counts.filter(pl.col("n") >= method_of(method).k).to_series().to_list())
    assert set(made["town"]) <= common
    every = rng.permutation(np.repeat(np.arange(5_000), 2)).astype(str).tolist()
    with pytest.raises(InputError, match=r"column 'town': no value is held by at least \d+ people"):
        avatars(pl.DataFrame({"town": every, "x": x}), method)


def test_case_18_levels_of_two_people_come_back_from_the_published_method() -> None:
    rng = np.random.default_rng(0)
    every = rng.permutation(np.repeat(np.arange(5_000), 2)).astype(str).tolist()
    frame = pl.DataFrame({"town": every, "x": rng.normal(size=10_000)})
    assert set(avatars(frame, "barycentre")["town"]) <= set(every)


@pytest.mark.parametrize("protecting", ["exchangeable", "smoothed"])
def test_case_19_a_level_of_one_person_never_appears(backend: Backend, protecting: str) -> None:
    words = ["a", "b"] * 50
    words[31] = "the only one"
    frame = backend.frame({"g": words, "x": [i / 7 for i in range(100)]}, categories=["g"])
    avatarizer = Avatarizer(seed=1, method=protecting).fit(frame)
    for made in avatarizer.releases(5):
        assert {*backend.cells(made, "g")} == {"a", "b"}


def test_case_19_a_level_of_the_second_table_only_is_no_error() -> None:
    frame = pl.DataFrame({"g": ["a", "b"] * 30, "x": [i / 7 for i in range(60)]})
    avatarizer = Avatarizer(seed=1).fit(frame)
    strange = frame.with_columns(pl.lit("new").alias("g"))
    points = avatarizer.fitted.famd.transform(avatarizer.table.like(strange))
    assert np.isfinite(points).all()


@pytest.mark.parametrize(
    "own",
    [
        [f"P{i:03d}" for i in range(60)],
        list(range(5_000, 5_060)),
        [float(v) for v in range(60)],
    ],
    ids=["text", "sorted", "float"],
)
def test_case_20_an_identifier_left_in_is_noticed(
    backend: Backend, own: list[Any], method: Any
) -> None:
    frame = backend.frame({"code": own, "x": [(i * 7 % 60) / 7 for i in range(60)]})
    with pytest.raises(InputError) as caught:
        avatars(frame, method)
    for words in ("'code'", "drop=['code']", "--drop code"):
        assert words in str(caught.value)
    assert backend.names(avatars(frame, method, drop=["code"])) == ["x"]
    assert backend.cells(avatars(frame, method, keep_anyway=["code"]), "code") == own
    fresh = backend.cells(avatars(frame, method, id=["code"]), "code")
    assert len({*fresh}) == 60
    assert not {*fresh} & {*own}


# ---------------------------------------------------------------- 21 and 22: numbers


@pytest.mark.parametrize("bad", [float("inf"), -float("inf")])
def test_case_21_infinite_values_are_named(backend: Backend, bad: float, method: Any) -> None:
    cells = [i / 7 for i in range(60)]
    cells[41] = bad
    with pytest.raises(InputError, match=r"column 'dose' has an infinite value in row 42"):
        avatars(backend.frame({"dose": cells, "g": ["a", "b"] * 30}), method)


EXTREME: dict[str, list[Any]] = {
    "1e300": [v * 1e300 for v in np.linspace(-3, 5, 80)],
    "1e-300": [v * 1e-300 for v in np.linspace(-3, 5, 80)],
    "largest": [v * 1.7e308 for v in np.linspace(-1, 1, 80)],
    "both": [10.0 ** (v * 3.8) for v in range(-79, 81, 2)],
    "sd 1e-12": [1 + v * 1e-13 for v in range(80)],
    "denormal": [v * 5e-324 for v in range(80)],
    "above 2^53": [2**53 + 1 + 2 * v for v in range(80)],
    "near 2^63": [2**63 - 1 - 3 * v for v in range(80)],
    "all of int64": [-(2**63) + v * (2**64 - 1) // 79 for v in range(80)],
}


@pytest.mark.parametrize("name", EXTREME)
def test_case_21_extreme_numbers(backend: Backend, name: str, method: Any) -> None:
    own = [EXTREME[name][i] for i in np.random.default_rng(0).permutation(80)]
    frame = backend.frame({"x": own, "g": ["a", "b"] * 40})
    made = avatars(frame, method)
    assert backend.dtypes(made) == backend.dtypes(frame)
    drawn = backend.cells(made, "x")
    assert min(own) <= min(drawn)
    assert max(drawn) <= max(own)
    assert len({*drawn}) > 20
    if isinstance(own[0], int):
        assert all(value == int(value) for value in drawn)


def test_case_21_unsigned_numbers_beyond_int64() -> None:
    own = [2**64 - 1 - 5 * i for i in np.random.default_rng(0).permutation(80).tolist()]
    for frame in (
        pl.DataFrame({"x": pl.Series(own, dtype=pl.UInt64), "g": ["a", "b"] * 40}),
        pd.DataFrame({"x": pd.Series(own, dtype="uint64"), "g": ["a", "b"] * 40}),
        pa.table({"x": pa.array(own, pa.uint64()), "g": ["a", "b"] * 40}),
    ):
        made = avatars(frame)
        drawn = made["x"].to_pylist() if isinstance(made, pa.Table) else list(made["x"])
        assert all(min(own) <= value <= max(own) for value in drawn)
        assert len({*drawn}) > 20


@pytest.mark.parametrize("decimals", [0, 1, 2, 4])
def test_case_22_decimals_are_kept(backend: Backend, decimals: int, method: Any) -> None:
    values = np.random.default_rng(0).normal(50, 20, 150).round(decimals)
    own: list[Any] = [int(v) for v in values] if decimals == 0 else values.tolist()
    made = backend.cells(avatars(backend.frame({"x": own, "g": ["a", "b", "c"] * 50}), method), "x")
    assert made == [round(value, decimals) for value in made]
    assert {type(value) for value in made} == {type(own[0])}


@pytest.mark.parametrize("protecting", ["exchangeable", "smoothed"])
def test_case_22_extremes_of_fewer_than_k_do_not_appear(backend: Backend, protecting: str) -> None:
    rng = np.random.default_rng(0)
    own = [*rng.normal(50, 5, 190).round(1).tolist(), *[0.1] * 4, *[99.9] * 6]
    frame = backend.frame({"x": own, "y": rng.normal(size=200).tolist()})
    avatarizer = Avatarizer(seed=1, k=5, method=protecting).fit(frame)
    made = [v for r in avatarizer.releases(10) for v in backend.cells(r, "x")]
    ordered = sorted(own)
    assert 0.1 not in made
    least = ordered[4] if protecting == "smoothed" else round(sum(ordered[:5]) / 5, 1)
    assert least > 0.1
    assert min(made) >= least
    assert max(made) == 99.9


def test_case_22_an_extreme_of_few_is_not_rounded_to(backend: Backend) -> None:
    """The mean of the ten least is 18.1, that of the ten largest 89.8."""
    rng = np.random.default_rng(0)
    own = [*rng.integers(25, 70, 180).tolist(), *[18] * 9, 19, *[90] * 8, *[89] * 2]
    frame = backend.frame({"age": own, "y": rng.normal(size=200).tolist()})
    made = {v for r in Avatarizer(seed=1).fit(frame).releases(10) for v in backend.cells(r, "age")}
    assert (min(made), max(made)) == (19, 89)


# ---------------------------------------------------------------- any small table

LABELS = st.text(string.ascii_letters + " é😀'\"\n0", max_size=4)
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "whole": st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20),
    "real": st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-5, 5).map(lambda v: round(v, 2)),
    "truth": st.booleans(),
    "text": LABELS,
    "date": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    "moment": st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
    "span": st.timedeltas(dt.timedelta(-1_000), dt.timedelta(1_000)),
}
DTYPES: dict[str, Any] = {
    "whole": pl.Int64,
    "real": pl.Float64,
    "truth": pl.Boolean,
    "text": pl.String,
    "date": pl.Date,
    "moment": pl.Datetime("us"),
    "span": pl.Duration("us"),
}


@st.composite
def tables(draw: st.DrawFn, least: int = 1, most: int = 60) -> pl.DataFrame:
    """Small tables of any types, with twins, constants and missing values."""
    rows = draw(st.integers(least, most))
    names = draw(st.lists(LABELS.filter(bool), min_size=1, max_size=4, unique=True))
    twins = draw(st.lists(st.integers(0, rows - 1), min_size=rows, max_size=rows) | st.none())
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(sorted(KINDS)))
        few = draw(st.integers(1, 30))
        pool: list[Any] = draw(st.lists(KINDS[kind], min_size=few, max_size=few))
        if draw(st.booleans()):
            pool.append(None)
        # Which value each row has is drawn at once: row by row would be slow.
        rng = np.random.default_rng(draw(st.integers(0, 2**16)))
        cells = [pool[i] for i in rng.integers(0, len(pool), rows)]
        cells = [cells[i] for i in twins] if twins else cells
        columns[name] = pl.Series(cells, dtype=DTYPES[kind])
    return pl.DataFrame(columns)


WAYS = [(one.key, decode) for one in METHODS.values() for decode in one.decodes or (None,)]
"""Methods, and how they may decode categories."""


def as_kind(frame: pl.DataFrame, kind: str) -> Any:
    if kind == "polars":
        return frame
    return (
        frame.to_arrow()
        if kind == "pyarrow"
        else frame.to_pandas(use_pyarrow_extension_array=kind == "arrow-pandas")
    )


def as_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pa.Table):
        return pl.DataFrame(pl.from_arrow(frame))
    return pl.from_pandas(frame) if isinstance(frame, pd.DataFrame) else frame


@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    frame=tables(),
    kind=st.sampled_from(["polars", "pyarrow", "pandas", "arrow-pandas"]),
    method=st.sampled_from(WAYS),
    options=st.fixed_dictionaries(
        {
            "k": st.integers(2, 8),
            "components": st.integers(1, 6),
            "min_level_count": st.none() | st.integers(1, 6),
            "augment": st.integers(1, 2),
        }
    ),
)
def test_any_small_table_gives_avatars_or_a_clear_error(
    frame: pl.DataFrame, kind: str, method: tuple[str, str | None], options: dict[str, Any]
) -> None:
    native = as_kind(frame, kind)
    avatarizer = Avatarizer(seed=0, method=method[0], decode=method[1], **options)
    try:
        avatarizer.fit(native)
    except InputError:
        return
    made = avatarizer.release(0)
    assert type(made) is type(native)
    before, after = as_polars(native), as_polars(made)
    assert after.columns == before.columns
    assert after.dtypes == before.dtypes
    assert after.height == before.height * options["augment"]
    for name in before.columns:
        own, drawn = before[name].drop_nulls(), after[name].drop_nulls()
        assert after[name].null_count() == 0 or before[name].null_count() > 0
        if not len(drawn):
            continue
        if own.dtype in (pl.String, pl.Boolean):
            assert set(drawn) <= set(own)
        else:
            assert own.min() <= drawn.min()  # type: ignore[operator]
            assert drawn.max() <= own.max()  # type: ignore[operator]


def written_out(table: Table) -> Any:
    native = {c.name: written(c, column(table.frame, c.name)) for c in table.columns}
    return assemble(table.frame, native)


@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(frame=tables(), kind=st.sampled_from(["polars", "pyarrow", "pandas", "arrow-pandas"]))
def test_encoding_any_table_is_exact_both_ways(frame: pl.DataFrame, kind: str) -> None:
    """The originals written as if they were avatars are the originals."""
    whole = [column for column, dtype in frame.schema.items() if dtype == pl.Int64]
    narrow = frame.with_columns(pl.col(column) % 2**52 for column in whole)
    native = as_kind(narrow, kind)
    table = Table.of(native)
    again = as_polars(written_out(table))
    assert again.equals(as_polars(native))
    assert again.schema == as_polars(native).schema


def test_encoding_every_type_is_exact_both_ways(backend: Backend, people: People) -> None:
    frame = backend.frame(people())
    table = Table.of(frame)
    assert backend.same(written_out(table), frame)
