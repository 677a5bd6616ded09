"""The law of exchangeable groups: its formulas, its guarantee, its draws."""

from __future__ import annotations

import importlib
import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from halving import Halving
from scipy.optimize import brentq, minimize
from scipy.special import expit, logsumexp
from scipy.stats import kstest, norm, rankdata

from sosie.compute.arrays import Floats, Ints
from sosie.data.table import Roles, Table
from sosie.errors import InputError, SosieWarning
from sosie.generate.draw import Gathered
from sosie.generate.exchangeable import ExchangeableLaw, draw, fit, pairing
from sosie.generate.exchangeable.intercepts import two_levels, weights_of
from sosie.generate.exchangeable.moments import roots
from sosie.generate.exchangeable.tails import Back
from sosie.generate.gathered import Layout
from sosie.generate.methods.exchangeable import in_canonical_codes
from sosie.generate.normal_scores import NormalScores
from sosie.generate.release import Release
from sosie.latent.famd import FAMD

K = 5


@dataclass(frozen=True)
class Fitted:
    """A table, its groups and its law."""

    table: Table
    groups: Halving
    points: Floats
    law: ExchangeableLaw

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        k: int = K,
        roles: Roles | None = None,
        axes: Floats | None = None,
        **rest: Any,
    ) -> Fitted:
        table = Table.of(frame, roles)
        points = FAMD.fit(table, 5).transform(table)
        groups = Halving.of(points if axes is None else axes, k)
        placed = points[groups.order]
        options: dict[str, Any] = {"k": k, "min_level_count": k} | rest
        return cls(table, groups, placed, fit(table, groups, placed, **options))

    def refitted(self, frame: pl.DataFrame, **rest: Any) -> ExchangeableLaw:
        """The law of another table in the same groups, what is pooled held fixed."""
        table = Table.of(frame, self.table.roles)
        options: dict[str, Any] = {"k": K, "min_level_count": K, "pooled": self.law.pooled} | rest
        return fit(table, self.groups, self.points, **options)

    @property
    def group(self) -> Ints:
        """(n,) the group of each row."""
        made = np.empty(len(self.table), dtype=np.int64)
        bounds = self.groups.bounds
        made[self.groups.order] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        return made


def same(one: Gathered, other: Gathered) -> bool:
    pairs = [*zip(one.codes, other.codes, strict=True), *zip(one.values, other.values, strict=True)]
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def cut(whole: Gathered, part: slice) -> Gathered:
    return Gathered([c[part] for c in whole.codes], [v[part] for v in whole.values])


def drawn(law: ExchangeableLaw, releases: int = 1) -> Gathered:
    """Some releases, one after the other."""
    made = [draw(law, 7, release) for release in range(releases)]
    codes = [np.concatenate(some) for some in zip(*(one.codes for one in made), strict=True)]
    values = [np.concatenate(some) for some in zip(*(one.values for one in made), strict=True)]
    return Gathered(codes, values)


def within(group: Ints, rng: np.random.Generator) -> Ints:
    """Rows in another order, each within its group."""
    shuffled = rng.permutation(len(group))
    made = np.empty(len(group), dtype=np.int64)
    made[np.argsort(group, kind="stable")] = shuffled[np.argsort(group[shuffled], kind="stable")]
    return made


def people(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows)
    dose = np.where(rng.random(rows) < 0.4, 0.0, np.exp(hidden + rng.normal(size=rows)).round(2))
    lab = 50 + 9 * hidden + rng.normal(0, 4, rows)
    stage = np.clip(np.rint(hidden + 1), 0, 2).astype(int)
    town = np.clip(np.rint(20 + 9 * hidden + rng.normal(0, 2, rows)), 0, 40).astype(int)
    return pl.DataFrame(
        {
            "age": (60 + 12 * hidden + rng.normal(0, 6, rows)).round(1),
            "weight": (70 + 8 * hidden + rng.normal(0, 6, rows)).round(1),
            "dose": dose,
            "lab": pl.Series(
                np.where(rng.random(rows) < 0.2, np.nan, lab.round(2)), nan_to_null=True
            ),
            "smoker": hidden + rng.normal(size=rows) > 0,
            "stage": [("low", "middle", "high")[i] for i in stage],
            "site": [("north", "south", None)[i] for i in rng.integers(0, 3, rows)],
            "town": [f"town {i}" for i in town],
            "seen": pl.Series(rng.integers(18_000, 18_900, rows)).cast(pl.Int32).cast(pl.Date),
        }
    )


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return Fitted.of(people())


