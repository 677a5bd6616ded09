"""Singling out: whether one person can be told apart in the avatars.

Each metric takes originals and avatars (dataframes of any kind, row i of the avatars
being the avatar of row i where that matters), or one `Comparison`. Criterion: WP29
opinion 05/2014.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.audits.comparison import Crowd, compared, crowd
from sosie.audits.intervals import median_interval, wilson
from sosie.audits.results import NO_CATEGORIES, NOT_ALIGNED, Definition, Metric, json_name
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data.rows import distinct, equal, rows_found, values_of
from sosie.data.table import Column, Levels, Table
from sosie.errors import InputError
from sosie.latent.neighbours import NeighbourIndex

__all__ = [
    "DEFINITIONS",
    "categorical_hidden_rate",
    "closest_distances_ratio",
    "closest_rate",
    "column_direct_match_protection",
    "distance_to_closest",
    "hidden_rate",
    "local_cloaking",
    "rare_values",
    "row_direct_match_protection",
]

COLUMN_MATCH = Definition("column_direct_match_protection", "%", "higher", "singling_out", 50.0)
HIDDEN = Definition("hidden_rate", "%", "higher", "singling_out", 90.0)
CLOAKING = Definition("local_cloaking", "avatars", "higher", "singling_out", 5.0)
CLOSEST = Definition("distance_to_closest", "distance", "higher", "singling_out", 0.2)
RATIO = Definition("closest_distances_ratio", "ratio", "higher", "singling_out", 0.3)
CLOSEST_RATE = Definition("closest_rate", "%", "higher", "singling_out", 90.0)
ROW_MATCH = Definition("row_direct_match_protection", "%", "higher", "singling_out", 90.0)
CATEGORICAL = Definition("categorical_hidden_rate", "%", "higher", "singling_out", 90.0)
RARE = Definition("rare_values", "levels", "lower", "singling_out", 0.0)

DEFINITIONS = (
    COLUMN_MATCH,
    HIDDEN,
    CLOAKING,
    CLOSEST,
    RATIO,
    CLOSEST_RATE,
    ROW_MATCH,
    CATEGORICAL,
    RARE,
)

MOST_COUNTED = 20_000
"""Up to so many people all are counted; above, a sample where counting is long."""

SAMPLE = 2_000

NEAR, LONELY = 0.2, 0.3


# ------------------------------------------------------------------------------- direct matches


def column_direct_match_protection(
    originals: object, avatars: object | None = None, *, target: float | None = 50.0
) -> Metric:
    r"""Protection of the most revealing column against a direct match.

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
    if not comparison.aligned:
        return COLUMN_MATCH.unavailable(NOT_ALIGNED, target=target)
    count = len(comparison)
    records = [
        column_record(column.name, *counted, count, target)
        for column, counted in zip(
            comparison.originals.columns, comparison.by_column(column_matches), strict=True
        )
    ]
    columns = tuple(sorted(records, key=lambda record: float(record["protection"])))
    return COLUMN_MATCH.found(columns[0]["protection"], target=target, columns=columns)


def column_matches(before: Column, after: Column) -> tuple[int, int]:
    """Matches and distinct values of a column's worst part of the avatars."""
    originals, avatars = values_of(before), values_of(after)
    counted = []
    for start in range(0, len(avatars), len(originals)):
        own = avatars[start : start + len(originals)]
        counted.append((int(equal(originals, own).sum()), distinct(own)))
    return max(counted, key=lambda found: found[0] * found[1])


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


