"""How avatars are made; all of it is public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from sosie.errors import InputError
from sosie.generate.methods import method_of
from sosie.options import check_whole

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

    @classmethod
    def of(
        cls,
        k: int | None = None,
        components: int | None = None,
        method: str = DEFAULT,
        decode: str | None = None,
        min_level_count: int | None = None,
        augment: int = 1,
    ) -> Self:
        """Settings with the method's defaults for all that is None.

        Raises
        ------
        InputError
            A value out of range, or one that the method does not take.

        Examples
        --------
        >>> Settings.of(k=7).min_level_count, Settings.of(method="barycentre").min_level_count
        (7, 1)
        """
        chosen = method_of(method)
        k = chosen.k if k is None else k
        components = chosen.components if components is None else components
        least = {"k": chosen.least_k, "components": 1, "augment": 1}
        for name, number in (("k", k), ("components", components), ("augment", augment)):
            check_whole(name, number, least[name])
        if decode is not None and decode not in chosen.decodes:
            if not chosen.decodes:
                raise InputError(f"method {method} has no decode to choose, got {decode!r}")
            raise InputError(f"decode must be {' or '.join(chosen.decodes)}, got {decode!r}")
        if decode is None and chosen.decodes:
            decode = chosen.decodes[0]
        count = chosen.min_level_count(k) if min_level_count is None else min_level_count
        check_whole("min_level_count", count, 1)
        return cls(k, components, method, decode, count, augment)
