"""The published study of linkage attacks on avatars, reproduced, then read with stronger attackers.

The study attacks ACTG 175 (24 variables, k = 5) with releases: V1 holds the originals, V2
only the published avatars. It prints a table, a curve, and not all of its settings; those
that give its figures are found here and named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sosie.attacks.laboratory import CURVE, attack
from sosie.attacks.moments import Progress
from sosie.attacks.results import AttackReport, AttackResult
from sosie.data.frames import wrap
from sosie.data.table import Roles, Table
from sosie.errors import InputError
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.settings import Decode

__all__ = ["ARTICLE", "Reproduction", "reproduce"]

ARTICLE: Mapping[str, Mapping[int, tuple[float, float]]] = {
    "v1": {20: (83, 83), 35: (87, 87), 50: (87, 87), 100: (87.1, 87.1)},
    "v2": dict.fromkeys((2, 3, 5, 10, 20, 35, 50), (1, 2.6)) | {100: (2.6, 2.6)},
}
"""What the article prints of its curves, in percent: lowest and highest reading."""

VARIABLES = (
    "age",
    "wtkg",
    "hemo",
    "homo",
    "drugs",
    "karnof",
    "oprior",
    "z30",
    "zprior",
    "preanti",
    "race",
    "gender",
    "str2",
    "strat",
    "symptom",
    "treat",
    "offtrt",
    "cd40",
    "cd420",
    "cd80",
    "cd820",
    "cens",
    "days",
    "arms",
)
"""The article's 24 variables of ACTG 175: all but pidnum, cd496 and r."""

K = COMPONENTS = 5
VOTE_COMPONENTS = 10
"""Components in which the protocol gives the article's figures with categories by vote."""


@dataclass(frozen=True)
class Free:
    """A setting that the article does not print, and what it gives.

    Attributes
    ----------
    decode : how categories are made.
    attack_components : dimensions of the attacker's latent space.
    v1, v2 : rates of the published protocol at the most releases, percent; None if not tried.
    """

    decode: Decode
    attack_components: int
    v1: float | None
    v2: float | None


@dataclass(frozen=True)
class Reproduction:
    """The article beside ours, and beside the strongest attackers.

    Attributes
    ----------
    report : published protocol and strongest attackers on barycentre avatars.
    free : settings that the article leaves open, and their figures.
    smoothed : the attackers without releases, and the published protocol, on smoothed avatars.
    """

    report: AttackReport
    free: tuple[Free, ...]
    smoothed: AttackReport

    def to_dict(self) -> dict[str, Any]:
        """As attack.json, with the article's curve and the free settings."""
        found = self.report.to_dict()
        for name, points in found["curves"].items():
            for point in points:
                known = ARTICLE[name].get(point["releases"])
                point["article"] = None if known is None else list(known)
        return {
            **found,
            "free": [
                {
                    "decode": free.decode,
                    "attack_components": free.attack_components,
                    "v1": None if free.v1 is None else round(free.v1, 2),
                    "v2": None if free.v2 is None else round(free.v2, 2),
                }
                for free in self.free
            ],
            "smoothed": self.smoothed.to_dict(),
        }

    def text(self) -> str:
        """The article's table and curve beside ours, and the findings, as plain text."""
        return "\n".join(
            [*self._table(), "", *self._curves(), "", *self._settings(), "", *self._none()]
        )

    def _table(self) -> list[str]:
        report = self.report
        last = max(result.releases for result in report.results)
        v1, v2 = (_published(report, name, last) for name in ("v1", "v2"))
        complement = report.hidden_rate_complement
        lines = [f"ACTG 175, {report.rows} people, k = 5, {last} releases, percent linked", ""]
        lines.append(f"{'':24}{'article':>10}{'here':>10}{'95 %':>16}{'strongest':>12}")
        for label, article, rate, ci, best in (
            ("V1", 87.1, v1.rate, v1.ci, report.strongest.get("v1")),
            ("V2", 2.6, v2.rate, v2.ci, report.strongest.get("v2")),
            (
                "100 - hidden rate",
                18.5,
                None if complement is None else complement.rate,
                None if complement is None else complement.ci,
                None,
            ),
        ):
            ends = "" if ci is None else f"{ci[0]:.1f} to {ci[1]:.1f}"
            top = "" if best is None or best.rate is None else f"{best.rate:.1f}"
            lines.append(f"{label:24}{article:>10}{_shown(rate):>10}{ends:>16}{top:>12}")
        return lines

    def _curves(self) -> list[str]:
        found = self.to_dict()["curves"]
        lines = []
        for name, label in (("v1", "V1"), ("v2", "V2")):
            lines.append(f"{label}: releases, article, published protocol here, strongest found")
            for point in found.get(name, []):
                article = point["article"]
                range_ = (
                    "" if article is None else "-".join(f"{a:g}" for a in dict.fromkeys(article))
                )
                lines.append(
                    f"{point['releases']:>8}{range_:>10}{_shown(point['published']):>10}"
                    f"{_shown(point['strongest']):>10}   {point['how'] or ''}"
                )
            lines.append("")
        return lines[:-1]

    def _settings(self) -> list[str]:
        lines = ["Settings that the article leaves open, and what the published protocol gives:"]
        lines += [
            f"  categories by {free.decode}, {free.attack_components} components: "
            f"V1 {_shown(free.v1)}, V2 {_shown(free.v2)}"
            for free in self.free
        ]
        lines.append("  latent space fitted on originals and releases stacked, never the target;")
        lines.append("  on the originals alone, or the releases alone: the same within a point")
        lines.append("  in V2 the attacker leaves his avatars of avatars unrounded")
        return lines

    def _none(self) -> list[str]:
        lines = ["Without any release, the originals and the public law only:"]
        for report in (self.report, self.smoothed):
            best = [r for r in report.results if r.releases == 0 and r.rate is not None]
            lines += [
                f"  {report.parameters['method']}: {result.how}: {_shown(result.rate)}"
                for result in best
            ]
        complement = self.smoothed.hidden_rate_complement
        if complement is not None:
            lines.append(f"  smoothed: 100 - hidden rate: {complement.rate:.1f}")
        return lines


