"""Was this person in the table? The strong kind of membership attack, by likelihood ratio.

The attacker knows people of the population and the method, and makes avatars of many tables of his
own: random halves of the people, so that each is in half of them. So he learns, person by person,
how the records around them lie when they took part and when they did not (how near the nearest
records are, and the nearest person who took no part), and takes the ratio of the two likelihoods
of what is published. Each table in turn is the published one, and the others are his. Source:
Carlini et al., IEEE S&P 2022 (LiRA), with one Gaussian for each person and side and a covariance
that all share; effects of single people, which few tables tell badly, are drawn towards everyone's.

Beside it stands the distance score of the metric (`sosie.audits.privacy.membership`), on the same
tables: how much nearer the nearest record is than the nearest person who took no part.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sosie.attacks.moments import rows_of
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Cast, Setup
from sosie.attacks.scenarios.protocol import Declaration
from sosie.attacks.sources import AvatarSource, Source
from sosie.attacks.versions import Version
from sosie.audits.ranking import area_under_curve
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.errors import InputError, Reason
from sosie.generate.secrets import Secrets
from sosie.latent.famd import FAMD
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["DECLARATION", "halves_of", "log_ratios", "play", "true_positives"]

TABLES = 32
"""Of which avatars are made: each person is in 16."""

FEWEST = 100
"""People under whom 1 % of the strangers is nobody."""

PEOPLE = 2_000
"""At most, of whom membership is asked: an interval of a point either side."""

FALSE_POSITIVES = 0.01
"""An attacker who accuses one stranger in a hundred: few enough to be believed."""

SPACES = (10, 40)
"""Components of the latent spaces in which records are counted: the first, and nearly all."""

RANKS = (1, 3, 10)
"""Which nearest records: their log distances are what is modelled."""

LEAST = 0.01
"""Of a distance, where a standard deviation of a column is 1: as a logarithm a nearer one, of equal
rows, would outweigh all others."""

KEY = 2**62
"""Keys and seeds of tables are below."""


def play(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """Percent of members named where 1 % of strangers are; `AttackResult.area` is under the curve.

    Chance is 1. ``distance`` is the metric's score, ``likelihood-ratio`` the attacker above, who
    does not know the key of the published table; for methods with a key ``ratio-key-known`` does.
    An interval takes each person once.
    """
    known = {"scenario": "membership", "decision": "few-accused"}
    people = len(source.originals)
    if not isinstance(source, AvatarSource):
        reason = Reason("only_avatarizer")
        yield AttackResult.none(estimator="likelihood-ratio", reason=reason, **known)
        return
    if people < FEWEST:
        reason = Reason("too_few_strangers", {"n": people, "least": FEWEST})
        yield AttackResult.none(estimator="likelihood-ratio", reason=reason, **known)
        return
    rng = np.random.default_rng(setup.seed)
    cast = Cast.of(people, setup.seed, min(setup.targets or PEOPLE, PEOPLE))
    asked = np.sort(cast.targets[: cast.attacked])
    keyed = source.avatarizer.guarantee.groups is not None
    for key_known in (False, True)[: 1 + keyed]:
        members = halves_of(people, TABLES, rng)
        try:
            near, away = _seen(source, members, asked, key_known, rng)
        except InputError as error:  # half of the people are too few for k
            reason = error.reason or Reason("as_written", {"text": str(error)})
            yield AttackResult.none(estimator="likelihood-ratio", reason=reason, **known)
            return
        took_part = members[:, asked]
        ratios = log_ratios(np.concatenate([near, away[:, :, None]], axis=2), took_part)
        scores = {"ratio-key-known": ratios}
        if not key_known:
            scores = {"distance": away - near[:, :, 0], "likelihood-ratio": ratios}
        for estimator, score in scores.items():
            yield AttackResult.share(
                true_positives(score, took_part),
                estimator=estimator,
                chance=100 * FALSE_POSITIVES,
                releases=1,
                candidates=2,
                area=area_under_curve(score[took_part], score[~took_part]),
                **known,
            )


def halves_of(people: int, tables: int, rng: np.random.Generator) -> Mask:
    """(tables, people) bool, random halves and, after each, the other half.

    >>> halves_of(4, 2, np.random.default_rng(0)).sum(axis=0).tolist()
    [1, 1, 1, 1]
    """
    members = np.zeros((tables, people), dtype=bool)
    for table in range(0, tables, 2):
        members[table, rng.permutation(people)[: people // 2]] = True
        members[table + 1] = ~members[table]
    return members


def _seen(
    source: AvatarSource,
    members: Mask,
    asked: Ints,
    key_known: bool,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Log distances to records ``(tables, m, s)`` and to the nearest stranger ``(tables, m)``."""
    originals, threads = source.originals, source.threads
    spaces = [FAMD.fit(originals, components) for components in SPACES]
    points = [famd.transform(originals) for famd in spaces]
    near = np.empty((len(members), len(asked), len(SPACES) * len(RANKS)))
    away = np.empty((len(members), len(asked)))
    for table, took_part in enumerate(members):
        key = source.avatarizer.secrets.key if key_known else int(rng.integers(KEY))
        secrets = Secrets(key, int(rng.integers(KEY)))
        part = rows_of(originals, np.flatnonzero(took_part))
        records = Version.of(source.avatarizer, part, secrets, codes=originals).draw(0)
        found = []
        for famd, own in zip(spaces, points, strict=True):
            index = NeighbourIndex(famd.transform(records), threads)
            ranks = np.minimum(RANKS, len(records)) - 1
            found.append(index.nearest(own[asked], int(ranks[-1]) + 1).distances[:, ranks])
        near[table] = _logs(np.column_stack(found))
        strangers = NeighbourIndex(points[0][~took_part], threads)
        two = strangers.nearest(points[0][asked], 2).distances
        away[table] = _logs(np.where(took_part[asked], two[:, 0], two[:, 1]))  # nobody is their own
    return near, away


