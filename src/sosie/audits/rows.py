"""Rows of people, originals and avatars: how many, when, and how one follows another.

Utility of a table of rows is that of what is computed along people: the number of rows, the gaps
between times, the autocorrelation of numbers (over all, and within people), the share of their
variance that lies between people, the transitions of categories, and mean curves over time.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.audits.results import json_name
from sosie.compute.arrays import Floats, Ints, Mask
from sosie.data import frames
from sosie.data.frames import Frame
from sosie.data.table import Levels, Numbers, Roles, Table

__all__ = ["RowsCompared", "compared_rows"]

Name = Hashable

BINS = 20
"""Of the gaps, by the originals' quantiles."""

POINTS = 12
"""Of a curve of means over time, at most: parts of the rows that are equally large."""

BAND = 1.96
"""Standard errors to either side of a mean: 95 %."""


@dataclass(frozen=True)
class Along:
    """One table in the order of people and time.

    Attributes
    ----------
    table : encoded.
    order : (N,) int64, rows by person and time.
    owner : (N,) int64, in that order, rising.
    times : (N,) float64, in that order.
    people : how many there are, with and without rows.
    """

    table: Table
    order: Ints
    owner: Ints
    times: Floats
    people: int

    @classmethod
    def of(cls, table: Table, owner: Ints, time: Name, people: int) -> Along:
        """Put the rows of a table in order."""
        times = table.number(time).values
        order = np.lexsort((times, owner))
        return cls(table, order, owner[order], times[order], people)

    @property
    def follows(self) -> Ints:
        """Rows, in order, that follow another of the same person."""
        return np.flatnonzero(np.diff(self.owner, prepend=-1) == 0)

    @property
    def since(self) -> Floats:
        """From the first row of the person."""
        heads = np.flatnonzero(np.diff(self.owner, prepend=-1))
        counts = np.diff([*heads, len(self.owner)])
        return np.asarray(self.times - np.repeat(self.times[heads], counts))

    @property
    def gaps(self) -> Floats:
        """Between the times of rows that follow each other."""
        at = self.follows
        return np.asarray(self.times[at] - self.times[at - 1])

    def numbers(self, name: Name) -> Floats:
        """A number in order."""
        return self.table.number(name).values[self.order]

    def codes(self, name: Name) -> Ints:
        """A category in order."""
        return self.table.level(name).codes[self.order].astype(np.int64)


