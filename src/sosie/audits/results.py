"""What a measurement gives back: frozen results that say what they are and how to read them.

`Metric` says what a metric came to on two tables, `Metrics` and `Audit` gather them.
``to_dict()`` gives aggregates only, with ``None`` where there is no number: what stands in it
can travel, what one person or one rare level is does not.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sosie.errors import Reason

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Audit",
    "Criterion",
    "Direction",
    "Metric",
    "Metrics",
    "json_name",
    "plain",
]

Direction = Literal["higher", "lower"]
Criterion = Literal["singling_out", "linkability", "inference", "membership", "utility"]
Interval = tuple[float, float]
Record = Mapping[str, Any]

DIGITS = 5
"""Of floats in JSON: all that a figure means; sixteen would tell one person's distance."""


@dataclass(frozen=True)
class Metric:
    """One figure, with all that is needed to judge it.

    Attributes
    ----------
    key : its name in ``audit.json``.
    value : None where it can't be computed; `reason` says why, as a key.
    unit : ``%``, or what is counted or measured.
    direction : whether ``higher`` or ``lower`` is better.
    criterion : what it protects from, or ``utility``.
    target : None where no target is set.
    ci : 95 % interval, in the unit of the value.
    control : what people who had no part in making the avatars score.
    detail : further aggregates.
    columns : one record for each column, pair or group, riskiest first.
    by_person : results for each original or avatar, and what they are about. They stay in
        memory: they never enter `to_dict`.

    Examples
    --------
    >>> metric = Metric("hidden_rate", 81.5, "%", "higher", "singling_out", target=90)
    >>> metric.met
    False
    """

    key: str
    value: float | None
    unit: str
    direction: Direction
    criterion: Criterion
    target: float | None = None
    reason: Reason | None = None
    ci: Interval | None = None
    control: float | None = None
    detail: Record = field(default_factory=dict)
    columns: tuple[Record, ...] = ()
    by_person: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    @property
    def met(self) -> bool | None:
        """Whether the value reaches the target; None without one of them."""
        if self.value is None or self.target is None:
            return None
        good = (
            self.value >= self.target if self.direction == "higher" else self.value <= self.target
        )
        return bool(good)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: no NaN, no infinity, nothing about one person."""
        fields: dict[str, Any] = {
            "value": self.value,
            "unit": self.unit,
            "direction": self.direction,
            "target": self.target,
            "met": self.met,
            "reason": None if self.reason is None else self.reason.to_dict(),
            "criterion": self.criterion,
            "ci": self.ci,
        }
        if self.control is not None:
            fields["control"] = self.control
        fields |= self.detail
        if self.columns:
            fields["columns"] = self.columns
        told: dict[str, Any] = plain(fields)
        return told

    def to_frame(self) -> pl.DataFrame:
        """The records by column (or pair, or group), riskiest first."""
        import polars as pl

        records = [{**record, "column": str(record["column"])} for record in self.columns]
        return pl.DataFrame(plain(records), infer_schema_length=None)

    def per_person(self) -> pl.DataFrame:
        """The results person by person (or avatar by avatar), in row order. Not to be published."""
        import polars as pl

        return pl.DataFrame(dict(self.by_person))


class Metrics(Mapping[str, Metric]):
    """Metrics by key, also as attributes.

    Examples
    --------
    >>> metrics = Metrics([Metric("hidden_rate", 81.5, "%", "higher", "singling_out")])
    >>> metrics.hidden_rate.value == metrics["hidden_rate"].value
    True
    """

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = MappingProxyType({metric.key: metric for metric in metrics})

    def __reduce__(self) -> tuple[type[Metrics], tuple[tuple[Metric, ...]]]:
        # A view of a dictionary can't be pickled or copied.
        return type(self), (tuple(self._metrics.values()),)

    def __getitem__(self, key: str) -> Metric:
        return self._metrics[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    def __getattr__(self, key: str) -> Metric:
        metrics: Mapping[str, Metric] = self.__dict__.get("_metrics", {})
        if key in metrics:
            return metrics[key]
        raise AttributeError(f"no metric {key!r} was measured; there are {', '.join(metrics)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._metrics]

    def __repr__(self) -> str:
        lines = (
            f"{key}: {'None' if metric.value is None else f'{metric.value:.4g} {metric.unit}'}"
            for key, metric in self.items()
        )
        return f"Metrics({', '.join(lines)})"

    def to_dict(self) -> dict[str, Any]:
        """Each metric's plain values, by key."""
        return {key: metric.to_dict() for key, metric in self.items()}


@dataclass(frozen=True)
class Audit:
    """How well avatars hide people, and how much signal survived.

    Attributes
    ----------
    rows, columns : of the originals that were compared.
    aligned : whether row i of the avatars was declared to be the avatar of row i.
    privacy, utility : the metrics.
    avatars : rows of avatars.
    holdout : people set aside, None where there are none.
    context : what set the targets.
    notes : what deserves a look in the data, such as types that differ.
    what_if_kept : what each column would reveal if it were kept unchanged, where asked for.
    """

    rows: int
    columns: int
    aligned: bool
    privacy: Metrics
    utility: Metrics
    avatars: int
    holdout: int | None = None
    components: int = 5
    context: Record = field(default_factory=dict)
    notes: tuple[Reason, ...] = ()
    what_if_kept: Metric | None = None

    def to_dict(self) -> dict[str, Any]:
        """What ``audit.json`` holds."""
        kept = self.what_if_kept
        return {
            "schema": "sosie/audit/1",
            "rows": self.rows,
            "columns": self.columns,
            "aligned": self.aligned,
            "avatars": self.avatars,
            "holdout": self.holdout,
            "components": self.components,
            "context": plain(self.context),
            "notes": [note.to_dict() for note in self.notes],
            "privacy": self.privacy.to_dict(),
            "utility": self.utility.to_dict(),
        } | ({} if kept is None else {"what_if_kept": kept.to_dict()})


def json_name(name: Hashable) -> str | int:
    """A column name as JSON can hold it.

    >>> json_name(np.int64(3)), json_name(("a", 1))
    (3, "('a', 1)")
    """
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return int(name)
    return str(name)


def plain(value: Any, digits: int = DIGITS) -> Any:
    """Values as JSON holds them: Python's own types, floats rounded, None for what is no number.

    >>> plain({"shares": np.array([1 / 3, np.nan]), "rows": np.int64(3)})
    {'shares': [0.33333, None], 'rows': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner, digits) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), digits)
    if isinstance(value, list | tuple):
        return [plain(inner, digits) for inner in value]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return json_name(value)
