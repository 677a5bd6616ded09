"""Row direct match protection: whether avatars repeat whole people."""

from __future__ import annotations

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.intervals import hidden_interval
from sosie.audits.results import Metric
from sosie.data.rows import rows_found

__all__ = ["DEFINITION", "row_direct_match_protection"]

DEFINITION = Definition(
    "row_direct_match_protection",
    "%",
    "higher",
    "singling_out",
    target=90.0,
    place=70,
    advice=("unkeep", "as_numbers", "raise_k"),
    gathered="repeated",
)


def row_direct_match_protection(
    originals: object, avatars: object | None = None, *, target: float | None = DEFINITION.target
) -> Metric:
    """Share of people whose whole row appears in no avatar.

    The attacker knows all there is to know about a person and looks for exactly that row. Where
    it is there, whole, an avatar repeats a person, by copying or by coincidence: where rows are
    short, strangers' rows are found as well, and the control says how many.

    In percent, 0 to 100; higher protects better; target at least 90. The tables need not
    be aligned. A missing value is a value like any other. `control` is the same share for
    the people set aside. The interval is Wilson's.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    target : None for no target.

    Notes
    -----
    Source: the row direct match protection of avatar evaluation.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [61, 47, 33, 25], "sex": ["F", "M", "F", "M"]})
    >>> avatars = pl.DataFrame({"age": [33, 47, 61, 30], "sex": ["M", "M", "F", "F"]})
    >>> row_direct_match_protection(people, avatars).value
    50.0
    """
    comparison = compared(originals, avatars, aligned=False)
    repeated = comparison.repeated
    control = None
    if comparison.holdout is not None:
        control = 100 - 100 * float(rows_found(comparison.holdout, comparison.avatars).mean())
    return DEFINITION.result(
        100 - 100 * float(repeated.mean()),
        target=target,
        ci=hidden_interval(float(repeated.sum()), len(repeated)),
        control=control,
        by_person={"found": repeated},
    )
