"""Why a metric has no value: keys, of which the catalogues make words under ``reasons``."""

from __future__ import annotations

from sosie.errors import Reason

__all__ = [
    "NOT_ALIGNED",
    "NOT_ON_CLUSTER",
    "NO_CATEGORIES",
    "NO_HOLDOUT",
    "TOO_FEW_COLUMNS",
    "TOO_FEW_PEOPLE",
    "TWO_ORIGINALS",
]

NOT_ALIGNED = Reason("not_aligned")
"""Nobody said which avatar came from which person."""

NO_HOLDOUT = Reason("no_holdout")
"""Nobody was set aside before the avatars were made."""

NO_CATEGORIES = Reason("no_categories")
TOO_FEW_COLUMNS = Reason("too_few_columns")
TOO_FEW_PEOPLE = Reason("too_few_people")
TWO_ORIGINALS = Reason("two_originals")

NOT_ON_CLUSTER = Reason("not_on_cluster")
"""It needs rows that no worker holds together."""
