"""Hidden rate: whether the nearest avatar betrays the person that it was made from."""

from __future__ import annotations

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition, Swept
from sosie.audits.distances import Crowd
from sosie.audits.intervals import hidden_interval
from sosie.audits.results import Metric

__all__ = ["DEFINITION", "hidden_rate", "share_hidden"]

DEFINITION = Definition(
    "hidden_rate",
    "%",
    "higher",
    "singling_out",
    target=90.0,
    place=20,
    needs=("aligned",),
    advice=("smoothed", "raise_k", "fewer_columns", "rare_profiles"),
    gathered="hit",
    swept=Swept(releases=3),
)


def hidden_rate(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Share of people whose nearest avatar is not their own.

    The attacker holds the whole row of one person, and the published avatars. He looks up the
    avatar that resembles the row most and says that it was made from this person. The rate says
    how often he is wrong.

    ``100 (1 - mean_i [the avatar nearest to original i is its own])``, Euclidean distances
    between FAMD coordinates fitted on the originals. Where avatars tie (distances within
    1e-9 of each other, relatively), the hit counts one over their number.

    In percent, 0 to 100; higher protects better; target at least 90. The interval is
    Wilson's.

    Parameters
    ----------
    originals : n rows, any dataframe; or a `Comparison`.
    avatars : aligned; with N avatars a person, N whole tables one after the other.
    components : dimensions of the latent space.
    target : None for no target.

    Notes
    -----
    Source: Guillaudeux et al., npj Digital Medicine 6:37 (2023).

    Examples
    --------
    On a line, three of four people are nearest to their own avatar:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]})
    >>> avatars = pl.DataFrame({"x": [float(i) for i in (1, 0, 3, 2, *range(4, 12))]})
    >>> round(hidden_rate(people, avatars).value, 2)
    33.33
    """
    comparison = compared(originals, avatars, aligned=True, components=components)
    if (reason := comparison.lacks(*DEFINITION.needs)) is not None:
        return DEFINITION.unavailable(reason, target=target)
    return share_hidden(DEFINITION, comparison.crowd, target)


def share_hidden(definition: Definition, around: Crowd, target: float | None) -> Metric:
    """The rate itself, of what stands around each original."""
    hits = float(around.hit.sum())
    return definition.result(
        100 * (1 - hits / len(around.hit)),
        target=target,
        ci=hidden_interval(hits, len(around.hit)),
        by_person={"hit": around.hit},
    )