def _logs(distances: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(distances, LEAST)))


def log_ratios(seen: Floats, took_part: Mask) -> Floats:
    """(tables, m) float64, log likelihood ratio of each person's membership of each table.

    For the table that is attacked all others are known. With the means ``u`` and ``v`` of a
    person's features over the other tables with and without them, and S the covariance around
    these, which all people share, the ratio is ``(x - (u + v) / 2)' S^-1 (u - v)``. ``u - v`` is
    drawn towards its mean over people, feature by feature, by the share of its variance that
    chance explains.

    Parameters
    ----------
    seen : (tables, m, s) float64, features.
    took_part : (tables, m) bool.
    """
    scores = np.empty(took_part.shape)
    for table in range(len(seen)):
        others = np.arange(len(seen)) != table
        features, members = seen[others], took_part[others]
        inside, outside = _means(features, members), _means(features, ~members)
        around = features - np.where(members[:, :, None], inside, outside)
        flat = around.reshape(-1, around.shape[2])
        degrees = len(flat) - 2 * flat.shape[0] // len(features)
        covariance = flat.T @ flat / max(degrees, 1)
        counts = members.sum(axis=0)[:, None]
        chance = np.diag(covariance) * (1 / counts + 1 / (len(features) - counts)).mean()
        effects = inside - outside
        mean, total = effects.mean(axis=0), effects.var(axis=0)
        kept = np.clip(1 - chance / np.maximum(total, 1e-300), 0, 1)
        effects = mean + kept * (effects - mean)
        ridge = 1e-9 * np.trace(covariance) / len(covariance) + 1e-12
        directions = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), effects.T).T
        middle = (inside + outside) / 2
        scores[table] = np.einsum("ms,ms->m", seen[table] - middle, directions)
    return scores


def _means(features: Floats, chosen: Mask) -> Floats:
    """(m, s) float64, means over the tables that are chosen for each person."""
    weights = chosen / np.maximum(chosen.sum(axis=0), 1)
    return np.asarray(np.einsum("tm,tms->ms", weights, features))


def true_positives(scores: Floats, took_part: Mask) -> Floats:
    """(m,) float64, how often each person is accused of the tables that they took part in.

    Who scores above all but 1 % of the strangers of all tables is accused.

    Parameters
    ----------
    scores : (tables, m) float64.
    took_part : (tables, m) bool.
    """
    strangers = np.sort(scores[~took_part])
    threshold = strangers[len(strangers) - int(FALSE_POSITIVES * len(strangers)) - 1]
    accused = took_part & (scores > threshold)
    return np.asarray(accused.sum(axis=0) / took_part.sum(axis=0))


DECLARATION = Declaration("membership", 4, play, alone=True)
"""Some 64 fits of half of the table: minutes."""
