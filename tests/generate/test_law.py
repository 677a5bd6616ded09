"""The law of the avatars against avatars that the generator draws, person by person.

The attackers' law (`sosie.attacks.knowledge`) gives each person's mean, covariance and vote
shares; the generator (`sosie.generate.draw`) draws thousands of avatars of the same person, on
the scale on which numbers are averaged and before any is made missing or a spike, and both must
agree within Monte Carlo error. So the two can't drift apart: handed a law without the floor of
the noise, either one fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal, norm

from sosie.attacks.bayes import DRAWS, Bayes
from sosie.attacks.knowledge import Analytic, Law, Sighting
from sosie.compute.arrays import Floats, Ints
from sosie.compute.randomness import BLOCK
from sosie.compute.storage import MEMORY
from sosie.data.table import Grid
from sosie.generate import law as formulas
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.draw import gather, gathered_into
from sosie.generate.scales import OwnScale

ROWS = 240
ERROR = 0.001
"""Chance that a right law fails one comparison of a whole table."""
FEWEST = 25
"""Draws of a level below which a share is no longer Gaussian: its error counts as that of these."""


def numbers_only() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(ROWS, 2))
    cells = hidden @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(ROWS, 4))
    cells[:, 3] = np.exp(cells[:, 3])
    return pl.DataFrame(cells, schema=["a", "b", "c", "tail"])


def mixed() -> pl.DataFrame:
    """Missing numbers, some in whole corners of the space; a spike; missing categories."""
    rng = np.random.default_rng(1)
    hidden = np.sort(rng.normal(size=ROWS))
    lost = rng.random(ROWS) < np.where(hidden > 1, 0.9, 0.1)
    zero = rng.random(ROWS) < 0.4
    site = rng.choice(["n", "s", "e"], ROWS).astype(object)
    site[rng.random(ROWS) < 0.15] = None
    return pl.DataFrame(
        {
            "holes": np.where(lost, None, hidden + 0.3 * rng.normal(size=ROWS)).tolist(),
            "spiky": np.where(zero, 0.0, np.exp(hidden + rng.normal(size=ROWS))),
            "whole": hidden * 2 + rng.normal(size=ROWS),
            "site": site.tolist(),
        }
    )


def categories() -> pl.DataFrame:
    """A common level, levels of two people each, and an island where no neighbour may vote."""
    rng = np.random.default_rng(2)
    site = rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.3, 0.1]).astype(object)
    for i in range(0, 60, 2):
        site[i : i + 2] = f"rare {i}"
    return pl.DataFrame(
        {
            "site": site.tolist(),
            "stage": [f"s{int(v)}" for v in np.clip(rng.normal(3, 1, ROWS), 0, 6)],
            "town": [f"t{i // 24}" for i in range(ROWS)],
        }
    )


TABLES: dict[str, tuple[Callable[[], pl.DataFrame], dict[str, Any]]] = {
    "numbers only": (numbers_only, {}),
    "mixed": (mixed, {}),
    "categories": (categories, {"weights": {"town": 50.0}}),
    "categories, by vote": (categories, {"weights": {"town": 50.0}, "decode": "vote"}),
    "mixed barycentres": (mixed, {"method": "barycentre"}),
}


def fitted(name: str, k: int) -> Avatarizer:
    table, options = TABLES[name]
    return Avatarizer(k=k, seed=3, **({"method": "smoothed"} | options)).fit(table())


@dataclass(frozen=True)
class Drawn:
    """Avatars of some people: ``(people, times, p)`` numbers, ``(people, times)`` of each vote."""

    values: Floats
    codes: list[Ints]


def drawn(avatarizer: Avatarizer, people: Ints, times: int) -> Drawn:
    """The generator's own draws, each person's neighbourhood many times over."""
    fit: Any = avatarizer.fitted
    whole, places = fit.mixture, np.repeat(fit.place[people], times)
    bare = tuple(
        replace(number, scale=OwnScale(), state=None, low=-np.inf, high=np.inf)
        for number in whole.numbers
    )
    many = replace(
        whole,
        order=places,
        rows=whole.rows[:, places],
        distances=whole.distances[:, places],
        numbers=bare,
        total=len(places),
    )
    columns = [replace(c, kind="number", grid=Grid()) for c in avatarizer.table.numbers]
    made = gathered_into(many, 1, MEMORY)
    decode = avatarizer.settings.decode
    gather(many, columns, 5, 0, made, decode=decode, chunk=BLOCK, threads=1)
    shape = (len(people), times)
    values = [column.reshape(shape) for column in made.values]
    return Drawn(
        np.stack(values, axis=2) if values else np.empty((*shape, 0)),
        [codes.reshape(shape).astype(np.int64) for codes in made.codes],
    )


def known(avatarizer: Avatarizer, people: Ints, times: int) -> Analytic:
    """The attackers' law of the same people."""
    law = Law(avatarizer, people, np.random.default_rng(7), draws=times)
    return Analytic(law, law.sight(avatarizer.table, people))


