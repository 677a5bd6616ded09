"""Dates with a time, as ISO 8601 has them: with a zone or an offset, with parts of seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Clock", "clock_of"]

ZONES = (
    *("Europe/Paris", "Europe/London", "Europe/Athens", "America/New_York", "America/Chicago"),
    *("America/Denver", "America/Los_Angeles", "America/Halifax", "America/Sao_Paulo"),
    *("Asia/Jerusalem", "Australia/Sydney", "Pacific/Auckland"),
)
"""Clocks that are put forward in summer, among which that of a column is looked for."""

HALF_HOURS = {
    "+03:30": "Asia/Tehran",
    "+04:30": "Asia/Kabul",
    "+05:30": "Asia/Kolkata",
    "+05:45": "Asia/Kathmandu",
    "+06:30": "Asia/Yangon",
    "+09:30": "Australia/Darwin",
}
"""Offsets all year that are no whole hours."""


@dataclass(frozen=True)
class Clock:
    """How the moments of a column are written.

    Attributes
    ----------
    form : the format, for Polars.
    zone : the zone that its offsets are of; None where it has none.
    mixed : whether its offsets are of no one zone; moments are then those of UTC.
    """

    form: str
    zone: str | None = None
    mixed: bool = False

    PATTERN: ClassVar[str] = (
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?"
        r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
    )

    def read(self, column: pl.Series) -> pl.Series:
        """Moments in microseconds; an offset is counted."""
        if self.zone is None:
            return _wall(column)
        return _instants(column).dt.convert_time_zone(self.zone)


def clock_of(distinct: pl.Series) -> Clock | None:
    """How distinct moments are written; None where some have a zone or seconds, and some not.

    Parameters
    ----------
    distinct : texts that match `Clock.PATTERN`.

    Examples
    --------
    >>> import polars as pl
    >>> clock_of(pl.Series(["2022-03-01T05:43:36+01:00", "2022-07-01T05:43:36+02:00"])).zone
    'Europe/Paris'
    >>> clock_of(pl.Series(["2022-03-01 05:43", "2022-03-01 05:44"]))
    Clock(form='%Y-%m-%d %H:%M', zone=None, mixed=False)
    """
    parts = distinct.str.extract_groups(
        r"^.{10}(?<gap>.)..:..(?<seconds>:..)?(?<part>[.][0-9]+)?(?<offset>Z|[+-]..:?..)?$"
    ).struct.unnest()
    gaps, seconds = parts["gap"].unique(), parts["seconds"].is_not_null().unique()
    offsets = parts["offset"].unique(maintain_order=True).to_list()
    if len(gaps) > 1 or len(seconds) > 1 or (None in offsets and len(offsets) > 1):
        return None
    digits = max((len(part) - 1 for part in parts["part"].drop_nulls().unique()), default=0)
    form = f"%Y-%m-%d{gaps[0]}%H:%M{':%S' if seconds[0] else ''}"
    form += "" if not digits else "%.3f" if digits <= 3 else "%.6f"
    if offsets == [None]:
        return Clock(form)
    if offsets == ["Z"]:
        return Clock(form + "Z", "UTC")
    zone = _zone_of(_instants(distinct), _wall(distinct), offsets)
    form += "%:z" if any(":" in offset for offset in offsets) else "%z"
    return Clock(form, zone or "UTC", mixed=zone is None)


def _wall(column: pl.Series) -> pl.Series:
    """Moments as the clock on the wall showed them."""
    bare = column.str.replace("T", " ").str.replace(r"(?:Z|[+-]..:?..)$", "")
    # What has no seconds is given some: one format for all.
    whole = bare.str.replace(r"^(.{16})$", "${1}:00")
    return whole.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us")


def _instants(column: pl.Series) -> pl.Series:
    """Moments with an offset as moments of UTC."""
    import polars as pl

    offset = column.str.extract(r"([+-]..:?..)$").fill_null("+00:00").str.replace(":", "")
    sign = pl.when(offset.str.head(1) == "-").then(-1).otherwise(1)
    minutes = offset.str.slice(1, 2).cast(pl.Int64) * 60 + offset.str.tail(2).cast(pl.Int64)
    ahead = pl.select(sign * pl.lit(minutes) * 60_000_000).to_series().cast(pl.Duration("us"))
    moments: pl.Series = (_wall(column) - ahead).dt.replace_time_zone("UTC")
    return moments.alias(column.name)


def _zone_of(instants: pl.Series, wall: pl.Series, offsets: list[str]) -> str | None:
    """The zone whose clocks showed these times."""
    zones: tuple[str, ...] = ZONES
    if len(offsets) == 1:
        hours, minutes = int(offsets[0][:3]), offsets[0][-2:]
        steady = f"Etc/GMT{-hours:+d}" if hours else "Etc/UTC"
        half = HALF_HOURS.get(f"{offsets[0][:3]}:{minutes}")
        zones = (steady,) if minutes == "00" else (half,) if half else ZONES
    for zone in zones:
        if (instants.dt.convert_time_zone(zone).dt.replace_time_zone(None) == wall).all():
            return zone
    return None
