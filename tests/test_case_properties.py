"""What holds for any table: the whole kind of each fault, not the single input.

The oracles are theorems. Of avatars that are the people themselves, for one: whatever the
table, no other avatars have a lower hidden rate. (Around a point where t people stand, of
whom s have their own avatar among the m nearest ones, the hits sum to s / m, at most 1;
copies reach 1 at every point.)
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from test_cases_core import LABELS, tables

from sosie.audits.audit import AuditOptions, audit
from sosie.audits.results import Audit, Metric
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::sosie.errors.SosieWarning")

any_table = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),  # tables are slow to make small
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
MOST = 300
EVERY = 1_000
"""Components: all there are."""

NEAR = 1e-6
WITHOUT_HALVES = (
    "column_direct_match_protection",
    "hidden_rate",
    "local_cloaking",
    "distance_to_closest",
    "closest_rate",
    "row_direct_match_protection",
    "rare_values",
    "hellinger_mean",
)
"""Metrics in which no share of the people is set apart, so that their order is of no effect."""

RANGES = {"%": (0.0, 100.0)}
ABOVE_A_CONTROL = ("linkability", "inference", "correlation_protection_rate", "predictive_ratio")


def far_apart(frame: pl.DataFrame) -> bool:
    """Whether a number is so large that others differ from each other by roundoff alone."""
    return any(c.dtype.is_float() and bool((c.abs() > 1e9).any()) for c in frame)


def all_of(found: Audit) -> dict[str, Metric]:
    return {**found.privacy, **found.utility}


def fitted(frame: pl.DataFrame, **options: Any) -> Avatarizer:
    """An avatarizer of the table; tables that are refused in words are not looked at."""
    avatarizer = Avatarizer(seed=0, k=2, min_level_count=1, **options)
    try:
        return avatarizer.fit(frame)
    except InputError:
        assume(False)
        raise


def audited(one: pl.DataFrame, other: pl.DataFrame, **options: Any) -> Audit:
    try:
        return audit(one, other, aligned=True, **options)
    except InputError:
        assume(False)
        raise


def same(found: Metric, expected: Metric) -> bool:
    if expected.value is None or found.value is None:
        return found.value is expected.value
    return found.value == pytest.approx(expected.value, rel=NEAR, abs=NEAR)


# ---------------------------------------------------------------- avatars


@any_table
@given(frame=tables(3, MOST), data=st.data(), method=st.sampled_from([*METHODS]))
def test_names_of_columns_change_no_avatar(
    frame: pl.DataFrame, data: st.DataObject, method: Any
) -> None:
    width = frame.width
    names = data.draw(st.lists(LABELS, min_size=width, max_size=width, unique=True))
    plain = fitted(frame, method=method).release(shuffle=False)
    renamed = fitted(frame.rename(dict(zip(frame.columns, names, strict=True))), method=method)
    made = renamed.release(shuffle=False)
    assert made.columns == names
    assert made.rename(dict(zip(names, frame.columns, strict=True))).equals(plain)


@any_table
@given(frame=tables(3, MOST), data=st.data())
def test_the_order_of_columns_changes_no_neighbour(
    frame: pl.DataFrame, data: st.DataObject
) -> None:
    turned = frame.select(data.draw(st.permutations(frame.columns)))
    one, other = (
        fitted(table, method="smoothed", components=EVERY).fitted.neighbours.distances
        for table in (frame, turned)
    )
    np.testing.assert_allclose(other, one, atol=NEAR, rtol=NEAR)


@any_table
@given(
    frame=tables(3, MOST),
    method=st.sampled_from([*METHODS]),
    chunk=st.integers(1, 400),
    threads=st.integers(1, 3),
)
def test_chunks_and_threads_change_no_avatar(
    frame: pl.DataFrame, method: str, chunk: int, threads: int
) -> None:
    plain = fitted(frame, method=method).release(1, shuffle=False)
    again = fitted(frame, method=method, chunk=chunk, threads=threads)
    assert again.release(1, shuffle=False).equals(plain)


@any_table
@given(frame=tables(3, MOST), method=st.sampled_from([*METHODS]), augment=st.integers(1, 3))
def test_what_is_published_holds_the_aligned_rows(
    frame: pl.DataFrame, method: Any, augment: int
) -> None:
    avatarizer = fitted(frame, method=method, augment=augment)
    aligned, published = avatarizer.release(shuffle=False), avatarizer.release()
    assert published.schema == aligned.schema == frame.schema
    assert published.sort(frame.columns).equals(aligned.sort(frame.columns))


@any_table
@given(frame=tables(3, MOST), method=st.sampled_from(["exchangeable", "smoothed"]))
def test_avatars_hold_no_extreme_and_no_level_of_few(frame: pl.DataFrame, method: str) -> None:
    """With k = 3, what fewer than three people hold."""
    try:
        made = Avatarizer(seed=0, k=3, method=method).fit(frame).release()
    except InputError:
        return
    for name in frame.columns:
        own, drawn = frame[name].drop_nulls(), made[name].drop_nulls()
        if own.dtype in (pl.String, pl.Boolean):
            held = own.value_counts(name="held").filter(pl.col("held") >= 3)[name]
            assert set(drawn) <= set(held), name
        elif len(drawn) and own.n_unique() > 10:
            ordered = own.sort()
            if method == "smoothed":
                assert ordered[2] <= drawn.min(), name
                assert drawn.max() <= ordered[-3], name
            assert ordered[0] < drawn.min() or ordered[0] == ordered[2], name
            assert drawn.max() < ordered[-1] or ordered[-1] == ordered[-3], name


# ---------------------------------------------------------------- metrics


@any_table
@given(frame=tables(1, MOST), data=st.data(), reverse=st.booleans())
def test_metrics_of_any_tables_are_within_bounds(
    frame: pl.DataFrame, data: st.DataObject, reverse: bool
) -> None:
    """Against the rows in another order, and against each column drawn apart."""
    rows = len(frame)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    other = frame.select(
        frame[name].gather(np.arange(rows)[::-1] if reverse else rng.permutation(rows))
        for name in frame.columns
    )
    found = audited(frame, other, holdout=frame.head(max(rows // 2, 1)))
    json.dumps(found.to_dict(), allow_nan=False)
    for key, metric in all_of(found).items():
        assert (metric.value is None) == (metric.reason is not None), key
        if metric.value is None:
            continue
        low, high = RANGES.get(metric.unit, (0.0, np.inf))
        if key in ABOVE_A_CONTROL:
            low = -np.inf
        assert low - NEAR <= metric.value <= high + NEAR, key
        if metric.ci is not None:
            assert metric.ci[0] - NEAR <= metric.value <= metric.ci[1] + NEAR, key
    for key in ("hellinger_mean", "hellinger_projection", "association_difference"):
        value = all_of(found)[key].value
        assert value is None or 0 <= value <= 1 + NEAR, key
    assert found.privacy.membership.value is None or 0 <= found.privacy.membership.value <= 1


@any_table
@given(frame=tables(2, MOST), data=st.data())
def test_no_avatars_score_worse_than_copies(frame: pl.DataFrame, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    other = frame.select(frame[name].gather(rng.permutation(len(frame))) for name in frame.columns)
    copies, made = (audited(frame, table, metrics=WITHOUT_HALVES) for table in (frame, other))
    for key, metric in copies.privacy.items():
        value, worst = made.privacy[key].value, metric.value
        if value is None or worst is None:
            continue
        sign = 1 if metric.direction == "higher" else -1
        assert sign * value >= sign * worst - NEAR, key
    hellinger = copies.utility.hellinger_mean.value
    assert hellinger is None or hellinger == pytest.approx(0, abs=NEAR)


@any_table
@given(frame=tables(2, MOST), data=st.data(), steps=st.integers(2, 5))
def test_the_dial_moves_matches_one_way(
    frame: pl.DataFrame, data: st.DataObject, steps: int
) -> None:
    rows = len(frame)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    order = rng.permutation(rows)
    other = frame.select(frame[name].gather(rng.permutation(rows)) for name in frame.columns)
    told = []
    for step in range(steps + 1):
        copied = pl.Series(np.isin(np.arange(rows), order[: rows * step // steps]))
        mixed = pl.DataFrame([frame[n].zip_with(copied, other[n]) for n in frame.columns])
        found = audited(frame, mixed, metrics=["column_direct_match_protection"])
        told.append(
            {
                c["column"]: c["matches"]
                for c in found.privacy.column_direct_match_protection.columns
            }
        )
    for before, after in itertools.pairwise(told):
        assert all(after[name] >= matches for name, matches in before.items())
    assert all(matches == rows for matches in told[-1].values())


@any_table
@given(frame=tables(2, MOST), data=st.data())
def test_order_of_rows_and_columns_and_names_change_no_metric(
    frame: pl.DataFrame, data: st.DataObject
) -> None:
    """Rows of both tables permuted alike, columns of one alone, and all names changed."""
    assume(not far_apart(frame))
    rows = len(frame)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    other = frame.select(frame[name].gather(rng.permutation(rows)) for name in frame.columns)
    options: dict[str, Any] = {"metrics": WITHOUT_HALVES, "options": AuditOptions(components=EVERY)}
    plain = all_of(audited(frame, other, **options))
    order = rng.permutation(rows)
    new = {name: f"{place} {name}" for place, name in enumerate(frame.columns)}
    turned = data.draw(st.permutations(list(new.values())))
    again = audited(frame[order].rename(new), other[order].rename(new).select(turned), **options)
    for key, metric in all_of(again).items():
        assert same(metric, plain[key]), (key, metric.value, plain[key].value)
