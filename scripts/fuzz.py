"""Feed damaged files to all that reads a file; a fault is told, and what caused it is kept.

Each case is a pure function of its number, so that a fault can be seen again:

    python scripts/fuzz.py csv --seconds 600 --keep FOLDER
    python scripts/fuzz.py csv --only 4711

Cases run in a process of their own: a library that aborts, or never ends, is told like any
other fault. Right is a result or an `InputError`, nothing else.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 120
"""Seconds that one case may take."""

MEMORY = 6 << 30
"""Bytes of addresses that a case may use."""

Case = Callable[[random.Random], bytes]
Check = Callable[[bytes, Path], None]


def require(truth: bool) -> None:
    """Raise AssertionError where what must be true is not."""
    if not truth:
        raise AssertionError


# ---------------------------------------------------------------- bytes

SEPARATORS = (",", ";", "\t", "|")
CELLS = (
    *("", " ", "NA", "nan", "NULL", ".", "0", "1", "-1", "01", "+5", "1.5", "1,5", "1e5", "1E+5"),
    *("inf", "-Infinity", "1.234,56", "1,234.56", "99999999999999999999", "1e999", "5e-324"),
    *("true", "false", "2020-01-01", "2020-02-30", "01/02/2020", "2020-01-01T10:00", "9999-12-31"),
    *('"', '""', "a", "é", "😀", "\u2028", "\ufeff", "\x85", "x" * 300, "=1+1", "'", "\\"),
)
PIECES = (
    b'"',
    b"\n",
    b"\r\n",
    b"\r",
    b",",
    b";",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\x80",
    b"  ",
)
BLOCKS = (b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\xff\xfe", b"sep=;\n", b'""', b",,,,,", b"\n\n\n")


def damaged(rng: random.Random, raw: bytes, most: int = 8) -> bytes:
    """Bytes cut, changed, doubled, taken out or put in at a few places."""
    for _ in range(rng.randint(0, most)):
        start = rng.randint(0, len(raw))
        end = min(len(raw), start + rng.choice((1, 1, 1, 2, 4, 8, 64)))
        raw = rng.choice(
            (
                raw[:start] + bytes(rng.randrange(256) for _ in range(end - start)) + raw[end:],
                raw[:start] + raw[end:],
                raw[:end] + raw[start:],
                raw[:start] + rng.choice((*PIECES, *BLOCKS)) + raw[start:],
                raw[:start] if rng.random() < 0.2 else raw,
                raw[:start] + bytes([raw[start] ^ 1 << rng.randrange(8)]) + raw[start + 1 :]
                if start < len(raw)
                else raw,
            )
        )
    return raw


# ---------------------------------------------------------------- CSV


def csv_case(rng: random.Random) -> bytes:
    """A table as some program would write it, then damaged or not."""
    separator, end = rng.choice(SEPARATORS), rng.choice(("\n", "\n", "\r\n", "\r"))
    width, rows = rng.choice((1, 1, 2, 3, 5)), rng.choice((0, 1, 2, 3, 30, 150))
    pools = [rng.sample(CELLS, rng.randint(1, 6)) for _ in range(width)]
    names = rng.sample(CELLS, width) if rng.random() < 0.3 else [f"c{i}" for i in range(width)]

    def cell(text: str) -> str:
        quoted = rng.random() < 0.1 or separator in text or '"' in text
        return '"' + text.replace('"', '""') + '"' if quoted and rng.random() < 0.95 else text

    lines = [names, *([rng.choice(pool) for pool in pools] for _ in range(rows))]
    trailing = separator if rng.random() < 0.1 else ""
    text = end.join(separator.join(map(cell, line)) + trailing for line in lines)
    text += end * rng.choice((0, 1, 1, 2))
    encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"))
    raw = text.encode(encoding, "replace")
    return damaged(rng, raw) if rng.random() < 0.7 else raw


def csv_check(raw: bytes, folder: Path) -> None:
    """What is read is written so that it is read alike, and has avatars or a clear error."""
    from polars.testing import assert_frame_equal

    from sosie.data.files import read, write
    from sosie.generate.avatarizer import Avatarizer

    (folder / "x.csv").write_bytes(raw)
    file = read(folder / "x.csv")
    require(file.frame.height > 0)
    write(file.frame, folder / "y.csv", file.dialect)
    again = read(folder / "y.csv", file.dialect.separator if file.dialect else None)
    infinite = any(c.is_infinite().any() for c in file.frame if c.dtype.is_float())
    marked = file.frame.columns[0].startswith("ï»¿")  # in Windows-1252, a mark of byte order
    if not infinite and not marked:  # what is infinite is refused below
        assert_frame_equal(again.frame, file.frame)
    Avatarizer(k=1, seed=1).fit(file.frame).release()


# ---------------------------------------------------------------- Parquet


def parquet_case(rng: random.Random) -> bytes:
    """A file as Polars or pyarrow writes it, then damaged: in its footer more often than not."""
    raw = bytearray(rng.choice(parquet_seeds()))
    footer = int.from_bytes(raw[-8:-4], "little") + 8
    low = max(len(raw) - footer, 0) if rng.random() < 0.6 else 0
    return bytes(raw[:low]) + damaged(rng, bytes(raw[low:]), 4)


WRITTEN: dict[str, Any] = {"use_dictionary": False, "version": "1.0", "data_page_version": "2.0"}


@cache
def parquet_seeds() -> list[bytes]:
    """Small files of many types, encodings and compressions."""
    import datetime as dt

    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 40
    frame = pl.DataFrame(
        {
            "whole": [None if i % 7 == 3 else i * i for i in range(rows)],
            "real": [i / 7 for i in range(rows)],
            "text": [f"level {i % 3}" for i in range(rows)],
            "truth": [i % 2 == 0 for i in range(rows)],
            "day": [dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(rows)],
            "moment": [dt.datetime(2020, 1, 1) + dt.timedelta(hours=i) for i in range(rows)],
        }
    )
    frame = frame.with_columns(level=pl.col("text").cast(pl.Categorical))
    made = []
    for compression in ("uncompressed", "snappy", "zstd", "gzip"):
        file = io.BytesIO()
        frame.write_parquet(file, compression=compression)
        made.append(file.getvalue())
    plain = frame.drop("level").to_arrow()
    nested = plain.append_column("list", pa.array([[i, i] for i in range(rows)]))
    for table in (plain, nested):
        for option in ("use_dictionary", "version", "data_page_version"):
            file = io.BytesIO()
            pq.write_table(table, file, **{option: WRITTEN[option]})
            made.append(file.getvalue())
    return made


def parquet_check(raw: bytes, folder: Path) -> None:
    """What is read has avatars or a clear error."""
    from sosie.data.files import read
    from sosie.generate.avatarizer import Avatarizer

    (folder / "x.parquet").write_bytes(raw)
    file = read(folder / "x.parquet")
    require(file.frame.height > 0)
    Avatarizer(k=1, seed=1).fit(file.frame).release()


# ---------------------------------------------------------------- JSON

SCRIPT = "</script><b id=zqx>"
STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, 1e308, -1e-300, 2**70, "", "a", "NaN", SCRIPT),
    *("2020-01-01", [], {}, [[]], [None], [0], {"": 0}, {"value": None}, "\ud800", "\x00"),
)


def changed(rng: random.Random, value: Any, times: int) -> Any:
    """JSON with some values replaced, left out, repeated or put elsewhere."""
    for _ in range(times):
        value = _changed(rng, value)
    return value


def _changed(rng: random.Random, value: Any) -> Any:
    keys: list[Any] = []
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys or rng.random() < 0.1:
        return rng.choice(STRANGE)
    key = rng.choice(keys)
    what = rng.random()
    made: Any = value.copy()
    if what < 0.1:
        del made[key]
    elif what < 0.2:
        other = rng.choice(keys)
        made[key], made[other] = made[other], made[key]
    elif what < 0.25 and isinstance(made, dict):
        made[rng.choice(("", "zq", SCRIPT, "value"))] = made.pop(key)
    elif what < 0.25:
        made *= 2
    elif what < 0.35:
        made[key] = rng.choice(STRANGE)
    else:
        made[key] = _changed(rng, made[key])
    return made


@cache
def originals() -> dict[str, str]:
    """What a run's JSON files say, from the tests of the report, on fewer columns."""
    sys.path.insert(0, str(ROOT / "tests"))
    report_fixture = import_module("report_fixture")
    run = report_fixture.run()
    run["figures"]["distributions"] = run["figures"]["distributions"][::5]
    audit = report_fixture.audit() | {"context": report_fixture.context()}
    every = {
        "run": run,
        "audit": audit,
        "attack": report_fixture.attack(),
        "tune": report_fixture.tune(),
    }
    return {name: json.dumps(content) for name, content in every.items()}


