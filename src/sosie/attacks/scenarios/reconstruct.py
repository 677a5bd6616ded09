"""Rows of the originals, rebuilt from published releases alone.

Records that lie between two people (SMOTE, barycentres of two neighbours) lie on a line, and
the lines of one person cross in their row: three records give a line, two lines a person. The
attacker needs no original, no alignment and no generator. Compare 'SMOTE and Mirrors',
arXiv 2510.15083. Records between three to five people lie on faces, which meet in corners while
twice their dimensions are fewer than the numbers (`sosie.attacks.faces`).

A row counts as rebuilt where a guess is within 1 % of a standard deviation on every number and
equal on every category; the same guesses are held against people who took no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import KDTree

from sosie.attacks.faces import Faces, corners_of
from sosie.attacks.moments import rows_of
from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Cast, Setup
from sosie.attacks.scenarios.protocol import Declaration
from sosie.attacks.sources import AvatarSource, Source
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.table import Numbers, Table
from sosie.errors import Reason

__all__ = ["DECLARATION", "Cells", "Lines", "crossings", "play", "rebuilt"]

RELEASES = 10
"""Published releases, at most: a line needs three records."""

MOST_PEOPLE = 20_000
"""In larger tables lines are not looked for: all releases are held together."""

WITHIN = 0.01
"""Of a standard deviation: how near every number must be."""

NEAR = 20
"""Records among which a line through a record is looked for, and lines that may cross it."""

EXACT = 1e-6
"""Standard deviations off a line that arithmetic alone explains."""

STEPS = 2.0
"""Standard deviations of the rounding off a line that rounding explains."""

MOST_DECIMALS = 5
"""Numbers written with more are taken as not rounded."""

SINE = 0.1
"""Least sine of the angle of two lines: flatter ones cross anywhere."""

BEYOND = 3.0
"""Half lengths of what the records of a line span, within which it may be crossed."""

BY_DIMENSIONS: Mapping[str, tuple[int, ...]] = {"crossings": (1,), "faces": (2, 3, 4)}
"""Of the hulls of two people, and of three to five: more were not found in ten releases."""

TOGETHER = 1_000
"""Records or lines worked on together."""


@dataclass(frozen=True)
class Cells:
    """Rows as the attacker compares them.

    Attributes
    ----------
    numbers : (n, p) float64, NaN where missing, in units of the grid.
    codes : (n, q) int64.
    """

    numbers: Floats
    codes: Ints

    @classmethod
    def of(cls, table: Table) -> Cells:
        """Those of a table."""
        numbers = [column.values for column in table.numbers]
        codes = [column.codes.astype(np.int64) for column in table.levels]
        empty = np.empty((len(table), 0))
        return cls(
            np.column_stack([empty, *numbers]),
            np.column_stack([empty.astype(np.int64), *codes]),
        )

    @classmethod
    def joined(cls, parts: list[Cells]) -> Cells:
        """The rows of several, one after the other."""
        return cls(
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.codes for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Ints) -> Cells:
        """Some rows."""
        return Cells(self.numbers[rows], self.codes[rows])


@dataclass(frozen=True)
class Lines:
    """Lines through records, of which each has at least three.

    Attributes
    ----------
    middles, directions : (L, p) float64; directions have length 1.
    halves : (L,) float64, half the length that its records span.
    starts : (L + 1,) int64, where the records of each line begin in `records`.
    records : int64, their rows.
    """

    middles: Floats
    directions: Floats
    halves: Floats
    starts: Ints
    records: Ints

    def __len__(self) -> int:
        return len(self.middles)

    @classmethod
    def through(cls, points: Floats, tolerance: float) -> Lines:
        """The line with most records among the nearest of each record.

        Parameters
        ----------
        points : (n, p) float64, distinct.
        tolerance : how far off a line a record may be.
        """
        count = min(NEAR, len(points) - 1)
        if count < 2:
            return cls._of(points, [], tolerance)
        tree, found = KDTree(points), set[tuple[int, ...]]()
        for start in range(0, len(points), TOGETHER):
            own = np.arange(start, min(start + TOGETHER, len(points)))
            near = np.asarray(tree.query(points[own], count + 1)[1])[:, 1:]
            away = points[near] - points[own][:, None]
            products = away @ away.transpose(0, 2, 1)
            squares = np.einsum("njj->nj", products)
            off = squares[:, None] - np.square(products) / squares[:, :, None]
            on = (off <= tolerance**2) & (squares > (2 * tolerance) ** 2)[:, :, None]
            best = on.sum(axis=2).argmax(axis=1)
            along = on[np.arange(len(own)), best]
            for row, others, there in zip(own, near, along, strict=True):
                if there.sum() > 1:
                    found.add(tuple(sorted((int(row), *others[there].tolist()))))
        return cls._of(points, sorted(found), tolerance)

    @classmethod
    def _of(cls, points: Floats, sets: list[tuple[int, ...]], tolerance: float) -> Lines:
        """The principal axis of each set of records, where they do lie on it."""
        middles, directions, halves, kept = [], [], [], []
        for rows in sets:
            own = points[list(rows)]
            middle = own.mean(axis=0)
            _, spread, axes = np.linalg.svd(own - middle, full_matrices=False)
            if np.sqrt(np.square(spread[1:]).sum() / len(rows)) > tolerance:
                continue
            along = (own - middle) @ axes[0]
            centre = (along.max() + along.min()) / 2
            middles.append(middle + centre * axes[0])
            directions.append(axes[0])
            halves.append((along.max() - along.min()) / 2)
            kept.append(rows)
        width = points.shape[1]
        return cls(
            np.array(middles).reshape(-1, width),
            np.array(directions).reshape(-1, width),
            np.array(halves),
            np.concatenate([[0], np.cumsum([len(rows) for rows in kept])]).astype(np.int64),
            np.array([row for rows in kept for row in rows], dtype=np.int64),
        )

    def members(self, lines: Ints) -> tuple[Ints, Ints]:
        """Records of some lines: which of `lines` each belongs to, and its row."""
        counts = self.starts[lines + 1] - self.starts[lines]
        which = np.repeat(np.arange(len(lines)), counts)
        before = np.repeat(np.cumsum(counts) - counts, counts)
        places = np.arange(counts.sum()) - before + self.starts[lines][which]
        return which, self.records[places]


def crossings(lines: Lines, tolerance: float) -> tuple[Floats, Ints]:
    """Where near lines cross past the ends of their records: ``(c, p)``, and which two, ``(c, 2)``.

    Two lines ``m + s u`` and ``n + t v`` are nearest where, with w = m - n and b = u . v,
    ``s = (b v.w - u.w) / (1 - b^2)`` and ``t = (v.w - b u.w) / (1 - b^2)``.
    """
    count = min(NEAR, len(lines) - 1)
    points, pairs = [np.empty((0, lines.middles.shape[1]))], [np.empty((0, 2), dtype=np.int64)]
    if count < 1:
        return points[0], pairs[0]
    tree = KDTree(lines.middles)
    for start in range(0, len(lines), TOGETHER):
        own = np.arange(start, min(start + TOGETHER, len(lines)))
        near = tree.query(lines.middles[own], count + 1)[1]
        one, other = (side.ravel() for side in np.broadcast_arrays(own[:, None], near))
        one, other = one[one < other], other[one < other]
        u, v = lines.directions[one], lines.directions[other]
        gap = lines.middles[one] - lines.middles[other]
        b, uw, vw = (np.einsum("ij,ij->i", *sides) for sides in ((u, v), (u, gap), (v, gap)))
        square = 1 - np.square(b)
        flat = np.maximum(square, SINE**2)
        s, t = (b * vw - uw) / flat, (vw - b * uw) / flat
        first = lines.middles[one] + s[:, None] * u
        second = lines.middles[other] + t[:, None] * v
        keep = (square > SINE**2) & (np.linalg.norm(first - second, axis=1) <= 2 * tolerance)
        for along, line in ((s, one), (t, other)):
            past = np.abs(along) - lines.halves[line]
            keep &= (past >= -tolerance) & (np.abs(along) <= BEYOND * lines.halves[line])
        points.append((first[keep] + second[keep]) / 2)
        pairs.append(np.column_stack([one[keep], other[keep]]))
    return np.concatenate(points), np.concatenate(pairs)


def rebuilt(people: Cells, guesses: Cells, deviations: Floats) -> Mask:
    """(n,) bool, whether some guess is each person's row.

    Parameters
    ----------
    deviations : (p,) float64, the standard deviation of each number.

    Examples
    --------
    >>> codes = np.zeros((2, 1), dtype=np.int64)
    >>> people = Cells(np.array([[1.0], [2.0]]), codes)
    >>> rebuilt(people, Cells(np.array([[1.009], [2.011]]), codes), np.array([1.0]))
    array([ True, False])
    """
    right = np.zeros(len(people), dtype=bool)
    if not len(guesses):
        return right
    both = Cells.joined([people, guesses])
    kinds = np.column_stack([both.codes, np.isnan(both.numbers)])
    _, kind = np.unique(kinds, axis=0, return_inverse=True)
    kind = kind.ravel()  # NumPy 2.0 gives it two dimensions
    width = np.where(deviations > 0, WITHIN * deviations, 1.0)
    # Other categories are 3 apart, where 1 is as far as a number may be; rounding errors aside.
    places = np.column_stack([np.nan_to_num(both.numbers / width), 3.0 * kind])
    away, _ = KDTree(places[len(people) :]).query(
        places[: len(people)], 1, p=np.inf, distance_upper_bound=1 + 1e-9
    )
    return np.asarray(np.isfinite(away))


def play(source: Source, setup: Setup) -> Iterator[AttackResult]:
    """Percent of people whose row is among as many guesses as there are people.

    ``records``: published records as they are, those that come most often first; it tells
    copies. ``crossings``: rows in which lines through records cross, those with most lines first.
    ``faces``: the same for records between three to five people. `chance` is the same share of
    `Setup.holdout`, people who took no part; None without.
    """
    known = {"scenario": "reconstruct", "decision": "row-rebuilt"}
    originals = (
        source.avatarizer.originals if isinstance(source, AvatarSource) else source.originals
    )
    if len(originals) > MOST_PEOPLE:
        reason = Reason("too_many_to_rebuild", {"most": MOST_PEOPLE})
        for estimator in ("records", *BY_DIMENSIONS):
            yield AttackResult.none(estimator=estimator, reason=reason, **known)
        return
    count = max(min(RELEASES, setup.counts[-1]), 1)
    released = [_published(source, originals, setup.first + r) for r in range(count)]
    records = Cells.joined([Cells.of(table) for table in released])
    order = np.random.default_rng(setup.seed).permutation(len(records))
    records = records.take(order)  # No order of the releases helps.
    cast = Cast.of(len(originals), setup.seed, setup.targets)
    people = Cells.of(rows_of(originals, cast.targets[: cast.attacked]))
    deviations = _deviations(Cells.of(originals))
    apart = None if setup.holdout is None else Cells.of(originals.like(setup.holdout))
    columns, most = released[0].numbers, len(originals)
    for estimator, dimensions in (("records", ()), *BY_DIMENSIONS.items()):
        guesses: Cells | Reason = _commonest(records, most)
        if dimensions:
            guesses = _corners(records, columns, most, dimensions)
        if isinstance(guesses, Reason):
            yield AttackResult.none(estimator=estimator, reason=guesses, **known)
            continue
        control = None if apart is None else rebuilt(apart, guesses, deviations)
        result = AttackResult.share(
            rebuilt(people, guesses, deviations),
            estimator=estimator,
            chance=None if control is None else 100 * float(control.mean()),
            releases=count,
            candidates=len(guesses),
            **known,
        )
        reasons = () if apart is not None else (Reason("nobody_apart"),)
        yield replace(result, reasons=reasons)


def _published(source: Source, originals: Table, release: int) -> Table:
    """A release as it is published, all its avatars of each person; its order is not used."""
    if isinstance(source, AvatarSource):
        return originals.like(source.avatarizer.release(release))
    return source.draw(release)


def _deviations(cells: Cells) -> Floats:
    """(p,) float64, of the numbers that are there."""
    there = ~np.isnan(cells.numbers)
    count = np.maximum(there.sum(axis=0), 1)
    means = np.where(there, cells.numbers, 0.0).sum(axis=0) / count
    squares = np.square(np.where(there, cells.numbers - means, 0.0)).sum(axis=0)
    return np.asarray(np.sqrt(squares / count))


def _commonest(records: Cells, most: int) -> Cells:
    """Distinct records, those that come most often first."""
    rows = np.column_stack([np.nan_to_num(records.numbers, nan=np.inf), records.codes])
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    ranked = np.lexsort((first, -counts))[:most]
    return records.take(first[ranked])


def _corners(
    records: Cells, columns: tuple[Numbers, ...], most: int, dimensions: tuple[int, ...]
) -> Cells | Reason:
    """Rows in which lines, or faces of so many dimensions, meet: those with most meetings first."""
    deviations = _deviations(records)
    varied = np.flatnonzero(deviations > 0)
    whole = ~np.isnan(records.numbers[:, varied]).any(axis=1)
    if len(varied) < 2 or whole.sum() <= NEAR:
        return Reason("no_lines")
    complete = records.take(np.flatnonzero(whole))
    scaled, first = np.unique(
        complete.numbers[:, varied] / deviations[varied], axis=0, return_index=True
    )
    complete = complete.take(first)
    spacings = _spacings(complete, columns)
    # A step that is rounded to has the standard deviation step / sqrt(12).
    rounding = np.linalg.norm(spacings[varied] / deviations[varied]) / np.sqrt(12)
    tolerance = EXACT + STEPS * float(rounding)
    few = [m for m in dimensions if 2 * m < len(varied)]
    if dimensions != (1,) and not few:
        return Reason("faces_meet_anywhere", {"n": len(varied)})
    order = np.random.default_rng(0).permutation(len(scaled))  # they were sorted
    scaled, complete = scaled[order], complete.take(order)
    meetings = [_meetings(scaled, m, tolerance) for m in (few or dimensions)]
    points = np.concatenate([points for _, points, _ in meetings])
    numbers = np.tile(complete.numbers[:1], (len(points), 1))
    numbers[:, varied] = points * deviations[varied]
    steps = np.where(spacings > 0, spacings, 1.0)
    numbers = np.where(spacings > 0, np.rint(numbers / steps) * steps, numbers)
    width = np.where(deviations > 0, WITHIN * deviations, 1.0)
    _, first, corner, counts = np.unique(
        np.rint(numbers / width), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    ends = np.cumsum([len(points) for _, points, _ in meetings])[:-1]
    each = zip(meetings, np.split(corner.ravel(), ends), strict=True)
    votes = [_votes(faces, pairs, own, here, scaled) for (faces, here, pairs), own in each]
    codes = _voted(
        [np.concatenate(side) for side in zip(*votes, strict=True)], complete.codes, len(first)
    )
    ranked = np.argsort(-counts, kind="stable")[:most]
    return Cells(numbers[first], codes).take(ranked)


def _meetings(
    scaled: Floats, dimensions: int, tolerance: float
) -> tuple[Lines | Faces, Floats, Ints]:
    """Lines or faces through records, where they meet, and which two do."""
    if dimensions == 1:
        lines = Lines.through(scaled, tolerance)
        return lines, *crossings(lines, tolerance)
    faces = Faces.through(scaled, dimensions, tolerance)
    return faces, *corners_of(faces, tolerance)


def _spacings(records: Cells, columns: tuple[Numbers, ...]) -> Floats:
    """(p,) float64, between neighbouring values as they are written; 0 where any may be."""
    spacings = np.array([column.grid.spacing for column in columns])
    for place in np.flatnonzero(spacings == 0):
        values = records.numbers[:, place]
        written = (d for d in range(MOST_DECIMALS + 1) if (np.round(values, d) == values).all())
        decimals = next(written, None)
        spacings[place] = 0.0 if decimals is None else 10.0**-decimals
    return spacings


def _votes(
    lines: Lines | Faces, pairs: Ints, corner: Ints, points: Floats, scaled: Floats
) -> tuple[Ints, Ints, Floats]:
    """Which corner, which record, and its weight: records near a corner speak for it."""
    crossing, records = [], []
    for side in (0, 1):
        which, rows = lines.members(pairs[:, side])
        crossing.append(which)
        records.append(rows)
    where, rows = np.concatenate(crossing), np.concatenate(records)
    away = np.linalg.norm(points[where] - scaled[rows], axis=1)
    return corner[where], rows, 1 / (away + EXACT)


def _voted(votes: Sequence[Floats], codes: Ints, corners: int) -> Ints:
    """(corners, q) int64, the level of each category with the greatest weight."""
    corner, rows = (side.astype(np.int64) for side in votes[:2])
    weights = votes[2]
    chosen = np.zeros((corners, codes.shape[1]), dtype=np.int64)
    for place in range(codes.shape[1]):
        low = codes[:, place].min()
        levels = int(codes[:, place].max() - low) + 1
        cells, back = np.unique(corner * levels + codes[rows, place] - low, return_inverse=True)
        totals = np.bincount(back, weights, len(cells))
        order = np.lexsort((-totals, cells // levels))
        which, first = np.unique(cells[order] // levels, return_index=True)
        chosen[which, place] = cells[order][first] % levels + low
    return chosen


DECLARATION = Declaration("reconstruct", 2, play, alone=True)
