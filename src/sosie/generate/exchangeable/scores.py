"""Numbers as the law sees them: normal scores on a grid, states, and the way back."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.storage import Space
from sosie.compute.sums import tally
from sosie.data.table import Numbers
from sosie.errors import InputError
from sosie.generate.exchangeable.choices import Choice
from sosie.generate.exchangeable.fixed_point import SCORE, on_grid
from sosie.generate.exchangeable.tails import Back
from sosie.generate.mixture import MISSING, SCORED, SPIKE, Single
from sosie.generate.normal_scores import NormalScores

__all__ = ["Number", "number_of"]


@dataclass(frozen=True)
class Number:
    """One number.

    Attributes
    ----------
    column : its name, kind and grid; without values.
    scores : (n,) float32 by place, on a grid; 0 in a state.
    state : which state each row is in, of those that occur (scored, on the spike, missing);
        None where every row has a score.
    values : what each state of the choice stands for; NaN where scored or missing.
    scored : the code of the state that has a score; -1 where it may not be drawn.
    back : the way back from scores; None where it may not be drawn.
    """

    column: Numbers
    scores: Single
    state: Choice | None
    values: Floats
    scored: int
    back: Back | None

    @property
    def name(self) -> Hashable:
        """The name of the column."""
        return self.column.name

    @property
    def plain(self) -> bool:
        """Whether every row has a score."""
        return self.state is None

    def has_score(self, part: slice | Ints) -> Mask:
        """(m,) bool, at some places of a number that is not plain."""
        return np.asarray(self.state is not None and self.state.codes[part] == self.scored)

    def slim(self) -> Self:
        """Without the rows."""
        state = self.state and self.state.slim()
        return replace(self, scores=np.empty(0, dtype=np.float32), state=state)


def number_of(
    column: Numbers, order: Ints, k: int, least: int, storage: Space, notes: list[str]
) -> Number:
    """Prepare a number.

    Parameters
    ----------
    order : (n,) int64, the row at each place.
    k, least : an end of the values is the mean of so many, whichever is more; a state that may
        be drawn is held by at least `least` people.
    notes : what deserves a look is added to it.

    Raises
    ------
    InputError
        Neither the values nor a state may be drawn.
    """
    fewest = max(least, k)
    normal = NormalScores.of(column.values, fewest)
    slim = replace(column, values=np.empty(0))
    missing = column.missing
    state = np.where(missing, np.uint8(MISSING), np.uint8(SCORED))
    state[~normal.scored & ~missing] = SPIKE
    counts = tally(state, 3)
    kinds = np.array([np.nan, np.nan if normal.spike is None else normal.spike, np.nan])
    allowed = [
        i
        for i, most in ((SCORED, fewest), (SPIKE, least), (MISSING, least))
        if counts[i] >= max(most, 1)
    ]
    if not allowed:
        raise InputError(
            f"column {column.name!r}: fewer than {fewest} people have a value, so none may be"
            " drawn; drop it (--drop)"
        )
    if 0 < counts[SCORED] < fewest:
        notes.append(
            f"column {column.name!r}: only {counts[SCORED]} people have a value"
            f"{'' if normal.spike is None else f' other than {normal.spike:g}'}, which could be"
            f" told from the avatars; none has one (at least {fewest} people are needed)"
        )
    back = None
    if SCORED in allowed:
        some = column.values if normal.scored.all() else column.values[normal.scored]
        back = Back.of(some, normal, fewest)
        scores = on_grid(normal.scores.take(order), SCORE).astype(np.float32)
    else:
        scores = np.zeros(len(order), dtype=np.float32)
    scores = storage.keep(scores)
    if counts[SCORED] == len(state):
        return Number(slim, scores, None, np.array([np.nan]), 0, back)
    choice = Choice.among((column.name,), state, allowed, 3)
    choice = replace(choice, codes=storage.keep(choice.codes[order]))
    scored = allowed.index(SCORED) if SCORED in allowed else -1
    return Number(slim, scores, choice, kinds[allowed], scored, back)
