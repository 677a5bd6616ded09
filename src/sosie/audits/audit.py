"""Every metric on two tables, from one comparison."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sosie.audits.comparison import Comparison
from sosie.audits.context import Context
from sosie.audits.definition import Definition
from sosie.audits.registry import DEFINITIONS, MEASURES, ON_TWINS
from sosie.audits.results import Audit, Metric, Metrics, json_name
from sosie.audits.twins import Fold, twins_of
from sosie.data.remote import engine_of
from sosie.data.table import Roles
from sosie.errors import InputError, Reason

__all__ = ["AuditOptions", "audit", "measured"]

Progress = Callable[[str], None]


@dataclass(frozen=True)
class AuditOptions:
    """How metrics are computed; the defaults suit most audits.

    Attributes
    ----------
    components : dimensions of the latent space.
    k : a level carried by fewer people is rare.
    known : columns that an attacker knows, for the correlation protection rate,
        linkability and inference; see there for the defaults. Or the columns of each of several
        actors: the metric is that of whom it protects from least, and names them all.
    secrets : columns that an attacker guesses; by default each in turn.
    outcomes : columns that models predict; by default each in turn.
    threads : -1 for all. No result depends on it.
    progress : called with the key of each metric before it is computed.

    Examples
    --------
    >>> AuditOptions(known=["age", "sex"], components=10).of("known", "k")
    {'known': ['age', 'sex'], 'k': 5}
    """

    components: int = 5
    k: int = 5
    known: Sequence[Hashable] | Mapping[str, Sequence[Hashable]] | None = None
    secrets: Sequence[Hashable] | None = None
    outcomes: Sequence[Hashable] | None = None
    threads: int = -1
    progress: Progress | None = None

    def of(self, *names: str) -> dict[str, Any]:
        """Some of the options, by name, as the functions of metrics take them."""
        return {name: self.rare_below if name == "k" else getattr(self, name) for name in names}

    @property
    def rare_below(self) -> int:
        """A level that fewer people hold is rare: of one person alone it always is."""
        return max(self.k, 2)


def audit(
    originals: object,
    avatars: object,
    *,
    aligned: bool = False,
    holdout: object | None = None,
    drop: Sequence[Hashable] = (),
    roles: Roles | None = None,
    context: Context | None = None,
    metrics: Sequence[str] | None = None,
    options: AuditOptions | None = None,
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
    drop : columns to leave out; they may be absent from the avatars.
    roles : further columns to leave out and types that are forced: see `Roles`. Kept columns
        are compared like all others, identifiers are left out.
    context : what sets the targets; see `Context`.
    metrics : keys of those to compute; by default all.
    options : how they are computed, what an attacker knows; see `AuditOptions`.

    Raises
    ------
    InputError
        The tables can't be compared, or a metric or a column is unknown.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"x": [float(i * i) for i in range(30)]})
    >>> copies = audit(people, people, aligned=True)
    >>> copies.privacy.hidden_rate.value, copies.privacy["hidden_rate"].met
    (0.0, False)
    """
    options = options or AuditOptions()
    roles = roles or Roles()
    roles = replace(roles, drop=(*roles.drop, *drop))
    engine = engine_of(originals)
    if engine is not engine_of(avatars):
        raise InputError("one table is a Dask dataframe and the other is not: make both one")
    comparison: Comparison
    shared: dict[str, Any] = {"aligned": aligned, "roles": roles, "components": options.components}
    if engine is None:
        comparison = Comparison.of(
            originals, avatars, **shared, holdout=holdout, threads=options.threads
        )
    elif holdout is not None:
        raise InputError("people set aside are not compared on a cluster: leave holdout out")
    else:
        comparison = engine.compared(originals, avatars, **shared, k=options.rare_below)
    return measured(comparison, context=context, metrics=metrics, options=options)


