"""audit: every metric on two tables, from one comparison."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

from sosie.comparison import Comparison
from sosie.errors import InputError
from sosie.privacy import singling_out
from sosie.results import Audit, Definition, Metric, Metrics
from sosie.table import Roles

__all__ = ["DEFINITIONS", "audit", "measured"]

DEFINITIONS: tuple[Definition, ...] = singling_out.DEFINITIONS
"""Every metric, in the order in which they are shown."""

Measure = Callable[[Comparison], Metric]


def audit(
    originals: object,
    avatars: object,
    *,
    aligned: bool = False,
    holdout: object | None = None,
    roles: Roles | None = None,
    drop: Sequence[Hashable] = (),
    categorical: Sequence[Hashable] = (),
    numeric: Sequence[Hashable] = (),
    date: Mapping[Hashable, str | None] | None = None,
    components: int = 5,
    k: int = 5,
    targets: Mapping[str, float | None] | None = None,
    metrics: Sequence[str] | None = None,
    threads: int = -1,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Measure how well avatars hide people and how much signal survived.

    Any synthetic table will do: it needs neither to be made by sosie, nor as many rows,
    nor to be aligned. What can't be computed has no value and says why.

    Parameters
    ----------
    originals, avatars : pandas, polars or pyarrow tables with the same columns, in any
        order; values are compared, not representations.
    aligned : row i of the avatars is the avatar of row i of the originals (with N avatars
        a person, N whole tables one after the other).
    holdout : people who had no part in making the avatars, for the controls.
    roles : instead of `drop`, `categorical`, `numeric` and `date`: see `Roles`.
    drop : columns to leave out; they may be absent from the avatars.
    categorical, numeric, date : columns whose type is forced.
    components : dimensions of the latent space.
    k : a level carried by fewer people is rare.
    targets : metric -> target, instead of the default; None for no target.
    metrics : keys of those to compute; by default all.
    threads : -1 for all. No result depends on it.
    progress : called with the key of each metric before it is computed.

    Raises
    ------
    InputError
        The tables can't be compared, or a metric is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i * i) for i in range(30)]})
    >>> found = audit(people, people, aligned=True)
    >>> found.privacy.hidden_rate.value, found.privacy["hidden_rate"].met
    (0.0, False)
    """
    roles = roles or Roles(
        drop=tuple(drop),
        categorical=tuple(categorical),
        numeric=tuple(numeric),
        date=dict(date or {}),
    )
    comparison = Comparison.of(
        originals,
        avatars,
        aligned=aligned,
        holdout=holdout,
        roles=roles,
        components=components,
        threads=threads,
    )
    return measured(comparison, k=k, targets=targets, metrics=metrics, progress=progress)


def measured(
    comparison: Comparison,
    *,
    k: int = 5,
    targets: Mapping[str, float | None] | None = None,
    metrics: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """`audit` of tables that are already compared; the parameters are its own."""
    wanted = _chosen(metrics, targets or {})
    goals = {d.key: d.target for d in DEFINITIONS} | dict(targets or {})
    measures = _measures(goals, k)
    found = []
    for definition in DEFINITIONS:
        if definition.key in wanted:
            if progress is not None:
                progress(definition.key)
            found.append(_measured(definition, measures[definition.key], comparison, goals))
    return Audit(
        rows=len(comparison),
        columns=len(comparison.originals.columns),
        aligned=comparison.aligned,
        privacy=Metrics(metric for metric in found if metric.criterion != "utility"),
        utility=Metrics(metric for metric in found if metric.criterion == "utility"),
        avatars=len(comparison.avatars),
        holdout=None if comparison.holdout is None else len(comparison.holdout),
        components=comparison.components,
        notes=comparison.notes,
    )


def _measures(goals: Mapping[str, float | None], k: int) -> dict[str, Measure]:
    """Each metric as a function of the comparison alone."""
    measures: dict[str, Measure] = {
        key: partial(getattr(module, key), target=goals[key])
        for module in (singling_out,)
        for key in (definition.key for definition in module.DEFINITIONS)
    }
    measures["rare_values"] = partial(
        singling_out.rare_values, k=max(k, 2), target=goals["rare_values"]
    )
    return measures


def _measured(
    definition: Definition,
    measure: Measure,
    comparison: Comparison,
    goals: Mapping[str, float | None],
) -> Metric:
    """The metric, or why these tables do not allow it."""
    try:
        return measure(comparison)
    except InputError as error:
        return definition.unavailable(str(error), target=goals[definition.key])


def _chosen(metrics: Sequence[str] | None, targets: Mapping[str, float | None]) -> set[str]:
    known = [definition.key for definition in DEFINITIONS]
    for key in [*(metrics or ()), *targets]:
        if key not in known:
            raise InputError(f"there is no metric {key!r}; there are {', '.join(known)}")
    return set(known if metrics is None else metrics)