@pytest.mark.parametrize("seed", range(5))
def test_two_level_intercepts_are_those_of_a_root_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bounds = np.concatenate([[0], np.cumsum(rng.integers(5, 10, 200))])
    logits = 2.5 * rng.normal(size=bounds[-1])
    sizes = np.diff(bounds)
    share = rng.integers(0, sizes + 1) / sizes
    a = two_levels(logits, share, bounds)
    for g in range(len(sizes)):
        own = logits[bounds[g] : bounds[g + 1]]
        if 0 < share[g] < 1:
            exact = brentq(lambda x, own=own, g=g: expit(x + own).mean() - share[g], -60, 60)
            assert expit(a[g] + own).mean() == pytest.approx(share[g], abs=1e-6)
            assert a[g] == pytest.approx(exact, abs=1e-4)
        else:
            assert a[g] == (1e4 if share[g] else -1e4)


def test_fitted_shares_of_several_levels_are_those_of_the_group() -> None:
    rng = np.random.default_rng(0)
    bounds = np.arange(0, 1_001, 10)
    logits = rng.normal(size=(4, 1_000))
    target = rng.multinomial(10, [0.5, 0.3, 0.15, 0.05], 100).T / 10
    a, fitted = weights_of(logits, target, bounds)
    shown = logits + np.repeat(a, 10, axis=1)
    probability = np.exp(shown - logsumexp(shown, axis=0))
    assert np.allclose(probability, fitted, atol=1e-12)
    assert np.abs(probability.reshape(4, 100, 10).mean(axis=2) - target).max() < 1e-4
    assert (probability[np.repeat(target == 0, 10, axis=1)] == 0).all()


def test_the_law_meets_the_share_of_each_level_in_each_group() -> None:
    """Features by their formula, coefficients and intercepts of the law: shares of the table."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    sick = x + rng.normal(size=300) > 0
    made = Fitted.of(pl.DataFrame({"x": x, "sick": sick}))
    z = np.round(norm.ppf((rankdata(x) - 0.5) / 300).astype(np.float32) * 4096) / 4096
    knots = np.round(norm.ppf(np.arange(1, 9) / 9) * 4096) / 4096
    features = np.vstack([z, np.maximum(z - knots[:, None], 0)])
    logit = (made.law.pooled.tilt[:, :9] @ features)[0] + made.law.intercepts[0][made.group]
    (choice,) = made.law.voted
    second = made.table.level("sick").labels[choice.original[1]] == "True"
    probability = expit(logit if second else -logit)
    for g in range(len(made.groups.bounds) - 1):
        own = made.group == g
        assert probability[own].mean() == pytest.approx(sick[own].mean(), abs=1e-6)


@pytest.mark.parametrize("wide", [False, True])
def test_the_tilt_maximises_the_penalised_likelihood(
    wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a general optimiser over coefficients and intercepts together."""
    if wide:  # one curvature for all choices
        monkeypatch.setattr("sosie.generate.exchangeable.tilt.WIDE", 5)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(240, 2))
    sick = x[:, 0] - x[:, 1] + rng.logistic(size=240) > 0
    flag = rng.random(240) < expit(x[:, 1])
    made = Fitted.of(pl.DataFrame({"flag": flag, "sick": sick}).with_columns(z=pl.Series(x[:, 0])))
    group, order = made.group, made.groups.order
    (flag_choice, sick_choice) = made.law.voted
    assert [c.names for c in (flag_choice, sick_choice)] == [("flag",), ("sick",)]
    z = np.round(norm.ppf((rankdata(x[:, 0]) - 0.5) / 240).astype(np.float32) * 4096) / 4096
    knots = np.round(norm.ppf(np.arange(1, 9) / 9) * 4096) / 4096
    first = made.table.level("flag").codes == flag_choice.original[1]
    y = (made.table.level("sick").codes == sick_choice.original[1]).astype(float)
    U = np.vstack([z, np.maximum(z - knots[:, None], 0), first])
    groups = group.max() + 1
    for g in range(groups):
        U[:, group == g] -= U[:, group == g].mean(axis=1, keepdims=True)
    scale = 2 * U.std(axis=1)
    U /= scale[:, None]
    # Groups of one level have infinite intercepts: they say nothing.
    counts, ones = np.bincount(group), np.bincount(group, y)
    mixed = np.flatnonzero((ones > 0) & (ones < counts))
    use = np.isin(group, mixed)
    U, y, inside = U[:, use], y[use], np.searchsorted(mixed, group[use])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        b, a = parameters[: len(U)], parameters[len(U) :]
        logit = b @ U + a[inside]
        residual = expit(logit) - y
        value = np.logaddexp(0, logit).sum() - y @ logit + 0.75 * b @ b
        return value, np.concatenate([U @ residual + 1.5 * b, np.bincount(inside, residual)])

    best = minimize(loss, np.zeros(len(U) + len(mixed)), jac=True, tol=1e-10)
    own = made.law.pooled.tilt[1, :10] * scale
    assert len(order) == 240
    assert own == pytest.approx(best.x[: len(U)], abs=0.1 if wide else 0.02)


