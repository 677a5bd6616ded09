"""Avatars of Parquet files, into a folder of Parquet files."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sosie.cluster.scheduling import LOCAL, compute, connected, delayed, losses_explained
from sosie.data.atomic import usual_mode
from sosie.data.files import check_apart
from sosie.data.parquet import Scan
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer

__all__ = ["avatarize_folder"]


def avatarize_folder(
    data: Path,
    out: Path,
    avatarizer: Avatarizer,
    *,
    scheduler: str = LOCAL,
    aligned: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Make avatars of Parquet files on a cluster, into a folder of Parquet files.

    Parameters
    ----------
    data : a Parquet file, or a folder of them, that all workers can read.
    out : a folder that is not there yet, where all workers can write.
    scheduler : address of a Dask scheduler; ``local`` starts workers on this machine.
    aligned : also the secret table, row i the avatar of row i, in a folder of its own.

    Raises
    ------
    InputError
        Dask is not installed, the cluster can't be reached, the files can't be used, or a
        folder is there already; nothing is left behind.
    """
    check_apart([data], [out, aligned])
    for folder in (out, aligned):
        if folder is not None and folder.exists():
            raise InputError(f"{folder}: is there already; choose a folder that is not")
        if folder is not None and data.resolve() in folder.resolve().parents:
            raise InputError(f"{folder}: is inside the folder that is read; choose another one")
    scan = Scan.of(data.resolve())
    progress("read")
    with connected(scheduler):
        progress("fit")
        avatarizer.fit(scan, engine=sys.modules["sosie.cluster"])
        progress("draw")
        with ExitStack() as stages:
            staged = {
                folder: stages.enter_context(_stage(folder))
                for folder in (out, aligned)
                if folder is not None
            }
            for folder, stage in staged.items():
                release = avatarizer.release(shuffle=folder is out)
                with losses_explained():
                    dtypes = _pandas_dtypes(scan, list(release.columns))
                    compute(
                        *(
                            delayed(_written)(part, stage / _file_name(number), dtypes)
                            for number, part in enumerate(release.to_delayed())
                        )
                    )
            staged[out].chmod(usual_mode(folder=True))
            for folder, stage in staged.items():
                stage.rename(folder)


def _pandas_dtypes(scan: Scan, names: Sequence[str]) -> bytes | None:
    """What the first file says to pandas of some columns, in JSON; None where it says nothing.

    An index is left out: it is a column like any other.
    """
    from pyarrow import parquet

    known = (parquet.read_schema(scan.files[0]).metadata or {}).get(b"pandas")
    if known is None:
        return None
    said = json.loads(known)
    kept = [column for column in said.get("columns", []) if column.get("name") in names]
    return json.dumps({**said, "columns": kept, "index_columns": []}).encode()


def _written(part: Any, path: Path, dtypes: bytes | None) -> None:
    """Write a partition; pandas reads it in the dtypes that it reads the originals in."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.Table.from_pandas(part, preserve_index=False)
    parquet.write_table(table.replace_schema_metadata(dtypes and {"pandas": dtypes}), path)


def _file_name(part: int) -> str:
    return f"part-{part:06d}.parquet"  # in the order of their names they are in order


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A folder of its owner's beside the final one; it is gone at the end, renamed or not."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left in folder.parent.glob(f".sosie-{folder.name}-*.partial"):
            shutil.rmtree(left, ignore_errors=True)  # of an earlier try that was killed
        stage = Path(
            tempfile.mkdtemp(
                prefix=f".sosie-{folder.name}-", suffix=".partial", dir=folder.parent.resolve()
            )
        )
        try:
            yield stage
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{folder}: can't be written ({error.strerror or error})") from error