def deviations(one: Drawn, law: Analytic) -> Floats:
    """All differences in units of their Monte Carlo errors, those of both sides.

    The law averages over drawn weights what the generator draws: its error is at most as large.
    """
    times = one.values.shape[1]
    means = one.values.mean(axis=1)
    away = one.values - means[:, None, :]
    products = away[:, :, :, None] * away[:, :, None, :]
    pairs = [
        (means - law.means, away.var(axis=1)),
        (products.mean(axis=1) - law.covariances, products.var(axis=1)),
    ]
    found = [
        (difference / np.sqrt(2 * np.maximum(variance, 1e-20) / times)).ravel()
        for difference, variance in pairs
    ]
    for codes, votes in zip(one.codes, law.votes, strict=True):
        for level in np.unique(np.concatenate([codes.ravel(), votes.codes.ravel()])):
            share = np.where(votes.codes == level, votes.shares, 0.0).sum(axis=1)
            seen = (codes == level).mean(axis=1)
            assert not seen[share == 0].any(), "a level that the law excludes was drawn"
            middle = np.clip((seen + share) / 2, FEWEST / times, 1 - FEWEST / times)
            found.append((seen - share) / np.sqrt(2 * middle * (1 - middle) / times))
    return np.concatenate(found)


def agree(one: Drawn, law: Analytic) -> bool:
    """Whether no difference is beyond what chance gives so many comparisons."""
    found = np.abs(deviations(one, law))
    return bool(found.max() < norm.isf(ERROR / (2 * len(found))))


SIZES = [
    pytest.param(12, 5_000, id="12 people"),
    pytest.param(30, 20_000, id="30 people", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("people", "times"), SIZES)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("k", [2, 8])
def test_generator_and_attackers_have_one_law(name: str, k: int, people: int, times: int) -> None:
    avatarizer, some = fitted(name, k), np.linspace(0, ROWS - 1, people).astype(np.int64)
    assert agree(drawn(avatarizer, some, times), known(avatarizer, some, times))


@pytest.mark.parametrize(("people", "times"), SIZES)
@pytest.mark.parametrize("without", ["generator", "attacker"])
@pytest.mark.parametrize("name", ["numbers only", "mixed"])
def test_a_law_without_the_floor_is_noticed(
    name: str, without: str, people: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of two neighbours one often has nearly all the weight: there the floor matters most.
    avatarizer, some = fitted(name, 2), np.linspace(0, ROWS - 1, people).astype(np.int64)
    with monkeypatch.context() as patch:
        if without == "generator":
            patch.setattr(formulas, "LEAST_NOISE", 0.0)
        one = drawn(avatarizer, some, times)
    with monkeypatch.context() as patch:
        if without == "attacker":
            patch.setattr(formulas, "LEAST_NOISE", 0.0)
        law = known(avatarizer, some, times)
    assert not agree(one, law)


def averaged_likelihood(law: Law, sighting: Sighting, target: int, person: int) -> float:
    """The density of a row of numbers averaged over the weights, written out.

    But for its constant: that of a Gaussian with the covariance of noise and rounding.
    """
    near, values = law.near[person], law.mixture.values[law.rows[person]]
    covariance = law.noise + np.diag(sighting.blur)
    densities = []
    for chance in law.chance[:DRAWS]:
        weights = near * chance / (near * chance).sum()
        variance = max(1 - (weights**2).sum(), 0.25)
        of_weights = multivariate_normal(weights @ values, variance * covariance)
        densities.append(of_weights.pdf(sighting.values[target]))
    constant = multivariate_normal(np.zeros(len(covariance)), covariance).pdf(
        np.zeros(len(covariance))
    )
    return float(np.log(np.mean(densities) / constant))


def test_the_averaged_likelihood_has_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    avatarizer, people = fitted("numbers only", 2), np.arange(ROWS)
    law = Law(avatarizer, people, np.random.default_rng(0))
    sighting = law.sight(avatarizer.draw(0), people)
    scores = Bayes(Analytic(law, sighting))
    some = np.arange(0, ROWS, 30)
    wanted = [averaged_likelihood(law, sighting, int(i), int(i)) for i in some]
    np.testing.assert_allclose(scores.pairs(some, some), wanted, atol=0.001)
    monkeypatch.setattr(formulas, "LEAST_NOISE", 0.0)
    assert np.abs(scores.pairs(some, some) - wanted).max() > 0.02


def test_the_geometry_measures_in_units_of_the_floored_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = np.arange(ROWS)

    def share() -> tuple[float, float]:
        law = Law(fitted("numbers only", 3), people, np.random.default_rng(0))
        squares = np.square(law.weights_of(people)).sum(axis=2)
        return law.noise_share, float(np.maximum(1 - squares, 0.25).mean())

    ours, wanted = share()
    assert ours == pytest.approx(wanted, rel=1e-6)
    monkeypatch.setattr(formulas, "LEAST_NOISE", 0.0)
    ours, wanted = share()
    assert ours < 0.98 * wanted