def test_of_very_many_features_a_choice_takes_those_that_say_most_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, size in (("WIDE", 20), ("SCREENED", 100), ("KEPT", 12)):
        monkeypatch.setattr(f"sosie.generate.exchangeable.tilt.{name}", size)
    rng = np.random.default_rng(6)
    x = rng.normal(size=(3_000, 20))
    sick = 2 * x[:, 14] + rng.logistic(size=3_000) > 0
    made = Fitted.of(pl.DataFrame(x).with_columns(sick=pl.Series(sick)))
    (tilt,) = made.law.pooled.tilt
    assert len(tilt) >= 180
    taken = np.flatnonzero(tilt)
    assert len(taken) <= 12
    features = np.arange(180).reshape(20, 9)[14]  # the score and the eight hinges of a number
    assert np.isin(features[:4], taken).all()  # few people are beyond the last hinges


def test_the_spread_is_pooled_over_the_node_above() -> None:
    rng = np.random.default_rng(5)
    hidden = rng.normal(size=400)
    x = np.column_stack([hidden + rng.normal(size=400), np.exp(hidden), rng.normal(size=400)])
    made = Fitted.of(pl.DataFrame(x, schema=["a", "b", "c"]))
    z = norm.ppf((rankdata(x, axis=0) - 0.5) / 400)
    group, bounds, p = made.group, made.groups.bounds, 3
    away = z.copy()
    for g in range(group.max() + 1):
        away[group == g] -= z[group == g].mean(axis=0)
        s = (group == g).sum()
        assert made.law.moments.base[:, g] == pytest.approx(z[group == g].mean(axis=0), abs=1e-3)
        assert made.law.moments.scale[:, g] == pytest.approx(np.sqrt(1 - 1 / s))
    pooled = away.T @ away / (400 - len(bounds) + 1)
    for g, (low, high) in enumerate(made.groups.above(8 * K)):
        rows = made.groups.order[low:high]
        freedom = high - low - len(np.unique(group[rows]))
        expected = (away[rows].T @ away[rows] + (p + 1) * pooled) / (freedom + p + 1)
        root = made.law.pooled.roots[made.law.pooled.node[g]].astype(float)
        assert root @ root.T == pytest.approx(expected, abs=2e-3)


