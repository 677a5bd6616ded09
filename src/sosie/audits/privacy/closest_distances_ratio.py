"""Closest distances ratio: whether an avatar points at one person, or at several."""

from __future__ import annotations

import numpy as np

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.intervals import median_interval
from sosie.audits.reasons import TWO_ORIGINALS
from sosie.audits.results import Metric
from sosie.compute.arrays import Floats

__all__ = ["DEFINITION", "closest_distances_ratio", "ratios_of"]

DEFINITION = Definition(
    "closest_distances_ratio",
    "ratio",
    "higher",
    "singling_out",
    target=0.3,
    place=50,
    advice=("smoothed", "raise_k", "rare_profiles"),
    gathered="two_closest",
)


def closest_distances_ratio(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Median ratio of the distances from an avatar to its two nearest originals.

    The attacker who takes an avatar for a person needs to know for whom. Where one original is
    much nearer than any other, there is no doubt; where several are about as near, he can only
    guess among them.

    ``d1 / d2``, 0 to 1; near 0 one original stands out, near 1 several are as near. Higher
    protects better; target at least 0.3. A copy (``d1 = 0``) has ratio 0, even of several
    equal people: a copy is never perfect. The tables need not be aligned. `control` is the
    same for people set aside. The interval is that of the order statistics.

    Parameters
    ----------
    originals : two rows or more, any dataframe; or a `Comparison`.
    avatars : the same columns.
    components : dimensions of the latent space.
    target : None for no target.

    Examples
    --------
    A quarter of a step from one original, three quarters from the next:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]})
    >>> avatars = people.select(pl.col("x") + 0.25)
    >>> round(closest_distances_ratio(people, avatars).value, 4)
    0.3333
    """
    comparison = compared(originals, avatars, aligned=False, components=components)
    if len(comparison) < 2:
        return DEFINITION.unavailable(TWO_ORIGINALS, target=target)
    ratios, control = ratios_of(comparison.closest_originals), None
    if comparison.holdout is not None:
        control = float(np.median(ratios_of(comparison.closest_originals_of_holdout)))
    return DEFINITION.result(
        float(np.median(ratios)),
        target=target,
        ci=median_interval(ratios),
        control=control,
        detail={"percentile_5": float(np.percentile(ratios, 5))},
        by_person={"ratio": ratios},
    )


def ratios_of(distances: Floats) -> Floats:
    """d1 / d2, ``(m,)``; 0 for a copy.

    Parameters
    ----------
    distances : (m, 2) float64, from each avatar to its two nearest originals.

    Examples
    --------
    >>> ratios_of(np.array([[1.0, 4.0], [0.0, 0.0]])).tolist()
    [0.25, 0.0]
    """
    first, second = distances[:, 0], distances[:, 1]
    return np.divide(first, second, out=np.zeros(len(first)), where=first > 0)