def reproduce(
    data: Any, *, seed: int = 1, releases: int = CURVE[-1], progress: Progress | None = None
) -> Reproduction:
    """Reproduce the article's table and curve, then attack harder.

    Parameters
    ----------
    data : ACTG 175, any dataframe, with at least the article's 24 variables.
    seed : of the avatars.
    releases : most releases; the article has 100.
    progress : called as ``progress(done, total, what)`` after each release.

    Raises
    ------
    InputError
        The table lacks some of the 24 variables.
    """
    table = _actg(data)
    tell = _Stages(progress, 4 * releases)
    made = _avatarizer("barycentre", "draw", seed)
    v1 = attack(table, made, scenario="v1", releases=releases, curve=True, progress=tell.stage())
    v2 = attack(table, made, scenario="v2", releases=releases, curve=True, progress=tell.stage())
    report = replace(
        v1, results=(*v1.results, *v2.results), strongest={**v1.strongest, **v2.strongest}
    )
    voted = _avatarizer("barycentre", "vote", seed)
    other = [
        attack(
            table,
            voted,
            scenario=name,
            estimator="published",
            components=VOTE_COMPONENTS,
            releases=releases,
            progress=tell.stage(),
        ).results[0]
        for name in ("v1", "v2")
    ]
    smoothed = attack(
        table,
        _avatarizer("smoothed", "draw", seed),
        estimator=("analytic", "bayes"),
        releases=0,
    )
    free = (*_free("draw", report.results, releases), *_free("vote", other, releases))
    return Reproduction(report, free, smoothed)


def _free(decode: Decode, results: Sequence[AttackResult], releases: int) -> tuple[Free, ...]:
    """The published protocol at the most releases, for each number of components."""
    found: dict[int, dict[str, float]] = {}
    for r in results:
        protocol = r.estimator == "published" and r.chosen_among is None
        if protocol and r.releases == releases and r.rate is not None and r.attack_components:
            found.setdefault(r.attack_components, {})[r.scenario] = r.rate
    return tuple(
        Free(decode, components, rates.get("v1"), rates.get("v2"))
        for components, rates in sorted(found.items())
    )


def _published(report: AttackReport, scenario: str, releases: int) -> AttackResult:
    """The published protocol's first result, which has the settings that reproduce the article."""
    return report.find(scenario=scenario, releases=releases, estimator="published")[0]


class _Stages:
    """One progress out of several."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._before = progress, total, 0

    def stage(self) -> Progress:
        """The progress of the next stage."""
        before = self._before

        def tell(done: int, total: int, what: str) -> None:
            del total
            self._before = before + done
            if self._progress:
                self._progress(self._before, self._total, what)

        return tell


def _shown(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.1f}"


def _actg(data: Any) -> Table:
    frame = wrap(data)
    lacking = [name for name in VARIABLES if name not in frame.columns]
    if lacking:
        raise InputError(
            f"this is not ACTG 175: it lacks {', '.join(lacking)}; the article's table has the "
            f"variables {', '.join(VARIABLES)}"
        )
    extra = tuple(name for name in frame.columns if name not in VARIABLES)
    return Table.of(frame.to_native(), Roles(drop=extra))


def _avatarizer(method: str, decode: Decode, seed: int) -> Avatarizer:
    return Avatarizer(K, COMPONENTS, method=method, decode=decode, seed=seed, constraints=False)
