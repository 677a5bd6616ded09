"""Every kind of dataframe from one fixture, and the trial that the articles use."""

from __future__ import annotations

import copy
import datetime as dt
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import settings

# The same examples each time: a test that fails, fails for everyone. The fuzzer looks further.
settings.register_profile("sosie", derandomize=True, database=None, deadline=None)
settings.load_profile("sosie")

ROOT = Path(__file__).resolve().parent.parent
Cells = Sequence[Any]


@dataclass(frozen=True)
class Backend:
    """One kind of dataframe: how a test makes one, and reads one."""

    name: str
    make: Callable[[Mapping[Any, Cells], Sequence[Any]], Any]

    def frame(self, columns: Mapping[Any, Cells], categories: Sequence[Any] = ()) -> Any:
        """A table of Python values, None where missing; some columns as categories."""
        return self.make(columns, categories)

    def names(self, frame: Any) -> list[Any]:
        if isinstance(frame, pd.DataFrame):
            return frame.columns.tolist()
        return list(frame.columns if isinstance(frame, pl.DataFrame) else frame.column_names)

    def dtypes(self, frame: Any) -> list[str]:
        """One text for each dtype; of a category only its kind, since levels may fall away."""
        kinds = frame.schema.types if isinstance(frame, pa.Table) else frame.dtypes
        found = [str(dtype) for dtype in kinds]
        return ["Enum" if dtype.startswith("Enum") else dtype for dtype in found]

    def cells(self, frame: Any, name: Any) -> list[Any]:
        """Python values, None where missing."""
        if isinstance(frame, pd.DataFrame):
            values = frame.iloc[:, self.names(frame).index(name)].tolist()
        elif isinstance(frame, pl.DataFrame):
            values = frame[name].to_list()
        else:
            values = frame.column(name).to_pylist()
        return [None if value is None or pd.isna(value) else value for value in values]

    def same(self, one: Any, other: Any) -> bool:
        """Whether two tables are equal, dtypes included; missing equals missing."""
        if isinstance(one, pd.DataFrame):
            return one.equals(other) and list(one.dtypes) == list(other.dtypes)
        if isinstance(one, pl.DataFrame):
            return one.schema == other.schema and one.equals(other)
        return bool(one.equals(other))

    def copy(self, frame: Any) -> Any:
        """A copy that shares no memory that a test could see change."""
        if isinstance(frame, pa.Table):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, frame.schema) as writer:
                writer.write_table(frame)
            return pa.ipc.open_stream(sink.getvalue()).read_all()
        return frame.clone() if isinstance(frame, pl.DataFrame) else copy.deepcopy(frame)


def _first(cells: Cells) -> Any:
    return next((value for value in cells if value is not None), None)


def _pandas(columns: Mapping[Any, Cells], categories: Sequence[Any]) -> pd.DataFrame:
    """What `pandas.read_csv` users have: NumPy dtypes, integers with missing as floats."""
    made = {}
    for name, cells in columns.items():
        one, holes = _first(cells), None in cells
        dtype: str | type | None = None
        if isinstance(one, bool | Decimal | dt.time):
            dtype = object if holes or not isinstance(one, bool) else bool
        elif isinstance(one, int):
            dtype = "float64" if holes else "int64"
        elif isinstance(one, dt.date):
            dtype = "datetime64[ns]" if isinstance(one, dt.datetime) else "datetime64[s]"
            if getattr(one, "tzinfo", None):
                dtype = pd.DatetimeTZDtype("ns", one.tzinfo)
        elif isinstance(one, dt.timedelta):
            dtype = "timedelta64[us]"
        made[name] = pd.Series(list(cells), dtype="category" if name in categories else dtype)
    return pd.DataFrame(made)


def _nullable(columns: Mapping[Any, Cells], categories: Sequence[Any]) -> pd.DataFrame:
    frame = _pandas(columns, categories)
    wanted = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}
    for name, cells in columns.items():
        kind = type(_first(cells))
        if kind in wanted and name not in categories:
            frame[name] = pd.array(list(cells), dtype=wanted[kind])
    return frame


