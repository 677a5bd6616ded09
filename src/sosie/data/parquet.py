"""Parquet files and folders, read a column at a time."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

import narwhals.stable.v2 as nw

from sosie.data.frames import Columns, Series
from sosie.errors import InputError, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Scan"]

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How folders write a missing value."""


@dataclass(frozen=True)
class Scan(Columns):
    """One table in one or several Parquet files, none of which is held in memory.

    Attributes
    ----------
    files : in the order of their rows.
    counts : rows of each.
    schema : column -> Polars dtype.
    partitions : of each file, the columns that its folders name (``site=a``), with its value.
    """

    files: tuple[Path, ...]
    counts: tuple[int, ...]
    schema: dict[str, Any]
    partitions: tuple[Mapping[str, object], ...] = ()

    @classmethod
    def of(cls, path: Path) -> Self:
        """A Parquet file, or a folder of them (by name, folders within it too).

        Folders named ``column=value`` give a column of that name, after those of the files.

        Files and folders whose names begin with a dot or an underscore are left out, as
        other programs do. A file without rows counts for nothing.

        Raises
        ------
        InputError
            There is no Parquet file or no row, a file can't be read, or its columns are not
            those of the first one; the message names the file.
        """
        import polars as pl

        files = _parts(path) if path.is_dir() else [path]
        if not files:
            raise InputError(f"{path}: there is no Parquet file in this folder")
        schemas = {file: _schema(file) for file in files}
        counts = {file: _rows(file) for file in files}
        held = [file for file in files if counts[file]]
        if not held:
            raise InputError(f"{path}: there are no rows in it")
        schema = _common(schemas)
        if not schema:
            raise InputError(f"{path}: there are no columns in it")
        own = _partitions(path, held, schema)
        for name in own[0] if own else ():
            schema[name] = pl.Series([part[name] for part in own]).dtype
        return cls(tuple(held), tuple(counts[file] for file in held), schema, own)

    def __len__(self) -> int:
        return sum(self.counts)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema)

    def to_native(self) -> Self:
        """Itself: there is no dataframe behind it."""
        return self

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.schema)

    def get_column(self, name: Hashable) -> Series:
        """One column, whole."""
        return nw.from_native(self.column(str(name)), series_only=True)

    def column(self, name: str) -> pl.Series:
        """One column, whole, as Polars has it."""
        series: pl.Series = self.frame([name]).to_series()
        return series

    def frame(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Some columns, or all, of all files."""
        import polars as pl

        wanted = [name for name in self.schema if names is None or name in names]
        parts = [self.part(number, wanted) for number in range(len(self.files))]
        whole: pl.DataFrame = pl.concat(parts, rechunk=True)
        return whole

    def part(self, number: int, names: Sequence[str]) -> pl.DataFrame:
        """Some columns of one file, in the types of all."""
        import polars as pl

        own = self.partitions[number] if self.partitions else {}
        part: pl.DataFrame = _read(self.files[number], [n for n in names if n not in own])
        if not part.width:  # columns of the folders alone
            part = pl.DataFrame({"": pl.repeat(None, self.counts[number], eager=True)})
        part = part.with_columns(pl.lit(own[name]).alias(name) for name in names if name in own)
        return part.select(pl.col(name).cast(self.schema[name]) for name in names)

    def head(self, rows: int) -> pl.DataFrame:
        """The first rows of the first file, at most 10,000."""
        return self._head.head(rows)

    @cached_property
    def sha256(self) -> str:
        """Of the files one after the other, in hexadecimal."""
        digest = sha256()
        for path in self.files:
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    digest.update(part)
        return digest.hexdigest()

    def bytes_per_row(self, names: Sequence[str] | None = None) -> float:
        """What a row takes in memory, of all columns or some, estimated from the first rows."""
        head = self._head if names is None else self._head.select(names)
        return float(head.estimated_size() / max(len(self._head), 1))

    @cached_property
    def _head(self) -> pl.DataFrame:
        import polars as pl

        head: pl.DataFrame = _read(self.files[0], None, rows=10_000)
        own = self.partitions[0] if self.partitions else {}
        columns = [pl.lit(value).cast(self.schema[name]).alias(name) for name, value in own.items()]
        return head.with_columns(columns)


def _parts(folder: Path) -> list[Path]:
    def hidden(path: Path) -> bool:
        return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)

    found = (*folder.rglob("*.parquet"), *folder.rglob("*.pq"))
    return sorted(path for path in found if path.is_file() and not hidden(path))


def _partitions(
    folder: Path, files: Sequence[Path], schema: Mapping[str, Any]
) -> tuple[Mapping[str, object], ...]:
    """Of each file, what its folders say; whole numbers where all values of a column are.

    Raises
    ------
    InputError
        Only some files stand in folders that name a column.
    """
    said: list[dict[str, Any]] = [
        {
            unquote(name): None if value == NOTHING else unquote(value)
            for name, mark, value in (part.partition("=") for part in parts)
            if mark and name and unquote(name) not in schema
        }
        for parts in (
            file.relative_to(folder).parts[:-1] if file != folder else () for file in files
        )
    ]
    names = list(said[0])
    for file, own in zip(files, said, strict=True):
        if list(own) != names:
            raise InputError(
                f"{file}: the folders around it name {quoted(own) or 'no column'}, those around "
                f"{files[0]} name {quoted(names) or 'none'}"
            )
    for name in names:
        present = [own[name] for own in said if own[name] is not None]
        if all(re.fullmatch("-?(?:0|[1-9][0-9]{0,17})", value or "") for value in present):
            for own in said:
                own[name] = None if own[name] is None else int(own[name])
    return tuple(said) if names else ()


def _schema(file: Path) -> dict[str, Any]:
    import polars as pl

    return dict(_careful(file, lambda: pl.read_parquet_schema(file)))


def _rows(file: Path) -> int:
    import polars as pl

    return int(_careful(file, lambda: pl.scan_parquet(file).select(pl.len()).collect().item()))


def _read(file: Path, names: Sequence[str] | None, rows: int | None = None) -> Any:
    import polars as pl

    return _careful(
        file,
        lambda: pl.read_parquet(
            file,
            columns=None if names is None else list(names),
            n_rows=rows,
            hive_partitioning=False,
        ),
    )


def _careful(file: Path, read: Any) -> Any:
    import polars as pl

    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = str(error).strip().split("\n")[0]
        raise InputError(f"{file}: not a readable Parquet file ({first})") from error


def _common(schemas: dict[Path, dict[str, Any]]) -> dict[str, Any]:
    """The columns of all files; one that holds nothing but missing values has no type."""
    import polars as pl

    (first, schema), *others = schemas.items()
    for file, found in others:
        for names, where in ((schema.keys() - found, file), (found.keys() - schema, first)):
            if names:
                raise InputError(f"{where}: column {_least(names)!r} is missing here")
        for name, dtype in found.items():
            if schema[name] == pl.Null:
                schema[name] = dtype
            elif dtype not in (schema[name], pl.Null):
                raise InputError(
                    f"{file}: column {name!r} is {dtype} here and {schema[name]} in {first.name};"
                    " write all files with one type"
                )
    return schema


def _least(names: Iterable[str]) -> str:
    return min(names)
