"""The weight law, the votes, and the spread that smoothing gives back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from sosie.compute.arrays import Floats
from sosie.data.table import Levels, Numbers, Table
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.draw import draws_of
from sosie.generate.law import draw_weights, proximity
from sosie.generate.methods import METHODS
from sosie.generate.mixture import Mixture
from sosie.generate.noise import GaussianNoise
from sosie.generate.normal_scores import NormalScores

People = Callable[..., dict[str, list[Any]]]


def numbers(table: Table, name: str) -> Floats:
    column = table.column(name)
    assert isinstance(column, Numbers)
    return column.values


def words(table: Table, name: str) -> list[str | None]:
    column = table.column(name)
    assert isinstance(column, Levels)
    return [column.labels[code] for code in column.codes]


# ---------------------------------------------------------------- weights


def law(distances: list[float], times: int, seed: int) -> Floats:
    """The formula as it is printed, one person at a time."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(times):
        ranks = rng.permutation(len(distances)) + 1
        weights = [
            rng.exponential() * 2.0**-rank / distance
            for rank, distance in zip(ranks, distances, strict=True)
        ]
        drawn.append(np.array(weights) / sum(weights))
    return np.array(drawn)


@pytest.mark.parametrize("distances", [[1.0, 1.1, 1.5, 2.0, 4.0], [1.0, 1.0], [3.0] * 20])
def test_weights_follow_the_printed_law(distances: list[float]) -> None:
    times = 8_000
    near = proximity(np.tile(distances, (times, 1)))
    ours = draw_weights(near, np.random.default_rng(1))
    theirs = law(distances, times, seed=2)
    np.testing.assert_allclose(ours.sum(axis=1), 1.0, rtol=1e-12)
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / times)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 4 * error).all()
    np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.12)
    np.testing.assert_allclose(ours.std(axis=0).mean(), theirs.std(axis=0).mean(), rtol=0.02)
    ours_squared, theirs_squared = (np.square(w).sum(axis=1) for w in (ours, theirs))
    np.testing.assert_allclose(ours_squared.mean(), theirs_squared.mean(), rtol=0.02)
    for quantile in (0.1, 0.5, 0.9):
        one, other = (np.quantile(w.max(axis=1), quantile) for w in (ours, theirs))
        np.testing.assert_allclose(one, other, atol=0.015)


def test_a_release_draws_the_same_law(people: People) -> None:
    """The fast path of a release: ``R_j * C_j`` drawn by block, times the proximity."""
    avatarizer = Avatarizer(k=4, seed=3, method="smoothed").fit(pl.DataFrame(people(rows=500)))
    mixture = avatarizer.fitted.mixture
    near = np.repeat(proximity(mixture.distances.T[:1]), 500, axis=0)
    whole = slice(0, 500)
    drawn = np.vstack([near * draws_of(mixture, 3, r, whole).weights for r in range(40)])
    drawn /= drawn.sum(axis=1, keepdims=True)
    wanted = law((1 / near[0]).tolist(), 8_000, seed=4)
    np.testing.assert_allclose(drawn.mean(axis=0), wanted.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(drawn.std(axis=0), wanted.std(axis=0), atol=0.01)


def test_a_twin_can_not_take_all_the_weight() -> None:
    near = proximity(np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0]]))
    np.testing.assert_allclose(near, [[1.0, 0.2, 0.1], [1.0, 1.0, 1.0], [1.0, 0.5, 0.25]])


# ---------------------------------------------------------------- a release, by hand


