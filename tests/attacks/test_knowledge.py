"""The law of an avatar, worked out, against avatars that were drawn."""

import numpy as np
import polars as pl
import pytest

from sosie.attacks.bayes import Bayes
from sosie.attacks.decisions import first_of
from sosie.attacks.knowledge import Analytic, Law
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer

ROWS = np.arange(120)
RELEASES = 400


def frame() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    hidden = rng.normal(size=(120, 2))
    made = pl.DataFrame(
        {
            "a": np.round(hidden[:, 0] * 10, 1),
            "b": np.rint(hidden @ [5.0, 9.0]).astype(int),
            "zeros": np.where(rng.random(120) < 0.4, 0, np.rint(np.exp(hidden[:, 1]) * 100)),
            "group": [("u", "v", "w")[i] for i in rng.integers(0, 3, 120)],
            "other": [("x", "y")[int(v > 0)] for v in hidden[:, 0] + rng.normal(size=120)],
        }
    )
    lost = pl.Series(rng.random(120) < 0.1)
    return made.with_columns(a=pl.when(lost).then(None).otherwise(pl.col("a")))


@pytest.fixture(scope="module", params=["barycentre", "smoothed"])
def made(request) -> Avatarizer:
    return Avatarizer(6, 2, method=request.param, min_level_count=1, seed=2).fit(frame())


@pytest.fixture(scope="module")
def law(made: Avatarizer) -> Law:
    return Law(made, ROWS, np.random.default_rng(0))


def test_moments_and_votes_are_those_of_drawn_avatars(made: Avatarizer, law: Law):
    seen = [law.sight(made.draw(r), ROWS) for r in range(RELEASES)]
    analytic = Analytic(law, seen[0])
    values = np.stack([s.values for s in seen])
    scored = (~np.isnan(values)).sum(axis=0)
    for column in range(values.shape[2]):
        enough = scored[:, column] > RELEASES / 2
        drawn = np.nanmean(values[:, enough, column], axis=0)
        spread = np.nanstd(values[:, enough, column], axis=0)
        scale = law.scale[column]
        assert np.abs(drawn - analytic.means[enough, column]).mean() < 0.08 * scale
        expected = np.sqrt(analytic.covariances[enough, column, column])
        assert np.abs(spread - expected).mean() < 0.06 * scale
    for number, vote in enumerate(analytic.votes):
        codes = np.stack([s.codes[number] for s in seen])
        for level in np.unique(vote.codes):
            share = np.where(vote.codes == level, vote.shares, 0).sum(axis=1)
            np.testing.assert_allclose((codes == level).mean(axis=0), share, atol=0.12)
            assert np.abs((codes == level).mean(axis=0) - share).mean() < 0.03


def test_vote_probabilities_of_the_winner():
    made = Avatarizer(5, 2, method="barycentre", decode="vote", seed=2).fit(frame())
    law = Law(made, ROWS, np.random.default_rng(0))
    seen = [law.sight(made.draw(r), ROWS) for r in range(RELEASES)]
    for number, vote in enumerate(Analytic(law, seen[0]).votes):
        codes = np.stack([s.codes[number] for s in seen])
        for level in np.unique(vote.codes):
            share = np.where(vote.codes == level, vote.shares, 0).sum(axis=1)
            assert np.abs((codes == level).mean(axis=0) - share).mean() < 0.03


def test_pairs_and_grid_agree(made: Avatarizer, law: Law):
    sighting = law.sight(made.draw(0), ROWS)
    scorers = [Analytic(law, sighting)]
    if made.settings.method == "smoothed":
        scorers.append(Bayes(scorers[0]))
    some, who = np.array([3, 50, 7, 119]), np.array([7, 3, 100])
    for scorer in scorers:
        grid = scorer.grid(some, who)
        np.testing.assert_allclose(grid, scorer.pairs(some[:, None], who[None, :]), atol=1e-3)
        mixed = scorer.pairs(np.array([[3, 50], [7, 119]]), np.array([[7, 3], [3, 100]]))
        right = [[grid[0, 0], grid[1, 1]], [grid[2, 1], grid[3, 2]]]
        np.testing.assert_allclose(mixed, right, atol=1e-3)


def test_the_attack_knows_no_more_than_the_law(made: Avatarizer, law: Law):
    """On rows of independent noise it is at chance; on avatars far above."""
    sighting = law.sight(made.draw(0), ROWS)
    assert first_of(Analytic(law, sighting).grid(ROWS), ROWS).hit.mean() > 0.1
    other = np.random.default_rng(3).permutation(120)
    shuffled = law.sight(made.draw(0), other)
    assert first_of(Analytic(law, shuffled).grid(ROWS), ROWS).hit.mean() < 0.06


def test_bayes_is_for_smoothed_only(made: Avatarizer, law: Law):
    sighting = law.sight(made.draw(0), ROWS)
    analytic = Analytic(law, sighting)
    if made.settings.method == "barycentre":
        with pytest.raises(InputError, match="smoothed"):
            Bayes(analytic)
        return
    scores = Bayes(analytic).grid(ROWS)
    assert np.isfinite(scores).all()
    assert first_of(scores, ROWS).hit.mean() > 0.1


def test_a_level_that_the_law_lacks_is_just_unlikely(made: Avatarizer, law: Law):
    release = made.release(0, shuffle=False).with_columns(group=pl.lit("never seen"))
    sighting = law.sight(made.table.like(release), ROWS)
    assert np.isfinite(Analytic(law, sighting).grid(ROWS)).all()


def test_linked_columns_are_one_vote():
    twice = frame().with_columns(same=pl.col("group") + "!")
    made = Avatarizer(5, 2, method="smoothed", linked=[("group", "same")], seed=1).fit(twice)
    law = Law(made, ROWS, np.random.default_rng(0))
    sighting = law.sight(made.draw(0), ROWS)
    names = [voted.names for voted in law.mixture.voted]
    assert ("group", "same") in names
    joint = sighting.codes[names.index(("group", "same"))]
    assert (joint >= 0).all()
    assert len(np.unique(joint)) == 3
