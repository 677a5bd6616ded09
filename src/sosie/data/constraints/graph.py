"""From constraints to steps: what gives what, in an order without cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from sosie.data.constraints.columns import MICROSECONDS_PER_DAY, Columns, Name, column_as_number
from sosie.data.constraints.labels import Label
from sosie.data.constraints.levels import Exclusion, OneHot
from sosie.data.constraints.orders import Order
from sosie.data.constraints.rule import Rule
from sosie.data.constraints.steps import Computed, Joined, Mended, Placed, Step, closed_range
from sosie.data.table import Levels, Table

__all__ = ["Graph", "drawn_together", "missing_together"]

MOST_ROWS_OF_RARE_TUPLES = 0.05
"""Columns are drawn together where so few rows hold tuples that fewer than k people share."""


class Graph:
    """Columns, what each is restored from, and the orders between them.

    Rules are added by falling importance; each takes columns that none before it took.

    Parameters
    ----------
    fixed : columns that are never restored from others.
    """

    def __init__(
        self, table: Table, columns: Columns, k: int, fixed: Collection[Name] = ()
    ) -> None:
        self.table = table
        self.columns = columns
        self.k = k
        self.fixed = {*fixed}
        self.linked = {name for group in table.roles.linked for name in group}
        self._steps: dict[Name, Step] = {}
        self._kept: set[int] = set()
        self._mends: dict[Name, list[Mended]] = {}
        self._orders: list[Order] = []
        self._placed: dict[Name, Placed] = {}

    @property
    def taken(self) -> set[Name]:
        """Columns that are restored or never are, or that the user has linked."""
        return {*self._steps, *self.linked, *self.fixed}

    def add(self, rule: Rule) -> None:
        """Find a step that keeps a rule, if there is one."""
        if isinstance(rule, Order):
            self._orders.append(rule)
        elif isinstance(rule, OneHot):
            self._join(rule)
        elif isinstance(rule, Exclusion):
            self._mend(rule)
        else:
            self._compute(rule)

    def _keep(self, rule: Rule, names: Iterable[Name], step: Step) -> None:
        self._kept.add(id(rule))
        for name in names:
            self._steps[name] = step

    def _inputs(self, name: Name) -> set[Name]:
        """What a column is restored from, or drawn again given."""
        step = self._steps.get(name)
        mends = {each.given for each in self._mends.get(name, ())}
        return mends | ({*step.inputs} if step else set())

    def _ancestors(self, names: Iterable[Name]) -> set[Name]:
        found: set[Name] = set()
        waiting = [*names]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self._inputs(name))
        return found

    def _compute(self, rule: Rule) -> None:
        for derivation in rule.derivations():
            output, inputs = derivation.output, derivation.inputs
            free = output not in self.taken and output not in self._mends
            if not free or output in self._ancestors(inputs):
                continue
            values = rule.computed(self.columns, output)
            lost = values < 0 if values.dtype == np.int64 else np.isnan(values)
            left_out = bool((lost == self.columns.missing(output)).all())
            self._keep(rule, [output], Computed(output, inputs, rule, left_out))
            return
        if isinstance(rule, Label):
            self._mend(rule)

    def _join(self, rule: OneHot) -> None:
        """One category for all, or where others give all but one, what they leave."""
        free = [name for name in rule.columns if name not in self.taken]
        if len(free) == len(rule.columns):
            self._keep(rule, rule.columns, Joined(rule.columns))
        elif len(free) == 1:
            self._compute(rule)

    def _mend(self, rule: Rule) -> None:
        """The column of fewer levels is drawn again: it has most people in each."""
        if len({self._root(name) for name in rule.columns}) == 1:
            self._kept.add(id(rule))  # both are labels of one code
            return
        for output in sorted(rule.columns, key=self._size):
            given = next(name for name in rule.columns if name != output)
            step = self._steps.get(output)
            outputs = step.columns if isinstance(step, Joined) else (output,)
            blocked = output in self.linked | self.fixed or isinstance(step, Computed)
            is_level = isinstance(self.columns.encoded[output], Levels)
            if blocked or not is_level or self._ancestors([given]) & {*outputs}:
                continue
            mended = Mended(outputs, given, rule, self.k)
            for name in outputs:
                self._mends.setdefault(name, []).append(mended)
            self._kept.add(id(rule))
            return

    def _size(self, name: Name) -> int:
        column = self.columns.encoded[name]
        return len(column.labels) if isinstance(column, Levels) else len(self.columns)

    def _root(self, name: Name) -> Name:
        """The code that a label comes from, in the end."""
        step = self._steps.get(name)
        is_label = isinstance(step, Computed) and isinstance(step.rule, Label)
        return self._root(step.inputs[0]) if step and is_label else name

    # ------------------------------------------------------------ orders

    def steps(self) -> tuple[Step, ...]:
        """All steps, each after those it needs.

        Columns that others are computed from come first, then by rising scale: of two in order
        the narrower stands, and the wider one is told by its distance, so that errors are small.
        """
        lows, highs = _closure(self._orders)
        ordered = {*lows, *highs}
        computed = {name for name, step in self._steps.items() if isinstance(step, Computed)}
        needed = self._ancestors(each for name in self._steps for each in self._inputs(name))
        place = {name: number for number, name in enumerate(self.columns.encoded)}
        scales = {name: _scale(self.columns, name) for name in ordered}
        left, done = {*place}, set[Name]()
        steps: list[Step] = []
        while left:
            ready = [name for name in left if left.isdisjoint(self._inputs(name))]
            name = min(
                ready,
                key=lambda n: (
                    n not in self.fixed,
                    n not in computed,
                    n not in needed,
                    scales.get(n, 0.0),
                    place[n],
                ),
            )
            step = self._steps.get(name)
            if step is None and name in ordered and name not in self.linked | self.fixed:
                below = tuple(sorted(done & lows.get(name, set()), key=place.__getitem__))
                above = tuple(sorted(done & highs.get(name, set()), key=place.__getitem__))
                step = self._place(name, below, above)
            names = {*step.columns} if isinstance(step, Joined) else {name}
            steps.extend([step] if step is not None else [])
            steps.extend(self._mends.get(name, ()))
            left -= names
            done |= names
        return tuple(steps)

    def _place(self, name: Name, lows: tuple[Name, ...], highs: tuple[Name, ...]) -> Placed | None:
        if not lows + highs or column_as_number(self.table, name) is None:
            return None
        columns, inputs = self.columns, (*lows, *highs)
        grains = [columns.grain(each) for each in (name, *inputs)]
        moment = columns.units[name] == "moment"
        unit = min(grains)
        if moment and all(grain % MICROSECONDS_PER_DAY == 0 for grain in grains):
            unit = float(MICROSECONDS_PER_DAY)
        fillers = {each: float(np.nanmedian(columns.numbers(each))) for each in inputs}
        limits = closed_range(columns.numbers(name), self.k)
        placed = Placed(name, lows, highs, fillers, limits, unit, moment)
        self._placed[name] = placed
        return placed

    def keeps(self, rule: Rule) -> bool:
        """Whether a step keeps a rule; after `steps`."""
        if not isinstance(rule, Order):
            return id(rule) in self._kept
        high, low = self._placed.get(rule.high), self._placed.get(rule.low)
        return (high is not None and rule.low in high.lows) or (
            low is not None and rule.high in low.highs
        )


def _scale(columns: Columns, name: Name) -> float:
    values = columns.numbers(name)
    return float(np.nanstd(values)) if not np.isnan(values).all() else np.inf


def _closure(orders: Sequence[Order]) -> tuple[dict[Name, set[Name]], dict[Name, set[Name]]]:
    """For each column all that are below it, and all that are above it."""
    highs: dict[Name, set[Name]] = {}
    for order in orders:
        highs.setdefault(order.low, set()).add(order.high)
    for low in [*highs]:
        waiting = [*highs[low]]
        while waiting:
            more = highs.get(waiting.pop(), set()) - highs[low] - {low}
            highs[low] |= more
            waiting.extend(more)
    lows: dict[Name, set[Name]] = {}
    for low, above in highs.items():
        for high in above:
            lows.setdefault(high, set()).add(low)
    return lows, highs


def drawn_together(
    columns: Columns, exclusions: Iterable[Exclusion], taken: Collection[Name], k: int
) -> tuple[tuple[Name, ...], ...]:
    """Groups of categories with levels that never meet, as far as people share their tuples.

    Where a group would hold many tuples of fewer than k people, the columns stay apart and what
    contradicts is drawn again.
    """
    groups: list[tuple[Name, ...]] = []
    for rule in exclusions:
        touched = [group for group in groups if {*group} & {*rule.columns}]
        names = tuple(dict.fromkeys(name for group in (*touched, rule.columns) for name in group))
        if {*taken} & {*names} or _rare_tuples(columns, names, k) > MOST_ROWS_OF_RARE_TUPLES:
            continue
        groups = [*(group for group in groups if group not in touched), names]
    return tuple(groups)


def _rare_tuples(columns: Columns, names: Sequence[Name], k: int) -> float:
    """The share of rows whose tuple fewer than k rows hold."""
    key = np.zeros(len(columns), dtype=np.int64)
    for name in names:
        codes = columns.codes(name)
        key = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    counts = np.bincount(key)
    return float(counts[counts < k].sum() / max(len(key), 1))


def missing_together(columns: Columns) -> tuple[tuple[Name, ...], ...]:
    """Groups of columns that are missing in the same rows."""
    groups: dict[bytes, list[Name]] = {}
    for name in columns.encoded:
        missing = columns.missing(name)
        if missing.any():
            groups.setdefault(np.packbits(missing).tobytes(), []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)