def by_hand(mixture: Mixture, seed: int, release: int) -> Floats:
    """Weights of one release, ``(n, k)``, by place."""
    whole = slice(0, len(mixture.order))
    weights = proximity(mixture.distances.T) * draws_of(mixture, seed, release, whole).weights
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def test_a_barycentre_is_the_weighted_mean_of_the_neighbours() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=200), "y": rng.normal(size=200)})
    avatarizer = Avatarizer(k=6, seed=9, method="barycentre").fit(table)
    mixture = avatarizer.fitted.mixture
    made = avatarizer.draw(2)
    near = mixture.order[mixture.rows.T]
    assert np.array_equal(np.sort(near), np.sort(avatarizer.fitted.neighbours.rows[mixture.order]))
    for name in ("x", "y"):
        wanted = np.empty(200)
        wanted[mixture.order] = (by_hand(mixture, 9, 2) * table[name].to_numpy()[near]).sum(axis=1)
        np.testing.assert_allclose(numbers(made, name), wanted, rtol=1e-5, atol=1e-6)


def test_a_missing_neighbour_does_not_count_in_the_mean() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(300) < 0.3, np.nan, rng.normal(size=300))
    table = pl.DataFrame({"x": x, "y": rng.normal(size=300)}).with_columns(
        pl.col("x").fill_nan(None)
    )
    avatarizer = Avatarizer(k=6, seed=9, method="barycentre").fit(table)
    mixture = avatarizer.fitted.mixture
    near = x[mixture.order[mixture.rows.T]]
    weights = by_hand(mixture, 9, 0) * ~np.isnan(near)
    total = weights.sum(axis=1)
    mean = np.nansum(weights * near, axis=1) / np.where(total > 0, total, 1)
    made = numbers(avatarizer.draw(0), "x")[mixture.order]
    present = ~np.isnan(made)
    np.testing.assert_allclose(made[present], mean[present], rtol=1e-4, atol=1e-5)
    none = np.isnan(near).all(axis=1)
    assert not (present & none).any()
    assert present[(~np.isnan(near)).all(axis=1)].all()


def test_a_vote_is_won_by_the_heaviest_level(people: People) -> None:
    table = pl.DataFrame(people(missing=0.0))
    avatarizer = Avatarizer(k=7, seed=5, method="smoothed", decode="vote").fit(table)
    mixture = avatarizer.fitted.mixture
    near, weights = mixture.order[mixture.rows.T], by_hand(mixture, 5, 1)
    made = np.array(words(avatarizer.draw(1), "site"))[mixture.order]
    site = np.array(table["site"].to_list())
    for person in range(200):
        shares = {
            level: weights[person][site[near[person]] == level].sum() for level in np.unique(site)
        }
        assert made[person] == max(shares, key=shares.__getitem__)


def test_a_level_is_drawn_by_its_share_of_the_vote(people: People) -> None:
    """Over many releases the frequency of a level is the expected weight of those who hold it."""
    table = pl.DataFrame(people(rows=60, missing=0.0))
    avatarizer = Avatarizer(k=5, seed=5, method="barycentre").fit(table)
    site = np.array(table["site"].to_list())
    releases = 300
    drawn = np.array([words(avatarizer.draw(r), "site") for r in range(releases)])
    near = avatarizer.fitted.neighbours
    for person in range(0, 60, 12):
        weights = law((1 / proximity(near.distances[[person]])[0]).tolist(), 2_000, seed=person)
        for level in np.unique(site):
            wanted = weights[:, site[near.rows[person]] == level].sum(axis=1).mean()
            found = (drawn[:, person] == level).mean()
            assert (
                abs(found - wanted)
                < 4 * np.sqrt(max(wanted * (1 - wanted), 0.001) / releases) + 0.01
            )


def test_each_avatar_level_is_a_neighbours(people: People) -> None:
    table = pl.DataFrame(people())
    avatarizer = Avatarizer(k=5, seed=5, method="barycentre").fit(table)
    near = avatarizer.fitted.neighbours.rows
    for name in ("smoker", "stage", "site"):
        held = np.array(words(avatarizer.table, name), dtype=object)
        for release in range(5):
            made = words(avatarizer.draw(release), name)
            assert all(value in held[rows] for value, rows in zip(made, near, strict=True))


# ---------------------------------------------------------------- rare levels


