"""What users say outright: ``--order 'A<=B'`` and ``--derive 'margin = price * (1 - discount)'``.

A formula is parsed by Python's own parser, each node looked up in a short list and turned into a
Polars expression. Nothing of it is ever run as code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Mask
from sosie.data.constraints.columns import MICROSECONDS_PER_DAY, Columns, Name
from sosie.data.constraints.formulas import years_between
from sosie.data.constraints.orders import Order
from sosie.data.constraints.rule import Derivation, Kind, off_grid, said
from sosie.errors import InputError, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Derived", "parse_derivation", "parse_order"]

LONGEST = 1_000
"""Characters of a formula: the parser's depth stays bounded."""

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: (a / b).floor(),
    ast.Mod: lambda a, b: a - (a / b).floor() * b,
    ast.Pow: lambda a, b: a.pow(b),
}

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def _horizontal(name: str) -> Callable[..., Any]:
    def both(*arguments: Any) -> Any:
        import polars as pl

        anything = pl.any_horizontal(argument.is_null() for argument in arguments)
        least = getattr(pl, f"{name}_horizontal")(*arguments)
        return pl.when(~anything).then(least)  # one missing value leaves nothing to compare

    return both


def _day(moment: Any) -> Any:
    return (moment / MICROSECONDS_PER_DAY).floor()


def _years(start: Any, end: Any, *, by_calendar: bool) -> Any:
    import polars as pl

    def over(both: pl.Series) -> pl.Series:
        first, last = (
            part.fill_null(float("nan")).to_numpy()
            for part in (both.struct.field("start"), both.struct.field("end"))
        )
        return pl.Series(years_between(first, last, by_calendar=by_calendar)).fill_nan(None)

    both = pl.struct(start.alias("start"), end.alias("end"))
    return both.map_batches(over, return_dtype=pl.Float64)


_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], int, int]] = {
    "abs": (lambda a: a.abs(), 1, 1),
    "sqrt": (lambda a: a.sqrt(), 1, 1),
    "exp": (lambda a: a.exp(), 1, 1),
    "log": (lambda a: a.log(), 1, 1),
    "floor": (lambda a: a.floor(), 1, 1),
    "ceil": (lambda a: a.ceil(), 1, 1),
    "min": (_horizontal("min"), 2, 20),
    "max": (_horizontal("max"), 2, 20),
    "days": (lambda start, end: _day(end) - _day(start), 2, 2),
    "elapsed": (lambda start, end: (end - start) / MICROSECONDS_PER_DAY, 2, 2),
    "years": (lambda start, end: _years(start, end, by_calendar=False), 2, 2),
    "calendar_years": (lambda start, end: _years(start, end, by_calendar=True), 2, 2),
}
"""Name -> what it does, and how many arguments it takes."""


@dataclass(frozen=True)
class Derived:
    """A column that the user's formula gives.

    Attributes
    ----------
    output : the column.
    inputs : the columns that the formula names.
    formula : as it was written.
    expression : in Polars, over columns of float64 called ``c0``, ``c1`` … in the order of inputs.
    """

    output: Name
    inputs: tuple[Name, ...]
    formula: str
    expression: Any = field(compare=False, repr=False)
    kind: Kind = "formula"

    @property
    def columns(self) -> tuple[Name, ...]:
        """The output, then what it is made of."""
        return (self.output, *self.inputs)

    @property
    def text(self) -> str:
        """The formula."""
        return f"{said(self.output)} = {self.formula}"

    def broken(self, columns: Columns) -> Mask:
        """Where the output is not what the formula gives, written in its unit."""
        computed = self.computed(columns, self.output)
        return off_grid(columns.numbers(self.output), computed, columns.grain(self.output))

    def derivations(self) -> Sequence[Derivation]:
        """The output."""
        return [Derivation(self.output, self.inputs)]

    def computed(self, columns: Columns, _output: Name, /) -> NDArray[Any]:
        """The formula's value, not yet rounded; NaN where there is none."""
        import polars as pl

        values = {
            f"c{place}": pl.Series(columns.numbers(name)).fill_nan(None)
            for place, name in enumerate(self.inputs)
        }
        found = pl.DataFrame(values).select(self.expression.cast(pl.Float64)).to_series()
        numbers = found.fill_null(float("nan")).to_numpy().astype(np.float64)
        return np.where(np.isfinite(numbers), numbers, np.nan)