def test_roots_of_what_is_not_positive_leave_out_what_can_not_be() -> None:
    made = roots(np.array([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]))
    assert made[0].tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert made[1].tolist() == [[1.0, 0.0], [2.0, 0.0]]


def test_the_few_who_have_a_value_are_shrunk_to_the_node_above() -> None:
    rng = np.random.default_rng(6)
    x = np.where(rng.random(400) < 0.9, 0.0, rng.normal(size=400))
    other = rng.normal(size=400)
    made = Fitted.of(pl.DataFrame({"other": other, "x": x}))
    has = x != 0
    z = np.zeros(400)
    z[has] = norm.ppf((rankdata(x[has]) - 0.5) / has.sum())
    at = [number.name for number in made.law.layout.numbers].index("x")
    for g, (low, high) in enumerate(made.groups.above(8 * K)):
        above, own = made.groups.order[low:high], made.group == g
        node = (z[above].sum() + K * z.sum() / has.sum()) / (has[above].sum() + K)
        c = has[own].sum()
        expected = (z[own].sum() + K * node) / (c + K)
        assert made.law.moments.base[at, g] == pytest.approx(expected, abs=1e-3)
        assert made.law.moments.scale[at, g] == pytest.approx(np.sqrt(1 - 1 / max(c, 2)))


def test_both_ends_are_means() -> None:
    values = np.random.default_rng(0).permutation(np.arange(20.0) ** 2)
    back = Back.of(values, NormalScores.of(values, 5), 5)
    low, high = np.mean(np.arange(5.0) ** 2), np.mean(np.arange(15.0, 20) ** 2)
    assert back.ordered.tolist() == [low] * 5 + [i**2 for i in range(5, 15)] + [high] * 5
    assert back(np.array([0.0, 0.5, 1.0])).tolist() == [low, (81 + 100) / 2, high]


def test_one_mean_stands_for_fewer_than_twice_k() -> None:
    values = np.arange(9.0)
    back = Back.of(values, NormalScores.of(values, 5), 5)
    assert back(np.array([0.0, 0.3, 1.0])).tolist() == [4.0] * 3