def measured(
    comparison: Comparison,
    *,
    context: Context | None = None,
    metrics: Sequence[str] | None = None,
    options: AuditOptions | None = None,
    folds: Sequence[Fold] | Reason | None = None,
) -> Audit:
    """The metrics of a comparison that is already made; see `audit` for the arguments.

    Parameters
    ----------
    folds : of twins (see `sosie.audits.twins`), for what needs people who took no part where
        nobody was set aside; or why there are none.
    """
    options, context = options or AuditOptions(), context or Context.of()
    _check_keys([*(metrics or ()), *context.targets])
    named = () if isinstance(options.known, Mapping) else options.known
    _check_columns(comparison, named, options.secrets, options.outcomes)
    results = []
    for definition in DEFINITIONS:
        if metrics is None or definition.key in metrics:
            if options.progress is not None:
                options.progress(definition.key)
            target = context.target(definition.key, definition.target)
            apart = None if comparison.holdout is not None else folds
            results.append(_metric(definition, comparison, target, options, apart))
    return Audit(
        rows=len(comparison),
        columns=len(comparison.originals.columns),
        aligned=comparison.aligned,
        privacy=Metrics(metric for metric in results if metric.criterion != "utility"),
        utility=Metrics(metric for metric in results if metric.criterion == "utility"),
        avatars=comparison.avatar_count,
        holdout=None if comparison.holdout is None else len(comparison.holdout),
        components=comparison.components,
        context=context.to_dict(),
        notes=comparison.notes,
        twins=twins_of(folds) if comparison.holdout is None else None,
    )


def _metric(
    definition: Definition,
    comparison: Comparison,
    target: float | None,
    options: AuditOptions,
    folds: Sequence[Fold] | Reason | None,
) -> Metric:
    """The metric, or why these tables do not allow it."""
    if "known" in definition.options and isinstance(options.known, Mapping):
        return _of_actors(definition, comparison, target, options, folds, options.known)
    taken = options.of(*definition.options)
    twinned = ON_TWINS.get(definition.key)
    try:
        if twinned is not None and isinstance(folds, Reason):
            return definition.unavailable(folds, target=target)
        if twinned is not None and folds is not None:
            return twinned(folds, target=target, **taken)
        return comparison.measure(MEASURES[definition.key], target=target, **taken)
    except InputError as error:
        if error.reason is None:
            raise
        return definition.unavailable(error.reason, target=target)


def _of_actors(
    definition: Definition,
    comparison: Comparison,
    target: float | None,
    options: AuditOptions,
    folds: Sequence[Fold] | Reason | None,
    known: Mapping[str, Sequence[Hashable]],
) -> Metric:
    """The metric for the actor whom it protects from least, and what it is for each."""
    found = {
        actor: _of_actor(definition, comparison, target, replace(options, known=columns), folds)
        for actor, columns in known.items()
    }
    sign = 1 if definition.direction == "higher" else -1
    measured = [name for name, metric in found.items() if metric.value is not None]
    worst = min(measured or found, key=lambda name: sign * (found[name].value or 0.0))
    if set(found) == {""}:
        return found[worst]
    told = [
        {
            "actor": actor,
            "known": [json_name(name) for name in known[actor]],
            "value": metric.value,
            "ci": metric.ci,
            "reason": None if metric.reason is None else metric.reason.to_dict(),
        }
        for actor, metric in found.items()
    ]
    return replace(found[worst], detail={**found[worst].detail, "actor": worst, "actors": told})


def _of_actor(
    definition: Definition,
    comparison: Comparison,
    target: float | None,
    options: AuditOptions,
    folds: Sequence[Fold] | Reason | None,
) -> Metric:
    """The metric for who knows some columns; columns that are not there are a reason."""
    names = comparison.originals.names
    if absent := [str(name) for name in options.known or () if name not in names]:
        reason = Reason("known_absent", {"columns": ", ".join(absent)})
        return definition.unavailable(reason, target=target)
    return _metric(definition, comparison, target, options, folds)


def _check_keys(keys: Sequence[str]) -> None:
    for key in keys:
        if key not in MEASURES:
            raise InputError(f"there is no metric {key!r}; there are {', '.join(MEASURES)}")


def _check_columns(comparison: Comparison, *groups: Sequence[Hashable] | None) -> None:
    for name in (name for group in groups for name in group or ()):
        if name not in comparison.originals.names:
            raise InputError(f"there is no column {name!r} to compare")
