"""Fits the method of the settings on a cluster."""

from __future__ import annotations

from typing import Any

from sosie.cluster.exchangeable.fit import fit_of_groups
from sosie.cluster.local import fit_of_neighbours
from sosie.data.table import Roles
from sosie.generate.local import LocalMethod
from sosie.generate.methods import method_of
from sosie.generate.settings import Settings

__all__ = ["fit"]


def fit(data: Any, settings: Settings, roles: Roles, key: int = 0) -> Any:
    """Fit the method of the settings to a Dask dataframe, or to Parquet files (a `Scan`).

    Parameters
    ----------
    key : the secret of the table.

    Raises
    ------
    InputError
        The table can't be used, or partitions differ in their columns or types.
    """
    if isinstance(method_of(settings.method), LocalMethod):
        return fit_of_neighbours(data, settings, roles)
    return fit_of_groups(data, settings, roles, key)
