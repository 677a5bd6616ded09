"""Columns as exchangeable avatars need them, of a table that is spread over a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.cluster import regions
from sosie.cluster.encoding import Encoder, in_order
from sosie.compute.arrays import Ints
from sosie.compute.storage import MEMORY
from sosie.compute.sums import tally
from sosie.data.rows import values_of
from sosie.data.table import Column, Levels, Numbers, Roles, Table
from sosie.errors import Reason
from sosie.generate.exchangeable.choices import Choice, choice_of
from sosie.generate.exchangeable.scores import Number, number_of
from sosie.generate.methods.exchangeable import in_canonical_codes
from sosie.generate.settings import Settings
from sosie.latent import famd as analysis
from sosie.latent.common_levels import CommonLevels
from sosie.latent.famd import CrossProduct, Outline

__all__ = ["ENCODER", "Known", "cross_product_of", "table_of_part"]


@dataclass(frozen=True)
class Known:
    """What is known of a column, or of a group of linked ones, without its rows.

    Attributes
    ----------
    columns : encoded, in canonical codes.
    placed : the same as they enter the latent space.
    outlines : of these.
    law : as the law sees it.
    counts : (size,) int64, people who hold each level of the choice, or of the number's state;
        None where there is no choice.
    """

    columns: tuple[Column, ...]
    placed: tuple[Column, ...]
    outlines: tuple[Outline, ...]
    law: Number | Choice
    counts: Ints | None

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Of its columns."""
        return tuple(column.name for column in self.columns)

    def drawable(self, name: Hashable) -> Ints | None:
        """Levels of a category that may be drawn; None where all may."""
        if isinstance(self.law, Number):
            return None
        levels, parts = self.law.original, self.law.parts
        return levels if parts is None else parts[levels, self.names.index(name)]


def _canonical(column: Column) -> Column:
    return in_canonical_codes(regions.table_of([column], Roles())).columns[0]


def _known(
    columns: Sequence[Column], settings: Settings, notes: list[Reason]
) -> tuple[Known, tuple[Any, ...]]:
    """A group, whole; arrays: its codes or values, those in the space, scores, codes to draw."""
    table = regions.table_of(columns, Roles())
    placed = CommonLevels.of(table).pooled(table).columns
    whole = np.arange(len(values_of(columns[0])))
    k, least = settings.k, settings.min_level_count
    law: Number | Choice
    if isinstance(columns[0], Numbers):
        law = number_of(columns[0], whole, k, least, MEMORY, notes)
        scores, choice = law.scores, law.state
    else:
        levels = [column for column in columns if isinstance(column, Levels)]
        law = choice_of(levels, whole, least, MEMORY)
        scores, choice = None, law
    coarse = tuple(
        None if there is here else values_of(there)
        for here, there in zip(columns, placed, strict=True)
    )
    known = Known(
        tuple(map(_without_rows, columns)),
        tuple(map(_without_rows, placed)),
        tuple(map(Outline.of, placed)),
        law.slim(),
        None if choice is None else tally(choice.codes, choice.size + 1)[:-1],
    )
    codes = None if choice is None else choice.codes
    return known, (tuple(map(values_of, columns)), coarse, scores, codes)


def _without_rows(column: Column) -> Column:
    return regions.with_rows(column, regions.no_rows(values_of(column)))


ENCODER = Encoder(_canonical, _known)


def table_of_part(
    known: Sequence[Known], rows: Sequence[Any], names: Sequence[Hashable], *, placed: bool
) -> Table:
    """The rows of one part, encoded; as they are, or as they enter the latent space."""
    columns = []
    for group, (plain, coarse, *_) in zip(known, rows, strict=True):
        for i, own in enumerate(plain):
            column = (group.placed if placed else group.columns)[i]
            there = coarse[i] if placed and coarse[i] is not None else own
            columns.append(regions.with_rows(column, there))
    return regions.table_of(in_order(columns, names), Roles())


def cross_product_of(
    layout: analysis.Layout, known: Sequence[Known], rows: Sequence[Any], names: Sequence[Hashable]
) -> CrossProduct:
    """What the latent space needs to know of one part."""
    return CrossProduct(layout).add(table_of_part(known, rows, names, placed=True))