def _object(columns: Mapping[Any, Cells], categories: Sequence[Any]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(list(c), dtype=object) for name, c in columns.items()})


def _array(cells: Cells, category: bool) -> pa.Array:
    array = pa.array(list(cells))
    return array.dictionary_encode() if category else array


def _pyarrow(columns: Mapping[Any, Cells], categories: Sequence[Any]) -> pa.Table:
    return pa.table({name: _array(cells, name in categories) for name, cells in columns.items()})


def _arrow_pandas(columns: Mapping[Any, Cells], categories: Sequence[Any]) -> pd.DataFrame:
    arrays = {name: _array(cells, name in categories) for name, cells in columns.items()}
    return pd.DataFrame(
        {name: pd.Series(pd.arrays.ArrowExtensionArray(array)) for name, array in arrays.items()}
    )


def _polars(columns: Mapping[Any, Cells], categories: Sequence[Any]) -> pl.DataFrame:
    made = {}
    for name, cells in columns.items():
        zone = getattr(_first(cells), "tzinfo", None)
        naive = [c and c.astimezone(dt.UTC).replace(tzinfo=None) for c in cells] if zone else cells
        series = pl.Series(list(naive), strict=False)
        if zone is not None:
            series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(str(zone))
        made[name] = series.cast(pl.Categorical) if name in categories else series
    return pl.DataFrame(made)


BACKENDS = [
    Backend("pandas", _pandas),
    Backend("pandas-nullable", _nullable),
    Backend("pandas-pyarrow", _arrow_pandas),
    Backend("pandas-object", _object),
    Backend("polars", _polars),
    Backend("pyarrow", _pyarrow),
]


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each kind of dataframe in turn."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=[b for b in BACKENDS if "pandas" in b.name], ids=lambda b: b.name)
def any_pandas(request: pytest.FixtureRequest) -> Backend:
    """Each kind of pandas dataframe in turn."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def people() -> Callable[..., dict[str, list[Any]]]:
    """Makes columns of every type, related to each other, with missing values."""
    return _people


def _people(rows: int = 200, seed: int = 0, missing: float = 0.1) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows)
    day, noon = dt.date(2020, 1, 1), dt.datetime(2021, 3, 1, 12)

    def holed(cells: Sequence[Any]) -> list[Any]:
        lost = rng.random(rows) < missing
        return [None if gone else cell for cell, gone in zip(cells, lost, strict=True)]

    level = np.clip(np.rint(hidden + 1), 0, 2).astype(int)
    return {
        "age": holed([int(v) for v in np.rint(50 + 10 * hidden + rng.normal(0, 5, rows))]),
        "weight": holed([round(float(v), 1) for v in 70 + 8 * hidden + rng.normal(0, 6, rows)]),
        "dose": holed([Decimal(int(v)) / 100 for v in 5_000 + 900 * rng.normal(size=rows)]),
        "smoker": holed([bool(v) for v in hidden + rng.normal(size=rows) > 0]),
        "stage": holed([("low", "middle", "high")[v] for v in level]),
        "site": holed([("north", "south", "east")[v] for v in rng.integers(0, 3, rows)]),
        "seen": holed([day + dt.timedelta(days=int(v)) for v in rng.integers(0, 900, rows)]),
        "admitted": holed(
            [noon + dt.timedelta(seconds=int(v)) for v in rng.integers(0, 10**7, rows)]
        ),
        "stay": holed([dt.timedelta(hours=int(v)) for v in rng.integers(1, 400, rows)]),
    }


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of public tables; they are not part of the project."""
    folder = Path(os.environ.get("SOSIE_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "actg175.csv").exists():
        pytest.skip(f"no actg175.csv in {folder}; set SOSIE_TEST_DATA to the folder that has it")
    return folder


@pytest.fixture(scope="session")
def actg175(test_data: Path) -> pl.DataFrame:
    """The 24 variables of ACTG 175 that the articles use, 2,139 people."""
    table = pl.read_csv(test_data / "actg175.csv", separator=";", null_values="NA")
    return table.drop("pidnum", "cd496", "r")
