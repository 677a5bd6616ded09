"""Every metric on two tables, from one comparison."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from sosie.audits.comparison import Comparison
from sosie.audits.context import Context
from sosie.audits.privacy import inference, linkability, membership, singling_out
from sosie.audits.results import Audit, Definition, Metric, Metrics
from sosie.audits.utility import associations, distributions, prediction, projection
from sosie.data.remote import engine_of
from sosie.data.table import Roles
from sosie.errors import InputError

__all__ = ["DEFINITIONS", "audit", "measured"]

_MODULES = (
    singling_out,
    linkability,
    inference,
    membership,
    distributions,
    associations,
    projection,
    prediction,
)

DEFINITIONS: tuple[Definition, ...] = tuple(
    definition for module in _MODULES for definition in module.DEFINITIONS
)
"""Every metric, in the order in which they are shown."""

MEASURES: Mapping[str, Callable[..., Metric]] = {
    definition.key: getattr(module, definition.key)
    for module in _MODULES
    for definition in module.DEFINITIONS
}
"""The function of each metric."""


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
    known: Sequence[Hashable] | None = None,
    secrets: Sequence[Hashable] | None = None,
    outcomes: Sequence[Hashable] | None = None,
    context: Context | None = None,
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
        order; values are compared, not representations. Of two Dask dataframes, what needs
        counts and neighbours is measured on the cluster, and the rest has no value.
    aligned : row i of the avatars is the avatar of row i of the originals (with N avatars
        a person, N whole tables one after the other).
    holdout : people who had no part in making the avatars, for the controls.
    roles : instead of `drop`, `categorical`, `numeric` and `date`: see `Roles`. Kept
        columns are compared like all others, identifiers are left out.
    drop : columns to leave out; they may be absent from the avatars.
    categorical, numeric, date : columns whose type is forced.
    components : dimensions of the latent space.
    k : a level carried by fewer people is rare.
    known : columns that an attacker knows, for the correlation protection rate,
        linkability and inference; see there for the defaults.
    secrets : columns that an attacker guesses; by default each in turn.
    outcomes : columns that models predict; by default each in turn.
    context : what sets the targets; see `Context`.
    targets : metric -> target, above those of the context; None for no target.
    metrics : keys of those to compute; by default all.
    threads : -1 for all. No result depends on it.
    progress : called with the key of each metric before it is computed.

    Raises
    ------
    InputError
        The tables can't be compared, or a metric or a column is unknown.

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
    options: dict[str, Any] = {"aligned": aligned, "roles": roles, "components": components}
    comparison: Comparison
    engine = engine_of(originals)
    if engine is not engine_of(avatars):
        raise InputError("one table is a Dask dataframe and the other is not: make both one")
    if engine is None:
        comparison = Comparison.of(originals, avatars, **options, holdout=holdout, threads=threads)
    elif holdout is not None:
        raise InputError("people set aside are not compared on a cluster: leave holdout out")
    else:
        comparison = engine.compared(originals, avatars, **options, k=rare_below(k))
    return measured(
        comparison,
        k=k,
        known=known,
        secrets=secrets,
        outcomes=outcomes,
        context=context,
        targets=targets,
        metrics=metrics,
        progress=progress,
    )


def measured(
    comparison: Comparison,
    *,
    k: int = 5,
    known: Sequence[Hashable] | None = None,
    secrets: Sequence[Hashable] | None = None,
    outcomes: Sequence[Hashable] | None = None,
    context: Context | None = None,
    targets: Mapping[str, float | None] | None = None,
    metrics: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """The metrics of a comparison that is already made; see `audit` for the arguments."""
    judge = context or Context.of()
    goals = {definition.key: definition.target for definition in DEFINITIONS}
    _check_keys([*(metrics or ()), *judge.targets, *(targets or {})], goals)
    goals |= {**judge.targets, **(targets or {})}
    _check_columns(comparison, known, secrets, outcomes)
    options: dict[str, dict[str, Any]] = {
        "rare_values": {"k": rare_below(k)},
        "correlation_protection_rate": {"known": known},
        "linkability": {"known": known},
        "inference": {"known": known, "secrets": secrets},
        "predictive_ratio": {"outcomes": outcomes},
    }
    found = []
    for definition in DEFINITIONS:
        key = definition.key
        if metrics is None or key in metrics:
            if progress is not None:
                progress(key)
            found.append(_metric(definition, comparison, goals[key], options.get(key, {})))
    return Audit(
        rows=len(comparison),
        columns=len(comparison.originals.columns),
        aligned=comparison.aligned,
        privacy=Metrics(metric for metric in found if metric.criterion != "utility"),
        utility=Metrics(metric for metric in found if metric.criterion == "utility"),
        avatars=comparison.avatar_count,
        holdout=None if comparison.holdout is None else len(comparison.holdout),
        components=comparison.components,
        context=judge.to_dict() | {"targets": {**judge.targets, **(targets or {})}},
        notes=comparison.notes,
    )


def rare_below(k: int) -> int:
    """A level that fewer people hold is rare: of one person alone it always is."""
    return max(k, 2)


def _metric(
    definition: Definition,
    comparison: Comparison,
    target: float | None,
    options: Mapping[str, Any],
) -> Metric:
    """The metric, or why these tables do not allow it."""
    try:
        return comparison.measure(MEASURES[definition.key], target=target, **options)
    except InputError as error:
        return definition.unavailable(str(error), target=target)


def _check_keys(keys: Sequence[str], known: Mapping[str, float | None]) -> None:
    for key in keys:
        if key not in known:
            raise InputError(f"there is no metric {key!r}; there are {', '.join(known)}")


def _check_columns(comparison: Comparison, *groups: Sequence[Hashable] | None) -> None:
    for name in (name for group in groups for name in group or ()):
        if name not in comparison.originals.names:
            raise InputError(f"there is no column {name!r} to compare")
