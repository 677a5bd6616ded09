"""Rows as the law of the groups sees them, and on their way to their place."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sosie.cluster.exchangeable.columns import Known
from sosie.cluster.exchangeable.groups import Coordinates
from sosie.cluster.shuffle import PLACE, ROW
from sosie.cluster.sizes import sized
from sosie.compute.arrays import Floats, Ints
from sosie.generate.exchangeable.choices import MANY, Choice
from sosie.generate.exchangeable.features import Layout
from sosie.generate.exchangeable.fit import POOLED
from sosie.generate.exchangeable.scores import Number
from sosie.latent import tree

__all__ = ["Rows", "frame_of_rows", "in_layout", "layout_of", "rows_of_frame"]

TAG = "__tag__"


@sized
@dataclass(frozen=True)
class Rows:
    """Rows as the law sees them.

    Attributes
    ----------
    order : (m,) int64, their numbers in the whole table.
    scores : of each number of the layout, (m,) float32.
    codes : of each choice of the layout, (m,).
    kept : (m,) columns that stay as they are.
    """

    order: Ints
    scores: tuple[NDArray[Any], ...]
    codes: tuple[NDArray[Any], ...]
    kept: Mapping[Hashable, Any]

    def __len__(self) -> int:
        return len(self.order)

    def take(self, which: Ints) -> Self:
        """Some of them."""
        return replace(
            self,
            order=self.order[which],
            scores=tuple(one[which] for one in self.scores),
            codes=tuple(one[which] for one in self.codes),
            kept={name: one.iloc[which] for name, one in self.kept.items()},
        )

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Rows that follow each other."""
        import pandas as pd

        (first, *others) = parts
        if not others:
            return first
        return cls(
            np.concatenate([one.order for one in parts]),
            tuple(map(np.concatenate, zip(*(one.scores for one in parts), strict=True))),
            tuple(map(np.concatenate, zip(*(one.codes for one in parts), strict=True))),
            {name: pd.concat([one.kept[name] for one in parts]) for name in first.kept},
        )

    def within(self, layout: Layout) -> Layout:
        """The layout with these rows."""
        choices = tuple(
            replace(choice, codes=codes)
            for choice, codes in zip(layout.choices, self.codes, strict=True)
        )
        numbers = tuple(
            replace(
                number,
                scores=scores,
                state=None if number.plain else choices[i - layout.plain],
            )
            for i, (number, scores) in enumerate(zip(layout.numbers, self.scores, strict=True))
        )
        return replace(layout, numbers=numbers, choices=choices)


def layout_of(known: Sequence[Known], sums: Sequence[Floats], k: int) -> Layout:
    """Columns in the order in which they are drawn, without rows."""
    many = iter(sums)
    choices = [
        group.law.placed(next(many), POOLED * k) if group.law.size > MANY else group.law
        for group in known
        if isinstance(group.law, Choice)
    ]
    return Layout.of([group.law for group in known if isinstance(group.law, Number)], choices)


def in_layout(layout: Layout, known: Sequence[Known], of_groups: Sequence[Any]) -> tuple[Any, Any]:
    """Something of each group, of the numbers and of the choices of a layout."""
    by_name = {group.names: one for group, one in zip(known, of_groups, strict=True)}
    numbers = [by_name[(number.name,)] for number in layout.numbers]
    return numbers, [by_name[choice.names] for choice in layout.choices]


def frame_of_rows(
    turned: Coordinates,
    where: Ints,
    layout: Layout,
    known: Sequence[Known],
    rows: Sequence[Any],
    kept: Mapping[Hashable, Any],
    inside: int,
    start: int,
    with_points: bool,
) -> Any:
    """The rows of one part as a dataframe that can be moved to where they belong."""
    import pandas as pd

    numbers, choices = in_layout(layout, known, rows)
    columns: dict[str, Any] = {PLACE: where, ROW: np.arange(start, start + len(where))}
    columns |= {f"s{i}": scores for i, (_, _, scores, _) in enumerate(numbers)}
    columns |= {f"c{i}": codes for i, (*_, codes) in enumerate(choices)}
    if with_points:
        columns |= {f"w{i}": axis for i, axis in enumerate(turned.whole.T)} | {TAG: turned.tags}
    for i, (name, piece) in enumerate(kept.items()):
        column = piece[name].iloc[inside : inside + len(where)]
        columns[f"k{i}"] = column.reset_index(drop=True)
    return pd.DataFrame(columns)


def rows_of_frame(part: Any, layout: Layout, keep: Sequence[Hashable], k: int) -> Rows:
    """Rows that came in any order, in the order of their places or, of a part, of the tree."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()  # what moving the rows took
    order = part[ROW].to_numpy()
    rows = Rows(
        order,
        tuple(part[f"s{i}"].to_numpy() for i in range(len(layout.numbers))),
        tuple(part[f"c{i}"].to_numpy() for i in range(len(layout.choices))),
        {name: part[f"k{i}"] for i, name in enumerate(keep)},
    )
    if TAG not in part.columns:
        return rows.take(np.argsort(part.index.to_numpy()))
    first = np.argsort(order)  # as they stand in the table
    width = sum(str(name).startswith("w") for name in part.columns)
    whole = np.stack([part[f"w{i}"].to_numpy() for i in range(width)], axis=1)
    return rows.take(first[tree.tree_order(whole[first], part[TAG].to_numpy()[first], k)])