def test_an_end_is_not_written_as_an_extreme_that_few_share() -> None:
    """Ages 18, 18, 18, 18, 19 have a mean of 18.2, which is written 18: the age of four."""
    values = np.array([18.0] * 4 + [19.0] * 4 + [float(v) for v in range(20, 80)] + [90.0] * 5)
    back = Back.of(values, NormalScores.of(values, 5), 5, spacing=1.0)
    assert back(np.array([0.0, 1.0])).tolist() == [19.0, 90.0]
    # One mean, 0.67, which stays where it is between both ends once they have moved in.
    few = np.array([0.0] * 4 + [1.0] * 4 + [2.0])
    back = Back.of(few, NormalScores.of(few, 5), 5, spacing=1.0)
    assert back(np.array([0.0, 1.0])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("present", [1, 3, 4, 7, 12])
def test_a_column_of_few_values_publishes_nobodys(present: int) -> None:
    rng = np.random.default_rng(present)
    values = np.full(300, np.nan)
    values[rng.choice(300, present, replace=False)] = rng.normal(100, 20, present)
    frame = pl.DataFrame({"x": rng.normal(size=300), "rare": pl.Series(values, nan_to_null=True)})
    roles = Roles(numeric=("rare",))
    if present < K:
        with pytest.warns(SosieWarning, match="'rare': only .* people have a value"):
            made = Fitted.of(frame, roles=roles)
    else:
        made = Fitted.of(frame, roles=roles)
    published = drawn(made.law, 50).values[1]
    published = published[~np.isnan(published)]
    assert not np.isin(published, values).any()
    if present < K:
        assert not len(published)
    else:
        assert len(published) / (50 * 300) == pytest.approx(present / 300, rel=0.2)
        known = np.sort(values[~np.isnan(values)])
        assert published.min() >= known[:K].mean() - 1e-9
        assert published.max() <= known[-K:].mean() + 1e-9


def test_the_one_member_with_a_value_is_not_published() -> None:
    """Avatars of a group in which one person has a value spread as widely as others' do."""
    rng = np.random.default_rng(8)
    x = np.where(rng.random(400) < 0.92, 0.0, rng.normal(100, 20, 400))
    made = Fitted.of(pl.DataFrame({"other": rng.normal(size=400), "x": x}))
    at = made.law.names.index("x")
    values = np.array([draw(made.law, 7, release).values[at] for release in range(200)])
    place = np.empty(400, dtype=np.int64)
    place[made.groups.order] = np.arange(400)
    assert not np.isin(values[values != 0], x).any()
    for g in range(made.group.max() + 1):
        members = np.flatnonzero((made.group == g) & (x != 0))
        if len(members) == 1:
            own = values[:, place[made.group == g]]
            assert own[own != 0].std() > 0.4 * x[x != 0].std()


def test_members_with_the_same_means_make_no_difference() -> None:
    """Each number shuffled by itself within every group: other people, the same means."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(rng.normal(size=(300, 3)), schema=["a", "b", "c"])
    made = Fitted.of(frame)
    other = frame.with_columns(
        pl.Series(name, frame[name].to_numpy()[within(made.group, rng)]) for name in frame.columns
    )
    assert not np.array_equal(frame["a"], other["a"])
    assert same(draw(made.refitted(other), 1, 0), draw(made.law, 1, 0))


def test_members_with_the_same_counts_and_intercepts_make_no_difference() -> None:
    """Who in a group is sick: the share and the intercept do not depend on it."""
    rng = np.random.default_rng(2)
    frame = people(300).select("age", "weight", "stage")
    made = Fitted.of(frame)
    other = frame.with_columns(
        pl.Series("stage", frame["stage"].to_numpy()[within(made.group, rng)])
    )
    law = made.refitted(other)
    assert not frame["stage"].equals(other["stage"])
    assert same(draw(law, 1, 0), draw(made.law, 1, 0))


def test_the_order_of_the_members_changes_nothing(fitted: Fitted) -> None:
    """Everything is fitted again, what is pooled too."""
    rng = np.random.default_rng(0)
    moved = within(fitted.group[fitted.groups.order], rng)
    groups = replace(fitted.groups, order=fitted.groups.order[moved])
    law = fit(fitted.table, groups, fitted.points[moved], k=K, min_level_count=K)
    assert same(draw(law, 1, 0), draw(fitted.law, 1, 0))


def test_the_order_of_the_rows_changes_nothing(fitted: Fitted) -> None:
    rng = np.random.default_rng(0)
    rows = rng.permutation(400)
    here, there = (in_canonical_codes(Table.of(frame)) for frame in (people()[rows], people()))
    groups = replace(fitted.groups, order=np.argsort(rows)[fitted.groups.order])
    law = fit(here, groups, fitted.points, k=K, min_level_count=K)
    known_law = fit(there, fitted.groups, fitted.points, k=K, min_level_count=K)
    one, other = draw(law, 1, 0), draw(known_law, 1, 0)
    assert all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(one.values, other.values, strict=True)
    )
    for choice, codes, known in zip(law.voted, one.codes, other.codes, strict=True):
        (name,) = choice.names
        labels = [np.array(t.level(name).labels, dtype=object) for t in (here, there)]
        assert labels[0][codes].tolist() == labels[1][known].tolist()


def test_threads_chunks_and_parts_change_nothing(fitted: Fitted) -> None:
    law = fit(fitted.table, fitted.groups, fitted.points, k=K, min_level_count=K, threads=2)
    whole = draw(fitted.law, 1, 0)
    assert same(draw(law, 1, 0, threads=2, chunk=17), whole)
    middle = slice(10, 40)
    part = draw(fitted.law.some(middle), 1, 0)
    own = slice(*fitted.law.bounds[[10, 40]].tolist())
    assert same(part, cut(whole, own))
    for seed, release, some in ((2, 0, 0), (1, 1, 0), (1, 0, 1)):
        assert not same(draw(fitted.law, seed, release, some), whole)


def test_blocks_are_drawn_alike_alone(monkeypatch: pytest.MonkeyPatch, fitted: Fitted) -> None:
    """A part that begins inside a block of draws."""
    module = importlib.import_module("sosie.generate.exchangeable.draw")
    monkeypatch.setattr(module, "BLOCK", 64)
    whole = draw(fitted.law, 1, 0)
    part = draw(fitted.law.some(slice(13, 50)), 1, 0, threads=2)
    own = slice(*fitted.law.bounds[[13, 50]].tolist())
    assert same(part, cut(whole, own))


def test_only_levels_that_somebody_in_the_group_holds_come() -> None:
    made = Fitted.of(people(), min_level_count=1)
    some, group = drawn(made.law, 20), made.group[made.groups.order]
    for choice, codes in zip(made.law.voted, some.codes, strict=True):
        (name,) = choice.names
        held = {*zip(made.group.tolist(), made.table.level(name).codes.tolist(), strict=True)}
        assert {*zip(np.tile(group, 20).tolist(), codes.tolist(), strict=True)} <= held


def test_shares_are_kept(fitted: Fitted) -> None:
    some = drawn(fitted.law, 40)
    for choice, codes in zip(fitted.law.voted, some.codes, strict=True):
        (name,) = choice.names
        column = fitted.table.level(name)
        before = column.counts() / 400
        after = np.bincount(codes, minlength=len(before)) / len(codes)
        if (column.counts() >= K).all():
            assert after == pytest.approx(before, abs=0.02)


def test_rare_levels_never_come_and_their_share_goes_to_those_above() -> None:
    rng = np.random.default_rng(9)
    shares = np.concatenate([np.full(10, 0.095), np.full(30, 0.05 / 30)])
    names = [f"level {i}" for i in rng.choice(40, 600, p=shares)]
    made = Fitted.of(pl.DataFrame({"x": rng.normal(size=600), "many": names}))
    (choice,) = made.law.voted
    counts = made.table.level("many").counts()
    assert 0 < (counts < K).sum() < 31
    (codes,) = drawn(made.law, 20).codes
    assert (counts[np.unique(codes)] >= K).all()
    assert choice.size == (counts >= K).sum()
    allowed = np.where(counts >= K, counts, 0)
    after = np.bincount(codes, minlength=len(counts)) / len(codes)
    assert after == pytest.approx(allowed / allowed.sum(), abs=0.02)


def test_a_column_of_rare_levels_is_an_error() -> None:
    frame = pl.DataFrame({"x": np.arange(60.0), "code": [f"c{i % 30}" for i in range(60)]})
    with pytest.raises(InputError, match="'code': no value is held by at least 5 people"):
        Fitted.of(frame)


def test_many_levels_follow_their_place() -> None:
    """Fifty towns along a number, in groups that say nothing of either."""
    rng = np.random.default_rng(10)
    x = rng.normal(size=3_000)
    town = np.clip(np.rint(25 + 8 * x + rng.normal(0, 4, 3_000)), 0, 49).astype(int)
    noise = rng.normal(size=3_000)
    frame = pl.DataFrame({"x": x, "noise": noise, "town": [f"t{i:02}" for i in town]})
    made = Fitted.of(frame, axes=noise[:, None])
    assert made.law.slots[0] is not None
    some = drawn(made.law, 3)
    labels = np.array(made.table.level("town").labels)
    after = np.array([int(label[1:]) for label in labels[some.codes[0]]])
    before = np.corrcoef(x, town)[0, 1]
    # Weaker, since only the towns of a group's few members can come; plain shares give 0.05.
    assert 0.75 * before < np.corrcoef(some.values[0], after)[0, 1] < before + 0.01


def test_linked_columns_hold_combinations_of_the_originals() -> None:
    rng = np.random.default_rng(11)
    city = rng.integers(0, 30, 600)
    names = {"city": [f"c{i}" for i in city], "land": [f"l{i % 4}" for i in city]}
    frame = pl.DataFrame({"x": rng.normal(size=600), **names})
    made = Fitted.of(frame, roles=Roles(linked=(("city", "land"),)))
    (choice,), (codes,) = made.law.voted, draw(made.law, 1, 0).codes
    assert choice.parts is not None
    pairs = choice.parts[codes]
    labels = [np.array(made.table.level(name).labels) for name in ("city", "land")]
    avatars = zip(labels[0][pairs[:, 0]], labels[1][pairs[:, 1]], strict=True)
    assert {*avatars} <= {*frame.select("city", "land").iter_rows()}


def test_numbers_keep_their_distribution(fitted: Fitted) -> None:
    some = drawn(fitted.law, 25)
    for name, values in zip(fitted.law.names, some.values, strict=True):
        before = fitted.table.number(name).values
        assert np.nanstd(values) == pytest.approx(np.nanstd(before), rel=0.08)
        assert np.isnan(values).mean() == pytest.approx(np.isnan(before).mean(), abs=0.02)
        assert (values == 0).mean() == pytest.approx((before == 0).mean(), abs=0.03)
    age = some.values[fitted.law.names.index("age")]
    assert kstest(age[:400], fitted.table.number("age").values).pvalue > 1e-3


def test_effects_are_not_attenuated() -> None:
    """The log odds ratio of two flags, and of a flag with a number, over many groups."""
    rng = np.random.default_rng(12)
    n = 6_000
    x = rng.normal(size=n)
    one = rng.random(n) < expit(1.2 * x)
    two = rng.random(n) < expit(2.0 * one - 1)
    noise = rng.normal(size=(n, 3))
    frame = pl.DataFrame(
        {"x": x, "one": one, "two": two} | {f"n{i}": noise[:, i] for i in range(3)}
    )
    made = Fitted.of(frame, k=10)
    some = drawn(made.law, 4)
    flags = [
        np.array(made.table.level(name).labels)[codes] == "True"
        for name, codes in zip(("one", "two"), some.codes, strict=True)
    ]

    def odds(a: Any, b: Any) -> float:
        table = [[np.mean((a == i) & (b == j)) for j in (False, True)] for i in (False, True)]
        return math.log(table[0][0] * table[1][1] / table[0][1] / table[1][0])

    assert odds(*flags) == pytest.approx(odds(one, two), abs=0.12)
    gap = x[one].mean() - x[~one].mean()
    after = some.values[0]
    assert after[flags[0]].mean() - after[~flags[0]].mean() == pytest.approx(gap, rel=0.05)


def test_the_pairing_is_within_groups_and_even() -> None:
    order, bounds = np.random.default_rng(0).permutation(20), np.array([0, 5, 12, 20])
    times = np.zeros((20, 20))
    for release in range(3_000):
        rows = pairing(order, bounds, 1, release)
        times[np.arange(20), rows] += 1
    for low, high in ((0, 5), (5, 12), (12, 20)):
        own = times[low:high][:, order[low:high]]
        assert own.sum() == 3_000 * (high - low)
        assert own / 3_000 == pytest.approx(np.full_like(own, 1 / (high - low)), abs=0.04)


def test_a_release_comes_in_the_dtypes_of_the_originals(fitted: Fitted) -> None:
    rows = pairing(fitted.groups.order, fitted.groups.bounds, 1, 0)
    layout = Layout(fitted.law.voted, fitted.law.names)
    drawn = draw(fitted.law, 1, 0)
    made = Release(fitted.table, layout, drawn, np.arange(400), rows, np.empty(0, int))
    assert made.frame().schema == people().schema


def test_one_column_and_equal_rows_and_no_numbers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for frame in (
            pl.DataFrame({"x": np.arange(50.0)}),
            pl.DataFrame({"c": ["a", "b"] * 25}),
            pl.DataFrame({"x": np.arange(50.0), "same": ["a"] * 50}),
        ):
            made = Fitted.of(frame)
            assert len(drawn(made.law).codes) == len(made.table.levels)