def json_case(rng: random.Random) -> bytes:
    """Four JSON files, one of them changed: as JSON or as bytes."""
    name = rng.choice(tuple(originals()))
    raw = json.dumps(changed(rng, json.loads(originals()[name]), rng.randint(1, 3))).encode()
    if rng.random() < 0.2:
        raw = damaged(rng, raw)
    if rng.random() < 0.02:
        raw = b'{"a":' * 5000 + raw
    return json.dumps({"name": name, "raw": raw.decode("latin-1")}).encode()


def json_check(raw: bytes, folder: Path) -> None:
    """A page, a document, an assessment and one JSON file, in which texts stay texts."""
    from sosie.jobs.export import Exports, export

    case = json.loads(raw)
    for name, content in originals().items():
        (folder / f"{name}.json").write_text(content, encoding="utf-8")
    (folder / f"{case['name']}.json").write_bytes(case["raw"].encode("latin-1"))
    # Drawing a document takes seconds: one in twenty.
    document = folder / "x.docx" if len(raw) % 20 == 0 else None
    wanted = Exports(folder / "x.html", document, folder / "x.json", folder / "y.json")
    export(folder, wanted, language="fr" if len(raw) % 2 else "en")
    text = (folder / "x.html").read_text(encoding="utf-8")
    require(SCRIPT not in text)