@dataclass(frozen=True)
class RowsCompared:
    """Rows of originals and of avatars.

    Attributes
    ----------
    name : of the table.
    rows, avatars : how many rows there are.
    mean_rows : of a person, originals and avatars.
    gaps : Hellinger distance of the gaps, 0 to 1; None where nobody has two rows.
    numbers : for each number its `name`, and of originals and avatars, on the originals' normal
        scores, the autocorrelation (`lag`), that within people (`lag_within`) and the share of
        variance between people (`between`); and its `curve`.
    categories : for each category its `name` and the total variation of its `transitions`, 0 to 1.
    """

    name: str
    rows: int
    avatars: int
    mean_rows: tuple[float, float]
    gaps: float | None
    numbers: tuple[dict[str, Any], ...]
    categories: tuple[dict[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return {
            "rows": self.rows,
            "avatars": self.avatars,
            "mean_rows": list(self.mean_rows),
            "gaps_hellinger": self.gaps,
            "numbers": list(self.numbers),
            "categories": list(self.categories),
            "summary": self.summary(),
        }

    def summary(self) -> dict[str, float | None]:
        """Means over the columns, of differences between originals and avatars."""

        def error(what: str) -> float | None:
            pairs = [number[what] for number in self.numbers if None not in number[what]]
            return float(np.mean([abs(a - b) for a, b in pairs])) if pairs else None

        before, after = self.mean_rows
        inside = [n["curve"]["inside"] for n in self.numbers if n["curve"] is not None]
        moves = [c["transitions"] for c in self.categories if c["transitions"] is not None]
        return {
            "rows_per_person": abs(after / before - 1) if before else None,
            "gaps": self.gaps,
            "lag": error("lag"),
            "lag_within": error("lag_within"),
            "between": error("between"),
            "transitions": float(np.mean(moves)) if moves else None,
            "curves_inside": float(np.mean(inside)) if inside else None,
        }


def compared_rows(
    name: str,
    originals: object,
    avatars: object,
    person: Name,
    time: Name,
    *,
    people: int | None = None,
    k: int = 10,
    roles: Roles | None = None,
) -> RowsCompared:
    """Compare rows of people with rows of avatars.

    Parameters
    ----------
    originals, avatars : tables with the same columns, several rows a person.
    person, time : the column that tells people apart, and the one that tells when.
    people : how many there are, of both; by default those who have rows.
    k : a mean is shown where so many people have a value.
    roles : how columns are read.

    Examples
    --------
    >>> import polars as pl
    >>> visits = pl.DataFrame({"who": [0, 0, 1, 1, 1], "day": [0, 3, 1, 2, 9], "x": [1.5] * 5})
    >>> made = compared_rows("visits", visits, visits, "who", "day", k=1)
    >>> made.mean_rows, made.gaps
    ((2.5, 2.5), 0.0)
    """
    source, made = frames.wrap(originals), frames.wrap(avatars)
    table = Table.of(source, _read_as(roles or Roles(), source, person, time))
    owners = [frames.factorize(frames.column(frame, person))[0] for frame in (source, made)]
    counts = [people or int(owner.max()) + 1 for owner in owners]
    before = Along.of(table, owners[0].astype(np.int64), time, counts[0])
    after = Along.of(table.like(made), owners[1].astype(np.int64), time, counts[1])
    own = {c.name for c in table.columns if _is_own(before, c)}
    columns = [c for c in table.columns if c.name not in (*own, time)]
    return RowsCompared(
        name,
        len(before.order),
        len(after.order),
        (len(before.order) / before.people, len(after.order) / after.people),
        _hellinger(before.gaps, after.gaps),
        tuple(_number(before, after, c.name, k) for c in columns if isinstance(c, Numbers)),
        tuple(_category(before, after, c) for c in columns if isinstance(c, Levels)),
    )


def _read_as(roles: Roles, source: Frame, person: Name, time: Name) -> Roles:
    """What is said of the columns of this table; its times are numbers, however few."""
    here = {*source.columns}
    outside = tuple(name for name in (*roles.drop, *roles.id) if name in here - {person})
    said = (*roles.categorical, *roles.numeric, *roles.date)
    held = frames.holds(frames.column(source, time))
    timed = (time,) if held in ("whole", "real") and time not in said else ()
    return Roles(
        drop=(*outside, person),
        categorical=tuple(name for name in roles.categorical if name in here),
        numeric=(*(name for name in roles.numeric if name in here), *timed),
        date={name: form for name, form in roles.date.items() if name in here},
        na=roles.na,
        pivot=roles.pivot,
        coarsen={name: length for name, length in roles.coarsen.items() if name in here},
    )


def _is_own(along: Along, column: Numbers | Levels) -> bool:
    """Whether a column never varies within a person."""
    values = column.values if isinstance(column, Numbers) else column.codes.astype(np.float64)
    values, at = values[along.order], along.follows
    both = np.isnan(values[at]) & np.isnan(values[at - 1])
    return bool(len(at) and ((values[at] == values[at - 1]) | both).all())


def _hellinger(before: Floats, after: Floats) -> float | None:
    """``sqrt(1 - sum sqrt(p q))`` over bins of the first's quantiles."""
    if not len(before) or not len(after):
        return None
    edges = np.unique(np.quantile(before, np.linspace(0, 1, BINS + 1)))
    inner = edges[1:]  # a gap as long as an edge is in the bin that it closes
    shares = []
    for values in (before, after):
        bins = np.searchsorted(inner, values, "left")
        shares.append(np.bincount(bins, minlength=len(inner) + 1) / len(values))
    return float(np.sqrt(max(1 - np.sqrt(shares[0] * shares[1]).sum(), 0.0)))


def _number(before: Along, after: Along, name: Name, k: int) -> dict[str, Any]:
    known = np.sort(before.numbers(name))
    known = known[~np.isnan(known)]
    sides = [(_scores(side.numbers(name), known), side.owner) for side in (before, after)]
    pairs = [along_statistics(*side) for side in sides]
    measured = {what: [side[what] for side in pairs] for what in ("lag", "lag_within", "between")}
    return {"name": json_name(name), **measured, "curve": _curve(before, after, name, k)}


def _scores(values: Floats, known: Floats) -> Floats:
    """Normal scores among sorted values; the least and the greatest for those beyond."""
    from scipy.special import ndtri

    if not len(known):
        return values
    below, upto = (np.searchsorted(known, values, side) for side in ("left", "right"))
    half = 0.5 / len(known)
    place = np.clip((below + upto) / (2 * len(known)), half, 1 - half)
    return np.where(np.isnan(values), np.nan, ndtri(place))


def along_statistics(values: Floats, owner: Ints) -> dict[str, float | None]:
    """Autocorrelation, that within people, and the share of variance between them.

    Parameters
    ----------
    values : (N,) float64 by person and time, NaN where missing.
    owner : (N,) int64, rising.

    Notes
    -----
    Between people: the intraclass correlation of a one-way analysis of variance,
    ``(MSB - MSW) / (MSB + (n0 - 1) MSW)``, n0 the mean number of rows adjusted for its variance
    (Donner, International Statistical Review 54, 1986).

    Examples
    --------
    >>> along_statistics(np.array([1.0, 2.0, 5.0, 6.0]), np.array([0, 0, 1, 1]))["between"]
    0.9393939393939394
    """
    has = ~np.isnan(values)
    values, owner = values[has], np.unique(owner[has], return_inverse=True)[1]
    people = int(owner.max()) + 1 if len(owner) else 0
    counts = np.bincount(owner, minlength=people)
    means = np.bincount(owner, values, minlength=people) / np.maximum(counts, 1)
    at = np.flatnonzero(np.diff(owner, prepend=-1) == 0)
    away = values - means[owner] if people else values
    within = float(np.square(away).sum())
    rest = len(values) - people
    between = None
    if people > 1 and rest > 0:
        grand = values.mean()
        msb = float((counts * np.square(means - grand)).sum()) / (people - 1)
        msw = within / rest
        size = (len(values) - np.square(counts).sum() / len(values)) / (people - 1)
        total = msb + (size - 1) * msw
        between = float((msb - msw) / total) if total > 0 else None
    return {
        "lag": _correlation(values[at - 1], values[at]),
        "lag_within": float((away[at] * away[at - 1]).sum()) / within if within > 0 else None,
        "between": between,
    }


def _correlation(one: Floats, other: Floats) -> float | None:
    if len(one) < 3 or one.std() == 0 or other.std() == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _curve(before: Along, after: Along, name: Name, k: int) -> dict[str, Any] | None:
    """Means of originals and avatars by the time since a person's first row.

    Where at least k people of both have a value.
    """
    values = [side.numbers(name) for side in (before, after)]
    present = [~np.isnan(own) for own in values]
    since = [side.since for side in (before, after)]
    if not present[0].any():
        return None
    # The first rows, all at 0, are a part of their own.
    cuts = np.unique(np.quantile(since[0][present[0]], np.linspace(0, 1, POINTS + 1)[1:-1]))
    points = []
    for part in range(len(cuts) + 1):
        means = [
            _mean(own, side.owner, here & (np.searchsorted(cuts, times, "left") == part))
            for own, side, here, times in zip(values, (before, after), present, since, strict=True)
        ]
        if min(people for _, _, people in means) < max(k, 2):
            continue
        (mean, error, people), (other, _, _) = means
        some = present[0] & (np.searchsorted(cuts, since[0], "left") == part)
        points.append(
            {
                "time": float(since[0][some].mean()),
                "low": mean - BAND * error,
                "mean": mean,
                "high": mean + BAND * error,
                "avatars": other,
                "people": people,
            }
        )
    if not points:
        return None
    inside = [point["low"] <= point["avatars"] <= point["high"] for point in points]
    return {"points": points, "inside": float(np.mean(inside))}


def _mean(values: Floats, owner: Ints, some: Mask) -> tuple[float, float, int]:
    """A mean over rows, its standard error with people as clusters, and how many people."""
    if not some.any():
        return np.nan, np.nan, 0
    own, who = values[some], np.unique(owner[some], return_inverse=True)[1]
    people, mean = int(who.max()) + 1, float(own.mean())
    sums = np.bincount(who, own - mean)
    spread = np.square(sums).sum() * people / max(people - 1, 1)
    return mean, float(np.sqrt(spread) / len(own)), people


def _category(before: Along, after: Along, column: Levels) -> dict[str, Any]:
    """Total variation between the shares of pairs of levels that follow each other."""
    sizes = max(len(after.table.level(column.name).labels), len(column.labels))
    pairs = []
    for side in (before, after):
        codes, at = side.codes(column.name), side.follows
        pairs.append(codes[at - 1] * sizes + codes[at])
    if not len(pairs[0]) or not len(pairs[1]):
        return {"name": json_name(column.name), "transitions": None}
    every, back = np.unique(np.concatenate(pairs), return_inverse=True)
    cut = len(pairs[0])
    first = np.bincount(back[:cut], minlength=len(every)) / cut
    second = np.bincount(back[cut:], minlength=len(every)) / len(pairs[1])
    return {
        "name": json_name(column.name),
        "transitions": float(np.abs(first - second).sum() / 2),
    }
