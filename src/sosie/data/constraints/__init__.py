"""What must hold between columns: found, said, kept by construction, and counted when broken."""

from sosie.data.constraints.columns import Columns
from sosie.data.constraints.contradictions import Contradictions, contradictions
from sosie.data.constraints.discovery import MOST_COLUMNS, find_constraints
from sosie.data.constraints.expressions import Derived, parse_derivation, parse_order
from sosie.data.constraints.formulas import Between, Formula
from sosie.data.constraints.labels import Bands, Label
from sosie.data.constraints.levels import Exclusion, OneHot
from sosie.data.constraints.orders import Order
from sosie.data.constraints.plan import Plan
from sosie.data.constraints.rule import Constraint
from sosie.data.constraints.sums import Sum

__all__ = [
    "MOST_COLUMNS",
    "Bands",
    "Between",
    "Columns",
    "Constraint",
    "Contradictions",
    "Derived",
    "Exclusion",
    "Formula",
    "Label",
    "OneHot",
    "Order",
    "Plan",
    "Sum",
    "contradictions",
    "find_constraints",
    "parse_derivation",
    "parse_order",
]
