"""The law of the rows of one table: what a person is told by, and rows for each avatar."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Floats, Ints, Mask
from sosie.compute.storage import MEMORY
from sosie.data.missing import tagged, tags
from sosie.data.table import Column, Levels, Numbers, Table
from sosie.errors import InputError
from sosie.generate.exchangeable.choices import Choice, choice_of
from sosie.generate.exchangeable.marginals import Marginal
from sosie.generate.exchangeable.tails import Back
from sosie.generate.mixture import groups_of
from sosie.generate.people.categories import ChoiceLaw, Rare
from sosie.generate.people.numbers import Lines, NumberLaw, lines_of, normal_scores
from sosie.generate.people.sequences import Sequences, closed
from sosie.generate.people.times import TimeLaw, Visits

__all__ = ["ChildLaw", "Drawn", "Fitting", "Measure", "Running", "Told", "rate_of"]

Values = Mapping[Hashable, Floats]

HALF = 0.5
"""Whether an avatar ends with a level is drawn as a number, 0 or 1."""

BEGINNING = "at the first row"
"""What is told of a number that runs with time."""

RUNS = 0.8
"""Of the variance of what a number has moved since a person's first row, the part that a common
rate explains where it runs with time; and it is nowhere off by more than `OFF` steps."""

OFF = 1.25
"""Steps: whole years begun are off by less than one, and the rate is known to a few percent."""

LEAST_RISES = 20
"""Steps up, without one down, from which a number only ever rises along a person."""


@dataclass(frozen=True)
class Told:
    """What people are told by, of one table of rows.

    Attributes
    ----------
    values : ``(n,) float64`` by name, of all people, in the order of their table; NaN only in
        the time of the first row, for people without rows.
    """

    values: Values


@dataclass(frozen=True)
class Measure:
    """A number of the rows.

    Attributes
    ----------
    column : its name, kind and grid; without values.
    back : the way back from places in the distribution; None where it may not be drawn.
    kinds : (kinds,) float64, what each state stands for: the first has a value, the others are
        kinds of missing values.
    state : the law of states; None where every row has a value.
    rises : whether it never falls along a person.
    """

    column: Numbers
    back: Back | None
    kinds: Floats
    state: ChoiceLaw | None
    rises: bool


@dataclass(frozen=True)
class Running:
    """A number that runs with time alike in everybody, such as age.

    Attributes
    ----------
    column : its name, kind and grid; without values.
    rate : how much it rises in a unit of time.
    """

    column: Numbers
    rate: float


@dataclass(frozen=True)
class Drawn:
    """Rows of avatars.

    Attributes
    ----------
    sequences : of the avatars that have rows; `people` are their places.
    columns : encoded, by place of the rows.
    """

    sequences: Sequences
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class ChildLaw:
    """The law of one table of rows.

    Attributes
    ----------
    name : of the table.
    table : the rows as the law sees them; its columns are those to be drawn.
    time : the column that tells when.
    times, numbers, around, categories : the laws, see their modules.
    running : numbers that run with time, computed from where they begin.
    groups_of_columns : the columns of each of `categories`.
    marginals : of each number, from what the law draws to normal scores.
    constants : what is told alike of everybody, and so need not be drawn.
    """

    name: str
    table: Table
    time: Hashable
    times: TimeLaw
    numbers: tuple[Measure, ...]
    around: NumberLaw
    categories: tuple[ChoiceLaw, ...]
    groups_of_columns: tuple[tuple[Levels, ...], ...]
    marginals: tuple[Marginal, ...]
    constants: Mapping[Hashable, float]
    running: tuple[Running, ...] = ()

    # ------------------------------------------------------------ names

    def told_of(self, what: str, column: Hashable | None = None) -> str:
        """The name under which a person is told something."""
        return f"{self.name}: {what}" if column is None else f"{self.name}: {column}, {what}"

    # ------------------------------------------------------------ rows for avatars

    def draw(
        self,
        values: Values,
        group: Ints,
        end: Floats | None,
        rng_of: Callable[[int], np.random.Generator],
        block: int,
    ) -> Drawn:
        """Rows for some avatars, so many at a time.

        Parameters
        ----------
        values : (m,) float64 by name, what is told of each avatar.
        group : (m,) int64.
        end : (m,) float64, in the units of the times; None where there is none.
        rng_of : a generator for each block of avatars.
        """
        count, parts = len(group), []
        for number, start in enumerate(range(0, count, block)):
            own = slice(start, start + block)
            part = {name: of[own] for name, of in values.items()}
            drawn = self._block(part, group[own], None if end is None else end[own], rng_of(number))
            parts.append(replace(drawn, sequences=_shifted(drawn.sequences, start)))
        return _joined(parts)

    def _value(self, values: Values, name: str, count: int) -> Floats:
        return np.full(count, self.constants[name]) if name in self.constants else values[name]

    def _begun(
        self, values: Values, group: Ints, end: Floats | None, rng: np.random.Generator
    ) -> _Begun:
        """Times, which numbers are there, and the numbers before the maps of their marginals."""
        first = self._value(values, self.told_of("first time"), len(group))
        has = ~np.isnan(first)

        def told(what: str, column: Hashable | None = None) -> Floats:
            return self._value(values, self.told_of(what, column), len(group))[has]

        visits = Visits(told("first time"), told("span"), told("pace"))
        sequences, times = self.times.draw(visits, None if end is None else end[has], rng)
        begun = _Begun(sequences, times, told, has, [place_features(times, sequences)])
        for measure in self.numbers:
            state = np.zeros(sequences.rows, dtype=np.int64)
            if measure.state is not None:
                state = self._chosen(measure.state, _missing(measure.column), begun, rng)
            begun.states.append(state)
        begun.scores.extend(self._scores(begun, rng))
        return begun

    def _block(
        self, values: Values, group: Ints, end: Floats | None, rng: np.random.Generator
    ) -> Drawn:
        begun = self._begun(values, group, end, rng)
        drawn: dict[Hashable, Column] = {self.time: replace(self.times.column, values=begun.times)}
        since = begun.times - begun.sequences.spread(begun.times[begun.sequences.bounds[:-1]])
        for one in self.running:
            begins = one.column.rounded(begun.told(BEGINNING, one.column.name))
            made = one.column.rounded(begun.sequences.spread(begins) + one.rate * since)
            drawn[one.column.name] = replace(one.column, values=made)
        for measure, score, state, marginal in zip(
            self.numbers, begun.scores, begun.states, self.marginals, strict=True
        ):
            made, share = marginal(score)
            begun.features.append(np.where(state == 0, made, 0.0)[None])
            drawn[measure.column.name] = _measured(measure, share, state, begun.sequences)
        for law, columns in zip(self.categories, self.groups_of_columns, strict=True):
            codes = self._chosen(law, _together(columns), begun, rng)
            drawn |= _levels(law, columns, codes, group[begun.has], begun.sequences, rng)
        sequences = Sequences(begun.sequences.bounds, np.flatnonzero(begun.has))
        return Drawn(sequences, tuple(drawn[name] for name in self.table.names))

    def _chosen(self, law: ChoiceLaw, what: str, begun: _Begun, rng: np.random.Generator) -> Ints:
        """The level of each row; it is a feature of what follows."""
        told, sequences = begun.told, begun.sequences
        shares = np.array([told(name, what) for name in law.names])
        targets = law.targets(shares.reshape(len(law.names), len(sequences)))
        ends = None
        if law.endings:
            ends = np.array([told(ending_name(i), what) > HALF for i in range(len(law.endings))])
        codes = law.draw(targets, np.concatenate(begun.features), sequences, rng, ends)
        begun.features.append(law.choice.features[:, codes])
        return codes

    def _scores(self, begun: _Begun, rng: np.random.Generator) -> Floats:
        names, sequences = [measure.column.name for measure in self.numbers], begun.sequences
        shape = (len(names), len(sequences))
        lines = Lines(
            np.array([begun.told("level", name) for name in names]).reshape(shape),
            np.array([begun.told("change", name) for name in names]).reshape(shape),
        )
        present = np.array([state == 0 for state in begun.states])
        place = place_in_span(begun.times, sequences)
        present = present.reshape(len(names), sequences.rows)
        return self.around.draw(lines, place, present, sequences, rng)

    def with_marginals(
        self, values: Values, group: Ints, end: Floats | None, rng: np.random.Generator
    ) -> ChildLaw:
        """The law with the maps of its marginals, from rows of a pilot."""
        begun = self._begun(values, group, end, rng)
        pairs = zip(begun.scores, begun.states, strict=True)
        made = tuple(Marginal.of(score[state == 0]) for score, state in pairs)
        return replace(self, marginals=made)


@dataclass(frozen=True)
class _Begun:
    """Rows on the way.

    Attributes
    ----------
    told : what each avatar is told, by what and column.
    has : which avatars have rows.
    features : of all that was drawn, in parts.
    states, scores : of each number.
    """

    sequences: Sequences
    times: Floats
    told: Callable[..., Floats]
    has: Mask
    features: list[Floats]
    states: list[Ints] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)


def _missing(column: Column) -> str:
    """How the states of a number are called."""
    return f"{column.name} missing"


def _together(columns: Sequence[Column]) -> str:
    """How a category, or linked ones, are called."""
    return " with ".join(str(column.name) for column in columns)


def ending_name(i: int) -> str:
    """How the way a sequence ends is told: no level is named that only some end with."""
    return f"ending {i + 1}"


def place_in_span(times: Floats, sequences: Sequences) -> Floats:
    """Where each row is between the first and the last of its person, 0 to 1, ``(N,) float64``."""
    if not len(times):
        return times
    first, last = times[sequences.bounds[:-1]], times[sequences.bounds[1:] - 1]
    span = sequences.spread(last - first)
    away = times - sequences.spread(first)
    return np.asarray(np.divide(away, span, out=np.zeros(len(times)), where=span > 0))


def place_features(times: Floats, sequences: Sequences) -> Floats:
    """The time as features, ``(2, N) float64``: where in the span, and its square."""
    place = place_in_span(times, sequences)
    return np.stack([place, np.square(place)])


def _measured(measure: Measure, share: Floats, state: Ints, sequences: Sequences) -> Numbers:
    if measure.back is None:
        values = np.full(len(share), np.nan)
    else:
        values = measure.column.rounded(measure.back(share))
    values = np.where(state == 0, values, measure.kinds[state])
    if measure.rises:
        values = sequences.sorted(values)
    return replace(measure.column, values=values)


def _levels(
    law: ChoiceLaw,
    columns: tuple[Levels, ...],
    codes: Ints,
    group: Ints,
    sequences: Sequences,
    rng: np.random.Generator,
) -> dict[Hashable, Column]:
    """Columns of a choice, numbered as in the table."""
    kept = law.choice.original
    made = kept[np.minimum(codes, len(kept) - 1)]
    if law.rare is not None:
        at = np.flatnonzero(codes == len(kept))
        made[at] = law.rare.draw(at, group, sequences, rng)
    parts = law.choice.parts
    if parts is None:
        (column,) = columns
        return {column.name: replace(column, codes=made.astype(column.codes.dtype))}
    return {
        column.name: replace(column, codes=parts[made, i].astype(column.codes.dtype))
        for i, column in enumerate(columns)
    }


def _shifted(sequences: Sequences, start: int) -> Sequences:
    return Sequences(sequences.bounds, sequences.people + start)


def _joined(parts: Sequence[Drawn]) -> Drawn:
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(part.sequences.rows for part in parts)])
    bounds = [part.sequences.bounds[:-1] + end for part, end in zip(parts, ends, strict=False)]
    sequences = Sequences(
        np.concatenate([*bounds, ends[-1:]]),
        np.concatenate([part.sequences.people for part in parts]),
    )
    columns = [_concatenated(own) for own in zip(*(part.columns for part in parts), strict=True)]
    return Drawn(sequences, tuple(columns))


def _concatenated(columns: Sequence[Any]) -> Column:
    (first, *_) = columns
    if isinstance(first, Numbers):
        return replace(first, values=np.concatenate([column.values for column in columns]))
    whole: Levels = replace(first, codes=np.concatenate([column.codes for column in columns]))
    return whole


# ---------------------------------------------------------------- fit


@dataclass(frozen=True)
class Fitting:
    """A law on its way: people are not grouped yet.

    Attributes
    ----------
    law : but for rare levels and the maps of marginals.
    rare : of each of `law.categories`, the rare level of each row and which may be drawn.
    sequences : of the originals.
    """

    law: ChildLaw
    rare: tuple[tuple[Ints, NDArray[np.bool_]] | None, ...]
    sequences: Sequences

    @classmethod
    def of(
        cls,
        name: str,
        table: Table,
        time: Hashable,
        order: Ints,
        sequences: Sequences,
        people: int,
        end: Floats | None,
        k: int,
        least: int,
    ) -> tuple[Fitting, Told]:
        """Fit what is pooled, and tell people.

        Parameters
        ----------
        table : the rows, levels numbered alike whatever their order.
        order : (N,) int64, the row at each place of `sequences`.
        people : how many there are, with and without rows.
        end : (people,) float64, in the units of the times.
        k : people whose mean closes an end.
        least : people who must hold a level that may be drawn.
        """
        column = table.number(time)
        times = column.values[order]
        own_end = None if end is None else end[sequences.people]
        time_law, visits = TimeLaw.of(column, times, sequences, own_end, k)
        features = [place_features(times, sequences)]
        told: dict[Hashable, Floats] = {}

        def tell(name_: str, values: Floats) -> None:
            told[name_] = values

        draft = ChildLaw(name, table, time, time_law, (), NumberLaw(*_nothing()), (), (), (), {})
        for what, values in zip(
            ("first time", "span", "pace"), (visits.first, visits.span, visits.pace), strict=True
        ):
            tell(draft.told_of(what), values)
        measures, scores = [], []
        running = []
        for number in (c for c in table.numbers if c.name != time):
            rate = rate_of(number, number.values[order], times, sequences)
            if rate is not None:
                running.append(Running(replace(number, values=np.empty(0)), rate))
                begins = number.values[order][sequences.bounds[:-1]]
                tell(draft.told_of(BEGINNING, number.name), begins)
                continue
            measure, score = _measure(number, order, sequences, k, least, features, tell, draft)
            measures.append(measure)
            scores.append(score)
        z = np.array(scores).reshape(len(scores), sequences.rows)
        place = place_in_span(times, sequences)
        lines = lines_of(z, place, sequences)
        for measure, level, change in zip(measures, lines.level, lines.change, strict=True):
            tell(draft.told_of("level", measure.column.name), level)
            tell(draft.told_of("change", measure.column.name), change)
        around = NumberLaw.of(z, lines, place, sequences)
        features.extend(np.where(np.isnan(own), 0.0, own)[None] for own in z)
        laws, groups, rare = [], [], []
        for columns in groups_of(table):
            levels = tuple(c for c in columns if isinstance(c, Levels))
            if levels:
                choice = choice_of(levels, order, 1, MEMORY)
                what = _together(levels)
                law, few = _choice(
                    choice, _labels(choice, levels), what, sequences, least, features, tell, draft
                )
                laws.append(law)
                groups.append(tuple(replace(c, codes=c.codes[:0]) for c in levels))
                rare.append(few)
        whole = {own: _of_all(values, sequences, people) for own, values in told.items()}
        if len(sequences) < people:
            first = np.full(people, np.nan)
            first[sequences.people] = visits.first
            whole[draft.told_of("first time")] = first
        constants = {own: float(v[0]) for own, v in whole.items() if _is_constant(v)}
        made = replace(
            draft,
            numbers=tuple(measures),
            around=around,
            categories=tuple(laws),
            groups_of_columns=tuple(groups),
            marginals=tuple(Marginal.of(np.empty(0)) for _ in measures),
            constants=constants,
            running=tuple(running),
        )
        varying = {own: values for own, values in whole.items() if own not in constants}
        return cls(made, tuple(rare), sequences), Told(varying)

    def grouped(self, group: Ints, groups: int) -> ChildLaw:
        """The law with the rare levels of each group.

        Parameters
        ----------
        group : (n,) int64, of each person.
        """
        own = group[self.sequences.people]
        laws = [
            law if few is None else replace(law, rare=Rare.of(*few, own, self.sequences, groups))
            for law, few in zip(self.law.categories, self.rare, strict=True)
        ]
        return replace(self.law, categories=tuple(laws))


def _nothing() -> tuple[Floats, Floats, Floats, Floats]:
    none = np.zeros((0, 0))
    return none, none, np.zeros(0), none


def rate_of(number: Numbers, values: Floats, times: Floats, sequences: Sequences) -> float | None:
    """How much a number rises in a unit of time, where it runs with it; else None."""
    if np.isnan(values).any():
        return None
    moved, since = (own - sequences.spread(own[sequences.bounds[:-1]]) for own in (values, times))
    square = float(since @ since)
    if not square or (moved != 0).sum() < LEAST_RISES:
        return None
    rate = float(since @ moved) / square
    off = moved - rate * since
    step = number.grid.spacing or np.finfo(np.float32).eps * float(np.abs(values).max())
    explained = 1 - float(off @ off) / float(moved @ moved)
    return rate if np.abs(off).max() <= OFF * step and explained >= RUNS else None


def _labels(choice: Choice, levels: Sequence[Levels]) -> list[str]:
    """What each level, or combination of levels, is called."""
    if choice.parts is None:
        (column,) = levels
        return [str(label) for label in column.labels]
    return [
        " and ".join(str(c.labels[i]) for c, i in zip(levels, row, strict=True))
        for row in choice.parts.tolist()
    ]


def _measure(
    number: Numbers,
    order: Ints,
    sequences: Sequences,
    k: int,
    least: int,
    features: list[Floats],
    tell: Callable[[str, Floats], None],
    draft: ChildLaw,
) -> tuple[Measure, Floats]:
    """A number, whether it is there, and its scores."""
    values = number.values[order]
    present = ~np.isnan(values)
    back = closed(values[present], sequences.owner[present], max(k, least), number.grid.spacing)
    kinds, state = np.array([0.0]), None
    if not present.all():
        tag = np.where(present, -1, tags(values).astype(np.int64))
        known, codes = np.unique(tag, return_inverse=True)
        if known[0] != -1:
            known, codes = np.concatenate([[-1], known]), codes + 1
        kinds = np.concatenate([[0.0], tagged(known[1:])])
        choice = Choice.among((number.name,), codes, range(len(known)), len(known))
        labels = ["present", *(f"kind {i}" for i in range(1, len(known)))]
        state, _ = _choice(
            choice,
            labels,
            _missing(number),
            sequences,
            least,
            features,
            tell,
            draft,
            states=True,
        )
        kinds = kinds[state.choice.original]
    if back is None and state is None:
        raise InputError(
            f"column {number.name!r}: fewer than {max(k, least)} people have a value; drop it"
            " (--drop)"
        )
    at = sequences.follows
    steps = (values[at] - values[at - 1])[present[at] & present[at - 1]]
    rises = bool((steps >= 0).all() and (steps > 0).sum() >= LEAST_RISES)
    measure = Measure(replace(number, values=np.empty(0)), back, kinds, state, rises)
    return measure, normal_scores(values)


def _choice(
    choice: Choice,
    labels: Sequence[str],
    what: str,
    sequences: Sequences,
    least: int,
    features: list[Floats],
    tell: Callable[[str, Floats], None],
    draft: ChildLaw,
    *,
    states: bool = False,
) -> tuple[ChoiceLaw, tuple[Ints, NDArray[np.bool_]] | None]:
    """The law of a choice; what is told of it, and its features, are added."""
    law, rare, shares = ChoiceLaw.of(choice, labels, least, sequences, states=states)
    for told, values in zip(law.names, shares, strict=True):
        tell(draft.told_of(told, what), values)
    codes, last = law.choice.codes, sequences.bounds[1:] - 1
    for i, level in enumerate(law.endings):
        ends = (codes[last] == level).astype(np.float64)
        tell(draft.told_of(ending_name(i), what), ends)
    seen = np.concatenate(features)
    features.append(law.choice.features[:, np.minimum(codes, law.size)])
    made = law.fitted(seen, law.targets(shares), sequences)
    if rare is None:
        return made, None
    pairs = np.unique(sequences.owner * choice.size + choice.codes.astype(np.int64))
    allowed = np.bincount(pairs % choice.size, minlength=choice.size) >= least
    return made, (rare, allowed)


def _of_all(values: Floats, sequences: Sequences, people: int) -> Floats:
    """Of everybody: those without rows have no first time, and the mean of all else."""
    whole = np.full(people, values.mean() if len(values) else 0.0)
    whole[sequences.people] = values
    return whole


def _is_constant(values: Floats) -> bool:
    return bool((values == values[0]).all())