def row_direct_match_protection(
    originals: object, avatars: object | None = None, *, target: float | None = 90.0
) -> Metric:
    """Share of people whose whole row appears in no avatar.

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
    found = comparison.repeated
    control = None
    if comparison.holdout is not None:
        control = 100 - 100 * float(rows_found(comparison.holdout, comparison.avatars).mean())
    return ROW_MATCH.found(
        100 - 100 * float(found.mean()),
        target=target,
        ci=_protected(float(found.sum()), len(found)),
        control=control,
        by_person={"found": found},
    )


def rare_values(
    originals: object, avatars: object | None = None, *, k: int = 5, target: float | None = 0.0
) -> Metric:
    """Levels carried by fewer than k people that appear in the avatars.

    A count of levels over all categories and booleans; lower protects better; target 0,
    which the smoothed method reaches by construction. A missing value is no level here.
    Levels are counted, never named: only `per_person` says which avatars carry one.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    k : a level held by this many people is not rare, at least 2.
    target : None for no target.

    Returns
    -------
    Metric
        ``columns`` holds ``column``, ``rare`` (rare levels of the originals), ``shown``
        (those that avatars carry) and ``avatars`` (how many carry one).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"country": ["FR"] * 6 + ["IS", "MT"]})
    >>> avatars = pl.DataFrame({"country": ["FR"] * 7 + ["MT"]})
    >>> metric = rare_values(people, avatars)
    >>> metric.value, metric.columns[0]["rare"]
    (1.0, 2)
    """
    if k < 2:
        raise InputError(f"k must be at least 2, got {k}")
    comparison = compared(originals, avatars, aligned=False)
    found = [counted for counted in comparison.by_column(rare_levels, k) if counted is not None]
    if not found:
        return RARE.unavailable(f"no level is carried by fewer than {k} people.", target=target)
    records = [record for record, _ in found]
    packed = np.bitwise_or.reduce([carriers for _, carriers in found])
    carries = np.unpackbits(packed, count=comparison.avatar_count).astype(bool)
    ranked = tuple(sorted(records, key=lambda record: (-record["shown"], -record["avatars"])))
    return RARE.found(
        sum(record["shown"] for record in ranked),
        target=target,
        detail={"k": k, "avatars": int(carries.sum())},
        columns=ranked,
        by_person={"carries_rare_level": carries},
    )


def rare_levels(
    before: Column, after: Column, k: int
) -> tuple[dict[str, Any], NDArray[np.uint8]] | None:
    """One column's rare levels, and which avatars carry one, packed in bits; None without any."""
    if not (isinstance(before, Levels) and isinstance(after, Levels)):
        return None
    held = before.counts()
    rare = (held > 0) & (held < k)
    rare &= np.array([label is not None for label in before.labels], dtype=bool)
    if not rare.any():
        return None
    among = np.append(rare, np.zeros(len(after.labels) - len(rare), dtype=bool))
    shown = among & (after.counts() > 0)
    carriers = among[after.codes]
    record = {
        "column": json_name(before.name),
        "rare": int(rare.sum()),
        "shown": int(shown.sum()),
        "avatars": int(carriers.sum()),
    }
    return record, np.packbits(carriers)


# ------------------------------------------------------------------------------- own avatars


