"""What a scenario beyond linkage is, and how it declares itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sosie.attacks.results import AttackResult
from sosie.attacks.scenarios.linkage import Setup
from sosie.attacks.sources import Source

__all__ = ["Declaration"]


@dataclass(frozen=True)
class Declaration:
    """A scenario as it declares itself: a module of this package has one, named ``DECLARATION``.

    Attributes
    ----------
    key : its name in results and options; words about it are ``attack.scenarios.<key>``.
    place : where it stands in lists, small first.
    play : gives its results; where it can't be played, one without a rate that says why.
    quick : whether every run plays it.
    alone : whether it is played only where it is asked for by name: it takes minutes.
    """

    key: str
    place: int
    play: Callable[[Source, Setup], Iterator[AttackResult]]
    quick: bool = False
    alone: bool = False