def parse_order(text: str, columns: Columns) -> Order:
    """``A<=B``, ``A < B``, ``B>=A``: the first column is never above the second.

    Raises
    ------
    InputError
        It is no order of two columns that can be compared.
    """
    for sign in re.finditer(r"<=|>=|<|>", text):
        names = text[: sign.start()].strip().strip("\"'`"), text[sign.end() :].strip().strip("\"'`")
        known = [_column(name, columns.encoded) for name in names]
        if None not in known:
            low, high = known if sign[0].startswith("<") else known[::-1]
            if low == high or columns.units[low] != columns.units[high]:
                raise InputError(f"--order {text!r}: {low!r} and {high!r} can't be compared")
            if columns.units[low] == "level":
                raise InputError(
                    f"--order {text!r}: these columns are no numbers and no dates; declare them "
                    "with --numeric or --date"
                )
            return Order(low, high)
    raise InputError(
        f"--order {text!r} is no order of two columns, such as 'admission<=discharge'; there are "
        f"{quoted(columns.encoded)}"
    )


def _column(name: str, known: Collection[Name]) -> Name | None:
    return next((column for column in known if str(column) == name), None)


def parse_derivation(text: str, columns: Columns) -> Derived:
    """``COL = formula``, the formula being made of columns, numbers, signs and a few functions.

    A column whose name is no plain word stands in quotes. ``days(a, b)`` counts calendar days,
    ``elapsed(a, b)`` days with decimals, ``years(a, b)`` years by the birthday.

    Raises
    ------
    InputError
        The formula can't be read, names an unknown column, or holds anything else.
    """
    name, equals, formula = text.partition("=")
    output = _column(name.strip().strip("\"'`"), columns.encoded)
    if not equals or output is None:
        raise InputError(
            f"--derive {text!r} must read 'COLUMN = formula'; there are {quoted(columns.encoded)}"
        )
    if len(formula) > LONGEST:
        raise InputError(f"--derive for {output!r} is longer than {LONGEST} characters")
    try:
        tree = ast.parse(formula.strip().replace("`", '"'), mode="eval")
        reader = _Reader(formula.strip(), columns)
        expression = reader.read(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"--derive {text!r} can't be read: {error}") from None
    if output in reader.inputs:
        raise InputError(f"--derive {text!r} gives {output!r} by itself")
    if not reader.inputs or columns.units[output] != "number":
        raise InputError(f"--derive {text!r} must give a number column from other columns")
    return Derived(output, tuple(reader.inputs), formula.strip(), expression)


class _Reader:
    """Nodes of a formula, one by one, as Polars expressions."""

    def __init__(self, formula: str, columns: Columns) -> None:
        self.formula = formula
        self.columns = columns
        self.inputs: list[Name] = []

    def read(self, node: ast.expr) -> pl.Expr:
        """One node."""
        import polars as pl

        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as number):
                return pl.lit(float(number))
            case ast.Constant(value=str() as name) | ast.Name(id=name):
                return self._named(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.read(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                both: pl.Expr = _OPERATORS[type(op)](self.read(left), self.read(right))
                return both
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                compared: pl.Expr = _COMPARISONS[type(op)](self.read(left), self.read(right))
                return compared.cast(pl.Float64)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.read(test) != 0
                return pl.when(condition).then(self.read(body)).otherwise(self.read(orelse))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._called(name, arguments)
        piece = ast.get_source_segment(self.formula, node) or type(node).__name__
        raise ValueError(f"{piece!r} is neither a column, a number, a sign nor a known function")

    def _named(self, name: str) -> pl.Expr:
        import polars as pl

        column = _column(name, self.columns.encoded)
        if column is None:
            raise ValueError(f"there is no column {name!r}")
        if self.columns.units[column] == "level":
            raise ValueError(f"column {name!r} is neither a number nor a date")
        if column not in self.inputs:
            self.inputs.append(column)
        return pl.col(f"c{self.inputs.index(column)}")

    def _called(self, name: str, arguments: Sequence[ast.expr]) -> pl.Expr:
        if name not in _FUNCTIONS:
            raise ValueError(f"there is no function {name!r}; there are {quoted(_FUNCTIONS)}")
        function, fewest, most = _FUNCTIONS[name]
        if not fewest <= len(arguments) <= most:
            raise ValueError(f"{name} takes {fewest} to {most} arguments, got {len(arguments)}")
        expression: pl.Expr = function(*(self.read(argument) for argument in arguments))
        return expression
