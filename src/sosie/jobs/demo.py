"""The first look at what an identifier does that nobody took out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sosie.audits.privacy.column_direct_match_protection import column_direct_match_protection
from sosie.audits.results import Metric
from sosie.data.files import read
from sosie.data.table import Table
from sosie.generate.avatarizer import Avatarizer
from sosie.jobs.tables import Progress, silent

__all__ = ["identifier_kept"]


def identifier_kept(
    data: Path,
    identifiers: Sequence[str],
    options: Mapping[str, Any],
    progress: Progress = silent,
) -> Metric:
    """Column direct match protection of avatars that keep an identifier, to show what it does."""
    progress("draw")
    frame = read(data).frame
    avatarizer = Avatarizer(keep_anyway=identifiers, **options)
    made = avatarizer.fit(Table.of(frame, avatarizer.roles)).release(shuffle=False)
    return column_direct_match_protection(frame, made)