def with_rare(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=rows))
    site = ["common"] * rows
    # Four people share a rare level and a corner of the space; four others are apart.
    site[:4], site[100:200:25] = ["rare"] * 4, ["scattered"] * 4
    other = np.where(x > 0, "high", "low").tolist()
    return pl.DataFrame({"x": x, "site": site, "other": other})


@pytest.mark.parametrize(
    ("method", "decode"), [("exchangeable", None), ("smoothed", "draw"), ("smoothed", "vote")]
)
def test_levels_of_too_few_people_are_never_drawn(method: str, decode: str | None) -> None:
    options: dict[str, Any] = {"k": 5, "seed": 1, "method": method, "decode": decode}
    avatarizer = Avatarizer(**options).fit(with_rare())
    for release in range(10):
        assert set(words(avatarizer.draw(release), "site")) == {"common"}
    let_in = Avatarizer(**options, min_level_count=2).fit(with_rare())
    drawn = {word for release in range(10) for word in words(let_in.draw(release), "site")}
    assert drawn == {"common", "rare", "scattered"}


def test_a_barycentre_draws_every_level_as_published() -> None:
    avatarizer = Avatarizer(k=5, seed=1, method="barycentre").fit(with_rare())
    drawn = {word for release in range(30) for word in words(avatarizer.draw(release), "site")}
    assert drawn == {"common", "rare", "scattered"}


def test_where_no_neighbour_has_a_level_enough_share_the_commonest_wins() -> None:
    """A far island of people, each with a level of their own."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=100), 1000 + rng.normal(size=12)])
    site = ["b"] * 40 + ["a"] * 60 + [f"own {i}" for i in range(12)]
    avatarizer = Avatarizer(k=5, components=1, seed=1, method="smoothed", weights={"x": 100.0})
    avatarizer.fit(pl.DataFrame({"x": x, "site": site}))
    assert avatarizer.fitted.neighbours.rows[100:].min() >= 100
    assert set(words(avatarizer.draw(0), "site")[100:]) == {"a"}


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
def test_a_column_without_a_level_that_may_be_drawn_is_an_error(method: str) -> None:
    rows = 60
    many = pl.DataFrame(
        {"town": [f"t{i // 3}" for i in range(rows)], "x": [i / 7 for i in range(rows)]}
    )
    with pytest.raises(InputError, match=r"column 'town'.*held by at least 5.*--drop.*--id"):
        Avatarizer(k=5, seed=1, method=method).fit(many)
    Avatarizer(k=5, seed=1, method=method, min_level_count=3).fit(many).draw(0)


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
@pytest.mark.parametrize("name", ["number", "category"])
def test_missing_values_of_too_few_people_are_not_drawn(name: str, method: str) -> None:
    rows = 200
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=rows))
    for lost, wanted in ((4, False), (5, True)):
        number = [None if i < lost else float(v) for i, v in enumerate(x)]
        category = [None if i < lost else "ab"[i % 2] for i in range(rows)]
        cells = {"number": number} if name == "number" else {"category": category}
        avatarizer = Avatarizer(k=5, seed=2, method=method).fit(pl.DataFrame({"x": x, **cells}))
        drawn = sum(int(avatarizer.draw(r).column(name).missing.sum()) for r in range(10))
        assert (drawn > 0) == wanted


# ---------------------------------------------------------------- linked columns


def linked_table(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    region = rng.integers(0, 4, rows)
    town = region * 3 + rng.integers(0, 3, rows)
    return pl.DataFrame(
        {
            "town": [None if v == 5 else f"t{v}" for v in town],
            "x": rng.normal(size=rows),
            "region": [f"r{v}" for v in region],
            "other": rng.choice(["p", "q"], rows).tolist(),
        }
    )


@pytest.mark.parametrize(
    ("method", "decode"),
    [(method.key, decode) for method in METHODS.values() for decode in method.decodes or (None,)],
)
def test_linked_columns_never_contradict_each_other(method: Any, decode: Any) -> None:
    table = linked_table()
    possible = set(zip(table["town"], table["region"], strict=True))
    options: dict[str, Any] = {"k": 20, "seed": 1, "method": method, "decode": decode}
    options |= {"components": 1, "weights": {"x": 100.0}, "min_level_count": 5}
    linked = Avatarizer(**options, linked=[("town", "region")]).fit(table)
    apart = Avatarizer(**options).fit(table)
    for release in range(5):
        made = linked.draw(release)
        assert set(zip(words(made, "town"), words(made, "region"), strict=True)) <= possible
    if decode != "vote":
        made = apart.draw(0)
        assert not set(zip(words(made, "town"), words(made, "region"), strict=True)) <= possible


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
def test_rare_combinations_of_linked_columns_are_never_drawn(method: str) -> None:
    table = pl.DataFrame(
        {
            "x": np.arange(100) / 3,
            "a": ["p"] * 48 + ["q"] * 2 + ["q"] * 50,
            "b": ["1"] * 50 + ["2"] * 50,
        }
    )
    avatarizer = Avatarizer(k=5, seed=1, method=method, linked=[("a", "b")]).fit(table)
    for release in range(10):
        made = avatarizer.draw(release)
        assert set(zip(words(made, "a"), words(made, "b"), strict=True)) == {("p", "1"), ("q", "2")}


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
def test_no_combination_that_enough_share_is_an_error(method: str) -> None:
    rows = range(30)
    table = pl.DataFrame(
        {
            "a": [f"a{i % 6}" for i in rows],
            "b": [f"b{i // 6}" for i in rows],
            "x": [i / 3 for i in rows],
        }
    )
    with pytest.raises(InputError, match="no combination of the linked columns 'a', 'b'"):
        Avatarizer(k=5, seed=1, method=method, linked=[("a", "b")]).fit(table)


# ---------------------------------------------------------------- smoothing


def brute_covariance(mixture: Mixture) -> Floats:
    """Mean over people of the covariance of their neighbours' scores."""
    return np.mean([np.cov(mixture.values[rows].T) for rows in mixture.rows.T], axis=0)


