"""A file from the browser, streamed to disk within what is free there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl

from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from sosie.data.atomic import OWNER_FOLDER
from sosie.errors import InputError

__all__ = ["TooLargeError", "fields", "limit", "receive"]

RESERVE = 500_000_000
"""Bytes of the disk that stay free."""

TIMES = 4
"""A run writes about as much as it reads, twice, and twice while it does."""

LARGEST_FORM = 8_000_000
"""Bytes of a form without a file: the choices of a page of columns are far fewer."""

MOST_FIELDS = 5_000
LONGEST_NAME = 100


class TooLargeError(InputError):
    """More was sent than there is room for."""


def limit(folder: Path) -> int:
    """Bytes that may be sent: a run of them must still fit on the disk."""
    return max((shutil.disk_usage(folder).free - RESERVE) // TIMES, 0)


async def fields(request: Request) -> Mapping[str, str]:
    """The fields of a form without a file; of several of one name, the last.

    Raises
    ------
    TooLargeError
        It is larger than any of ours.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_FORM:
            raise TooLargeError(f"a form of more than {LARGEST_FORM:,} bytes")
    text = body.decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise TooLargeError(f"a form of more than {MOST_FIELDS:,} fields") from error


def plain(name: str) -> str:
    r"""A file's name without folders or what has a meaning there.

    >>> plain("../../etc/pass wd.csv"), plain("C:\\data\\people.csv"), plain("..")
    ('pass wd.csv', 'people.csv', 'table')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = "".join(c for c in last if c.isprintable() and c not in '<>:"|?*').strip(" .")
    stem, dot, suffix = kept.rpartition(".")
    return f"{stem[:LONGEST_NAME]}{dot}{suffix[:12]}" if stem else kept[:LONGEST_NAME] or "table"


class _Parts:
    """Writes the first file of a form as it comes."""

    def __init__(self, folder: Path) -> None:
        self.path: Path | None = None
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._name, self._value = b"", b""
        self._disposition = b""

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header,
            "on_headers_finished": self._open,
            "on_part_data": self._write,
            "on_part_end": self.close,
        }

    def _begin(self) -> None:
        self._disposition = b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = self._value
        self._name, self._value = b"", b""

    def _open(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"filename", b"").decode("utf-8", "replace")
        if name and self.path is None:
            self._folder.mkdir(mode=OWNER_FOLDER)
            self.path = self._folder / plain(name)
            self._file = self.path.open("xb")

    def _write(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


async def receive(request: Request, folder: Path) -> Path:
    """Write the file of a form into a new folder.

    Raises
    ------
    InputError
        The form holds no file, or is none.
    TooLargeError
        It is larger than the room there is; nothing of it is kept by the caller's doing.
    OSError
        It can't be written.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InputError("the form holds no file")
    most = limit(folder.parent)
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        raise _too_large(most)
    parts = _Parts(folder)
    parser = MultipartParser(boundary, parts.callbacks())  # type: ignore[arg-type]
    size = 0
    try:
        async for data in request.stream():
            size += len(data)
            if size > most:
                raise _too_large(most)
            parser.write(data)
        parser.finalize()
    except ValueError as error:  # what is no form
        raise InputError(f"the form can't be read ({error})") from error
    finally:
        parts.close()
    if parts.path is None:
        raise InputError("choose a file first")
    return parts.path


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(
        f"the file is larger than the {most / 1e9:.1f} GB that there is room for: free some disk,"
        " or give its path instead"
    )
