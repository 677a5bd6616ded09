"""The maps of the marginals, from a pilot: draws of some twenty thousand avatars' numbers."""

from __future__ import annotations

import numpy as np

from sosie.generate.exchangeable.draft import Draft
from sosie.generate.exchangeable.fixed_point import SCORE, on_grid
from sosie.generate.exchangeable.law import ExchangeableLaw
from sosie.generate.exchangeable.marginals import Marginal
from sosie.generate.exchangeable.sample import PEOPLE, Sample
from sosie.generate.exchangeable.streams import HALF, Stream, stream

__all__ = ["pilot"]


def pilot(law: ExchangeableLaw, sample: Sample) -> tuple[Marginal, ...]:
    """The maps of the marginals of a law that has none yet, from draws with a fixed seed."""
    layout = law.layout
    groups = np.repeat(sample.groups, -(-PEOPLE // len(sample.places)))
    count = int((law.bounds[groups + 1] - law.bounds[groups]).sum())
    noise = np.empty((len(layout.numbers), count))
    for i in range(len(noise)):
        noise[i] = on_grid(stream(0, 0, 0, 0, Stream.PILOT_NOISE, i).standard_normal(count), SCORE)
    draft = Draft(law, groups, noise, states_only=True)
    marginals = [Marginal.of(raw) for raw in draft.raw[: layout.plain]]
    draft.plain(marginals)
    draft.states(lambda i: stream(0, 0, 0, 0, Stream.PILOT_LEVELS, i).random(count) + HALF)
    spiky = range(layout.plain, len(layout.numbers))
    return (*marginals, *(Marginal.of(draft.raw[i][draft.has_score(i)]) for i in spiky))
