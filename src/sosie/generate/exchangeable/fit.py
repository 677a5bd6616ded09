"""Fits the law of all groups."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sosie.compute.arrays import Floats, Ints
from sosie.compute.storage import MEMORY, Storage
from sosie.compute.threads import each_part, one_blas_thread
from sosie.data.table import Levels, Numbers, Table
from sosie.errors import Reason
from sosie.generate.exchangeable.ancestry import Ancestors, Groups, blocks_of, every_so_many
from sosie.generate.exchangeable.choices import MANY, Choice, choice_of
from sosie.generate.exchangeable.features import Layout
from sosie.generate.exchangeable.intercepts import two_levels, weights_of
from sosie.generate.exchangeable.law import ExchangeableLaw, Pooled
from sosie.generate.exchangeable.moments import (
    moments_of,
    pooled_roots,
    products_of,
    state_slopes,
)
from sosie.generate.exchangeable.pilot import pilot
from sosie.generate.exchangeable.sample import Sample, sample_of
from sosie.generate.exchangeable.scores import number_of
from sosie.generate.exchangeable.slots import padded_logits, pieces
from sosie.generate.exchangeable.targets import Slots, shares
from sosie.generate.exchangeable.tilt import Centred, tilt_of
from sosie.generate.mixture import groups_of
from sosie.words.readings import warning_of

__all__ = ["POOLED", "fit", "intercepts_of", "level_shares", "tilts"]

POOLED = 8
"""What is pooled is pooled over at least so many times k people."""

ROWS = 4096
"""People worked on together: their features stay in the processor's cache."""


def fit(
    table: Table,
    groups: Groups,
    points: Floats,
    *,
    k: int,
    min_level_count: int,
    threads: int = 1,
    storage: Storage = MEMORY,
    pooled: Pooled | None = None,
) -> ExchangeableLaw:
    """Fit the law of a table.

    Parameters
    ----------
    groups : of at least k people each.
    points : (n, d) float64, latent coordinates by place; read for columns of more than 20
        levels only, and may be empty without any.
    min_level_count : a level that fewer people hold is never drawn.
    threads : no result depends on it.
    storage : where what is made a row lives.
    pooled : of an earlier fit of the same columns; fitted where it is not given.

    Raises
    ------
    InputError
        A column of which nothing may be drawn.

    Warns
    -----
    SosieWarning
        A column too few of whose people have a value: none is drawn.

    Notes
    -----
    Given what is pooled, a group's law depends on its members through its size, the means of
    their scores, the counts of their levels and states, and the intercepts: nothing else.
    """
    bounds = groups.bounds
    layout = _layout(table, groups.order, points, k, min_level_count, threads, storage)
    near, sample = Ancestors.of(groups, POOLED * k), sample_of(bounds)
    targets, slots = level_shares(layout, bounds, near, threads)
    with one_blas_thread():
        features = layout.originals(sample.places)
        common = pooled
        if common is None:
            slopes = state_slopes(layout, features, sample.places, sample.ends)
        else:
            slopes = common.slopes
        moments, centres = moments_of(layout, slopes, bounds, near, k)
        storage.forget()
        if common is None:
            # A covariance of p numbers needs p people; so all of them fit beside the table.
            wide = Ancestors.of(groups, max(POOLED * k, len(layout.numbers)))
            products = products_of(layout, slopes, centres, bounds, wide, threads, storage)
            roots = pooled_roots(products[:, :-1], products[:, -1])
            tilt = tilts(layout, features, sample, targets, slots, threads)
            common = Pooled(slopes, wide.of_group, roots, tilt)
        intercepts = intercepts_of(layout, common.tilt, targets, slots, bounds, threads, storage)
    names = tuple(number.name for number in table.numbers)
    law = ExchangeableLaw(bounds, layout.slim(), names, common, moments, intercepts, slots)
    if pooled is not None:
        return law
    return replace(law, pooled=replace(common, marginals=pilot(law, sample)))


def _layout(
    table: Table, order: Ints, points: Floats, k: int, least: int, threads: int, storage: Storage
) -> Layout:
    columns = list(groups_of(table))
    made: list[Any] = [None] * len(columns)
    notes: list[list[Reason]] = [[] for _ in columns]

    def work(part: slice) -> None:
        for i in range(part.start, part.stop):
            (column, *_) = columns[i]
            if isinstance(column, Numbers):
                made[i] = number_of(column, order, k, least, storage, notes[i])
            else:
                levels = [c for c in columns[i] if isinstance(c, Levels)]
                made[i] = choice_of(levels, order, least, storage)
            storage.forget()

    each_part(work, len(columns), 1, threads)
    for note in (note for some in notes for note in some):
        warnings.warn(warning_of(note), stacklevel=4)
    choices = [one for one in made if isinstance(one, Choice)]
    if any(choice.size > MANY for choice in choices):
        choices = [
            choice.placed(choice.sums(points), POOLED * k) if choice.size > MANY else choice
            for choice in choices
        ]
    return Layout.of([one for one in made if not isinstance(one, Choice)], choices)


