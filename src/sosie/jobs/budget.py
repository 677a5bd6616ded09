"""How much memory there is, and what a table takes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sosie.attacks.moments import MOMENTS, MOST_COMPONENTS, most_components
from sosie.compute.memory import available
from sosie.compute.storage import MEMORY, Disk, Storage
from sosie.data.parquet import Scan
from sosie.errors import InputError
from sosie.generate.methods import method_of

if TYPE_CHECKING:
    from sosie.generate.settings import Settings

__all__ = [
    "Attack",
    "Budget",
]

BASE = 250_000_000
"""Bytes of the interpreter, the libraries and what is worked on in blocks."""

MEASURING = 1_150
"""Bytes a row, as measured on a million rows of 24 columns."""

INDEX = 90
"""Bytes a row of a search, beside the coordinates."""

WORK = 150_000_000
"""Bytes of what an attack works on in blocks."""


@dataclass(frozen=True)
class Attack:
    """What an attack is to do, as far as its memory goes.

    Attributes
    ----------
    releases : whether he makes releases, and keeps every person's mean and covariance.
    refit : whether he fits the generator again, on a release.
    profile : whether he looks for the rows nearest to a profile.
    components : dimensions in which he works; None: as many as he may.
    """

    releases: bool = True
    refit: bool = False
    profile: bool = False
    components: int | None = None

    def bytes(self, rows: int, columns: int, settings: Settings) -> int:
        """What is held at the same time, the columns and the interpreter apart."""
        c, k = settings.components, settings.k
        asked = self.components or MOST_COMPONENTS
        work = [24 * c + INDEX]  # the hidden rate
        more = WORK
        if self.profile:
            work.append(16 * asked + INDEX)
        if self.refit:
            work.append(24 * c + 40 * k + INDEX)
        if self.releases:
            d = min(asked, most_components(rows))
            work.append(8 * d**2 + 32 * d + INDEX)
            # Where the encoded columns' own covariances may fit, they are kept, and mapped.
            if 8 * rows * columns**2 <= MOMENTS:
                more += 2 * min(MOMENTS, 8 * rows * (3 * columns) ** 2)
        mixtures = (2 if self.refit else 1) * (8 * k + 16)
        return rows * (mixtures + 32 + max(work)) + more


@dataclass(frozen=True)
class Budget:
    """What making avatars of a table takes, in bytes.

    Attributes
    ----------
    rows, row : how many rows, and the bytes of one in a dataframe.
    fit, held : bytes a row of fitting the method, and of what is drawn from then; see
        `sosie.generate.methods.Method`.
    augment : see `sosie.generate.settings.Settings`.
    compared : whether the avatars are measured too.
    whole : the bytes a row of columns that are held whole, in the originals and in the avatars.
    attacked : the bytes that an attack holds, see `Attack`.
    """

    rows: int
    row: float
    fit: int
    held: int
    augment: int
    compared: bool = False
    whole: float = 0.0
    attacked: int = 0

    @classmethod
    def of(
        cls,
        scan: Scan,
        settings: Settings,
        whole: Sequence[Hashable] = (),
        *,
        compared: bool = False,
        attack: Attack | None = None,
    ) -> Self:
        """Of a table that is not read yet; columns in `whole` (kept ones) are held whole."""
        row, kept = scan.bytes_per_row(), scan.bytes_per_row([str(name) for name in whole])
        method = method_of(settings.method)
        known = *method.bytes_per_row(settings.components, settings.k), settings.augment
        attacked = attack.bytes(len(scan), scan.width, settings) if attack else 0
        return cls(len(scan), row, *known, compared, kept, attacked)

    @property
    def together(self) -> int:
        """With the whole table in memory: as read, encoded, and as avatars."""
        work = self.rows * max(self.fit, self._measures)
        cells = self.rows * self.row * (1.5 + 2 * self.augment)
        return BASE + round(cells + max(work, self.attacked))

    @property
    def apart(self) -> int:
        """With columns on disk: the search, then one column at a time."""
        made = self.held + (90 + 2 * self.whole) * self.augment
        work = self.rows * max(self.fit, self._measures, made)
        return BASE + max(round(work), self.attacked)

    @property
    def _measures(self) -> float:
        """Bytes a row: what the metrics hold of each person and each avatar."""
        return MEASURING * self.augment if self.compared else 0

    def storage(self, memory: int | None, folder: Path) -> Storage:
        """Where columns are to live; `memory` None is half of what is free.

        Raises
        ------
        InputError
            It is too little in any case; the message tells the least that works.
        """
        if memory is None:
            free = available()
            if free is None:
                return MEMORY
            memory = free // 2
        if self.together <= memory:
            return MEMORY
        if self.apart > memory:
            least = math.ceil(self.apart / 1e7) / 100  # what is told is enough
            raise InputError(
                f"{self.rows:,} rows need {least:.2f} GB of memory for the latent"
                f" coordinates and the {'attack' if self.attacked else 'search'}, and"
                f" {memory / 1e9:.2f} GB is allowed: allow more (--memory), take fewer components"
                " (--components), or fewer rows"
            )
        return Disk(folder)