@pytest.mark.parametrize("k", [2, 5, 12])
def test_noise_has_the_mean_covariance_of_the_neighbours(k: int) -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 1))
    cells = hidden + rng.normal(size=(300, 3)) * [0.5, 1.0, 2.0]
    table = pl.DataFrame(cells, schema=list("abc"))
    mixture = Avatarizer(k=k, seed=1, method="smoothed").fit(table).fitted.mixture
    assert isinstance(mixture.noise, GaussianNoise)
    np.testing.assert_allclose(mixture.noise.covariance(3), brute_covariance(mixture), atol=1e-5)


def test_noise_covariance_counts_the_pairs_that_have_both_scores(people: People) -> None:
    """With missing values and spikes: pooled over people, and close to the mean of np.cov."""
    cells = people(rows=300, missing=0.2)
    spiky = np.random.default_rng(1).random(300) < 0.4
    cells["spiky"] = np.where(spiky, 0.0, np.random.default_rng(2).exponential(size=300)).tolist()
    mixture = Avatarizer(k=8, seed=1, method="smoothed").fit(pl.DataFrame(cells)).fitted.mixture
    assert mixture.present is not None
    assert isinstance(mixture.noise, GaussianNoise)
    width = mixture.values.shape[1]
    sums, pairs = np.zeros((width, width)), np.zeros((width, width))
    means: list[list[list[float]]] = [[[] for _ in range(width)] for _ in range(width)]
    for rows in mixture.rows.T:
        has = mixture.present[rows]
        own = np.where(has, mixture.values[rows], np.nan)
        away = own - np.nansum(own, axis=0) / np.maximum(has.sum(axis=0), 1)
        for i in range(width):
            for j in range(width):
                both = has[:, i] & has[:, j]
                sums[i, j] += (away[both, i] * away[both, j]).sum()
                pairs[i, j] += max(both.sum() - 1, 0)
                if both.sum() > 1:
                    means[i][j].append(np.cov(own[both, i], own[both, j])[0, 1])
    found = mixture.noise.covariance(width)
    np.testing.assert_allclose(found, sums / pairs, atol=1e-5)
    np.testing.assert_allclose(found, [[np.mean(c) for c in row] for row in means], atol=0.1)


