"""Attacks without releases on tables of many people: scores come some people at a time.

What a person's avatar may look like takes kilobytes a person, and a score a number for
each target and person. Neither is held for everyone: of all scores, only the right
person's place, the best two and, where noise leaves nobody out, the likeliest few are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sosie.attacks import bayes, geometry
from sosie.attacks.bayes import BELOW, Bayes
from sosie.attacks.decisions import Verdict
from sosie.attacks.geometry import EXCLUDED, Geometry, combined
from sosie.attacks.knowledge import Analytic, Law, Sighting
from sosie.attacks.moments import CELLS
from sosie.compute.arrays import Floats, Ints, Mask

__all__ = ["Desk", "Running", "Shortlist", "swept"]


MODELLED = 4_000
"""People whose laws are held together."""


class Desk:
    """Scores of every estimator for the same targets, nothing computed twice.

    Parameters
    ----------
    lasting : whether more targets will be asked about, and what serves them all is kept.
    """

    def __init__(self, law: Law, sighting: Sighting, *, lasting: bool = True) -> None:
        self.analytic = Analytic(law, sighting, lasting=lasting)
        self.geometry = Geometry(law, sighting, self.analytic)
        self.bayes = Bayes(self.analytic) if self.geometry.noisy else None

    def scores(self, names: Sequence[str], targets: Ints) -> Iterator[tuple[str, Floats]]:
        """``(m, n)`` scores of each name."""
        likely = self.analytic.grid(targets)
        far = None
        if "geometry" in names or "combined" in names:
            far = self.geometry.grid(targets)
        for name in names:
            if name == "analytic":
                yield name, likely
            elif name == "bayes" and self.bayes:
                yield name, self.bayes.grid(targets)
            elif far is not None:
                noisy = self.geometry.noisy
                yield name, far if name == "geometry" else combined(likely, far, noisy=noisy)


class Running:
    """The verdict of `sosie.attacks.decisions.first_of` on scores that come some people at a time.

    Parameters
    ----------
    truth : (m,) the right person of each target.
    own : (m,) their scores.

    Examples
    --------
    >>> running = Running(np.array([2]), np.array([1.5]))
    >>> for start, scores in ((0, [[1.0, 4.0]]), (2, [[1.5, 0.0]])):
    ...     running.add(np.array(scores), start)
    >>> running.verdict()
    Verdict(rank=array([1]), margin=array([2.5]))
    """

    def __init__(self, truth: Ints, own: Floats) -> None:
        self.truth, self.own = truth, own
        self.before = np.zeros(len(truth), dtype=np.int64)
        self.best = np.full((len(truth), 2), -np.inf)

    def add(self, scores: Floats, start: int) -> None:
        """Add the scores of the people from `start` on, ``(m, c)``."""
        place = (self.truth - start)[:, None]
        others = np.arange(scores.shape[1]) != place
        before = scores > self.own[:, None]
        before |= (scores == self.own[:, None]) & (np.arange(scores.shape[1]) < place)
        self.before += (before & others).sum(axis=1)
        joined = np.hstack([self.best, scores])
        self.best = np.partition(joined, -2, axis=1)[:, -2:]

    def verdict(self) -> Verdict:
        """Rank and margin of each target."""
        return Verdict(self.before, _margin(self.best))


class Shortlist:
    """The likeliest people of each target, of people who come some at a time.

    Attributes
    ----------
    people : (m, size) int64.
    scores : (m, size) float64.
    """

    def __init__(self, targets: int, size: int) -> None:
        self.people = np.full((targets, size), -1, dtype=np.int64)
        self.scores = np.full((targets, size), -np.inf)

    def add(self, scores: Floats, start: int) -> None:
        """Add the scores of the people from `start` on, ``(m, c)``."""
        size = self.scores.shape[1]
        people = np.broadcast_to(np.arange(start, start + scores.shape[1]), scores.shape)
        joined = np.hstack([self.scores, scores])
        best = np.argpartition(-joined, size - 1, axis=1)[:, :size]
        self.scores = np.take_along_axis(joined, best, axis=1)
        self.people = np.take_along_axis(np.hstack([self.people, people]), best, axis=1)


def swept(
    law: Law, sighting: Sighting, truth: Ints, names: Sequence[str]
) -> Iterator[tuple[str, Verdict]]:
    """Greatest likelihood among everyone, by each estimator.

    Parameters
    ----------
    law : of everyone.
    truth : (m,) the right person of each target.
    names : estimators without releases.
    """
    targets, noisy = np.arange(len(truth)), not law.exact
    everywhere = ("analytic",) if noisy else tuple(names)
    own = Desk(law.some(truth), sighting).scores(everywhere, targets)
    running = {name: Running(truth, scores.diagonal().copy()) for name, scores in own}
    likeliest = Shortlist(len(truth), min(geometry.SHORTLIST, len(law)))
    step = max(min(CELLS // (4 * len(truth)), MODELLED), 1)
    for start in range(0, len(law), step):
        some = law.some(np.arange(start, min(start + step, len(law))))
        for name, scores in Desk(some, sighting, lasting=False).scores(everywhere, targets):
            running[name].add(scores, start)
            if noisy:
                likeliest.add(scores, start)
        law.table.storage.forget()
    for name in (name for name in names if name in running):
        yield name, running[name].verdict()
    if noisy and (others := [name for name in names if name != "analytic"]):
        said: dict[str, list[Verdict]] = {name: [] for name in others}
        step = max(MODELLED // likeliest.people.shape[1], 1)
        for start in range(0, len(truth), step):
            part = slice(start, start + step)
            finish = _Finish(law, sighting, targets[part], running["analytic"], likeliest)
            for name in others:
                said[name].append(finish.verdict(name))
        yield from ((name, Verdict.joined(parts)) for name, parts in said.items())


class _Finish:
    """Estimators that look at the analytic attack's best, and rank everyone else below them.

    Parameters
    ----------
    targets : (m,) which targets.
    """

    def __init__(
        self,
        law: Law,
        sighting: Sighting,
        targets: Ints,
        analytic: Running,
        likeliest: Shortlist,
    ) -> None:
        self.targets, self.analytic = targets, analytic
        scores, people = likeliest.scores[targets], likeliest.people[targets]
        order = np.argsort(-scores, axis=1, kind="stable")
        self.people = np.take_along_axis(people, order, axis=1)
        self.likely = np.take_along_axis(scores, order, axis=1)
        looked_at, local = np.unique(self.people, return_inverse=True)
        self.local = local.reshape(self.people.shape)
        self.desk = Desk(law.some(looked_at), sighting)

    def verdict(self, name: str) -> Verdict:
        """What one of them says."""
        if name == "bayes" and self.desk.bayes:
            first = slice(min(bayes.SHORTLIST, self.people.shape[1]))
            scores = self.desk.bayes.pairs(self.targets[:, None], self.local[:, first])
            return self._ranked(first, scores, np.ones(scores.shape, dtype=bool), -BELOW)
        far = self.desk.geometry.pairs(self.targets[:, None], self.local)
        if name == "geometry":
            return self._ranked(slice(None), far, far > EXCLUDED, None)
        scores = combined(self.likely, far, noisy=True)
        return self._ranked(slice(None), scores, far > EXCLUDED, EXCLUDED)

    def _ranked(self, first: slice, scores: Floats, passing: Mask, lower: float | None) -> Verdict:
        """Rank among those who pass, and behind them everyone else.

        Parameters
        ----------
        lower : what is added to the analytic scores of everyone else, who keep their order;
            None where they are all equal, and in order of position.
        """
        analytic, which = self.analytic, self.targets
        truth, people = analytic.truth[which, None], self.people[:, first]
        own = (people == truth) & passing
        found = own.any(axis=1)
        mine = np.where(own, scores, -np.inf).max(axis=1)[:, None]
        ahead = (scores > mine) | ((scores == mine) & (people < truth))
        if lower is None:
            sooner, before = people < truth, truth[:, 0]
            rest = np.full((len(people), 2), EXCLUDED)
        else:
            likely, right = self.likely[:, first], analytic.own[which, None]
            sooner = (likely > right) | ((likely == right) & (people < truth))
            before, rest = analytic.before[which], lower + analytic.best[which]
        behind = passing.sum(axis=1) + before - (passing & sooner).sum(axis=1)
        rank = np.where(found, (passing & ahead).sum(axis=1), behind)
        tops = np.where(passing, scores, -np.inf)
        return Verdict(rank, _margin(np.partition(np.hstack([tops, rest]), -2, axis=1)[:, -2:]))


def _margin(best: Floats) -> Floats:
    """How far the first is above the second, of the best two, rising; 0 where both are equal."""
    tied = best[:, 0] == best[:, 1]
    return np.where(tied, 0.0, best[:, 1] - np.where(tied, 0.0, best[:, 0]))
