"""What the draw of a category looks at: all that was drawn before it.

Drawn in this order: plain numbers, states, the numbers that have states, categories. A number
is its score and eight hinges ``max(z - knot, 0)``, all 0 in a state; a category the indicators
of its levels, or its level's place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.generate.exchangeable.choices import Choice
from sosie.generate.exchangeable.fixed_point import SCORE, on_grid
from sosie.generate.exchangeable.scores import Number

__all__ = ["Layout", "number_features"]

HINGES = 8

MOST_HINGED = 40
"""Of more numbers only the scores are looked at: coefficients would outnumber people."""


def _knots() -> Floats:
    from scipy.special import ndtri

    return on_grid(ndtri(np.arange(1, HINGES + 1) / (HINGES + 1)), SCORE)


KNOTS = _knots()


def number_features(scores: Floats, has_score: Mask | None, into: Floats) -> None:
    """Write the features of one number.

    Parameters
    ----------
    scores : (m,) float64, on a grid.
    has_score : (m,) bool, or None where all have one.
    into : (9, m) or (1, m) float64.
    """
    into[0] = scores
    for knot, hinge in zip(KNOTS, into[1:], strict=False):
        np.subtract(scores, knot, out=hinge)
        np.maximum(hinge, 0, out=hinge)
    if has_score is not None:
        into *= has_score


@dataclass(frozen=True)
class Layout:
    """Which features and which logits are whose.

    Attributes
    ----------
    numbers : plain ones, then those with states.
    choices : states, in the order of their numbers, then categories.
    of_numbers, of_choices : the features of each.
    seen : how many features come before each choice.
    logits : the logits of each choice, among those of all.
    """

    numbers: tuple[Number, ...]
    choices: tuple[Choice, ...]
    of_numbers: tuple[slice, ...]
    of_choices: tuple[slice, ...]
    seen: tuple[int, ...]
    logits: tuple[slice, ...]

    @classmethod
    def of(cls, numbers: list[Number], categories: list[Choice]) -> Self:
        """Lay out columns in the order in which they are drawn."""
        numbers = sorted(numbers, key=lambda number: not number.plain)
        states = [number.state for number in numbers if number.state is not None]
        each = 1 + HINGES if len(numbers) <= MOST_HINGED else 1
        plain = sum(number.plain for number in numbers)
        widths = [each] * plain + [state.width for state in states]
        widths += [each] * (len(numbers) - plain) + [choice.width for choice in categories]
        ends = np.cumsum([0, *widths]).tolist()
        slices = [slice(*pair) for pair in pairwise(ends)]
        spiky = plain + len(states)
        of_numbers = slices[:plain] + slices[spiky : spiky + len(states)]
        of_choices = slices[plain:spiky] + slices[spiky + len(states) :]
        choices = states + categories
        rows = np.cumsum([0, *(choice.width for choice in choices)]).tolist()
        return cls(
            tuple(numbers),
            tuple(choices),
            tuple(of_numbers),
            tuple(of_choices),
            tuple(part.start for part in of_choices),
            tuple(slice(*pair) for pair in pairwise(rows)),
        )

    @cached_property
    def plain(self) -> int:
        """How many numbers have no states."""
        return sum(number.plain for number in self.numbers)

    @cached_property
    def states(self) -> int:
        """How many choices are states of numbers."""
        return len(self.numbers) - self.plain

    @cached_property
    def width(self) -> int:
        """How many features there are."""
        return max([0, *(int(part.stop) for part in (*self.of_numbers, *self.of_choices))])

    @cached_property
    def height(self) -> int:
        """How many logits there are."""
        return max([0, *(int(rows.stop) for rows in self.logits)])

    def originals(self, part: slice | Ints) -> Floats:
        """The features of the people at some places, ``(width, m) float64``."""
        count = len(part) if isinstance(part, np.ndarray) else part.stop - part.start
        made = np.empty((self.width, count))
        for number, own in zip(self.numbers, self.of_numbers, strict=True):
            has = None if number.plain else number.has_score(part)
            number_features(number.scores[part].astype(np.float64), has, made[own])
        for choice, own in zip(self.choices, self.of_choices, strict=True):
            choice.features.take(choice.codes[part], axis=1, out=made[own], mode="clip")
        return made

    def slim(self) -> Self:
        """Without the rows."""
        return replace(
            self,
            numbers=tuple(number.slim() for number in self.numbers),
            choices=tuple(choice.slim() for choice in self.choices),
        )
