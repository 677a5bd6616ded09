"""How avatars are made; all of it is public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DEFAULT", "Decode", "Settings"]

Decode = Literal["draw", "vote"]

DEFAULT = "exchangeable"
"""The method where none is named."""


@dataclass(frozen=True)
class Settings:
    """How avatars are made; all of it is public, and none of it is a secret.

    Attributes
    ----------
    k : people whose records an avatar comes from, at least 1.
    components : dimensions of the latent space in which they are near each other.
    method : the key of one of `sosie.generate.methods.METHODS`.
    decode : categories by ``draw`` (one neighbour's, by weight) or ``vote`` (the heaviest);
        None where the method has no such choice.
    min_level_count : levels that fewer people hold are never drawn.
    augment : avatars for each person.
    """

    k: int = 10
    components: int = 10
    method: str = DEFAULT
    decode: str | None = None
    min_level_count: int = 10
    augment: int = 1
