"""Why a figure of an analysis is missing: the keys of `sosie.errors.Reason` that there are."""

from __future__ import annotations

__all__ = ["KEYS"]

KEYS = {
    "small_cell": "fewer than `k` of the originals share a value of `column`, or all but few do",
    "saturated": "`coefficients` coefficients are too many for `rows` rows, at `k` people for each",
    "saturated_cells": "the model repeats a table by groups, of which a cell is under `k` people",
    "too_many_coefficients": "`coefficients` coefficients; at most `most` are fitted",
    "one_value": "`column` has one value only",
    "no_rows": "no row is complete in the columns `columns`",
    "singular": "`term` follows from the other terms",
    "separation": "`term` tells the outcome of some rows for certain: its estimate has no limit",
    "no_event": "no event in a group of `column`",
    "no_convergence": "the estimates did not settle",
    "level_absent": "the avatars have no `level` in `column`",
    "reference_absent": "the avatars have no `level` in `column`, to which others are compared",
    "empty_cell": "a cell of the 2 x 2 table is empty",
    "few_rows": "`rows` rows are too few",
}
"""Every key, its values in backticks."""
