"""Closest rate: avatars that are not both near one person and far from all others."""

from __future__ import annotations

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.intervals import hidden_interval
from sosie.audits.privacy.closest_distances_ratio import ratios_of
from sosie.audits.reasons import TWO_ORIGINALS
from sosie.audits.results import Metric
from sosie.compute.arrays import Floats, Mask

__all__ = ["DEFINITION", "closest_rate"]

DEFINITION = Definition(
    "closest_rate",
    "%",
    "higher",
    "singling_out",
    target=90.0,
    place=60,
    advice=("smoothed", "raise_k", "rare_profiles"),
    gathered="two_closest",
)

NEAR = 0.2
"""The distance in print below which an avatar is close: the target of `distance_to_closest`."""

LONELY = 0.3
"""The ratio in print below which one original stands out: that of `closest_distances_ratio`."""


def closest_rate(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Share of avatars that are not both close to one original and far from the others.

    The attacker believes an avatar only where it is both very near a person and much nearer to
    them than to anybody else: there a link is easiest to believe, right or wrong. The rate says
    how many avatars offer him no such belief.

    ``100 (1 - mean [d1 < 0.2 and d1 / d2 < 0.3])``, with the distances of
    `distance_to_closest` and the ratio of `closest_distances_ratio`. In percent, 0 to 100;
    higher protects better; target at least 90. The tables need not be aligned. `control`
    is the same for people set aside. The interval is Wilson's.

    Parameters
    ----------
    originals : two rows or more, any dataframe; or a `Comparison`.
    avatars : the same columns.
    components : dimensions of the latent space.
    target : None for no target.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]})
    >>> avatars = pl.DataFrame({"x": [3.1, 5.5, 7.5, 9.5]})
    >>> closest_rate(people, avatars).value
    75.0
    """
    comparison = compared(originals, avatars, aligned=False, components=components)
    if len(comparison) < 2:
        return DEFINITION.unavailable(TWO_ORIGINALS, target=target)
    exposed, control = _exposed(comparison.closest_originals), None
    if comparison.holdout is not None:
        strangers = _exposed(comparison.closest_originals_of_holdout)
        control = 100 * (1 - float(strangers.mean()))
    return DEFINITION.result(
        100 * (1 - float(exposed.mean())),
        target=target,
        ci=hidden_interval(float(exposed.sum()), len(exposed)),
        control=control,
        by_person={"exposed": exposed},
    )


def _exposed(distances: Floats) -> Mask:
    return (distances[:, 0] < NEAR) & (ratios_of(distances) < LONELY)
