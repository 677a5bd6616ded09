"""Columns made coarser before anything else: texts cut short, rare levels written as one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from sosie.data import frames
from sosie.data.frames import Columns, Frame
from sosie.errors import InputError

__all__ = ["cut_short", "levels_as_one"]

Name = Hashable


def cut_short(frame: Frame, lengths: Mapping[Name, int]) -> Frame:
    """The table with only the first characters of some text columns; the input is not changed.

    Parameters
    ----------
    lengths : column -> characters that stay, at least 1.

    Examples
    --------
    >>> import polars as pl
    >>> towns = frames.wrap(pl.DataFrame({"postcode": ["75011", "69003", None]}))
    >>> cut_short(towns, {"postcode": 2})["postcode"].to_list()
    ['75', '69', None]

    Raises
    ------
    InputError
        A column is no text, or the table is larger than memory.
    """
    if not lengths:
        return frame
    _check_in_memory(frame, "--coarsen")
    changed = {}
    for name, length in lengths.items():
        series = frames.column(frame, name)
        if series.dtype in (nw.Categorical, nw.Enum):
            series = series.cast(nw.String)
        elif series.dtype != nw.String:
            raise InputError(
                f"column {name!r} holds {series.dtype}, not text, so it has no first characters"
                " (--coarsen): write it as text first"
            )
        changed[name] = series.str.slice(0, length).to_native()
    return _with(frame, changed)


def levels_as_one(frame: Frame, levels: Mapping[Name, Sequence[str]], value: str) -> Frame:
    """The table with some levels of text columns written as one value.

    Examples
    --------
    >>> import polars as pl
    >>> towns = frames.wrap(pl.DataFrame({"town": ["Lyon", "Die", None]}))
    >>> levels_as_one(towns, {"town": ["Die"]}, "other")["town"].to_list()
    ['Lyon', 'other', None]

    Raises
    ------
    InputError
        The table is larger than memory.
    """
    if not levels:
        return frame
    _check_in_memory(frame, "--rare-as")
    changed = {}
    for name, rare in levels.items():
        series = frames.column(frame, name)
        mask = ~series.is_in(list(rare)).fill_null(False)
        others = nw.new_series("", [value] * len(series), nw.String, backend=series.implementation)
        changed[name] = series.zip_with(mask, others).to_native()
    return _with(frame, changed)


def _check_in_memory(frame: Frame, option: str) -> None:
    if isinstance(frame, Columns):
        raise InputError(f"{option} needs the table in memory: give it more (--memory)")


def _with(frame: Frame, changed: Mapping[Name, Any]) -> Frame:
    native = {
        name: changed[name] if name in changed else frames.column(frame, name).to_native()
        for name in frame.columns
    }
    return frames.wrap(frames.assemble(frame, native))
