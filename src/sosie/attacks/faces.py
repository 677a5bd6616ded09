"""Faces of hulls that records lie on, and the corners in which faces meet.

A barycentre of k people lies in the hull of their rows, a face of k - 1 dimensions. Several records
of one hull give the face: among the nearest of a record are some on which it lies, and one more
that lies there by no accident. Two people who share a neighbour have faces that meet in their
neighbour's row, and in no other point while twice the dimensions are fewer than the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.spatial import KDTree

from sosie.compute.arrays import Floats, Ints, Mask

__all__ = ["Faces", "corners_of"]

NEAR = 12
"""Records among which those of the face of a record are looked for."""

MEETING = 40
"""Faces near a face that may meet it."""

MOST_RECORDS = 20_000
"""Records whose faces are looked for, drawn by their order, which says nothing."""

WIDTH = 3.0
"""Tolerances that the records of a face are apart at least, in each of its dimensions."""

REACH = 3.0
"""Sum of the absolute weights with which a record of a face is mixed from the others, at most."""

BEYOND = 3.0
"""Times what the records of a face span, within which it may meet others."""

SINE = 0.1
"""Least sine of the angle of two faces: flatter ones meet anywhere."""

CELLS = 20_000_000
"""Numbers held together."""


@dataclass(frozen=True)
class Faces:
    """Faces of one number of dimensions, each through records.

    Attributes
    ----------
    middles : (F, p) float64.
    axes : (F, m, p) float64, orthonormal.
    halves : (F, m) float64, how far records go along each axis.
    starts : (F + 1,) int64, where the records of each face begin in `records`.
    records : int64, their rows.
    """

    middles: Floats
    axes: Floats
    halves: Floats
    starts: Ints
    records: Ints

    def __len__(self) -> int:
        return len(self.middles)

    @classmethod
    def through(cls, points: Floats, dimensions: int, tolerance: float) -> Faces:
        """The face with most records among the nearest of each record.

        Parameters
        ----------
        points : (n, p) float64, distinct, in an order that says nothing.
        dimensions : m, at least 1 and under p.
        tolerance : how far off a face a record may be.
        """
        near = min(NEAR, len(points) - 1)
        sets: dict[tuple[int, ...], None] = {}
        if near > dimensions:
            tree, chosen = KDTree(points), np.array(list(combinations(range(near), dimensions)))
            step = max(CELLS // (chosen.size * near), 1)
            for start in range(0, min(len(points), MOST_RECORDS), step):
                own = np.arange(start, min(start + step, len(points), MOST_RECORDS))
                others = np.asarray(tree.query(points[own], near + 1)[1])[:, 1:]
                on = _on_faces(points[others] - points[own][:, None], chosen, tolerance)
                for row, neighbours, there in zip(own.tolist(), others, on, strict=True):
                    if there.sum() > dimensions:
                        sets[tuple(sorted((row, *neighbours[there].tolist())))] = None
        return cls._of(points, sorted(sets), dimensions, tolerance)

    @classmethod
    def _of(
        cls, points: Floats, sets: list[tuple[int, ...]], dimensions: int, tolerance: float
    ) -> Faces:
        """The principal axes of each set of records, where they do lie on a face."""
        middles, axes, halves, kept = [], [], [], []
        for rows in sets:
            own = points[list(rows)]
            middle = own.mean(axis=0)
            _, spread, directions = np.linalg.svd(own - middle, full_matrices=False)
            if np.sqrt(np.square(spread[dimensions:]).sum() / len(rows)) > tolerance:
                continue
            middles.append(middle)
            axes.append(directions[:dimensions])
            halves.append(np.abs((own - middle) @ directions[:dimensions].T).max(axis=0))
            kept.append(rows)
        width = points.shape[1]
        return cls(
            np.array(middles).reshape(-1, width),
            np.array(axes).reshape(-1, dimensions, width),
            np.array(halves).reshape(-1, dimensions),
            np.concatenate([[0], np.cumsum([len(rows) for rows in kept])]).astype(np.int64),
            np.array([row for rows in kept for row in rows], dtype=np.int64),
        )

    def members(self, faces: Ints) -> tuple[Ints, Ints]:
        """Records of some faces: which of `faces` each belongs to, and its row."""
        counts = self.starts[faces + 1] - self.starts[faces]
        which = np.repeat(np.arange(len(faces)), counts)
        before = np.repeat(np.cumsum(counts) - counts, counts)
        return which, self.records[np.arange(counts.sum()) - before + self.starts[faces][which]]


def _on_faces(away: Floats, chosen: Ints, tolerance: float) -> Mask:
    """(b, near) bool, the others that lie on the fullest face through each record.

    With A the differences to the m records that are chosen and c that to another one, the square
    of its distance to the face is ``c'c - c'A (A'A)^-1 A'c``.

    Parameters
    ----------
    away : (b, near, p) float64, differences to the nearest records.
    chosen : (choices, m) int64, which of them span a face.
    """
    products = away @ away.transpose(0, 2, 1)
    spanned = products[:, chosen[:, :, None], chosen[:, None, :]]
    thin = np.linalg.eigvalsh(spanned)[:, :, 0] < (WIDTH * tolerance) ** 2
    spanned = np.where(thin[:, :, None, None], np.eye(chosen.shape[1]), spanned)
    sides = products[:, chosen]
    weights = np.linalg.solve(spanned, sides)
    squares = np.einsum("bjj->bj", products)[:, None]
    off = squares - np.einsum("bcmj,bcmj->bcj", sides, weights)
    on = (off <= tolerance**2) & (np.abs(weights).sum(axis=2) < REACH) & ~thin[:, :, None]
    return np.asarray(on[np.arange(len(on)), on.sum(axis=2).argmax(axis=1)])


def corners_of(faces: Faces, tolerance: float) -> tuple[Floats, Ints]:
    """Where near faces meet: points ``(c, p)`` float64, and which two faces, ``(c, 2)`` int64.

    Two faces ``m + U's`` and ``n + V't`` are nearest at the least squares of
    ``m + U's - n - V't``; they meet where these are within two tolerances.
    """
    width = faces.middles.shape[1]
    points, pairs = [np.empty((0, width))], [np.empty((0, 2), dtype=np.int64)]
    count = min(MEETING, len(faces) - 1)
    if count < 1:
        return points[0], pairs[0]
    tree, dimensions = KDTree(faces.middles), faces.axes.shape[1]
    step = max(CELLS // (count * 4 * dimensions * width), 1)
    for start in range(0, len(faces), step):
        own = np.arange(start, min(start + step, len(faces)))
        near = np.asarray(tree.query(faces.middles[own], count + 1)[1])
        one, other = (side.ravel() for side in np.broadcast_arrays(own[:, None], near))
        one, other = one[one < other], other[one < other]
        sides = np.concatenate([faces.axes[one], -faces.axes[other]], axis=1)
        squares = sides @ sides.transpose(0, 2, 1)
        steep = np.linalg.eigvalsh(squares)[:, 0] > SINE**2
        one, other, sides, squares = one[steep], other[steep], sides[steep], squares[steep]
        gaps = np.einsum("nmp,np->nm", sides, faces.middles[other] - faces.middles[one])
        along = np.linalg.solve(squares, gaps[..., None])[..., 0]
        first, second = along[:, :dimensions], along[:, dimensions:]
        here = faces.middles[one] + np.einsum("nm,nmp->np", first, faces.axes[one])
        there = faces.middles[other] + np.einsum("nm,nmp->np", second, faces.axes[other])
        keep = np.linalg.norm(here - there, axis=1) <= 2 * tolerance
        keep &= (np.abs(first) <= BEYOND * faces.halves[one]).all(axis=1)
        keep &= (np.abs(second) <= BEYOND * faces.halves[other]).all(axis=1)
        points.append((here[keep] + there[keep]) / 2)
        pairs.append(np.column_stack([one[keep], other[keep]]))
    return np.concatenate(points), np.concatenate(pairs)
