"""Files in and out: told apart by what they hold, and whole or not at all."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sosie.data.csv_dialect import Dialect
from sosie.data.files import check_apart, check_format, read, write
from sosie.errors import InputError

TABLE = pl.DataFrame({"age": [61, 47, None], "sex": ["F", None, "M"], "dose": [1.5, 2.0, 0.25]})


def saved(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path


def parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


# ---------------------------------------------------------------- in


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.pq", "x", "x.txt"])
def test_a_parquet_file_is_known_by_what_it_holds(tmp_path: Path, name: str) -> None:
    file = read(saved(tmp_path / name, parquet(TABLE)))
    assert_frame_equal(file.frame, TABLE)
    assert file.dialect is None


def test_a_csv_may_begin_like_a_parquet_file(tmp_path: Path) -> None:
    assert read(saved(tmp_path / "x.csv", b"PAR1,b\n1,2\n")).frame.columns == ["PAR1", "b"]


@pytest.mark.parametrize(
    "name", ["data[1].csv", "a*b?.csv", "~x.csv", "-o.csv", "é 🩺.csv", "x=1.csv", "{a,b}.csv"]
)
def test_names_are_no_patterns(tmp_path: Path, name: str) -> None:
    assert read(saved(tmp_path / name, b"a,b\n1,2\n")).frame.shape == (1, 2)
    assert read(saved(tmp_path / f"{name}.parquet", parquet(TABLE))).frame.shape == (3, 3)


def test_the_hash_is_that_of_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.csv", b"a,b\n1,2\n")
    assert read(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_plain_type_of_parquet_comes_back(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "small": pl.Series([1, None], dtype=pl.Int8),
            "unsigned": pl.Series([2**63, 1], dtype=pl.UInt64),
            "single": pl.Series([0.1, None], dtype=pl.Float32),
            "money": pl.Series([Decimal("1.50"), None], dtype=pl.Decimal(10, 2)),
            "day": [dt.date(2020, 2, 29), None],
            "moment": pl.Series([dt.datetime(2020, 1, 1), None], dtype=pl.Datetime("ms", "UTC")),
            "time": [dt.time(10), None],
            "span": [dt.timedelta(1), None],
            "level": pl.Series(["a", None], dtype=pl.Categorical),
            "fixed": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
            "flag": [True, None],
        }
    )
    write(frame, tmp_path / "x.parquet")
    assert_frame_equal(read(tmp_path / "x.parquet").frame, frame)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.csv: there is no such file"):
        read(tmp_path / "x.csv")
    with pytest.raises(InputError, match="there is no Parquet file in this folder"):
        read(tmp_path)
    with pytest.raises(InputError, match="can't be read"):
        read(tmp_path / ("x" * 300))
    with pytest.raises(InputError, match="can't be read"):
        read(tmp_path / "a\x00b")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "x.csv", b"a,b\n1,2\n")

    def refuses(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuses)
    with pytest.raises(InputError, match=r"x\.csv: can't be read \(Permission denied\)"):
        read(path)


def test_a_parquet_file_that_is_none(tmp_path: Path) -> None:
    for raw in (b"", b"PAR1", b"a,b\n1,2\n", b"PAR1" + b"\x00" * 50 + b"PAR1"):
        with pytest.raises(InputError, match="not a readable Parquet file"):
            read(saved(tmp_path / "x.parquet", raw))


def test_a_parquet_file_with_nothing_in_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no rows in it"):
        read(saved(tmp_path / "x.parquet", parquet(TABLE[:0])))
    with pytest.raises(InputError, match="there are no columns in it"):
        read(saved(tmp_path / "x.parquet", parquet(pl.DataFrame())))


def test_a_truncated_or_damaged_parquet_file(tmp_path: Path) -> None:
    raw = parquet(pl.concat([TABLE] * 50))
    path = tmp_path / "x.parquet"
    for place in range(0, len(raw), max(len(raw) // 60, 1)):
        damaged = [raw[:place], raw[:place] + bytes([raw[place] ^ 0x55]) + raw[place + 1 :]]
        for content in damaged:
            try:
                read(saved(path, content))
            except InputError as error:
                assert str(error).startswith(str(path))  # noqa: PT017 (either is right)


# ---------------------------------------------------------------- out


@pytest.mark.parametrize("name", ["x.csv", "x.txt", "x.tsv", "x.parquet", "x.PARQUET"])
def test_case_29_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    write(TABLE, tmp_path / name)
    assert_frame_equal(read(tmp_path / name).frame, TABLE)


def test_the_usual_dialect() -> None:
    assert Dialect() == Dialect(",", False, "utf-8", "\n", "", "necessary", {})


def test_tabs_where_the_name_says_so(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "x.tsv")
    assert (tmp_path / "x.tsv").read_bytes().startswith(b"age\tsex")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_case_30_a_disk_that_fills_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Both writers of Polars tell it in their own way; the previous file stays."""
    write(TABLE, tmp_path / name)
    before = (tmp_path / name).read_bytes()

    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

        def fileno(self) -> int:
            raise io.UnsupportedOperation

    real = os.fdopen

    def opened(descriptor: int, *_: object) -> Full:
        real(descriptor, "wb").close()
        return Full()

    monkeypatch.setattr(os, "fdopen", opened)
    with pytest.raises(InputError) as refused:
        write(pl.concat([TABLE] * 1000), tmp_path / name)
    assert str(refused.value).startswith(f"{tmp_path / name}: can't be written (")
    assert "No space left on device" in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="only root mounts a small disk"
)
@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_case_30_a_small_disk_that_fills_up(tmp_path: Path, name: str) -> None:
    small = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(small, check=False, capture_output=True).returncode:
        pytest.skip("a small disk can't be mounted here")
    try:
        write(TABLE, tmp_path / name)
        before = (tmp_path / name).read_bytes()
        large = pl.DataFrame({"a": [i * 0.123456789 for i in range(20_000)]})
        with pytest.raises(InputError, match="No space left on device"):
            write(large, tmp_path / name)
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_bytes() == before
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_nested_columns_can_not_be_written_as_csv(tmp_path: Path) -> None:
    nested = pl.DataFrame({"a": [[1, 2], [3]]})
    write(nested, tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.csv: can't be written"):
        write(nested, tmp_path / "x.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


def test_a_level_that_no_row_has_is_not_in_the_file(tmp_path: Path) -> None:
    """Only the values that are written: no statistics or categories of what they came from."""
    write(TABLE, tmp_path / "x.parquet")
    assert b"Enum" not in (tmp_path / "x.parquet").read_bytes()
    assert str(tmp_path).encode() not in (tmp_path / "x.parquet").read_bytes()


# ---------------------------------------------------------------- names


def test_a_name_says_how_a_table_is_written(tmp_path: Path) -> None:
    for name in ("x.csv", "x.CSV", "x.txt", "x.tsv", "x.parquet", "x.pq", "x.xlsx"):
        check_format(tmp_path / name)
    for name in ("x", "x.xls", "x.json", "csv"):
        with pytest.raises(InputError, match="the name must end in "):
            check_format(tmp_path / name)


def test_nothing_read_is_overwritten(tmp_path: Path) -> None:
    data = saved(tmp_path / "x.csv", b"a,b\n1,2\n")
    link = tmp_path / "link.csv"
    link.symlink_to(data)
    check_apart([data, None], [tmp_path / "y.csv", None])
    for path in (data, link, tmp_path / "." / "x.csv", tmp_path / "no" / ".." / "x.csv"):
        with pytest.raises(InputError, match="this would overwrite a file that is read"):
            check_apart([data], [path])
    with pytest.raises(InputError, match="or written already"):
        check_apart([], [tmp_path / "y", tmp_path / "y"])