def hidden_rate(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = 90.0,
) -> Metric:
    """Share of people whose nearest avatar is not their own.

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
    if not comparison.aligned:
        return HIDDEN.unavailable(NOT_ALIGNED, target=target)
    return _hidden(HIDDEN, comparison.crowd, target)


def local_cloaking(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = 5.0,
) -> Metric:
    """Median number of avatars strictly closer to a person than their own.

    A count from 0 to n; higher protects better; target at least 5. Distances are
    Euclidean between FAMD coordinates fitted on the originals; those within 1e-9 of each
    other, relatively, are equal. The interval is that of the order statistics.

    Where most people have more than 32 avatars closer than their own, these are counted
    for all people up to 20,000, else for a sample of 2,000, stated as ``sample`` (person by
    person, counts then stop at 32).

    Parameters
    ----------
    originals : n rows, any dataframe; or a `Comparison`.
    avatars : aligned; with N avatars a person, the nearest of their own counts.
    components : dimensions of the latent space.
    target : None for no target.

    Notes
    -----
    Source: Guillaudeux et al., npj Digital Medicine 6:37 (2023).

    Examples
    --------
    Each avatar is three steps up the line; the avatars of the five people around stand
    closer:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(20)]})
    >>> local_cloaking(people, people.select(pl.col("x") + 3)).value
    5.0
    """
    comparison = compared(originals, avatars, aligned=True, components=components)
    if not comparison.aligned:
        return CLOAKING.unavailable(NOT_ALIGNED, target=target)
    around = comparison.crowd
    closer, bounds = around.closer, median_interval(around.closer)
    detail: dict[str, Any] = {}
    rows = people_to_count(around)
    if len(rows):
        if len(rows) < len(closer):
            detail["sample"] = len(rows)
        closer = comparison.closer(rows)
        bounds = median_interval(closer)
    return CLOAKING.found(
        float(np.median(closer)),
        target=target,
        ci=bounds,
        detail=detail,
        by_person={"closer": around.closer if "sample" in detail else closer},
    )


def people_to_count(around: Crowd) -> Ints:
    """Those around whom all closer avatars must be counted; nobody where those looked at do."""
    bounds, rows = median_interval(around.closer), np.arange(len(around.closer))
    if bounds is None or bounds[1] < around.limit:
        return rows[:0]
    if len(rows) > MOST_COUNTED:
        return np.random.default_rng(0).choice(rows, SAMPLE, replace=False)
    return rows


def categorical_hidden_rate(
    originals: object,
    avatars: object | None = None,
    *,
    columns: Sequence[Hashable] | None = None,
    components: int = 5,
    target: float | None = 90.0,
) -> Metric:
    """Hidden rate for an attacker who knows only categories.

    The `hidden_rate` in the multiple correspondence analysis of some categories (all by
    default). In percent, 0 to 100; higher protects better; target at least 90.

    Parameters
    ----------
    originals : n rows, any dataframe; or a `Comparison`.
    avatars : aligned.
    columns : names of categories or booleans.
    components : dimensions of the latent space.
    target : None for no target.

    Raises
    ------
    InputError
        A column of `columns` is absent or is no category.

    Examples
    --------
    Everyone with the same sex and avatar's sex is tied with three avatars:

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "F", "F", "M", "M", "M"]})
    >>> round(categorical_hidden_rate(people, people).value, 2)
    66.67
    """
    comparison = compared(originals, avatars, aligned=True, components=components)
    if not comparison.aligned:
        return CATEGORICAL.unavailable(NOT_ALIGNED, target=target)
    names = _categories(comparison.originals, columns)
    if not names:
        return CATEGORICAL.unavailable(NO_CATEGORIES, target=target)
    if all(len(column.labels) < 2 for column in comparison.originals.select(names).levels):
        return CATEGORICAL.unavailable("none of the categories varies.", target=target)
    famd = comparison.space(names)
    people, made = (
        NeighbourIndex(famd.transform(table), comparison.threads)
        for table in (comparison.originals, comparison.avatars)
    )
    return _hidden(CATEGORICAL, crowd(people, made), target)


def _hidden(definition: Definition, around: Crowd, target: float | None) -> Metric:
    hits = float(around.hit.sum())
    return definition.found(
        100 * (1 - hits / len(around.hit)),
        target=target,
        ci=_protected(hits, len(around.hit)),
        by_person={"hit": around.hit},
    )


def _protected(hits: float, count: int) -> tuple[float, float]:
    """Interval of the share that is not hit, in percent."""
    low, high = wilson(hits, count)
    return 100 * (1 - high), 100 * (1 - low)


# ------------------------------------------------------------------------------- closest originals


def distance_to_closest(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = 0.2,
) -> Metric:
    """Median distance from an avatar to its nearest original.

    Euclidean between FAMD coordinates fitted on the originals, 0 or more; higher protects
    better, up to the point where avatars resemble nobody; target at least 0.2. The tables
    need not be aligned. ``percentile_5`` is the fifth percentile. With people set aside,
    `control` and ``control_percentile_5`` say how far strangers are from their nearest
    original: avatars should not be closer. The interval is that of the order statistics.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    components : dimensions of the latent space.
    target : None for no target.

    Notes
    -----
    Distances alone do not show safety: 'The DCR delusion', arXiv 2505.01524.

    Examples
    --------
    Each avatar is half a step from its original; a step is 1 / sd:

    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i) for i in range(12)]})
    >>> avatars = people.select(pl.col("x") + 0.5)
    >>> round(distance_to_closest(people, avatars).value, 4)
    0.1448
    """
    comparison = compared(originals, avatars, aligned=False, components=components)
    away = comparison.closest_originals[:, 0]
    detail, control = {"percentile_5": float(np.percentile(away, 5))}, None
    if comparison.holdout is not None:
        strangers = comparison.closest_originals_of_holdout[:, 0]
        control = float(np.median(strangers))
        detail["control_percentile_5"] = float(np.percentile(strangers, 5))
    return CLOSEST.found(
        float(np.median(away)),
        target=target,
        ci=median_interval(away),
        control=control,
        detail=detail,
        by_person={"distance": away},
    )


def closest_distances_ratio(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = 0.3,
) -> Metric:
    """Median ratio of the distances from an avatar to its two nearest originals.

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
        return RATIO.unavailable("it needs at least two originals.", target=target)
    ratios, control = _ratios(comparison.closest_originals), None
    if comparison.holdout is not None:
        control = float(np.median(_ratios(comparison.closest_originals_of_holdout)))
    return RATIO.found(
        float(np.median(ratios)),
        target=target,
        ci=median_interval(ratios),
        control=control,
        detail={"percentile_5": float(np.percentile(ratios, 5))},
        by_person={"ratio": ratios},
    )


def closest_rate(
    originals: object,
    avatars: object | None = None,
    *,
    components: int = 5,
    target: float | None = 90.0,
) -> Metric:
    """Share of avatars that are not both close to one original and far from the others.

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
        return CLOSEST_RATE.unavailable("it needs at least two originals.", target=target)
    exposed, control = _exposed(comparison.closest_originals), None
    if comparison.holdout is not None:
        strangers = _exposed(comparison.closest_originals_of_holdout)
        control = 100 * (1 - float(strangers.mean()))
    return CLOSEST_RATE.found(
        100 * (1 - float(exposed.mean())),
        target=target,
        ci=_protected(float(exposed.sum()), len(exposed)),
        control=control,
        by_person={"exposed": exposed},
    )


def _ratios(distances: Floats) -> Floats:
    """d1 / d2; 0 for a copy."""
    first, second = distances[:, 0], distances[:, 1]
    return np.divide(first, second, out=np.zeros(len(first)), where=first > 0)


def _exposed(distances: Floats) -> Mask:
    return (distances[:, 0] < NEAR) & (_ratios(distances) < LONELY)


# ------------------------------------------------------------------------------- columns


def distinct_values(column: Column) -> int:
    """Number of distinct values, a missing one included."""
    return distinct(values_of(column))


def _categories(table: Table, columns: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    if columns is None:
        return tuple(column.name for column in table.levels)
    known = {column.name for column in table.levels}
    for name in columns:
        if name not in table.names:
            raise InputError(f"there is no column {name!r} to compare")
        if name not in known:
            raise InputError(f"column {name!r} is no category; declare it with --categorical")
    return tuple(columns)
