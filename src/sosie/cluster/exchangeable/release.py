"""Releases of exchangeable groups that were fitted on a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sosie.cluster import regions
from sosie.cluster.exchangeable.columns import Known
from sosie.cluster.exchangeable.pieces import Common, PieceLaw
from sosie.cluster.exchangeable.rows import Rows
from sosie.cluster.release import Shared, in_order_of_keys, native_frame
from sosie.cluster.scheduling import delayed, shared
from sosie.cluster.shuffle import KEY
from sosie.compute.arrays import Ints
from sosie.compute.randomness import Purpose, keys
from sosie.data.table import Roles
from sosie.errors import InputError
from sosie.generate.exchangeable import draw, pairing
from sosie.generate.gathered import Layout as DrawnLayout
from sosie.generate.guarantee import Guarantee
from sosie.generate.release import Release
from sosie.generate.settings import Settings

__all__ = ["Fitted"]


@dataclass(frozen=True)
class Fitted:
    """What `fit_of_groups` left on the cluster.

    Attributes
    ----------
    known : what is known of the columns.
    held : column -> native values of its levels, or one that shows dtype and missing style.
    names : columns of the avatars, in order.
    shown : column that is kept -> an empty one of its dtype.
    sizes : (G,) int64, of the groups.
    laws, owners : of each piece, delayed.
    common : what all laws have in common.
    """

    roles: Roles
    settings: Settings
    known: tuple[Known, ...]
    held: Mapping[Hashable, Any]
    names: tuple[Hashable, ...]
    shown: Mapping[Hashable, Any]
    sizes: Ints
    laws: tuple[Any, ...]
    owners: tuple[Any, ...]
    common: Common

    @property
    def guarantee(self) -> Guarantee:
        """One in the size of the smallest group."""
        return Guarantee.of_groups(self.sizes)

    def release(self, r: int, *, seed: int, order_seed: int, shuffle: bool) -> Any:
        """One release, a Dask dataframe.

        Until it is computed or written it holds the seeds: it is not to be given away.
        """
        if r < 0:
            raise InputError(f"releases are numbered from 0, got {r}")
        table = Shared(self.known, self.held, self.names, self.roles, self.settings)
        there, common, made = shared(table), shared(self.common), []
        total, augment = int(self.sizes.sum()), self.settings.augment
        for part in range(augment):
            what = _Draw(seed, order_seed, r, part, r * augment + part, shuffle, total)
            for law, owner in zip(self.laws, self.owners, strict=True):
                made.append(delayed(_avatars)(there, common, law, owner, what))
        return in_order_of_keys(made, table, self.shown, None if shuffle else total * augment)


@dataclass(frozen=True)
class _Draw:
    """Which avatars to draw."""

    seed: int = field(repr=False)
    order_seed: int = field(repr=False)
    release: int
    part: int
    number: int
    shuffle: bool
    total: int


def _avatars(table: Shared, common: Common, law: PieceLaw, owner: Rows, what: _Draw) -> Any:
    """The avatars of a piece, with the number in whose order they are published."""
    whole, count, start = law.whole(common), len(owner), int(law.bounds[0])
    made = draw(whole, what.seed, what.release, what.part)
    own = np.arange(count)
    rows = pairing(own, law.bounds, what.seed, what.release, what.part)
    columns = [column for group in table.groups for column in group.columns]
    layout = DrawnLayout(whole.voted, whole.names)
    encoded = regions.table_of(columns, table.roles)
    drawn = Release(encoded, layout, made, own, rows, np.empty(0, dtype=np.int64))
    frame = native_frame(table, drawn, owner.take(rows).kept)
    if what.shuffle:
        frame[KEY] = keys(what.order_seed, what.number, Purpose.ORDER, start, count, what.total)
    else:
        frame[KEY] = owner.order[rows] + what.part * what.total
    return frame
