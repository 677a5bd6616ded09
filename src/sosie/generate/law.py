"""The law of avatars that mix a person's neighbours, written once.

The generator (`sosie.generate.draw`) and the attackers who know it (`sosie.attacks.knowledge`,
`bayes`, `geometry`) call the same functions for everything that could drift between them: the
weights, what their sums mean, how much noise is given back, which levels may be drawn. They
only add up in layouts of their own: the generator neighbour by neighbour over many people, an
attacker over many draws of the weights of each person.

Sources: weights, Guillaudeux et al., npj Digital Medicine 6:37 (2023); noise, the smoothed
bootstrap of Silverman and Young, Biometrika 74 (1987), made local and put on normal scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.sums import added

__all__ = [
    "LEAST_DISTANCE",
    "LEAST_NOISE",
    "chance",
    "concentrations",
    "draw_weights",
    "eligible",
    "level_shares",
    "moments",
    "noise_scales",
    "normalised",
    "proximity",
    "weighted_means",
    "winner",
]

LEAST_DISTANCE = 0.1
"""A distance counts as at least this share of the farthest: a twin can't take all the weight."""

LEAST_NOISE = 0.25
"""Share of the local variance that noise always has: a lone neighbour's value is not copied."""


# ---------------------------------------------------------------- weights


def proximity(distances: NDArray[Any]) -> Floats:
    """``1 / distance`` to each neighbour, floored, scaled to at most 1: ``(n, k) float64``.

    Parameters
    ----------
    distances : (n, k) float, closest first.

    Examples
    --------
    >>> proximity(np.array([[0.0, 1.0, 2.0]])).tolist()
    [[1.0, 0.2, 0.1]]
    """
    distances = distances.astype(np.float64)
    least = np.maximum(LEAST_DISTANCE * distances[:, -1:], np.finfo(np.float64).tiny)
    floored = np.maximum(distances, least)
    return np.asarray(floored[:, :1] / floored)


def chance(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """The random part of the weights, ``(m, k) float64``.

    ``R_j * C_j`` with ``R_j ~ Exp(1)`` and ``C_j = 2^-rank``, ranks 1..k permuted at random.
    """
    count, k = shape
    ranks = np.tile(np.exp2(-np.arange(1.0, k + 1)), (count, 1))
    return np.asarray(rng.standard_exponential((count, k)) * rng.permuted(ranks, axis=1, out=ranks))


def normalised(weights: Floats, axis: int = 0) -> Floats:
    """Weights that sum to 1 over the neighbours; they are changed in place.

    >>> normalised(np.array([[1.0, 2.0], [3.0, 2.0]])).tolist()
    [[0.25, 0.5], [0.75, 0.5]]
    """
    # One by one over the first axis: there the bytes of releases depend on it.
    weights /= added(weights) if axis == 0 else weights.sum(axis=axis, keepdims=True)
    return weights


def draw_weights(near: Floats, rng: np.random.Generator) -> Floats:
    """Random weights of the neighbours, ``(m, k) float64``, each row summing to 1.

    ``w_j`` is proportional to ``near_j * R_j * C_j`` (see `chance`).

    Parameters
    ----------
    near : (m, k) float64, see `proximity`.
    """
    count, k = near.shape
    return normalised(near * chance((count, k), rng), axis=1)


# ---------------------------------------------------------------- numbers


def weighted_means(sums: NDArray[Any], totals: NDArray[Any], fallback: Any) -> NDArray[Any]:
    """Mean over the neighbours that have a value; `fallback` where none has.

    Parameters
    ----------
    sums, totals : of weight times value, and of weight, over the neighbours that have one.

    Examples
    --------
    >>> weighted_means(np.array([3.0, 0.0]), np.array([0.5, 0.0]), 7.0).tolist()
    [6.0, 7.0]
    """
    has = totals > 0
    means = np.divide(sums, totals, out=np.zeros_like(sums), where=has)
    return np.asarray(np.where(has, means, fallback))


def concentrations(squares: NDArray[Any], totals: NDArray[Any]) -> NDArray[Any]:
    """Sum of the squared weights, among the neighbours that have a value; 0 where none has.

    >>> concentrations(np.array([0.125, 0.0]), np.array([0.5, 0.0])).tolist()
    [0.5, 0.0]
    """
    has = totals > 0
    return np.asarray(np.divide(squares, np.square(totals), out=np.zeros_like(squares), where=has))


def noise_scales(concentration: NDArray[Any]) -> NDArray[Any]:
    """Standard deviation of the noise, as a share of the local one.

    ``sqrt(max(1 - sum_j w_j^2, 1/4))``: what averaging took away, and never less than a half.

    >>> noise_scales(np.array([0.0, 0.64, 1.0])).tolist()
    [1.0, 0.6, 0.5]
    """
    return np.asarray(np.sqrt(np.maximum(1 - concentration, LEAST_NOISE)))


def moments(averages: Floats, scales: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of each person's numbers, over draws of the weights.

    The law of total covariance: that of the averages, and the mean of what the noise adds.

    Parameters
    ----------
    averages : (m, draws, p) float64, the weighted means for each draw.
    scales : (m, draws, p) or (m, draws, 1) float64, see `noise_scales`.
    noise : (p, p) float64, covariance of the noise.

    Returns
    -------
    means : (m, p) float64.
    covariances : (m, p, p) float64.
    """
    draws = averages.shape[1]
    means = averages.mean(axis=1)
    away = averages - means[:, None, :]
    covariances = away.transpose(0, 2, 1) @ away / (draws - 1)
    return means, covariances + noise * (scales.transpose(0, 2, 1) @ scales / draws)


# ---------------------------------------------------------------- levels


def eligible(weights: Floats, allowed: Mask) -> Floats:
    """Weights in a vote: nothing for neighbours whose level too few people hold."""
    return np.asarray(weights * allowed)


def level_shares(votes: NDArray[Any], total: NDArray[Any], otherwise: Any) -> NDArray[Any]:
    """Chance of what these votes are for; `otherwise` where no neighbour may vote.

    Where none may, the commonest level is taken.

    >>> level_shares(np.array([0.2, 0.0]), np.array([0.8, 0.0]), 1.0).tolist()
    [0.25, 1.0]
    """
    some = total > 0
    return np.where(some, votes / np.where(some, total, 1), otherwise)


def winner(totals: NDArray[Any], axis: int = 0) -> Ints:
    """The neighbour whose level has the greatest weight; the nearest of equal ones.

    Parameters
    ----------
    totals : for each neighbour, closest first, the weight of all who may vote for its level.

    Examples
    --------
    >>> int(winner(np.array([0.4, 0.6, 0.6])))
    1
    """
    return np.asarray(np.argmax(totals, axis=axis))
