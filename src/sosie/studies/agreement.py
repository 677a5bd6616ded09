"""How far an estimate on avatars agrees with the same estimate on originals.

For an original estimate q with standard error s and interval (l, u), and an avatar estimate q'
with interval (l', u'), the latter wide enough for inference about the population:

- *inside*: ``l <= q' <= u``.
- *overlap*: with w the width of the common part of the intervals (0 where they are apart), the mean
  of ``w / (u - l)`` and ``w / (u' - l')``; in 0..1 (Karr et al. 2006).
- *standardised difference*: ``(q' - q) / s`` (as synthpop prints it).
- *same sign*, and *same significance*: both intervals leave out 0, or neither does. Means and
  shares by group test nothing: they have neither.

The verdict is ``contradicted`` where q' lies outside, ``confirmed`` where it lies inside with the
same sign and significance, ``compatible`` where it lies inside and a conclusion would differ.

Sources: Karr, A. F. et al. (2006), The American Statistician 60(3); Nowok, B., Raab, G. M. and
Dibben, C. (2016), Journal of Statistical Software 74(11).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sosie.errors import Reason
from sosie.studies.design import Term

__all__ = ["Agreement", "Estimate", "Verdict", "agreement"]

Verdict = Literal["confirmed", "compatible", "contradicted"]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """One coefficient on one side.

    Attributes
    ----------
    value : None where it can't be computed or shown; `reason` says why.
    standard_error : of the value, for inference about the population.
    interval : at 95 %, likewise.
    naive_interval : of avatars, as software would print it that takes them for people; it is
        too narrow.
    releases : of avatars, how many the estimate comes from.
    inside : of several releases, how many had their own estimate in the originals' interval.
    """

    value: float | None
    standard_error: float | None = None
    interval: Interval | None = None
    naive_interval: Interval | None = None
    releases: int | None = None
    inside: int | None = None
    reason: Reason | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = {
            "estimate": self.value,
            "standard_error": self.standard_error,
            "interval": self.interval,
        }
        if self.releases is not None:
            plain |= {"naive_interval": self.naive_interval, "releases": self.releases}
            plain |= {"releases_inside": self.inside}
        return plain | {"reason": None if self.reason is None else self.reason.to_dict()}


@dataclass(frozen=True)
class Agreement:
    """One coefficient on originals and avatars.

    Attributes
    ----------
    term : the coefficient.
    original, avatars : the estimates.
    overlap : of the intervals, in 0..1.
    standardised_difference : in standard errors of the original.
    same_sign, same_significance : None where nothing is tested.
    inside : whether the avatars' estimate lies in the originals' interval.
    verdict : None where either estimate is missing.
    """

    term: Term
    original: Estimate
    avatars: Estimate
    overlap: float | None = None
    standardised_difference: float | None = None
    same_sign: bool | None = None
    same_significance: bool | None = None
    inside: bool | None = None
    verdict: Verdict | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        factors: list[Mapping[str, Any]] = [
            {"column": factor.column, "level": factor.level} for factor in self.term.factors
        ]
        return {
            "term": self.term.label,
            "factors": factors,
            "original": self.original.to_dict(),
            "avatars": self.avatars.to_dict(),
            "overlap": self.overlap,
            "standardised_difference": self.standardised_difference,
            "same_sign": self.same_sign,
            "same_significance": self.same_significance,
            "inside": self.inside,
            "verdict": self.verdict,
        }


def agreement(term: Term, original: Estimate, avatars: Estimate, tests: bool) -> Agreement:
    """Compare the two estimates of a coefficient.

    Parameters
    ----------
    tests : whether the coefficient is an effect, which is compared with 0.

    Examples
    --------
    >>> one = Estimate(1.0, 0.5, (0.0, 2.0))
    >>> other = Estimate(1.5, 0.5, (0.5, 2.5))
    >>> both = agreement(Term(()), one, other, tests=True)
    >>> both.overlap, both.standardised_difference, both.inside, both.verdict
    (0.75, 1.0, True, 'compatible')
    """
    ours, theirs = original.interval, avatars.interval
    if original.value is None or avatars.value is None or ours is None or theirs is None:
        return Agreement(term, original, avatars)
    inside = ours[0] <= avatars.value <= ours[1]
    sign = significance = None
    if tests:
        sign = math.copysign(1, original.value) == math.copysign(1, avatars.value)
        significance = _leaves_out_0(ours) == _leaves_out_0(theirs)
    conclusion = sign is not False and significance is not False
    verdict: Verdict = "compatible" if not conclusion else "confirmed"
    error = original.standard_error
    return Agreement(
        term,
        original,
        avatars,
        overlap=_overlap(ours, theirs),
        standardised_difference=(avatars.value - original.value) / error if error else None,
        same_sign=sign,
        same_significance=significance,
        inside=inside,
        verdict=verdict if inside else "contradicted",
    )


def _leaves_out_0(interval: Interval) -> bool:
    return interval[0] > 0 or interval[1] < 0


def _overlap(one: Interval, other: Interval) -> float | None:
    widths = [one[1] - one[0], other[1] - other[0]]
    if min(widths) <= 0:
        return None
    common = max(min(one[1], other[1]) - max(one[0], other[0]), 0.0)
    return sum(common / width for width in widths) / 2
