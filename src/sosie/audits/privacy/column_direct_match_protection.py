"""Column direct match protection: whether one column alone gives somebody away."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition, Swept
from sosie.audits.results import Metric, json_name
from sosie.data.rows import distinct, equal, values_of
from sosie.data.table import Column

__all__ = ["DEFINITION", "column_direct_match_protection", "column_record", "distinct_values"]


def column_matches(before: Column, after: Column) -> tuple[int, int]:
    """Matches and distinct values of a column's worst part of the avatars."""
    originals, avatars = values_of(before), values_of(after)
    counted = []
    for start in range(0, len(avatars), len(originals)):
        own = avatars[start : start + len(originals)]
        counted.append((int(equal(originals, own).sum()), distinct(own)))
    return max(counted, key=lambda part: part[0] * part[1])


DEFINITION = Definition(
    "column_direct_match_protection",
    "%",
    "higher",
    "singling_out",
    target=50.0,
    place=10,
    needs=("aligned",),
    advice=("drop_identifier", "unkeep", "coarsen"),
    gathered="counts",
    count=column_matches,
    swept=Swept(shown=False),
)


def column_direct_match_protection(
    originals: object, avatars: object | None = None, *, target: float | None = DEFINITION.target
) -> Metric:
    r"""Protection of the most revealing column against a direct match.

    The attacker looks for people in the avatars by the one column that gives most away, as one
    looks for a name in a list: a value of it that is rare, and that a person's own avatar still
    carries, points at them. Kept identifiers are found so, and little else is.

    For column c, `x_ic` being the original value and `y_ic` the avatar value of the same
    row, ``m_c = #{i : x_ic = y_ic}`` and ``u_c`` the number of distinct avatar values::

        P_c = 100 (1 - m_c u_c / n^2)        metric = min_c P_c

    In percent, 0 to 100; higher protects better; target at least 50. The weight `u_c`
    makes matches count in columns of many distinct values, such as identifiers. A missing
    value is a value like any other in both counts, and equality is of values, not of
    representations. With N avatars a person, each column counts its worst part.

    Parameters
    ----------
    originals : n rows, any dataframe; or a `Comparison`.
    avatars : aligned with the originals.
    target : columns below it are flagged; None for no target.

    Returns
    -------
    Metric
        ``columns`` holds ``column``, ``matches`` (m_c), ``distinct`` (u_c), ``protection``
        (P_c) and ``below_target``, riskiest first.

    Raises
    ------
    InputError
        The tables can't be compared.

    Notes
    -----
    Source: the column direct match protection of avatar evaluation.

    Examples
    --------
    Four people; the identifier stays in all four avatars, the sex in three:

    >>> import polars as pl
    >>> people = pl.DataFrame({"id": ["a", "b", "c", "d"], "sex": ["F", "M", "F", "M"]})
    >>> aligned = pl.DataFrame({"id": ["a", "b", "c", "d"], "sex": ["F", "M", "F", "F"]})
    >>> metric = column_direct_match_protection(people, aligned)
    >>> metric.value, metric.met
    (0.0, False)
    >>> metric.to_frame().select("column", "matches", "distinct", "protection").rows()
    [('id', 4, 4, 0.0), ('sex', 3, 2, 62.5)]
    """
    comparison = compared(originals, avatars, aligned=True)
    if (reason := comparison.lacks(*DEFINITION.needs)) is not None:
        return DEFINITION.unavailable(reason, target=target)
    count = len(comparison)
    records = [
        column_record(column.name, *counted, count, target)
        for column, counted in zip(
            comparison.originals.columns, comparison.by_column(column_matches), strict=True
        )
    ]
    columns = tuple(sorted(records, key=lambda record: float(record["protection"])))
    return DEFINITION.result(columns[0]["protection"], target=target, columns=columns)


def column_record(
    name: Hashable, matches: int, values: int, rows: int, target: float | None
) -> dict[str, Any]:
    """One column's ``P_c = 100 (1 - m_c u_c / n^2)``, as `columns` hold it.

    >>> column_record("age", 4, 4, 4, 50)["protection"]
    0.0
    """
    protection = 100 * (1 - matches * values / rows**2)
    return {
        "column": json_name(name),
        "matches": matches,
        "distinct": values,
        "protection": protection,
        "below_target": target is not None and protection < target,
    }


def distinct_values(column: Column) -> int:
    """Number of distinct values, a missing one included."""
    return distinct(values_of(column))