def test_drawn_noise_has_the_covariance_of_the_mixture(people: People) -> None:
    table = pl.DataFrame(people(rows=2_000, missing=0.0))
    avatarizer = Avatarizer(k=5, seed=1, method="smoothed").fit(table)
    mixture = avatarizer.fitted.mixture
    assert isinstance(mixture.noise, GaussianNoise)
    whole = slice(0, 2_000)
    noise = np.hstack([draws_of(mixture, 1, r, whole).noise for r in range(20)])  # type: ignore[misc]
    np.testing.assert_allclose(np.cov(noise), mixture.noise.covariance(len(noise)), atol=0.03)
    np.testing.assert_allclose(noise.mean(axis=1), 0, atol=0.02)


def gaussian(rows: int = 1_500) -> Floats:
    rng = np.random.default_rng(0)
    return rng.multivariate_normal([0, 0, 0], [[1, 0.6, 0.2], [0.6, 1, 0], [0.2, 0, 1]], rows)


def test_smoothing_gives_back_the_spread_and_keeps_associations() -> None:
    X = gaussian()
    X[:, 2] = np.exp(X[:, 2])
    table = pl.DataFrame(X, schema=list("abc"))
    ratios: dict[str, Floats] = {}
    for method in ("smoothed", "barycentre"):
        avatarizer = Avatarizer(k=10, components=2, seed=1, method=method).fit(table)  # type: ignore[arg-type]
        Y = np.column_stack([numbers(avatarizer.draw(0), name) for name in "abc"])
        ratios[method] = Y[:, :2].std(axis=0) / X[:, :2].std(axis=0)
        if method == "smoothed":
            order = [np.argsort(np.argsort(values, axis=0), axis=0) for values in (X, Y)]
            one, other = (np.corrcoef(ranks.T) for ranks in order)
            np.testing.assert_allclose(one, other, atol=0.06)
            quantiles = [
                np.quantile(values, [0.1, 0.25, 0.5, 0.75, 0.9], axis=0) for values in (X, Y)
            ]
            np.testing.assert_allclose(quantiles[0], quantiles[1], atol=0.2)
    assert (ratios["smoothed"] > 0.95).all()
    assert (ratios["smoothed"] < 1.05).all()
    assert (ratios["barycentre"] < ratios["smoothed"] - 0.02).all()


