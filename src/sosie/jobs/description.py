"""What ``run.json`` holds: the data, the parameters, and aggregates that the report shows."""

from __future__ import annotations

import os
import secrets
from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from sosie.audits.comparison import Comparison
from sosie.audits.results import json_name
from sosie.audits.structure import contributions, links, space
from sosie.audits.summaries import distributions, projection
from sosie.audits.what_if_kept import what_if_kept
from sosie.audits.worst_off import worst_off
from sosie.data.files import File
from sosie.data.table import Roles
from sosie.errors import Reason
from sosie.generate.notices import Notice
from sosie.jobs.private import fingerprint
from sosie.jobs.tables import Opened

__all__ = ["FEWEST_SHOWN", "described"]

FEWEST_SHOWN = 5
"""What fewer originals share is never shown, however small k is."""


def described(
    data: Path,
    source: File | Opened,
    compared: Comparison,
    *,
    least: int,
    key: str | None = None,
    roles: Roles | None = None,
    parameters: Mapping[str, Any] | None = None,
    kinds: Mapping[Hashable, str] | None = None,
    warnings: Sequence[Reason | Notice] = (),
) -> dict[str, Any]:
    """What ``run.json`` holds: the data, the parameters and the aggregates that the report shows.

    Parameters
    ----------
    least : what fewer originals share is not shown.
    key : of the file's fingerprint; None for no fingerprint. A plain digest would let whoever
        knows all people but one try who that one is.
    kinds : types of the columns, where avatars were made; by default as compared.
    """
    roles = roles or compared.originals.roles
    places = {
        **dict.fromkeys(roles.keep, "keep"),
        **dict.fromkeys(roles.drop, "drop"),
        **dict.fromkeys(roles.id, "id"),
    }
    known = {column.name: column.kind for column in compared.originals.columns} | dict(kinds or {})
    named = {
        "keep": list(roles.keep),
        "drop": list(roles.drop),
        "id": list(roles.id),
        "linked": [list(group) for group in roles.linked],
        "weights": {str(name): weight for name, weight in roles.weights.items()},
    }
    rng = np.random.default_rng(secrets.randbits(128))
    return {
        "schema": "sosie/run/1",
        "version": version("sosie"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {
            "name": _readable(data.name),
            "rows": len(source.frame),
            "columns": source.frame.width,
        }
        | ({} if key is None else {"fingerprint": fingerprint(source.sha256, key)}),
        "parameters": dict(parameters or {}) | named,
        "columns": [
            {"name": json_name(name), "kind": known.get(name), "role": places.get(name, "avatar")}
            for name in source.frame.columns
        ],
        "warnings": [note.to_dict() for note in (*source.notes, *warnings)],
        "what_if_kept": [dict(row) for row in what_if_kept(compared.originals).columns],
        "figures": {
            "projection": projection(compared, least, rng),
            "distributions": distributions(compared, least),
            "associations": links(compared),
            "contributions": contributions(compared),
            "space": space(compared, rng),
            "worst_off": worst_off(compared, least),
        },
    }


def _readable(name: str) -> str:
    """A file's name as Unicode text, whatever its bytes."""
    return os.fsencode(name).decode("utf-8", "replace")
