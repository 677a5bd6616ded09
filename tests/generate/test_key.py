"""The key of a table: releases that share it share their groups; another table is noticed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie.errors import SosieWarning
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods.exchangeable import ExchangeableFitted
from sosie.generate.secrets import read_key, write_secrets

People = Callable[..., dict[str, list[Any]]]


def groups_of(avatarizer: Avatarizer) -> list[list[int]]:
    fitted = avatarizer.fitted
    assert isinstance(fitted, ExchangeableFitted)
    return [sorted(part) for part in np.split(fitted.order, fitted.groups.bounds[1:-1])]


def test_a_further_release_has_the_same_groups_and_another_seed(
    people: People, tmp_path: Path
) -> None:
    frame = pl.DataFrame(people(rows=300))
    first = Avatarizer(k=5).fit(frame)
    write_secrets(tmp_path, first.secrets, first.fingerprint())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = Avatarizer(k=5, key=read_key(tmp_path)).fit(frame)
    assert groups_of(second) == groups_of(first)
    assert second.secrets.seed != first.secrets.seed
    assert not second.release().equals(first.release())


def test_without_the_key_the_groups_are_others(people: People) -> None:
    frame = pl.DataFrame(people(rows=300))
    assert groups_of(Avatarizer(k=5).fit(frame)) != groups_of(Avatarizer(k=5).fit(frame))


def test_a_changed_table_is_noticed(people: People, tmp_path: Path) -> None:
    frame = pl.DataFrame(people(rows=300))
    first = Avatarizer(k=5).fit(frame)
    write_secrets(tmp_path, first.secrets, first.fingerprint())
    again = Avatarizer(k=5, key=read_key(tmp_path))
    with pytest.warns(SosieWarning, match="not the table that the key was made for"):
        again.fit(frame[1:])
