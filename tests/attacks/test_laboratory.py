"""The attack laboratory as a whole: generators good and bad, and what it must never do."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sosie.attacks import Releases, attack
from sosie.attacks.estimators.nearest_mean import NearestMean
from sosie.attacks.laboratory import LINKAGE, curve_of
from sosie.attacks.moments import MOST_COMPONENTS
from sosie.attacks.routine import RELEASES, routine
from sosie.attacks.scenarios import DECLARATIONS, V1, V2, Cast, Nearest, Setup
from sosie.attacks.sources import AvatarSource, OtherSource, fingerprint
from sosie.attacks.strongest import Attacker, verdict
from sosie.data.table import Numbers, Roles, Table
from sosie.errors import InputError, Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.methods import METHODS

PEOPLE = 150


def table(rows: int = PEOPLE, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(rows, 3))
    numbers = {
        f"x{i}": np.round(hidden @ rng.normal(size=3) * 10 + rng.normal(0, 4, rows), 1)
        for i in range(4)
    }
    site = [("north", "south", "east")[i] for i in rng.integers(0, 3, rows)]
    return pl.DataFrame({**numbers, "site": site, "high": hidden[:, 0] > 0.4})


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return table()


@pytest.fixture(scope="module")
def avatarizer() -> Avatarizer:
    return Avatarizer(k=5, components=3, method="barycentre", seed=1)


class Copy:
    """Gives the data back."""

    def fit(self, data: Any) -> None:
        self.data = data

    def release(self, r: int) -> Any:
        return self.data


class Independent:
    """New people every time, no relation between rows."""

    def fit(self, data: Any) -> None:
        self.data = data

    def release(self, r: int) -> Any:
        return self.data.sample(len(self.data), with_replacement=True, seed=r)


class Noise:
    """The data, and a share of noise."""

    def __init__(self, share: float) -> None:
        self.share = share

    def fit(self, data: pl.DataFrame) -> None:
        self.data = data

    def release(self, r: int) -> pl.DataFrame:
        rng = np.random.default_rng(r)
        noisy = [
            pl.col(f"x{i}") * (1 - self.share)
            + pl.Series(f"n{i}", rng.normal(0, 10 * self.share, len(self.data)))
            for i in range(4)
        ]
        return self.data.with_columns(noisy)


class Shorter(Copy):
    def release(self, r: int) -> Any:
        return self.data[:-1]


class Renamed(Copy):
    def release(self, r: int) -> Any:
        return self.data.rename({"x0": "y0"})


class Wider(Copy):
    def release(self, r: int) -> Any:
        return self.data.with_columns(more=pl.lit(1))


class Nothing(Copy):
    def release(self, r: int) -> Any:
        return None


QUICK = {"releases": 6, "candidates": 20}


@pytest.mark.parametrize("estimator", ["published", "pooled", "nearest-mean", "diagonal"])
def test_identity_is_found_always(frame, estimator):
    (found,) = attack(frame, Copy(), estimator=estimator, decision="likelihood", **QUICK).results
    assert found.rate == 100
    assert found.recall == 100


@pytest.mark.parametrize("estimator", ["published", "pooled", "nearest-mean", "diagonal"])
def test_independent_people_are_found_at_chance(frame, estimator):
    report = attack(frame, Independent(), estimator=estimator, repeats=4, **QUICK)
    rates = report.results[0].repeats
    assert len(rates) == 4
    assert np.mean(rates) < 4  # one of 150 is 0.7 %
    assert Reason("rows_unrelated") in report.results[0].reasons


def test_more_noise_is_found_less(frame):
    shares = (0.0, 0.2, 0.5, 1.0)
    rates = [
        attack(frame, Noise(s), estimator="nearest-mean", decision="likelihood", **QUICK)
        .results[0]
        .rate
        for s in shares
    ]
    assert rates[0] == 100
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 25  # the site and the boolean are copied


def test_the_target_is_never_fitted(frame, avatarizer, monkeypatch):
    """Release t is drawn once, as the target; releases 0 to t - 1 are the fit."""
    drawn: Counter[int] = Counter()
    whole, pieces = Avatarizer.draw, Avatarizer.pieces

    def counted(self, release=0, part=0):
        drawn[release] += 1
        return whole(self, release, part)

    def counted_pieces(self, release, size):
        drawn[release] += 1
        return pieces(self, release, size)

    monkeypatch.setattr(Avatarizer, "draw", counted)
    monkeypatch.setattr(Avatarizer, "pieces", counted_pieces)
    source = AvatarSource(avatarizer.fit(frame))
    (arena,) = V1().arenas(source, Setup((6,)))
    assert drawn == dict.fromkeys(range(7), 1)
    means = np.mean([arena.cloud.famd.transform(source.draw(r)) for r in range(6)], axis=0)
    np.testing.assert_allclose(arena.cloud.means, means[arena.cast.people], atol=1e-8)
    target = arena.cloud.famd.transform(source.draw(6))
    np.testing.assert_allclose(arena.points, target[arena.cast.targets])


def test_repeats_use_releases_of_their_own():
    seen = [Setup((2, 9), repeat=i) for i in range(3)]
    used = [{*range(s.first, s.first + 9), s.target} for s in seen]
    assert all(s.target not in range(s.first, s.first + 9) for s in seen)
    assert not used[0] & used[1]
    assert not used[1] & used[2]


def test_avatars_of_avatars_have_another_seed(frame, avatarizer):
    source = AvatarSource(avatarizer.fit(frame))
    again = source.refit(source.draw(3))
    assert again.avatarizer.secrets.seed != avatarizer.secrets.seed
    assert again.avatarizer.settings == avatarizer.settings
    assert fingerprint(again.originals) == fingerprint(source.draw(3))
    repeated = source.refit(source.draw(3))
    assert fingerprint(repeated.draw(0)) == fingerprint(again.draw(0))


def test_v2_attacks_the_published_rows(frame, avatarizer):
    source = AvatarSource(avatarizer.fit(frame))
    (arena,) = V2().arenas(source, Setup((5,)))
    published = arena.cloud.famd.transform(source.draw(5))
    np.testing.assert_allclose(arena.points, published[arena.cast.targets])


def test_the_caller_keeps_what_he_gave(frame, avatarizer):
    before = frame.clone()
    fresh = Avatarizer(k=5, components=3, seed=1)
    attack(frame, fresh, scenario="all", estimator="published", **QUICK)
    assert frame.equals(before)
    with pytest.raises(Exception, match="fit the avatarizer"):
        _ = fresh.table
    other = Noise(0.1)
    attack(frame, other, estimator="published", **QUICK)
    assert not hasattr(other, "data")


def test_same_seed_same_report(frame, avatarizer):
    told = [attack(frame, avatarizer, scenario="v1", seed=s, **QUICK).to_dict() for s in (3, 3)]
    assert told[0] == told[1]


def test_names_of_levels_and_order_of_columns_change_nothing(frame, avatarizer):
    renamed = frame.with_columns(pl.col("site").replace({"north": "z", "east": "a", "south": "m"}))
    one = attack(frame, avatarizer, estimator="pooled", **QUICK).results[0]
    two = attack(renamed, avatarizer, estimator="pooled", **QUICK).results[0]
    assert one == two


def test_pandas_and_polars_give_the_same(frame, avatarizer):
    pandas = pd.DataFrame(frame.to_dict(as_series=False), index=range(1000, 1000 + PEOPLE))
    rates = [attack(data, avatarizer, **QUICK).to_dict()["results"] for data in (frame, pandas)]
    assert rates[0] == rates[1]


def test_everything_at_once(frame, avatarizer):
    report = attack(frame, avatarizer, scenario="all", curve=True, **QUICK)
    further = (one.key for one in DECLARATIONS.values() if not one.alone)
    assert report.scenarios == (*LINKAGE, *further)
    assert {r.estimator for r in report.find(scenario="v1", releases=0)} == {
        "analytic",
        "geometry",
        "combined",
    }
    assert [p["releases"] for p in report.curve("v1")] == [0, 2, 3, 5, 6]
    assert set(report.strongest) == {"v1", "v2", "nearest", "insert"}
    for name, best in report.strongest.items():
        assert best.scenario == name
        assert best.targets in (75, 150)
    told = json.dumps(report.to_dict(), allow_nan=False)
    assert str(avatarizer.secrets.seed) != told
    complement = report.hidden_rate_complement
    assert complement is not None
    nearest = report.find(scenario="nearest")[0]
    assert nearest.rate == pytest.approx(complement.rate, abs=1)


def test_barycentre_falls_without_a_release_and_smoothed_less(frame):
    rates = {}
    for method in ("barycentre", "smoothed"):
        made = Avatarizer(k=3, components=3, method=method, seed=1)
        report = attack(frame, made, estimator=("analytic", "geometry", "bayes"), releases=0)
        rates[method] = max(r.rate for r in report.results if r.rate is not None)
    assert rates["barycentre"] > 95
    assert rates["smoothed"] < rates["barycentre"] - 20


def test_strongest_is_reported_on_the_other_half(frame, avatarizer):
    report = attack(frame, avatarizer, estimator="pooled", **QUICK)
    assert report.results[0].targets == 75
    assert report.results[0].chosen_among > 5
    plain = attack(
        frame,
        avatarizer,
        estimator="pooled",
        decision="likelihood",
        components=4,
        shrinkage=0.1,
        **QUICK,
    )
    assert plain.results[0].targets == PEOPLE
    assert plain.results[0].shrinkage == 0.1
    assert plain.results[0].attack_components == 4


def test_fewer_targets_are_drawn_at_random_and_told(frame, avatarizer):
    report = attack(frame, avatarizer, estimator="published", targets=40, **QUICK)
    assert report.results[0].targets == 40
    assert report.notes[0] == Reason("some_attacked", {"attacked": 40, "people": 150})


def test_of_thousands_of_levels_the_rare_ones_count_as_one_and_this_is_told(frame):
    titles = [f"title {i}" for i in range(1_600)] + ["nurse"] * 400
    many = pl.DataFrame({"title": titles, "x": [i * 7919 % 1_009 for i in range(2_000)]})
    known = {"columns": ["title"], "common": 59}
    avatarizer = Avatarizer(k=10, seed=1)
    report = attack(many, avatarizer, estimator="published", targets=50, **QUICK)
    assert Reason("levels_pooled", known) in report.notes
    assert report.results[0].rate is not None
    few = attack(frame, avatarizer, estimator="published", targets=50, **QUICK)
    assert "levels_pooled" not in {note.key for note in few.notes}


def test_existing_releases(frame, avatarizer):
    tables = [avatarizer.fit(frame).release(r, shuffle=False) for r in range(7)]
    known = attack(frame, Releases(tables), estimator="published", **QUICK).results
    own = attack(frame, avatarizer, estimator="published", **QUICK).results
    assert known == own
    with_law = attack(frame, Releases(tables), law=avatarizer, estimator="geometry", releases=6)
    assert with_law.results[0].rate > 90
    without = attack(frame, Releases(tables), estimator="geometry", releases=6)
    assert without.results[0].rate is None
    assert without.results[0].reasons == (Reason("law_unknown"),)
    everything = attack(frame, Releases(tables), scenario="all", **QUICK)
    reasons = {r.scenario: r.reasons for r in everything.results if r.rate is None}
    assert set(reasons) >= {"v1", "v2", "insert"}
    assert all(reasons.values())


@pytest.mark.parametrize(
    ("generator", "options", "message"),
    [
        (None, {"releases": 1}, "at least 2 releases"),
        (None, {"releases": 0}, "at least 2 releases"),
        (None, {"candidates": 151}, "151 candidates are more than the 150 people"),
        (None, {"candidates": 0}, "candidates must be at least 1"),
        (None, {"components": 0}, "components must be at least 1"),
        (None, {"repeats": 0}, "repeats must be at least 1"),
        (None, {"shrinkage": 2.0}, "shrinkage must be between"),
        (None, {"scenario": "v3"}, "unknown scenario 'v3'"),
        (None, {"estimator": "magic"}, "unknown estimator 'magic'"),
        (None, {"estimator": "geometry", "scenario": "v2"}, "for scenario v1"),
        (Shorter(), {}, "149 rows, the originals 150"),
        (Renamed(), {}, "release 6: the second table lacks column 'x0'"),
        (Wider(), {}, "release 6: the second table has column 'more'"),
        (Nothing(), {}, "release 6: expected a pandas, polars or pyarrow table"),
        (object(), {}, r"fit\(data\) and release\(r\)"),
        (Releases([]), {}, "there are 0 releases"),
    ],
)
def test_bad_input_is_told(frame, avatarizer, generator, options, message):
    wanted = {"estimator": "published", **QUICK, **options}
    with pytest.raises(InputError, match=message):
        attack(frame, avatarizer if generator is None else generator, **wanted)


def test_without_releases_all_still_reports_who_needs_none(frame, avatarizer):
    report = attack(frame, avatarizer, releases=0)
    assert {r.releases for r in report.results if r.rate is not None} == {0}
    (none,) = [r for r in report.results if r.rate is None]
    assert none.reasons == (Reason("two_releases"),)


def test_duplicates_share_their_hits():
    """Everyone has a twin: nobody can tell which of the two it was."""
    once = table(60)
    twice = pl.concat([once, once])
    report = attack(twice, Copy(), estimator="nearest-mean", decision="likelihood", releases=3)
    assert 35 < report.results[0].rate < 65


def test_avatars_all_equal_give_a_rate_or_a_reason():
    """Duplicates only: covariances of rank 0, and nothing but chance."""
    rows = pl.concat([table(12)] * 8)
    made = Avatarizer(k=5, components=2, method="barycentre", seed=1)
    report = attack(rows, made, scenario="all", releases=4)
    for found in report.results:
        assert found.rate is not None or found.reasons
        assert found.rate is None or found.rate < 60
    json.dumps(report.to_dict(), allow_nan=False)


def test_covariances_of_rank_0_are_told(frame):
    (found,) = attack(frame, Copy(), estimator="published", **QUICK).results
    assert found.rate == 100
    assert Reason("avatars_all_equal", {"equal": 150, "people": 150}) in found.reasons


def test_people_with_the_same_row_are_told(frame):
    twins = pl.concat([frame, frame[:3], frame[:1]])
    report = attack(twins, Noise(0.1), estimator="nearest-mean", **QUICK)
    assert report.notes == (Reason("same_rows", {"n": 7}),)


def test_who_averages_over_noise_needs_some(frame, avatarizer):
    (found,) = attack(frame, avatarizer, estimator="bayes", **QUICK).results
    assert found.rate is None
    assert found.reasons == (Reason("no_noise"),)


def test_missing_everywhere(people):
    frame = pl.DataFrame({k: v for k, v in people(120).items() if k != "dose"}, strict=False)
    for method in ("barycentre", "smoothed"):
        report = attack(frame, Avatarizer(4, 3, method=method, seed=1), scenario="all", **QUICK)
        assert {r.scenario for r in report.results if r.rate is None} <= {*DECLARATIONS}


@pytest.mark.parametrize("columns", [["x0", "x1", "x2", "x3"], ["site", "high"], ["x0"]])
def test_all_numbers_all_categories_one_column(frame, columns):
    for method in ("barycentre", "smoothed"):
        made = Avatarizer(k=4, components=3, method=method, seed=1)
        report = attack(frame.select(columns), made, scenario="all", **QUICK)
        assert any(r.rate is not None for r in report.results)


def test_releases_in_another_order_are_told(frame, avatarizer):
    shuffled = [avatarizer.fit(frame).release(r) for r in range(7)]
    (found,) = attack(frame, Releases(shuffled), estimator="published", **QUICK).results
    assert found.rate < 6
    assert Reason("rows_unrelated") in found.reasons
    (aligned,) = attack(frame, avatarizer, estimator="published", **QUICK).results
    assert aligned.reasons == ()


def test_roles_for_other_generators(frame):
    source = OtherSource(frame, Copy(), Roles(categorical=("x0",)))
    assert not isinstance(source.originals.column("x0"), Numbers)


def test_kept_columns_are_told(frame):
    made = Avatarizer(k=5, components=3, keep=["site"], seed=1)
    report = attack(frame, made, estimator="published", **QUICK)
    assert Reason("kept_not_attacked", {"columns": ["site"]}) in report.notes


def test_interrupted_attack_continues(frame, avatarizer, tmp_path):
    """The second run starts after the releases of the first, and ends with the same numbers."""
    options: dict[str, Any] = {"scenario": "v2", "estimator": "published", **QUICK}
    whole = attack(frame, avatarizer, **options)
    folder = tmp_path / "private"
    seen: list[int] = []

    def interrupt(done: int, total: int, what: str) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack(frame, avatarizer, folder=folder, progress=interrupt, **options)
    again = attack(
        frame, avatarizer, folder=folder, progress=lambda done, *_: seen.append(done), **options
    )
    assert again.results == whole.results
    assert not seen
    other = Avatarizer(k=5, components=3, method="barycentre", seed=2)
    attack(frame, other, folder=folder, progress=lambda done, *_: seen.append(done), **options)
    assert seen == [1, 2, 3, 4, 5, 6]


def test_moments_hold_no_seed(frame, tmp_path):
    seed = 987654321987
    made = Avatarizer(k=5, components=3, seed=seed)
    attack(frame, made, estimator="published", folder=tmp_path, **QUICK)
    files = list(tmp_path.iterdir())
    assert files
    assert all(str(seed) not in path.name for path in files)
    assert all(seed.to_bytes(8, "little") not in path.read_bytes() for path in files)


def test_casts_are_permutations():
    cast = Cast.of(50, seed=2, targets=20)
    assert sorted(cast.people) == list(range(50))
    assert sorted(cast.targets) == list(range(50))
    assert cast.attacked == 20
    np.testing.assert_array_equal(cast.people[cast.truth], cast.targets)
    assert (cast.people != np.arange(50)).any()


@pytest.mark.parametrize("scenario", ["nearest", "insert", "partial"])
def test_a_row_is_looked_for_among_all_rows(frame, avatarizer, scenario):
    """With fewer targets the rate is that of these targets, not a higher one."""
    known = {"scenario": scenario, "components": 3, "estimator": "nearest-mean", **QUICK}
    whole = attack(frame, avatarizer, **known).results
    rates = [attack(frame, avatarizer, targets=30, seed=seed, **known).results for seed in range(8)]
    for place, result in enumerate(whole):
        few = np.mean([results[place].rate for results in rates])
        assert abs(few - result.rate) < 12


def test_the_nearest_of_few_targets_is_the_nearest_of_all_rows(frame, avatarizer):
    source = AvatarSource(avatarizer.fit(frame))
    (arena,) = Nearest().arenas(source, Setup((2,), targets=30))
    people, rows = arena.cloud.means[arena.cast.truth[:30]], arena.points
    nearest = np.square(people[:, None, :] - rows[None, :, :]).sum(axis=2).argmin(axis=1)
    said = verdict(arena, Attacker(NearestMean(), 99, "row"), 20)
    np.testing.assert_array_equal(said.hit, nearest == np.arange(30))


def test_curve_at_chosen_numbers(frame, avatarizer):
    known = {"estimator": "published", "candidates": 20, "releases": 5}
    report = attack(frame, avatarizer, curve=(3,), **known)
    assert [r.releases for r in report.results] == [3, 5]
    with pytest.raises(InputError, match="go from 2 to 5"):
        attack(frame, avatarizer, curve=(3, 9), **known)


def levels(rows: int) -> pl.DataFrame:
    """A table with more components than are searched."""
    rng = np.random.default_rng(4)
    place = [f"p{i}" for i in rng.integers(0, 60, rows)]
    return table(rows).with_columns(pl.Series("place", place))


def test_components_are_bounded_where_there_are_many_levels(avatarizer):
    people = levels(300)
    report = attack(people, avatarizer, scenario="all", releases=3)
    aided = [
        r
        for r in report.results
        if r.scenario in ("v1", "v2", "nearest", "insert") and r.attack_components
    ]
    assert max(r.attack_components for r in aided) == MOST_COMPONENTS
    assert {r.most_components for r in aided} == {MOST_COMPONENTS}
    assert report.notes[0] == Reason("more_components", {"components": MOST_COMPONENTS})
    assert report.to_dict()["results"][-1].get("most_components") is None
    assert any("most_components" in r for r in report.to_dict()["results"])


def test_components_that_are_asked_for_are_used(avatarizer):
    known = {"estimator": "published", "releases": 3, "components": MOST_COMPONENTS + 5}
    report = attack(levels(300), avatarizer, **known)
    assert report.results[0].attack_components == MOST_COMPONENTS + 5
    assert report.results[0].most_components is None
    assert not report.notes


def test_no_bound_is_told_where_all_components_are_kept(frame, avatarizer):
    report = attack(frame, avatarizer, scenario="all", **QUICK)
    assert all(r.most_components is None for r in report.results)
    assert not report.notes


@pytest.mark.parametrize("method", METHODS)
def test_an_avatarizer_fitted_on_this_table_is_not_fitted_again(frame, method, monkeypatch):
    people = Table.of(frame)
    made = Avatarizer(k=5, components=3, method=method, seed=1).fit(people)
    monkeypatch.setattr(Avatarizer, "fit", lambda *_: pytest.fail("fitted again"))
    assert attack(people, made, estimator="published", **QUICK).rows == PEOPLE


# ---------------------------------------------------------------- the attacks of a run


def test_the_routine_plays_every_scenario(frame):
    for method, law in (("smoothed", "bayes"), ("barycentre", "geometry")):
        made = Avatarizer(k=5, components=3, method=method, seed=1).fit(frame)
        report = routine(made)
        assert report.scenarios == ("v1", "v2", "nearest", "insert", "partial", "groups")
        unaided = {r.estimator for r in report.find(scenario="v1", releases=0)}
        assert unaided == {"analytic", law}
        assert {r.releases for r in report.find(scenario="v1")} == {0, RELEASES}
        assert report == routine(made)


def test_of_a_large_table_the_routine_plays_only_who_has_a_profile(frame, monkeypatch):
    monkeypatch.setattr("sosie.attacks.routine.MOST_PEOPLE", 100)
    made = Avatarizer(k=5, components=3, seed=1).fit(frame)
    few = routine(made)
    assert few.scenarios == ("nearest",)
    assert few.strongest["nearest"].rate is not None
    assert few.notes[-1] == Reason("only_one_profile", {"people": PEOPLE})
    assert routine(made, releases=2).scenarios[:2] == ("v1", "v2")


@pytest.mark.parametrize("method", METHODS)
def test_a_routine_of_one_release_says_why_there_is_no_rate(frame, method):
    report = routine(Avatarizer(k=5, components=3, method=method, seed=1).fit(frame), releases=1)
    reasons = {r.scenario: r.reasons for r in report.results if r.rate is None}
    assert reasons.pop("groups", (Reason("no_groups"),)) == (Reason("no_groups"),)
    assert set(reasons) == {"v1", "v2", "insert"}
    assert all(told == (Reason("two_releases"),) for told in reasons.values())


def test_curve_stops():
    assert curve_of(2) == (2,)
    assert curve_of(4) == (2, 3, 4)
    assert curve_of(100) == (2, 3, 5, 10, 20, 35, 50, 100)
