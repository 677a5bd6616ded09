"""A run's folder: its JSON files, read and checked, and nothing else of it."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from sosie.errors import InputError

__all__ = ["RunFolder", "read_folder"]

Json = dict[str, Any]

_NUMBER = int | float | None
_NAMES: Mapping[object, str] = {
    str: "text",
    int: "a whole number",
    dict: "an object",
    list: "a list",
    _NUMBER: "a number or null",
}
# What the report needs of each file. A leaf is the type a value must have; a dict asks for its
# keys ("*": for every key there is), a list of one dict asks the same of every item.
_METRICS = {"*": {"value": _NUMBER}}
_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "run": {
        "version": str,
        "created": str,
        "data": {"name": str, "rows": int, "columns": int},
        "parameters": dict,
        "columns": [{"name": object}],
        "warnings": list,
        "what_if_kept": [{"column": object, "distinct": int, "protection": _NUMBER}],
        "figures": {"distributions": [{"column": object, "originals": list, "avatars": list}]},
    },
    "audit": {"privacy": _METRICS, "utility": _METRICS},
    "attack": {
        "results": [{"scenario": str, "estimator": str, "rate": _NUMBER}],
        "strongest": {"*": {"rate": _NUMBER}},
    },
    "analyses": {
        "releases": int,
        "combination": str,
        "agreement": {"terms": int, "inside": int},
        "analyses": [{"text": str, "model": str, "terms": list}],
    },
    "tune": {
        "rows": int,
        "columns": int,
        "releases": int,
        "decode": str,
        "wanted": int,
        "digest": str,
        "trials": [{"k": int, "method": str, "components": int, "metrics": _METRICS}],
    },
}
_SCHEMA = 1


class RunFolder(NamedTuple):
    """What a run's JSON files say; the arguments of :func:`sosie.report.build`."""

    run: Json
    audit: Json
    attack: Json | None
    tune: Json | None = None
    analyses: Json | None = None


def read_folder(folder: Path | str) -> RunFolder:
    """Read ``run.json``, ``audit.json`` and, where they exist, the other JSON files of a run.

    Raises
    ------
    InputError
        A file is missing, truncated, not what it should be or from a newer sosie; the message
        names the file.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder that `sosie run` has made")
    found = RunFolder(
        run=_read(folder / "run.json", "run"),
        audit=_read(folder / "audit.json", "audit"),
        attack=_read_any(folder / "attack.json", "attack"),
        tune=_read_any(folder / "tune.json", "tune"),
        analyses=_read_any(folder / "analyses.json", "analyses"),
    )
    swept = found.tune
    if swept is not None and (
        swept["rows"] != found.run["data"]["rows"]
        or swept["columns"] != found.audit.get("columns", swept["columns"])
    ):
        raise InputError(
            f"{folder / 'tune.json'}: a sweep of another table ({swept['rows']} rows,"
            f" {swept['columns']} columns); remove it or run sosie tune again"
        )
    return found


def _read_any(path: Path, kind: str) -> Json | None:
    return _read(path, kind) if path.exists() else None


def _read(path: Path, kind: str) -> Json:
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; is this the folder of a run?") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON, perhaps truncated ({_line(error)})") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: not the {kind} file of a run (an object was expected)")
    _check_schema(path, kind, content.get("schema"))
    for fault in _faults(content, _SHAPES[kind], ""):
        raise InputError(f"{path}: {fault}")
    return content


def _check_schema(path: Path, kind: str, schema: object) -> None:
    name, _, number = str(schema).rpartition("/")
    if name != f"sosie/{kind}" or not number.isdecimal():
        raise InputError(
            f"{path}: not the {kind} file of a run (its schema is {reprlib.repr(schema)})"
        )
    if int(number) > _SCHEMA:
        raise InputError(
            f"{path}: written by a newer sosie (schema {schema}, this one reads "
            f"sosie/{kind}/{_SCHEMA}); update sosie"
        )


def _faults(content: Mapping[str, Any], shape: Mapping[str, Any], where: str) -> Iterator[str]:
    keys = content if "*" in shape else shape
    for key in keys:
        if key not in content:
            yield f"'{where}{key}' is missing"
        else:
            yield from _faults_of(content[key], shape.get(key, shape.get("*")), f"{where}{key}")


def _faults_of(value: object, wanted: Any, where: str) -> Iterator[str]:
    plain = type(wanted) if isinstance(wanted, dict | list) else wanted
    if not isinstance(value, plain) or (isinstance(value, bool) and plain is not object):
        yield f"'{where}' should be {_NAMES[plain]}"
    elif isinstance(value, dict) and isinstance(wanted, dict):
        yield from _faults(value, wanted, f"{where}.")
    elif isinstance(value, list) and isinstance(wanted, list):
        for position, item in enumerate(value):
            yield from _faults_of(item, wanted[0], f"{where}[{position}]")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _line(error: Exception) -> str:
    return str(error).replace("\n", " ")