# ---------------------------------------------------------------- TOML

CONTEXT = """\
name = "our registry"
recipient = "contract"
sensitivity = "high"
releases = 3
purpose = "Teaching"
controller = "The hospital"
recipients = ["Students", "Teachers"]
measures = ["Accounts by name"]
residual_risk = "A teacher may recognise a profile."

[holders]
controller = "all"
profile = "a relative"

[likelihood]
holder = "profile"
negligible = 5
limited = 9
important = 33
source = "Our policy"

[severity]
level = "limited"
why = "Old data."

[[targets]]
column_direct_match_protection = 60
closest_rate = false

[[targets]]
when = { sensitivity = "high", releases = 2 }
membership = 0.55
"""
WORDS = (
    *("= nan", "= inf", "= -1", "= 1e999", "= true", "= []", "= {}", "= 1979-05-27", "= 0x1f"),
    *('= ""', "= [[]]", '= "\\u0000"', "= 99999999999999999999999", "[[targets]]", "[severity]"),
    *("when = 3", "when = { releases = 0 }", "hidden_rate = nan", "a.b.c = 1", '"" = 1', "[[a]]"),
)


def toml_case(rng: random.Random) -> bytes:
    """A context with lines left out, moved or changed, then damaged or not."""
    lines = CONTEXT.split("\n")
    for _ in range(rng.randint(0, 5)):
        place = rng.randrange(len(lines))
        word = rng.choice(WORDS)
        if word.startswith("="):
            lines[place] = lines[place].partition("=")[0] + word
        elif rng.random() < 0.5:
            lines[place] = word
        else:
            lines.insert(rng.randrange(len(lines)), lines.pop(place))
    raw = "\n".join(lines).encode()
    if rng.random() < 0.3:
        raw = damaged(rng, raw)
    if rng.random() < 0.01:
        raw += b"\nx = " + b"[" * 20_000
    return raw


