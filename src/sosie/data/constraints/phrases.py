"""What holds between columns as a key and values, where its text is a sentence and no formula."""

from __future__ import annotations

from sosie.data.constraints.labels import Bands, Label
from sosie.data.constraints.levels import MOST_NAMED, Exclusion, OneHot
from sosie.data.constraints.rule import Constraint, said
from sosie.errors import Reason

__all__ = ["phrase_of"]


def phrase_of(constraint: Constraint) -> Reason | None:
    """The statement for a reader of any language; None for orders and formulas."""
    rule = constraint.rule
    if isinstance(rule, Label):
        return Reason("code_gives", {"code": said(rule.code), "label": said(rule.label)})
    if isinstance(rule, Bands):
        return Reason("ranges_give", {"number": said(rule.number), "label": said(rule.label)})
    if isinstance(rule, OneHot):
        return Reason("one_of", {"columns": [said(name) for name in rule.columns]})
    if isinstance(rule, Exclusion):
        named = [
            Reason(
                "never_with",
                {"one": f"{said(rule.one)} = {a}", "other": f"{said(rule.other)} = {b}"},
            )
            for a, b in rule.pairs[:MOST_NAMED]
        ]
        if (more := len(rule.pairs) - len(named)) > 0:
            named.append(Reason("more_pairs", {"n": more}))
        return Reason("several", {"parts": named})
    return None
