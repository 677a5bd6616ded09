"""Keys and seeds: where they come from, where they stand, and that a changed table is noticed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sosie.data.table import Table
from sosie.errors import InputError
from sosie.generate.secrets import (
    Secrets,
    derived_key,
    read_key,
    read_seed,
    table_fingerprint,
    write_secrets,
)
from sosie.latent.content import content_hashes

KEY = 2**128 - 3


def people() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "sex": [("F", "M", None)[i] for i in rng.integers(0, 3, 200)],
            "age": rng.integers(20, 80, 200),
            "x": 1.5,
        }
    )


def fingerprint(frame: pl.DataFrame, key: int = KEY) -> str:
    return table_fingerprint(key, frame.columns, [content_hashes(Table.of(frame))])


# ---------------------------------------------------------------- where they come from


def test_without_any_both_are_fresh_and_apart() -> None:
    drawn = [Secrets.of() for _ in range(50)]
    assert len({number for one in drawn for number in (one.key, one.seed)}) == 100
    assert max(one.key for one in drawn).bit_length() > 100
    assert max(one.seed for one in drawn).bit_length() > 100


def test_a_seed_alone_gives_the_key_too() -> None:
    assert Secrets.of(seed=4) == Secrets.of(seed=4)
    assert len({derived_key(seed) for seed in range(1_000)}) == 1_000
    assert 2**120 < max(derived_key(seed) for seed in range(1_000)) < 2**128


def test_a_key_alone_gives_no_seed() -> None:
    one, other = Secrets.of(key=KEY), Secrets.of(key=KEY)
    assert one.key == other.key == KEY
    assert one.seed != other.seed


def test_both_are_taken_as_given() -> None:
    assert Secrets.of(seed=3, key=8) == Secrets(key=8, seed=3)


@pytest.mark.parametrize("given", [{"seed": -1}, {"key": -1}])
def test_negative_ones_are_errors(given: dict[str, int]) -> None:
    with pytest.raises(InputError, match=f"the {next(iter(given))} must be at least 0"):
        Secrets.of(**given)


def test_they_are_not_printed(tmp_path: Path) -> None:
    kept = Secrets.of(seed=918273645)
    write_secrets(tmp_path, kept, "ab")
    for text in (repr(kept), str(kept), repr(read_key(tmp_path))):
        assert "918273645" not in text
        assert str(kept.key) not in text


# ---------------------------------------------------------------- where they stand


def test_they_come_back_as_they_were_written(tmp_path: Path) -> None:
    kept = Secrets.of()
    write_secrets(tmp_path, kept, fingerprint(people()))
    assert read_key(tmp_path).key == kept.key
    assert read_seed(tmp_path) == kept.seed
    assert read_key(tmp_path).fits(fingerprint(people()))


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_only_their_owner_can_read_them(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_secrets(tmp_path, Secrets.of(), "ab")
    finally:
        os.umask(before)
    assert {path.name for path in tmp_path.iterdir()} == {"key", "seed"}
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_key_is_read_without_the_seed(tmp_path: Path) -> None:
    write_secrets(tmp_path, Secrets(key=8, seed=3), "ab")
    (tmp_path / "seed").unlink()
    assert read_key(tmp_path).key == 8


@pytest.mark.parametrize("content", ["", "key x\ntable ab\n", "key 5\n", "\x00", "key -5\ntable a"])
def test_what_is_no_key_is_an_error(content: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(InputError, match="not the key of a run"):
        read_key(tmp_path)


def test_a_folder_without_secrets_is_an_error_that_says_what_to_give(tmp_path: Path) -> None:
    for reading in (read_key, read_seed):
        with pytest.raises(InputError, match=r"private/ of a former run.*--secrets"):
            reading(tmp_path)
    (tmp_path / "seed").write_text("soon\n")
    with pytest.raises(InputError, match="not the seed of a run"):
        read_seed(tmp_path)


# ---------------------------------------------------------------- a changed table


def test_the_order_of_rows_leaves_the_fingerprint() -> None:
    moved = people()[np.random.default_rng(1).permutation(200)]
    assert fingerprint(moved) == fingerprint(people())


def test_parts_leave_the_fingerprint() -> None:
    hashes = content_hashes(Table.of(people()))
    parts = table_fingerprint(KEY, people().columns, iter([hashes[:1], hashes[1:90], hashes[90:]]))
    assert parts == fingerprint(people())


@pytest.mark.parametrize(
    "changed",
    [
        people()[1:],
        pl.concat([people(), people()[:1]]),
        pl.concat([people()[1:], people()[1:2]]),
        people().with_columns(age=pl.col("age") + (pl.int_range(200) == 7)),
        people().rename({"age": "years"}),
        people().drop("x"),
    ],
    ids=["a row less", "a row more", "a row for another", "a value", "a name", "a column"],
)
def test_any_change_changes_the_fingerprint(changed: pl.DataFrame) -> None:
    assert fingerprint(changed) != fingerprint(people())


def test_two_equal_rows_more_do_not_cancel() -> None:
    frame = people()
    assert fingerprint(pl.concat([frame, frame[:1], frame[:1]])) != fingerprint(frame)


def test_without_the_key_it_says_nothing() -> None:
    assert fingerprint(people(), 1) != fingerprint(people(), 2)