def test_a_smoothed_score_is_the_mean_plus_the_spread_that_averaging_took() -> None:
    """``z = sum w_j z_j + sqrt(max(1 - sum w_j^2, 1/4)) e``, then back by the order statistics."""
    table = pl.DataFrame(gaussian(300), schema=list("abc"))
    avatarizer = Avatarizer(k=5, seed=8, method="smoothed").fit(table)
    mixture = avatarizer.fitted.mixture
    weights, noise = by_hand(mixture, 8, 3), draws_of(mixture, 8, 3, slice(0, 300)).noise
    assert noise is not None
    spread = np.sqrt(np.maximum(1 - np.square(weights).sum(axis=1), 0.25))
    made = avatarizer.draw(3)
    for i, name in enumerate("abc"):
        values = table[name].to_numpy()
        scores = NormalScores.of(values, 5)
        near = scores.scores[mixture.order[mixture.rows.T]]
        z = (weights * near).sum(axis=1) + spread * noise[i]
        np.testing.assert_allclose(
            numbers(made, name)[mixture.order], scores.back(z), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("method", METHODS)
def test_the_largest_number_has_no_larger_mean(method: str) -> None:
    """People who all hold it, with weights that sum to a little more than 1."""
    largest = float(np.finfo(np.float64).max)
    own = [-largest] * 150 + [v / 7 for v in range(50)]
    made = Avatarizer(k=5, seed=1, method=method, numeric=["x"]).fit(pl.DataFrame({"x": own}))
    for release in made.releases(5, shuffle=False):
        assert release["x"].is_finite().all()
        assert (release["x"][:100] <= -largest * (1 - 1e-12)).all()


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
def test_spikes_are_kept(method: str) -> None:
    rng = np.random.default_rng(0)
    rows = 2_000
    x = rng.normal(size=rows)
    units = np.where(x + rng.normal(size=rows) > 0, 0.0, np.round(rng.exponential(30, rows) + 1, 1))
    avatarizer = Avatarizer(k=5, seed=1, method=method)
    avatarizer.fit(pl.DataFrame({"x": x, "units": units}))
    made = numbers(avatarizer.draw(0), "units")
    assert abs((made == 0).mean() - (units == 0).mean()) < 0.04
    off = made[made != 0]
    own = np.sort(units[units != 0])
    # The least that smoothing gives is the k-th value; the law of groups, the mean of k of them.
    assert off.min() >= (own[4] if method == "smoothed" else np.round(own[:5].mean(), 1))
    np.testing.assert_allclose(np.median(off), np.median(units[units != 0]), rtol=0.15)


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
@pytest.mark.parametrize("k", [3, 5, 20])
@pytest.mark.parametrize("least", [1, 5, 30])
def test_extremes_that_fewer_than_k_share_never_appear(k: int, least: int, method: str) -> None:
    """Whatever `min_level_count` lets in: an extreme is a person's own."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"real": rng.standard_t(2, 300), "whole": np.rint(rng.standard_t(2, 300) * 20).astype(int)}
    )
    avatarizer = Avatarizer(k=k, seed=1, method=method, min_level_count=least).fit(table)
    fewest = max(k, least)
    for name in table.columns:
        ordered = np.sort(table[name].to_numpy())
        made = np.concatenate([numbers(avatarizer.draw(r), name) for r in range(20)])
        low, high = ordered[fewest - 1], ordered[-fewest]
        if method == "exchangeable":
            low, high = ordered[:fewest].mean(), ordered[-fewest:].mean()
            if name == "whole":
                low, high = max(np.rint(low), ordered[0] + 1), min(np.rint(high), ordered[-1] - 1)
        assert low > ordered[0]
        assert high < ordered[-1]
        roundoff = 1e-12 * max(abs(low), abs(high))  # of the means
        assert made.min() >= low - roundoff
        assert made.max() <= high + roundoff


def test_one_neighbour_is_no_error() -> None:
    table = pl.DataFrame({"x": np.arange(40.0) / 3, "y": ["a", "b"] * 20})
    for method in ("smoothed", "barycentre"):
        made = Avatarizer(k=1, seed=1, method=method).fit(table).draw(0)  # type: ignore[arg-type]
        assert np.isfinite(numbers(made, "x")).all()


@pytest.mark.parametrize("method", ["exchangeable", "smoothed"])
def test_missing_values_of_two_columns_are_drawn_independently(method: str) -> None:
    """0.2 and 0.2 give about 0.04 jointly, not 0.2."""
    rng = np.random.default_rng(0)
    rows = 4_000
    cells = {
        "x": np.where(rng.random(rows) < 0.2, None, rng.normal(size=rows)).tolist(),
        "site": np.where(rng.random(rows) < 0.2, None, rng.choice(["a", "b"], rows)).tolist(),
        "y": rng.normal(size=rows),
    }
    avatarizer = Avatarizer(k=10, seed=1, method=method).fit(pl.DataFrame(cells))
    joint = []
    for release in range(5):
        made = avatarizer.draw(release)
        lost = [made.column(name).missing for name in ("x", "site")]
        assert all(abs(one.mean() - 0.2) < 0.03 for one in lost)
        joint.append((lost[0] & lost[1]).mean())
    assert 0.03 < np.mean(joint) < 0.05
