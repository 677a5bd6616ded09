"""Categorical hidden rate: the hidden rate for an attacker who knows categories only."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.distances import crowd
from sosie.audits.privacy.hidden_rate import share_hidden
from sosie.audits.reasons import NO_CATEGORIES, NOT_ALIGNED
from sosie.audits.results import Metric
from sosie.data.table import Table
from sosie.errors import InputError, Reason
from sosie.latent.neighbours import NeighbourIndex

__all__ = ["DEFINITION", "categorical_hidden_rate"]

DEFINITION = Definition(
    "categorical_hidden_rate",
    "%",
    "higher",
    "singling_out",
    target=90.0,
    place=80,
    needs=("aligned", "categories"),
    advice=("unkeep", "raise_k", "coarsen"),
)


def categorical_hidden_rate(
    originals: object,
    avatars: object | None = None,
    *,
    columns: Sequence[Hashable] | None = None,
    components: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Hidden rate for an attacker who knows only categories.

    The attacker does not hold whole rows, but what is easily learnt about people and does not
    change: sex, profession, town, diagnoses. He names the avatar that resembles a person most
    in these alone.

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
        return DEFINITION.unavailable(NOT_ALIGNED, target=target)
    names = _categories(comparison.originals, columns)
    if (reason := comparison.lacks(*DEFINITION.needs)) is not None or not names:
        return DEFINITION.unavailable(reason or NO_CATEGORIES, target=target)
    if all(len(column.labels) < 2 for column in comparison.originals.select(names).levels):
        return DEFINITION.unavailable(Reason("no_varying_category"), target=target)
    famd = comparison.space(names)
    people, avatar_index = (
        NeighbourIndex(famd.transform(table), comparison.threads)
        for table in (comparison.originals, comparison.avatars)
    )
    return share_hidden(DEFINITION, crowd(people, avatar_index), target)


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
