"""Numbers as the law sees them: normal scores on a grid, states, and the way back."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.storage import Storage
from sosie.compute.sums import tally
from sosie.data.missing import tagged, tags
from sosie.data.table import Numbers
from sosie.errors import InputError, Reason
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
    state : which state each row is in, of those that occur (scored, on the spike, each kind
        of missing value and each limit); None where every row has a score.
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
    column: Numbers, order: Ints, k: int, least: int, storage: Storage, notes: list[Reason]
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
    state, kinds = _states(column, normal, least)
    counts = tally(state, len(kinds))
    needed = (fewest if i == SCORED else least for i in range(len(kinds)))
    allowed = [i for i, most in enumerate(needed) if counts[i] >= max(most, 1)]
    if not allowed:
        raise InputError(
            f"column {column.name!r}: fewer than {fewest} people have a value, so none may be"
            " drawn; drop it (--drop)"
        )
    if 0 < counts[SCORED] < fewest:
        values = {"column": str(column.name), "people": int(counts[SCORED]), "fewest": fewest}
        key = "too_few_values" if normal.spike is None else "too_few_values_beside"
        notes.append(Reason(key, values | {"spike": normal.spike}))
    back = None
    if SCORED in allowed:
        some = column.values if normal.scored.all() else column.values[normal.scored]
        back = Back.of(some, normal, fewest, column.grid.spacing)
        scores = on_grid(normal.scores.take(order), SCORE).astype(np.float32)
    else:
        scores = np.zeros(len(order), dtype=np.float32)
    scores = storage.keep(scores)
    if counts[SCORED] == len(state):
        return Number(slim, scores, None, np.array([np.nan]), 0, back)
    choice = Choice.among((column.name,), state, allowed, len(kinds))
    choice = replace(choice, codes=storage.keep(choice.codes[order]))
    scored = allowed.index(SCORED) if SCORED in allowed else -1
    return Number(slim, scores, choice, kinds[allowed], scored, back)


def _states(column: Numbers, normal: NormalScores, least: int) -> tuple[NDArray[np.uint8], Floats]:
    """The state of each row, and what each state stands for.

    A kind of missing value, or a limit, that fewer than `least` people have is a plain missing
    value: by one rule for the table, not row by row.
    """
    missing = column.missing
    kinds = 0 if column.states is None else len(column.states.labels)
    tag = tags(column.values) if kinds else np.zeros(len(missing), dtype=np.uint8)
    counts = tally(tag[missing], kinds + 1)
    tag = np.where(counts >= least, np.arange(kinds + 1), 0).astype(np.uint8)[tag]
    state = np.where(missing, np.uint8(MISSING) + tag, np.uint8(SCORED))
    state[~normal.scored & ~missing] = SPIKE
    spike = np.nan if normal.spike is None else normal.spike
    return state, np.concatenate([[np.nan, spike], tagged(np.arange(kinds + 1))])
