"""FAMD against prince, NumPy's SVD and distances worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import prince
import pytest

from sosie.compute.arrays import Floats
from sosie.data.table import Levels, Numbers, Roles, Table
from sosie.errors import InputError
from sosie.latent import famd as module
from sosie.latent.famd import FAMD, CrossProduct, Layout
from sosie.latent.neighbours import NeighbourIndex

People = Callable[..., dict[str, list[Any]]]


def mixed(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "age": 50 + 10 * hidden + rng.normal(0, 4, rows),
            "sex": rng.choice(["F", "M"], rows),
            "dose": 1e-3 * np.exp(rng.normal(size=rows)),
            "stage": np.where(hidden > 1, "late", np.where(hidden > -1, "middle", "early")),
            "site": rng.choice(list("abcdefg"), rows, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05]),
        }
    )


NUMERIC, CATEGORICAL = ["age", "dose"], ["sex", "stage", "site"]


def assert_same_up_to_sign(one: Floats, other: Floats, atol: float = 1e-8) -> None:
    signs = np.sign((one * other).sum(axis=0))
    np.testing.assert_allclose(one, other * signs, rtol=0, atol=atol)


def square_distances(points: Floats) -> Floats:
    return np.asarray(np.square(points[:, None] - points[None]).sum(axis=2))


# ---------------------------------------------------------------- independent libraries


@pytest.mark.parametrize("seed", [0, 1])
def test_mixed_tables_agree_with_prince(seed: int) -> None:
    frame = mixed(seed=seed)
    table = Table.of(frame)
    ours = FAMD.fit(table, components=4)
    theirs = prince.FAMD(n_components=4, n_iter=20, engine="scipy").fit(frame)
    assert_same_up_to_sign(ours.transform(table), theirs.row_coordinates(frame).to_numpy())
    np.testing.assert_allclose(ours.eigenvalues, theirs.eigenvalues_, rtol=1e-10)


def test_all_numeric_tables_are_principal_components() -> None:
    frame = mixed()[NUMERIC].assign(extra=mixed(seed=3)["age"])
    table = Table.of(frame)
    ours = FAMD.fit(table, components=3).transform(table)
    theirs = prince.PCA(n_components=3, engine="scipy").fit(frame).row_coordinates(frame)
    assert_same_up_to_sign(ours, theirs.to_numpy())
    X = frame.to_numpy()
    u, s, _ = np.linalg.svd((X - X.mean(axis=0)) / X.std(axis=0), full_matrices=False)
    assert_same_up_to_sign(ours, u * s)


def test_all_categorical_tables_are_multiple_correspondence_analyses() -> None:
    """MCA divides by the number of columns, FAMD does not: a factor of its square root."""
    frame = mixed()[CATEGORICAL]
    table = Table.of(frame)
    ours = FAMD.fit(table, components=3).transform(table)
    theirs = prince.MCA(n_components=3, n_iter=20, engine="scipy").fit(frame)
    assert_same_up_to_sign(ours, theirs.row_coordinates(frame).to_numpy() * np.sqrt(3))


def test_standard_deviations_of_actg175_are_those_published(actg175: pl.DataFrame) -> None:
    table = Table.of(actg175)
    coordinates = FAMD.fit(table, components=5).transform(table)
    rounded = [
        round(float(sd), digits)
        for sd, digits in zip(coordinates.std(axis=0), (3, 3, 3, 2, 2), strict=True)
    ]
    assert rounded == [1.923, 1.582, 1.488, 1.38, 1.31]


def test_actg175_agrees_with_prince(actg175: pl.DataFrame) -> None:
    table = Table.of(actg175)
    numbers = {column.name for column in table.numbers}
    frame = pd.DataFrame(
        {
            name: actg175[name].to_numpy() if name in numbers else actg175[name].cast(str).to_list()
            for name in actg175.columns
        }
    ).astype(dict.fromkeys(numbers, float))
    theirs = prince.FAMD(n_components=5, n_iter=30, engine="scipy").fit(frame)
    ours = FAMD.fit(table, components=5).transform(table)
    assert_same_up_to_sign(ours, theirs.row_coordinates(frame).to_numpy())


# ---------------------------------------------------------------- by hand


def test_coordinates_of_a_square_are_its_corners() -> None:
    """Two numbers without correlation and a weight of 4: the axes are the columns."""
    frame = pl.DataFrame({"x": [3.0, 3.0, 7.0, 7.0], "y": [10.0, 20.0, 10.0, 20.0]})
    table = Table.of(frame, Roles(numeric=("x", "y")))
    fitted = FAMD.fit(table, weights={"x": 4.0})
    np.testing.assert_allclose(fitted.eigenvalues, [4.0, 1.0], rtol=1e-12)
    np.testing.assert_allclose(
        fitted.transform(table), [[-2, -1], [-2, 1], [2, -1], [2, 1]], atol=1e-12
    )


def by_hand(table: Table, weights: dict[str, float]) -> Floats:
    """Squared distances from the definition: numbers by sd, levels by 1/p, times the weight."""
    total = np.zeros((len(table), len(table)))
    for column in table.columns:
        weight = weights.get(str(column.name), 1.0)
        indicators = [column.missing] if isinstance(column, Numbers) else []
        if isinstance(column, Numbers):
            scores = (column.values - np.nanmean(column.values)) / np.nanstd(column.values)
            total += weight * square_distances(np.nan_to_num(scores)[:, None])
            indicators.append(~column.missing)
        else:
            indicators += [column.codes == code for code in range(len(column.labels))]
        for held in indicators:
            if 0 < held.mean() < 1:
                scores = (held - held.mean()) / np.sqrt(held.mean())
                total += weight * square_distances(scores[:, None])
    return total


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_all_components_keep_the_distances_of_the_definition(
    people: People, missing: float
) -> None:
    table = Table.of(pl.DataFrame(people(rows=120, missing=missing)))
    weights = {"age": 3.0, "stage": 0.5, "site": 0.0}
    fitted = FAMD.fit(table, components=None, weights=weights)
    np.testing.assert_allclose(
        square_distances(fitted.transform(table)), by_hand(table, weights), rtol=0, atol=1e-8
    )


def test_a_missing_number_is_the_mean_with_an_indicator() -> None:
    """Distance from a present x: (x - mean)^2 / var + 1/p(present) + 1/p(missing)."""
    values = [0.0, 2.0, 4.0, None]
    table = Table.of(pl.DataFrame({"x": values}), Roles(numeric=("x",)))
    points = FAMD.fit(table, components=None).transform(table)
    variance = 8 / 3
    wanted = [4 / variance + 4 / 3 + 4, 4 / 3 + 4, 4 / variance + 4 / 3 + 4]
    np.testing.assert_allclose(square_distances(points)[3, :3], wanted, rtol=1e-12)


def test_constant_and_empty_columns_add_no_distance(people: People) -> None:
    cells = people(rows=80)
    more = cells | {"one": ["x"] * 80, "none": [None] * 80, "seven": [7.5] * 80}
    plain = FAMD.fit(Table.of(pl.DataFrame(cells)))
    table = Table.of(pl.DataFrame(more), Roles(numeric=("seven",)))
    wider = FAMD.fit(table)
    assert_same_up_to_sign(wider.transform(table), plain.transform(Table.of(pl.DataFrame(cells))))
    np.testing.assert_allclose(wider.contributions()["seven"], 0.0, atol=1e-20)


def test_nothing_that_varies_is_an_error() -> None:
    table = Table.of(pl.DataFrame({"a": ["x"] * 5, "b": [1] * 5}))
    with pytest.raises(InputError, match="no column varies"):
        FAMD.fit(table)


def test_components_are_at_least_one_and_at_most_the_rank() -> None:
    table = Table.of(mixed())
    with pytest.raises(InputError, match="components must be at least 1, got 0"):
        FAMD.fit(table, components=0)
    fitted = FAMD.fit(table, components=100)
    # 2 numbers, and one dimension less than levels for each category.
    assert fitted.components == 2 + (2 - 1) + (3 - 1) + (7 - 1)
    np.testing.assert_allclose(fitted.explained.sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(fitted.inertia, fitted.components, rtol=1e-12)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{i}": rng.normal(size=15) for i in range(40)})
    table = Table.of(frame)
    fitted = FAMD.fit(table, components=None)
    assert fitted.components == 14
    X = frame.to_numpy()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(
        square_distances(fitted.transform(table)), square_distances(Z), rtol=1e-9, atol=1e-8
    )


@pytest.mark.parametrize("factor", [1e300, 1e-300, 1e-150, 1e150])
def test_units_do_not_matter(factor: float) -> None:
    frame = mixed()
    scaled = frame.assign(dose=frame["dose"] * factor)
    plain, other = Table.of(frame), Table.of(scaled)
    np.testing.assert_allclose(
        FAMD.fit(other).transform(other), FAMD.fit(plain).transform(plain), rtol=0, atol=1e-9
    )


def test_a_tiny_spread_far_from_zero_is_a_spread() -> None:
    steps = np.arange(50)
    frame = pl.DataFrame({"x": 1 + steps * 2.0**-40, "y": steps[::-1] ** 2.0})
    table = Table.of(frame)
    plain = Table.of(frame.with_columns(pl.Series("x", steps * 1.0)))
    np.testing.assert_allclose(
        FAMD.fit(table).transform(table), FAMD.fit(plain).transform(plain), rtol=0, atol=1e-3
    )


# ---------------------------------------------------------------- sums of parts


def test_the_cross_product_is_additive(people: People) -> None:
    whole = Table.of(pl.DataFrame(people(rows=400)))
    layout = Layout.of(whole)
    parts = [whole.take(np.arange(400)[i::3]) for i in range(3)]
    product = CrossProduct(layout)
    for part in parts:
        product.add(part)
    np.testing.assert_allclose(product.total, CrossProduct(layout).add(whole).total, atol=1e-9)
    again = CrossProduct(layout).restore(CrossProduct(layout).add(parts[0]).total)
    again.add(parts[1]).add(parts[2])
    np.testing.assert_allclose(again.total, product.total, atol=1e-9)
    one, other = FAMD.solve(product), FAMD.fit(whole)
    np.testing.assert_allclose(one.transform(whole), other.transform(whole), atol=1e-8)


def test_a_stack_of_tables_is_fitted_without_being_held() -> None:
    """Moments of the stack, not of the first table, scale the columns."""
    first, second = mixed(seed=0), mixed(seed=1).assign(age=lambda t: t["age"] * 3 + 40)
    layout = Layout.of(table := Table.of(first))
    apart = FAMD.solve(CrossProduct(layout).add(table).add(table.like(second)), 6)
    stacked = Table.of(pd.concat([first, second], ignore_index=True))
    together = FAMD.fit(stacked, 6)
    assert_same_up_to_sign(apart.transform(table.like(second)), together.transform(stacked)[300:])
    np.testing.assert_allclose(apart.eigenvalues, together.eigenvalues, rtol=1e-10)


def test_levels_that_were_not_fitted_add_nothing() -> None:
    table = Table.of(mixed())
    fitted = FAMD.fit(table, components=None)
    strange = table.like(mixed().head(3).assign(site=["new", "newer", None]))
    plain = fitted.transform(table.take(np.arange(3)))
    site = next(block for block in fitted.layout.blocks if block.name == "site")
    column = table.column("site")
    assert isinstance(column, Levels)
    own = fitted._slopes[site.start - 1 + column.codes[:3]]
    np.testing.assert_allclose(fitted.transform(strange), plain - own, atol=1e-9)


def test_each_row_is_transformed_alone() -> None:
    table = Table.of(mixed(rows=20_000))
    fitted = FAMD.fit(table)
    whole = fitted.transform(table)
    rows = np.random.default_rng(0).permutation(20_000)[:7_000]
    assert np.array_equal(fitted.transform(table.take(rows)), whole[rows])


def test_equal_rows_have_equal_coordinates() -> None:
    frame = pd.concat([mixed()] * 3, ignore_index=True)
    table = Table.of(frame)
    points = FAMD.fit(table).transform(table)
    assert np.array_equal(points[:300], points[300:600])
    assert np.array_equal(points[:300], points[600:])


# ---------------------------------------------------------------- many levels


def cities(rows: int = 6_000, size: int = 800) -> Table:
    """Two columns of many levels that share a few regions, with gaps between the regions' ties."""
    rng = np.random.default_rng(0)
    region = rng.choice(6, rows, p=[0.4, 0.2, 0.15, 0.12, 0.08, 0.05])
    stays = rng.random(rows) < np.array([0.95, 0.9, 0.8, 0.7, 0.6, 0.5])[region]
    away = np.where(stays, region, rng.integers(0, 6, rows))
    return Table.of(
        pl.DataFrame(
            {
                "town": [f"t{v}" for v in region + 6 * rng.integers(0, size // 6, rows)],
                "street": [f"s{v}" for v in away + 6 * rng.integers(0, size // 6, rows)],
                "age": rng.normal(size=rows) + region,
                "sex": rng.choice(["F", "M"], rows).tolist(),
            }
        )
    )


def test_the_sparse_cross_product_is_the_dense_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = cities()
    layout = Layout.of(table)
    monkeypatch.setattr(module, "MOST_DENSE", 10**6)
    monkeypatch.setattr(module, "MOST_NARROW", 10**6)
    dense = CrossProduct(layout).add(table).total
    monkeypatch.setattr(module, "MOST_NARROW", 50)
    np.testing.assert_allclose(CrossProduct(layout).add(table).total, dense, atol=1e-10)
    monkeypatch.setattr(module, "MOST_DENSE", 100)
    sparse = CrossProduct(layout).add(table)
    assert not sparse.dense
    np.testing.assert_allclose(sparse.total.toarray(), dense, atol=1e-10)


def test_many_equal_eigenvalues_lose_no_component() -> None:
    """Levels that few people hold have eigenvalues alike, of which LAPACK may find none."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        town = [f"t{v}" for v in rng.zipf(1.5, 2_000) % 900]
        table = Table.of(pl.DataFrame({"town": town, "x": np.arange(2_000) / 7}))
        few, every = FAMD.fit(table, 5), FAMD.fit(table, None)
        assert few.eigenvalues == pytest.approx(every.eigenvalues[:5])


def test_iteration_agrees_with_the_dense_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    table = cities()
    assert Layout.of(table).width > module.MOST_DENSE
    sparse = FAMD.fit(table, components=5)
    monkeypatch.setattr(module, "MOST_DENSE", 10**6)
    dense = FAMD.fit(table, components=5)
    np.testing.assert_allclose(sparse.eigenvalues, dense.eigenvalues, rtol=1e-8)
    np.testing.assert_allclose(sparse.inertia, dense.inertia, rtol=1e-10)
    np.testing.assert_allclose(sparse.transform(table), dense.transform(table), rtol=0, atol=1e-3)


def test_iteration_gives_the_same_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_DENSE", 50)
    table = cities(size=60)
    one, other = FAMD.fit(table), FAMD.fit(table)
    assert np.array_equal(one.loadings, other.loadings)


# ---------------------------------------------------------------- back


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_averaging_in_the_latent_space_is_averaging_the_rows(
    people: People, missing: float
) -> None:
    """The equality that generation rests on: no inverse transform is needed to make avatars."""
    table = Table.of(pl.DataFrame(people(rows=150, missing=missing)))
    fitted = FAMD.fit(table, components=None)
    points = fitted.transform(table)
    near = NeighbourIndex(points[:, :5]).others(7)
    weights = np.random.default_rng(0).dirichlet(np.ones(7), size=len(table))
    back = fitted.inverse_transform(np.einsum("ij,ijd->id", weights, points[near.rows]))
    for column in table.columns:
        if isinstance(column, Numbers):
            imputed = np.where(column.missing, np.nanmean(column.values), column.values)
            mean = (weights * imputed[near.rows]).sum(axis=1)
            np.testing.assert_allclose(back.numbers[column.name], mean, rtol=1e-9, atol=1e-9)
            if column.missing.any():
                lost = (weights * column.missing[near.rows]).sum(axis=1)
                np.testing.assert_allclose(back.shares[column.name][:, 1], lost, atol=1e-9)
        else:
            for code in range(len(column.labels)):
                share = (weights * (column.codes[near.rows] == code)).sum(axis=1)
                np.testing.assert_allclose(back.shares[column.name][:, code], share, atol=1e-9)


def test_the_inverse_gives_back_the_rows(people: People) -> None:
    table = Table.of(pl.DataFrame(people(rows=90, missing=0.0)))
    fitted = FAMD.fit(table, components=None)
    back = fitted.inverse_transform(fitted.transform(table))
    for column in table.numbers:
        np.testing.assert_allclose(back.numbers[column.name], column.values, rtol=1e-9, atol=1e-7)
    for level in table.levels:
        one_hot = np.eye(len(level.labels))[level.codes]
        np.testing.assert_allclose(back.shares[level.name], one_hot, atol=1e-9)


def test_contributions_sum_to_one(people: People) -> None:
    fitted = FAMD.fit(Table.of(pl.DataFrame(people())))
    shares = fitted.contributions()
    assert set(shares) == set(people())
    np.testing.assert_allclose(sum(shares.values()), np.ones(5), rtol=1e-12)


def test_fewer_components_are_the_first_ones() -> None:
    table = Table.of(mixed())
    six = FAMD.fit(table, components=6)
    np.testing.assert_allclose(
        six.first(2).transform(table), six.transform(table)[:, :2], atol=1e-12
    )
    np.testing.assert_allclose(six.first(2).explained, six.explained[:2])


# ---------------------------------------------------------------- names


def test_names_of_levels_and_columns_do_not_matter() -> None:
    frame = mixed()
    site = dict(zip("abcdefg", "gfedcba", strict=True))
    other = frame.assign(site=frame["site"].map(site), sex=frame["sex"].map({"F": "z", "M": "a"}))
    other.columns = ["z y", "(x)", "class", "0", "\n"]
    plain, renamed = Table.of(frame), Table.of(other)
    assert np.array_equal(FAMD.fit(plain).transform(plain), FAMD.fit(renamed).transform(renamed))
