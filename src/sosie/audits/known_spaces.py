"""Where an attacker who knows some columns looks for the row that is nearest to a person."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from sosie.data.table import Table
from sosie.latent.common_levels import CommonLevels
from sosie.latent.famd import FAMD, CrossProduct, Layout

__all__ = ["MOST_OWN", "KnownSpaces", "part_of"]


MOST_OWN = 100
"""Up to so many columns each choice of known ones has axes of its own. In more, the axes of all
serve whoever lacks one of them: that one counts as nothing, and hardly moved them."""


class KnownSpaces:
    """The spaces of any columns of some originals, each solved once, all after one pass.

    Of a column of many levels the rare ones count as one: each would span an axis of few people,
    thousands of which take minutes and find nobody.

    Parameters
    ----------
    originals : the people.
    components : dimensions of each space.
    """

    def __init__(self, originals: Table, components: int) -> None:
        self.originals, self.components = originals, components
        self._solved: dict[frozenset[Hashable], FAMD] = {}

    @cached_property
    def _product(self) -> CrossProduct:
        layout = Layout.of(self.originals, self.originals.roles.weights)
        common = layout.of_common(CommonLevels.of(self.originals))
        return CrossProduct(common).add(self.originals)

    def of(self, names: Sequence[Hashable]) -> FAMD:
        """The space of some columns.

        Raises
        ------
        InputError
            None of them varies.
        """
        columns, every = frozenset(names), self.originals.names
        unknown = [name for name in every if name not in columns]
        if len(every) > MOST_OWN and len(unknown) == 1:
            return _without(self.of(every), unknown[0])
        if columns not in self._solved:
            self._solved[columns] = FAMD.solve(part_of(self._product, names), self.components)
        return self._solved[columns]


def _without(famd: FAMD, name: Hashable) -> FAMD:
    """The same axes for one who lacks a column: it moves nobody along them."""
    loadings = famd.loadings.copy()
    if name in famd.layout.names:
        loadings[famd.layout.names.index(name)] = 0
    for block in famd.layout.blocks:
        if block.name == name:
            loadings[block.start - 1 : block.start - 1 + block.size] = 0
    return replace(famd, loadings=loadings)


def part_of(product: CrossProduct, names: Sequence[Hashable]) -> CrossProduct:
    """The cross-product of some columns, out of that of all."""
    whole, wanted = product.layout, set(names)
    numbers = [i for i, name in enumerate(whole.names) if name in wanted]
    places, blocks, start = [0, *(1 + i for i in numbers)], [], 1 + len(numbers)
    for block in whole.blocks:
        if block.name in wanted:
            places.extend(range(block.start, block.start + block.size))
            blocks.append(replace(block, start=start))
            start += block.size
    part = CrossProduct(
        Layout(
            names=tuple(whole.names[i] for i in numbers),
            centre=whole.centre[numbers],
            scale=whole.scale[numbers],
            reach=whole.reach[numbers],
            weights=whole.weights[numbers],
            blocks=tuple(blocks),
        )
    )
    total = product.total
    if product.dense:
        return part.restore(total[np.ix_(places, places)])
    rows_and_columns = total[places][:, places]
    return part.restore(rows_and_columns.toarray() if part.dense else rows_and_columns)