def toml_check(raw: bytes, folder: Path) -> None:
    """A context judges metrics and is told as JSON, or is refused."""
    import polars as pl

    from sosie.audits.audit import audit
    from sosie.audits.context import Context

    (folder / "x.toml").write_bytes(raw)
    context = Context.of(file=folder / "x.toml")
    frame = pl.DataFrame({"x": [float(i * i) for i in range(12)]})
    found = audit(frame, frame, aligned=True, context=context, metrics=["hidden_rate"])
    json.dumps(found.to_dict(), allow_nan=False)


TARGETS: dict[str, tuple[Case, Check]] = {
    "csv": (csv_case, csv_check),
    "parquet": (parquet_case, parquet_check),
    "json": (json_case, json_check),
    "toml": (toml_case, toml_check),
}


def made(target: str, number: int) -> bytes:
    """The case of that number."""
    return TARGETS[target][0](random.Random(f"{target} {number}"))  # noqa: S311 (no secret)


def fault_of(target: str, raw: bytes) -> str | None:
    """What went wrong with a case, or None."""
    import warnings

    from sosie.errors import InputError

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[target][1](raw, Path(folder))
        except InputError as error:
            text = str(error)
            return None if text and len(text) < 4000 else f"an error of {len(text)} characters"
        except BaseException:  # noqa: BLE001 (whatever it is, it is a fault)
            return traceback.format_exc()
    return None


# ---------------------------------------------------------------- processes


def _work(target: str, told: Connection) -> None:
    """Cases in a process of their own, until it is told no more numbers."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)
    fault_of(target, made(target, 0))  # what is loaded on first use
    told.send(None)
    with suppress(EOFError):
        while True:
            told.send(fault_of(target, made(target, told.recv())))


class Worker:
    """A process that tries cases, and is replaced where one ends it."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(self.target, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def fault(self, number: int) -> str | None:
        self.pipe.send(number)
        try:
            if self.pipe.poll(LONGEST):
                found: str | None = self.pipe.recv()
                return found
            self.process.kill()
            why = f"it took more than {LONGEST} s"
        except EOFError:
            self.process.join()
            why = f"the process ended with {_code(self.process.exitcode)}"
        self.process.join()
        self.start()
        return why

    def stop(self) -> None:
        self.pipe.close()
        self.process.join()


def _code(code: int | None) -> str:
    return str(code) if code is None or code >= 0 else signal.Signals(-code).name


def main() -> int:
    """Run cases for a while; the status is 1 where there was a fault."""
    parser = argparse.ArgumentParser(description="Feed damaged files to all that reads a file.")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, help="try this case alone, here")
    parser.add_argument("--keep", type=Path, help="folder for the cases that went wrong")
    given = parser.parse_args()
    if given.only is not None:
        raw = made(given.target, given.only)
        print(raw[:2000])
        print(fault_of(given.target, raw))
        return 0
    worker, faults, number = Worker(given.target), 0, given.first
    seen: set[str] = set()
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        found = worker.fault(number)
        if found is not None:
            faults += 1
            last = "\n".join(found.strip().split("\n")[-5:])
            if last not in seen:
                print(f"case {number}:\n{last}\n", flush=True)
            seen.add(last)
            if given.keep is not None:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{given.target}-{number}").write_bytes(made(given.target, number))
        number += 1
    worker.stop()
    print(
        f"{given.target}: {number - given.first} cases, {faults} faults, {len(seen)} of them unlike"
    )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
