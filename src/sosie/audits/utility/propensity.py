"""Propensity: how well a model tells avatars from originals, against what chance gives."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.reasons import TOO_FEW_PEOPLE
from sosie.audits.results import Metric
from sosie.compute.arrays import Floats
from sosie.compute.threads import one_blas_thread

__all__ = ["DEFINITION", "propensity"]

DEFINITION = Definition(
    "propensity",
    "ratio",
    "lower",
    "utility",
    place=50,
    advice=("smoothed_utility", "lower_k", "more_components"),
)

MOST_ROWS = 20_000
"""Of either table; above, as many drawn. The more there are, the smaller differences are seen."""

ROWS_PER_PARAMETER = 10
"""With fewer rows, what chance gives is not what theory says of many."""

FARTHEST = 1e3
"""Coordinates end here, hundreds of standard deviations away, so that products stay finite."""

SMALLEST = 1e-9
"""Share of the greatest variance under which a direction of the features is roundoff."""

PENALTY = 1e-6
"""On squared slopes, a row: unseen, but slopes stay finite where a model is right everywhere."""


def propensity(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Error of a model that tells avatars from originals, over what chance alone gives it.

    A logistic regression on the first components, their squares and their products gives
    each of the N rows of both tables its chance p_i to be an avatar. Where avatars are like
    originals in means, spreads and links, it can't tell, and p_i stays near the share c of
    avatars; the propensity score mean squared error is ``pMSE = mean_i (p_i - c)^2``. If
    avatars are drawn from a law that is right, with q slopes,
    ``E = q (1 - c)^2 c / N`` is expected, with the standard deviation
    ``S = E sqrt(2 / q)``. The metric is ``pMSE / E``.

    1 or less is what the right law gives; lower is better; no target is in use (under 3 is
    often called good, under 10 acceptable). It grows with the number of rows, as every test
    does. ``standardised`` is ``(pMSE - E) / S``; ``another_sample``, ``1 / (1 - c)``, what
    another sample of the population, as large as the avatars, scores on average: the law of
    avatars knows the originals and comes closer. Above 20,000 rows of a table as many are
    drawn; ``sample`` then says how many of both were looked at.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns. Fewer than ten rows for each slope have no value.
    components : dimensions of the latent space.
    target : None for no target.

    Notes
    -----
    Sources: Woo et al., Journal of Privacy and Confidentiality 1(1) (2009), for the error;
    Snoke et al., Journal of the Royal Statistical Society A 181(3) (2018), for what is
    expected; Raab, Nowok and Dibben, arXiv 2109.12717 (2021), for how ratios are read.

    Examples
    --------
    Copies can't be told from the people themselves; people three years older can:

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [float(i % 60) for i in range(300)]})
    >>> abs(round(propensity(people, people).value, 6))
    0.0
    >>> propensity(people, people.select(pl.col("age") + 20)).value > 30
    True
    """
    comparison = compared(originals, avatars, aligned=False, components=components)
    people, records = map(_sampled, (comparison.original_points, comparison.avatar_points))
    rows, share = len(people) + len(records), len(records) / (len(people) + len(records))
    is_avatar = np.repeat([0.0, 1.0], [len(people), len(records)])
    with one_blas_thread():  # sums in one order, whatever the threads
        features = _whitened(_features(np.concatenate([people, records])))
        slopes = features.shape[1]
        if rows < ROWS_PER_PARAMETER * (slopes + 1):
            return DEFINITION.unavailable(TOO_FEW_PEOPLE, target=target)
        error = float(np.square(_fitted(features, is_avatar) - share).mean())
    expected = slopes * (1 - share) ** 2 * share / rows
    detail: dict[str, float] = {
        "pmse": error,
        "expected": expected,
        "standardised": (error / expected - 1) * sqrt(slopes / 2),
        "another_sample": 1 / (1 - share),
        "slopes": slopes,
    }
    if rows < len(comparison) + comparison.avatar_count:
        detail["sample"] = rows
    return DEFINITION.result(error / expected, target=target, detail=detail)


def _sampled(points: Floats) -> Floats:
    if len(points) <= MOST_ROWS:
        return points
    return points[np.random.default_rng(0).choice(len(points), MOST_ROWS, replace=False)]


def _features(points: Floats) -> Floats:
    """Coordinates, then every product of two of them, squares included, ``(N, d (d + 3) / 2)``."""
    points = np.clip(points, -FARTHEST, FARTHEST)
    one, other = np.triu_indices(points.shape[1])
    return np.column_stack([points, points[:, one] * points[:, other]])


def _whitened(features: Floats) -> Floats:
    """The same information in uncorrelated columns of variance 1, without what repeats others."""
    centred = features - features.mean(axis=0)
    deviations = centred.std(axis=0)
    scores = centred[:, deviations > 0] / deviations[deviations > 0]
    variances, axes = np.linalg.eigh(scores.T @ scores / len(scores))
    kept = variances > SMALLEST * variances.max(initial=0.0)
    return np.asarray(scores @ (axes[:, kept] / np.sqrt(variances[kept])))


def _fitted(features: Floats, is_avatar: Floats) -> Floats:
    """Chance of each row to be an avatar by logistic regression, ``(N,)``."""
    from scipy.optimize import minimize
    from scipy.special import expit

    rows = len(features)
    design = np.column_stack([np.ones(rows), features])
    penalty = np.full(design.shape[1], PENALTY)
    penalty[0] = 0.0

    def loss(weights: Floats) -> float:
        logits = design @ weights
        surprise = np.logaddexp(0.0, logits) - is_avatar * logits
        return float(surprise.mean() + (penalty * weights**2).sum() / 2)

    def slope(weights: Floats) -> Floats:
        return np.asarray(
            design.T @ (expit(design @ weights) - is_avatar) / rows + penalty * weights
        )

    def curvature(weights: Floats) -> Floats:
        chance = expit(design @ weights)
        weighted = design * (chance * (1 - chance))[:, None]
        return np.asarray(design.T @ weighted / rows + np.diag(penalty))

    start = np.zeros(design.shape[1])
    options: Any = {"gtol": 1e-10, "maxiter": 200}  # five figures need a dozen steps
    best = minimize(loss, start, method="trust-exact", jac=slope, hess=curvature, options=options)
    return np.asarray(expit(design @ best.x))
