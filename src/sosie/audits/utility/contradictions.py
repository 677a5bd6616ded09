"""Contradictions: avatars that break what held between the columns of every original."""

from __future__ import annotations

from sosie.audits.comparison import compared
from sosie.audits.definition import Definition
from sosie.audits.results import Metric
from sosie.compute.storage import MEMORY
from sosie.data.constraints import contradictions as counted
from sosie.errors import Reason

__all__ = ["DEFINITION", "contradictions"]

DEFINITION = Definition(
    "contradictions",
    "%",
    "lower",
    "utility",
    target=0.0,
    place=5,
    needs=("two_columns",),
    options=("k",),
    advice=("say_constraints", "compute_again"),
)


def contradictions(
    originals: object,
    avatars: object | None = None,
    *,
    k: int = 5,
    target: float | None = DEFINITION.target,
) -> Metric:
    """Share of avatars that break something that held for all originals.

    What held is found in the originals, never in the avatars: orders of dates and numbers,
    sums and differences, formulas, labels of codes, one-hot columns, levels that never meet;
    such as hold in every row where a shuffle of one column would break twenty. The metric is
    ``100 mean_i [avatar i breaks any]``.

    In percent; lower is better; target 0.

    Parameters
    ----------
    originals : any dataframe; or a `Comparison`.
    avatars : the same columns.
    k : people who must hold a level for it to count.
    target : None for no target.

    Returns
    -------
    Metric
        ``detail`` holds ``constraints``, most broken first: ``text``, ``kind`` and ``share`` of
        avatars that break it, in percent.

    Examples
    --------
    >>> import polars as pl
    >>> low, high = [i % 50 for i in range(200)], [i % 50 + i // 20 for i in range(200)]
    >>> people = pl.DataFrame({"low": low, "high": high})
    >>> avatars = pl.DataFrame({"low": [1, 30, 40, 20], "high": [3, 29, 41, 22]})
    >>> contradictions(people, avatars).value
    25.0
    """
    comparison = compared(originals, avatars, aligned=False)
    lacking = comparison.lacks(*DEFINITION.needs)
    if lacking is not None:
        return DEFINITION.unavailable(lacking, target=target)
    if comparison.originals.storage is not MEMORY:
        return DEFINITION.unavailable(Reason("not_on_disk"), target=target)
    found = counted(comparison.originals, comparison.avatars, k=k)
    if found.value is None:
        return DEFINITION.unavailable(Reason("nothing_held"), target=target)
    pairs = zip(found.constraints, found.shares, strict=True)
    ranked = sorted(pairs, key=lambda pair: -pair[1])
    return DEFINITION.result(
        found.value,
        target=target,
        detail={
            "constraints": [
                {"text": one.text, "kind": one.kind, "share": share} for one, share in ranked
            ]
        },
    )