def level_shares(
    layout: Layout,
    bounds: Ints,
    ancestors: Ancestors,
    threads: int,
    totals: Sequence[Ints | None] | None = None,
) -> tuple[list[Floats], tuple[Slots | None, ...]]:
    """Shares of the levels of each choice in each group.

    Parameters
    ----------
    totals : of each choice, see `shares`.
    """
    totals = totals or [None] * len(layout.choices)
    targets: list[Any] = [None] * len(layout.choices)
    slots: list[Any] = [None] * len(layout.choices)

    def work(part: slice) -> None:
        for i in range(part.start, part.stop):
            choice = layout.choices[i]
            if choice.places is None:
                targets[i] = shares(choice, bounds, ancestors, totals[i])
            else:
                slots[i] = Slots.of(choice, bounds, ancestors, totals[i])
                targets[i] = slots[i].target

    each_part(work, len(targets), 1, threads)
    return targets, tuple(slots)


def tilts(
    layout: Layout,
    features: Floats,
    sample: Sample,
    targets: Sequence[Floats],
    slots: Sequence[Slots | None],
    threads: int,
) -> Floats:
    """Coefficients of all choices, ``(logits, features) float64``."""
    tilt = np.zeros((layout.height, layout.width))
    centred = Centred.of(features, sample.ends)

    def work(part: slice) -> None:
        for i in range(part.start, part.stop):
            choice, own, levels = layout.choices[i], slots[i], None
            if own is None:
                target = targets[i][:, sample.groups]
            else:
                levels, target = own.padded(sample.groups, own.target, 0.0)
            codes = choice.codes[sample.places]
            tilt[layout.logits[i], : layout.seen[i]] = tilt_of(
                choice, layout.seen[i], centred, codes, target, levels
            )

    each_part(work, len(layout.choices), 1, threads)
    return tilt


def intercepts_of(
    layout: Layout,
    tilt: Floats,
    targets: Sequence[Floats],
    slots: Sequence[Slots | None],
    bounds: Ints,
    threads: int,
    storage: Storage = MEMORY,
) -> tuple[Floats, ...]:
    """Intercepts of each choice, in every group."""
    made = [
        np.zeros(target.shape[-1] if choice.width == 1 else target.shape)
        for choice, target in zip(layout.choices, targets, strict=True)
    ]
    if not layout.height:
        return tuple(made)
    blocks = blocks_of(bounds, ROWS)

    def work(part: slice) -> None:
        for groups in blocks[part]:
            own = bounds[groups.start : groups.stop + 1]
            logits = tilt @ layout.originals(slice(int(own[0]), int(own[-1])))
            for i, choice in enumerate(layout.choices):
                rows, some = layout.logits[i], slots[i]
                if choice.width == 1:
                    made[i][groups] = two_levels(logits[rows.start], targets[i][1, groups], own)
                elif some is not None:
                    _many(choice, some, logits[rows], groups, own, made[i])
                elif choice.width:
                    made[i][:, groups], _ = weights_of(logits[rows], targets[i][:, groups], own)

    each_part(work, len(blocks), 1, threads, every_so_many(blocks, bounds), storage.forget)
    return tuple(made)


def _many(
    choice: Choice, slots: Slots, axes: Floats, groups: slice, bounds: Ints, into: Floats
) -> None:
    """Intercepts of the levels that can come in some groups."""
    for some in pieces(slots.starts[groups.start : groups.stop + 1], bounds):
        which = slice(groups.start + some.start, groups.start + some.stop)
        own = bounds[some.start : some.stop + 1]
        levels, target = slots.padded(which, slots.target, 0.0)
        part = slice(own[0] - bounds[0], own[-1] - bounds[0])
        found, _ = weights_of(padded_logits(axes[:, part], choice, levels, own), target, own)
        counts = np.diff(slots.starts[which.start : which.stop + 1])
        has = np.arange(len(levels)) < counts[:, None]
        into[slots.starts[which.start] : slots.starts[which.stop]] = found.T[has]
