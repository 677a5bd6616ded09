"""The noise that gives back the spread that averaging takes away, and where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Mask
from sosie.compute.randomness import BLOCK
from sosie.compute.sums import WholeSum, added
from sosie.compute.threads import each_part, one_blas_thread

__all__ = ["GaussianNoise", "NoNoise", "NoSums", "Noise", "NoiseSums", "Sums"]

Single = NDArray[np.float32]

UNIT = 2.0**13
"""Deviations of normal scores, below 2^4, are summed in units of 1 / UNIT."""


class Noise(Protocol):
    """What is added to the weighted means of the numbers."""

    @property
    def exact(self) -> bool:
        """Whether there is none: an avatar's numbers are then weighted means, but for rounding."""

    def covariance(self, width: int) -> Floats:
        """Covariance of the noise of `width` numbers, ``(width, width) float64``."""

    def drawn(self, rng: np.random.Generator, count: int, some: slice) -> Single:
        """Noise of some of `count` places, ``(numbers, some) float32``; no rows where none is."""

    def added(self, means: Floats, scales: Floats, noise: Single, number: int) -> Floats:
        """One number of some places: its mean, and its noise times the scale, ``(m,) float64``."""


@dataclass(frozen=True)
class NoNoise:
    """An avatar's numbers are its weighted means themselves."""

    exact = True

    def covariance(self, width: int) -> Floats:
        """Zeros."""
        return np.zeros((width, width))

    def drawn(self, rng: np.random.Generator, count: int, some: slice) -> Single:
        """No rows."""
        del rng, count
        return np.empty((0, some.stop - some.start), dtype=np.float32)

    def added(self, means: Floats, scales: Floats, noise: Single, number: int) -> Floats:
        """The means as they are."""
        del scales, noise
        return np.asarray(means[:, number])


@dataclass(frozen=True)
class GaussianNoise:
    """Gaussian noise, correlated as neighbours' scores are.

    Attributes
    ----------
    root : (p, p) float32, lower triangular root of its covariance.
    """

    root: Single

    exact = False

    @classmethod
    def of(cls, covariance: Floats) -> Self:
        """Noise with a covariance ``(p, p)``, whose negative eigenvalues count as 0."""
        eigenvalues, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        lower = np.asarray(np.linalg.qr(root.T, mode="r")).T
        return cls(np.ascontiguousarray(lower, dtype=np.float32))

    def covariance(self, width: int) -> Floats:
        """``root root'``."""
        del width
        root = self.root.astype(np.float64)
        return np.asarray(root @ root.T)

    def drawn(self, rng: np.random.Generator, count: int, some: slice) -> Single:
        """``(p, some) float32``."""
        free = rng.standard_normal((len(self.root), count), dtype=np.float32)[:, some]
        noise = np.empty_like(free)
        for i, mix in enumerate(self.root):
            total = free[0] * mix[0]
            for one, factor in zip(free[1 : i + 1], mix[1:], strict=False):
                total += one * factor  # one by one: a matrix product rounds by position
            noise[i] = total
        return noise

    def added(self, means: Floats, scales: Floats, noise: Single, number: int) -> Floats:
        """``mean + scale * noise``."""
        scale = scales[:, number if scales.shape[1] > 1 else 0]
        return np.asarray(means[:, number] + scale * noise[number])


class Sums(Protocol):
    """What the noise of a table is made of; of parts of it, merged in any order."""

    def merge(self, other: Self) -> Self:
        """The sums over both."""

    def noise(self) -> Noise:
        """The noise of all that was summed."""


@dataclass(frozen=True)
class NoSums:
    """Of a method, or a table, without noise."""

    def merge(self, other: Self) -> Self:
        """Nothing to add."""
        del other
        return self

    def noise(self) -> Noise:
        """None."""
        return NoNoise()


@dataclass(frozen=True)
class NoiseSums:
    """Sums over people of the products of their neighbours' deviations, exact in any order.

    Attributes
    ----------
    products : of (p, p) whole numbers, in units of 2^-26.
    pairs : of (p, p), degrees of freedom.
    """

    products: WholeSum
    pairs: WholeSum

    @classmethod
    def of(
        cls, rows: NDArray[np.int32], values: NDArray[Any], present: Mask | None, threads: int = 1
    ) -> NoiseSums:
        """The sums over the people of a mixture.

        Each person's covariance is unbiased; where a neighbour has no score, pairs count
        over those that have both.

        Parameters
        ----------
        rows, values, present : see `sosie.generate.mixture.Mixture`.
        """
        (k, count), width = rows.shape, values.shape[1]
        products, pairs = WholeSum((width, width)), WholeSum((width, width))

        def add(part: slice) -> None:
            near = rows[:, part]
            cells = values.take(near, axis=0).astype(np.float64)
            if present is None:
                cells -= added(cells) / k
                pairs.add(np.full((width, width), (k - 1.0) * near.shape[1]))
            else:
                has = present.take(near, axis=0)
                cells = (cells - added(cells) / np.maximum(has.sum(axis=0), 1)) * has
                joint = np.array([(has & has[:, :, i, None]).sum(axis=0) for i in range(width)])
                pairs.add(np.maximum(joint - 1, 0).sum(axis=1).astype(np.float64))
            flat = np.rint(cells.reshape(-1, width) * UNIT)
            products.add(flat.T @ flat)

        with one_blas_thread():
            each_part(add, count, max(BLOCK // k, 1), threads)
        return cls(products, pairs)

    def merge(self, other: NoiseSums) -> NoiseSums:
        """The sums over both."""
        self.products.merge(other.products)
        self.pairs.merge(other.pairs)
        return self

    def noise(self) -> Noise:
        """Gaussian, with the mean over people of the covariance of their neighbours' scores."""
        covariance = self.products.total / UNIT**2 / np.maximum(self.pairs.total, 1)
        return GaussianNoise.of(covariance)
